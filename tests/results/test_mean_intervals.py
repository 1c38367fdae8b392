"""Intervals of means: against exact binomial bounds, on the simulated grid, and at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from benchmarks.interval_coverage import (
    Setting,
    differ_from_bootstrap,
    draw_beta_binomial,
    draw_probit,
    intervals,
    settings,
    simulate,
)
from classic_rc.metrics import get_metric
from classic_rc.results.intervals import subset_intervals
from classic_rc.results.mean_intervals import difference_interval, mean_interval
from classic_rc.results.resampling import Resampling

CREDITS = (0.0, 1.0, 0.5, 0.25, 1 / 3)


@st.composite
def grouped(draw):
    """Outcomes with shared credit in groups of unequal sizes, two groups or more."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=12))
    n = sum(sizes)
    outcomes = draw(st.lists(st.sampled_from(CREDITS), min_size=n, max_size=n))
    return np.array(outcomes), np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize(("right", "n"), [(40, 40), (0, 40), (119, 120), (60, 100), (1, 7)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_questions_alone_have_the_bounds_of_clopper_and_pearson(right, n, level):
    expected = binomtest(right, n).proportion_ci(level, method="exact")
    interval = mean_interval((np.arange(n) < right) * 1.0, np.arange(n), level)
    assert interval == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_all_right_is_not_certain():
    groups = np.repeat(np.arange(30), 4)
    low, high = mean_interval(np.ones(120), groups)
    # as of 120 / 1.6 independent questions
    assert (low, high) == pytest.approx((0.025 ** (1 / 75), 1), abs=1e-9)
    assert mean_interval(np.zeros(120), groups) == pytest.approx((1 - high, 1 - low))


@given(grouped())
def test_an_interval_holds_its_mean_and_is_mirrored(data):
    outcomes, groups = data
    low, high = mean_interval(outcomes, groups)
    assert 0 <= low <= outcomes.mean() + 1e-9
    assert outcomes.mean() - 1e-9 <= high <= 1
    mirrored = mean_interval(1 - outcomes, groups)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)
    narrow = mean_interval(outcomes, groups, 0.5)
    assert low <= narrow.low <= narrow.high <= high


@given(grouped(), st.randoms(use_true_random=False))
def test_order_does_not_matter(data, random):
    outcomes, groups = data
    order = list(range(len(outcomes)))
    random.shuffle(order)
    names = list(range(groups.max() + 1))
    random.shuffle(names)
    shuffled = outcomes[order], np.array(names)[groups[order]]
    assert mean_interval(*shuffled) == mean_interval(outcomes, groups)
    reordered = np.roll(outcomes, 1)
    assert difference_interval(shuffled[0], reordered[order], shuffled[1]) == difference_interval(
        outcomes, reordered, groups
    )


@given(grouped())
def test_the_difference_is_that_of_the_other_direction(data):
    outcomes, groups = data
    other = np.roll(outcomes, 2)
    low, high = difference_interval(outcomes, other, groups)
    assert difference_interval(other, outcomes, groups) == pytest.approx((-high, -low), abs=1e-9)
    difference = outcomes.mean() - other.mean()
    assert -1 <= low <= difference + 1e-9
    assert difference - 1e-9 <= high <= 1


def test_a_constant_expectation_is_certain_and_shifts_a_gain():
    groups = np.repeat(np.arange(30), 4)
    chance = np.full(120, 0.25)
    assert mean_interval(chance, groups) == (0.25, 0.25)
    right = (np.arange(120) % 3 > 0) * 1.0
    low, high = mean_interval(right, groups)
    gain = difference_interval(right, chance, groups)
    assert gain == pytest.approx((low - 0.25, high - 0.25), abs=1e-9)


def test_one_undecided_question_does_not_make_an_interval_narrower():
    groups, right = np.arange(40), np.ones(40)
    tied = right.copy()
    tied[3] = 0.5
    assert mean_interval(tied, groups).low < mean_interval(right, groups).low


def test_equal_systems_may_differ_elsewhere():
    groups = np.repeat(np.arange(30), 4)
    for share in (1.0, 0.7):
        right = (np.arange(120) < 120 * share) * 1.0
        low, high = difference_interval(right, right, groups)
        assert low == pytest.approx(-high)
        assert 0.02 < high < 0.06


def test_runs_that_differ_make_it_wider():
    groups = np.repeat(np.arange(50), 4)
    right = (np.arange(200) % 10 > 2) * 1.0
    equal = np.column_stack([right] * 3)
    assert mean_interval(equal, groups) == pytest.approx(mean_interval(right, groups))
    worse = right * (np.arange(200) < 150)
    low, high = mean_interval(np.column_stack([right, right, worse]), groups)
    plain = mean_interval(np.column_stack([right, right, worse]).mean(axis=1), groups)
    assert low < plain.low < plain.high < high


def test_one_group_with_nearly_all_questions_says_little():
    groups = np.repeat([0, 1], [99, 1])
    low, high = mean_interval((np.arange(100) % 2) * 1.0, groups)
    assert high - low > 0.3


@pytest.mark.parametrize("name", ["f1_a", "f1_m", "has_ans_em"])
def test_a_ratio_whose_resamples_agree_has_the_interval_of_a_mean(name):
    groups = np.repeat(np.arange(30), 4)
    rows = np.ones((120, 2 if name != "f1_a" else 3))
    everything = np.ones(120, dtype=bool)
    settings_of_intervals = Resampling(30, 100)
    (ratio_interval,) = subset_intervals(
        [(get_metric(name), rows)], groups, everything, settings_of_intervals
    )
    assert ratio_interval == mean_interval(np.ones(120), groups)
    if name == "has_ans_em":  # only half of the questions have an answer
        rows[60:] = 0
        (ratio_interval,) = subset_intervals(
            [(get_metric(name), rows)], groups, everything, settings_of_intervals
        )
        assert ratio_interval == mean_interval(np.ones(60), groups[:60])


def test_a_subset_of_one_group_has_no_interval():
    groups = np.repeat([0, 1], 3)
    measured = [(get_metric("accuracy"), np.ones((6, 1)))]
    assert subset_intervals(measured, groups, groups == 1, Resampling(2)) == [None]


@pytest.mark.parametrize("size", [1, 4, 15])
def test_the_benchmark_simulates_the_rule_of_the_package(size):
    rng = np.random.default_rng(0)
    for accuracy in (0.5, 0.98):
        counts = draw_beta_binomial(rng, (20, 30), size, accuracy, 0.2)
        _, low, high = intervals(counts, size)
        for i, row in enumerate(counts):
            outcomes = (np.arange(size) < row[:, None]).astype(float).reshape(-1)
            interval = mean_interval(outcomes, np.repeat(np.arange(30), size))
            assert interval == pytest.approx((low[i], high[i]), abs=1e-9)


@pytest.mark.parametrize("draw", [draw_beta_binomial, draw_probit])
def test_simulated_correlations_are_those_named(draw):
    counts = draw(np.random.default_rng(0), (400, 500), 15, 0.9, 0.2)
    assert counts.mean() / 15 == pytest.approx(0.9, abs=0.005)
    design_effect = counts.var() / (15 * 0.9 * 0.1)
    assert design_effect == pytest.approx(1 + 14 * 0.2, rel=0.03)


def is_wide(setting):
    """Whether few errors, independent or nearly so, look like errors in clusters.

    An interval that is right for a correlation of 0.5 cannot know: 30 passages of 15 questions with
    an accuracy of 98 % have no error at all in one of seven datasets, where the lower bound has to
    be as low as that of 180 independent questions.
    """
    passages, questions, accuracy, correlation = setting
    n_errors = passages * questions * (1 - accuracy)
    return questions > 1 and correlation < 0.2 and n_errors < (16 if correlation == 0 else 2)


def check(setting, n_draws, draw=draw_beta_binomial):
    simulated = simulate(setting, n_draws, draw)
    if setting.passages >= 20:
        assert simulated.coverage >= (0.93 if setting.correlation <= 0.2 else 0.85), simulated
    assert is_wide(setting) or simulated.relative_width <= 1.25, simulated


def test_intervals_hold_on_the_hardest_cells_of_the_grid():
    for setting in settings((20, 50)):
        if setting.questions == 15 or setting.accuracy >= 0.98:
            check(setting, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [draw_beta_binomial, draw_probit])
def test_intervals_hold_on_the_whole_grid(draw):
    for setting in settings():
        check(setting, 2000, draw)


def test_intervals_of_differences_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 4)
    for accuracy, difference, shared in ((0.7, 0.05, 0.5), (0.98, 0.02, 0.0), (0.5, 0.02, 0.9)):
        held = 0
        for _ in range(200):
            ease = rng.beta(4 * accuracy, 4 * (1 - accuracy), size=50)[groups]
            first = rng.random(200) < ease
            is_shared = rng.random(200) < shared
            rest = (accuracy - difference - shared * accuracy) / (1 - shared)
            second = np.where(is_shared, first, rng.random(200) < rest)
            low, high = difference_interval(first * 1.0, second * 1.0, groups)
            held += low <= difference <= high
        assert held >= 0.92 * 200


def test_where_there_are_many_errors_it_is_near_the_bootstrap():
    setting = Setting(1000, 4, 0.7, 0.2)
    assert (np.abs(differ_from_bootstrap(setting, n_draws=5)) < 0.002).all()
