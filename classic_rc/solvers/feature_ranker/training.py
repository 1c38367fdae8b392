"""Fitting with cross-validation: the strength of the penalty, and out-of-fold scores of the training candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.logistic import Features, fit_logistic

GRID = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""The inverse strengths of the penalty that cross-validation tries, from the strongest penalty on."""



class Cases(NamedTuple):
    """What a learner learns from: rows of candidates, in cases if exactly one of several rows is right."""

    rows: NDArray[np.int64]  # (n,): candidates, in the arrays' order, equal ones included
    right: NDArray[np.int64]  # (n,)
    offsets: NDArray[np.int64] | None  # (n_cases + 1,); None: each row is a case of its own
    folds: NDArray[np.int64]  # (n_cases,) or (n,)

    @classmethod
    def of(
        cls, right: NDArray[np.int64], offsets: NDArray[np.int64], folds: NDArray[np.int64], *, one_is_right: bool
    ) -> Cases:
        """Return the cases of questions whose candidates are ``offsets[i]:offsets[i + 1]``.

        Where one candidate is right, each right candidate against the wrong ones of its question is a case: a
        question with several right candidates is several cases, and one without any, or without a wrong one, none.

        Parameters
        ----------
        right : ndarray of int64, shape (n_candidates,)
        offsets : ndarray of int64, shape (n_questions + 1,)
        folds : ndarray of int64, shape (n_questions,)
        one_is_right : bool
        """
        sizes = np.diff(offsets)
        question = np.repeat(np.arange(len(sizes)), sizes)
        if not one_is_right:
            return cls(np.arange(len(right)), right, None, folds[question])
        n_right = np.bincount(question, weights=right, minlength=len(sizes)).astype(np.int64)
        chosen = np.flatnonzero(right)
        chosen = chosen[sizes[question[chosen]] > n_right[question[chosen]]]
        own = question[chosen]
        rows = ragged_indices(offsets[own], sizes[own])
        case = np.repeat(np.arange(len(chosen)), sizes[own])
        is_right = rows == chosen[case]
        kept = is_right | (right[rows] == 0)
        counts = np.bincount(case[kept], minlength=len(chosen))
        return cls(rows[kept], is_right[kept].astype(np.int64), offsets_of(counts), folds[own])

    def select(self, kept: NDArray[np.bool_]) -> Cases:
        """Return some of the cases."""
        if self.offsets is None:
            return Cases(self.rows[kept], self.right[kept], None, self.folds[kept])
        sizes = np.diff(self.offsets)
        rows = np.repeat(kept, sizes)
        return Cases(self.rows[rows], self.right[rows], offsets_of(sizes[kept]), self.folds[kept])

    def loss(self, scores: NDArray[np.float64]) -> float:
        """Return the sum of the log losses; `scores` has a score for each candidate."""
        own = scores[self.rows]
        if self.offsets is None:
            return float(np.logaddexp(0, np.where(self.right > 0, -own, own)).sum())
        if not len(self.rows):
            return 0.0
        top = np.repeat(np.maximum.reduceat(own, self.offsets[:-1]), np.diff(self.offsets))
        totals = np.add.reduceat(np.exp(own - top), self.offsets[:-1])
        return float(np.log(totals).sum() - (own - top)[self.right > 0].sum())


class Chosen(NamedTuple):
    """A fitted model, and how it was chosen."""

    C: float
    weights: NDArray[np.float64]  # (n_columns,), of all cases
    out_of_fold: NDArray[np.float64]  # (n_candidates,): scores by the models of the other folds
    losses: dict[float, float]  # by C, the out-of-fold loss of a case
    converged: bool


