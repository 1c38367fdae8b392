"""The ranker's units, cases, folds and fits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.logistic import Features, fit_logistic
from classic_rc.solvers.feature_ranker import training
from classic_rc.solvers.feature_ranker.training import (
    GRID,
    N_TYPES,
    Cases,
    Design,
    Learner,
    Ranker,
    compare,
    fold_numbers,
    weighted_sums,
)
from tests.depth import examples
from tests.solvers.feature_ranker.builders import (
    SIZES,
    flat_integers,
    list_offsets,
    random_values,
)


@settings(max_examples=examples(8, 50))
@given(SIZES, st.integers(0, 10**6))
def test_features_are_compared_within_their_question(sizes, seed):
    values, offsets = random_values(sizes, seed, 1)
    compared = compare(values[:, 0], offsets)
    for start, stop in pairwise(offsets):
        centred, standard = compared.centred[start:stop], compared.standard[start:stop]
        of_question = values[start:stop, 0]
        if len(set(of_question)) > 1:
            deviations = of_question - of_question.mean()
            assert np.allclose(centred, deviations, rtol=0, atol=1e-15)
            assert np.allclose(standard, deviations / of_question.std() / 2, rtol=1e-12)
        else:
            assert not centred.any()
            assert not standard.any()


def test_values_that_differ_by_rounding_only_are_equal():
    third = 1 / 3
    compared = compare(np.array([third, third + 2e-16, third]), np.array([0, 3]))
    assert not compared.centred.any()
    assert not compared.standard.any()


@settings(max_examples=examples(8, 30))
@given(SIZES, st.integers(0, 10**6), st.booleans())
def test_contributions_are_the_products_of_the_matrix_and_the_weights(sizes, seed, raw):
    values, offsets = random_values(sizes, seed)
    rng = np.random.default_rng(seed)
    types = rng.integers(0, N_TYPES, len(sizes))
    design = Design.learn(["a", "b", "c"], np.array([0, 2]), values, offsets, raw=raw)
    ranker = Ranker(design, rng.standard_normal(design.n_columns))
    matrix = design.matrix(values, types, offsets)
    assert matrix.dense is not None
    assert matrix.dense.shape[1] == design.n_dense
    expected = weighted_sums(matrix, ranker.weights, np.arange(len(values)))
    contributions = ranker.contributions(values, types, offsets)
    scores = contributions.sum(axis=0) + ranker.bias
    assert np.allclose(scores, expected, rtol=0, atol=1e-5)  # the matrix is float32
    for q, (start, stop) in enumerate(pairwise(offsets)):
        question = values[start:stop], types[q : q + 1], np.array([0, stop - start])
        assert np.array_equal(ranker.contributions(*question), contributions[:, start:stop])


def test_outliers_are_cut():
    values = np.zeros((200, 1))
    values[0] = 1e6
    offsets, types = np.arange(0, 201, 2), np.zeros(100, dtype=np.int64)
    design = Design.learn(["a"], np.empty(0, dtype=np.int64), values, offsets, raw=True)
    dense = design.matrix(values, types, offsets).dense
    assert dense is not None
    assert dense[0].tolist() == [5.0, 0.5, 5.0, 1.0]
    assert dense[1, 0] == -5


@settings(max_examples=examples(8, 50))
@given(st.lists(st.lists(st.booleans(), max_size=5), min_size=1, max_size=6))
def test_each_right_candidate_is_a_case_against_the_wrong_ones(gold):
    right, offsets = flat_integers(gold), list_offsets(gold)
    cases = Cases.of(right, offsets, one_is_right=True)
    assert cases.offsets is not None
    rows = [cases.rows[start:stop].tolist() for start, stop in pairwise(cases.offsets)]
    is_right = [cases.right[start:stop].tolist() for start, stop in pairwise(cases.offsets)]
    expected = []
    for q, flags in enumerate(gold):
        for i, flag in enumerate(flags):
            members = [j for j, is_gold in enumerate(flags) if j == i or not is_gold]
            if flag and len(members) > 1:
                case_rows = [int(offsets[q]) + j for j in members]
                expected.append((q, case_rows, [int(j == i) for j in members]))
    questions = cases.questions.tolist()
    assert list(zip(questions, rows, is_right, strict=True)) == expected
    is_even = np.arange(len(gold)) % 2 == 0
    even = [q for q in questions if q % 2 == 0]
    assert cases.select(is_even).questions.tolist() == even


def test_each_candidate_is_a_case_if_several_can_be_right():
    right, offsets = np.array([1, 0, 0, 1, 1]), np.array([0, 3, 5])
    cases = Cases.of(right, offsets, one_is_right=False)
    assert cases.offsets is None
    assert cases.rows.tolist() == list(range(5))
    assert cases.right.tolist() == right.tolist()


@pytest.mark.parametrize("one_is_right", [True, False])
def test_losses_are_those_that_the_learner_minimises(one_is_right):
    values, offsets = random_values([3, 4, 2, 3], 5)
    right = np.zeros(12, dtype=np.int64)
    right[offsets[:-1]] = 1
    cases = Cases.of(right, offsets, one_is_right=one_is_right)
    fit = fit_logistic(values, cases.right, 1.0, offsets=cases.offsets)
    loss = cases.loss(values @ fit.weights)
    assert loss + fit.weights @ fit.weights / 2 == pytest.approx(fit.objective, rel=1e-12)


def learner(one_is_right: bool = True, min_count: int = 0) -> Learner:
    """Questions with one dense feature that says a little; the other features say nothing."""
    rng = np.random.default_rng(7)
    n = 120
    offsets = np.arange(0, 3 * n + 1, 3)
    right = np.tile([0, 1, 0], n)
    dense = rng.standard_normal((3 * n, 4)).astype(np.float32)
    dense[:, 0] += right
    sparse = csr_matrix((rng.random((3 * n, 30)) < 0.02).astype(np.float32))
    cases = Cases.of(right, offsets, one_is_right=one_is_right)
    folds, passages = np.arange(n) % 5, np.arange(n) // 2
    return Learner(Features(dense, sparse), cases, offsets, folds, passages, min_count)


@pytest.mark.parametrize("one_is_right", [True, False])
def test_scores_out_of_fold_are_those_of_models_of_the_other_folds(one_is_right):
    data = learner(one_is_right, min_count=4)
    scores = data.score_out_of_fold(0.1)
    dense, sparse = data.features
    assert dense is not None
    assert sparse is not None
    full = np.hstack([dense, sparse.toarray()]).astype(np.float64)
    for k in range(5):
        others = data.cases.select(data.folds != k)
        is_used = (full[others.rows] != 0).sum(axis=0) >= 4
        matrix = full[others.rows][:, is_used]
        fit = fit_logistic(matrix, others.right, 0.1, offsets=others.offsets, tolerance=1e-12)
        is_held = np.repeat(data.folds == k, 3)
        expected = full[is_held][:, is_used] @ fit.weights
        assert np.allclose(scores[is_held], expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("one_is_right", [True, False])
def test_rare_sparse_columns_have_no_weight(one_is_right):
    data = learner(one_is_right, min_count=4)
    weights, converged = data.fit(0.1)
    assert converged
    assert data.features.sparse is not None
    counts = data.features.sparse.getnnz(axis=0)
    assert not weights[4:][counts < 4].any()


def test_the_strength_with_the_least_loss_out_of_fold_is_chosen():
    data = learner()
    losses = {C: data.cases.loss(data.score_out_of_fold(C)) for C in GRID}
    assert data.choose_strength() == min(losses, key=losses.__getitem__)
    assert GRID[0] < data.choose_strength() < GRID[-1]


def test_a_sample_of_passages_decides_if_there_are_many(monkeypatch):
    data = learner()
    monkeypatch.setattr(training, "MOST_ROWS", 100)
    sampled = data.passages % 4 == 0  # 360 rows
    cases = data.cases.select(sampled)
    losses = {C: cases.loss(data._replace(cases=cases).score_out_of_fold(C)) for C in GRID}
    assert data.choose_strength() == min(losses, key=losses.__getitem__)


def test_each_question_has_the_number_of_the_fold_that_holds_it_out():
    first, second = np.array([0, 3]), np.array([1, 2])
    assert fold_numbers([(second, first), (first, second)], 4).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("one_is_right", [True, False])
def test_columns_of_types_are_compared_like_other_sparse_columns(one_is_right):
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 5, 150)
    offsets = offsets_of(sizes)
    right = np.zeros(int(offsets[-1]), dtype=np.int64)
    right[offsets[:-1] + rng.integers(0, sizes)] = 1
    types = rng.integers(0, N_TYPES, len(sizes))
    values = rng.standard_normal((len(right), 4))
    values[:, 0] += right * np.repeat(types % 3, sizes)
    design = Design.learn(list("abcd"), np.array([0, 2]), values, offsets, raw=not one_is_right)
    numbers = np.arange(len(sizes))
    features = design.matrix(values, types, offsets)
    cases = Cases.of(right, offsets, one_is_right=one_is_right)
    data = Learner(features, cases, offsets, numbers % 5, numbers, crossed=design.crossed)
    uncrossed = data._replace(crossed=data.crossed[:0])
    losses = {C: data.cases.loss(data.score_out_of_fold(C)) for C in GRID}
    best = min(losses, key=losses.__getitem__)
    assert data.choose_strength() == uncrossed.choose_strength() == best
