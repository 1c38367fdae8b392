"""Scores without copies: what systems reach on the questions that repeat nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.duplicates import COPIES, paired_ids
from classic_rc.commands.check.kinds import Finding
from classic_rc.folds import passage_groups
from classic_rc.metrics.base import Metric
from classic_rc.questions import Dataset
from classic_rc.results.evaluation import Evaluation
from classic_rc.results.resampling import Interval, Resampling
from classic_rc.results.significance import subset_intervals


@dataclass(frozen=True, slots=True)
class ScoreWithout:
    """A system's main metric on all questions, and on those that are not copies
    (:func:`copied_questions`).
    """

    system: str
    trained_on: str | None
    metric: Metric
    questions: int
    left: int
    value: float  # on all questions, a fraction
    interval: Interval | None  # over resampled passages; None with fewer than two groups
    value_left: float | None  # on the questions that are left; None if none is
    interval_left: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"metric": self.metric.name}


def copied_questions(dataset: Dataset, duplicates: Iterable[Finding]) -> NDArray[np.bool_]:
    """Return which questions repeat, or have passages that repeat, training data or an earlier part
    of the dataset.

    Equal and near copies count: the findings of
    :data:`~classic_rc.commands.check.duplicates.COPIES`.
    """
    findings = list(duplicates)
    of_passages = {name for name in COPIES if name.startswith("passage-")}
    passages = paired_ids(findings, of_passages)
    questions = paired_ids(findings, COPIES - of_passages)
    return np.array([q.id in questions or q.passage.id in passages for q in dataset], dtype=bool)


def score_without(
    evaluation: Evaluation, duplicates: Iterable[Finding], *, resamples: int = 10_000, seed: int = 0
) -> tuple[ScoreWithout, ...]:
    """Score systems on all questions, and without those that are copies.

    Parameters
    ----------
    evaluation : Evaluation
    duplicates : iterable of Finding
        As for :func:`copied_questions`, which says what a copy is.
    resamples, seed : int
        Of the intervals, over groups of passages.

    Returns
    -------
    tuple of ScoreWithout
        One per row, in the order of the rows.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.commands.check.duplicates import find_duplicates
    >>> data = classic_rc.load("sample:single-choice")
    >>> duplicates = find_duplicates(data, data[:12])
    >>> scores = score_without(classic_rc.evaluate(data, ["sw+d"]), duplicates)
    >>> scores[0].questions, scores[0].left
    (24, 12)
    """
    dataset, metric = evaluation.dataset, evaluation.primary
    left = ~copied_questions(dataset, duplicates)
    groups = passage_groups(dataset)
    resampling = Resampling.of(groups, resamples, seed)
    measured = [(metric, row.outcomes.statistics[metric.name]) for row in evaluation.rows]
    intervals = subset_intervals(measured, groups, np.ones(len(left), dtype=bool), resampling)
    left_intervals = subset_intervals(measured, groups, left, resampling)
    return tuple(
        ScoreWithout(
            row.name,
            row.trained_on,
            metric,
            len(left),
            int(left.sum()),
            metric.aggregate(statistics),
            interval,
            metric.aggregate(statistics[left]) if left.any() else None,
            left_interval,
        )
        for row, (_, statistics), interval, left_interval in zip(
            evaluation.rows, measured, intervals, left_intervals, strict=True
        )
    )
