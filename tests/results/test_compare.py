"""Comparisons of systems on handmade outcomes with numbers worked out by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.metrics import METRICS
from classic_rc.questions import Task
from classic_rc.results import Row, SharedResults, compare, with_intervals
from classic_rc.results.outcomes import Outcomes
from classic_rc.results.resampling import holm, mcnemar_test, permutation_test
from classic_rc.results.shared_results import join_results
from classic_rc.solvers import parse_solver
from tests.errors import raises


def system(name, credits, *, expected=False):
    n, signature = len(credits), f"{name}|n:{len(credits)}"
    ones = np.ones(n, dtype=np.int64)
    rows = {"accuracy": np.array(credits, dtype=float)[:, None]}
    outcomes = Outcomes(rows, ones, 1.0 * ones, 4 * ones, None, (None,) * n)
    solver = "random" if expected else name
    return Row(solver, None, {}, signature, signature, outcomes, expected=expected, label=name)


def results(*systems, groups=None, task=Task.SINGLE_CHOICE):
    n = len(systems[0].statistics["accuracy"])
    groups = np.arange(n) if groups is None else np.array(groups)
    ids = tuple(f"q{i}" for i in range(n))
    return SharedResults("made", "f" * 64, task, lambda: groups, systems, ids=ids)


A = system("a", [1, 1, 1, 0, 0.5, 1])
B = system("b", [1, 0, 0, 0, 1, 1])
C = system("c", [0, 0, 1, 1, 0, 1])
CHANCE = system("random", [0.25] * 6, expected=True)


def test_differences_wins_ties_and_losses():
    (pair,) = compare(results(A, B), n=100).pairs
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.difference == pytest.approx(4.5 / 6 - 3 / 6)
    assert (pair.wins, pair.ties, pair.losses) == (2, 3, 1)
    assert pair.interval.low < pair.difference < pair.interval.high
    assert pair.p_holm == pair.p


def test_all_pairs_are_tested_and_adjusted_together():
    systems = results(A, B, C)
    comparison = compare(systems, n=100, seed=5)
    assert [(p.first, p.second) for p in comparison.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    expected = [
        permutation_test(
            METRICS["accuracy"],
            *(c.statistics["accuracy"] for c in two),
            systems.groups,
            n=100,
            seed=5,
        )
        for two in ((A, B), (A, C), (B, C))
    ]
    assert [(p.p, p.exact) for p in comparison.pairs] == expected
    assert [p.p_holm for p in comparison.pairs] == holm([test.p for test in expected]).tolist()


def test_gains_are_over_chance_absolute_and_relative():
    comparison = compare(results(A, CHANCE), n=200)
    a, chance = comparison.estimates
    assert comparison.chance == 0.25
    assert a.gain == pytest.approx(0.5)
    assert a.relative_gain == pytest.approx(2)
    assert (a.gain_interval.low, a.gain_interval.high) == pytest.approx(np.array(a.interval) - 0.25)
    assert (chance.gain, chance.gain_interval, chance.relative_gain) == (None, None, None)


def test_chance_may_be_given_and_may_be_unknown_or_nothing():
    assert compare(results(A, B), chance=CHANCE, n=10).estimates[1].relative_gain == pytest.approx(
        1
    )
    unknown = compare(results(A, B), n=10)
    assert unknown.chance is None
    assert [s.gain for s in unknown.estimates] == [None, None]
    nothing = compare(
        results(A, B), chance=system("random", [0] * 6, expected=True), n=10
    ).estimates[0]
    assert (nothing.gain, nothing.relative_gain) == (0.75, None)


def test_the_sets_that_systems_solve():
    comparison = compare(results(A, CHANCE, B, C), n=10)
    assert comparison.solved_by.name == "accuracy"
    assert {region.systems: region.questions for region in comparison.regions} == {
        ("a", "b", "c"): 1,  # the last
        ("a", "b"): 1,  # the first
        ("a", "c"): 1,  # the third
        ("b", "c"): 0,
        ("a",): 1,  # the second
        ("b",): 1,  # the fifth, where half the credit is not enough
        ("c",): 1,  # the fourth
        (): 0,
    }
    ids = {region.systems: region.ids for region in comparison.regions}
    assert (ids["a", "b"], ids["b",], ids["b", "c"]) == (("q0",), ("q4",), ())
    assert [len(region.systems) for region in comparison.regions] == [3, 2, 2, 2, 1, 1, 1, 0]
    assert sum(region.share for region in comparison.regions) == pytest.approx(1)
    assert comparison.left_out == ("random",)


def test_four_sets_are_shown_and_two_needed():
    five = [replace(A, label=name) for name in "abcde"]
    comparison = compare(results(*five), n=10)
    assert len(comparison.regions) == 16
    assert comparison.left_out == ("e",)
    assert compare(results(A, CHANCE), n=10).regions == ()


@pytest.mark.parametrize(
    ("sample", "metric", "solved_by"),
    [
        ("single-choice", "accuracy", "accuracy"),
        ("multiple-answer", "f1_a", "em0"),
        ("cloze", "f1", "em"),
        ("multi-span", "quoref_f1", "quoref_em"),
    ],
)
def test_every_task_has_its_metric_and_its_sets(sample, metric, solved_by):
    dataset = load(f"sample:{sample}")
    solvers = {
        "multiple-answer": ["all-positive", "all-negative"],
        "multi-span": ["span-sw", "random"],
    }
    names = solvers.get(sample, ["sw+d", "word-distance"])
    evaluation = evaluate(dataset, list(map(parse_solver, names)), ties="first")
    comparison = compare(evaluation.results, n=50)
    assert (comparison.metric.name, comparison.solved_by.name) == (metric, solved_by)
    assert sum(region.questions for region in comparison.regions) == (
        len(dataset) if "random" not in names else 0
    )
    assert [(s.value, s.interval) for s in comparison.estimates] == [
        (measured.value, measured.interval)
        for measured in with_intervals(evaluation, 50).measure(metric)
    ]


def test_another_metric_can_be_compared():
    evaluation = evaluate(
        load("sample:cloze"), [parse_solver("sw+d"), parse_solver("max-frequency")]
    )
    comparison = compare(evaluation.results, metric="em", n=10)
    assert comparison.estimates[0].value == evaluation.rows[0].metrics()["em"]
    with raises(UsageError, field="metric", found="accuracy", expected="em, f1"):
        compare(evaluation.results, metric="accuracy")
    with raises(UsageError, field="metric", found="f2"):
        compare(evaluation.results, metric="f2")


def test_other_tests_can_be_asked_for():
    right, wrong = system("a", [1, 1, 1, 1, 0, 1]), system("b", [0, 0, 1, 0, 1, 0])
    rows = [c.statistics["accuracy"] for c in (right, wrong)]
    mcnemar = compare(results(right, wrong), test="mcnemar", n=10)
    assert mcnemar.pairs[0].p == mcnemar_test(METRICS["accuracy"], *rows).p
    assert "independent questions" in mcnemar.null_hypothesis
    with raises(UsageError, field="metric", found="accuracy") as refused:
        compare(results(A, B), test="mcnemar")
    assert "--test permutation" in str(refused.value)
    with raises(UsageError, field="test", found="t"):
        compare(results(A, B), test="t")


def test_one_passage_leaves_no_interval():
    alone = results(A, B, groups=[0] * 6)
    comparison = compare(alone, n=10)
    assert (
        comparison.estimates[0].interval,
        comparison.pairs[0].interval,
        comparison.pairs[0].p,
    ) == (
        None,
        None,
        1,
    )


def test_questions_of_a_passage_stay_together():
    apart, together = (
        compare(results(system("a", [1] * 40), system("b", [0] * 40), groups=groups)).pairs[0].p
        for groups in (None, np.repeat(np.arange(4), 10))
    )
    assert (apart, together) == (1 / 10_001, 1 / 8)


def test_one_system_is_nothing_to_compare():
    with raises(UsageError, field="systems", found="1"):
        compare(results(A))


def test_the_same_seed_gives_the_same_digits():
    systems = results(
        *(system(n, np.random.default_rng(i).random(80) > 0.5) for i, n in enumerate("abc"))
    )
    assert compare(systems, seed=0).to_dict() == compare(systems, seed=0).to_dict()
    assert compare(systems, seed=0).to_dict() != compare(systems, seed=1).to_dict()


def test_plain_data_is_json():
    plain = json.loads(json.dumps(compare(results(A, B, CHANCE), n=50).to_dict(), allow_nan=False))
    assert plain["dataset"] == {
        "name": "made",
        "task": "single-choice",
        "fingerprint": "f" * 64,
        "questions": 6,
    }
    assert plain["test"]["adjusted"] == "holm"
    assert len(plain["pairs"][0]["interval"]) == 2
    assert plain["overlap"]["regions"][0]["systems"] == ["a", "b"]


def test_systems_on_other_questions_are_refused_by_name():
    elsewhere = replace(results(C), fingerprint="e" * 64, dataset="else")
    labels = {
        "expected": "made (6 questions, data ffffffff)",
        "found": "else (6 questions, data eeeeeeee)",
    }
    with raises(UsageError, field="dataset", **labels) as refused:
        join_results([results(A, B), elsewhere])
    message = str(refused.value)
    assert f"a, b answered {labels['expected']}" in message
    assert f"c answered {labels['found']}" in message
    assert [c.name for c in join_results([results(A), results(B, C)]).systems] == ["a", "b", "c"]


def test_what_one_result_keeps_together_belongs_together_in_all():
    plain = results(A)
    by_author = replace(results(B, groups=[0, 0, 1, 1, 2, 2]), group="author")
    by_source = replace(results(C, groups=[0, 1, 1, 2, 3, 4]), group="source")
    for order in ((plain, by_author), (by_author, plain)):
        joined = join_results(order)
        assert (joined.groups.tolist(), joined.group) == ([0, 0, 1, 1, 2, 2], "author")
    joined = join_results([plain, by_author, by_source])
    assert (joined.groups.tolist(), joined.group) == ([0, 0, 0, 0, 1, 1], "author and source")


def test_metrics_that_only_some_systems_have_are_not_shared():
    rows = {**A.statistics, "extra": A.statistics["accuracy"]}
    more = replace(A, outcomes=replace(A.outcomes, statistics=rows))
    assert results(more, more).metric_names == ("accuracy", "extra")
    assert results(more, B).metric_names == ("accuracy",)


def test_a_fact_that_differs_between_runs_is_none_of_their_mean():
    first, second = (
        replace(row, threshold=0.25, tuned_params={"window": n}) for row, n in ((A, 3), (B, 4))
    )
    joined = Row.join("runs", [first, second])
    assert (joined.threshold, joined.tuned_params, joined.seed) == (0.25, {}, None)
    assert Row.join("runs", [first, replace(second, threshold=0.5)]).threshold is None
