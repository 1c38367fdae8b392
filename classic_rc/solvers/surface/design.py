"""From texts to a matrix of surface features: which features there are, their columns and their scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.solvers.surface.columns import Columns, HashedColumns, VocabularyColumns
from classic_rc.solvers.surface.features import FeatureBlock, FeatureSet
from classic_rc.text.encode import EncodedDataset

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
