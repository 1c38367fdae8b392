"""Merging equal columns of a sparse matrix does not change a regularised learner."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from classic_rc.kernels.equal_columns import merge_equal_columns

MATRICES = st.tuples(st.integers(1, 6), st.integers(1, 7)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@given(rows=MATRICES, cut=st.integers(0, 6))
def test_equal_columns_become_one_and_others_none(rows, cut):
    dense = np.array(rows)
    x = csr_matrix(dense)
    merged = merge_equal_columns([block for block in (x[:cut], x[cut:]) if block.shape[0]])
    together = merged.toarray() > 0
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            assert np.array_equal(dense[:, i], dense[:, j]) == (together[i] @ together[j] > 0)
    assert np.allclose((merged.T @ merged).toarray(), np.eye(merged.shape[1]))


@given(rows=MATRICES, seed=st.integers(0, 99))
def test_products_and_norms_stay(rows, seed):
    x = csr_matrix(np.array(rows))
    merged = merge_equal_columns([x])
    v = np.random.default_rng(seed).standard_normal(merged.shape[1])
    w = merged @ v
    assert np.allclose(x @ w, (x @ merged) @ v)
    assert np.isclose(w @ w, v @ v)


def test_a_logistic_regression_learns_the_same_from_fewer_columns():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    distinct = (rng.random((60, 5)) < 0.4).astype(float)
    x = csr_matrix(distinct[:, [0, 1, 1, 2, 3, 3, 3, 4]])
    right = (distinct[:, 1] + rng.random(60) > 0.8).astype(int)
    merged = merge_equal_columns([x])
    assert merged.shape == (8, 5)

    def weights(features) -> np.ndarray:
        learner = LogisticRegression(solver="liblinear", tol=1e-10, max_iter=1000, random_state=0)
        return learner.fit(features, right).coef_[0]

    assert np.allclose(merged @ weights(x @ merged), weights(x), atol=1e-6)
