"""The bootstrap over groups: against a plain loop, and under changes that must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.metrics import get_metric
from classic_rc.results.resampling import interval_of_runs, percentile_interval, resample_means
from tests.errors import raises
from tests.simulated import draw_groups


def rows_and_groups(n_questions, n_groups, n_statistics=2, seed=0):
    rng = np.random.default_rng(seed)
    groups = draw_groups(rng, n_questions, n_groups)
    return rng.random((n_questions, n_statistics)), groups


def plain(statistics, groups, n, seed):
    """The same in plain Python: draw groups with the same bits, put their questions together,
    take the mean.
    """
    n_groups = int(groups.max()) + 1
    words = np.random.PCG64(seed).random_raw(n * n_groups)
    halves = [half for word in words.tolist() for half in (word & 0xFFFFFFFF, word >> 32)]
    means = []
    for start in range(0, n * n_groups, n_groups):
        drawn = [(half * n_groups) >> 32 for half in halves[start : start + n_groups]]
        questions = [i for g in drawn for i in np.flatnonzero(groups == g).tolist()]
        means.append(statistics[questions].mean(axis=0))
    return np.array(means)


def test_it_is_a_plain_loop_over_resamples():
    statistics, groups = rows_and_groups(30, 7)
    assert resample_means(statistics, groups, n=40, seed=3) == pytest.approx(
        plain(statistics, groups, 40, 3)
    )


def test_an_interval_is_that_of_the_loop():
    statistics, groups = rows_and_groups(40, 9, n_statistics=3)
    metric = get_metric("f1_a")
    expected = metric.from_means(plain(statistics, groups, 400, 0))
    interval = percentile_interval(
        metric.from_means(resample_means(statistics, groups, n=400, seed=0))
    )
    assert interval == pytest.approx((np.quantile(expected, 0.025), np.quantile(expected, 0.975)))


def test_bits_depend_on_the_seed_and_on_nothing_else():
    statistics, groups = rows_and_groups(200, 21)
    means = resample_means(statistics, groups, n=101, seed=5)
    order = np.random.default_rng(1).permutation(200)
    assert np.array_equal(resample_means(statistics[order], groups[order], n=101, seed=5), means)
    assert not np.array_equal(resample_means(statistics, groups, n=101, seed=6), means)
    with small_blocks(90):  # a few resamples at a time
        assert np.array_equal(resample_means(statistics, groups, n=101, seed=5), means)


@given(st.floats(-1e6, 1e6), st.integers(2, 6), st.integers(0, 2**70))
def test_a_constant_stays_itself(value, n_groups, seed):
    statistics, groups = np.full((8, 1), value), np.arange(8) % n_groups
    means = resample_means(statistics, groups, n=5, seed=seed)
    assert means == pytest.approx(np.full((5, 1), value), rel=1e-12, abs=1e-12)


def test_spread_is_that_of_groups_not_of_questions():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 10)
    alike = rng.random(100)[groups][:, None]  # the questions about a passage all score the same
    spread = resample_means(alike, groups, n=2000).std()
    assert spread == pytest.approx(alike[::10].std() / np.sqrt(100), rel=0.1)


@pytest.mark.parametrize(
    ("groups", "n", "field", "found_text"),
    [([0, 0, 0], 10, "groups", "1"), ([0, 1, 1], 0, "n", "0")],
)
def test_what_cannot_be_resampled_is_refused(groups, n, field, found_text):
    with raises(UsageError, field=field, found=found_text):
        resample_means(np.ones((3, 1)), np.array(groups), n=n)


def test_an_interval_needs_a_level():
    with raises(UsageError, field="level", found="95"):
        percentile_interval(np.arange(5.0), level=95)


def test_runs_that_differ_widen_an_interval():
    drawn = np.array([0.4, 0.5, 0.6])
    low, high = interval_of_runs(0.5, drawn, [np.array([0.4, 0.6])], 100)
    of_passages = interval_of_runs(0.5, drawn, [np.array([0.5])], 100)
    assert of_passages == percentile_interval(drawn)
    assert low < of_passages.low < of_passages.high < high
    assert interval_of_runs(0.5, np.full(3, 0.5), [np.full(2, 0.5)], 100) == (0.5, 0.5)
