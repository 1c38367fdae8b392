import json
import re
from dataclasses import replace

import numpy as np
import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.formats import get_format, read_scores
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Dataset
from tests.errors import raises
from tests.formats.builders import json_lines as lines
from tests.formats.builders import select

jsonl = get_format("jsonl")


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def cloze(task_datasets):
    """One query about four mentions, the first and the third of which have one text."""
    return task_datasets["cloze"][:1]


@pytest.fixture
def cloze_rows(cloze):
    """The rows of scores and a decision."""
    evidence = np.array([True, False, True, True])
    scores = Scores(np.array([0.5, -1, 0.25, 3]), np.array([0, 4]), evidence)
    return rows(jsonl.write(cloze, scores, [Prediction("17", (("Tam",),))]))


def test_a_file_has_one_row_per_candidate(cloze_rows):
    keys = ["question_id", "candidate", "text", "score", "evidence", "selected"]
    assert [list(row) for row in cloze_rows] == [keys] * 4
    assert [tuple(row.values()) for row in cloze_rows] == [
        ("17", 0, "Tam", 0.5, True, True),
        ("17", 1, "Wren", -1.0, False, False),
        ("17", 2, "Tam", 0.25, True, False),
        ("17", 3, "Wren", 3.0, True, False),
    ]


def test_a_file_with_scores_and_decisions_gives_either(cloze, cloze_rows, tmp_path):
    text = lines(reversed(cloze_rows))
    (prediction,) = jsonl.read(text, cloze, source="a")
    assert (prediction.answers, prediction.n_candidates) == ((("Tam",),), 4)
    path = tmp_path / "answers.jsonl"
    path.write_text(text, encoding="utf-8")
    scores = read_scores(path, cloze)
    assert scores.values.tolist() == [0.5, -1, 0.25, 3]
    assert scores.evidence.tolist() == [True, False, True, True]


def test_text_and_evidence_may_be_left_out(cloze):
    text = lines({"question_id": 17, "candidate": i, "score": i} for i in range(4))
    scores = jsonl.read(text, cloze, source="a")
    assert (scores.values.tolist(), scores.evidence.all()) == ([0, 1, 2, 3], True)


def test_either_of_two_candidates_with_one_text_may_be_selected(cloze, cloze_rows):
    for selected in ({2}, {0, 2}):
        text = lines(row | {"selected": i in selected} for i, row in enumerate(cloze_rows))
        assert jsonl.read(text, cloze, source="a")[0].answers == (("Tam",),)


def test_an_answer_must_be_a_candidate(cloze):
    with raises(UsageError, field="predictions", found="'Ines'") as caught:
        jsonl.write(cloze, predictions=[Prediction("17", (("Ines",),))])
    assert "question 17 " in str(caught.value)


def change(index, **fields):
    def apply(rows):
        row = rows[index] | fields
        rows[index] = {name: value for name, value in row.items() if value is not ...}

    return apply


@pytest.mark.parametrize(
    ("apply", "where", "field", "found_text", "expected"),
    [
        (
            lambda rows: rows.pop(),
            None,
            None,
            "none for question_id '17', candidate 3",
            "one for each",
        ),
        (
            lambda rows: rows.append(rows[1]),
            "line 5",
            None,
            "question_id '17', candidate 1",
            "one answer (the",
        ),
        (
            change(1, candidate=4),
            "line 2",
            None,
            "question_id '17', candidate 4",
            "one of 4 entries such as",
        ),
        (change(1, candidate="1"), "line 2", "candidate", "'1'", "a whole number"),
        (change(1, text="Ines"), "line 2", "text", "'Ines'", "'Wren'"),
        (
            change(1, selected=...),
            "line 2",
            "selected",
            "an object with question_id, candidate, text, score, evidence",
            "true or false",
        ),
        (change(1, selected=True), "line 2", "selected", "2 for question '17'", "at most 1"),
    ],
)
def test_malformed_decisions_are_refused_with_their_place(
    cloze, cloze_rows, apply, where, field, found_text, expected
):
    apply(cloze_rows)
    pattern = re.compile(re.escape(expected))
    with raises(
        DataError, source="a", where=where, field=field, found=found_text, expected=pattern
    ):
        jsonl.read(lines(cloze_rows), cloze, source="a")


@pytest.mark.parametrize(
    ("apply", "where", "field", "found_text", "expected"),
    [
        (
            change(2, score=...),
            "line 3",
            "score",
            "an object with question_id, candidate, text, evidence, selected",
            "a finite number",
        ),
        (change(2, score="1"), "line 3", "score", "'1'", "a finite number"),
        (change(2, evidence=0), "line 3", "evidence", "the number 0", "true or false"),
        (
            change(2, score=float("inf")),
            "line 3, $.score",
            None,
            "Infinity",
            "a finite number or null",
        ),
    ],
)
def test_malformed_scores_are_refused_with_their_place(
    cloze, cloze_rows, apply, where, field, found_text, expected
):
    apply(cloze_rows)
    with raises(
        DataError, source="a", where=where, field=field, found=found_text, expected=expected
    ):
        jsonl.read_scores(lines(cloze_rows), cloze, source="a")


def test_rows_without_scores_or_decisions_are_refused(cloze):
    text = lines({"question_id": "17", "candidate": i} for i in range(4))
    with raises(DataError, line=1, field="score", found="an object with question_id, candidate"):
        jsonl.read(text, cloze, source="a")


def test_span_decisions_need_no_candidates(task_datasets):
    dataset = task_datasets["multi-span"]
    predictions = [
        Prediction("s0", (("Tam", "Ines"),)),
        Prediction("s1", ()),
        Prediction("s2", (("Ines",),)),
    ]
    text = jsonl.write(dataset, predictions=predictions)
    assert rows(text) == [
        {"question_id": "s0", "text": "Tam", "selected": True},
        {"question_id": "s0", "text": "Ines", "selected": True},
        {"question_id": "s1", "selected": False},
        {"question_id": "s2", "text": "Ines", "selected": True},
    ]
    with raises(DataError, source="a", found="none for 's2'", problem=re.compile("1 of 3")):
        jsonl.read(lines(rows(text)[:-1]), dataset, source="a")
    with raises(DataError, line=1, field="question_id", found="'s9'"):
        jsonl.read(text.replace("s0", "s9"), dataset, source="a")


def test_span_scores_need_the_spans(task_datasets):
    dataset = task_datasets["span"]
    spans = Dataset([replace(q, candidates=(Candidate("Ines"), Candidate("Tam"))) for q in dataset])
    scores = Scores.from_lists([[1, 2], [3, 4], [5, 6]])
    predictions = [Prediction(q.id, (("Tam",),), n_candidates=2) for q in spans]
    text = jsonl.write(spans, scores, predictions)
    assert jsonl.read_scores(text, spans, source="a").values.tolist() == [1, 2, 3, 4, 5, 6]
    read = jsonl.read(text, dataset, source="a")
    assert [p.answers for p in read] == [(("Tam",),)] * 3
    with raises(UsageError, field="candidates", found="none"):
        jsonl.read_scores(text, dataset, source="a")


def test_single_choice_has_one_selected_candidate(task_datasets):
    dataset = task_datasets["single-choice"]
    text = jsonl.write(dataset, predictions=select(dataset, {2}))
    text = text.replace('"selected": false', '"selected": true', 4)
    problem = {"found": "4 for question 'm.0.0'", "expected": "at most 1"}
    with raises(DataError, line=4, field="selected", **problem):
        jsonl.read(text, dataset, source="a")
