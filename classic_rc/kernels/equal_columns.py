"""Merges equal columns of a sparse matrix: a regularised linear learner cannot tell them apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_matrix


def merge_equal_columns(blocks: Iterable[csr_matrix]) -> csr_matrix:
    r"""Return the matrix G that merges equal columns: ``X @ G`` has no two equal columns.

    A set of k equal columns x becomes the column :math:`\sqrt{k}\,x`. The columns of G are orthonormal. So for
    weights w = G v of X, ``X @ w == (X @ G) @ v``, and w and v have the same norm. Only the sum of equal columns'
    weights matters to a loss, so an L2-regularised learner gives them equal weights. Therefore learning on X @ G
    gives the same model as learning on X.

    Parameters
    ----------
    blocks : iterable of csr_matrix
        X, some rows at a time, with the columns of each row ascending.

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
    # Columns with equal products with two random vectors are equal: sums of the same terms in the same order have
    # the same bits, and different columns agree in all of these bits with a probability of about 2**-100.
    random = np.random.default_rng(0)
    products: np.ndarray | float = 0.0
    for block in blocks:
        products = products + block.T @ random.standard_normal((block.shape[0], 2))
    keys = np.ascontiguousarray(products).view(np.complex128)[:, 0]
    _, first, which, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    # In the order of first occurrence: neighbours in X stay neighbours, and stay together in the cache.
    place = np.empty(len(first), dtype=np.int32)
    place[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    shape = (len(keys), len(first))
    return csr_matrix((1 / np.sqrt(sizes[which]), place[which], np.arange(len(keys) + 1)), shape=shape)
