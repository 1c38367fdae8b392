"""Intervals of the rows of an evaluation: against SciPy, and under changes that must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from classic_rc import evaluate
from classic_rc.datasets import from_rows, load
from classic_rc.errors import UsageError
from classic_rc.folds import passage_groups
from classic_rc.kernels.arrays import small_blocks
from classic_rc.metrics import METRICS, get_metric
from classic_rc.questions import Task
from classic_rc.results import results_table, with_intervals
from classic_rc.results.intervals import resample_metrics
from classic_rc.results.mean_intervals import mean_interval
from classic_rc.results.record import runs_to_dict
from classic_rc.results.resampling import percentile_interval, resample_means
from classic_rc.solvers import parse_solver
from tests.errors import raises
from tests.simulated import draw_groups


@pytest.fixture(scope="module")
def evaluation():
    solvers = ["random", "all-positive", "longest"]
    return evaluate(
        load("sample:multiple-answer"), list(map(parse_solver, solvers)), threshold=10.0
    )


def test_every_metric_of_every_row_has_the_interval_that_it_has_alone(evaluation):
    resampled = with_intervals(evaluation, 500, seed=3)
    groups = passage_groups(evaluation.dataset)
    for name in evaluation.rows[0].statistics:
        for row, measured in zip(resampled.rows, resampled.measure(name), strict=True):
            statistics, interval = row.statistics[name], measured.interval
            if name in ("em0", "em1", "superglue_f1_m"):
                assert interval == mean_interval(statistics[:, 0], groups)
            else:
                means = resample_means(statistics, groups, n=500, seed=3)
                assert interval == percentile_interval(METRICS[name].from_means(means))
            assert interval.low <= measured.value <= interval.high


def test_an_expectation_has_the_interval_of_the_expectation(dataset, says):
    options = [["1", "2"], ["1", "2", "3", "4"]] * 20
    rows = [(f"passage {i}", texts, frozenset({0})) for i, texts in enumerate(options)]
    evaluated = evaluate(dataset(Task.SINGLE_CHOICE, rows), [parse_solver("random")])
    low, high = with_intervals(evaluated, 2000).measure()[0].interval
    # only which passages are there is uncertain: 1/2 or 1/4 each
    assert 0.25 < low < 0.375 < high < 0.5


def test_seeds_are_seeds_and_zero_is_one(evaluation):
    def bounds(seed):
        resampled = with_intervals(evaluation, 300, seed=seed)
        return [measured.interval for measured in resampled.measure()]

    assert bounds(0) == bounds(0)
    assert bounds(0) != bounds(1)
    with_large_seed = bounds(2**70)
    with small_blocks(50):
        assert bounds(2**70) == with_large_seed


def test_few_passages_are_warned_about(evaluation):
    resampled = with_intervals(evaluation, 10)
    n_groups = resampled.resampling.n_groups
    assert n_groups == passage_groups(evaluation.dataset).max() + 1 < 30
    assert f"too narrow: {n_groups} passages are fewer than 30" in resampled.warnings[-1]
    assert "of F1m, F1a are" in resampled.warnings[-1]


def test_one_passage_has_no_interval_but_a_reason(dataset, says):
    rows = [
        ("the passage", ["1", "2"], frozenset({0})),
        ("the passage", ["1", "2"], frozenset({1})),
    ]
    resampled = with_intervals(evaluate(dataset(Task.SINGLE_CHOICE, rows), [says]))
    assert resampled.measure()[0].interval is None
    assert len(resampled.warnings) == 1
    assert "no interval" in resampled.warnings[0]
    assert resampled.resampling.note == resampled.warnings[0] == results_table(resampled).notes[0]


@pytest.mark.parametrize(("field", "value"), [("n", 0), ("level", 95.0)])
def test_what_makes_no_sense_is_refused(evaluation, field, value):
    with raises(UsageError, field=field, found=str(value)):
        with_intervals(evaluation, **{field: value})


def test_json_has_the_settings_and_the_intervals_of_all_metrics(evaluation):
    (plain,) = runs_to_dict([with_intervals(evaluation, 50, seed=4)])["runs"]
    assert plain["resampling"] == {
        "level": 0.95,
        "resamples": 50,
        "seed": 4,
        "groups": 5,
        "group": None,
    }
    assert all(row["intervals"].keys() == row["metrics"].keys() for row in plain["rows"])
    (without_intervals,) = runs_to_dict([evaluation])["runs"]
    assert without_intervals["resampling"] is None
    assert without_intervals["rows"][0]["intervals"] == {}


def test_scipy_finds_the_same_interval_of_a_paired_difference():
    """The paired percentile bootstrap of sums by group, each system's F1a worked out anew."""
    rng = np.random.default_rng(0)
    groups = draw_groups(rng, 200, 60)
    right = rng.integers(1, 4, size=200)

    def draw_selections(share):
        hits, wrong = rng.binomial(right, share), rng.integers(1, 4, size=200)
        return np.column_stack([hits, wrong + right, right]).astype(float)

    first, second = draw_selections(0.8), draw_selections(0.5)
    metric = get_metric("f1_a")
    drawn = resample_metrics([(metric, first), (metric, second)], groups, n=20_000, seed=1)
    interval = percentile_interval(drawn[0] - drawn[1])
    sums = np.zeros((60, 6))
    np.add.at(sums, groups, np.hstack([first, second]))

    def difference(*columns, axis=-1):
        totals = np.stack([column.sum(axis=axis) for column in columns], axis=-1)
        return metric.from_means(totals[..., :3]) - metric.from_means(totals[..., 3:])

    settings = {"n_resamples": 20_000, "paired": True, "method": "percentile", "batch": 1000}
    rng = np.random.default_rng(2)
    expected = stats.bootstrap(tuple(sums.T), difference, **settings, random_state=rng)
    assert interval == pytest.approx(expected.confidence_interval, abs=0.003)
    assert interval.high - interval.low > 0.05


def test_questions_without_passages_are_drawn_by_themselves():
    shared = {"passage": "", "candidates": ["a", "b"]}
    rows = []
    for i in range(12):
        rows.append({"id": f"q{i}", "question": f"What is {i}?", "gold": i % 2, **shared})
    evaluation = with_intervals(evaluate(from_rows(rows, name="bare"), ["longest"]), 100)
    assert str(evaluation).startswith("bare (rows) · 12 questions, no passages, 24 candidates")
    assert "effective sample size of 12 questions" in evaluation.resampling.note
    assert "100 resamples, seed 0" in evaluation.resampling.note
    assert not any("too narrow" in warning for warning in evaluation.warnings)
