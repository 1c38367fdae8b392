"""The features as the learner sees them: compared within a question, and crossed with the question's type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.logistic import Features
from classic_rc.solvers.feature_ranker.texts import QUESTION_TYPES

LIMIT = 5.0
"""The largest size of a feature in units of its standard deviation."""
_SAME = 1e-9
"""Values of a question's candidates that differ by less, relative to the largest of them, are equal."""
N_TYPES = len(QUESTION_TYPES) + 1
"""The types of questions, and one for questions without a type."""


class Compared(NamedTuple):
    """A feature of all candidates, compared within each question."""

    centred: NDArray[np.float64]  # (n,): the value minus the question's mean; exactly 0 where all are equal
    standard: NDArray[np.float64]  # (n,): the same, divided by twice the question's standard deviation


def compare(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> Compared:
    """Compare a feature's values within questions, which have the rows ``offsets[i]:offsets[i + 1]``."""
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
    """The units of the features, learned from training, and which features are crossed with types of questions.

    The learner's columns are the clipped centred features ("c") and the standardised ones ("z"); then, if several
    candidates can be right, the clipped standardised raw features and a column of ones; then c of each crossed
    feature for each type.
    """

    names: tuple[str, ...]  # of the features
    crossed: NDArray[np.int64]  # (n_crossed,): features, ascending
    scale: NDArray[np.float64]  # (n_features,): the standard deviation of centred values
    # (n_features,): mean and standard deviation of raw values; None if exactly one candidate is right.
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
        """Learn the units from the features of training candidates: shape (n_candidates, n_features)."""
        scale = np.ones(len(names))
        for j in range(len(names)):
            centred = compare(np.asarray(values[:, j], dtype=np.float64), offsets).centred
            scale[j] = _unit(np.sqrt(np.mean(centred * centred)) if len(centred) else 0.0)
        if not raw:
            return cls(tuple(names), crossed, scale, None, None)
        columns = [np.asarray(values[:, j], dtype=np.float64) for j in range(len(names))]
        mean = np.array([column.mean() if len(column) else 0.0 for column in columns])
        deviation = np.array([_unit(float(column.std())) if len(column) else 1.0 for column in columns])
        return cls(tuple(names), crossed, scale, mean, deviation)

    @property
    def n_dense(self) -> int:
        """The number of columns before the crossed ones."""
        return 2 * len(self.names) if self.mean is None else 3 * len(self.names) + 1

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.n_dense + len(self.crossed) * N_TYPES

    def terms(
        self, values: NDArray[np.floating[Any]], j: int, offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the columns c, z and raw of feature j."""
        own = np.asarray(values, dtype=np.float64)
        centred, standard = compare(own, offsets)
        raw = None
        if self.mean is not None and self.deviation is not None:
            raw = np.clip((own - self.mean[j]) / self.deviation[j], -LIMIT, LIMIT)
        return np.clip(centred / self.scale[j], -LIMIT, LIMIT), standard, raw

    def matrix(
        self, values: NDArray[np.floating[Any]], types: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> Features:
        """Return the learner's matrix, in float32.

        Parameters
        ----------
        values : ndarray, shape (n_candidates, n_features)
        types : ndarray of int64, shape (n_questions,)
        offsets : ndarray of int64, shape (n_questions + 1,)
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
        crossed = csr_matrix(
            (dense[:, self.crossed].ravel(), indices.ravel(), np.arange(n + 1) * k), (n, N_TYPES * k)
        )
        return Features(dense, crossed)


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
        self, values: NDArray[np.floating[Any]], types: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return what each feature adds to each candidate's score: shape (n_features, n_candidates).

        The columns of a feature are added one by one, and not by a matrix product, so that the digits do not depend
        on the other questions.
        """
        result = np.empty((len(self.design.names), len(values)))
        for j, (first, *others) in enumerate(self.columns(values, types, offsets)):
            result[j] = first.values * first.weights
            for column in others:
                result[j] += column.values * column.weights
        return result

    def columns(
        self, values: NDArray[np.floating[Any]], types: NDArray[np.int64], offsets: NDArray[np.int64]
    ) -> Iterator[list[WeightedColumn]]:
        """Yield the columns of each feature, with the weights that they have in each candidate's question."""
        design, f = self.design, len(self.design.names)
        of_type = np.zeros((N_TYPES, f))
        of_type[:, design.crossed] = self.weights[design.n_dense :].reshape(N_TYPES, -1)
        of_type += self.weights[:f]
        type_of = np.repeat(types, np.diff(offsets))
        for j in range(f):
            c, z, raw = design.terms(values[:, j], j, offsets)
            yield [
                WeightedColumn("minus the question's mean", c, of_type[type_of, j]),
                WeightedColumn("standardised in the question", z, self.weights[f + j]),
                *([] if raw is None else [WeightedColumn("standardised", raw, self.weights[2 * f + j])]),
            ]

    @property
    def bias(self) -> float:
        """What is added to every score."""
        return 0.0 if self.design.mean is None else float(self.weights[self.design.n_dense - 1])
