"""Intervals and significance for the rows of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.folds import passage_groups
from classic_rc.io.progress import progress_bar
from classic_rc.metrics.base import METRICS, Metric, metric_of_task
from classic_rc.protocol import Protocol
from classic_rc.results.evaluation import Evaluation, Significance, has_passages
from classic_rc.results.mean_intervals import difference_interval, mean_interval
from classic_rc.results.outcomes import Tested
from classic_rc.results.resampling import (
    ALPHA,
    Interval,
    Resampling,
    holm,
    interval_of_runs,
    is_mean,
    permutation_test,
    resample_means,
)


def with_significance(
    evaluation: Evaluation,
    baseline: str | Sequence[str],
    n: int = 10_000,
    *,
    metric: str | None = None,
    seed: int = 0,
    group: str | None = None,
) -> Evaluation:
    """Add Holm-adjusted p-values against `baseline` for the primary metric of every other row.

    The test is the paired permutation test that swaps the two rows' outcomes for whole passages
    (:func:`~classic_rc.results.resampling.permutation_test`). One metric is tested, named before
    the results are seen. Holm's method adjusts the p-values of all rows together. Each group of the
    evaluation (a column of the table) is a family of its own.

    Parameters
    ----------
    evaluation : Evaluation
    baseline : str or sequence of str
        The name of a row. With several, all pairs of a row and a baseline are one family, and a row
        has those that it is significantly better than.
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
        No row, or more than one, has the name, or there is no other row, or the metric is not one
        of the task.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.results import with_significance
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = with_significance(classic_rc.evaluate(dataset, ["longest", "sw+d"]), "longest")
    >>> longest, sw_d = evaluation.rows
    >>> longest.p_values, sw_d.p_values["accuracy"] > 0.05
    ({}, True)
    """
    names = [row.name for row in evaluation.rows]
    baselines = (baseline,) if isinstance(baseline, str) else tuple(dict.fromkeys(baseline))
    for name in baselines:
        if name not in names:
            raise unknown_name(f"row of {evaluation.dataset.name}", name, names)
        if names.count(name) > 1:
            raise UsageError(
                f"baseline {name!r} is ambiguous: {names.count(name)} rows have that name",
                field="baseline",
                found=name,
            )
    if len(names) == 1:
        raise UsageError(
            f"nothing to compare with baseline {names[0]!r}: it is the only row",
            field="baseline",
            found=names[0],
        )
    assert evaluation.dataset.task is not None
    measure = metric_of_task(evaluation.dataset.task, metric or evaluation.primary.name)
    groups = passage_groups(evaluation.dataset, group)
    statistics = [row.outcomes.statistics[measure.name] for row in evaluation.rows]
    families: dict[str | None, list[Tested]] = {}
    for value, mask in evaluation.masks.items():
        if mask.any():
            left_out = evaluation.incomparable(value)
            of = [rows[mask] for rows in statistics]
            families[value] = family_tests(
                measure, of, names, baselines, groups[mask], n=n, seed=seed, left_out=left_out
            )
    rows = tuple(
        replace(row, tests={value: family[i] for value, family in families.items()})
        for i, row in enumerate(evaluation.rows)
    )
    n_tests = len(family_pairs(names, baselines))
    settings = Significance(baselines, measure.name, n_tests, n, seed, group)
    return replace(evaluation, rows=rows, significance=settings)


def family_pairs(names: Sequence[str], baselines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of a row and a baseline; two baselines are one pair, because the test has
    two sides.
    """
    bases = [names.index(name) for name in baselines if name in names]
    return [
        (i, base)
        for base in bases
        for i in range(len(names))
        if i != base and not (i in bases and i < base)
    ]


def family_tests(
    metric: Metric,
    rows: Sequence[NDArray[np.float64]],
    names: Sequence[str],
    baselines: Sequence[str],
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
    left_out: AbstractSet[str] = frozenset(),
) -> list[Tested]:
    """Test rows against one baseline or several; Holm's method adjusts the p-values of all pairs
    together.

    `rows` are the metric's statistics of each system of `names`, and `groups` the groups of
    passages of the questions. Baselines without a row, and the systems of `left_out`, are not
    tested.
    """
    pairs = [
        pair
        for pair in family_pairs(names, baselines)
        if left_out.isdisjoint(names[i] for i in pair)
    ]
    own = _renumber(groups)
    found = holm(
        [permutation_test(metric, rows[i], rows[j], own, n=n, seed=seed).p for i, j in pairs]
    ).tolist()
    p_values: list[float | None] = [None] * len(rows)
    beats: list[list[int]] = [[] for _ in rows]
    values = [metric.aggregate(own) for own in rows]
    for (i, base), p in zip(pairs, found, strict=True):
        if len(baselines) == 1:
            p_values[i] = p
        elif p < ALPHA:
            better, worse = (i, base) if values[i] > values[base] else (base, i)
            beats[better] += [baselines.index(names[worse])] if names[worse] in baselines else []
    return [
        Tested(metric.name, p, tuple(sorted(of))) for p, of in zip(p_values, beats, strict=True)
    ]


