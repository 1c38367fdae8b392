"""Paired tests: against SciPy, against counting by hand, and under changes that must not matter."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.metrics import get_metric
from classic_rc.results.resampling import NULL_HYPOTHESES, mcnemar_test, permutation_test
from tests.errors import raises
from tests.simulated import draw_groups

ACCURACY, F1A = get_metric("accuracy"), get_metric("f1_a")


def two_systems(n_questions, n_groups, seed=0, gap=0.2):
    """Accuracies with ties of two and three, of questions that are alike within a group."""
    rng = np.random.default_rng(seed)
    groups = draw_groups(rng, n_questions, n_groups)
    ease = rng.random(n_groups)[groups]
    first = (rng.random(n_questions) < ease) / rng.integers(1, 4, size=n_questions)
    second = (rng.random(n_questions) < ease - gap) / rng.integers(1, 4, size=n_questions)
    return first[:, None], second[:, None], groups


def two_selections(n_questions, n_groups, seed=0):
    """Options selected and right, selected, and right: what F1a follows from."""
    rng = np.random.default_rng(seed)
    groups = draw_groups(rng, n_questions, n_groups)
    right = rng.integers(1, 4, size=n_questions)
    wrong = rng.integers(0, 3, size=(2, n_questions))
    first = np.column_stack([rng.binomial(right, 0.7), right + wrong[0], right])
    second = np.column_stack([rng.binomial(right, 0.5), right + wrong[1], right])
    return first.astype(np.float64), second.astype(np.float64), groups


def by_hand(metric, first, second, groups):
    """Every way of swapping groups, question by question."""

    def difference(first_sums, second_sums):
        return abs(metric.aggregate(first_sums) - metric.aggregate(second_sums))

    differences = []
    for swapped in itertools.product([False, True], repeat=groups.max() + 1):
        mask = np.array(swapped)[groups][:, None]
        differences.append(difference(np.where(mask, second, first), np.where(mask, first, second)))
    return np.mean(np.array(differences) >= difference(first, second) - 1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("metric", "make"), [(ACCURACY, two_systems), (F1A, two_selections)])
def test_with_few_groups_it_counts_every_swap(metric, make, seed):
    first, second, groups = make(20, 8, seed)
    test_result = permutation_test(metric, first, second, groups, n=128)
    assert test_result.exact
    assert test_result.p == by_hand(metric, first, second, groups)


@pytest.mark.parametrize("seed", range(3))
def test_scipy_counts_the_same(seed):
    first, second, groups = two_selections(25, 9, seed)
    table = np.zeros((18, 3))
    np.add.at(table, groups, first)
    np.add.at(table, groups + 9, second)

    def f1_of_lines(lines):
        return F1A.from_means(table[np.asarray(lines, dtype=int)].sum(axis=-2))

    def difference(first_lines, second_lines, axis):
        return f1_of_lines(first_lines) - f1_of_lines(second_lines)

    data = (np.arange(9), np.arange(9, 18))
    expected = stats.permutation_test(
        data, difference, permutation_type="samples", n_resamples=np.inf, axis=-1
    )
    p = permutation_test(F1A, first, second, groups).p
    assert p == pytest.approx(expected.pvalue, abs=1e-12)


def test_with_many_groups_it_draws_what_scipy_draws_on_average():
    first, second, groups = two_systems(200, 80, gap=0.1)
    sums = [np.bincount(groups, weights=rows[:, 0]) for rows in (first, second)]
    settings = {"permutation_type": "samples", "n_resamples": 20_000, "vectorized": True}

    def difference(x, y, axis):
        return x.sum(axis) - y.sum(axis)

    rng = np.random.default_rng(1)
    expected = stats.permutation_test(sums, difference, **settings, random_state=rng)
    drawn_test = permutation_test(ACCURACY, first, second, groups, n=20_000)
    assert not drawn_test.exact
    assert 0.001 < drawn_test.p < 0.5
    assert drawn_test.p == pytest.approx(expected.pvalue, abs=0.01)


def test_drawing_estimates_what_counting_gives():
    first, second, groups = two_systems(200, 14, gap=0.05)
    exact = permutation_test(ACCURACY, first, second, groups, n=2**13)
    drawn = permutation_test(ACCURACY, first, second, groups, n=2**13 - 1)
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.p == pytest.approx(exact.p, abs=0.02)


def test_a_drawn_p_is_never_zero():
    first, second = np.ones((100, 1)), np.zeros((100, 1))
    assert permutation_test(ACCURACY, first, second, np.arange(100), n=999) == (1 / 1000, False)


def test_bits_depend_on_the_seed_and_on_nothing_else():
    first, second, groups = two_systems(300, 70, gap=0.05)
    test = partial(permutation_test, ACCURACY, n=501)
    p = test(first, second, groups, seed=0).p
    assert test(second, first, groups, seed=0).p == p
    order = np.random.default_rng(1).permutation(300)
    assert test(first[order], second[order], groups[order], seed=0).p == p
    assert test(first, second, groups, seed=1).p != p
    with small_blocks(200):  # a few permutations at a time
        assert test(first, second, groups, seed=0).p == p


def test_parts_of_the_count_are_all_of_it():
    first, second, groups = two_selections(40, 10)
    undivided = permutation_test(F1A, first, second, groups)
    with small_blocks(70):
        assert permutation_test(F1A, first, second, groups) == undivided


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 4)), min_size=1, max_size=12)
)
def test_p_is_a_probability_and_of_equals_one(rows):
    answers = np.array([row[:2] for row in rows], dtype=float)
    groups = np.unique([row[2] for row in rows], return_inverse=True)[1].reshape(-1)
    first, second = answers[:, :1], answers[:, 1:]
    assert 0 < permutation_test(ACCURACY, first, second, groups).p <= 1
    assert permutation_test(ACCURACY, first, first, groups) == (1.0, True)


def test_groups_and_not_questions_are_swapped():
    """Forty questions about four passages are four observations: nothing can be significant."""
    first, second = np.ones((40, 1)), np.zeros((40, 1))
    groups = np.repeat(np.arange(4), 10)
    assert permutation_test(ACCURACY, first, second, groups).p == 2 / 2**4
    assert permutation_test(ACCURACY, first, second, np.arange(40)).p < 0.001


def test_no_permutation_is_refused():
    rows = np.ones((2, 1))
    with raises(UsageError, field="n", found="0"):
        permutation_test(ACCURACY, rows, rows, np.arange(2), n=0)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (8, 2), (3, 7), (30, 12)])
def test_mcnemar_is_the_binomial_test_of_the_questions_that_one_alone_has_right(wins, losses):
    outcomes = [(1.0, 0.0)] * wins + [(0.0, 1.0)] * losses + [(1.0, 1.0), (0.0, 0.0)]
    first, second = np.array(outcomes).T
    tail = stats.binom.cdf(min(wins, losses), wins + losses, 0.5)
    mcnemar = mcnemar_test(ACCURACY, first[:, None], second[:, None])
    assert mcnemar.exact
    assert mcnemar.p == pytest.approx(min(1, 2 * tail))


@pytest.mark.parametrize(
    ("metric", "rows"),
    [
        (ACCURACY, np.full((3, 1), 0.5)),
        (F1A, np.ones((3, 3))),
        (get_metric("f1"), np.array([[0.9]])),
    ],
)
def test_mcnemar_is_refused_where_credit_is_partial(metric, rows):
    with raises(UsageError, field="metric", found=metric.name):
        mcnemar_test(metric, rows, np.ones_like(rows))


def test_mcnemar_says_what_it_assumes():
    assert "assumes independent questions" in NULL_HYPOTHESES["mcnemar"]
    assert next(iter(NULL_HYPOTHESES)) == "permutation"


def test_several_runs_are_tested_by_their_means():
    first, second, groups = two_selections(40, 10)
    runs = np.stack([first, first[::-1]], axis=1)
    expected = permutation_test(F1A, runs.mean(axis=1), second, groups)
    assert permutation_test(F1A, runs, second, groups) == expected
    assert permutation_test(F1A, second, runs, groups) == expected
