"""Significance marks of rows that differ from a baseline."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.folds import passage_groups
from classic_rc.metrics import METRICS, get_metric
from classic_rc.results import SharedResults, compare, with_significance
from classic_rc.results.resampling import holm, permutation_test
from classic_rc.solvers import parse_solver
from tests.errors import raises


@pytest.fixture(scope="module")
def evaluation():
    solvers = [parse_solver(name) for name in ("random", "all-positive", "longest")]
    return evaluate(load("sample:multiple-answer"), solvers, threshold=10.0)


def test_all_rows_are_one_family_in_the_primary_metric(evaluation):
    made = with_significance(evaluation, "all-positive", 500, seed=4)
    base = evaluation.rows[1].outcomes.statistics["f1_a"]
    groups = passage_groups(evaluation.dataset)
    wanted = holm(
        [
            permutation_test(
                METRICS["f1_a"], row.outcomes.statistics["f1_a"], base, groups, n=500, seed=4
            ).p
            for row in (evaluation.rows[0], evaluation.rows[2])
        ]
    )
    assert [dict(row.p_values) for row in made.rows] == [
        {"f1_a": wanted[0]},
        {},
        {"f1_a": wanted[1]},
    ]
    plain = made.to_dict()
    assert plain["significance"] == {
        "baseline": "all-positive",
        "metric": "f1_a",
        "tests": 2,
        "n": 500,
        "seed": 4,
        "group": None,
    }
    assert plain["rows"][0]["p_values"] == dict(made.rows[0].p_values)
    assert "significance" not in evaluation.to_dict()
    json.dumps(plain, allow_nan=False)


def test_the_first_of_the_reported_metrics_is_tested(evaluation):
    data = load("sample:multiple-answer")
    chosen = evaluate(data, ["all-positive", "longest"], threshold=10.0, metrics=["em0", "f1_m"])
    made = with_significance(chosen, "all-positive", 300)
    assert list(made.rows[1].p_values) == ["em0"]
    assert made.significance.metric == "em0"
    assert list(with_significance(chosen, "all-positive", 300, metric="f1_m").rows[1].p_values) == [
        "f1_m"
    ]
    with raises(UsageError, field="metric", found="f1"):
        with_significance(chosen, "all-positive", 300, metric="f1")
    with raises(UsageError, field="metric", found="accuracy"):
        evaluate(data, ["longest"], metrics=["accuracy"])


def test_each_group_of_questions_is_a_family_of_its_own():
    data = load("sample:single-choice")
    made = evaluate(data, ["longest", "sw+d", "sliding-window"], by="verbatim")
    marked = with_significance(made, "longest", 300, seed=2)
    groups = passage_groups(data)
    for value, mask in made.groups.items():
        rows = [row.outcomes.statistics["accuracy"][mask] for row in made.rows]
        own = np.unique(groups[mask], return_inverse=True)[1]
        wanted = holm(
            [
                permutation_test(METRICS["accuracy"], r, rows[0], own, n=300, seed=2).p
                for r in rows[1:]
            ]
        )
        assert [row.test(value).p_value for row in marked.rows[1:]] == wanted.tolist()
        record = marked.to_dict()["rows"][1]["groups"][value]
        assert record["p_value"] == marked.rows[1].test(value).p_value
    assert all(tested.p_value is None for tested in marked.rows[0].tests.values())
    # Only the number of systems sets the family: leaving out the groups changes no p-value.
    plain = with_significance(
        evaluate(data, ["longest", "sw+d", "sliding-window"]), "longest", 300, seed=2
    )
    assert [row.p_values for row in plain.rows] == [row.p_values for row in marked.rows]


def test_one_pair_is_what_compare_finds():
    made = evaluate(
        load("sample:single-choice"),
        [parse_solver(name) for name in ("shortest", "sliding-window")],
    )
    (pair,) = compare(SharedResults.of(made), n=400, seed=1).pairs
    assert with_significance(made, "shortest", 400, seed=1).rows[1].p_values == {
        get_metric("accuracy").name: pair.p
    }


def test_a_baseline_is_one_row_among_others(evaluation):
    with raises(UsageError, field=re.compile("^row of "), found="longets", expected="longest"):
        with_significance(evaluation, "longets")
    longest = parse_solver("longest")
    data = load("sample:single-choice")
    with raises(UsageError, field="baseline", found="twin") as refused:
        made = evaluate(data, [longest, longest])
        with_significance(
            replace(made, rows=tuple(replace(row, label="twin") for row in made.rows)), "twin"
        )
    assert "2 rows" in str(refused.value)
    with raises(UsageError, field="baseline", found="longest") as refused:
        with_significance(evaluate(data, [longest]), "longest")
    assert "only row" in str(refused.value)