def with_statistics(
    evaluation: Evaluation, protocol: Protocol, *, progress: bool = False
) -> Evaluation:
    """Add the intervals and p-values that a protocol requests.

    If the baseline has no row, or is the only row, a warning takes the place of the tests: the
    other results are not lost.
    """
    seed, group = protocol.seed or 0, protocol.group
    names = [row.name for row in evaluation.rows]
    baselines = [name for name in protocol.baselines if name in names]
    with progress_bar(f"resampling {evaluation.dataset.name}", None, progress):
        if protocol.resamples is not None:
            evaluation = with_intervals(evaluation, protocol.resamples, seed=seed, group=group)
        if baselines and len(names) > 1:
            evaluation = with_significance(evaluation, baselines, seed=seed, group=group)
    reasons = {
        name: "it is the only row" if name in names else "it has no row here"
        for name in protocol.baselines
    }
    warnings = [
        f"nothing is tested against the baseline {name}: {reason}"
        for name, reason in reasons.items()
        if name not in names or len(names) == 1
    ]
    return replace(evaluation, warnings=(*evaluation.warnings, *warnings))


def with_intervals(
    evaluation: Evaluation,
    n: int = 10_000,
    *,
    seed: int = 0,
    level: float = 0.95,
    group: str | None = None,
) -> Evaluation:
    """Add an interval for every metric of every row; questions are grouped by passages.

    Answers stay as they are: the interval measures the uncertainty about which passages the dataset
    has, not about what a system would learn from others. A mean over questions, such as accuracy,
    has the bounds of :func:`~classic_rc.results.mean_intervals.mean_interval`. A ratio of means,
    such as F1a, is resampled, all rows on the same passages. For a row that is an expectation over
    draws, it is the interval of the expectation.

    Parameters
    ----------
    evaluation : Evaluation
    n : int
        Number of resamples of ratios.
    seed : int
        The seed of the resamples.
    level : float
        The level of the intervals, above 0 and below 1.
    group : str, optional
        A key of `meta` (article, author) whose equal values stay together, as equal passages do.

    Returns
    -------
    Evaluation
        With a warning if a ratio is resampled over fewer groups than
        :data:`~classic_rc.results.resampling.MIN_RELIABLE_GROUPS`; without
        intervals, and with the reason, if there are fewer than two.

    Raises
    ------
    UsageError
        `n` is below 1, `level` is not between 0 and 1, or no question has the `group`.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.results import with_intervals
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = with_intervals(classic_rc.evaluate(dataset, [classic_rc.parse_solver("sw+d")]))
    >>> low, high = evaluation.rows[0].intervals["accuracy"]
    >>> low < evaluation.rows[0].metrics()["accuracy"] < high
    True
    """
    groups = passage_groups(evaluation.dataset, group)
    unit = "passages" if has_passages(evaluation.dataset) else "questions"
    resampling = Resampling.of(groups, n, seed, level, group, unit)
    measured = [
        (METRICS[name], of)
        for row in evaluation.rows
        for name, of in row.outcomes.statistics.items()
    ]
    intervals: list[dict[str | None, dict[str, Interval]]] = [{} for _ in evaluation.rows]
    for value, mask in evaluation.masks.items():
        found = iter(subset_intervals(measured, groups, mask, resampling))
        for row, own in zip(evaluation.rows, intervals, strict=True):
            of_row = {name: next(found) for name in row.outcomes.statistics}
            own[value] = {
                name: interval for name, interval in of_row.items() if interval is not None
            }
    rows = tuple(
        replace(row, group_intervals=own)
        for row, own in zip(evaluation.rows, intervals, strict=True)
    )
    warning = resampling.warning(metric for metric, _ in measured)
    warnings = evaluation.warnings if warning is None else (*evaluation.warnings, warning)
    return replace(evaluation, rows=rows, resampling=resampling, warnings=warnings)


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
    parts = np.split(means, np.cumsum([rows.shape[1] for rows in flat])[:-1], axis=1)
    return [
        metric.of_questions(part.reshape(-1, *rows.shape[1:]))
        for (metric, rows), part in zip(measured, parts, strict=True)
    ]


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
    own = _renumber(groups[subset])
    if own.max(initial=0) < 1:
        return [None] * len(measured)
    parts = [(metric, rows[subset]) for metric, rows in measured]
    drawn = resample_ratios(parts, own, resampling)
    return [
        interval_of(metric, [rows], [values], own, resampling.level)
        for (metric, rows), values in zip(parts, drawn, strict=True)
    ]


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
        return _bounded_interval([of[..., 0] for of in rows], groups, level)
    distributions = [of for of in drawn if of is not None]
    value, distribution = metric.aggregate(rows[0]), distributions[0]
    if len(rows) > 1:
        value, distribution = value - metric.aggregate(rows[1]), distribution - distributions[1]
    runs = [metric.of_runs(of) for of in rows]
    interval = interval_of_runs(value, distribution, runs, int(groups.max()) + 1, level)
    if interval.low < interval.high:
        return interval
    # Questions without any count, such as those without an answer in "HasAns", change no ratio.
    counted = np.any([of.reshape(len(of), -1).any(axis=1) for of in rows], axis=0)
    counted |= not counted.any()
    outcomes = [metric.of_questions(of[counted]) for of in rows]
    return _bounded_interval(outcomes, _renumber(groups[counted]), level)


def _bounded_interval(
    outcomes: Sequence[NDArray[np.float64]], groups: NDArray[np.int64], level: float
) -> Interval:
    if len(outcomes) > 1:
        return difference_interval(outcomes[0], outcomes[1], groups, level)
    return mean_interval(outcomes[0], groups, level)


def _renumber(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return group numbers without gaps."""
    return np.unique(groups, return_inverse=True)[1].reshape(-1)
