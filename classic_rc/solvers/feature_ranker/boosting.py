"""The ranker's last stage: boosted trees over its features, which start from the linear score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.logistic import derivatives
from classic_rc.kernels.trees import (
    N_BINS,
    Growth,
    JoinedBins,
    Trees,
    bin_edges,
    bin_values,
    draw_pairs,
    grow_tree,
)
from classic_rc.solvers.feature_ranker.training import Cases, compare
from classic_rc.solvers.learning import check_shape

MOST_TREES = 600
PATIENCE = 50
"""Choosing the number of trees ends when so many more have not lowered the held-out loss."""
GATE = 2.0
"""Trees are used if they lower the held-out loss by more than so many standard errors."""
HELD_FOLD = 0
_LEAST_CURVATURE = 0.001
GROWTH = Growth()

QUESTION = "question"
"""The group of the columns that are the same for all candidates of a question."""
_BLOCK_ROWS = 2**11
_PER_FEATURE, _PER_QUESTION = 3, 2
"""How many columns a feature and a question have."""


def tree_columns(
    values: NDArray[np.floating[Any]], types: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Iterator[NDArray[np.float64]]:
    """Yield the columns that trees divide, each with shape (n_candidates,).

    For each feature its value, the value standardised within the question and the difference from
    the best other candidate; then the type of the question and how many candidates it has.
    """
    sizes = np.diff(offsets)
    for j in range(values.shape[1]):
        feature = np.asarray(values[:, j], dtype=np.float64)
        yield feature
        yield compare(feature, offsets).standard
        yield _lead(feature, offsets)
    yield np.repeat(types, sizes).astype(np.float64)
    yield np.repeat(sizes, sizes).astype(np.float64)


def _lead(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each value minus the largest of the question's others, 0 if there is none."""
    sizes = np.diff(offsets)
    starts, sizes = offsets[:-1][sizes > 0], sizes[sizes > 0]
    if not len(starts):
        return np.zeros(0)
    high = np.maximum.reduceat(values, starts)
    is_best = values == np.repeat(high, sizes)
    is_shared = np.add.reduceat(is_best, starts, dtype=np.int64) > 1
    second = np.maximum.reduceat(np.where(is_best, -np.inf, values), starts)
    second = np.where(is_shared, high, second)
    others = np.where(is_best, np.repeat(second, sizes), np.repeat(high, sizes))
    return np.where(np.repeat(sizes, sizes) > 1, values - others, 0.0)


