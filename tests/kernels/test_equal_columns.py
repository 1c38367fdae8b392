"""Finding the equal columns of a matrix of zeros and ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.blocked_matrix import find_equal_columns
from tests.kernels.builders import lists_of

MATRICES = st.integers(1, 7).flatmap(
    lambda n_columns: st.lists(lists_of(st.integers(0, 1), n_columns), min_size=1, max_size=6)
)


@given(rows=MATRICES)
def test_equal_columns_are_one_set_and_others_are_not(rows):
    dense = np.array(rows)
    x = csr_matrix(dense)
    column_sets = find_equal_columns(x.indices, x.indptr, x.shape[1])
    sets: dict[tuple[int, ...], list[int]] = {}
    for j in range(dense.shape[1]):
        sets.setdefault(tuple(dense[:, j]), []).append(j)
    assert column_sets.first.tolist() == [members[0] for members in sets.values()]
    assert column_sets.copies.tolist() == [len(members) for members in sets.values()]
    assert column_sets.set_of.tolist() == [list(sets).index(tuple(column)) for column in dense.T]


def test_blocks_do_not_change_the_sets():
    rng = np.random.default_rng(0)
    x = csr_matrix((rng.random((200, 40)) < 0.01).astype(float))
    expected = find_equal_columns(x.indices, x.indptr, 40)
    with small_blocks(3):
        blocked = find_equal_columns(x.indices, x.indptr, 40)
    assert all(map(np.array_equal, blocked, expected))
    assert len(expected.first) < 40
