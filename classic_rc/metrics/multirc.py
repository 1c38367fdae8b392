"""The multiple-answer metrics: only the number of options that a selection gets right matters.

They describe a question by four counts: selected and right (tp), selected and wrong (fp), right
(selected or not), and options. Ties and random selections are then the same thing: several outcomes
of one question, each with a weight.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import unknown_name
from classic_rc.metrics.base import METRICS, Metric, gold_of
from classic_rc.predictions import Prediction
from classic_rc.questions import Question, Task

_PAPER = (
    "Khashabi, Chaturvedi, Roth, Upadhyay and Roth 2018, Looking Beyond the Surface: A Challenge "
    "Set for Reading Comprehension over Multiple Sentences, with the conventions of the released "
    "multirc_measures.py"
)

_BLOCK = 1 << 14  # pairs of tp and fp that are measured at once
_LEAST_MASS = 1e-50
"""Smaller probabilities of a number of selected options count as 0: pairs of them change no digit,
and of 20,000 options most numbers are so unlikely. With p = 1/2 none of up to 166 options is.
"""


@dataclass(frozen=True, slots=True)
class OptionCounts:
    """The option counts of `n` selections; all arrays have shape (n,)."""

    tp: NDArray[np.float64]  # selected and right
    fp: NDArray[np.float64]  # selected and wrong
    right: NDArray[np.float64]  # right, selected or not
    options: NDArray[np.float64]  # all

    @property
    def selected(self) -> NDArray[np.float64]:
        """Numbers of selected options."""
        return self.tp + self.fp

    @property
    def mislabelled(self) -> NDArray[np.float64]:
        """Numbers of options that are selected and wrong, or right and not selected."""
        return self.fp + self.right - self.tp


class SelectionMetric(Metric):
    """A metric that computes a question's statistics from its :class:`OptionCounts`.

    Several tied answers give the weighted mean of their statistics. If a prediction is a selection
    probability, every option is selected independently with that probability. The statistics are
    then exact expectations (sums over the binomial grid of tp and fp), and the aggregate is the
    usual one. So F1m of a random selection is the harmonic mean of the expected precision and the
    expected recall, not the expectation of F1m. A prediction without any answer counts as labelling
    every option wrongly.
    """

    tasks = frozenset({Task.MULTIPLE_ANSWER})

    @abstractmethod
    def of_counts(self, counts: OptionCounts) -> NDArray[np.float64]:
        """Return the statistics of `n` selections, shape (n, n_statistics)."""

    def statistics(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> NDArray[np.float64]:
        """Return the weighted mean of :meth:`of_counts` over each question's outcomes, shape
        (n_questions, k).
        """
        outcomes = []
        for i, (question, prediction) in enumerate(zip(questions, predictions, strict=True)):
            sizes = len(gold_of(question)), len(question.candidates)
            outcomes += [(i, *outcome, *sizes) for outcome in _outcomes(question, prediction)]
        table = np.array(outcomes, dtype=np.float64).reshape(-1, 6)
        of_question, weight, *counts = table.T
        values = weight[:, None] * self.of_counts(OptionCounts(*counts))
        rows = np.zeros((len(questions), values.shape[1]))
        np.add.at(rows, of_question.astype(np.int64), values)
        expectation = cache(self._expectation)  # replaces the row of a random selection
        for row, question, prediction in zip(rows, questions, predictions, strict=True):
            if prediction.selection_probability is not None:
                right, options = len(gold_of(question)), len(question.candidates)
                row[:] = expectation(right, options, prediction.selection_probability)
        return rows

    def _expectation(self, right: int, options: int, probability: float) -> NDArray[np.float64]:
        """Return the mean of :meth:`of_counts` over independent selections, shape (k,)."""
        tp, of_tp = _binomial(right, probability)
        fp, of_fp = _binomial(options - right, probability)
        pairs = np.arange(len(tp) * len(fp))
        total = np.zeros(1)
        for start in range(0, len(pairs), _BLOCK):
            i, j = divmod(pairs[start : start + _BLOCK], len(fp))
            columns = np.broadcast_arrays(of_tp[i] * of_fp[j], tp[i], fp[j], right, options)
            weight, *counts = np.array(columns)
            values = weight[:, None] * self.of_counts(OptionCounts(*counts))
            values[0] += total
            total = np.cumsum(values, axis=0)[-1]  # term by term, whatever the size of a block
        return total


class PrecisionRecallMetric(SelectionMetric):
    """A metric that is the harmonic mean of one precision and one recall over all questions."""

    @abstractmethod
    def precision_and_recall(
        self, means: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return precision and recall from means of statistics, each of shape (...); see
        :meth:`from_means`.
        """

    def from_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the harmonic mean of precision and recall; 0 if both are 0."""
        return harmonic_mean(*self.precision_and_recall(means))


class F1Macro(PrecisionRecallMetric):
    r"""F1m: the harmonic mean of the average precision and the average recall of the questions.

    .. math:: F1_m = \frac{2 \bar P \bar R}{\bar P + \bar R}, \quad P(q) = \frac{tp}{tp + fp},
        \quad R(q) = \frac{tp}{\mathit{right}}

    P is 1 if nothing is selected and R is 1 if nothing is right, so a question without a selection
    raises the average precision.
    """

    name = "f1_m"
    label = "F1m"
    description = "harmonic mean of the questions' average precision and average recall"
    citation = _PAPER
    cites = ("khashabi2018multirc",)

    def of_counts(self, counts: OptionCounts) -> NDArray[np.float64]:
        """Return precision and recall of each selection, shape (n, 2)."""
        precision = ratio_or_one(counts.tp, counts.selected)
        recall = ratio_or_one(counts.tp, counts.right)
        return np.column_stack([precision, recall])

    def precision_and_recall(
        self, means: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the questions' average precision and average recall."""
        return means[..., 0], means[..., 1]


