"""Sparse matrices made block by block, and their equal columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from classic_rc.kernels.arrays import block_size

_BLOCK_ROWS = 2**13
"""The dense rows that are multiplied at a time; a fixed number, because sums depend on it."""
_BLOCK_ENTRIES = 2**17
"""The sparse entries that are multiplied at a time: the ones that they share stay in the cache."""


class Features(NamedTuple):
    """A matrix in two blocks: dense columns come first, sparse ones follow. At least one block
    is given.
    """

    dense: NDArray[np.floating[Any]] | None = None  # shape (n_rows, n_dense), float32 or float64
    sparse: csr_matrix | None = None  # shape (n_rows, n_sparse)

    @classmethod
    def of(cls, matrix: Any) -> Features:
        """Return the blocks of a matrix of any kind."""
        if not isinstance(matrix, cls):
            matrix = (
                cls(sparse=csr_matrix(matrix))
                if issparse(matrix)
                else cls(dense=np.asarray(matrix))
            )
        if matrix.dense is not None and matrix.dense.dtype not in (np.float32, np.float64):
            matrix = matrix._replace(dense=np.asarray(matrix.dense, dtype=np.float64))
        return matrix

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        blocks = [block for block in self if block is not None]
        return blocks[0].shape[0], sum(block.shape[1] for block in blocks)


class BlockedMatrix:
    """Products with :class:`Features` whose columns are multiplied by a scale, shape (n_columns,).

    Products have the precision of the vector: float64, or `fast_type` where they need not be exact.
    That is float32 if a dense part is float32, and a sparse one is too or has entries of 1 only;
    else it is float64. Entries of 1 take no memory except for their indices. Columns with a scale
    of 0 are zero.
    """

    def __init__(self, features: Features, scale: NDArray[np.float64]) -> None:
        self._dense, self._sparse = features
        self._scale = scale
        self.n_rows, self.n_columns = features.shape
        self._n_dense = 0 if self._dense is None else self._dense.shape[1]
        is_fast = self._dense is None or self._dense.dtype == np.float32
        if self._sparse is not None:
            self._transposed = self._sparse.T.tocsr()
            self._rows, self._columns = _SparseBlocks(self._sparse), _SparseBlocks(self._transposed)
            is_fast = is_fast and np.float32 in self._rows.kinds
        self.fast_type: type[np.floating[Any]] = np.float32 if is_fast else np.float64
        self._fast_scale: NDArray[np.floating[Any]] = scale.astype(self.fast_type, copy=False)

    def times(self, weights: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the product with a vector of shape (n_columns,)."""
        scaled = weights * self._scale_for(weights)
        if self._sparse is None:
            result: NDArray[np.floating[Any]] = np.zeros(self.n_rows, dtype=weights.dtype)
        else:
            result = self._rows.times(scaled[self._n_dense :])
        for where, block in self._dense_blocks(weights.dtype):
            result[where] += block @ scaled[: self._n_dense]
        return result

    def transposed_times(self, vector: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the transposed matrix's product with a vector of shape (n_rows,)."""
        result: NDArray[np.floating[Any]] = np.zeros(self.n_columns, dtype=vector.dtype)
        for where, block in self._dense_blocks(vector.dtype):
            result[: self._n_dense] += vector[where] @ block
        if self._sparse is not None:
            result[self._n_dense :] = self._columns.times(vector)
        result *= self._scale_for(vector)
        return result

    def _scale_for(self, vector: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        return self._fast_scale if vector.dtype == self.fast_type else self._scale

    def squares(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of the transposed matrix of squared entries with a vector of shape
        (n_rows,).
        """
        result = np.zeros(self.n_columns)
        for where, block in self._dense_blocks(None):
            result[: self._n_dense] += vector[where] @ np.square(block, dtype=np.float64)
        if self._sparse is not None:
            result[self._n_dense :] = self._columns.squares_times(vector)
        result *= self._scale**2
        return result

    def frequent_columns(self, n_columns: int) -> NDArray[np.int64]:
        """Return the columns with the most entries, ascending; in the dense block, a 0 is an
        entry.
        """
        counts = np.full(self.n_columns, self.n_rows)
        if self._sparse is not None:
            counts[self._n_dense :] = self._columns.sizes
        return np.sort(np.argsort(-counts, kind="stable")[:n_columns])

    def take(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> csr_matrix:
        """Return some rows and ascending columns of the sparse block."""
        assert self._sparse is not None
        sparse_columns = columns - self._n_dense
        block = csr_matrix(self._sparse[rows][:, sparse_columns], dtype=np.float64)
        block.data *= self._scale[columns][block.indices]
        return block

    def take_dense(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.floating[Any]]:
        """Return some rows and ascending columns of both blocks as a dense matrix, exactly."""
        is_plain = (self._scale[columns] == 1).all()
        block = np.zeros((len(rows), len(columns)), self.fast_type if is_plain else np.float64)
        is_dense = columns < self._n_dense
        n_dense = int(is_dense.sum())
        if self._dense is not None:
            block[:, :n_dense] = self._dense[np.ix_(rows, columns[is_dense])]
            block[:, :n_dense] *= self._scale[columns[is_dense]]
        if n_dense < len(columns):
            block[:, n_dense:] = self.take(rows, columns[~is_dense]).toarray()
        return block

    def neighbourhood(
        self, rows: NDArray[np.int64], max_entries: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sparse columns of some rows with at most `max_entries` entries, and all rows
        that have them.
        """
        if self._sparse is None:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        columns = np.unique(self._sparse[rows].indices)
        is_rare = self._columns.sizes[columns] <= max_entries
        columns = columns[is_rare & (self._scale[self._n_dense + columns] > 0)]
        neighbours = np.unique(self._transposed[columns].indices)
        return columns.astype(np.int64) + self._n_dense, neighbours.astype(np.int64)

    def _dense_blocks(
        self, kind: np.dtype[Any] | None
    ) -> Iterator[tuple[slice, NDArray[np.floating[Any]]]]:
        if self._dense is not None:
            for begin in range(0, self.n_rows, _BLOCK_ROWS):
                where = slice(begin, begin + _BLOCK_ROWS)
                yield where, self._dense[where].astype(kind or self._dense.dtype, copy=False)


class _SparseBlocks:
    """The rows of a sparse matrix, some at a time."""

    def __init__(self, matrix: csr_matrix) -> None:
        self.sizes = np.diff(matrix.indptr)
        self._n_rows = matrix.shape[0]
        # A block begins at the row that has its first entry.
        first_entries = np.arange(0, matrix.nnz, _BLOCK_ENTRIES)
        starts = np.searchsorted(matrix.indptr, first_entries, side="right") - 1
        bounds = np.unique(np.append(starts, self._n_rows))
        entries = matrix.indptr[bounds]
        self.has_ones = bool((matrix.data == 1).all())
        self.kinds: tuple[type[np.floating[Any]], ...] = (np.float64,)
        if self.has_ones or matrix.data.dtype == np.float32:
            self.kinds = (np.float32, np.float64)
        n_most = np.diff(entries).max(initial=0)
        ones = {kind: np.ones(n_most if self.has_ones else 0, dtype=kind) for kind in self.kinds}
        self._blocks: list[tuple[slice, dict[Any, csr_matrix]]] = []
        for i, (begin, end) in enumerate(itertools.pairwise(bounds.tolist())):
            where = slice(entries[i], entries[i + 1])
            blocks = {}
            for kind in self.kinds:
                # The constructor would copy the arrays, because they are small parts of larger
                # ones.
                block = csr_matrix((end - begin, matrix.shape[1]), dtype=kind)
                if self.has_ones:
                    block.data = ones[kind][: where.stop - where.start]
                else:  # a product converts them to the vector's precision
                    block.data = matrix.data[where]
                block.indices = matrix.indices[where]
                block.indptr = matrix.indptr[begin : end + 1] - matrix.indptr[begin]
                blocks[kind] = block
            self._blocks.append((slice(begin, end), blocks))

    def times(self, vector: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the product with a vector, in the vector's precision."""
        result = np.zeros(self._n_rows, dtype=vector.dtype)
        for where, blocks in self._blocks:
            result[where] = blocks[vector.dtype.type] @ vector
        return result

    def squares_times(self, vector: NDArray[np.float64]) -> NDArray[np.floating[Any]]:
        """Return the product of the squared entries with a vector."""
        if self.has_ones:
            return self.times(vector)
        result = np.zeros(self._n_rows)
        for where, blocks in self._blocks:
            block = blocks[np.float64]
            entries = np.square(block.data, dtype=np.float64), block.indices, block.indptr
            result[where] = csr_matrix(entries, shape=block.shape) @ vector
        return result


def count_entries(indices: NDArray[np.integer[Any]], n_columns: int) -> NDArray[np.int64]:
    """Return the number of entries of each column of CSR arrays."""
    counts = np.zeros(n_columns, dtype=np.int64)
    for begin in range(0, len(indices), _BLOCK_ENTRIES):  # `bincount` would copy all indices
        np.add.at(counts, indices[begin : begin + _BLOCK_ENTRIES], 1)
    return counts


def find_entries(matrix: csr_matrix, columns: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the positions, in the matrix's arrays, of the entries of some columns, ascending."""
    positions = [np.empty(0, dtype=np.int64)]
    for begin in range(0, matrix.nnz, _BLOCK_ENTRIES):
        block_columns = matrix.indices[begin : begin + _BLOCK_ENTRIES]
        positions.append(begin + np.flatnonzero(columns[block_columns]))
    return np.concatenate(positions)


def renumber_columns(
    indices: NDArray[np.int32], offsets: NDArray[np.int64], place: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give the columns of CSR arrays the numbers `place`, and drop columns with a negative number.

    Row i has the columns ``indices[offsets[i]:offsets[i + 1]]``. This changes `indices` and returns
    its first part.
    """
    n_kept, dropped = 0, [np.empty(0, dtype=np.int64)]
    for begin in range(0, len(indices), _BLOCK_ENTRIES):
        block = place[indices[begin : begin + _BLOCK_ENTRIES]]
        stays = block >= 0
        dropped.append(begin + np.flatnonzero(~stays))
        block = block[stays]
        indices[n_kept : n_kept + len(block)] = block
        n_kept += len(block)
    return indices[:n_kept], offsets - np.searchsorted(np.concatenate(dropped), offsets)


# --------------------------------------------------------------------------------------------------
# Equal columns.


_COMPARED_ENTRIES = 2**20


class EqualColumns(NamedTuple):
    """The sets of equal columns, in the order of their first columns."""

    first: NDArray[np.int64]  # shape (n_sets,): the first column of each set, ascending
    copies: NDArray[np.int64]  # shape (n_sets,): how many columns the set has
    set_of: NDArray[np.int64]  # shape (n_columns,): the set of each column


def find_equal_columns(
    indices: NDArray[np.integer], indptr: NDArray[np.integer], n_columns: int
) -> EqualColumns:
    r"""Find the equal columns of a matrix of zeros and ones, the ones as in a CSR matrix.

    Only the sum of equal columns' weights matters to a loss, so an L2-regularised learner gives
    them equal weights. It learns the same from one column x of k equal ones, if it shrinks x's
    weight as much as theirs: from the column :math:`\sqrt{k}\,x`, or as ``copies`` of
    :func:`~classic_rc.kernels.logistic.fit_logistic` says.

    Examples
    --------
    >>> find_equal_columns(np.array([0, 2, 0, 1, 2]), np.array([0, 2, 5]), 3)
    EqualColumns(first=array([0, 1]), copies=array([2, 1]), set_of=array([0, 1, 0]))
    """
    # Columns with equal sums of their rows' random numbers are equal. The sums are modulo 2**64, so
    # their order does not matter, and different columns have two equal sums with a probability of
    # 2**-128.
    n_rows = len(indptr) - 1
    random = np.random.default_rng(0).integers(0, 2**64, (2, n_rows), dtype=np.uint64)
    sums = np.zeros((2, n_columns), dtype=np.uint64)
    step = max(block_size(_COMPARED_ENTRIES) * n_rows // max(len(indices), 1), 1)
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
    sizes = np.diff(starts, append=n_columns)
    # The order within a set is not defined: its first column may be anywhere in it.
    firsts = np.minimum.reduceat(order, starts)
    by_first = np.argsort(firsts)
    place = np.empty(len(starts), dtype=np.int64)
    place[by_first] = np.arange(len(starts))
    set_of = np.empty(n_columns, dtype=np.int64)
    set_of[order] = np.repeat(place, sizes)
    return EqualColumns(firsts[by_first], sizes[by_first], set_of)
