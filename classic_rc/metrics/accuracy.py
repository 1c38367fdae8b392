"""Accuracy of single-choice answers, and of the labels of options if several may be right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.base import Metric, gold_of
from classic_rc.metrics.multirc import OptionCounts, SelectionMetric, ratio_or_one
from classic_rc.predictions import Prediction
from classic_rc.questions import Question, Task


class Accuracy(Metric):
    """The share of questions whose chosen option is right.

    Under the tie policy ``partial``, a k-way tie scores 1/k for each right option in it, as on the MCTest site and
    in the ARC scorer. A question without an answer scores 0.
    """

    name = "accuracy"
    label = "Acc."
    description = "share of questions whose chosen option is right; a k-way tie scores 1/k"
    citation = "Richardson, Burges and Renshaw 2013, MCTest; partial credit as in the authors' released results"
    cites = ("richardson2013",)
    tasks = frozenset({Task.SINGLE_CHOICE})

    def statistics(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> NDArray[np.float64]:
        """Return the share of right answers among each question's tied ones, shape (n_questions, 1)."""
        pairs = zip(questions, predictions, strict=True)
        return np.array([_credit(gold_of(q), p) for q, p in pairs], dtype=np.float64).reshape(-1, 1)


class OptionAccuracy(SelectionMetric):
    """The share of all options of all questions that are labelled correctly; 1 if there is no option.

    Multiple-answer benchmarks do not report it, and tables leave it out. A threshold can be tuned for it.
    """

    name = "accuracy"
    label = "Acc."
    description = "share of options labelled correctly"
    citation = "accuracy of binary labels, over the pooled options of all questions"
    cites = ("classic_rc",)

    def of_counts(self, counts: OptionCounts) -> NDArray[np.float64]:
        """Return the numbers of correctly labelled options and of all options, shape (n, 2)."""
        return np.column_stack([counts.options - counts.mislabelled, counts.options])

    def from_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of the means, which equals the ratio of the sums."""
        return ratio_or_one(means[..., 0], means[..., 1])


def _credit(gold: frozenset[int], prediction: Prediction) -> float:
    answers = prediction.answers
    if len(answers) == 1 and prediction.weights is None:
        return float(bool(answers[0]) and gold.issuperset(answers[0]))
    right = [bool(answer) and gold.issuperset(answer) for answer in answers]
    if prediction.weights is None:
        return sum(right) / max(len(right), 1)
    return sum(weight for weight, is_right in zip(prediction.weights, right, strict=True) if is_right)
