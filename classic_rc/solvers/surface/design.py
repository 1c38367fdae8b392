"""Which column of a matrix each surface feature has: one of its own, or one that a hash gives it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.draws import text_keys
from classic_rc.solvers.surface.features import FeatureBlock, FeatureSet, WordFeatures
from classic_rc.text.encoded import EncodedDataset

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_ROW_BITS = 16
"""A block has no more rows than this many bits can number."""
_MOST_WORDS = 2 ** ((63 - _ROW_BITS) // 2)


class Columns(ABC):
    """The columns of features that are words or pairs of words."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns there are."""

    @abstractmethod
    def word_ids(self, vocabulary: Sequence[str]) -> NDArray[Any]:
        """What stands for each word of an encoding's vocabulary in :meth:`keys`."""

    @abstractmethod
    def learn(self, words: Mapping[str, WordFeatures], word_ids: NDArray[Any]) -> None:
        """Give the features of a training block their columns."""

    @abstractmethod
    def keys(
        self, group: str, features: WordFeatures, word_ids: NDArray[Any]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which features can have a column, and the keys of those: numbers that tell a group's features apart."""

    @abstractmethod
    def of_keys(self, group: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The column of each key; -1 where it has none."""

    def find(
        self, words: Mapping[str, WordFeatures], word_ids: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row and the column of each feature of a block that has a column, ordered by column, then row.

        The order is a fact about the features alone, whatever ids an encoding gives their words.
        """
        found = [(np.empty(0, dtype=np.int64),) * 2]
        for group, features in words.items():
            usable, keys = self.keys(group, features, word_ids)
            # Sorting packed integers is many times faster than looking keys up in the order of the rows.
            packed = (keys << _ROW_BITS) | features.rows[usable]
            packed.sort()
            sorted_keys = packed >> _ROW_BITS
            starts = np.flatnonzero(np.diff(sorted_keys, prepend=-1))
            columns = np.repeat(self.of_keys(group, sorted_keys[starts]), np.diff(np.append(starts, len(packed))))
            rows = packed & ((1 << _ROW_BITS) - 1)
            found.append((rows[columns >= 0], columns[columns >= 0]))
        rows, columns = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return rows, columns


class VocabularyColumns(Columns):
    """A column for each feature that was seen when fitting; others have none.

    Parameters
    ----------
    words : list of str
        The words of all features, sorted.
    tables : mapping of str to ndarray of int64
        By group, the rising keys of its features: the word's number in `words`, or for a pair
        ``candidate's word * len(words) + question's word``.
    """

    def __init__(self, words: Sequence[str], tables: Mapping[str, NDArray[np.int64]]) -> None:
        self.words, self.tables = list(words), dict(tables)
        self._numbers = {word: i for i, word in enumerate(words)}

    @classmethod
    def empty(cls, groups: Sequence[str], encoded: EncodedDataset) -> VocabularyColumns:
        """No column yet, for features of these groups and of the words of an encoding's questions and candidates.

        Raises
        ------
        UsageError
            There are more words than keys can be made of.
        """
        arrays = encoded.arrays
        used = np.union1d(arrays.candidate_tokens, arrays.question_tokens).tolist()
        if len(used) > _MOST_WORDS:
            raise UsageError(f"{len(used):,} words are too many for a column a feature: give hashing=COLUMNS")
        words = sorted(encoded.vocabulary[i] for i in used)
        return cls(words, {group: np.empty(0, dtype=np.int64) for group in groups})

    @property
    def n_columns(self) -> int:
        """How many features have been seen."""
        return sum(map(len, self.tables.values()))

    def word_ids(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Each word's number in `words`, -1 for those that are not there."""
        number = self._numbers
        return np.fromiter((number.get(word, -1) for word in vocabulary), np.int64, len(vocabulary))

    def learn(self, words: Mapping[str, WordFeatures], word_ids: NDArray[Any]) -> None:
        """Add the features that are new."""
        for group, features in words.items():
            keys = np.concatenate((self.tables[group], self.keys(group, features, word_ids)[1]))
            keys.sort()
            self.tables[group] = keys[np.flatnonzero(np.diff(keys, prepend=-1))]

    def keys(
        self, group: str, features: WordFeatures, word_ids: NDArray[Any]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which features are made of known words, and their keys."""
        keys = word_ids[features.words]
        known = keys >= 0
        if features.asked is not None:
            asked = word_ids[features.asked]
            known &= asked >= 0
            keys = keys * len(self.words) + asked
        return known, keys[known]

    def of_keys(self, group: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each key in its group's table, after the tables of the groups before."""
        table = self.tables[group]
        if not len(table):
            return np.full(len(keys), -1)
        place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
        groups = list(self.tables)
        before = sum(len(self.tables[name]) for name in groups[: groups.index(group)])
        return np.where(table[place] == keys, before + place, -1)


class HashedColumns(Columns):
    """A fixed number of columns, shared by the features that a hash throws together (Weinberger et al. 2009).

    Nothing is learned and nothing kept; features that share a column are added up, without signs.

    Parameters
    ----------
    n_columns : int
    """

    def __init__(self, n_columns: int) -> None:
        self._n_columns = n_columns

    @property
    def n_columns(self) -> int:
        """As many as were asked for."""
        return self._n_columns

    def word_ids(self, vocabulary: Sequence[str]) -> NDArray[np.uint64]:
        """A 64-bit hash of each word, the same everywhere."""
        return text_keys(vocabulary)

    def learn(self, words: Mapping[str, WordFeatures], word_ids: NDArray[Any]) -> None:
        """Nothing."""

    def keys(
        self, group: str, features: WordFeatures, word_ids: NDArray[Any]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """All features, and their columns."""
        (salt,) = text_keys([group])
        mixed = word_ids[features.words] ^ salt
        if features.asked is not None:
            mixed = mixed ^ (word_ids[features.asked] * _ODD)
        return np.ones(len(mixed), dtype=np.bool_), (mixed % np.uint64(self._n_columns)).astype(np.int64)

    def of_keys(self, group: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The keys, which are columns."""
        return keys


_ODD = np.uint64(0x9E3779B97F4A7C15)
"""Tells (x, y) from (y, x)."""


@dataclass(frozen=True)
class Design:
    """How features become the columns of a matrix: lengths and counts first, then words and pairs.

    Parameters
    ----------
    features : FeatureSet
    columns : Columns
        Those of words and pairs.
    scale : ndarray of float64, shape (n_numbers,)
        What lengths and counts are divided by.
    """

    features: FeatureSet
    columns: Columns
    scale: NDArray[np.float64]

    @classmethod
    def fit(cls, features: FeatureSet, encoded: EncodedDataset, *, scaled: bool, hashing: int | None) -> Design:
        """Give the features of an encoding's candidates their columns.

        Parameters
        ----------
        features : FeatureSet
        encoded : EncodedDataset
        scaled : bool
            Whether to divide lengths and counts by their root mean square over the candidates.
        hashing : int, optional
            How many columns words and pairs share; by default each has its own.
        """
        columns: Columns = (
            VocabularyColumns.empty(features.word_groups, encoded) if hashing is None else HashedColumns(hashing)
        )
        word_ids = columns.word_ids(encoded.vocabulary)
        squares = np.zeros(len(features.numbers))
        for block in features.blocks(encoded):
            columns.learn(block.words, word_ids)
            squares += np.square(block.numbers).sum(axis=0)
        scale = np.sqrt(squares / max(len(encoded.arrays.candidate_question), 1))
        return cls(features, columns, np.where((scale > 0) & scaled, scale, 1.0))

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return len(self.features.numbers) + self.columns.n_columns

    def blocks(self, encoded: EncodedDataset) -> Iterator[tuple[FeatureBlock, csr_matrix]]:
        """An encoding's candidates in blocks, each with its matrix: a row a candidate.

        The order of a row's entries is that of their columns, so that sums over it have the same bits whatever
        stands beside the candidate.
        """
        word_ids = self.columns.word_ids(encoded.vocabulary)
        for block in self.features.blocks(encoded):
            yield block, self._matrix(block, word_ids)

    def _matrix(self, block: FeatureBlock, word_ids: NDArray[Any]) -> csr_matrix:
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
        """What was fitted, as plain data and as arrays, by name."""
        if not isinstance(self.columns, VocabularyColumns):
            return {}, {"scale": self.scale}
        tables = {f"keys.{group}": table for group, table in self.columns.tables.items()}
        return {"words": self.columns.words}, {"scale": self.scale, **tables}

    @classmethod
    def from_state(
        cls, features: FeatureSet, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], hashing: int | None
    ) -> Design:
        """The design that gave this state.

        Raises
        ------
        KeyError or ValueError
            The state does not fit the features.
        """
        columns: Columns
        if hashing is None:
            tables = {group: arrays[f"keys.{group}"] for group in features.word_groups}
            columns = VocabularyColumns(state["words"], tables)
        else:
            columns = HashedColumns(hashing)
        if arrays["scale"].shape != (len(features.numbers),):
            raise ValueError(f"{len(arrays['scale'])} scales for {len(features.numbers)} lengths and counts")
        return cls(features, columns, arrays["scale"])
