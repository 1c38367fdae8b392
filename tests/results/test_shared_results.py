"""Results on the same questions: their settings, and what a record keeps of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classic_rc import evaluate, load
from classic_rc.errors import UsageError
from classic_rc.metrics import METRICS
from classic_rc.results import with_intervals, with_significance
from classic_rc.results.record import record_text, run_record
from classic_rc.results.record_reading import read_results
from tests.errors import raises


@pytest.fixture(scope="module")
def evaluation():
    data = load("sample:multiple-answer")
    grouped = []
    for i, question in enumerate(data):
        grouped.append(replace(question, meta={**question.meta, "half": str(i % 2)}))
    data = replace(data, questions=grouped)
    systems = ["random", "all-positive", "longest"]
    return evaluate(data, systems, threshold=10.0, by="half", metrics=["em0", "f1_a"])


def in_full(measured):
    return [
        (value.value, value.interval, value.test, value.is_best, value.defines_group)
        for value in measured
    ]


@pytest.mark.parametrize("group", [None, "half"])
def test_a_record_is_measured_as_the_evaluation(evaluation, group, tmp_path):
    evaluated = with_intervals(evaluation, 50, seed=3, level=0.9, group=group)
    evaluated = with_significance(evaluated, ["longest", "all-positive"], 50, seed=3, group=group)
    path = tmp_path / "run.json"
    path.write_text(record_text(run_record([evaluated], tmp_path)), encoding="utf-8")
    (results,) = read_results(path)
    assert {source.group for source in (results, results.resampling, results.tests)} == {group}
    for group_name in (None, "0", "1"):
        for name in evaluated.metrics:
            measured = results.measure(METRICS[name], group_name)
            assert in_full(measured) == in_full(evaluated.measure(name, group_name))


def test_settings_that_are_asked_for_later_are_those_of_a_run(evaluation):
    evaluated = with_significance(with_intervals(evaluation, 200), "longest")
    later = evaluation.results.with_intervals(200).with_tests(["longest"])
    assert (later.resampling, later.tests) == (evaluated.resampling, evaluated.significance)
    seeded = with_intervals(evaluation, 50, seed=7, level=0.9).results
    assert seeded.with_intervals(9).resampling == replace(seeded.resampling, n=9)
    assert seeded.with_tests(["longest"]).tests.seed == 7


def test_intervals_and_tests_have_the_same_groups_of_passages(evaluation):
    fields = {"field": "group", "found": "half", "expected": "None"}
    with raises(UsageError, **fields):
        with_significance(with_intervals(evaluation, 9), "longest", 9, group="half")
    with raises(UsageError, **fields):
        with_intervals(with_significance(evaluation, "longest", 9), 9, group="half")
