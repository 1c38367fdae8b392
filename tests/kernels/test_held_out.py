"""Fits that leave one group out each are the fits of the other groups' rows alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.blocked_matrix import Features
from classic_rc.kernels.held_out import HeldOutFits, TypedColumns
from classic_rc.kernels.logistic import fit_logistic
from tests.depth import examples

N_GROUPS, N_TYPES = 3, 3


@settings(max_examples=examples(15, 100))
@given(
    seed=st.integers(0, 10**6),
    n_dense=st.integers(0, 4),
    n_sparse=st.integers(0, 6),
    has_questions=st.booleans(),
    min_count=st.integers(0, 4),
    values=st.booleans(),
)
def test_each_fit_is_that_of_the_other_groups(
    seed, n_dense, n_sparse, has_questions, min_count, values
):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 24) if has_questions else np.ones(48, dtype=np.int64)
    starts, question = offsets_of(sizes), np.repeat(np.arange(len(sizes)), sizes)
    right = rng.integers(0, 2, len(question))
    if has_questions:
        right[:] = 0
        right[starts[:-1] + rng.integers(0, sizes)] = 1
    groups = rng.permutation(np.arange(len(sizes)) % N_GROUPS)[question]
    types = np.sort(rng.choice([0, 2], len(sizes)))[question]  # one type has no rows
    dense = rng.standard_normal((len(question), n_dense)).astype(np.float32)
    repeated = np.arange(0, n_dense, 2)
    sparse = (rng.random((len(question), n_sparse)) < 0.2).astype(np.float32)
    if values:
        sparse *= rng.integers(1, 4, sparse.shape)
    of_types = [dense[:, repeated] * (types == t)[:, None] for t in range(N_TYPES)]
    full = np.hstack([dense, *of_types, sparse]).astype(np.float64)
    features = Features(dense if n_dense else None, csr_matrix(sparse))
    offsets = starts if has_questions else None
    typed = TypedColumns(repeated, np.searchsorted(types, np.arange(N_TYPES + 1)))
    fits = HeldOutFits(features, right, offsets, groups, typed, min_count)
    fit = fits.fit(0.5, 1e-7, fits.fit(0.1, 1e-3))
    margins = np.zeros(len(question))
    for group in range(N_GROUPS):
        taught = groups != group
        used = np.ones(full.shape[1], np.bool_)
        used[full.shape[1] - n_sparse :] = np.count_nonzero(sparse[taught], axis=0) >= min_count
        expected = np.zeros(full.shape[1])
        if used.any():
            question_offsets = offsets_of(sizes[taught[starts[:-1]]]) if has_questions else None
            alone = fit_logistic(
                full[taught][:, used], right[taught], 0.5, offsets=question_offsets
            )
            expected[used] = alone.weights
        assert np.allclose(fit.weights[group], expected, rtol=0, atol=5e-3)
        assert not fit.weights[group][~used].any()
        margins[~taught] = (full @ fit.weights[group])[~taught]
    assert np.allclose(fits.held_out(fit), margins, rtol=0, atol=1e-5)


@pytest.mark.parametrize("C", [0.001, 1.0, 1000.0])
def test_a_group_without_rows_and_separable_rows_end_too(C):
    x, right = np.array([[3.0], [2.0], [-2.0], [-3.0]]), np.array([1, 1, 0, 0])
    groups = np.array([0, 2, 0, 2])
    fits = HeldOutFits(Features(x), right, None, groups, TypedColumns.none(4))
    weights = fits.fit(C, 1e-7).weights[:, 0]
    for group, rows in enumerate(([1, 3], [0, 1, 2, 3], [0, 2])):
        (expected,) = fit_logistic(x[rows], right[rows], C).weights
        assert weights[group] == pytest.approx(expected, rel=1e-2)
