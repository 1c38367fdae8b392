"""The message about rows that no reader knows; the command that it proposes reads them."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
        (  # the passage is a list, and one column explains the answer
            {"contexts": ["S", "T"], "question": "Q", "mesh": ["u"], "long_answer": "No.", "final_decision": "no"},
            "passage=contexts,question=question,candidates=const:no|yes,gold=final_decision",
            "text",
        ),
        (  # the story's number is inside an object before it
            {
                "idx": {"story": "a7"},
                "question": "Q",
                "story": "S",
                "answer_options": {"A": "u", "B": "v"},
                "answer": "B",
            },
            "passage=story,question=question,candidates=answer_options.A+answer_options.B,gold=answer",
            "letter",
        ),
        (  # the right ones are marked inside, and not in another list
            {"question": "Q?", "two": {"labels": [1, 1]}, "one": {"choices": ["u", "v", "w"], "labels": [1, 0, 0]}},
            "passage=const:,question=question,candidates=one.choices,gold=one.labels",
            "flags",
        ),
        (
            {"question": "Q?", "words": ["w"], "options": {"A": "u", "B": "v"}, "answer_idx": "B"},
            "passage=const:,question=question,candidates=options.A+options.B,gold=answer_idx",
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
    command = caught.value.hint.partition("classic-rc ")[2].partition(" ")[2]
    assert shlex.split(command) == [str(path), "--fields", fields, "--gold-as", gold_as]
    assert len(load(path, fields=fields, gold_as=gold_as)) == 1


def test_answers_that_are_in_the_passage_are_proposed_as_spans(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"plot": f"Ann sang {w}.", "question": f"What {w}?", "answers": [w]} for w in ("low", "loud")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with pytest.raises(DataError) as caught:
        load(path)
    _, fields, _ = _unquoted_options(caught.value.hint)
    assert fields == "passage=plot,question=question,gold=answers,task=span"
    assert [q.gold for q in load(path, fields=fields)] == [("low",), ("loud",)]


def test_the_error_for_an_unknown_table_lists_its_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("story,ask,A,B,answer\nOnce.,Who?,x,y,B\n", "utf-8")
    with raises(DataError, source=str(path), found="rows with story, ask, A, B, answer") as caught:
        load(path)
    assert "--fields passage=story,question=ask,candidates=A+B,gold=answer --gold-as letter" in caught.value.hint


def _unquoted_options(hint):
    """The fields and the coding in a proposed command line."""
    words = shlex.split(re.search(r"classic-rc (?:run|check) (.*)", hint)[1])
    options = dict(zip(words[1::2], words[2::2], strict=True))
    return words[0], options["--fields"], options.get("--gold-as")


_SHAPES = {
    "wide letters": lambda i: {"A": "x", "B": "y", "C": "z", "answer": "ABC"[i]},
    "wide numbers": lambda i: {**{f"option{n}": f"o{n}" for n in range(1, 12)}, "label": [1, 11, 5][i]},
    "camel letters": lambda i: {"answerB": "y", "answerA": "x", "correct_answer": "xyx"[i]},
    "nested letters": lambda i: {"options": {"A": "x", "B": "y"}, "answer": "ABA"[i]},
    "labels inside": lambda i: {
        "choices": [{"text": "x", "label": "A"}, {"text": "y", "label": "B"}],
        "correct": "BAB"[i],
    },
    "flags inside": lambda i: {"choices": [{"text": "x", "is_right": i % 2}, {"text": "y", "is_right": 1 - i % 2}]},
    "parallel lists": lambda i: {"choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answer_key": "BAB"[i]},
    "booleans": lambda i: {"answer": i % 2 == 0},
    "yes and no": lambda i: {"answer": "yes" if i else "no"},
    "several letters": lambda i: {"options": ["x", "y", "z"], "answer": ["A", "B, C", "AC"][i]},
    "spans": lambda i: {"answer": "Ann"},
    "other case": lambda i: {"options": ["Owl", "nest"], "answer": ["owl", "NEST", "Owl"][i]},
    "repeated ids": lambda i: {"id": "same", "options": ["x", "y"], "label": i % 2},
    "hidden gold": lambda i: {"options": ["x", "y"]},
    "no passage": lambda i: {"options": ["x", "y"], "label": i % 2, "context": None},
}
_KEYS = {
    "plain": ("context", "query"),
    "dots": ("my.text", "my.question"),
    "commas": ("text, plain", "question"),
    "signs": ("a=b $c", "d'e\"f?"),
    "blanks": (" padded ", "what"),
}


@pytest.mark.parametrize("keys", _KEYS.values(), ids=_KEYS)
@pytest.mark.parametrize("shape", _SHAPES.values(), ids=_SHAPES)
def test_every_proposed_command_reads_the_file(tmp_path, shape, keys):
    passage, question = keys
    rows = [{passage: f"Ann sang all day in {i}.", question: f"Who sang in {i}?", **shape(i)} for i in range(3)]
    path = tmp_path / "my rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with raises(DataError, source=str(path)) as caught:
        load(path)
    source, fields, gold_as = _unquoted_options(caught.value.hint)
    assert source == str(path)
    dataset = load(source, fields=fields, gold_as=gold_as)
    assert len(dataset) == 3
    if rows[0][passage]:
        assert [(q.passage.text, q.text) for q in dataset] == [(row[passage], row[question]) for row in rows]


@given(
    rows=st.lists(
        st.dictionaries(
            st.sampled_from(["text", "q", "A", "B", "C", "options", "answer", "label", "x, y", "a+b", "id"]),
            st.none()
            | st.sampled_from(["A", "B", "x", "Who?", "A long text of some words.", True, 0, 1, 2, ["x", "y"]])
            | st.text(max_size=4),
            min_size=3,
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_command_is_proposed_only_if_it_works(tmp_path, rows):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), "utf-8")
    try:
        load(path)
    except DataError as error:
        if "for example: " in (error.hint or ""):
            source, fields, gold_as = _unquoted_options(error.hint)
            assert len(load(source, fields=fields, gold_as=gold_as)) == len(rows)
