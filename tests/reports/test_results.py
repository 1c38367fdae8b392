"""The results table and the CSV of a small handmade evaluation, exact to the letter."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from classic_rc.evaluation import Evaluation, Row
from classic_rc.evaluation.outcomes import Outcomes
from classic_rc.evaluation.results import Block
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports import render, results_csv, results_table

PASSAGE = Passage("p", "Text.")


def dataset(task: Task, gold: list) -> Dataset:
    options = (Candidate("a"), Candidate("b"))
    return Dataset(
        [Question(f"q{i}", PASSAGE, "?", options, g, task) for i, g in enumerate(gold)], "mini", "dev", "own"
    )


def outcomes(statistics: dict, n_tied=(1, 1), n_selected=(1.0, 1.0)) -> Outcomes:
    return Outcomes(
        {name: np.array(rows, dtype=float) for name, rows in statistics.items()},
        np.array(n_tied),
        np.array(n_selected),
        np.array([2, 2]),
        np.array([True, False]),
        ([0], [1]),
    )


SINGLE = Evaluation(
    dataset(Task.SINGLE_CHOICE, [frozenset({0}), frozenset({1})]),
    (
        Row(
            "random",
            None,
            {},
            "solver:random|n:2",
            "random|n:2",
            outcomes({"accuracy": [[0.5], [0.5]]}),
            expected=True,
        ),
        Row(
            "sw+d",
            "mctest160",
            {"window": "set"},
            "solver:sw+d|variant:mctest160|n:2",
            "sw+d|v:mctest160|n:2",
            outcomes({"accuracy": [[1.0], [1 / 3]]}, n_tied=(1, 3)),
            ties="first",
            tuned_on="mini",
            tuned_here=True,
            tuned_params={"window": 7},
            trained_on="train",
        ),
    ),
    {"x|y": np.array([True, False]), "日本": np.array([False, True])},
    "kind",
    ("something to know",),
)
SHORT = SINGLE.dataset.fingerprint[:8]


def test_table():
    assert render(results_table(SINGLE), "table") == (
        f"mini (own) · 2 questions, 1 passage, 4 candidates · data {SHORT}\n"
        "system           Acc.  Acc. x|y (1)  Acc. 日本 (1)  ties  notes\n" + "-" * 126 + "\n"
        "random          50.00       (50.00)        (50.00)     –  expectation\n"
        "sw+d:mctest160  66.67      (100.00)        (33.33)  50.0  ties: first; tuned on mini = THIS DATA; "
        "window 7; learned from train\n"
        "\n"
        "in parentheses: groups of fewer than 10 questions\n"
        "Signatures\n"
        "random = random|n:2\n"
        "sw+d:mctest160 = sw+d|v:mctest160|n:2\n"
    )


def test_markdown():
    assert render(results_table(SINGLE), "markdown").splitlines()[2:5] == [
        r"| system | Acc. | Acc. x\|y (1) | Acc. 日本 (1) | ties | notes |",
        "|---|---:|---:|---:|---:|---|",
        "| random | 50.00 | (50.00) | (50.00) | – | expectation |",
    ]


def test_latex():
    lines = render(results_table(SINGLE), "latex").splitlines()
    assert lines[:2] == ["% in parentheses: groups of fewer than 10 questions", "% Signatures"]
    assert r"\begin{tabular}{lrrrrl}" in lines
    assert r"system & Acc. & Acc. x\textbar{}y (1) & Acc. 日本 (1) & ties & notes \\" in lines


def test_csv():
    assert results_csv([SINGLE]) == (
        "dataset,split,questions,block,name,solver,variant,accuracy,accuracy[kind=x|y],accuracy[kind=日本],expected,tie_rate,ties,"
        "selected_share,threshold,tuned_on,tuned_here,trained_on,answers,unparsed,empty,signature\n"
        "mini,dev,2,learns nothing,random,random,,0.5,0.5,0.5,True,,,0.5,,,False,,,,,solver:random|n:2\n"
        "mini,dev,2,learns nothing,sw+d:mctest160,sw+d,mctest160,0.6666666666666666,1.0,0.3333333333333333,False,"
        "0.5,first,0.5,,mini,True,train,,,,solver:sw+d|variant:mctest160|n:2\n"
    )


def several(**row) -> Evaluation:
    names = {"f1_m": 2, "f1_a": 3, "em0": 1, "em1": 1, "superglue_f1_m": 1}
    statistics = {name: [[1.0] * width, [0.0] + [1.0] * (width - 1)] for name, width in names.items()}
    made = Row("ir", None, {}, "ir", "ir", outcomes(statistics, n_selected=(2.0, 1.0)), **row)
    return Evaluation(dataset(Task.MULTIPLE_ANSWER, [frozenset({0}), frozenset()]), (made,))


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
    assert table.header == ["system", "F1m", "F1a", "EM0", "EM1", "F1m (SuperGLUE)", "selected", "notes"]
    (cells,) = table.rows
    assert cells == ["ir", "66.67", "50.00", "50.00", "50.00", "50.00", "75.0", notes]


def test_thresholds_of_folds_are_one_csv_cell():
    assert ",0.5;1.25," in results_csv([several(threshold=[0.5, 1.25], tuned_on="cv5")])


def test_csv_of_several_datasets_has_all_their_columns():
    header, *records = results_csv([SINGLE, several()]).splitlines()
    assert {"accuracy", "f1_m", "accuracy[kind=x|y]"} <= set(header.split(","))
    assert len(records) == 3
    assert all(record.count(",") == header.count(",") for record in records)


def test_nothing_measured_is_a_dash_and_not_a_number():
    nothing = replace(SINGLE, rows=SINGLE.rows[:1], groups={"none": np.array([False, False])})
    assert results_table(nothing).rows[0][2] == "–"


def test_blocks_are_apart_and_keep_the_order_of_their_rows():
    blocks = (Block.GIVEN, Block.TRAINED, Block.UNTRAINED, Block.TRAINED, Block.UNTRAINED)
    rows = tuple(replace(SINGLE.rows[0], solver=f"s{i}", block=block) for i, block in enumerate(blocks))
    table = results_table(replace(SINGLE, rows=rows))
    assert [cells[0] for cells in table.rows] == ["s2", "s4", "s1", "s3", "s0"]
    assert table.headings == {0: Block.UNTRAINED.heading, 2: Block.TRAINED.heading, 4: Block.GIVEN.heading}
    records = csv.DictReader(io.StringIO(results_csv([replace(SINGLE, rows=rows)])))
    assert [record["block"] for record in records] == list(blocks)


def test_bold_cells_follow_their_rows_into_the_blocks():
    one_group = replace(SINGLE, groups={}, group_by=None)
    best, worst = (
        replace(SINGLE.rows[1], solver=name, tuned_here=False, outcomes=outcomes({"accuracy": credit}))
        for name, credit in (("best", [[1.0], [1.0]]), ("worst", [[0.0], [0.0]]))
    )
    table = results_table(replace(one_group, rows=(replace(best, block=Block.TRAINED), worst)))
    assert [table.rows[i][0] for i, _ in table.bold] == ["best:mctest160"]
