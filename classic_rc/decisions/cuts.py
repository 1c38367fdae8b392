"""Cut points: which thresholds to try, and what a metric's statistics are at each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.metrics.base import known_gold
from classic_rc.metrics.selection import Counts, SelectionMetric
from classic_rc.predictions import Scores
from classic_rc.questions import Question

Cuts: TypeAlias = Literal["exact", "multirc2018"]
CUTS: tuple[Cuts, ...] = get_args(Cuts)


def cut_points(scores: Scores, cuts: Cuts = "exact") -> NDArray[np.float64]:
    """The thresholds to try on some scores, the highest first.

    Parameters
    ----------
    scores : Scores
    cuts : {"exact", "multirc2018"}
        Every threshold that makes a difference: the highest score, halfway between each two neighbouring
        distinct ones, and one below the lowest. Or the fixed grid from -0.5 to 0.98 in steps of 0.02 of the
        tuning script in MultiRC's release, whatever the scores; the thresholds behind the released
        predictions (0.0499, -0.76) were set by hand and are not on it.

    Returns
    -------
    ndarray of float64, shape (n_cuts,)
        A candidate is selected where its score is *above* the threshold.

    Raises
    ------
    UsageError
        `cuts` is unknown, or exact ones are wanted between infinite scores.

    Examples
    --------
    >>> cut_points(Scores.from_lists([[3.0, 1.0], [1.0]]))
    array([3., 2., 0.])
    """
    if cuts == "multirc2018":
        return np.arange(-0.5, 1.0, 0.02)[::-1]
    if cuts != "exact":
        raise UsageError(f"cuts must be one of {', '.join(CUTS)}, got {cuts!r}")
    if not np.isfinite(scores.values).all():
        raise UsageError("no threshold can be put between scores of which some are infinite")
    falling = np.unique(scores.values)[::-1]
    if not len(falling):
        return np.zeros(1)
    upper, lower = falling[:-1], falling[1:]
    halfway = lower / 2 + upper / 2
    # Nothing may lie halfway between neighbouring floats; the lower one itself then parts the two.
    halfway = np.where((lower <= halfway) & (halfway < upper), halfway, lower)
    lowest = float(falling[-1])
    below = min(lowest - 1, math.nextafter(lowest, -math.inf))
    return np.concatenate((falling[:1], halfway, [below]))


def sweep(
    metric: SelectionMetric, scores: Scores, questions: Sequence[Question], thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean statistics of a metric at many thresholds, as exact as one by one, in O(n log n) together.

    One pass from the best candidate down: selecting it changes its own question's statistics, and no other's.

    Parameters
    ----------
    metric : SelectionMetric
    scores : Scores
    questions : sequence of Question
        With gold choices.
    thresholds : ndarray of float64, shape (n_cuts,)
        In any order.

    Returns
    -------
    ndarray of float64, shape (n_cuts, n_statistics)
        Ready for ``metric.from_means``.

    Raises
    ------
    UsageError
        The questions have texts for gold.
    DataError
        A question's gold is hidden.
    """
    gold = _gold_flags(scores, questions)
    question = np.repeat(np.arange(len(scores)), np.diff(scores.offsets))
    right = np.bincount(question, weights=gold, minlength=len(scores)).astype(np.float64)
    options = np.diff(scores.offsets).astype(np.float64)

    # Within each question, candidates become selected from the best down.
    order = np.lexsort((-scores.values, question))
    selected = np.arange(len(order)) - scores.offsets[question] + 1.0
    tp = np.cumsum(gold[order]) - (np.cumsum(right) - right)[question]
    start = metric.of_counts(Counts(np.zeros_like(right), np.zeros_like(right), right, options))
    after = metric.of_counts(Counts(tp, selected - tp, right[question], options[question]))
    before = np.where(selected[:, None] == 1, start[question], np.roll(after, 1, axis=0))

    # Over all questions, the same steps in the order of falling scores.
    falling = np.argsort(-scores.values[order], kind="stable")
    totals = np.cumsum(np.concatenate((start.sum(axis=0)[None], (after - before)[falling])), axis=0)
    n_above = np.searchsorted(-scores.values[order][falling], -thresholds, side="left")
    return totals[n_above] / max(len(scores), 1)


def _gold_flags(scores: Scores, questions: Sequence[Question]) -> NDArray[np.float64]:
    flags = np.zeros(len(scores.values))
    for question, start in zip(questions, scores.offsets[:-1].tolist(), strict=True):
        if not question.task.has_choices:
            raise UsageError(
                f"a threshold needs candidates that are each right or wrong, and gold of {question.task} "
                "questions is texts"
            )
        flags[[start + index for index in known_gold(question)]] = 1
    return flags
