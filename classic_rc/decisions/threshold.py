"""All candidates above a threshold, a given one or the best of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from classic_rc.decisions.base import Decision
from classic_rc.decisions.cuts import Cuts, cut_points, sweep
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.metrics import selection_metric
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task


class Threshold(Decision):
    """Every candidate whose score is above a value.

    Parameters
    ----------
    value : float
    """

    def __init__(self, *, value: float = 0.5) -> None:
        self.value = value

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the threshold."""
        return _above(self.value, scores, questions)


class TunedThreshold(Decision):
    """Every candidate whose score is above the value that is best for a metric on the questions of `fit`.

    Parameters
    ----------
    metric : str
        A metric of multiple-answer questions: ``"f1_a"``, ``"f1_m"``, ``"em0"``, …, or ``"accuracy"``, the
        share of options labelled rightly. All are in :data:`classic_rc.metrics.SELECTION_METRICS`.
    cuts : {"exact", "multirc2018"}
        The values that are tried: all that make a difference, or the grid of MultiRC's release; see
        :func:`classic_rc.decisions.cut_points`.

    Attributes
    ----------
    best_threshold_ : float
        Of equally good values the highest, which selects the fewest candidates. Exact ones lie halfway between
        two neighbouring scores, on the highest (nothing is selected) or below the lowest (everything is).
    best_score_ : float
        The metric there, in 0..1.
    """

    def __init__(self, *, metric: str = "f1_a", cuts: Cuts = "exact") -> None:
        self.metric = metric
        self.cuts = cuts

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`fit` has yet to be called."""
        return not hasattr(self, "best_threshold_")

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Try all cut points, in O(n log n) for n candidates.

        Raises
        ------
        UsageError
            The metric or the choice of cut points is unknown, or exact ones cannot be put between the scores.
        DataError
            A question's gold is hidden.
        """
        metric = selection_metric(self.metric)
        thresholds = cut_points(scores, self.cuts)
        values = metric.from_means(sweep(metric, scores, questions, thresholds))
        # Cumulative sums round in their last digits: do not let them choose among equals.
        best = int(np.flatnonzero(values >= values.max() - 1e-12)[0])
        self.best_threshold_, self.best_score_ = float(thresholds[best]), float(values[best])
        return self

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the tuned threshold."""
        if self.needs_fit:
            raise NotFittedError(
                "the threshold has not been tuned: call tune() with a split that has gold answers, "
                "or give a fixed one (decision=Threshold(value=…), on the command line --threshold)"
            )
        return _above(self.best_threshold_, scores, questions)


def _above(threshold: float, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
    if len(questions) and questions[0].task is not Task.MULTIPLE_ANSWER:
        raise UsageError(
            f"a threshold selects any number of candidates, and {questions[0].task} questions have one answer"
        )
    selected = [np.flatnonzero(row > threshold).tolist() for row in scores]
    return [
        Prediction(q.id, (frozenset(chosen),), n_candidates=len(row))
        for q, chosen, row in zip(questions, selected, scores, strict=True)
    ]
