"""The design matrix of surface features: each feature that training has seen has its own column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import binary_search, offsets_of, ragged_indices, run_starts
from classic_rc.solvers.learning import check_shape
from classic_rc.solvers.surface.features import FeatureBlock, FeatureSet, WordFeatures
from classic_rc.text.encoded import EncodedDataset

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_ROW_BITS = 16
"""The bits of a row number: a block has at most 2**16 rows."""
_MAX_WORDS = 2 ** ((63 - _ROW_BITS) // 2)
"""The largest vocabulary for which a pair of words and a row number fit into one int64."""


class WordColumns:
    """One column for each word or pair of words seen in training; other features have none.

    A *key* identifies a feature within its group: a word's is its index in `words`, a pair's is
    ``candidate's word * len(words) + question's word``.

    Parameters
    ----------
    words : list of str
        The words of all features, sorted.
    tables : mapping of str to ndarray of int64
        By group, the keys of its features in ascending order.
    """

    def __init__(self, words: Sequence[str], tables: Mapping[str, NDArray[np.int64]]) -> None:
        self.words, self.tables = list(words), dict(tables)
        self._numbers = {word: i for i, word in enumerate(words)}

    @classmethod
    def empty(cls, groups: Sequence[str], encoded: EncodedDataset) -> WordColumns:
        """Return columns without features yet, for these groups and the question and candidate words of `encoded`.

        Raises
        ------
        UsageError
            There are too many words for int64 keys.
        """
        arrays = encoded.arrays
        used = np.union1d(arrays.candidate_tokens, arrays.question_tokens).tolist()
        if len(used) > _MAX_WORDS:
            raise UsageError(
                f"{len(used):,} words are too many for surface-lr, the limit is {_MAX_WORDS:,}",
                field="questions",
                found=f"{len(used):,} words",
                expected=f"at most {_MAX_WORDS:,}",
            )
        words = sorted(encoded.vocabulary[i] for i in used)
        return cls(words, {group: np.empty(0, dtype=np.int64) for group in groups})

    @property
    def n_columns(self) -> int:
        """The number of features seen in training."""
        return sum(map(len, self.tables.values()))

    def word_ids(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Return the index in `words` of each word of an encoding's vocabulary, or -1."""
        number = self._numbers
        return np.fromiter((number.get(word, -1) for word in vocabulary), np.int64, len(vocabulary))

    def learn(self, group: str, keys: Sequence[NDArray[np.int64]]) -> None:
        """Add the keys of a group's training features."""
        table = np.concatenate((self.tables[group], *keys))
        table.sort()
        self.tables[group] = table[run_starts(table)]

    def keys(
        self, features: WordFeatures, word_ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_] | None, NDArray[np.int64]]:
        """Return a mask of the features that consist of known words (None if all do), and their keys."""
        keys = word_ids[features.words]
        question_words = None if features.asked is None else word_ids[features.asked]
        unknown = keys < 0
        if question_words is not None:
            unknown |= question_words < 0
            keys *= len(self.words)
            keys += question_words
        if not unknown.any():
            return None, keys
        known = ~unknown
        return known, keys[known]

    def of_keys(self, group: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the column of each key, its index in the concatenation of all groups' tables, or -1."""
        place, found = binary_search(keys, self.tables[group])
        groups = list(self.tables)
        before = sum(len(self.tables[name]) for name in groups[: groups.index(group)])
        return np.where(found, before + place, -1)

    def find(
        self, words: Mapping[str, WordFeatures], word_ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows and the columns of a block's features that have a column, ordered by column, then row.

        The order depends only on the features, not on the ids that an encoding gives their words.
        """
        parts = [(np.empty(0, dtype=np.int64),) * 2]
        for group, features in words.items():
            keys, sizes, rows = self.sort(features, word_ids)
            columns = np.repeat(self.of_keys(group, keys), sizes)
            parts.append((rows[columns >= 0], columns[columns >= 0]))
        rows, columns = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return rows, columns

    def sort(
        self, features: WordFeatures, word_ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return a block's distinct keys, ascending, the number of rows of each, and these rows, key after key."""
        usable, keys = self.keys(features, word_ids)
        # Sorting (key, row) packed into one int64 and looking up each distinct key once is many times faster
        # than looking up all keys in the order of the rows.
        packed = (keys << _ROW_BITS) | (features.rows if usable is None else features.rows[usable])
        packed.sort()
        keys = packed >> _ROW_BITS
        starts = run_starts(keys)
        packed &= (1 << _ROW_BITS) - 1
        return keys[starts], np.diff(np.append(starts, len(keys))), packed


class TrainingMatrix(NamedTuple):
    """The matrix of some candidates, in little memory."""

    # Shape (n_rows, n_numbers): the scaled lengths and counts.
    numbers: NDArray[np.float64]
    # Shape (n_entries,): the columns of the words and pairs of each row, numbered from 0.
    columns: NDArray[np.int32]
    # Shape (n_rows + 1,): row i has the entries offsets[i]:offsets[i + 1].
    offsets: NDArray[np.int64]


_NO_COLUMNS = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class Design:
    """The mapping of features to matrix columns: lengths and counts first, then words and pairs."""

    features: FeatureSet
    columns: WordColumns  # of words and pairs
    scale: NDArray[np.float64]  # shape (n_numbers,): the divisors of lengths and counts

    @classmethod
    def fit(
        cls,
        features: FeatureSet,
        encoded: EncodedDataset,
        *,
        scaled: bool,
        repeats: NDArray[np.integer] | None = None,
    ) -> tuple[Design, TrainingMatrix]:
        """Assign columns to the features of an encoding's candidates, and return the candidates' matrix.

        Parameters
        ----------
        scaled : bool
            Whether to divide lengths and counts by their root mean square over the candidates.
        repeats : ndarray of int, shape (n_candidates of the arrays,), optional
            How often to repeat each candidate's row in the matrix. Default: once.
        """
        columns = WordColumns.empty(features.word_groups, encoded)
        word_ids = columns.word_ids(encoded.vocabulary)
        # The columns are known only after the last block. Until then, a block's features are numbered in the order
        # of its distinct keys.
        numbers, local, sizes = [], [], []
        keys_of: dict[str, list[NDArray[np.int64]]] = {group: [] for group in features.word_groups}
        squares = np.zeros(len(features.numbers))
        for block in features.blocks(encoded):
            own, n_rows = block.numbers, len(block.numbers)
            squares += np.square(own).sum(axis=0)
            of_rows, n_found = _number_features(columns, block, word_ids, keys_of)
            if repeats is not None:
                times = np.repeat(np.arange(n_rows), repeats[block.where])
                of_rows = of_rows[ragged_indices(offsets_of(n_found)[times], n_found[times])]
                n_found, own = n_found[times], own[times]
            numbers.append(own)
            local.append(of_rows)
            sizes.append(n_found)
        for group, keys in keys_of.items():
            columns.learn(group, keys)
        offsets = offsets_of(np.concatenate(sizes))
        indices, begin = np.empty(offsets[-1], dtype=np.int32), 0
        for i, of_rows in enumerate(local):
            found = [columns.of_keys(group, keys[i]).astype(np.int32) for group, keys in keys_of.items()]
            np.take(np.concatenate([*found, _NO_COLUMNS]), of_rows, out=indices[begin : begin + len(of_rows)])
            begin += len(of_rows)
        scale = np.sqrt(squares / max(len(encoded.arrays.candidate_question), 1))
        design = cls(features, columns, np.where((scale > 0) & scaled, scale, 1.0))
        return design, TrainingMatrix(np.concatenate(numbers) / design.scale, indices, offsets)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return len(self.features.numbers) + self.columns.n_columns

    def blocks(self, encoded: EncodedDataset) -> Iterator[tuple[FeatureBlock, csr_matrix]]:
        """Yield an encoding's candidates in blocks, each with its matrix, which has one row for each candidate.

        The entries of a row are ordered by column, so that sums over a row have the same bits whatever the other
        candidates are.
        """
        word_ids = self.columns.word_ids(encoded.vocabulary)
        for block in self.features.blocks(encoded):
            yield block, self._matrix(block, word_ids)

    def _matrix(self, block: FeatureBlock, word_ids: NDArray[np.int64]) -> csr_matrix:
        from scipy.sparse import csr_matrix

        n_rows, n_numbers = block.numbers.shape
        rows, columns = self.columns.find(block.words, word_ids)
        cells = (
            np.concatenate((np.repeat(np.arange(n_rows), n_numbers), rows)),
            np.concatenate((np.tile(np.arange(n_numbers), n_rows), n_numbers + columns)),
        )
        values = np.concatenate(((block.numbers / self.scale).ravel(), np.ones(len(rows))))
        return csr_matrix((values, cells), shape=(n_rows, self.n_features))

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fitted state as plain data and as arrays by name."""
        tables = {f"keys.{group}": table for group, table in self.columns.tables.items()}
        return {"words": self.columns.words}, {"scale": self.scale, **tables}

    @classmethod
    def from_state(
        cls, features: FeatureSet, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Design:
        """Return the design with a state that :meth:`to_state` returned.

        Raises
        ------
        KeyError or ValueError
            The state does not match the features.
        """
        columns = WordColumns(state["words"], {group: arrays[f"keys.{group}"] for group in features.word_groups})
        check_shape(arrays["scale"], (len(features.numbers),))
        return cls(features, columns, arrays["scale"])


def _number_features(
    columns: WordColumns,
    block: FeatureBlock,
    word_ids: NDArray[np.int64],
    keys_of: Mapping[str, list[NDArray[np.int64]]],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Append a block's distinct keys to those of each group; number the features of its rows by group and key.

    Returns the numbers, row after row and ascending in each, and how many each row has.
    """
    n_distinct, numbers, rows = 0, [_NO_COLUMNS], [np.empty(0, dtype=np.int64)]
    for group, features in block.words.items():
        keys, sizes, of_keys = columns.sort(features, word_ids)
        keys_of[group].append(keys)
        numbers.append(np.repeat(np.arange(n_distinct, n_distinct + len(keys), dtype=np.int32), sizes))
        rows.append(of_keys)
        n_distinct += len(keys)
    all_rows = np.concatenate(rows)
    by_row = np.argsort(all_rows.astype(np.uint16), kind="stable")  # NumPy sorts 16-bit numbers by radix
    return np.concatenate(numbers)[by_row], np.bincount(all_rows, minlength=len(block.numbers))
