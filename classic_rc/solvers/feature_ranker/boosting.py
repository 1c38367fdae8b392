"""The ranker's last stage: boosted trees over its features, which start from the linear score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.logistic import derivatives
from classic_rc.kernels.trees import (
    N_BINS,
    Bins,
    Floats,
    Growth,
    Integers,
    JoinedBins,
    Trees,
    bin_edges,
    bin_values,
    draw_pairs,
    grow_tree,
)
from classic_rc.solvers.feature_ranker.tables import QUESTION
from classic_rc.solvers.feature_ranker.training import Cases, Learner, compare
from classic_rc.solvers.learning import check_shape
from classic_rc.work import tracked

MOST_TREES = 600
PATIENCE = 50
"""Choosing the number of trees ends when so many more have not lowered the held-out loss."""
GATE = 2.0
"""Trees are used if they answer more held-out questions right, by so many standard errors."""
HELD_FOLD = 0
_LEAST_CURVATURE = 0.001
GROWTH = Growth()

_PER_FEATURE, _PER_QUESTION = 3, 2
"""How many columns a feature and a question have."""


def tree_columns(
    values: NDArray[np.floating[Any]], types: Integers, offsets: Integers
) -> Iterator[Floats]:
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


def _lead(values: Floats, offsets: Integers) -> Floats:
    """Return each value minus the largest of the question's others, 0 if there is none."""
    sizes = np.diff(offsets)
    # `reduceat` returns the element at the start of an empty run, not nothing.
    has_candidates = sizes > 0
    starts, sizes = offsets[:-1][has_candidates], sizes[has_candidates]
    if not len(starts):
        return np.zeros(0)
    best = np.repeat(np.maximum.reduceat(values, starts), sizes)
    is_best = values == best
    is_alone = np.repeat(np.add.reduceat(is_best, starts, dtype=np.int64) == 1, sizes)
    others = np.where(is_best & is_alone, -np.inf, values)
    second = np.repeat(np.maximum.reduceat(others, starts), sizes)
    lead = values - np.where(is_best, second, best)
    # The only candidate of a question leads by infinity.
    return np.where(np.isfinite(lead), lead, 0.0)


class Forest(NamedTuple):
    """Fitted trees, and the edges of the bins of their columns."""

    edges: Floats  # (n_columns, N_BINS - 1)
    trees: Trees

    def amounts(
        self,
        values: NDArray[np.floating[Any]],
        types: Integers,
        offsets: Integers,
        groups: Sequence[str],
    ) -> dict[str, Floats]:
        """Return what the trees add to each candidate's score, by the group of the feature that a
        split compares; `groups` has the group of each feature.
        """
        names = [*dict.fromkeys(groups), QUESTION]
        feature_groups = np.repeat([*map(names.index, groups)], _PER_FEATURE)
        group_of = np.append(feature_groups, [len(names) - 1] * _PER_QUESTION)
        bins = np.stack([*map(bin_values, tree_columns(values, types, offsets), self.edges)])
        return dict(zip(names, self.trees.sums(bins, group_of, len(names)).T, strict=True))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, to save it."""
        return {
            "trees.edges": self.edges,
            "trees.splits": self.trees.splits,
            "trees.steps": self.trees.steps,
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], n_features: int) -> Self:
        """Return the forest that :meth:`arrays` returned; one that does not match is an error."""
        edges, splits, steps = (arrays[f"trees.{name}"] for name in ("edges", "splits", "steps"))
        n_columns = n_features * _PER_FEATURE + _PER_QUESTION
        check_shape(edges, (n_columns, N_BINS - 1))
        check_shape(steps, (*splits.shape[:2], 2))
        limits = [[k + 1, n_columns - 1, N_BINS] for k in range(splits.shape[1])]
        if (splits < 0).any() or (splits > limits).any():
            raise ValueError("the trees have splits that do not exist")
        return cls(edges, Trees(splits, steps))


def learn_bins(
    values: NDArray[np.floating[Any]], types: Integers, offsets: Integers
) -> tuple[Floats, Bins]:
    """Return the edges of the bins of each column, and the bins of each column's candidates."""
    edges, bins = [], []
    for column in tree_columns(values, types, offsets):
        edges.append(bin_edges(column))
        bins.append(bin_values(column, edges[-1]))
    return np.stack(edges), np.stack(bins)


def grow_trees(bins: Bins, cases: Cases, scores: Floats) -> Iterator[Trees]:
    """Yield tree after tree, each learned from the scores with all before it.

    Parameters
    ----------
    bins : ndarray of uint8, shape (n_columns, n_candidates)
    cases : Cases
    scores : ndarray of float64, shape (n_candidates,)
        What the first tree starts from.
    """
    rows, right, offsets, _ = cases
    joined, scores = JoinedBins.of(bins, rows), scores[rows]
    for number in count():
        pairs = draw_pairs(len(joined.joint), number, GROWTH)
        gradient, curvature = derivatives(scores, right, offsets)
        curvature = np.maximum(curvature, _LEAST_CURVATURE)
        tree, added = grow_tree(joined, pairs, gradient, curvature, GROWTH)
        scores += added
        yield tree


def choose_n_trees(learner: Learner, bins: Bins, C: float) -> int:
    """Return the number of trees with the least loss on held-out questions, 0 if they gain too
    little there.

    The gain is in right answers, not in the loss, which also falls when scores only become larger.
    """
    is_held = learner.folds == HELD_FOLD
    held, taught = learner.cases.select(is_held), learner.cases.select(~is_held)
    if not len(held.rows) or not len(taught.rows):
        return 0
    scores = learner.score_without(HELD_FOLD, C, np.arange(bins.shape[1]))
    trees = grow_trees(bins, taught, scores)
    held_bins = bins[:, held.rows]
    ungrouped = np.zeros(len(bins), dtype=np.int64)
    hits, best, lowest_loss = held.hits(scores), 0, held.loss(scores)
    gains = np.zeros_like(hits)
    for number, tree in enumerate(tracked(islice(trees, MOST_TREES), MOST_TREES, share=0.8), 1):
        scores[held.rows] += tree.sums(held_bins, ungrouped, 1)[:, 0]
        loss = held.loss(scores)
        if loss < lowest_loss:
            best, lowest_loss, gains = number, loss, held.hits(scores) - hits
        if number - best == PATIENCE:
            break
    # Questions of one passage depend on each other, so the standard error is that of passages.
    _, passages = np.unique(learner.passages[held.questions], return_inverse=True)
    deviations = np.bincount(passages, gains - gains.mean())
    error = np.sqrt(deviations @ deviations)
    # The mean comes from the same passages, so the error is too small by this factor. For a single
    # passage it is 0, and no gain is clear.
    correction = np.sqrt(1 - 1 / len(deviations))
    is_clear = gains.sum() * correction > GATE * error
    return best if is_clear else 0
