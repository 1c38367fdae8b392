"""From spans to columns of a matrix: numbers in buckets, shapes, and words."""

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
    """Which columns some candidates have.

    Parameters
    ----------
    fixed : ndarray of int64, shape (n_kinds, n_candidates)
        A column for each number, the shape, and the wh-word with the shape.
    rows, words : ndarray of int64, shape (n,)
        A column for each of a candidate's words that has one, in their order.
    """

    fixed: NDArray[np.int64]
    rows: NDArray[np.int64]
    words: NDArray[np.int64]

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights of each candidate's columns, added up in an order that nothing beside it changes."""
        total = np.zeros(self.fixed.shape[1])
        for columns in self.fixed:
            total += weights[columns]
        return total + np.bincount(self.rows, weights[self.words], minlength=len(total))

    def matrix(self, n_columns: int) -> csr_matrix:
        """A row a candidate, with a one for each of its columns."""
        from scipy.sparse import csr_matrix

        n_kinds, n_rows = self.fixed.shape
        rows = np.concatenate((np.tile(np.arange(n_rows), n_kinds), self.rows))
        columns = np.concatenate((self.fixed.ravel(), self.words))
        return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_columns))


def bucket_edges(values: NDArray[np.int64], buckets: int) -> list[NDArray[np.int64]]:
    """Where the second, third, … bucket of each row of numbers from 0 begins.

    0, which most sums over matches are, has a bucket of its own where it occurs; the others hold equally many, as
    far as equal numbers let them.

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
    """Which columns features have: the buckets of each number, shapes, wh-words with shapes, and words.

    Parameters
    ----------
    groups : tuple of str
        Of :data:`~classic_rc.solvers.spans.features.GROUPS`.
    words : WordWeights
        Each of its words has a column, too.
    edges : list of ndarray of int64
        Of each number, where its second, third, … bucket begins.
    """

    groups: tuple[str, ...]
    words: WordWeights
    edges: Sequence[NDArray[np.int64]] = ()

    @property
    def names(self) -> list[str]:
        """The numbers' names."""
        return [name for group in self.groups for name in NUMBERS.get(group, ())]

    @property
    def _starts(self) -> Mapping[str, int]:
        """The first column of the shapes, of the wh-words with shapes and of the words; and how many there are."""
        sizes = {
            "shape": N_SHAPES,
            "wh-shape": N_SHAPES * len(WH_WORDS),
            "span-words": len(self.words.words),
        }
        column, starts = sum(len(own) + 1 for own in self.edges), {}
        for group, size in sizes.items():
            starts[group] = column
            column += size if group in self.groups else 0
        return {**starts, "end": column}

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return self._starts["end"]

    def columns(self, features: SpanFeatures) -> SpanColumns:
        """The columns of features."""
        starts, fixed, first = self._starts, [], 0
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
        """What columns stand for, for people."""
        return [self._label(column) for column in columns.tolist()]

    def _label(self, column: int) -> str:
        starts = self._starts
        if "span-words" in self.groups and column >= starts["span-words"]:
            return f"span has {self.words.words[column - starts['span-words']]!r}"
        if "wh-shape" in self.groups and column >= starts["wh-shape"]:
            kind, shape = divmod(column - starts["wh-shape"], N_SHAPES)
            return f"{WH_WORDS[kind]} with shape {shape_name(shape)}"
        if "shape" in self.groups and column >= starts["shape"]:
            return f"shape {shape_name(column - starts['shape'])}"
        firsts = offsets_of(np.array([len(own) + 1 for own in self.edges], dtype=np.int64))
        number = int(np.searchsorted(firsts, column, side="right")) - 1
        return f"{self.names[number]}: bucket {column - firsts[number] + 1} of {len(self.edges[number]) + 1}"

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What was fitted, as plain data and as arrays, by name."""
        arrays = {f"edges.{i}": own for i, own in enumerate(self.edges)}
        return {"words": self.words.words}, {"word_weights": self.words.weights, **arrays}

    @classmethod
    def from_state(
        cls, groups: tuple[str, ...], state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> SpanDesign:
        """The design that gave this state.

        Raises
        ------
        KeyError or ValueError
            The state does not fit the groups.
        """
        words = WordWeights(list(state["words"]), arrays["word_weights"])
        if words.weights.shape != (len(words.words) + 1,):
            raise ValueError(f"{len(words.weights)} weights for {len(words.words)} words and one more")
        design = cls(groups, words)
        return cls(groups, words, [arrays[f"edges.{i}"] for i in range(len(design.names))])
