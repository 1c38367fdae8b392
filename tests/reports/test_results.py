"""The results table of a small handmade evaluation."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results import Evaluation, Row, results_table
from classic_rc.results.outcomes import Outcomes
from classic_rc.tables import render
from tests.tables import header, texts

PASSAGE = Passage("p", "Text.")


def dataset(task: Task, gold: list) -> Dataset:
    options = (Candidate("a"), Candidate("b"))
    questions = [Question(f"q{i}", PASSAGE, "?", options, g, task) for i, g in enumerate(gold)]
    return Dataset(questions, "mini", "dev", "own")


def outcomes(statistics: dict, n_tied=(1, 1), n_selected=(1.0, 1.0)) -> Outcomes:
    arrays = {name: np.array(rows, dtype=float) for name, rows in statistics.items()}
    return Outcomes(
        arrays,
        np.array(n_tied),
        np.array(n_selected),
        n_candidates=np.array([2, 2]),
        evidence=np.array([True, False]),
        answers=([0], [1]),
    )


def row_of(name: str, *credits: float, **facts) -> Row:
    statistics = {"accuracy": [[credit] for credit in credits]}
    return Row(name, None, {}, f"solver:{name}|n:2", f"{name}|n:2", outcomes(statistics), **facts)


SINGLE = Evaluation(
    dataset(Task.SINGLE_CHOICE, [frozenset({0}), frozenset({1})]),
    (row_of("random", 0.5, 0.5, expected=True),),
)


def several(**row) -> Evaluation:
    names = {"f1_m": 2, "f1_a": 3, "em0": 1, "em1": 1, "superglue_f1_m": 1}
    statistics = {}
    for name, width in names.items():
        statistics[name] = [[1.0] * width, [0.0] + [1.0] * (width - 1)]
    of_ir = outcomes(statistics, n_selected=(2.0, 1.0))
    data = dataset(Task.MULTIPLE_ANSWER, [frozenset({0}), frozenset()])
    return Evaluation(data, (Row("ir", None, {}, "ir", "ir", of_ir, **row),))


@pytest.mark.parametrize(
    ("row", "notes"),
    [
        ({"threshold": 0.123456789}, "threshold 0.123457"),
        ({"threshold": 2.0, "tuned_on": "dev", "tuned_here": False}, "tuned on dev; threshold 2"),
        ({"threshold": [1.0, 2.0], "tuned_on": "cv5"}, "tuned on cv5"),
        ({}, ""),
    ],
)
def test_several_answers_show_the_share_of_options_selected(row, notes):
    table = results_table(several(**row))
    assert header(table) == [
        "system",
        "F1m",
        "F1a",
        "EM0",
        "EM1",
        "F1m (SuperGLUE)",
        "selected",
        "notes",
    ]
    (cells,) = texts(table)
    assert cells == ["ir", "66.67", "50.00", "50.00", "50.00", "50.00", "75.0", notes]


def test_thresholds_of_folds_are_one_csv_cell():
    table = results_table(several(threshold=[0.5, 1.25], tuned_on="cv5"))
    (record,) = csv.DictReader(io.StringIO(render(table, "csv")))
    assert record["threshold"] == "0.5;1.25"


def test_nothing_measured_is_a_dash_and_not_a_number():
    empty = {"kind": {"none": np.array([False, False])}}
    nothing = replace(SINGLE, groupings=empty, group_by="kind")
    assert results_table(nothing)["Acc. none (0)"]["random"].is_missing


def test_small_groups_are_grey_in_html():
    evaluation = evaluate(load("sample:single-choice"), ["longest", "sw+d"], by="question-type")
    assert "color: GrayText" in render(results_table(evaluation), "html")


def test_rows_that_print_the_same_number_are_equally_good():
    credits = {"exact": 0.14375, "near": 0.1437, "less": 0.14}
    rows = [row_of(name, credit, credit, ties="first") for name, credit in credits.items()]
    table = results_table(replace(SINGLE, rows=tuple(rows)))
    printed = {name: text for name, text, *_ in texts(table)}
    assert printed == {"exact": "14.37", "near": "14.37", "less": "14.00"}
    assert [name for name, cell in table["accuracy"].items() if cell.bold] == ["exact", "near"]
