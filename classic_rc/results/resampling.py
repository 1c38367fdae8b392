"""Resampling over groups of passages: bootstrap intervals of ratios, paired significance tests,
multiple testing.

They measure how much a number depends on the passages that a dataset happens to have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import block_size
from classic_rc.metrics.base import Metric
from classic_rc.work import tracked

ALPHA = 0.05
"""Adjusted p-values below this level are marked in tables."""

MIN_RELIABLE_GROUPS = 30
"""With fewer passages or groups, the spread between them is itself uncertain, and percentiles of
resamples are too narrow. Intervals of means hold: ``benchmarks/interval_coverage.py``.
"""

_DRAWS_PER_BATCH = 2**20  # 8 MB an array


class Interval(NamedTuple):
    """The bounds of an interval, in the unit of what was resampled."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Resampling:
    """The settings that intervals are made with; only those of ratios, such as F1a, need draws."""

    n_groups: int  # groups of passages; there is no interval for fewer than two
    n: int = 10_000  # number of resamples
    seed: int = 0
    level: float = 0.95  # in 0..1
    group: str | None = (
        None  # the key of `meta` whose equal values stay together, as equal passages do
    )
    unit: str = "passages"  # what is grouped or drawn: "questions" where they have no passages

    def __post_init__(self) -> None:
        tail_probabilities(self.level)
        if self.n < 1:
            raise _too_few_resamples(self.n)

    @classmethod
    def of(cls, groups: NDArray[np.int64], *settings: Any, **settings_by_name: Any) -> Self:
        """Return the settings for questions in these groups of passages, shape (n_questions,)."""
        return cls(int(groups.max(initial=-1)) + 1, *settings, **settings_by_name)

    @property
    def label(self) -> str:
        """The heading of a column of intervals."""
        return f"{100 * self.level:g} % interval"

    @property
    def note(self) -> str:
        """The settings in words, or the reason why there is no interval."""
        if self.n_groups < 2:
            return "no interval: it needs at least two different passages or groups"
        return f"{self.label}: {self.rule(f'{self.n_groups:,} {self.units}')}"

    @property
    def units(self) -> str:
        """What an interval is made from, in words."""
        return self.unit if self.group is None else f"groups of {self.unit} ({self.group})"

    def rule(self, units: str) -> str:
        """Return how intervals are made from `units`, in words."""
        return (
            f"exact binomial bounds at the effective sample size of {units}; of ratios such as F1a "
            f"{self.n:,} resamples, seed {self.seed}"
        )

    def warning(self, metrics: Iterable[Metric]) -> str | None:
        """Return a warning for the reader of the metrics' intervals, or None."""
        if self.n_groups < 2:
            return self.note
        ratios = [metric.label for metric in metrics if not is_mean(metric)]
        if ratios and self.n_groups < MIN_RELIABLE_GROUPS:
            few = f"{self.n_groups} {self.unit} are fewer than {MIN_RELIABLE_GROUPS}"
            return f"intervals of {', '.join(dict.fromkeys(ratios))} are likely too narrow: {few}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "level": self.level,
            "resamples": self.n,
            "seed": self.seed,
            "groups": self.n_groups,
            "group": self.group,
        }


def is_mean(metric: Metric) -> bool:
    """Return whether a metric is the mean of one outcome per question; others are ratios of
    means.
    """
    return type(metric).from_means is Metric.from_means


def _too_few_resamples(n: int) -> UsageError:
    return UsageError(
        f"the number of resamples must be at least 1, got {n}", field="n", found=str(n)
    )


