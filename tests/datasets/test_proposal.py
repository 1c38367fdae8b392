"""The message about rows that no reader knows: their columns, and a command whose certain parts
are filled in.
"""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.errors import DataError
from tests.errors import raises
from tests.proposals import propose

_TEXTS = {"context": "Ann sang.", "question": "Who?"}
_FIELDS = "passage=context,question=question"
_TWO = {"choices": ["Bob", "Ann"]}


def _write(path, *rows):
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (
            {"context": "Ann sang.", "q": {"text": "Who?"}, **_TWO, "label": 1},
            "passage=context,question=q.text,candidates=choices,gold=label",
        ),
        (
            {
                "article": "Ann sang.",
                "query": "Who?",
                "options": [{"text": "Bob"}, {"text": "Ann"}],
                "answer": "B",
            },
            "passage=article,question=query,candidates=options.text,gold=answer",
        ),
        (
            {
                "id": "x",
                "story": "S",
                "question": "Q",
                "options": ["u", "v"],
                "Correct Answer": "v",
            },
            "passage=story,question=question,candidates=options,gold=Correct Answer,id=id",
        ),
        (  # the name of a column is not that of an object's member
            {
                "idx": {"story": "a7"},
                **_TEXTS,
                "answer_options": {"A": "u", "B": "v"},
                "answer": "B",
            },
            f"{_FIELDS},candidates=answer_options,gold=answer",
        ),
        (  # Social IQa
            {**_TEXTS, "answerA": "u", "answerB": "v", "answerC": "w", "label": "3"},
            f"{_FIELDS},candidates=answerA+answerB+answerC,gold=label",
        ),
        (  # SWAG
            {
                "video-id": "v",
                "fold-ind": "1",
                "startphrase": "S T",
                "sent1": "S",
                "sent2": "T",
                "gold-source": "gold",
            }
            | {"ending0": "u", "ending1": "v", "label": 0},
            "passage=sent1,question=sent2,candidates=ending0+ending1,gold=label",
        ),
        (  # PIQA: no column may be a passage
            {"goal": "Q", "sol1": "u", "sol2": "v", "label": 0},
            "passage=const:,question=goal,candidates=sol1+sol2,gold=label",
        ),
        (  # SciQ
            {
                "question": "Q",
                "distractor2": "u",
                "distractor1": "v",
                "correct_answer": "w",
                "support": "S",
            },
            "passage=support,question=question,candidates=correct_answer+distractor1+distractor2,gold=correct_answer",
        ),
    ],
)
@pytest.mark.parametrize("name", ["rows.jsonl", "my rows.json"])
def test_fields_that_names_make_certain_are_filled_in(tmp_path, row, fields, name):
    path = tmp_path / name
    path.write_text(json.dumps([row] if name.endswith(".json") else row), "utf-8")
    error, options = propose(path)
    assert error.exit_code == 3
    assert options["fields"] == fields
    coding = {"gold_as": "index0"} if "gold_as" in options else {}
    assert len(load(path, fields=fields, **coding)) == 1


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (  # no usual names
            {
                "idx": 3,
                "head": "Ann sang all day.",
                "say": "Who sang?",
                "alt": ["Bob", "Ann"],
                "key": "2",
            },
            "passage=COLUMN,question=COLUMN,candidates=COLUMN,gold=COLUMN,id=idx",
        ),
        (  # sentences of a story are no options
            {
                "Sentence1": "Ann sang.",
                "Sentence2": "Bob ran.",
                "Quiz1": "Ann left.",
                "Quiz2": "Bob wept.",
                "End": 1,
            },
            "passage=COLUMN,question=COLUMN,candidates=COLUMN,gold=COLUMN",
        ),
        (  # two columns for one role
            {**_TEXTS, "story": "It rained.", **_TWO, "label": 1, "answer": "Ann"},
            "passage=COLUMN,question=question,candidates=choices,gold=COLUMN",
        ),
        (  # a list and a family
            {**_TEXTS, **_TWO, "A": "u", "B": "v", "answer": "B"},
            f"{_FIELDS},candidates=COLUMN,gold=answer",
        ),
        (  # other columns may be the passage
            {"question": "Q", "question_concept": "u", **_TWO, "answerKey": "B"},
            "passage=COLUMN,question=question,candidates=choices,gold=answerKey",
        ),
        ({**_TEXTS, "choices": 2, "label": 1}, f"{_FIELDS},candidates=COLUMN,gold=label"),
        ({**_TEXTS, **_TWO, "label": "Eve"}, f"{_FIELDS},candidates=COLUMN,gold=COLUMN"),
        ({**_TEXTS, "answer": "Ann"}, f"{_FIELDS},candidates=COLUMN,gold=answer"),
        ({**_TEXTS, "answer": "yes"}, f"{_FIELDS},candidates=COLUMN,gold=answer"),
        ({**_TEXTS, **_TWO}, f"{_FIELDS},candidates=choices,gold=COLUMN"),
    ],
)
def test_what_names_leave_open_is_left_to_the_user(tmp_path, row, fields):
    path = _write(tmp_path / "rows.jsonl", row)
    _, options = propose(path)
    assert options == {"fields": fields}
    with raises(DataError):
        load(path, **options)


