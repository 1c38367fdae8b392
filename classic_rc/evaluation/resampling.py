"""The bootstrap over groups of passages: how much a number depends on which passages a dataset happens to hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.metrics.base import Metric

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


NULL_HYPOTHESES = {
    "permutation": "on every passage the two systems are exchangeable: swapping their outcomes changes nothing",
    "bootstrap": "over all passages such as these, the two systems score the same",
    "mcnemar": "a question that one of the two alone answers right is as likely the one's as the other's "
    "(assumes independent questions)",
}
"""What each test assumes until the data speak against it, by the name of the test."""

_CELLS_AT_A_TIME = 2**20
_ROUNDING = 1e-9
"""Metrics of equal sums differ by less: they are equal."""


class PairedTest(NamedTuple):
    """What a test found.

    Parameters
    ----------
    p : float
        Two-sided.
    exact : bool
        Whether everything that could happen was counted, and nothing drawn at random.
    """

    p: float
    exact: bool


def permutation_test(
    metric: Metric,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    r"""How often swapping the two systems' outcomes, for whole groups of passages, makes them differ as much.

    The metric is worked out anew from the swapped statistics, so a ratio such as F1a is as good as a mean. Where
    the groups on which the systems differ can be swapped in at most `n` ways, all are tried; else `n` are drawn and

    .. math:: p = \frac{1 + \#\{i : |T_i| \ge |T|\}}{1 + n}

    is never 0, as the systems as they are were one more draw (Davison and Hinkley 1997, section 4.3; the
    approximate randomisation of Noreen 1989). Swapping everything turns the sign, so each way counts for two.

    Parameters
    ----------
    metric : Metric
    first, second : ndarray of float64, shape (n_questions, n_statistics)
        Each system's statistics.
    groups : ndarray of int64, shape (n_questions,)
        Numbers of groups from 0, such as :func:`classic_rc.folds.passage_groups` gives.
    n : int
    seed : int
        The draws are PCG64's raw output, and sums are exact: the same bits on every machine.

    Returns
    -------
    PairedTest

    Raises
    ------
    UsageError
        No swap is wanted.
    """
    if n < 1:
        raise UsageError(f"a permutation test takes at least one permutation, got {n}")
    # Sums of what is swapped and what is not stay below four times the sum of either system.
    whole, unit = whole_numbers(np.concatenate([first, second]), n_summed=4 * len(first))
    of_first, of_second = np.split(whole, 2)
    gained = np.zeros((int(groups.max()) + 1, whole.shape[1]))
    np.add.at(gained, groups, of_second - of_first)
    gained = gained[gained.any(axis=1)]  # swapping groups that are equal changes nothing
    total, both = of_first.sum(axis=0), whole.sum(axis=0)

    def difference(own: NDArray[np.float64]) -> NDArray[np.float64]:
        means = own * (unit / len(first)), (both - own) * (unit / len(first))
        return np.abs(metric.from_means(means[0]) - metric.from_means(means[1]))

    exact = 2 ** max(len(gained) - 1, 0) <= n
    swaps = _all_swaps(len(gained)) if exact else _random_swaps(len(gained), n, seed)
    threshold = difference(total) - _ROUNDING
    reached, counted = 0, 0
    for swapped in swaps:
        reached += int(np.count_nonzero(difference(total + swapped @ gained) >= threshold))
        counted += len(swapped)
    return PairedTest(reached / counted if exact else (1 + reached) / (1 + counted), exact)


def _all_swaps(n_groups: int) -> Iterator[NDArray[np.float64]]:
    """Every way of swapping groups, the last one never: parts of shape (n_ways, n_groups)."""
    free = max(n_groups - 1, 0)
    step = max(1, _CELLS_AT_A_TIME // max(n_groups, 1))
    for start in range(0, 2**free, step):
        codes = np.arange(start, min(start + step, 2**free))
        swapped = np.zeros((len(codes), n_groups))
        swapped[:, :free] = (codes[:, None] >> np.arange(free)) & 1
        yield swapped


def _random_swaps(n_groups: int, n: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Fair coins, a bit each; a permutation begins with a new word: parts of shape (n_permutations, n_groups)."""
    bits = np.random.PCG64(seed % 2**64)
    words = -(-n_groups // 64)
    step = max(1, _CELLS_AT_A_TIME // n_groups)
    for start in range(0, n, step):
        rows = min(step, n - start)
        drawn = bits.random_raw(rows * words).astype("<u8").view(np.uint8).reshape(rows, -1)
        yield np.unpackbits(drawn, axis=1, count=n_groups, bitorder="little").astype(np.float64)


def bootstrap_test(difference: float, resampled: NDArray[np.float64]) -> PairedTest:
    r"""How often a resampled difference is as far from the one found as that is from 0.

    .. math:: p = \frac{1 + \#\{i : |d_i - d| \ge |d|\}}{1 + n}

    The bootstrap distribution moved to where the null hypothesis has it (Efron and Tibshirani 1993, section 16.4;
    Berg-Kirkpatrick, Burkett and Klein 2012 for systems on the same questions).

    Parameters
    ----------
    difference : float
        Of the metric, on the questions as they are.
    resampled : ndarray of float64, shape (n,)
        The same on resampled groups of passages, both systems on the same resamples.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> bootstrap_test(0.1, np.array([0.05, 0.1, 0.15, 0.3])).p
    0.4
    """
    reached = np.count_nonzero(np.abs(resampled - difference) >= abs(difference) - _ROUNDING)
    return PairedTest((1 + int(reached)) / (1 + len(resampled)), exact=False)


def mcnemar_test(metric: Metric, first: NDArray[np.float64], second: NDArray[np.float64]) -> PairedTest:
    """McNemar's test, exact: of the questions that one system alone answers right, how uneven are the shares.

    It assumes independent questions, which those about one passage are not, so its p-values are too small where
    passages are easy or hard as a whole (McNemar 1947; the exact form is the binomial test).

    Parameters
    ----------
    metric : Metric
    first, second : ndarray of float64, shape (n_questions, 1)
        Right (1) or wrong (0).

    Returns
    -------
    PairedTest

    Raises
    ------
    UsageError
        The metric gives partial credit.

    Examples
    --------
    >>> from classic_rc.metrics import get_metric
    >>> right = np.ones((10, 1))
    >>> round(mcnemar_test(get_metric("accuracy"), right, np.zeros((10, 1))).p, 6)
    0.001953
    """
    from scipy.stats import binomtest

    if first.shape[1] != 1 or not np.isin([first, second], (0, 1)).all():
        raise UsageError(
            f"McNemar's test is for answers that are right or wrong, and {metric.label} gives partial credit here: "
            "take --test permutation, or where only ties share credit, --ties first"
        )
    alone = int(np.count_nonzero(first > second)), int(np.count_nonzero(first < second))
    return PairedTest(float(binomtest(alone[0], sum(alone)).pvalue) if sum(alone) else 1.0, exact=True)


def holm(p_values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    r"""P-values adjusted so that rejecting those up to 0.05 errs at all in at most 5 % of families.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) p_{(j)})

    for the i-th smallest of m. It holds however the tests depend on each other (Holm 1979).

    Parameters
    ----------
    p_values : sequence of float, length m

    Returns
    -------
    ndarray of float64, shape (m,)
        In the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return _put_back(adjusted, order)


def benjamini_hochberg(p_values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    r"""P-values adjusted so that of those up to 0.05, in expectation, at most 5 % are false alarms.

    .. math:: q_{(i)} = \min_{j \ge i} \min(1, m p_{(j)} / j)

    for the i-th smallest of m. It holds for tests that are independent or positively dependent (Benjamini and
    Hochberg 1995; Benjamini and Yekutieli 2001).

    Parameters
    ----------
    p_values : sequence of float, length m

    Returns
    -------
    ndarray of float64, shape (m,)
        In the order given.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = np.minimum(1, p[order] * len(p) / np.arange(1, len(p) + 1))
    return _put_back(np.minimum.accumulate(scaled[::-1])[::-1], order)


def _put_back(values: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
    result = np.empty_like(values)
    result[order] = values
    return result