class F1Answers(PrecisionRecallMetric):
    r"""F1a: F1 over the pooled options of all questions.

    .. math:: F1_a = \frac{2 P R}{P + R}, \quad P = \frac{\sum tp}{\sum (tp + fp)},
        \quad R = \frac{\sum tp}{\sum \mathit{right}}

    P is 1 if no option of any question is selected, and R is 1 if no option of any question is
    right.
    """

    name = "f1_a"
    label = "F1a"
    description = "F1 over the pooled options of all questions"
    citation = _PAPER
    cites = ("khashabi2018multirc",)

    def of_counts(self, counts: OptionCounts) -> NDArray[np.float64]:
        """Return the numbers of options selected and right, selected, and right, shape (n, 3)."""
        return np.column_stack([counts.tp, counts.selected, counts.right])

    def precision_and_recall(
        self, means: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return precision and recall from the means, which have the same ratios as the sums."""
        tp, selected, right = (means[..., i] for i in range(3))
        return ratio_or_one(tp, selected), ratio_or_one(tp, right)


class _FewMislabelled(SelectionMetric):
    """The share of questions with at most `allowed` mislabelled options."""

    citation = _PAPER
    cites = ("khashabi2018multirc",)
    allowed: ClassVar[int]

    def of_counts(self, counts: OptionCounts) -> NDArray[np.float64]:
        """Return 1 for each selection that mislabels at most `allowed` options, else 0, shape
        (n, 1).
        """
        return (counts.mislabelled <= self.allowed).astype(np.float64)[:, None]


class EM0(_FewMislabelled):
    """EM0: the share of questions with every option labelled correctly; SuperGLUE's exact match."""

    name = "em0"
    label = "EM0"
    description = "share of questions with every option labelled correctly"
    allowed = 0


class EM1(_FewMislabelled):
    """EM1: the share of questions with at most one mislabelled option."""

    name = "em1"
    label = "EM1"
    description = "share of questions with at most one option mislabelled"
    allowed = 1


class SuperGLUEF1Macro(SelectionMetric):
    r"""The mean over questions of scikit-learn's macro-averaged F1 of the labels right and wrong.

    With fn = right - tp and tn = options - right - fp,

    .. math::

        F1_{right} = \frac{2 tp}{2 tp + fp + fn}, \quad F1_{wrong} = \frac{2 tn}{2 tn + fp + fn}

    and a question scores the mean of the two. If a label is neither among the gold labels nor among
    the predicted ones, the question scores only the other F1. Macro-averaging uses the labels that
    occur, and a label that occurs has a positive denominator, so `zero_division` of
    ``sklearn.metrics.f1_score`` never has an effect. A question without options, which scikit-learn
    refuses, scores 0.

    The paper's F1m (:class:`classic_rc.metrics.multirc.F1Macro`) is another quantity; the two must
    not share a column.
    """

    name = "superglue_f1_m"
    label = "F1m (SuperGLUE)"
    description = (
        "mean of the questions' macro-averaged F1, as Hugging Face's super_glue multirc reports "
        "f1_m"
    )
    citation = (
        "Wang et al. 2019, SuperGLUE, as computed by the super_glue metric of Hugging Face's "
        "evaluate"
    )
    cites = ("wang2019", "khashabi2018multirc")

    def of_counts(self, counts: OptionCounts) -> NDArray[np.float64]:
        """Return the macro-averaged F1 of each selection, shape (n, 1)."""
        wrong = counts.mislabelled
        hits = np.stack([counts.tp, counts.options - counts.right - counts.fp])
        denominators = 2 * hits + wrong
        occurs = denominators > 0
        f1 = 2 * hits / np.where(occurs, denominators, 1)
        return (f1.sum(axis=0) / np.maximum(occurs.sum(axis=0), 1))[:, None]


def ratio_or_one(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `numerator` / `denominator`, or 1 where `denominator` is 0."""
    is_positive = denominator > 0
    return np.where(is_positive, numerator / np.where(is_positive, denominator, 1), 1.0)


def harmonic_mean(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2 a b / (a + b), or 0 where both are 0."""
    total = a + b
    return 2 * a * b / np.where(total > 0, total, 1)


Outcome = tuple[float, int, int]  # weight, tp, fp


def _outcomes(question: Question, prediction: Prediction) -> Sequence[Outcome]:
    gold = gold_of(question)
    wrong = len(question.candidates) - len(gold)
    if not prediction.answers:
        return [(1.0, 0, wrong)]
    weights = prediction.weights or [1 / len(prediction.answers)] * len(prediction.answers)
    outcomes: list[Outcome] = []
    for weight, answer in zip(weights, prediction.answers, strict=True):
        tp = len(gold.intersection(answer))
        outcomes.append((weight, tp, len(answer) - tp))
    answered = prediction.answered_share
    return outcomes if answered == 1 else [*outcomes, (1 - answered, 0, wrong)]


@lru_cache(maxsize=1024)
def _binomial(n: int, probability: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of successes that count, and their probabilities.

    They are computed trial by trial: without factorials nothing overflows.
    """
    mass = np.ones(1)
    for _ in range(n):
        mass = np.convolve(mass, (1 - probability, probability))
    successes = np.flatnonzero(mass > _LEAST_MASS)
    return successes, mass[successes]


class OptionAccuracy(SelectionMetric):
    """The share of all options of all questions that are labelled correctly; 1 if there is no
    option.

    Multiple-answer benchmarks do not report it, and tables leave it out. A threshold can be tuned
    for it.
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


SELECTION_METRICS: dict[str, SelectionMetric] = {
    **{name: metric for name, metric in METRICS.own.items() if isinstance(metric, SelectionMetric)},
    "accuracy": OptionAccuracy(),
}
"""The metrics that a threshold can be tuned for, by name. Tables show all but the accuracy,
which here is the accuracy of options.
"""


def selection_metric(name: str) -> SelectionMetric:
    """Return the metric of a name among those of multiple-answer questions.

    Raises
    ------
    UsageError
        The name is unknown; the message suggests the closest names.

    Examples
    --------
    >>> selection_metric("accuracy").description
    'share of options labelled correctly'
    """
    try:
        return SELECTION_METRICS[name]
    except KeyError:
        raise unknown_name("multiple-answer metric", name, SELECTION_METRICS) from None
