"""The design matrix of span features: a column for each bucket of a number, each shape and each word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.solvers.spans.features import N_SHAPES, NUMBERS, WH_WORDS, SpanFeatures, WordWeights, shape_name

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class SpanColumns(NamedTuple):
    """The matrix columns of some candidates' features. Every feature has the value 1."""

    # Shape (n_kinds, n_candidates): the columns of each number, of the shape, and of the wh-word with the shape.
    fixed: NDArray[np.int64]
    # Shape (n,), in the order of the words: the candidate and the column of each candidate word that has a column.
    rows: NDArray[np.int64]
    words: NDArray[np.int64]

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the weights of each candidate's columns.

        The order of additions depends only on the candidate itself, so its sum has the same bits in any batch.
        """
        total = np.zeros(self.fixed.shape[1])
        for columns in self.fixed:
            total += weights[columns]
        return total + np.bincount(self.rows, weights[self.words], minlength=len(total))

    def matrix(self, n_columns: int) -> csr_matrix:
        """Return a matrix with one row for each candidate and a 1 in each of its columns."""
        from scipy.sparse import csr_matrix

        n_kinds, n_rows = self.fixed.shape
        rows = np.concatenate((np.tile(np.arange(n_rows), n_kinds), self.rows))
        columns = np.concatenate((self.fixed.ravel(), self.words))
        return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_columns))


def bucket_edges(values: NDArray[np.int64], buckets: int) -> list[NDArray[np.int64]]:
    """Return where the second, third, … bucket of each row of non-negative numbers begins.

    If 0 occurs, it has its own bucket, because most sums over matches are 0. The other buckets have equally many
    numbers, except that equal numbers are always in the same bucket.

    Examples
    --------
    >>> bucket_edges(np.array([[5, 1, 2, 4, 3, 6], [0, 0, 0, 0, 9, 7]]), 3)
    [array([3, 5]), array([7, 9])]
    """
    edges = []
    for row in values:
        above = np.sort(row[row > 0])
        has_zero = len(above) < len(row)
        parts = buckets - has_zero
        firsts = np.unique(above[len(above) * np.arange(parts) // parts] if len(above) else above)
        edges.append(firsts if has_zero else firsts[1:])
    return edges


@dataclass(frozen=True)
class SpanDesign:
    """The mapping of features to columns: buckets of each number, shapes, wh-words with shapes, then words."""

    groups: tuple[str, ...]  # names of classic_rc.solvers.spans.features.SPAN_FEATURE_GROUPS
    words: WordWeights  # each of its words has a column
    edges: Sequence[NDArray[np.int64]] = ()  # of each number, where its second, third, … bucket begins

    @property
    def names(self) -> list[str]:
        """The names of the numbers."""
        return [name for group in self.groups for name in NUMBERS.get(group, ())]

    @property
    def _group_starts(self) -> Mapping[str, int]:
        """The first columns of the shapes, the wh-words with shapes and the words; ``end`` is the column count."""
        sizes = {
            "shape": N_SHAPES,
            "wh-shape": N_SHAPES * len(WH_WORDS),
            "span-words": len(self.words.words),
        }
        column, starts = sum(len(edges) + 1 for edges in self.edges), {}
        for group, size in sizes.items():
            starts[group] = column
            column += size if group in self.groups else 0
        return {**starts, "end": column}

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self._group_starts["end"]

    def columns(self, features: SpanFeatures) -> SpanColumns:
        """Return the columns of `features`."""
        starts, fixed, first = self._group_starts, [], 0
        for values, edges in zip(features.numbers, self.edges, strict=True):
            fixed.append(first + np.searchsorted(edges, values, side="right"))
            first += len(edges) + 1
        if "shape" in self.groups:
            fixed.append(starts["shape"] + features.shapes)
        if "wh-shape" in self.groups:
            fixed.append(starts["wh-shape"] + features.kinds * N_SHAPES + features.shapes)
        rows = np.repeat(np.arange(len(features.shapes)), np.diff(features.word_offsets))
        has_column = (features.words < len(self.words.words)) & ("span-words" in self.groups)
        return SpanColumns(
            np.array(fixed, dtype=np.int64).reshape(len(fixed), len(features.shapes)),
            rows[has_column],
            starts["span-words"] + features.words[has_column],
        )

    def labels(self, columns: NDArray[np.int64]) -> list[str]:
        """Return a readable name of each column."""
        return [self._label_column(column) for column in columns.tolist()]

    def _label_column(self, column: int) -> str:
        starts = self._group_starts
        if "span-words" in self.groups and column >= starts["span-words"]:
            return f"span has {self.words.words[column - starts['span-words']]!r}"
        if "wh-shape" in self.groups and column >= starts["wh-shape"]:
            kind, shape = divmod(column - starts["wh-shape"], N_SHAPES)
            return f"{WH_WORDS[kind]} with shape {shape_name(shape)}"
        if "shape" in self.groups and column >= starts["shape"]:
            return f"shape {shape_name(column - starts['shape'])}"
        firsts = offsets_of(np.array([len(edges) + 1 for edges in self.edges], dtype=np.int64))
        number = int(np.searchsorted(firsts, column, side="right")) - 1
        return f"{self.names[number]}: bucket {column - firsts[number] + 1} of {len(self.edges[number]) + 1}"

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fitted state as plain data and as arrays by name."""
        arrays = {f"edges.{i}": edges for i, edges in enumerate(self.edges)}
        return {"words": self.words.words}, {"word_weights": self.words.weights, **arrays}

    @classmethod
    def from_state(
        cls, groups: tuple[str, ...], state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> SpanDesign:
        """Return the design with a state that :meth:`to_state` returned.

        Raises
        ------
        KeyError or ValueError
            The state does not match the groups.
        """
        words = WordWeights(list(state["words"]), arrays["word_weights"])
        if words.weights.shape != (len(words.words) + 1,):
            raise ValueError(
                f"{len(words.weights)} word weights for {len(words.words)} words, expected {len(words.words) + 1}"
            )
        design = cls(groups, words)
        return cls(groups, words, [arrays[f"edges.{i}"] for i in range(len(design.names))])