def fit_cross_validated(
    features: Features,
    cases: Cases,
    folds_of_rows: NDArray[np.int64],
    C: float | None,
    min_count: int = 0,
    *,
    with_scores: bool = True,
) -> Chosen:
    """Fit a model to all cases, and one to the cases of all folds but each.

    Parameters
    ----------
    features : Features
        A row for each candidate.
    cases : Cases
    folds_of_rows : ndarray of int64, shape (n_candidates,)
        The fold of each candidate.
    C : float or None
        None chooses the member of :data:`GRID` with the least loss on the folds that a model has not seen. A fold
        leaves the grid when its loss rises, and only strengths that all folds have reached can be chosen.
    min_count : int
        A model ignores the sparse columns that fewer of the rows it learns from have.
    with_scores : bool
        Whether the scores out of fold are needed if C is given.
    """
    n_folds = int(folds_of_rows.max()) + 1
    grid = GRID if C is None else (C,) if with_scores else ()
    paths = []
    for k in range(n_folds if grid else 0):
        held = folds_of_rows == k
        part = _Part(features, cases.select(cases.folds != k), min_count)
        paths.append(_follow_path(features, part, grid, np.flatnonzero(held), cases.select(cases.folds == k)))
    reached = [strength for strength in grid if all(strength in path for path in paths)]
    losses = {
        strength: sum(path[strength].loss for path in paths) / max(len(cases.folds), 1) for strength in reached
    }
    best = min(losses, key=losses.__getitem__) if C is None else C
    scores = np.zeros(len(folds_of_rows))
    for k, path in enumerate(paths):
        scores[folds_of_rows == k] = path[best].scores
    whole = _Part(features, cases, min_count)
    whole.fit(best)
    return Chosen(best, whole.weights, scores, losses, whole.converged)


class _Point(NamedTuple):
    """A model on the path of strengths, seen from the fold that it has not learned from."""

    loss: float  # the sum over the fold's cases
    scores: NDArray[np.float64]  # of the fold's candidates


def _follow_path(
    features: Features, part: _Part, grid: Sequence[float], held: NDArray[np.int64], cases: Cases
) -> dict[float, _Point]:
    """Fit one strength after the other, until the loss on the fold that is held out rises."""
    points: dict[float, _Point] = {}
    before = np.inf
    every = np.zeros(features_rows(features))
    for strength in grid:
        part.fit(strength)
        scores = every[held] = times(features, part.weights, held)
        points[strength] = _Point(cases.loss(every), scores)
        if points[strength].loss > before:
            break
        before = points[strength].loss
    return points


class _Part:
    """A model of some cases; a fit starts from the one before."""

    def __init__(self, features: Features, cases: Cases, min_count: int) -> None:
        self._cases, self._n_columns = cases, n_columns(features)
        sparse, dense = features.sparse, features.dense
        n_dense = 0 if dense is None else dense.shape[1]
        self._kept = np.arange(self._n_columns)
        if sparse is not None:
            sparse = sparse[cases.rows]
            if min_count:
                counts = np.bincount(sparse.indices, minlength=sparse.shape[1])
                used = np.flatnonzero(counts >= min_count)
                sparse = sparse[:, used]
                self._kept = np.concatenate((np.arange(n_dense), n_dense + used))
        self._features = Features(None if dense is None else dense[cases.rows], sparse)
        self._own = np.zeros(len(self._kept))
        self.converged = True

    def fit(self, C: float) -> None:
        if len(self._kept) and len(self._cases.rows):
            fit = fit_logistic(self._features, self._cases.right, C, offsets=self._cases.offsets, start=self._own)
            self._own, self.converged = fit.weights, fit.converged

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of all columns, 0 for those that are not learned."""
        weights = np.zeros(self._n_columns)
        weights[self._kept] = self._own
        return weights


def features_rows(features: Features) -> int:
    """Return the number of rows."""
    return int(next(block.shape[0] for block in features if block is not None))


def n_columns(features: Features) -> int:
    """Return the number of columns."""
    return sum(block.shape[1] for block in features if block is not None)


def times(features: Features, weights: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weighted sums of some rows."""
    n_dense = 0 if features.dense is None else features.dense.shape[1]
    result = np.zeros(len(rows))
    if features.dense is not None:
        for start in range(0, len(rows), _BLOCK_ROWS):
            part = rows[start : start + _BLOCK_ROWS]
            result[start : start + len(part)] = features.dense[part].astype(np.float64) @ weights[:n_dense]
    if features.sparse is not None:
        result += features.sparse[rows] @ weights[n_dense:]
    return result


_BLOCK_ROWS = 2**14




def fold_numbers(folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], n: int) -> NDArray[np.int64]:
    """Return the fold of each of `n` questions."""
    numbers = np.zeros(n, dtype=np.int64)
    for k, (_, own) in enumerate(folds):
        numbers[own] = k
    return numbers
