"""Coverage of intervals and level of tests, on simulated datasets whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc.metrics import get_metric
from classic_rc.results.intervals import resample_metrics
from classic_rc.results.resampling import percentile_interval, permutation_test

ACCURACY, F1A = get_metric("accuracy"), get_metric("f1_a")
TRUTH = {
    "accuracy": 1 / 2,
    "difference": 1 / 10,
    # Of 1 to 3 right options and 1 to 4 selected, the lesser number is 20/12 on average; half of it
    # is found.
    "f1_a": 2 * (20 / 12) / 2 / (2.5 + 2),
}
"""What :func:`simulated` has in expectation."""


def simulated(rng, n_groups):
    """Questions about passages that are easy or hard as a whole, one to seven of each."""
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 8, size=n_groups))
    ease = rng.beta(2, 2, size=n_groups)[groups]  # 1/2 on average
    n = len(groups)
    first = (rng.random(n) < ease) * 1.0
    second = (rng.random(n) < 0.8 * ease) * 1.0
    right, selected = rng.integers(1, 4, size=n), rng.integers(1, 5, size=n)
    n_correct = rng.binomial(np.minimum(right, selected), ease)
    selections = np.column_stack([n_correct, selected, right]) * 1.0
    return groups, first[:, None], second[:, None], selections


def coverage(n_draws, n_groups, n_resamples=1000):
    """How often 95 % intervals hold the truth; and how often they do that take questions for
    independent.
    """
    rng = np.random.default_rng(0)
    covered = dict.fromkeys(TRUTH, 0)
    independent = 0
    for draw in range(n_draws):
        groups, first, second, selections = simulated(rng, n_groups)
        measured = [(ACCURACY, first), (ACCURACY, second), (F1A, selections)]
        accuracy, recall, f1 = resample_metrics(measured, groups, n=n_resamples, seed=draw)
        drawn = {"accuracy": accuracy, "difference": accuracy - recall, "f1_a": f1}
        for name, values in drawn.items():
            low, high = percentile_interval(values)
            covered[name] += low <= TRUTH[name] <= high
        (naive,) = resample_metrics([(ACCURACY, first)], np.arange(len(groups)), n=200, seed=draw)
        low, high = percentile_interval(naive)
        independent += low <= TRUTH["accuracy"] <= high
    return {name: count / n_draws for name, count in covered.items()}, independent / n_draws


def rejections(n_draws, n_groups):
    """How often p is at most 0.05 where two systems are equally good, and alike on a passage."""
    rng = np.random.default_rng(0)
    rejected = 0
    for draw in range(n_draws):
        groups = np.repeat(np.arange(n_groups), rng.integers(1, 8, size=n_groups))
        draws = rng.random((2, len(groups), 1))
        ease = rng.beta(0.5, 0.5, size=(2, n_groups, 1))
        answers = (draws < ease[:, groups]) * 1.0
        test = permutation_test(ACCURACY, *answers, groups, n=500, seed=draw)
        rejected += test.p <= 0.05
    return rejected / n_draws


def test_intervals_cover_the_truth_and_those_that_ignore_passages_do_not():
    covered, independent = coverage(200, 100, n_resamples=400)
    assert all(0.9 <= share <= 0.99 for share in covered.values()), covered
    assert independent < 0.9


def test_p_values_keep_their_level():
    assert 0.02 <= rejections(200, 40) <= 0.09


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [50, 100, 200])
def test_intervals_of_95_percent_cover_93_to_97(n_groups):
    covered, independent = coverage(1000, n_groups)
    assert all(0.93 <= share <= 0.97 for share in covered.values()), covered
    assert independent < 0.9


@pytest.mark.slow
def test_p_values_of_5_percent_are_as_rare_as_that():
    assert 0.035 <= rejections(2000, 50) <= 0.065
