"""Significance marks of rows that differ from a baseline."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.folds import passage_groups
from classic_rc.metrics import METRICS
from classic_rc.results import with_significance
from classic_rc.results.resampling import holm, permutation_test
from classic_rc.solvers import parse_solver
from tests.errors import raises


@pytest.fixture(scope="module")
def evaluation():
    solvers = [parse_solver(name) for name in ("random", "all-positive", "longest")]
    return evaluate(load("sample:multiple-answer"), solvers, threshold=10.0)


def p_values(evaluation, metric=None):
    return [measured.test.p_value for measured in evaluation.measure(metric)]


def test_all_rows_are_one_family_in_the_primary_metric(evaluation):
    tested = with_significance(evaluation, "all-positive", 500, seed=4)
    base = evaluation.rows[1].outcomes.statistics["f1_a"]
    groups = passage_groups(evaluation.dataset)
    p = []
    for row in (evaluation.rows[0], evaluation.rows[2]):
        rows = row.statistics["f1_a"]
        p.append(permutation_test(METRICS["f1_a"], rows, base, groups, n=500, seed=4).p)
    adjusted = holm(p)
    assert p_values(tested) == [adjusted[0], None, adjusted[1]]
    assert p_values(tested, "em0") == [None] * 3
    plain = tested.to_dict()
    assert plain["significance"] == {
        "baseline": "all-positive",
        "metric": "f1_a",
        "tests": 2,
        "n": 500,
        "seed": 4,
        "group": None,
    }
    recorded = [row["p_values"] for row in plain["rows"]]
    assert recorded == [{"f1_a": adjusted[0]}, {}, {"f1_a": adjusted[1]}]
    assert "significance" not in evaluation.to_dict()
    json.dumps(plain, allow_nan=False)


def test_the_first_of_the_reported_metrics_is_tested(evaluation):
    data = load("sample:multiple-answer")
    evaluated = evaluate(data, ["all-positive", "longest"], threshold=10.0, metrics=["em0", "f1_m"])
    assert with_significance(evaluated, "all-positive", 300).significance.metric == "em0"
    tested = with_significance(evaluated, "all-positive", 300, metric="f1_m")
    assert tested.measure("f1_m")[1].test.p_value is not None
    assert p_values(tested) == [None, None]
    with raises(UsageError, field="metric", found="f1"):
        with_significance(evaluated, "all-positive", 300, metric="f1")
    with raises(UsageError, field="metric", found="accuracy"):
        evaluate(data, ["longest"], metrics=["accuracy"])


def test_a_baseline_is_one_row_among_others(evaluation):
    with raises(UsageError, field=re.compile("^row of "), found="longets", expected="longest"):
        with_significance(evaluation, "longets")
    longest = parse_solver("longest")
    data = load("sample:single-choice")
    with raises(UsageError, field="baseline", found="twin") as refused:
        evaluated = evaluate(data, [longest, longest])
        with_significance(
            replace(evaluated, rows=tuple(replace(row, label="twin") for row in evaluated.rows)),
            "twin",
        )
    assert "2 rows" in str(refused.value)
    with raises(UsageError, field="baseline", found="longest") as refused:
        with_significance(evaluate(data, [longest]), "longest")
    assert "only row" in str(refused.value)
