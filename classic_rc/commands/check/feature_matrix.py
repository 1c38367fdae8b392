"""The matrix of features: a number for each option, most of them 0 or 1, and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.conditional_logit import pool
from classic_rc.commands.check.families import Family, FeatureSource
from classic_rc.commands.check.known_cues import PUBLISHED
from classic_rc.commands.check.measurements import Measurement
from classic_rc.commands.check.option_arrays import Integers, OptionTable
from classic_rc.io.memory import release_memory
from classic_rc.kernels.arrays import offsets_of, ragged_indices, runs_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_BLOCK_OPTIONS, _BLOCK_ONES = 2**14, 2**20
_COUNTED_OPTIONS = 2**15
CHOICES = 25
"""A fixed number, because the last digits of dense sums depend on it."""
_FEW_PASSAGES = 20
"""With fewer passages, questions are counted instead of passages."""


class Ones(NamedTuple):
    """A sparse matrix of zeros and ones, stored as the columns of the ones."""

    columns: NDArray[np.integer]  # of each one, row by row, in the smallest type that fits
    offsets: NDArray[np.integer]  # (n_rows + 1,)
    width: int

    @classmethod
    def join(
        cls, blocks: list[tuple[NDArray[np.int32], Integers]], kept_columns: Integers, width: int
    ) -> Ones:
        """Return the columns `kept_columns` of blocks of rows: the columns of their ones, and how
        many each row has.
        """
        place = np.full(width, -1, dtype=np.int32)
        place[kept_columns] = np.arange(len(kept_columns), dtype=np.int32)
        dtype = np.uint16 if len(kept_columns) <= 2**16 else np.int32
        for i, (columns, sizes) in enumerate(blocks):
            is_kept = place[columns] >= 0
            rows = np.repeat(np.arange(len(sizes)), sizes)[is_kept]
            columns = place[columns[is_kept]].astype(dtype)
            blocks[i] = columns, np.bincount(rows, minlength=len(sizes))
        offsets = offsets_of(np.concatenate([sizes for _, sizes in blocks]))
        offsets = offsets.astype(np.int32 if offsets[-1] < 2**31 else np.int64)
        return cls(np.concatenate([columns for columns, _ in blocks]), offsets, len(kept_columns))

    def rows(
        self, start: int, stop: int, first: int = 0, dtype: type[np.number[Any]] = np.float32
    ) -> csr_matrix:
        """Return the rows from `start` to `stop`; before them come the `first` rows of an
        identity.
        """
        from scipy.sparse import csr_matrix

        identity = np.arange(first, dtype=np.int32)
        block_offsets = self.offsets[start : stop + 1]
        block_columns = self.columns[block_offsets[0] : block_offsets[-1]]
        columns = np.concatenate([identity, block_columns], dtype=np.int32)
        offsets = np.concatenate([identity, block_offsets - block_offsets[0] + first])
        data = np.ones(len(columns), dtype=dtype)
        return csr_matrix((data, columns, offsets), shape=(len(offsets) - 1, self.width))

    def blocks(self) -> Iterator[tuple[int, int, NDArray[np.integer]]]:
        """Yield blocks of rows, by their ends, with the columns of their ones."""
        for start, stop in runs_of(np.diff(self.offsets), _BLOCK_ONES):
            yield start, stop, self.columns[self.offsets[start] : self.offsets[stop]]

    def select(self, rows: Integers) -> csr_matrix:
        """Return some rows, of float32."""
        sizes = np.diff(self.offsets)[rows]
        columns = self.columns[ragged_indices(self.offsets[rows], sizes)]
        return Ones(columns, offsets_of(sizes), self.width).rows(0, len(rows))

    def sums(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum over rows of each column times the weights, of shape (width,
        n_weights).
        """
        total = np.zeros((self.width, weights.shape[1]), dtype=np.float32)
        for start, stop in runs_of(np.diff(self.offsets), _BLOCK_ONES):
            # Earlier rows are added first, so the order, and with it the bits, does not depend on
            # blocks.
            before = total if start else total[:0]
            total = self.rows(start, stop, len(before)).T @ np.concatenate(
                [before, weights[start:stop]]
            )
        return total


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """The features of all options of a table."""

    table: OptionTable
    sparse: Sequence[Ones]  # each (n_options, n); 0 also for what all options of a question have
    dense: NDArray[np.float32]  # (n_options, n_dense): scaled ranks, from -1 to 1
    families: Sequence[Family]  # of each feature, the sparse ones first
    values: Sequence[str]
    # what the option with the least is, by what the option with the most is
    opposites: Mapping[str, str]

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.families)

    @cached_property
    def is_seen(self) -> NDArray[np.bool_]:
        """Whether a system can see each feature: it reads no field."""
        return np.array(["fields" not in family.sees for family in self.families], dtype=bool)

    @cached_property
    def is_published(self) -> NDArray[np.bool_]:
        """Whether each feature is a cue of published artifacts."""
        names = map(self.name, range(len(self)))
        return np.array([name in PUBLISHED for name in names], dtype=bool)

    @cached_property
    def has_context(self) -> NDArray[np.bool_]:
        """Whether each feature says the position of the right option by a context."""
        return np.array([bool(family.context) for family in self.families], dtype=bool)

    @property
    def n_sparse(self) -> int:
        """The number of features that are 0 or 1."""
        return sum(ones.width for ones in self.sparse)

    def parts(self) -> Iterator[tuple[slice, Ones]]:
        """Yield the sparse features in parts, with their numbers."""
        first = 0
        for ones in self.sparse:
            yield slice(first, first + ones.width), ones
            first += ones.width

    @cached_property
    def uses(self) -> Integers:
        """How many options have each sparse feature."""
        uses = np.zeros(self.n_sparse, dtype=np.int64)
        for numbers, ones in self.parts():
            for _, _, columns in ones.blocks():
                uses[numbers] += np.bincount(columns, minlength=ones.width)
        return uses

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        return self.families[feature].name.format(self.values[feature])

    def options_with(self, features: Integers) -> Iterator[NDArray[np.int32]]:
        """Yield the options that have each of some sparse features."""
        for start, stop in runs_of(self.uses[features], 2 * _BLOCK_ONES):
            place = np.full(self.n_sparse, -1, dtype=np.int32)
            place[features[start:stop]] = np.arange(stop - start)
            pairs = [np.zeros((2, 0), dtype=np.int32)]
            for numbers, ones in self.parts():
                part_place = place[numbers]
                is_asked = part_place >= 0
                if not is_asked.any():
                    continue
                for first, last, columns in ones.blocks():
                    entries = np.flatnonzero(is_asked[columns])
                    sizes = np.diff(ones.offsets[first : last + 1])
                    options = np.repeat(np.arange(first, last, dtype=np.int32), sizes)
                    pairs.append(np.stack([part_place[columns[entries]], options[entries]]))
            feature, options = np.concatenate(pairs, axis=1)
            if stop - start <= 2**16:
                feature = feature.astype(np.uint16)  # has a faster sort
            options = options[np.argsort(feature, kind="stable")]
            ends = np.cumsum(np.bincount(feature, minlength=stop - start))
            yield from np.split(options, ends[:-1])

    def columns(self, features: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Yield the values of each of some features, of all options."""
        numbers = np.array(features, dtype=np.int64)
        having = self.options_with(numbers[numbers < self.n_sparse])
        for feature in features:
            if feature >= self.n_sparse:
                yield self.dense[:, feature - self.n_sparse].astype(np.float64)
                continue
            column = np.zeros(len(self.table.texts))
            column[next(having)] = 1
            yield column

    def sums(self, *weights: NDArray[Any]) -> list[NDArray[np.float64]]:
        """Return the sums over options of each feature times some weights, each of shape
        (n_features, n_weights).
        """
        joined = np.concatenate(weights, axis=1, dtype=np.float32)
        sparse = np.concatenate([joined[:0], *(ones.sums(joined) for ones in self.sparse)])
        ends = np.cumsum([block.shape[1] for block in weights])[:-1]
        blocks = zip(np.split(sparse, ends, axis=1), np.split(joined, ends, axis=1), strict=True)
        sums = []
        for sparse_sums, block in blocks:
            dense_sums = self.dense.T @ np.ascontiguousarray(block)
            sums.append(np.concatenate([sparse_sums, dense_sums], dtype=np.float64))
        return sums

    def counts(self, is_chosen: NDArray[np.bool_]) -> Iterator[NDArray[np.float64]]:
        """Yield the sums of features over chosen options, for some choices at a time.

        `is_chosen` has shape (n_options, n_choices).
        """
        n_options, n = is_chosen.shape
        sparse = np.zeros((self.n_sparse, n), dtype=np.int32)
        for start in range(0, n_options, _COUNTED_OPTIONS):
            block = is_chosen[start : start + _COUNTED_OPTIONS]
            # One step adds four counts of 16 bits: a block has so few options that none overflows.
            n_fours = -(-n // 4)
            flags = np.zeros((len(block), 4 * n_fours), dtype=np.uint16)
            flags[:, :n] = block
            fours = flags.view(np.int64)
            for numbers, ones in self.parts():
                rows = ones.rows(start, start + len(block), dtype=np.int64)
                sparse[numbers] += (rows.T @ fours).view(np.uint16)[:, :n]
        for start in range(0, n, CHOICES):
            numbers = slice(start, start + CHOICES)
            dense = self.dense.T @ is_chosen[:, numbers].astype(np.float32, order="C")
            yield np.concatenate([sparse[:, numbers], dense], dtype=np.float64)


class FeatureEntries(NamedTuple):
    """Sparse features of some items, such as texts."""

    families: Sequence[Family]  # of each feature
    values: Sequence[str]  # of each feature
    matrix: csr_matrix  # (n_items, n_features): ones, of int8, because they are many
    item: Integers  # (n_options,): the item of each option

    @classmethod
    def of_pairs(
        cls,
        families: Sequence[Family],
        values: Sequence[str],
        pairs: tuple[NDArray[np.integer], NDArray[np.integer]],
        item: Integers,
    ) -> FeatureEntries:
        """Return the entries of pairs of an item and a feature."""
        from scipy.sparse import csr_matrix

        shape = int(item.max(initial=-1)) + 1, len(values)
        ones = np.ones(len(pairs[0]), dtype=np.int8)
        return cls(families, values, csr_matrix((ones, pairs), shape=shape), item)


Flag = tuple[Family, str, NDArray[np.integer]]
"""A feature, and the options that have it."""


def flag_entries(table: OptionTable, flags: Sequence[Flag]) -> FeatureEntries:
    """Return features as entries of the options."""
    families = [family for family, _, _ in flags]
    names = [name for _, name, _ in flags]
    having = [options for _, _, options in flags]
    empty = np.zeros(0, dtype=np.int32)
    options = np.concatenate([empty, *having], dtype=np.int32, casting="same_kind")
    codes = np.repeat(np.arange(len(flags), dtype=np.int32), [*map(len, having)])
    pairs = options, codes
    return FeatureEntries.of_pairs(families, names, pairs, np.arange(len(table.texts)))


def join_features(
    table: OptionTable,
    sources: Iterable[FeatureEntries],
    min_questions: int,
    ranked: Sequence[Measurement] = (),
    ranks: Sequence[NDArray[np.float32]] = (),
    opposites: Mapping[str, str] = MappingProxyType({}),
) -> FeatureMatrix:
    """Return the features of some sources that are in enough questions, and those of ranks."""
    families: list[Family] = []
    values: list[str] = []
    sparse = []
    for source in sources:
        frequent, ones = _pack(table, source, min_questions)
        sparse.append(ones)
        families += [source.families[i] for i in frequent.tolist()]
        values += [source.values[i] for i in frequent.tolist()]
        del source, frequent, ones
        release_memory()
    families += map(rank_family, ranked)
    values += (measured.most for measured in ranked)
    dense = np.array(ranks, dtype=np.float32).reshape(-1, len(table.texts)).T
    return FeatureMatrix(table, sparse, dense, families, values, opposites)


def rank_family(measured: Measurement) -> Family:
    """Return the family of the ranks by a measurement."""
    source = FeatureSource.RANK if measured.is_plain else FeatureSource.PIECE
    if "fields" in measured.sees:
        source = FeatureSource.FIELD
    return Family(source, "{}", frozenset(measured.sees))


def _pack(table: OptionTable, source: FeatureEntries, min_questions: int) -> tuple[Integers, Ones]:
    """Return the numbers of the features in questions of enough passages, and these features, in
    blocks.
    """
    from scipy.sparse import csr_matrix

    passages, passage = table.passages
    total = np.zeros(len(source.values), dtype=np.int64)
    # the features of each option, and how many it has
    blocks: list[tuple[NDArray[np.int32], Integers]] = []
    for start, stop in runs_of(table.sizes, _BLOCK_OPTIONS):
        offsets = table.offsets[start : stop + 1]
        items = source.item[offsets[0] : offsets[-1]]
        block, counts = without_constants(source.matrix[items], offsets - offsets[0])
        blocks.append((block.indices, np.diff(block.indptr)))
        if len(passages) >= _FEW_PASSAGES:
            questions = np.arange(stop - start)
            ones = np.ones(len(questions))
            counts = csr_matrix((ones, (passage[start:stop], questions))) @ counts
        total += np.bincount(counts.indices, minlength=len(total))
    frequent = np.flatnonzero(total >= min_questions)
    return frequent, Ones.join(blocks, frequent, len(total))


def without_constants(block: csr_matrix, offsets: Integers) -> tuple[csr_matrix, csr_matrix]:
    """Return features without those that all options of a question have, because they tell
    nothing, and how many options of each question have the others.
    """
    sizes = np.diff(offsets)
    counts = pool(np.ones(block.shape[0], np.float32), offsets) @ block
    constant = counts.copy()
    sizes_of_counts = np.repeat(sizes, np.diff(counts.indptr))
    constant.data = np.float32(counts.data == sizes_of_counts)
    counts.data[constant.data > 0] = 0
    for matrix in (constant, counts):
        matrix.eliminate_zeros()
    if constant.nnz:
        block = block - constant[np.repeat(np.arange(len(sizes)), sizes)]
    return block, counts