class Forest(NamedTuple):
    """Fitted trees, and the edges of the bins of their columns."""

    edges: Sequence[NDArray[np.float64]]  # of each column
    trees: Trees

    def amounts(
        self,
        values: NDArray[np.floating[Any]],
        types: NDArray[np.int64],
        offsets: NDArray[np.int64],
        groups: Sequence[str],
    ) -> dict[str, NDArray[np.float64]]:
        """Return what the trees add to each candidate's score, by the group of the feature that a
        split compares; `groups` has the group of each feature.
        """
        names = [*dict.fromkeys(groups), QUESTION]
        numbers = [*map(names.index, groups), len(names) - 1]
        group_of = np.repeat(numbers, [_PER_FEATURE] * len(groups) + [_PER_QUESTION])
        leaf_values = self.trees.leaf_values(group_of, len(names))
        bins = bin_columns(tree_columns(values, types, offsets), self.edges)
        result = np.zeros((len(values), len(names)))
        for start in range(0, len(values), _BLOCK_ROWS):
            block = result[start : start + _BLOCK_ROWS]
            leaves = self.trees.leaves(bins[:, start : start + _BLOCK_ROWS])
            for of_tree, leaf in zip(leaf_values, leaves, strict=True):
                block += of_tree[leaf]
        return dict(zip(names, result.T, strict=True))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, to save it."""
        return {
            "trees.edges": np.concatenate(self.edges),
            "trees.edge_counts": np.array(list(map(len, self.edges)), dtype=np.int32),
            "trees.splits": self.trees.splits,
            "trees.values": self.trees.values,
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], n_features: int) -> Self:
        """Return the forest that :meth:`arrays` returned; one that does not match is an error."""
        edges, counts, splits, values = (
            arrays[f"trees.{name}"] for name in ("edges", "edge_counts", "splits", "values")
        )
        n_columns = n_features * _PER_FEATURE + _PER_QUESTION
        check_shape(counts, (n_columns,))
        check_shape(edges, (int(counts.sum()),))
        check_shape(values, (*splits.shape[:2], 2))
        most = [[k + 1, n_columns - 1, N_BINS] for k in range(splits.shape[1])]
        if (splits < 0).any() or (splits > most).any():
            raise ValueError("the trees have splits that do not exist")
        return cls(np.split(edges, np.cumsum(counts)[:-1]), Trees(splits, values))


def learn_edges(
    values: NDArray[np.floating[Any]], types: NDArray[np.int64], offsets: NDArray[np.int64]
) -> list[NDArray[np.float64]]:
    """Return the edges of the bins of each column."""
    return list(map(bin_edges, tree_columns(values, types, offsets)))


def bin_columns(
    columns: Iterator[NDArray[np.float64]], edges: Sequence[NDArray[np.float64]]
) -> NDArray[np.uint8]:
    """Return the bins of all columns: shape (n_columns, n_rows)."""
    return np.stack([bin_values(column, own) for column, own in zip(columns, edges, strict=True)])


def leaf_values(tree: Trees) -> NDArray[np.float64]:
    """Return the value of each leaf of one tree."""
    one_group = np.zeros(int(tree.splits[..., 1].max(initial=0)) + 1, dtype=np.int64)
    return tree.leaf_values(one_group, 1)[0, :, 0]


class Boosting(NamedTuple):
    """What trees learn from: bins of candidates and a first score of each."""

    bins: NDArray[np.uint8]  # (n_columns, n_candidates)
    cases: Cases
    scores: NDArray[np.float64]  # (n_candidates,)

    def trees(self) -> Iterator[Trees]:
        """Yield tree after tree, each learned from the scores with all before it."""
        rows, right, offsets, _ = self.cases
        bins, scores = JoinedBins.of(self.bins, rows), self.scores[rows]
        for number in count():
            pairs = draw_pairs(len(bins.joint), number, GROWTH)
            gradient, curvature = derivatives(scores, right, offsets)
            curvature = np.maximum(curvature, _LEAST_CURVATURE)
            tree, leaves = grow_tree(bins, pairs, gradient, curvature, GROWTH)
            for members, value in zip(leaves, leaf_values(tree), strict=False):
                scores[members] += value
            yield tree


def choose_n_trees(boosting: Boosting, held: Cases, passages: NDArray[np.int64]) -> int:
    """Return the number of trees with the least loss of held-out cases, 0 if they gain too little.

    The gain is in right answers, not in the loss, which also falls when scores only become larger.
    `passages` has the passage of each held-out case: the standard error is that of whole passages.
    """
    bins, scores = np.ascontiguousarray(boosting.bins[:, held.rows]), boosting.scores.copy()
    hits, best, least = held.hits(scores), 0, held.loss(scores)
    gains = np.zeros_like(hits)
    for number, tree in enumerate(boosting.trees(), 1):
        scores[held.rows] += leaf_values(tree)[tree.leaves(bins)[0]]
        loss = held.loss(scores)
        if loss < least:
            best, least, gains = number, loss, held.hits(scores) - hits
        if number == MOST_TREES or number - best == PATIENCE:
            break
    return best if _is_clear(gains, passages) else 0


def _is_clear(gains: NDArray[np.float64], passages: NDArray[np.int64]) -> bool:
    """Return whether the mean gain is more than `GATE` standard errors over passages."""
    _, groups = np.unique(passages, return_inverse=True)
    deviations = np.bincount(groups, gains - gains.mean())
    return float(gains.sum()) > GATE * float(np.sqrt(deviations @ deviations))
