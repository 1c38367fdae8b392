"""Thresholds on the scores of options: a fixed one, or one that is tuned for a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.base import Decision
from classic_rc.errors import NotFittedError, UsageError, wrong_value
from classic_rc.metrics.base import gold_of
from classic_rc.metrics.multirc import OptionCounts, SelectionMetric, selection_metric
from classic_rc.parameters import parameter
from classic_rc.predictions import Prediction, Scores
from classic_rc.protocol import Cuts
from classic_rc.questions import Question, Task

CUTS: tuple[Cuts, ...] = get_args(Cuts)
"""Which thresholds a tuned one is chosen from; :func:`cut_points` describes them."""


class Threshold(Decision):
    """The rule that selects every candidate whose score is above a given value."""

    value: float = parameter(0.5, "the threshold, in the solver's units")

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the threshold."""
        return _select_above(self.value, scores, questions)


class TunedThreshold(Decision):
    """The rule that selects every candidate whose score is above a threshold tuned for a metric.

    Attributes
    ----------
    best_threshold_ : float
        The best value on the questions of :meth:`fit`. Of equally good values it is the highest,
        which selects the fewest candidates. An exact value is halfway between two neighbouring
        scores, equal to the highest score (nothing is selected) or below the lowest (everything is
        selected).
    best_score_ : float
        The metric at that value, in 0..1.
    """

    metric: str = parameter(
        "f1_a",
        "a metric of multiple-answer questions: ``f1_a``, ``f1_m``, ``em0``, …, or ``accuracy``, "
        "the share of options labelled correctly. All are in "
        ":data:`classic_rc.metrics.SELECTION_METRICS`",
    )
    cuts: Cuts = parameter(
        "exact",
        "the values to try: all that make a difference, or the grid of MultiRC's release; see "
        ":func:`classic_rc.decisions.cut_points`",
        allowed=CUTS,
    )

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`fit` has not been called yet."""
        return not hasattr(self, "best_threshold_")

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Find the best cut point, in O(n log n) for n candidates.

        Raises
        ------
        UsageError
            The metric or `cuts` is unknown, or some scores are infinite and have no exact cut
            points.
        DataError
            A question's gold is hidden.
        """
        metric = selection_metric(self.metric)
        thresholds = cut_points(scores, self.cuts)
        values = metric.from_means(sweep_thresholds(metric, scores, questions, thresholds))
        # Cumulative sums have rounding errors in the last digits, which must not choose among equal
        # values.
        best = int(np.flatnonzero(values >= values.max() - 1e-12)[0])
        self.best_threshold_, self.best_score_ = float(thresholds[best]), float(values[best])
        return self

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the tuned threshold."""
        if self.needs_fit:
            raise NotFittedError(
                "the threshold has not been tuned: call tune() with a split that has gold answers, "
                "or use a fixed one (decision=Threshold(value=…), on the command line --threshold)",
                field="decision",
                found="TunedThreshold",
                expected="a tuned or a fixed threshold",
            )
        return _select_above(self.best_threshold_, scores, questions)


def cut_points(scores: Scores, cuts: Cuts = "exact") -> NDArray[np.float64]:
    """Return the thresholds to try on some scores, the highest first.

    Parameters
    ----------
    scores : Scores
    cuts : {"exact", "multirc2018"}
        ``"exact"``: every threshold that makes a difference, that is the highest score, the
        midpoint of each two neighbouring distinct scores, and one value below the lowest.
        ``"multirc2018"``: the fixed grid from -0.5 to 0.98 in steps of 0.02 of the tuning script in
        MultiRC's release, independent of the scores. The thresholds behind the released predictions
        (0.0499, -0.76) were set by hand and are not on it.

    Returns
    -------
    ndarray of float64, shape (n_cuts,)
        A candidate is selected if its score is *above* the threshold.

    Raises
    ------
    UsageError
        `cuts` is unknown, or it is ``"exact"`` and some scores are infinite.

    Examples
    --------
    >>> cut_points(Scores.from_lists([[3.0, 1.0], [1.0]]))
    array([3., 2., 0.])
    """
    if cuts == "multirc2018":
        return np.arange(-0.5, 1.0, 0.02)[::-1]
    if cuts != "exact":
        raise wrong_value("cuts", cuts, f"one of {', '.join(CUTS)}")
    finite = np.isfinite(scores.values)
    if not finite.all():
        infinite = str(scores.values[finite.argmin()])
        message = f"cannot tune a threshold on infinite scores, got {infinite}"
        raise UsageError(message, field="scores", found=infinite, expected="finite scores")
    falling = np.unique(scores.values)[::-1]
    if not len(falling):
        return np.zeros(1)
    upper, lower = falling[:-1], falling[1:]
    halfway = lower / 2 + upper / 2  # the sum of two scores might overflow
    # Neighbouring floats may have no midpoint; the lower one itself then separates the two.
    halfway = np.where((lower <= halfway) & (halfway < upper), halfway, lower)
    lowest = float(falling[-1])
    below = min(lowest - 1, math.nextafter(lowest, -math.inf))  # -1e17 - 1 is -1e17
    return np.concatenate((falling[:1], halfway, [below]))


def sweep_thresholds(
    metric: SelectionMetric,
    scores: Scores,
    questions: Sequence[Question],
    thresholds: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean statistics of a metric at many thresholds, exactly, in O(n log n) for all of
    them.

    One pass goes from the best candidate down: selecting a candidate changes the statistics of its
    question only.

    Parameters
    ----------
    metric : SelectionMetric
    scores : Scores
    questions : sequence of Question
        Questions of choices, with gold.
    thresholds : ndarray of float64, shape (n_cuts,)
        In any order.

    Returns
    -------
    ndarray of float64, shape (n_cuts, n_statistics)
        Ready for ``metric.from_means``.

    Raises
    ------
    UsageError
        The questions' gold is texts.
    DataError
        A question's gold is hidden.
    """
    gold = _gold_flags(scores, questions)
    question = np.repeat(np.arange(len(scores)), np.diff(scores.offsets))
    right = np.bincount(question, weights=gold, minlength=len(scores)).astype(np.float64)
    options = np.diff(scores.offsets).astype(np.float64)

    # Within each question, candidates are selected from the best down. `tp` counts the right ones
    # among them: the running total minus the right ones of all earlier questions.
    order = np.lexsort((-scores.values, question))
    selected = np.arange(len(order)) - scores.offsets[question] + 1.0
    tp = np.cumsum(gold[order]) - (np.cumsum(right) - right)[question]
    nothing = np.zeros_like(right)
    start = metric.of_counts(OptionCounts(nothing, nothing, right, options))
    after = metric.of_counts(OptionCounts(tp, selected - tp, right[question], options[question]))
    is_first = selected[:, None] == 1
    before = np.where(is_first, start[question], np.roll(after, 1, axis=0))
    changes = after - before
    del after, before, is_first

    # Over all questions, the same steps in the order of falling scores. The sort is stable, so tied
    # candidates of a question keep their order, and each step still starts from the one before it.
    falling = np.argsort(-scores.values[order], kind="stable")
    totals = np.concatenate((start.sum(axis=0)[None], changes[falling]))
    totals = np.cumsum(totals, axis=0)
    n_above = np.searchsorted(-scores.values[order][falling], -thresholds, side="left")
    return totals[n_above] / max(len(scores), 1)


def _select_above(
    threshold: float, scores: Scores, questions: Sequence[Question]
) -> list[Prediction]:
    if len(questions) and questions[0].task is not Task.MULTIPLE_ANSWER:
        task = questions[0].task
        message = f"a threshold needs multiple-answer questions, got {task} questions"
        raise UsageError(message, field="questions", found=task.value, expected="multiple-answer")
    predictions = []
    for question, row in zip(questions, scores, strict=True):
        selected = frozenset(np.flatnonzero(row > threshold).tolist())
        predictions.append(Prediction(question.id, (selected,), n_candidates=len(row)))
    return predictions


def _gold_flags(scores: Scores, questions: Sequence[Question]) -> NDArray[np.float64]:
    flags = np.zeros(len(scores.values))
    for question, start in zip(questions, scores.offsets[:-1].tolist(), strict=True):
        if not question.task.has_choices:
            raise UsageError(
                f"a threshold needs gold candidates, and gold of {question.task} questions is "
                "texts",
                field="questions",
                found=question.task.value,
                expected="single-choice or multiple-answer",
            )
        flags[[start + index for index in gold_of(question)]] = 1
    return flags
