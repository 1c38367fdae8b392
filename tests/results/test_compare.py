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
from classic_rc.results.result_table import row_notes
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


def test_a_pair_has_its_difference_and_counts_wins_ties_and_losses():
    (pair,) = compare(results(A, B), n=100).pairs
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.difference == pytest.approx(4.5 / 6 - 3 / 6)
    assert (pair.wins, pair.ties, pair.losses) == (2, 3, 1)
    assert pair.interval.low < pair.difference < pair.interval.high
    assert pair.p_holm == pair.p


def test_all_pairs_are_tested_and_adjusted_together():
    systems = results(A, B, C)
    comparison = compare(systems, n=100, seed=5)
    names = [(pair.first, pair.second) for pair in comparison.pairs]
    assert names == [("a", "b"), ("a", "c"), ("b", "c")]
    expected = []
    for first, second in ((A, B), (A, C), (B, C)):
        rows = first.statistics["accuracy"], second.statistics["accuracy"]
        test = permutation_test(METRICS["accuracy"], *rows, systems.groups, n=100, seed=5)
        expected.append(test)
    assert [(pair.p, pair.exact) for pair in comparison.pairs] == expected
    adjusted = holm([test.p for test in expected]).tolist()
    assert [pair.p_holm for pair in comparison.pairs] == adjusted


def test_gains_are_over_chance_absolute_and_relative():
    comparison = compare(results(A, CHANCE), n=200)
    a, chance = comparison.estimates
    assert comparison.chance == 0.25
    assert a.gain == pytest.approx(0.5)
    assert a.relative_gain == pytest.approx(2)
    assert np.array(a.gain_interval) == pytest.approx(np.array(a.interval) - 0.25)
    assert (chance.gain, chance.gain_interval, chance.relative_gain) == (None, None, None)


def test_chance_may_be_given():
    _, b = compare(results(A, B), chance=CHANCE, n=10).estimates
    assert b.relative_gain == pytest.approx(1)


def test_without_chance_there_are_no_gains():
    comparison = compare(results(A, B), n=10)
    assert comparison.chance is None
    assert [estimate.gain for estimate in comparison.estimates] == [None, None]


def test_a_gain_over_nothing_is_not_relative():
    chance = system("random", [0] * 6, expected=True)
    a, _ = compare(results(A, B), chance=chance, n=10).estimates
    assert (a.gain, a.relative_gain) == (0.75, None)


def test_each_region_has_the_questions_that_exactly_its_systems_solve():
    comparison = compare(results(A, CHANCE, B, C), n=10)
    assert comparison.solved_by.name == "accuracy"
    sizes = {region.systems: region.questions for region in comparison.regions}
    assert sizes == {
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
    assert ids["a", "b"] == ("q0",)
    assert ids["b",] == ("q4",)
    assert ids["b", "c"] == ()
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
    measured = with_intervals(evaluation, 50).measure(metric)
    for estimate, expected in zip(comparison.estimates, measured, strict=True):
        assert (estimate.value, estimate.interval) == (expected.value, expected.interval)


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
    right = system("a", [1, 1, 1, 1, 0, 1])
    wrong = system("b", [0, 0, 1, 0, 1, 0])
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
    assert comparison.estimates[0].interval is None
    (pair,) = comparison.pairs
    assert (pair.interval, pair.p) == (None, 1)


def test_questions_of_a_passage_stay_together():
    systems = system("a", [1] * 40), system("b", [0] * 40)
    (apart,) = compare(results(*systems)).pairs
    (together,) = compare(results(*systems, groups=np.repeat(np.arange(4), 10))).pairs
    assert (apart.p, together.p) == (1 / 10_001, 1 / 8)


def test_one_system_is_nothing_to_compare():
    with raises(UsageError, field="systems", found="1"):
        compare(results(A))


def test_the_same_seed_gives_the_same_digits():
    rng = np.random.default_rng(0)
    systems = results(*(system(name, rng.random(80) > 0.5) for name in "abc"))
    assert compare(systems, seed=0).to_dict() == compare(systems, seed=0).to_dict()
    assert compare(systems, seed=0).to_dict() != compare(systems, seed=1).to_dict()


def test_plain_data_is_json():
    comparison = compare(results(A, B, CHANCE), n=50)
    plain = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
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


def test_results_on_the_same_questions_are_joined():
    assert join_results([results(A), results(B, C)]).names == ["a", "b", "c"]


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
    first = replace(A, threshold=0.25, tuned_params={"window": 3})
    second = replace(B, threshold=0.25, tuned_params={"window": 4})
    joined = Row.join("runs", [first, second])
    assert (joined.threshold, joined.tuned_params, joined.seed) == (0.25, {}, None)
    assert Row.join("runs", [first, replace(second, threshold=0.5)]).threshold is None
    assert "mean of 2 runs, SD 17.68 (Acc.)" in row_notes(joined)


def test_groups_that_are_used_must_be_the_same_in_all_results():
    first_half = np.arange(6) < 3
    first = replace(results(A), groupings={"half": {"yes": first_half}})
    second = replace(results(B), groupings={"half": {"yes": ~first_half}})
    assert join_results([first, second]).groupings.keys() == {"half"}
    with raises(UsageError, field="by", found="half"):
        join_results([first, second], ["half"])
