"""Intervals of metrics over groups of passages: exact bounds of means, the bootstrap of ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.base import Metric
from classic_rc.results.mean_intervals import difference_interval, mean_interval
from classic_rc.results.resampling import (
    Interval,
    Resampling,
    interval_of_runs,
    is_mean,
    resample_means,
)


def resample_metrics(
    measured: Sequence[tuple[Metric, NDArray[np.float64]]],
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
) -> list[NDArray[np.float64]]:
    """Return the bootstrap distributions of several metrics, each given with its statistics, on the
    same resamples.

    So the difference of two distributions is a paired bootstrap. For several runs, it belongs to
    their mean.
    """
    if not measured:
        return []
    flat = [rows.reshape(len(rows), -1) for _, rows in measured]
    means = resample_means(np.hstack(flat), groups, n=n, seed=seed)
    widths = [rows.shape[1] for rows in flat]
    parts = np.split(means, np.cumsum(widths)[:-1], axis=1)
    distributions = []
    for (metric, rows), metric_means in zip(measured, parts, strict=True):
        resampled = metric_means.reshape(-1, *rows.shape[1:])
        distributions.append(metric.of_questions(resampled))
    return distributions


def subset_intervals(
    measured: Sequence[tuple[Metric, NDArray[np.float64]]],
    groups: NDArray[np.int64],
    subset: NDArray[np.bool_],
    resampling: Resampling,
) -> list[Interval | None]:
    """Return the intervals of metrics over a subset of the questions, from the subset's groups
    only.

    An interval is None if the subset has fewer than two groups.
    """
    subset_groups = renumber(groups[subset])
    if subset_groups.max(initial=0) < 1:
        return [None] * len(measured)
    parts = [(metric, rows[subset]) for metric, rows in measured]
    drawn = resample_ratios(parts, subset_groups, resampling)
    intervals: list[Interval | None] = []
    for (metric, rows), ratios in zip(parts, drawn, strict=True):
        interval = interval_of(metric, [rows], [ratios], subset_groups, resampling.level)
        intervals.append(interval)
    return intervals


def resample_ratios(
    measured: Sequence[tuple[Metric, NDArray[np.float64]]],
    groups: NDArray[np.int64],
    resampling: Resampling,
) -> list[NDArray[np.float64] | None]:
    """Return the bootstrap distribution of each metric that is a ratio of means, None for means."""
    ratios = [(metric, rows) for metric, rows in measured if not is_mean(metric)]
    drawn = iter(resample_metrics(ratios, groups, n=resampling.n, seed=resampling.seed))
    return [None if is_mean(metric) else next(drawn) for metric, _ in measured]


def interval_of(
    metric: Metric,
    rows: Sequence[NDArray[np.float64]],
    drawn: Sequence[NDArray[np.float64] | None],
    groups: NDArray[np.int64],
    level: float = 0.95,
) -> Interval:
    """Return the interval of a metric for one system, or of the difference of two systems.

    A mean has the bounds of :mod:`classic_rc.results.mean_intervals`, a ratio those of the
    bootstrap. If all resamples of a ratio agree, which does not show that it is certain, its bounds
    are those of the mean of the questions' own values, such as 1 for each question.

    Parameters
    ----------
    metric : Metric
    rows : sequence of ndarray
        The statistics of one system or two.
    drawn : sequence of ndarray or None
        What :func:`resample_ratios` returns for them.
    groups : ndarray of int64, shape (n_questions,)
        Group numbers from 0 without gaps; two groups or more.
    level : float
        The level of the interval.
    """
    if is_mean(metric):
        return _bounded_interval([statistics[..., 0] for statistics in rows], groups, level)
    distributions = [ratios for ratios in drawn if ratios is not None]
    value, distribution = metric.aggregate(rows[0]), distributions[0]
    if len(rows) > 1:
        value -= metric.aggregate(rows[1])
        distribution = distribution - distributions[1]
    runs = [metric.of_runs(statistics) for statistics in rows]
    interval = interval_of_runs(value, distribution, runs, int(groups.max()) + 1, level)
    if interval.low < interval.high:
        return interval
    # Questions without any count, such as those without an answer in "HasAns", change no ratio.
    has_counts = [statistics.reshape(len(statistics), -1).any(axis=1) for statistics in rows]
    counted = np.any(has_counts, axis=0)
    counted |= not counted.any()  # an interval needs questions: all of them, if none has a count
    outcomes = [metric.of_questions(statistics[counted]) for statistics in rows]
    return _bounded_interval(outcomes, renumber(groups[counted]), level)


def _bounded_interval(
    outcomes: Sequence[NDArray[np.float64]], groups: NDArray[np.int64], level: float
) -> Interval:
    if len(outcomes) > 1:
        return difference_interval(outcomes[0], outcomes[1], groups, level)
    return mean_interval(outcomes[0], groups, level)


def renumber(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return group numbers without gaps."""
    return np.unique(groups, return_inverse=True)[1].reshape(-1)