def resample_means(
    statistics: NDArray[np.float64], groups: NDArray[np.int64], *, n: int = 10_000, seed: int = 0
) -> NDArray[np.float64]:
    """Return the means of statistics over resampled datasets, shape (n, n_statistics).

    A resample draws as many groups as there are, with replacement. The questions about one passage
    are not independent, so whole groups are drawn: the cluster bootstrap (Davison and Hinkley 1997,
    section 3.8). Groups differ in size; a mean is over all questions of the groups drawn.

    A metric's bootstrap distribution is ``metric.from_means(resample_means(rows, groups))``. To
    compare systems, or a metric with its chance level, put their statistics side by side as
    columns: all columns of a resample are means over the same questions.

    Parameters
    ----------
    statistics : ndarray of float64, shape (n_questions, n_statistics)
        As :meth:`classic_rc.metrics.Metric.statistics` returns them.
    groups : ndarray of int64, shape (n_questions,)
        Group numbers from 0 without gaps, as :func:`classic_rc.folds.passage_groups` returns them;
        two or more.
    n : int
        Number of resamples.
    seed : int
        The draws are PCG64's raw output, and sums are exact: the same bits on every machine.

    Examples
    --------
    >>> rows = np.array([[1.0], [0.0], [1.0]])
    >>> resample_means(rows, np.array([0, 0, 1]), n=4).shape
    (4, 1)
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < 2:
        raise UsageError(
            f"resampling needs at least two different passages or groups, got {n_groups}",
            field="groups",
            found=str(n_groups),
            expected="2 or more",
        )
    if n < 1:
        raise _too_few_resamples(n)
    sizes = np.bincount(groups, minlength=n_groups)
    integers, unit = scale_to_integers(statistics, n_summed=n_groups * int(sizes.max()))
    sums = np.zeros((n_groups, statistics.shape[1]))
    np.add.at(sums, groups, integers)
    table = np.column_stack([sums, sizes])
    bits = np.random.PCG64(seed % 2**64)  # it refuses a negative seed
    totals = np.empty((n, table.shape[1]))
    # A 64-bit word holds two draws. An even number of rows loses no half word between parts, so the
    # part size does not change the draws.
    step = 2 * max(1, block_size(_DRAWS_PER_BATCH) // (2 * n_groups))
    starts = range(0, n, step)
    for start in tracked(starts, len(starts)):
        rows = min(step, n - start)
        totals[start : start + rows] = _count_draws(bits, rows, n_groups) @ table
    return totals[:, :-1] * unit / totals[:, -1:]


def scale_to_integers(
    values: NDArray[np.float64], n_summed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values as integer multiples of a power of two per column, and those powers.

    Any sum of `n_summed` multiples stays below 2**53, where floats are exact: neither the order of
    addition nor a machine's linear algebra changes a bit.
    """
    exponent = np.frexp(np.abs(values).max(axis=0) * n_summed)[1]
    # One of the 53 bits is left for what rounding adds; 2**-1000 keeps tiny units above 0.
    unit = 2.0 ** np.maximum(exponent - 52, -1000)
    return np.rint(values / unit), unit


