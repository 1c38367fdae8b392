"""Significance marks of rows that differ from a baseline."""

from __future__ import annotations

import json
import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.evaluation import SharedResults, compare, evaluate, with_significance
from classic_rc.evaluation.resampling import holm, permutation_test
from classic_rc.folds import passage_groups
from classic_rc.metrics import METRICS, get_metric
from classic_rc.solvers import parse_solver
from tests.errors import raises


@pytest.fixture(scope="module")
def evaluation():
    solvers = [parse_solver(name) for name in ("random", "all-positive", "longest")]
    return evaluate(load("sample:multiple-answer"), solvers, threshold=10.0)


def test_all_rows_and_metrics_are_one_family(evaluation):
    made = with_significance(evaluation, "all-positive", 500, seed=4)
    base = evaluation.rows[1].outcomes.statistics
    groups = passage_groups(evaluation.dataset)
    wanted = holm(
        [
            permutation_test(METRICS[name], row.outcomes.statistics[name], base[name], groups, n=500, seed=4).p
            for row in (evaluation.rows[0], evaluation.rows[2])
            for name in base
        ]
    )
    found = [p for row in made.rows for p in row.p_values.values()]
    assert found == wanted.tolist()
    assert dict(made.rows[1].p_values) == {}
    assert made.significance.tests == 2 * len(base)
    plain = made.to_dict()
    assert plain["significance"] == {
        "baseline": "all-positive",
        "tests": 2 * len(base),
        "n": 500,
        "seed": 4,
        "group": None,
    }
    assert plain["rows"][0]["p_values"] == dict(made.rows[0].p_values)
    assert "significance" not in evaluation.to_dict()
    json.dumps(plain, allow_nan=False)


def test_one_pair_is_what_compare_finds():
    made = evaluate(load("sample:single-choice"), [parse_solver(name) for name in ("shortest", "sliding-window")])
    (pair,) = compare(SharedResults.of(made), n=400, seed=1).pairs
    assert with_significance(made, "shortest", 400, seed=1).rows[1].p_values == {
        get_metric("accuracy").name: pair.p
    }


def test_a_baseline_is_one_row_among_others(evaluation):
    with raises(UsageError, field=re.compile("^row of "), found="longets", expected="longest"):
        with_significance(evaluation, "longets")
    longest = parse_solver("longest")
    data = load("sample:single-choice")
    with raises(UsageError, field="baseline", found="longest") as refused:
        with_significance(evaluate(data, [longest, longest]), "longest")
    assert "2 rows" in str(refused.value)
    with raises(UsageError, field="baseline", found="longest") as refused:
        with_significance(evaluate(data, [longest]), "longest")
    assert "only row" in str(refused.value)
