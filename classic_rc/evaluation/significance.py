"""Intervals and significance for the rows of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.evaluation.outcomes import Row
from classic_rc.evaluation.resampling import (
    Interval,
    Resampling,
    holm,
    percentile_interval,
    permutation_test,
    resample_means,
)
from classic_rc.evaluation.results import Evaluation, Significance, has_passages
from classic_rc.folds import passage_groups
from classic_rc.io.progress import progress_bar
from classic_rc.metrics.base import METRICS, Metric, metric_of_task
from classic_rc.protocol import Protocol


def with_significance(
    evaluation: Evaluation,
    baseline: str,
    n: int = 10_000,
    *,
    metric: str | None = None,
    seed: int = 0,
    group: str | None = None,
) -> Evaluation:
    """Add Holm-adjusted p-values against `baseline` for the primary metric of every other row.

    The test is the paired permutation test that swaps the two rows' outcomes for whole passages
    (:func:`~classic_rc.evaluation.resampling.permutation_test`). One metric is tested, named before the results are
    seen. Holm's method adjusts the p-values of all rows together. Each group of the evaluation (a column of the
    table) is a family of its own.

    Parameters
    ----------
    evaluation : Evaluation
    baseline : str
        The name of a row.
    n : int
        Number of random permutations.
    metric : str, optional
        The metric to test; by default the evaluation's primary one.
    seed : int
        The seed of the permutations.
    group : str, optional
        A key of `meta` whose equal values stay together, as equal passages do.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        No row, or more than one, has the name, or there is no other row, or the metric is not one of the task.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.evaluation import with_significance
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = with_significance(classic_rc.evaluate(dataset, ["longest", "sw+d"]), "longest")
    >>> longest, sw_d = evaluation.rows
    >>> longest.p_values, sw_d.p_values["accuracy"] > 0.05
    ({}, True)
    """
    names = [row.name for row in evaluation.rows]
    if baseline not in names:
        raise unknown_name(f"row of {evaluation.dataset.name}", baseline, names)
    if names.count(baseline) > 1:
        raise UsageError(
            f"baseline {baseline!r} is ambiguous: {names.count(baseline)} rows have that name",
            field="baseline",
            found=baseline,
        )
    if len(names) == 1:
        raise UsageError(
            f"nothing to compare with baseline {baseline!r}: it is the only row", field="baseline", found=baseline
        )
    assert evaluation.dataset.task is not None
    measure = metric_of_task(evaluation.dataset.task, metric or evaluation.primary.name)
    groups = passage_groups(evaluation.dataset, group)
    statistics = [row.outcomes.statistics[measure.name] for row in evaluation.rows]
    base = names.index(baseline)

    def adjusted(questions: NDArray[np.bool_] | slice) -> list[float]:
        rows = [own[questions] for own in statistics]
        return family_p_values(measure, rows, base, groups[questions], n=n, seed=seed)

    p_values = adjusted(slice(None))
    of_groups = {value: adjusted(mask) for value, mask in evaluation.groups.items() if mask.any()}
    rows = tuple(
        row
        if i == base
        else replace(
            row,
            p_values={measure.name: p_values[i]},
            group_p_values={value: of_group[i] for value, of_group in of_groups.items()},
        )
        for i, row in enumerate(replace(row, p_values={}, group_p_values={}) for row in evaluation.rows)
    )
    settings = Significance(baseline, measure.name, len(names) - 1, n, seed, group)
    return replace(evaluation, rows=rows, significance=settings)


def family_p_values(
    metric: Metric,
    rows: Sequence[NDArray[np.float64]],
    base: int,
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
) -> list[float]:
    """Return the p-values of all rows' differences from row `base` (1.0 for itself), adjusted by Holm's method.

    The rows are the metric's statistics of each system, `groups` the group of passages of each question.
    """
    pairs = [(i, base) for i in range(len(rows)) if i != base]
    found = pair_p_values(metric, rows, pairs, groups, n=n, seed=seed)
    return [found.get((i, base), 1.0) for i in range(len(rows))]


def pair_p_values(
    metric: Metric,
    rows: Sequence[NDArray[np.float64]],
    pairs: Sequence[tuple[int, int]],
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
) -> dict[tuple[int, int], float]:
    """Return the p-values of the differences of pairs of rows, adjusted together by Holm's method.

    The parameters are those of :func:`family_p_values`; `pairs` are indices in `rows`.
    """
    own = np.unique(groups, return_inverse=True)[1].reshape(-1)
    found = [permutation_test(metric, rows[i], rows[j], own, n=n, seed=seed).p for i, j in pairs]
    return dict(zip(pairs, holm(found).tolist(), strict=True))


def with_statistics(evaluation: Evaluation, protocol: Protocol, *, progress: bool = False) -> Evaluation:
    """Add the intervals and p-values that a protocol asks for.

    If the baseline has no row, or is the only row, a warning takes the place of the tests: the other results are
    not lost.
    """
    baseline, seed, group = protocol.baseline, protocol.seed or 0, protocol.group
    names = [row.name for row in evaluation.rows]
    with progress_bar(f"resampling {evaluation.dataset.name}", None, progress):
        if protocol.resamples is not None:
            evaluation = with_intervals(evaluation, protocol.resamples, seed=seed, group=group)
        if baseline is None:
            return evaluation
        if baseline in names and len(names) > 1:
            return with_significance(evaluation, baseline, seed=seed, group=group)
    reason = "it is the only row" if baseline in names else "it has no row here"
    warning = f"nothing is tested against the baseline {baseline}: {reason}"
    return replace(evaluation, warnings=(*evaluation.warnings, warning))


def with_intervals(
    evaluation: Evaluation, n: int = 10_000, *, seed: int = 0, level: float = 0.95, group: str | None = None
) -> Evaluation:
    """Add a bootstrap interval over groups of passages for every metric of every row.

    Answers stay as they are: the interval measures the uncertainty about which passages the dataset has, not about
    what a system would learn from others. All rows are resampled together, on the same passages. For a row that is
    an expectation over draws, it is the interval of the expectation.

    Parameters
    ----------
    evaluation : Evaluation
    n : int
        Number of resamples.
    seed : int
        The seed of the resamples.
    level : float
        The level of the intervals, above 0 and below 1.
    group : str, optional
        A key of `meta` (article, author) whose equal values stay together, as equal passages do.

    Returns
    -------
    Evaluation
        With a warning if there are fewer groups than
        :data:`~classic_rc.evaluation.resampling.MIN_RELIABLE_GROUPS`; without
        intervals, and with the reason, if there are fewer than two.

    Raises
    ------
    UsageError
        `n` is below 1, `level` is not between 0 and 1, or no question has the `group`.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.evaluation import with_intervals
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = with_intervals(classic_rc.evaluate(dataset, [classic_rc.parse_solver("sw+d")]))
    >>> low, high = evaluation.rows[0].intervals["accuracy"]
    >>> low < evaluation.rows[0].metrics()["accuracy"] < high
    True
    """
    groups = passage_groups(evaluation.dataset, group)
    unit = "passages" if has_passages(evaluation.dataset) else "questions"
    resampling = Resampling(int(groups.max(initial=-1)) + 1, n, seed, level, group, unit)
    rows = evaluation.rows
    if resampling.n_groups > 1:
        measured = [(METRICS[name], of) for row in rows for name, of in row.outcomes.statistics.items()]
        drawn = iter(resample_metrics(measured, groups, n=n, seed=seed))
        rows = tuple(
            replace(row, intervals={name: percentile_interval(next(drawn), level) for name in row.metrics()})
            for row in rows
        )
        rows = _with_group_intervals(replace(evaluation, rows=rows), groups, resampling)
    warnings = evaluation.warnings if resampling.warning is None else (*evaluation.warnings, resampling.warning)
    return replace(evaluation, rows=rows, resampling=resampling, warnings=warnings)


def _with_group_intervals(
    evaluation: Evaluation, groups: NDArray[np.int64], resampling: Resampling
) -> tuple[Row, ...]:
    """Return the rows with intervals for each of the evaluation's groups of questions."""
    row_intervals: list[dict[str, dict[str, Interval]]] = [{} for _ in evaluation.rows]
    measured = [(METRICS[name], of) for row in evaluation.rows for name, of in row.outcomes.statistics.items()]
    for value, mask in evaluation.groups.items():
        intervals = iter(subset_intervals(measured, groups, mask, resampling))
        for row, of_row in zip(evaluation.rows, row_intervals, strict=True):
            own = {name: next(intervals) for name in row.outcomes.statistics}
            of_row[value] = {name: interval for name, interval in own.items() if interval is not None}
    return tuple(replace(row, group_intervals=own) for row, own in zip(evaluation.rows, row_intervals, strict=True))


