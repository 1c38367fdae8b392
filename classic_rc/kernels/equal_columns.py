"""Finds equal columns of a sparse matrix: a regularised linear learner cannot tell them apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import block_size

_BLOCK_ENTRIES = 2**20


class EqualColumns(NamedTuple):
    """The sets of equal columns, in the order of their first columns."""

    first: NDArray[np.int64]  # shape (n_sets,): the first column of each set, ascending
    copies: NDArray[np.int64]  # shape (n_sets,): how many columns the set has
    set_of: NDArray[np.int64]  # shape (n_columns,): the set of each column


def find_equal_columns(indices: NDArray[np.integer], indptr: NDArray[np.integer], n_columns: int) -> EqualColumns:
    r"""Find the equal columns of a matrix of zeros and ones.

    Only the sum of equal columns' weights matters to a loss, so an L2-regularised learner gives them equal weights.
    It learns the same from one column x of k equal ones, if it shrinks x's weight as much as theirs: from the
    column :math:`\sqrt{k}\,x`, or as ``copies`` of :func:`~classic_rc.kernels.logistic.fit_logistic` says.

    Parameters
    ----------
    indices, indptr : ndarray of int
        The ones, as in a CSR matrix.
    n_columns : int

    Examples
    --------
    >>> find_equal_columns(np.array([0, 2, 0, 1, 2]), np.array([0, 2, 5]), 3)
    EqualColumns(first=array([0, 1]), copies=array([2, 1]), set_of=array([0, 1, 0]))
    """
    # Columns with equal sums of their rows' random numbers are equal. The sums are modulo 2**64, so their order
    # does not matter, and different columns have two equal sums with a probability of 2**-128.
    n_rows = len(indptr) - 1
    random = np.random.default_rng(0).integers(0, 2**64, (2, n_rows), dtype=np.uint64)
    sums = np.zeros((2, n_columns), dtype=np.uint64)
    step = max(block_size(_BLOCK_ENTRIES) * n_rows // max(len(indices), 1), 1)
    for begin in range(0, n_rows, step):
        ends = indptr[begin : begin + step + 1]
        columns = indices[ends[0] : ends[-1]]
        for total, numbers in zip(sums, random[:, begin : begin + step], strict=True):
            np.add.at(total, columns, np.repeat(numbers, np.diff(ends)))
    order = np.argsort(sums[0])
    is_new = np.zeros(n_columns, dtype=np.bool_)
    is_new[:1] = True
    for total in sums:
        total[:] = total[order]
        is_new[1:] |= total[1:] != total[:-1]
    del sums
    starts = np.flatnonzero(is_new)
    # The order within a set is not defined.
    firsts, sizes = np.minimum.reduceat(order, starts), np.diff(np.append(starts, n_columns))
    by_first = np.argsort(firsts)
    place = np.empty(len(starts), dtype=np.int64)
    place[by_first] = np.arange(len(starts))
    set_of = np.empty(n_columns, dtype=np.int64)
    set_of[order] = np.repeat(place, sizes)
    return EqualColumns(firsts[by_first], sizes[by_first], set_of)
