"""Columns of a sparse matrix that are equal, and so one column to a regularised linear learner."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_matrix


def merge_equal_columns(blocks: Iterable[csr_matrix]) -> csr_matrix:
    r"""The matrix G that makes one column of each set of equal ones: ``X @ G`` has no two equal columns.

    A set of k equal columns x becomes the column :math:`\sqrt{k}\,x`. The columns of G are orthonormal, so that
    for weights w = G v of X both ``X @ w == (X @ G) @ v`` and the norms of w and v are the same; and as only the
    sum of equal columns' weights matters to a loss, an L2-regularised learner gives them equal weights. So what is
    learned on X @ G is what would be learned on X.

    Parameters
    ----------
    blocks : iterable of csr_matrix
        X, some rows at a time, each row's columns rising.

    Returns
    -------
    csr_matrix, shape (n_columns, n_distinct)

    Examples
    --------
    >>> x = csr_matrix(np.array([[1.0, 0, 1], [1, 2, 1]]))
    >>> (x @ merge_equal_columns([x])).toarray().round(3)
    array([[1.414, 0.   ],
           [1.414, 2.   ]])
    """
    # Equal columns are those with equal products with two random vectors: sums of the same terms in the same order
    # have the same bits, and different columns agree in all of them with a chance of one in 2**100 or so.
    random = np.random.default_rng(0)
    products: np.ndarray | float = 0.0
    for block in blocks:
        products = products + block.T @ random.standard_normal((block.shape[0], 2))
    keys = np.ascontiguousarray(products).view(np.complex128)[:, 0]
    _, first, which, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    # In the order in which columns stand first: neighbours in X remain neighbours, and in the cache.
    place = np.empty(len(first), dtype=np.int32)
    place[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    shape = (len(keys), len(first))
    return csr_matrix((1 / np.sqrt(sizes[which]), place[which], np.arange(len(keys) + 1)), shape=shape)
