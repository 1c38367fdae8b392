"""MultiRC's metrics: F1m, F1a, EM0 and EM1."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.selection import Counts, SelectionMetric, harmonic_mean, ratio_or_one

_PAPER = (
    "Khashabi, Chaturvedi, Roth, Upadhyay and Roth 2018, Looking Beyond the Surface: A Challenge Set for Reading "
    "Comprehension over Multiple Sentences, with the conventions of the released multirc_measures.py"
)


class PrecisionRecallMetric(SelectionMetric):
    """The harmonic mean of one precision and one recall of all questions."""

    @abstractmethod
    def precision_and_recall(self, means: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both from means of statistics, each of shape (...); see :meth:`from_means`."""

    def from_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall; 0 where both are 0."""
        return harmonic_mean(*self.precision_and_recall(means))


class F1Macro(PrecisionRecallMetric):
    r"""F1m: the harmonic mean of the average precision and the average recall of the questions.

    .. math:: F1_m = \frac{2 \bar P \bar R}{\bar P + \bar R}, \quad P(q) = \frac{tp}{tp + fp},
        \quad R(q) = \frac{tp}{\mathit{right}}

    P is 1 where nothing is selected and R is 1 where nothing is right, so a question left empty raises the
    average precision.
    """

    name = "f1_m"
    label = "F1m"
    description = "harmonic mean of the questions' average precision and average recall"
    citation = _PAPER
    cites = ("khashabi2018multirc",)

    def of_counts(self, counts: Counts) -> NDArray[np.float64]:
        """Precision and recall of each selection, shape (n, 2)."""
        return np.column_stack([ratio_or_one(counts.tp, counts.selected), ratio_or_one(counts.tp, counts.right)])

    def precision_and_recall(self, means: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The average precision and the average recall of the questions."""
        return means[..., 0], means[..., 1]


class F1Answers(PrecisionRecallMetric):
    r"""F1a: F1 over all the options of all questions taken together.

    .. math:: F1_a = \frac{2 P R}{P + R}, \quad P = \frac{\sum tp}{\sum (tp + fp)},
        \quad R = \frac{\sum tp}{\sum \mathit{right}}

    P is 1 where nothing at all is selected and R is 1 where nothing at all is right.
    """

    name = "f1_a"
    label = "F1a"
    description = "F1 over all the options of all questions taken together"
    citation = _PAPER
    cites = ("khashabi2018multirc",)

    def of_counts(self, counts: Counts) -> NDArray[np.float64]:
        """Options selected and right, selected, and right, of each selection, shape (n, 3)."""
        return np.column_stack([counts.tp, counts.selected, counts.right])

    def precision_and_recall(self, means: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both from the means, which stand in the same ratios as the sums."""
        tp, selected, right = (means[..., i] for i in range(3))
        return ratio_or_one(tp, selected), ratio_or_one(tp, right)


class _FewMislabelled(SelectionMetric):
    citation = _PAPER
    cites = ("khashabi2018multirc",)
    allowed: ClassVar[int]

    def of_counts(self, counts: Counts) -> NDArray[np.float64]:
        """1 for each selection that mislabels few enough options, else 0, shape (n, 1)."""
        return (counts.mislabelled <= self.allowed).astype(np.float64)[:, None]


class EM0(_FewMislabelled):
    """EM0: the share of questions with every option labelled rightly; SuperGLUE's exact match."""

    name = "em0"
    label = "EM0"
    description = "share of questions with every option labelled rightly"
    allowed = 0


class EM1(_FewMislabelled):
    """EM1: the share of questions with at most one option mislabelled."""

    name = "em1"
    label = "EM1"
    description = "share of questions with at most one option mislabelled"
    allowed = 1
