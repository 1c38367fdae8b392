"""Precision-recall curves: precision and recall at every threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import cut_points, sweep_thresholds
from classic_rc.errors import UsageError, unknown_name
from classic_rc.metrics.multirc import F1Answers, F1Macro, PrecisionRecallMetric, harmonic_mean
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question
from classic_rc.tables.model import frame_of_columns

if TYPE_CHECKING:
    import pandas


Average: TypeAlias = Literal["macro", "micro"]

AVERAGES: Mapping[str, PrecisionRecallMetric] = {"macro": F1Macro(), "micro": F1Answers()}
"""The averages over questions, each with the metric whose precision and recall it gives."""


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """A system's precision and recall at all thresholds, or at the one point of its decided
    answers.

    :meth:`from_scores` and :meth:`from_predictions` make it;
    :func:`classic_rc.reports.figures.precision_recall_figure` draws it. Every candidate counts as
    selected or not and as right or wrong, so the questions must have choices. Any number of
    candidates may be selected, even if only one is right. The macro average is the mean precision
    and the mean recall of the questions, as in Khashabi et al. 2018 (MultiRC), Figure 5, and in
    F1m: a question's precision is 1 if nothing is selected, its recall 1 if nothing is right. The
    micro average pools the options of all questions, as F1a does.
    """

    name: str  # the system's, in figures and tables
    average: Average
    # in 0..1, shape (n_cuts,), from nothing selected to everything selected
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]  # likewise
    # In falling order; candidates that score above one are selected. None for decided answers.
    thresholds: NDArray[np.float64] | None = None

    @classmethod
    def from_scores(
        cls,
        scores: Scores,
        questions: Sequence[Question],
        name: str = "scores",
        average: Average = "macro",
    ) -> Self:
        """Make the curve of a system's scores, exact at every threshold that makes a difference."""
        metric = _metric_of(average)
        check_choices(questions)
        thresholds = cut_points(scores)
        means = sweep_thresholds(metric, scores, questions, thresholds)
        return cls(name, average, *_clipped_rates(metric, means), thresholds)

    @classmethod
    def from_predictions(
        cls,
        predictions: Sequence[Prediction],
        questions: Sequence[Question],
        name: str = "predictions",
        average: Average = "macro",
    ) -> Self:
        """Make the one point of decided answers, for example of people or of a submission."""
        metric = _metric_of(average)
        check_choices(questions)
        means = metric.statistics(questions, predictions).mean(axis=0, keepdims=True)
        return cls(name, average, *_clipped_rates(metric, means))

    @property
    def is_point(self) -> bool:
        """Whether it is the one point of decided answers."""
        return self.thresholds is None

    @property
    def f1(self) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall, shape (n_cuts,): F1m for macro, F1a for
        micro averages.
        """
        return harmonic_mean(self.precision, self.recall)

    @property
    def average_precision(self) -> float | None:
        r"""The area under a micro curve: :math:`\sum_n (R_n - R_{n-1}) P_n`, without interpolation.

        It equals scikit-learn's ``average_precision_score`` over all options. It is None if there
        is no such area: for a point, if nothing is right, and for a macro curve, whose recall does
        not start at 0 and whose precision starts at 1 by convention.
        """
        if self.is_point or self.average != "micro" or self.recall[0] > 0:
            return None
        return float(np.sum(np.diff(self.recall) * self.precision[1:]))

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas frame with one row per cut.

        Its columns are ``threshold`` (missing for a point), ``precision``, ``recall`` and ``f1``.
        """
        thresholds = (
            np.full(len(self.precision), np.nan) if self.thresholds is None else self.thresholds
        )
        columns = {
            "threshold": thresholds,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }
        return frame_of_columns(columns)


def check_choices(questions: Sequence[Question]) -> None:
    """Raise a UsageError unless there are questions and each of their candidates is right or
    wrong.
    """
    if not len(questions):
        raise UsageError(
            "precision and recall need at least one question", field="questions", found="0"
        )
    task = questions[0].task
    if not task.has_choices:
        raise UsageError(
            f"precision and recall need candidates that are each right or wrong: gold of {task} "
            "questions is text",
            field="questions",
            found=str(task),
        )


def _metric_of(average: str) -> PrecisionRecallMetric:
    if average not in AVERAGES:
        raise unknown_name("average", average, AVERAGES)
    return AVERAGES[average]


def _clipped_rates(
    metric: PrecisionRecallMetric, means: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return precision and recall, clipped: rounding may push sums of fractions just above 1."""
    precision, recall = metric.precision_and_recall(means)
    return np.clip(precision, 0, 1), np.clip(recall, 0, 1)
