"""The message about rows that no reader knows; the command that it proposes reads them."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError
from tests.errors import raises


@pytest.mark.parametrize(
    ("row", "fields", "gold_as"),
    [
        (
            {"context": "Ann sang.", "q": {"text": "Who?"}, "choices": ["Bob", "Ann"], "label": 1},
            "passage=context,question=q.text,candidates=choices,gold=label",
            "index0",
        ),
        (
            {"article": "Ann sang.", "query": "Who?", "options": [{"text": "Bob"}, {"text": "Ann"}], "answer": "B"},
            "passage=article,question=query,candidates=options.text,gold=answer",
            "letter",
        ),
        (
            {"idx": 3, "a": "Ann sang all day.", "b": "Who sang?", "c": ["Bob", "Ann"], "answerKey": "2"},
            "passage=a,question=b,candidates=c,gold=answerKey",
            "index1",
        ),
        (
            {"id": "x", "story": "S", "question": "Q", "options": ["u", "v"], "correct_answer": "v"},
            "passage=story,question=question,candidates=options,gold=correct_answer,id=id",
            "text",
        ),
        (
            {"text": "T", "question": "Q", "answers": ["u", "v"], "labels": [0, 1], "label": [0, 1]},
            "passage=text,question=question,candidates=answers,gold=label",
            "index0",
        ),
        (
            {"text": "T", "question": "Q", "option_a": "u", "option_b": "v", "option_c": "w", "answer": "C"},
            "passage=text,question=question,candidates=option_a+option_b+option_c,gold=answer",
            "letter",
        ),
    ],
)
@pytest.mark.parametrize("name", ["rows.jsonl", "my rows.json"])
def test_the_proposed_command_reads_the_file(tmp_path, row, fields, gold_as, name):
    path = tmp_path / name
    path.write_text(json.dumps([row] if name.endswith(".json") else row), "utf-8")
    with raises(DataError, source=str(path), found=re.compile("^rows with ")) as caught:
        load(path)
    assert caught.value.exit_code == 3
    command = caught.value.hint.partition("classic-rc run ")[2]
    assert shlex.split(command) == [str(path), "--fields", fields, "--gold-as", gold_as]
    assert len(load(path, fields=fields, gold_as=gold_as)) == 1


def test_the_error_for_an_unknown_table_lists_its_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("story,ask,A,B,answer\nOnce.,Who?,x,y,B\n", "utf-8")
    with raises(DataError, source=str(path), found="rows with story, ask, A, B, answer") as caught:
        load(path)
    assert "--fields passage=story,question=ask,candidates=A+B,gold=answer --gold-as letter" in caught.value.hint
