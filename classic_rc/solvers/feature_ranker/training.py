"""The learner's columns (features within a question, by its type) and its folds: penalty, scores
out of fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.held_out import HeldOutFit, HeldOutFits, TypedColumns
from classic_rc.kernels.logistic import Features, fit_logistic
from classic_rc.solvers.feature_ranker.texts import QUESTION_TYPES
from classic_rc.work import tracked

LIMIT = 5.0
"""The largest size of a feature in units of its standard deviation."""
_SAME = 1e-9
"""Values of a question's candidates that differ by less, relative to the largest of them, are
equal.
"""
N_TYPES = len(QUESTION_TYPES) + 1
"""The types of questions, and one for questions without a type."""


class Compared(NamedTuple):
    """A feature of all candidates, compared within each question."""

    # (n,): the value minus the question's mean; exactly 0 where all are equal
    centred: NDArray[np.float64]
    # (n,): the same, divided by twice the question's standard deviation
    standard: NDArray[np.float64]


def compare(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> Compared:
    """Compare a feature's values within questions, which have the rows ``offsets[i]:offsets[i +
    1]``.
    """
    sizes = np.diff(offsets)
    filled = offsets[:-1][sizes > 0]
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return Compared(np.zeros(0), np.zeros(0))

    def spread(per_question: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(per_question, sizes)

    high, low = np.maximum.reduceat(values, filled), np.minimum.reduceat(values, filled)
    differs = high - low > _SAME * np.maximum(np.abs(high), np.abs(low))
    centred = values - spread(np.add.reduceat(values, filled) / sizes)
    centred[~spread(differs)] = 0.0
    deviation = np.sqrt(np.add.reduceat(centred * centred, filled) / sizes)
    return Compared(centred, centred / spread(np.where(differs, 2 * deviation, 1.0)))


@dataclass(frozen=True)
class Design:
    """The units of the features, learned from training, and which features are crossed with types
    of questions.

    The learner's columns are the clipped centred features ("c") and the standardised ones ("z");
    then, if several candidates can be right, the clipped standardised raw features and a column of
    ones; then c of each crossed feature for each type.
    """

    names: tuple[str, ...]  # of the features
    crossed: NDArray[np.int64]  # (n_crossed,): features, ascending
    scale: NDArray[np.float64]  # (n_features,): the standard deviation of centred values
    # (n_features,): mean and standard deviation of raw values; None if exactly one candidate is
    # right.
    mean: NDArray[np.float64] | None
    deviation: NDArray[np.float64] | None

    @classmethod
    def learn(
        cls,
        names: Sequence[str],
        crossed: NDArray[np.int64],
        values: NDArray[np.floating[Any]],
        offsets: NDArray[np.int64],
        *,
        raw: bool,
    ) -> Design:
        """Learn the units from the features of training candidates: shape (n_candidates,
        n_features).
        """
        n = len(names)
        scale, mean, deviation = np.ones(n), np.zeros(n), np.ones(n)
        if len(values):
            for j in range(n):
                column = np.asarray(values[:, j], dtype=np.float64)
                centred = compare(column, offsets).centred
                scale[j] = _unit(np.sqrt(np.mean(centred * centred)))
                if raw:
                    mean[j], deviation[j] = column.mean(), _unit(column.std())
        if not raw:
            return cls(tuple(names), crossed, scale, None, None)
        return cls(tuple(names), crossed, scale, mean, deviation)

    @property
    def n_dense(self) -> int:
        """The number of columns before the crossed ones."""
        n = len(self.names)
        return 2 * n if self.mean is None else 3 * n + 1

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.n_dense + len(self.crossed) * N_TYPES

    def terms(
        self, values: NDArray[np.floating[Any]], j: int, offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the columns c, z and raw of feature j."""
        exact = np.asarray(values, dtype=np.float64)
        centred, standard = compare(exact, offsets)
        raw = None
        if self.mean is not None and self.deviation is not None:
            raw = (exact - self.mean[j]) / self.deviation[j]
            raw = np.clip(raw, -LIMIT, LIMIT)
        return np.clip(centred / self.scale[j], -LIMIT, LIMIT), standard, raw

    def matrix(
        self,
        values: NDArray[np.floating[Any]],
        types: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> Features:
        """Return the learner's matrix, in float32, for features of shape (n_candidates,
        n_features).
        """
        from scipy.sparse import csr_matrix

        n, f = values.shape
        dense = np.empty((n, self.n_dense), dtype=np.float32)
        for j in range(f):
            c, z, raw = self.terms(values[:, j], j, offsets)
            dense[:, j], dense[:, f + j] = c, z
            if raw is not None:
                dense[:, 2 * f + j] = raw
        if self.mean is not None:
            dense[:, -1] = 1.0
        k = len(self.crossed)
        if not k:
            return Features(dense)
        type_of = np.repeat(types, np.diff(offsets))
        indices = (type_of[:, None] * k + np.arange(k)).astype(np.int32)
        cells = dense[:, self.crossed].ravel(), indices.ravel(), np.arange(n + 1) * k
        return Features(dense, csr_matrix(cells, (n, N_TYPES * k)))


def _unit(deviation: float) -> float:
    """Return a standard deviation to divide by: 1 for a feature that is constant."""
    return deviation if deviation > 0 else 1.0


class WeightedColumn(NamedTuple):
    """A column of the learner that belongs to one feature."""

    name: str
    values: NDArray[np.float64]  # (n_candidates,)
    weights: Any  # one number, or one of each candidate: (n_candidates,)


@dataclass(frozen=True)
class Ranker:
    """A fitted linear model of a design's columns."""

    design: Design
    weights: NDArray[np.float64]  # (n_columns,)

    def contributions(
        self,
        values: NDArray[np.floating[Any]],
        types: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return what each feature adds to each candidate's score: shape (n_features,
        n_candidates).

        The columns of a feature are added one by one, and not by a matrix product, so that the
        digits do not depend on the other questions.
        """
        result = np.empty((len(self.design.names), len(values)))
        for j, (first, *others) in enumerate(self.columns(values, types, offsets)):
            result[j] = first.values * first.weights
            for column in others:
                result[j] += column.values * column.weights
        return result

    def columns(
        self,
        values: NDArray[np.floating[Any]],
        types: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> Iterator[list[WeightedColumn]]:
        """Yield the columns of each feature, with the weights that they have in each candidate's
        question.
        """
        design, f = self.design, len(self.design.names)
        of_type = np.zeros((N_TYPES, f))
        of_type[:, design.crossed] = self.weights[design.n_dense :].reshape(N_TYPES, -1)
        of_type += self.weights[:f]
        type_of = np.repeat(types, np.diff(offsets))
        for j in range(f):
            c, z, raw = design.terms(values[:, j], j, offsets)
            columns = [
                WeightedColumn("minus the question's mean", c, of_type[type_of, j]),
                WeightedColumn("standardised in the question", z, self.weights[f + j]),
            ]
            if raw is not None:
                columns.append(WeightedColumn("standardised", raw, self.weights[2 * f + j]))
            yield columns

    @property
    def bias(self) -> float:
        """What is added to every score."""
        return 0.0 if self.design.mean is None else float(self.weights[self.design.n_dense - 1])


GRID = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""The inverse strengths of the penalty that cross-validation tries, from the strongest penalty
on.
"""

MOST_ROWS = 100_000
"""Strengths are compared on whole passages with about this many rows.

The best strength hardly depends on the amount of data: it is the variance that the penalty assumes
for the weights.
"""

_ROUGH, _CLOSE, _EXACT = 1e-5, 1e-7, 1e-10
"""Relative distances from the optimal objective: to compare strengths, to compare nearly equal
ones, and for scores and weights.
"""
_NEAR = 1e-3
"""Losses with a smaller relative difference are nearly equal: rough ones are 1e-4 off at most."""

_BLOCK_ROWS = 2**14


class Cases(NamedTuple):
    """What a learner learns from: rows of candidates, in cases if exactly one of several rows is
    right.
    """

    rows: NDArray[np.int64]  # (n,): candidates, in the arrays' order, equal ones included
    right: NDArray[np.int64]  # (n,)
    offsets: NDArray[np.int64] | None  # (n_cases + 1,); None: each row is a case of its own
    questions: NDArray[np.int64]  # (n_cases,) or (n,)

    @classmethod
    def of(
        cls, right: NDArray[np.int64], offsets: NDArray[np.int64], *, one_is_right: bool
    ) -> Cases:
        """Return the cases of questions whose candidates are ``offsets[i]:offsets[i + 1]``; `right`
        has 0 and 1.

        Where one candidate is right, each right candidate against the wrong ones of its question is
        a case: a question with several right candidates is several cases, and one without any, or
        without a wrong one, none.

        Examples
        --------
        >>> cases = Cases.of(np.array([1, 0, 1, 0, 0]), np.array([0, 3, 5]), one_is_right=True)
        >>> cases.rows.tolist(), cases.right.tolist(), cases.offsets.tolist()
        ([0, 1, 1, 2], [1, 0, 0, 1], [0, 2, 4])
        """
        sizes = np.diff(offsets)
        question = np.repeat(np.arange(len(sizes)), sizes)
        if not one_is_right:
            return cls(np.arange(len(right)), right, None, question)
        n_right = np.bincount(question, weights=right, minlength=len(sizes)).astype(np.int64)
        right_rows = np.flatnonzero(right)
        right_rows = right_rows[sizes[question[right_rows]] > n_right[question[right_rows]]]
        case_questions = question[right_rows]
        rows = ragged_indices(offsets[case_questions], sizes[case_questions])
        case = np.repeat(np.arange(len(right_rows)), sizes[case_questions])
        is_right = rows == right_rows[case]
        in_case = is_right | (right[rows] == 0)
        counts = np.bincount(case[in_case], minlength=len(right_rows))
        return cls(
            rows[in_case], is_right[in_case].astype(np.int64), offsets_of(counts), case_questions
        )

    def select(self, questions: NDArray[np.bool_]) -> Cases:
        """Return the cases of some questions, given a flag for each question."""
        return self.take(np.flatnonzero(questions[self.questions]))

    def take(self, cases: NDArray[np.int64]) -> Cases:
        """Return some cases."""
        questions = self.questions[cases]
        if self.offsets is None:
            return Cases(self.rows[cases], self.right[cases], None, questions)
        sizes = np.diff(self.offsets)[cases]
        rows = ragged_indices(self.offsets[cases], sizes)
        return Cases(self.rows[rows], self.right[rows], offsets_of(sizes), questions)

    def loss(self, scores: NDArray[np.float64]) -> float:
        """Return the sum of the log losses of a score for each candidate."""
        row_scores = scores[self.rows]
        if self.offsets is None:
            return float(np.logaddexp(0, np.where(self.right > 0, -row_scores, row_scores)).sum())
        if not len(row_scores):
            return 0.0
        # The largest score is taken off, so that no exponential overflows.
        row_scores = row_scores - _best_in_case(row_scores, self.offsets)
        totals = np.add.reduceat(np.exp(row_scores), self.offsets[:-1])
        return float(np.log(totals).sum() - row_scores[self.right > 0].sum())

    def hits(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how right a score for each candidate is in each case: 1, or 1/k if k rows are
        best; without cases of several rows, whether its sign is right.
        """
        row_scores, is_right = scores[self.rows], self.right > 0
        if self.offsets is None:
            return ((row_scores > 0) == is_right).astype(np.float64)
        is_best = row_scores == _best_in_case(row_scores, self.offsets)
        n_best = np.add.reduceat(is_best, self.offsets[:-1], dtype=np.int64)
        return is_best[is_right] / n_best


def _best_in_case(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the best score of each row's case."""
    best = np.maximum.reduceat(scores, offsets[:-1])
    return np.repeat(best, np.diff(offsets))


class _Compared(NamedTuple):
    """A strength that is compared with others."""

    C: float
    fit: HeldOutFit | None
    loss: float  # out of fold


class Learner(NamedTuple):
    """The features and the right answers of training, and the folds that hold questions out."""

    features: Features  # a row for each candidate
    cases: Cases
    offsets: NDArray[np.int64]  # (n_questions + 1,): the candidates of each question
    folds: NDArray[np.int64]  # (n_questions,)
    passages: NDArray[np.int64]  # (n_questions,)
    # A model ignores the sparse columns that fewer of the candidates it learns from have.
    min_count: int = 0
    # (n_crossed,): the dense columns that the sparse ones repeat for each type, if they do so
    crossed: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.folds.max(initial=-1)) + 1

    def choose_strength(self) -> float:
        """Return the member of :data:`GRID` with the least loss out of fold.

        Penalties become weaker until one no longer reduces the loss.
        """
        step = -(-len(self.cases.rows) // MOST_ROWS)
        cases = self.cases.select(self.passages % max(step, 1) == 0)
        if not self.features.shape[1] or not len(cases.rows):
            return GRID[0]
        cases, typed = self._by_type(cases)
        # `typed` replaces the sparse columns that repeat dense ones.
        features = self.features._replace(sparse=None) if len(self.crossed) else self.features
        folds = self.folds[cases.questions]
        if cases.offsets is not None:
            folds = np.repeat(folds, np.diff(cases.offsets))
        features, _ = _frequent(_take_rows(features, cases.rows), self.min_count)
        fits = HeldOutFits(features, cases.right, cases.offsets, folds, typed, self.min_count)
        scores = np.zeros(int(self.offsets[-1]))

        def compared(C: float, tolerance: float, start: HeldOutFit | None) -> _Compared:
            fit = fits.fit(C, tolerance, start)
            scores[cases.rows] = fits.held_out(fit)
            return _Compared(C, fit, cases.loss(scores))

        best = _Compared(GRID[0], None, np.inf)
        for C in tracked(GRID, len(GRID), share=0.6):
            weaker = compared(C, _ROUGH, best.fit)
            if abs(weaker.loss - best.loss) < _NEAR * weaker.loss:
                best, weaker = (
                    compared(strength.C, _CLOSE, strength.fit) for strength in (best, weaker)
                )
            if weaker.loss >= best.loss:
                break
            best = weaker
        return best.C

    def _by_type(self, cases: Cases) -> tuple[Cases, TypedColumns]:
        """Return cases in the order of their questions' types, with the columns of types."""
        n_crossed, sparse = len(self.crossed), self.features.sparse
        if not n_crossed or sparse is None:
            return cases, TypedColumns.none(len(cases.rows))
        # All entries of a row are columns of its type.
        types = sparse.indices[::n_crossed] // n_crossed
        first = cases.rows if cases.offsets is None else cases.rows[cases.offsets[:-1]]
        cases = cases.take(np.argsort(types[first], kind="stable"))
        ends = np.searchsorted(types[cases.rows], np.arange(N_TYPES + 1))
        return cases, TypedColumns(self.crossed, ends)

    def score_out_of_fold(self, C: float) -> NDArray[np.float64]:
        """Return each candidate's score by a model of the other folds: shape (n_candidates,)."""
        scores = np.zeros(int(self.offsets[-1]))
        for k in tracked(range(self.n_folds), self.n_folds, share=0.7):
            rows = self._rows_of(self.folds == k)
            scores[rows] = self.score_without(k, C, rows)
        return scores

    def score_without(self, fold: int, C: float, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of some candidates by a model of all folds but one."""
        model = _Model(self.features, self.cases.select(self.folds != fold), self.min_count)
        model.fit(C)
        return weighted_sums(self.features, model.weights, rows)

    def fit(self, C: float) -> tuple[NDArray[np.float64], bool]:
        """Return the weights of a model of all cases, and whether it converged."""
        model = _Model(self.features, self.cases, self.min_count)
        model.fit(C)
        return model.weights, model.converged

    def _rows_of(self, questions: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.flatnonzero(np.repeat(questions, np.diff(self.offsets)))


class _Model:
    """A model of some cases; each fit starts from the weights of the one before."""

    def __init__(self, features: Features, cases: Cases, min_count: int) -> None:
        self._cases, self._n_columns = cases, features.shape[1]
        self._features, self._columns = _frequent(_take_rows(features, cases.rows), min_count)
        self._weights = np.zeros(len(self._columns))
        self.converged = True

    def fit(self, C: float, tolerance: float = _EXACT) -> None:
        if len(self._columns) and len(self._cases.rows):
            right, offsets = self._cases.right, self._cases.offsets
            fit = fit_logistic(
                self._features, right, C, offsets=offsets, start=self._weights, tolerance=tolerance
            )
            self._weights, self.converged = fit.weights, fit.converged

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of all columns, 0 for those that are not learned."""
        weights = np.zeros(self._n_columns)
        weights[self._columns] = self._weights
        return weights


def _take_rows(features: Features, rows: NDArray[np.int64]) -> Features:
    """Return some rows; if they are all, in order, without a copy."""
    if np.array_equal(rows, np.arange(features.shape[0])):
        return features
    return Features(*(None if block is None else block[rows] for block in features))


def _frequent(features: Features, min_count: int) -> tuple[Features, NDArray[np.int64]]:
    """Return the dense columns and the sparse ones that enough rows have, and which these are."""
    dense, sparse = features
    if sparse is None or not min_count:
        return features, np.arange(features.shape[1])
    n_dense = features.shape[1] - sparse.shape[1]
    used = np.flatnonzero(np.bincount(sparse.indices, minlength=sparse.shape[1]) >= min_count)
    columns = np.concatenate((np.arange(n_dense), n_dense + used))
    return Features(dense, sparse[:, used]), columns


def weighted_sums(
    features: Features, weights: NDArray[np.float64], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the weighted sums of some rows of the features: shape (len(rows),)."""
    n_dense = 0 if features.dense is None else features.dense.shape[1]
    result = np.zeros(len(rows))
    for start in range(0, len(rows), _BLOCK_ROWS):
        block_rows = rows[start : start + _BLOCK_ROWS]
        sums = result[start : start + _BLOCK_ROWS]
        if features.dense is not None:
            sums += features.dense[block_rows].astype(np.float64) @ weights[:n_dense]
        if features.sparse is not None:
            sums += features.sparse[block_rows] @ weights[n_dense:]
    return result


def fold_numbers(
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], n: int
) -> NDArray[np.int64]:
    """Return the fold of each of `n` questions."""
    numbers = np.zeros(n, dtype=np.int64)
    for k, (_, members) in enumerate(folds):
        numbers[members] = k
    return numbers