def resample_metrics(
    measured: Sequence[tuple[Metric, NDArray[np.float64]]],
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
) -> list[NDArray[np.float64]]:
    """Return the bootstrap distributions of several metrics, each given with its statistics.

    All use the same resamples (:func:`~classic_rc.evaluation.resampling.resample_means`), so the difference of two
    distributions is that of a paired bootstrap.
    """
    if not measured:
        return []
    ends = np.cumsum([rows.shape[1] for _, rows in measured])
    means = resample_means(np.hstack([rows for _, rows in measured]), groups, n=n, seed=seed)
    parts = np.split(means, ends[:-1], axis=1)
    return [metric.from_means(part) for (metric, _), part in zip(measured, parts, strict=True)]


def subset_intervals(
    measured: Sequence[tuple[Metric, NDArray[np.float64]]],
    groups: NDArray[np.int64],
    subset: NDArray[np.bool_],
    resampling: Resampling,
) -> list[Interval | None]:
    """Return the intervals of metrics over a subset of the questions; only the subset's groups are resampled.

    An interval is None if the subset has fewer than two groups.
    """
    own = np.unique(groups[subset], return_inverse=True)[1].reshape(-1)
    if int(own.max(initial=-1)) < 1:
        return [None] * len(measured)
    drawn = resample_metrics(
        [(metric, rows[subset]) for metric, rows in measured], own, n=resampling.n, seed=resampling.seed
    )
    return [percentile_interval(values, resampling.level) for values in drawn]