def test_an_ambiguous_coding_is_left_to_the_user(tmp_path):
    path = _write(
        tmp_path / "rows.jsonl",
        *({**_TEXTS, "choices": ["u", "v", "w"], "label": i} for i in (1, 2)),
    )
    error, options = propose(path)
    assert options == {"fields": f"{_FIELDS},candidates=choices,gold=label", "gold_as": "CODING"}
    assert "(index0 or index1)" in error.hint
    assert [q.gold for q in load(path, **{**options, "gold_as": "index1"})] == [{0}, {1}]


def test_each_column_has_up_to_three_values(tmp_path):
    rows = [
        {"id": i, "ctx": "C " * 90, "q": {"say": f"Q{i // 2}?"}, "opts": ["a", "b"], "no": None}
        for i in range(9)
    ]
    error, _ = propose(_write(tmp_path / "rows.jsonl", *rows))
    columns = (
        r"id \(0, 1, 2\), ctx \('(C ){10,30}…\), q\.say \('Q0\?', 'Q1\?', 'Q2\?'\), "
        r"opts \(\['a', 'b'\]\)"
    )
    assert re.fullmatch(rf"rows with {columns}, no \(nothing\)", error.found)


def test_an_unknown_table_gets_proposed_fields(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("story,ask,A,B,answer\nOnce.,Who?,x,y,B\n", "utf-8")
    error, options = propose(path)
    assert error.found == "rows with story ('Once.'), ask ('Who?'), A ('x'), B ('y'), answer ('B')"
    assert options["fields"] == "passage=story,question=COLUMN,candidates=A+B,gold=answer"


def test_ids_are_taken_if_each_row_has_its_own(tmp_path):
    rows = [{**_TEXTS, "id": "same", **_TWO, "label": i} for i in (0, 1)]
    assert "id=" not in propose(_write(tmp_path / "rows.jsonl", *rows))[1]["fields"]


@given(
    rows=st.lists(
        st.dictionaries(
            st.sampled_from(
                ["text", "q", "A", "B", "C", "options", "answer", "label", "x, y", "a+b", "id"]
            ),
            st.none()
            | st.sampled_from(
                ["A", "B", "x", "Who?", "A long text of some words.", True, 0, 1, 2, ["x", "y"]]
            )
            | st.text(max_size=4),
            min_size=3,
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_whole_command_is_proposed_only_if_it_works(tmp_path, rows):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), "utf-8")
    try:
        load(path)
    except DataError as error:
        if error.problem == "unknown format":
            _, options = propose(path)
            if not {"COLUMN", "CODING"} & set(re.findall(r"\w+", " ".join(options.values()))):
                assert len(load(path, **options)) == len(rows)


def test_an_object_that_has_the_passage_of_its_questions_is_one_row(tmp_path):
    path = tmp_path / "one.json"
    questions = [{"question": "Who?", "options": ["Bob", "Ann"], "answer": "Ann"}] * 2
    path.write_text(json.dumps({"context": "Ann sang.", "title": "A song", "questions": questions}))
    _, options = propose(path)
    assert "passage=context,question=questions[].question" in options["fields"]
    assert len(load(path, fields=options["fields"])) == 2
