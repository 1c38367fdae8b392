"""The bootstrap over groups of passages: how much a number depends on which passages a dataset happens to hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError

FEW_GROUPS = 30
"""Below so many passages or groups, the spread between them is itself uncertain, and intervals are too narrow."""

_DRAWS_AT_A_TIME = 2**20


class Interval(NamedTuple):
    """The bounds of an interval, in the unit of what was resampled."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals were made.

    Parameters
    ----------
    n_groups : int
        The groups of passages that resamples were drawn from; of fewer than two there is no interval.
    n : int
        How many resamples.
    seed : int
    level : float
        In 0..1.
    group : str, optional
        The key of `meta` whose equal values stayed together, as equal passages do.
    """

    n_groups: int
    n: int = 10_000
    seed: int = 0
    level: float = 0.95
    group: str | None = None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UsageError(f"resampling takes at least one resample, got {self.n}")

    @property
    def label(self) -> str:
        """What a column of intervals is called."""
        return f"{100 * self.level:g} % interval"

    @property
    def note(self) -> str:
        """How it was done, in words."""
        if self.n_groups < 2:
            return "no interval: resampling takes at least two different passages or groups"
        what = "passages" if self.group is None else f"groups of passages ({self.group})"
        few = f"; likely too narrow, with fewer than {FEW_GROUPS}" if self.n_groups < FEW_GROUPS else ""
        return f"{self.label}: {self.n:,} resamples of {self.n_groups:,} {what}, seed {self.seed}{few}"

    @property
    def warning(self) -> str | None:
        """What the reader of the intervals must know; None where there is nothing."""
        if self.n_groups < 2:
            return self.note
        if self.n_groups < FEW_GROUPS:
            return f"intervals are likely too narrow: {self.n_groups} passages are fewer than {FEW_GROUPS}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "level": self.level,
            "resamples": self.n,
            "seed": self.seed,
            "groups": self.n_groups,
            "group": self.group,
        }


def resampled_means(
    statistics: NDArray[np.float64], groups: NDArray[np.int64], *, n: int = 10_000, seed: int = 0
) -> NDArray[np.float64]:
    """Means of statistics over resampled datasets, each of as many groups as there are, drawn with replacement.

    The questions about one passage are not independent, so whole groups are drawn: the cluster bootstrap (Davison
    and Hinkley 1997, section 3.8). Groups differ in size, and a mean is that of the questions of the groups drawn.

    A metric's bootstrap distribution is ``metric.from_means(resampled_means(rows, groups))``. To compare systems,
    or a metric with its chance level, put their statistics side by side as columns: all columns of a resample are
    means over the same questions.

    Parameters
    ----------
    statistics : ndarray of float64, shape (n_questions, n_statistics)
        Such as :meth:`classic_rc.metrics.Metric.statistics` gives.
    groups : ndarray of int64, shape (n_questions,)
        Numbers of groups from 0, none left out, such as :func:`classic_rc.folds.passage_groups` gives.
    n : int
        How many resamples.
    seed : int
        The draws are PCG64's raw output, and sums are exact: the same bits on every machine.

    Returns
    -------
    ndarray of float64, shape (n, n_statistics)

    Raises
    ------
    UsageError
        There are fewer than two groups, or no resample is wanted.

    Examples
    --------
    >>> rows = np.array([[1.0], [0.0], [1.0]])
    >>> resampled_means(rows, np.array([0, 0, 1]), n=4).shape
    (4, 1)
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < 2:
        raise UsageError(f"resampling takes at least two different passages or groups, got {n_groups}")
    if n < 1:
        raise UsageError(f"resampling takes at least one resample, got {n}")
    sizes = np.bincount(groups, minlength=n_groups)
    whole, unit = whole_numbers(statistics, n_summed=n_groups * int(sizes.max()))
    sums = np.zeros((n_groups, statistics.shape[1]))
    np.add.at(sums, groups, whole)
    table = np.column_stack([sums, sizes])
    bits = np.random.PCG64(seed % 2**64)
    totals = np.empty((n, table.shape[1]))
    step = 2 * max(1, _DRAWS_AT_A_TIME // (2 * n_groups))  # even: no half of a drawn word is lost between parts
    for start in range(0, n, step):
        rows = min(step, n - start)
        totals[start : start + rows] = _times_drawn(bits, rows, n_groups) @ table
    return totals[:, :-1] * unit / totals[:, -1:]


def whole_numbers(values: NDArray[np.float64], n_summed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values as whole multiples of a power of two a column, and those powers.

    Any sum of `n_summed` of them stays below 2**53, where floats are exact: no order of adding, and no machine's
    linear algebra, changes a bit.
    """
    exponent = np.frexp(np.abs(values).max(axis=0) * n_summed)[1]
    unit = 2.0 ** np.maximum(exponent - 52, -1000)
    return np.rint(values / unit), unit


def _times_drawn(bits: np.random.PCG64, rows: int, n_groups: int) -> NDArray[np.float64]:
    """How often each group is in each of some resamples: shape (rows, n_groups)."""
    size = rows * n_groups
    words = bits.random_raw((size + 1) // 2).astype("<u8").view("<u4")[:size].astype(np.uint64)
    drawn = ((words * np.uint64(n_groups)) >> np.uint64(32)).astype(np.int64).reshape(rows, n_groups)
    drawn += np.arange(rows)[:, None] * n_groups
    return np.bincount(drawn.ravel(), minlength=size).reshape(rows, n_groups).astype(np.float64)


def percentile_interval(values: NDArray[np.float64], level: float = 0.95) -> Interval:
    """The interval that holds the middle `level` of a bootstrap distribution (Efron and Tibshirani 1993, ch. 13).

    Percentiles, because they need nothing but the distribution: the interval of a ratio such as F1 is not symmetric
    and never leaves 0..1, and that of a transformed metric is the transformed interval. With few groups it is
    somewhat narrow, as every interval is that knows only the passages it has seen.

    Parameters
    ----------
    values : ndarray of float64, shape (n_resamples,)
    level : float
        In 0..1.

    Examples
    --------
    >>> low, high = percentile_interval(np.arange(1001.0))
    >>> round(low), round(high)
    (25, 975)
    """
    if not 0 < level < 1:
        raise UsageError(f"an interval's level lies between 0 and 1, got {level}")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
