"""Breakdowns: each cell equals the result on the questions of its group alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import compress

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.datasets.labels import Labels
from classic_rc.errors import UsageError
from classic_rc.questions import Task
from classic_rc.results import (
    SharedResults,
    break_down,
    cross_tabulate,
    group_questions,
    with_intervals,
    with_significance,
)
from tests.errors import raises

SOLVERS = ("random", "longest", "sw+d")


@pytest.fixture(scope="module")
def data():
    return load("sample:single-choice")


def measured(data):
    evaluation = with_intervals(evaluate(data, SOLVERS), 300, seed=2)
    return with_significance(evaluation, "longest", 300, seed=2)


@pytest.fixture(scope="module")
def results(data):
    return measured(data).results


@pytest.fixture(scope="module")
def labels(data):
    """Every question has some of four labels, the last few have no entry."""
    skills = {}
    for i, question in enumerate(data[:-3]):
        skills[question.id] = frozenset(name for j, name in enumerate("abcd") if i % (j + 2) == 0)
    return Labels("skills", skills)


def test_a_group_that_a_system_defines_is_marked_alone_and_in_pairs(data, results):
    solved = results.systems[2].statistics["accuracy"][:, 0] == 1
    names = {}
    for question, is_solved in zip(data, solved, strict=True):
        names[question.id] = frozenset({"solved, by it" if is_solved else "left"})
    labels = [Labels("own", names)]
    for key in ("own", "own,question-type", "question-type,own"):
        breakdown = break_down(results, group_questions(data, key, labels), n=20)
        for group in breakdown.groups:
            assert ["§" in cell.mark for cell in group.cells] == [False, False, True]
    others = break_down(results, group_questions(data, "question-type,verbatim"), n=20)
    assert not any("§" in cell.mark for group in others.groups for cell in group.cells)


def test_a_cell_is_the_evaluation_of_its_questions_alone(data, results, labels):
    for key in ("type", "question-type", "skills", "skills:alone", "skills:count"):
        grouping = group_questions(data, key, [labels])
        breakdown = break_down(results, grouping, n=300, seed=2)
        assert breakdown.systems == list(SOLVERS)
        for group, mask in zip(breakdown.groups, grouping.masks.values(), strict=True):
            alone = measured(replace(data, questions=list(compress(data, mask))))
            assert (group.questions, group.passages) == (mask.sum(), len(alone.dataset.passages))
            assert group.is_small is bool(mask.sum() < 10)
            for cell, expected_cell in zip(group.cells, alone.measure(), strict=True):
                assert cell.value == pytest.approx(expected_cell.value, abs=1e-12)
                assert cell.interval == (
                    expected_cell.interval and pytest.approx(expected_cell.interval)
                )
                assert cell.test == expected_cell.test


def test_the_total_is_of_what_is_covered(data, results, labels):
    breakdown = break_down(results, group_questions(data, "skills", [labels]), n=10)
    assert breakdown.total.questions == len(data) - 3
    expected = [system.statistics["accuracy"][:-3].mean() for system in results.systems]
    assert [cell.value for cell in breakdown.total.cells] == pytest.approx(expected)


def test_any_metric_of_the_task_can_be_broken_down(dataset, says):
    rows = [
        ("A.", ["1", "2"], frozenset({0})),
        ("A.", ["2", "1"], frozenset({0})),
        ("B.", ["1", "0"], frozenset()),
    ]
    questions = dataset(Task.MULTIPLE_ANSWER, rows, kind=["x", "y", "y"])
    results = evaluate(questions, [says], threshold=0.5).results
    for metric in ("f1_a", "em0", None):
        breakdown = break_down(results, group_questions(questions, "kind"), metric=metric, n=10)
        assert breakdown.metric.name == (metric or "f1_a")
        json.dumps(breakdown.to_dict(), allow_nan=False)
    with raises(UsageError, field="metric", found="accuracy", expected=re.compile("f1_a")):
        break_down(results, group_questions(questions, "kind"), metric="accuracy")


def test_without_systems_questions_are_counted(data, results):
    nobody = SharedResults(
        results.dataset, results.fingerprint, results.task, lambda: results.groups, ()
    )
    breakdown = break_down(nobody, group_questions(data, "type"), n=10)
    assert breakdown.systems == []
    assert sum(group.questions for group in breakdown.groups) == len(data)


def test_groups_of_other_questions_are_refused(data, results):
    with raises(UsageError, field="grouping", found="3", expected="24"):
        break_down(results, group_questions(data[:3], "type"))


def test_a_group_without_questions_has_no_number(data, results):
    nothing = group_questions(data, "skills", [Labels("skills", {})])
    breakdown = break_down(results, nothing, n=10)
    assert breakdown.groups == ()
    assert breakdown.to_dict()["total"]["systems"]["sw+d"] == {"value": None, "interval": None}


def test_cross_tabulations_count_questions_in_both(data, labels):
    skills, kinds = group_questions(data, "skills", [labels]), group_questions(data, "type")
    cross = cross_tabulate(skills, kinds).to_dict()
    for label, row in cross["counts"].items():
        for kind, count in row.items():
            n = 0
            for id_, of_question in labels.of_question.items():
                has_label = label in (of_question or {"no label"})
                n += has_label and data.by_id[id_].meta_value("type") == kind
            assert count == n


def test_the_diagonal_of_a_grouping_with_itself_has_the_sizes_of_the_groups(data, labels):
    skills = group_questions(data, "skills", [labels])
    counts = cross_tabulate(skills, skills).counts
    assert np.array_equal(counts, counts.T)
    assert np.diag(counts).tolist() == [mask.sum() for mask in skills.masks.values()]


def test_questions_of_hidden_gold_are_in_no_group_of_what_gold_says(data):
    hidden = replace(data, questions=[replace(question, gold=None) for question in data])
    nothing, kinds = group_questions(hidden, "verbatim"), group_questions(hidden, "type")
    assert cross_tabulate(nothing, nothing).to_dict()["counts"] == {}
    assert cross_tabulate(nothing, kinds).counts.shape == (0, len(kinds.masks))