def _count_draws(bits: np.random.PCG64, rows: int, n_groups: int) -> NDArray[np.float64]:
    """Return how often each resample draws each group, shape (rows, n_groups)."""
    size = rows * n_groups
    # "<u8" seen as "<u4" has the low half first, on machines of either byte order.
    words = bits.random_raw((size + 1) // 2).astype("<u8").view("<u4")[:size].astype(np.uint64)
    # A 32-bit draw times n_groups, shifted right by 32 bits, is a group number in 0..n_groups-1.
    words *= np.uint64(n_groups)
    words >>= np.uint64(32)
    drawn = words.astype(np.int64).reshape(rows, n_groups)
    drawn += np.arange(rows)[:, None] * n_groups  # each resample counts in a row of its own
    counts = np.bincount(drawn.ravel(), minlength=size)
    return counts.reshape(rows, n_groups).astype(np.float64)


def tail_probabilities(level: float) -> tuple[float, float]:
    """Return the probabilities below the lower and below the upper bound of an interval."""
    if not 0 < level < 1:
        raise UsageError(
            f"the level must be between 0 and 1, got {level}", field="level", found=str(level)
        )
    return (1 - level) / 2, (1 + level) / 2


def percentile_interval(values: NDArray[np.float64], level: float = 0.95) -> Interval:
    """Return the middle `level` of a bootstrap distribution (Efron and Tibshirani 1993, ch. 13).

    Percentiles only need the distribution: the interval of a ratio such as F1 is not symmetric and
    never leaves 0..1, and the interval of a transformed metric is the transformed interval. With
    few groups it is somewhat narrow, like every interval that knows only the passages it has seen.

    Examples
    --------
    >>> low, high = percentile_interval(np.arange(1001.0))
    >>> round(low), round(high)
    (25, 975)
    """
    low, high = np.quantile(values, tail_probabilities(level))
    return Interval(float(low), float(high))


def interval_of_runs(
    value: float,
    drawn: NDArray[np.float64],
    runs: Sequence[NDArray[np.float64]],
    n_groups: int,
    level: float = 0.95,
) -> Interval:
    r"""Return the interval of both sources, passages and runs, of a value that is made of means
    over runs.

    .. math:: x \pm t_f \sqrt{V + \sum_i s_i^2 / k_i}

    V is the variance of the mean over resamples of passages, and s the standard deviation of the k
    runs of a system. The degrees of freedom f are those of Satterthwaite (1946), with G - 1 for the
    G groups of passages and k - 1 for runs. The noise of single answers is a part of both V and s,
    so the interval is too wide rather than too narrow. Without several runs it is
    :func:`percentile_interval`.

    `value` is the mean over the runs, or the difference of two such means, and `drawn` the same
    value in each resample of passages; `runs` has for each system its value in each run.

    Examples
    --------
    >>> low, high = interval_of_runs(
    ...     0.5, np.array([0.49, 0.5, 0.51]), [np.array([0.48, 0.52])], 100
    ... )
    >>> round(low, 2), round(high, 2)
    (0.35, 0.65)
    """
    repeated = [values for values in runs if len(values) > 1]
    if not repeated:
        return percentile_interval(drawn, level)
    from scipy.special import stdtrit

    # The variance of each source, with its degrees of freedom.
    parts = [(float(drawn.var()), n_groups - 1)]
    for values in repeated:
        n_runs = len(values)
        parts.append((float(values.var(ddof=1)) / n_runs, n_runs - 1))
    total = sum(variance for variance, _ in parts)
    if total <= 0:
        return Interval(value, value)
    squares = sum(variance**2 / degrees for variance, degrees in parts)
    freedom = total**2 / squares
    half = float(stdtrit(freedom, (1 + level) / 2)) * total**0.5
    lowest = 0.0 if len(runs) == 1 else -1.0  # a difference can be negative
    return Interval(max(value - half, lowest), min(value + half, 1.0))


NULL_HYPOTHESES = {
    "permutation": "on every passage the two systems are exchangeable: swapping their outcomes "
    "changes nothing",
    "mcnemar": "if only one of the two systems answers a question right, it is equally likely to "
    "be either one (assumes independent questions)",
}
"""The null hypothesis of each test, by the test's name."""

_CELLS_PER_BATCH = 2**20
_ROUNDING = 1e-9
"""Metrics that differ by less than this are equal up to rounding."""


class PairedTest(NamedTuple):
    """The result of a paired test."""

    p: float  # two-sided
    exact: bool  # whether all possible outcomes were counted, with no random draws


def permutation_test(
    metric: Metric,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    r"""Test a difference by swapping the two systems' outcomes for whole groups of passages.

    The p-value is the share of swaps after which the systems differ at least as much as they do.
    The metric is recomputed from the swapped statistics, so the test is as valid for a ratio such
    as F1a as for a mean. If the groups on which the systems differ can be swapped in at most `n`
    ways, all ways are tried. Otherwise `n` swaps are drawn, and

    .. math:: p = \frac{1 + \#\{i : |T_i| \ge |T|\}}{1 + n}

    is never 0, because the unswapped systems count as one more draw (Davison and Hinkley 1997,
    section 4.3; the approximate randomisation of Noreen 1989). Swapping all groups only changes the
    sign, so each way tried counts for two.

    Parameters
    ----------
    first, second : ndarray of float64, shape (n_questions, n_statistics)
        Each system's statistics; for several runs, shape (n_questions, n_runs, n_statistics), their
        means count.
    groups : ndarray of int64, shape (n_questions,)
        Group numbers from 0, as :func:`classic_rc.folds.passage_groups` returns them.
    n, seed : int
        The number of random swaps. The draws are PCG64's raw output, and sums are exact: the same
        bits on every machine.
    """
    if n < 1:
        raise UsageError(
            f"the number of permutations must be at least 1, got {n}", field="n", found=str(n)
        )
    if first.ndim == 3:
        first = first.mean(axis=1)
    if second.ndim == 3:
        second = second.mean(axis=1)
    # Sums of swapped and unswapped parts stay below four times the sum of either system.
    integers, unit = scale_to_integers(np.concatenate([first, second]), n_summed=4 * len(first))
    of_first, of_second = np.split(integers, 2)
    gained = np.zeros((int(groups.max()) + 1, integers.shape[1]))
    np.add.at(gained, groups, of_second - of_first)
    gained = gained[gained.any(axis=1)]  # swapping equal groups changes nothing
    first_total, grand_total = of_first.sum(axis=0), integers.sum(axis=0)

    scale = unit / len(first)

    def difference(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        metric_of_first = metric.from_means(totals * scale)
        metric_of_second = metric.from_means((grand_total - totals) * scale)
        return np.abs(metric_of_first - metric_of_second)

    # A swap and its complement only differ in sign, so the last group is never swapped: half of all
    # ways suffice.
    exact = 2 ** max(len(gained) - 1, 0) <= n
    swaps = _all_swaps(len(gained)) if exact else _random_swaps(len(gained), n, seed)
    # A swap that gives the same difference counts, though its last bits may be others.
    threshold = difference(first_total) - _ROUNDING
    reached, counted = 0, 0
    for swapped in swaps:
        reached += int(np.count_nonzero(difference(first_total + swapped @ gained) >= threshold))
        counted += len(swapped)
    return PairedTest(reached / counted if exact else (1 + reached) / (1 + counted), exact)


def _all_swaps(n_groups: int) -> Iterator[NDArray[np.float64]]:
    """Yield every way to swap groups, the last group never, in parts of shape (n_ways,
    n_groups).
    """
    free = max(n_groups - 1, 0)
    step = max(1, block_size(_CELLS_PER_BATCH) // max(n_groups, 1))
    for start in range(0, 2**free, step):
        codes = np.arange(start, min(start + step, 2**free))
        swapped = np.zeros((len(codes), n_groups))
        swapped[:, :free] = (codes[:, None] >> np.arange(free)) & 1
        yield swapped


def _random_swaps(n_groups: int, n: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield random swaps, one bit per group and whole words per swap, in parts of shape
    (n_swaps, n_groups).
    """
    bits = np.random.PCG64(seed % 2**64)
    words = -(-n_groups // 64)
    step = max(1, block_size(_CELLS_PER_BATCH) // n_groups)
    starts = range(0, n, step)
    for start in tracked(starts, len(starts)):
        rows = min(step, n - start)
        drawn = bits.random_raw(rows * words).astype("<u8")
        octets = drawn.view(np.uint8).reshape(rows, -1)
        yield np.unpackbits(octets, axis=1, count=n_groups, bitorder="little").astype(np.float64)


def mcnemar_test(
    metric: Metric, first: NDArray[np.float64], second: NDArray[np.float64]
) -> PairedTest:
    """Test with McNemar's exact test whether one system has more of the questions that only one
    answers right.

    The test assumes independent questions. Those about one passage are not, so p-values are too
    small if entire passages are easy or hard (McNemar 1947; the exact form is the binomial test).
    Statistics have the shape (n_questions, 1) and are right (1) or wrong (0): a metric that gives
    partial credit is a UsageError.

    Examples
    --------
    >>> from classic_rc.metrics import get_metric
    >>> right = np.ones((10, 1))
    >>> round(mcnemar_test(get_metric("accuracy"), right, np.zeros((10, 1))).p, 6)
    0.001953
    """
    from scipy.stats import binomtest

    if (
        first.shape[1:] != (1,)
        or second.shape != first.shape
        or not np.isin([first, second], (0, 1)).all()
    ):
        raise UsageError(
            f"McNemar's test needs answers that are either right or wrong, but {metric.label} "
            "gives partial credit here: use --test permutation or, if only ties share credit, "
            "--ties first",
            field="metric",
            found=metric.name,
        )
    wins = int(np.count_nonzero(first > second))
    losses = int(np.count_nonzero(first < second))
    # SciPy refuses a test of no trials.
    p = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return PairedTest(p, exact=True)


def holm(p_values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Adjust p-values so that rejecting those up to 0.05 makes any error in at most 5 % of
    families of tests.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) p_{(j)})

    for the i-th smallest of m. It holds for any dependence between the tests (Holm 1979). The order
    is that of `p_values`.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)  # m - j + 1
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(np.minimum(1, p[order] * factors))
    return adjusted
