"""What the multiple-answer metrics share: a selection matters only through how many options it gets right.

A question enters those metrics through four counts: selected and right (tp), selected and wrong (fp), right
(selected or not), and options. Ties and selection by chance are then the same thing: several outcomes of one
question, each with a weight.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.base import Metric, known_gold
from classic_rc.predictions import Prediction
from classic_rc.questions import Question, Task


@dataclass(frozen=True, slots=True)
class Counts:
    """Selections told by their counts; all arrays of float64, shape (n,).

    Parameters
    ----------
    tp, fp : ndarray
        Options selected and right; selected and wrong.
    right : ndarray
        Right options, selected or not.
    options : ndarray
        All options.
    """

    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    right: NDArray[np.float64]
    options: NDArray[np.float64]

    @property
    def selected(self) -> NDArray[np.float64]:
        """Options selected."""
        return self.tp + self.fp

    @property
    def mislabelled(self) -> NDArray[np.float64]:
        """Options selected and wrong, or right and not selected."""
        return self.fp + self.right - self.tp


class SelectionMetric(Metric):
    """A metric whose statistics of a question follow from its :class:`Counts`.

    Several tied answers give the weighted mean of their statistics. Where a prediction is a selection
    probability, every option is selected independently with it, and the statistics are exact expectations
    (sums over the binomial grid of tp and fp); the usual aggregate follows. So F1m of a random selection is the
    harmonic mean of the expected precision and the expected recall, not the expectation of F1m. A prediction
    without any answer counts as every option labelled wrongly.
    """

    tasks = frozenset({Task.MULTIPLE_ANSWER})

    @abstractmethod
    def of_counts(self, counts: Counts) -> NDArray[np.float64]:
        """The statistics of `n` selections, shape (n, n_statistics)."""

    def statistics(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> NDArray[np.float64]:
        """The weighted means of :meth:`of_counts` over each question's outcomes, shape (n_questions, k)."""
        outcomes = [
            (i, *outcome, len(known_gold(question)), len(question.candidates))
            for i, (question, prediction) in enumerate(zip(questions, predictions, strict=True))
            for outcome in _outcomes(question, prediction)
        ]
        of_question, weight, *counts = np.array(outcomes, dtype=np.float64).reshape(-1, 6).T
        values = weight[:, None] * self.of_counts(Counts(*counts))
        rows = np.zeros((len(questions), values.shape[1]))
        np.add.at(rows, of_question.astype(np.int64), values)
        return rows


Outcome = tuple[float, int, int]  # weight, tp, fp


def _outcomes(question: Question, prediction: Prediction) -> Sequence[Outcome]:
    gold = known_gold(question)
    wrong = len(question.candidates) - len(gold)
    if prediction.selection_probability is not None:
        return _independent_selections(len(gold), wrong, prediction.selection_probability)
    if not prediction.answers:
        return [(1.0, 0, wrong)]
    weights = prediction.weights or [1 / len(prediction.answers)] * len(prediction.answers)
    right = [len(gold.intersection(answer)) for answer in prediction.answers]
    return [
        (weight, tp, len(answer) - tp)
        for weight, tp, answer in zip(weights, right, prediction.answers, strict=True)
    ]


@lru_cache(maxsize=1024)
def _independent_selections(right: int, wrong: int, probability: float) -> Sequence[Outcome]:
    return [
        (of_tp * of_fp, tp, fp)
        for tp, of_tp in enumerate(_binomial(right, probability))
        for fp, of_fp in enumerate(_binomial(wrong, probability))
    ]


def _binomial(n: int, probability: float) -> list[float]:
    """The probabilities of 0..n successes, one trial after the other: no factorial, so nothing overflows."""
    mass = np.ones(1)
    for _ in range(n):
        mass = np.convolve(mass, (1 - probability, probability))
    return mass.tolist()


def ratio_or_one(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """`part` / `whole`, and 1 where `whole` is 0."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 1.0)


def harmonic_mean(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """2 a b / (a + b), and 0 where both are 0."""
    return 2 * a * b / np.where(a + b > 0, a + b, 1)
