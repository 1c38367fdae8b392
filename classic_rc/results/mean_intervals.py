"""Intervals of means of bounded outcomes, such as accuracy: exact binomial bounds at the effective
sample size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classic_rc.results.resampling import Interval, scale_to_integers, tail_probabilities

PRIOR_ERRORS = 3.0
"""The weight of the prior design effect, as a number of errors: the smallest whole number with
which at least 85 % of intervals hold in every cell of ``benchmarks/interval_coverage.py``.
"""

PRIOR_CORRELATION = 0.2
"""The intra-class correlation of the questions about a passage in the prior design effect, and the
largest for which 93 % of intervals have to hold.
"""

PRIOR_SHARED = 0.75
"""The correlation of two systems' errors in the prior."""

_DIGITS = 12  # bounds are rounded to these decimals, because SciPy's last bits differ by machine


def mean_interval(
    outcomes: NDArray[np.float64], groups: NDArray[np.int64], level: float = 0.95
) -> Interval:
    r"""Return the interval of the mean of outcomes in 0..1.

    The bounds are those of Clopper and Pearson (1934) for n* outcomes, as Korn and Graubard (1998)
    use them for surveys:

    .. math:: n^* = \frac{N}{f} \Big(\frac{z}{t_\nu}\Big)^2, \quad
        f = \frac{A + R + c d_0}{N \bar y (1 - \bar y) + c}, \quad
        A = \Big(1 + \frac{\kappa}{h}\Big) \sum_g \Big(\sum_{i \in g} (y_i - \bar y)\Big)^2

    for N questions in groups of sizes m, with :math:`m^* = \sum m^2 / N`, :math:`\kappa = 1 -
    1/m^*` and :math:`h = \max(N / m^* - 1, 1)`, G - 1 for G equal groups. f is the design effect
    (Kish 1965). Few errors do not show it, so c = 3 more errors with the design effect
    :math:`d_0 = 1 + 0.2 (m^* - 1)` are assumed: without errors the design effect is
    :math:`d_0`, and with many it is the one observed. c is multiplied by the share of the outcomes
    that are 0 or 1. An expectation such as 1/4 for every question therefore has the variance that
    it shows, and an interval without width if it is the same for all questions.

    With k runs, y is a question's mean over them, and :math:`R = N^2 s^2 / k` for the standard
    deviation s of the runs' means. The degrees of freedom are those of Satterthwaite (1946), with
    h for the part of A that is estimated, and k - 1 for R:

    .. math:: \nu = \frac{(A + R + c d_0)^2}{\kappa A^2 / h + R^2 / (k - 1)}

    One question per group and one run have :math:`\nu = \infty` and, if outcomes are 0 or 1, the
    bounds of Clopper and Pearson themselves.

    Parameters
    ----------
    outcomes : ndarray of float64, shape (n_questions,) or (n_questions, n_runs)
        In 0..1.
    groups : ndarray of int64, shape (n_questions,)
        Group numbers from 0 without gaps; two groups or more.
    level : float
        In 0..1.

    Examples
    --------
    >>> low, high = mean_interval(np.ones(40), np.arange(40))
    >>> round(low, 3), high
    (0.912, 1.0)
    """
    return _GroupedMean.of(outcomes, groups).interval(level)


def difference_interval(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    groups: NDArray[np.int64],
    level: float = 0.95,
) -> Interval:
    r"""Return the interval of the difference of two means on the same questions.

    The bounds follow from those of the two means, by the method of Newcombe (1998) and Zou and
    Donner (2008):

    .. math:: L = D - \sqrt{(\bar y_1 - l_1)^2 - 2 r (\bar y_1 - l_1)(u_2 - \bar y_2)
        + (u_2 - \bar y_2)^2}

    and U likewise with :math:`u_1` and :math:`l_2`. r is the correlation of the groups' sums, with
    c errors of both systems added that have a correlation of 3/4. The parameters are those of
    :func:`mean_interval`.

    Examples
    --------
    >>> right = np.ones(40)
    >>> low, high = difference_interval(right, right, np.arange(40))
    >>> round(low, 3), round(high, 3)
    (-0.088, 0.088)
    """
    first_mean, second_mean = _GroupedMean.of(first, groups), _GroupedMean.of(second, groups)
    low, high = first_mean.interval(level)
    other_low, other_high = second_mean.interval(level)
    correlation = first_mean.correlation(second_mean)
    difference = first_mean.value - second_mean.value
    below = _join_margins(first_mean.value - low, other_high - second_mean.value, correlation)
    above = _join_margins(high - first_mean.value, second_mean.value - other_low, correlation)
    lowest = max(difference - below, -1.0)
    highest = min(difference + above, 1.0)
    return Interval(round(lowest, _DIGITS), round(highest, _DIGITS))


def _join_margins(first: float, second: float, correlation: float) -> float:
    squared = first**2 - 2 * correlation * first * second + second**2
    return math.sqrt(max(squared, 0.0))


@dataclass(frozen=True, slots=True)
class _GroupedMean:
    """A mean over questions in groups, with what its variance is estimated from."""

    value: float
    n_questions: int
    mean_size: float  # the size of the group of an average question: m*
    deviations: NDArray[np.float64]  # of each group's sum from its expectation, shape (n_groups,)
    prior_errors: float  # c times the share of the outcomes that are 0 or 1
    runs_variance: float  # of the sum of the outcomes, between runs: R
    n_runs: int

    @classmethod
    def of(cls, outcomes: NDArray[np.float64], groups: NDArray[np.int64]) -> _GroupedMean:
        """Summarise outcomes of the shape (n_questions,) or (n_questions, n_runs)."""
        by_run = outcomes.reshape(len(outcomes), -1)
        n, n_runs = by_run.shape
        # Exact sums: the order of the questions does not change a bit.
        integers, unit = scale_to_integers(by_run, n)
        sizes = np.bincount(groups)
        sums = np.zeros((len(sizes), n_runs))
        np.add.at(sums, groups, integers)
        run_means = sums.sum(axis=0) * unit / n
        group_sums = (sums * unit).mean(axis=1)
        value = min(max(math.fsum(group_sums) / n, 0.0), 1.0)
        mean_size = math.fsum(sizes.astype(np.float64) ** 2) / n
        deviations = group_sums - value * sizes
        decided = np.count_nonzero((by_run == 0) | (by_run == 1))
        prior_errors = PRIOR_ERRORS * decided / by_run.size
        variance = float(run_means.var(ddof=1)) if n_runs > 1 else 0.0
        runs_variance = n**2 * variance / n_runs
        return cls(value, n, mean_size, deviations, prior_errors, runs_variance, n_runs)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of a variance between groups: h."""
        return max(self.n_questions / self.mean_size - 1, 1.0)

    @property
    def clustered(self) -> float:
        """The part of the variance that is estimated between groups: kappa."""
        return 1 - 1 / self.mean_size

    @property
    def prior_variance(self) -> float:
        """The variance of the sum of the prior errors."""
        return self.prior_errors * (1 + PRIOR_CORRELATION * (self.mean_size - 1))

    def covariance(self, other: _GroupedMean) -> float:
        """Return the covariance of two sums of outcomes between groups; A with itself."""
        products = math.fsum(self.deviations * other.deviations)
        return (1 + self.clustered / self.freedom) * products

    def correlation(self, other: _GroupedMean) -> float:
        """Return the correlation of two means, the prior errors included."""
        shared = PRIOR_SHARED * math.sqrt(self.prior_variance * other.prior_variance)
        scale = math.sqrt(self.variance() * other.variance())
        return (self.covariance(other) + shared) / scale if scale > 0 else 0.0

    def variance(self) -> float:
        """Return the variance of the sum of outcomes and prior errors."""
        return self.covariance(self) + self.runs_variance + self.prior_variance

    def interval(self, level: float) -> Interval:
        """Return the bounds of Clopper and Pearson at the effective sample size."""
        from scipy.special import betaincinv, ndtri, stdtrit

        lower, upper = tail_probabilities(level)
        variance = self.variance()
        if variance <= 0:  # an expectation that is the same for all questions
            return Interval(self.value, self.value)
        binomial = self.n_questions * self.value * (1 - self.value) + self.prior_errors
        uncertainty = self.clustered * self.covariance(self) ** 2 / self.freedom
        if self.n_runs > 1:
            uncertainty += self.runs_variance**2 / (self.n_runs - 1)
        quantile = ndtri(upper)
        size = self.n_questions * binomial / variance
        if uncertainty > 0:
            size *= (quantile / stdtrit(variance**2 / uncertainty, upper)) ** 2
        right, wrong = size * self.value, size * (1 - self.value)
        low = betaincinv(right, wrong + 1, lower) if right > 0 else 0.0
        high = betaincinv(right + 1, wrong, upper) if wrong > 0 else 1.0
        return Interval(round(float(low), _DIGITS), round(float(high), _DIGITS))
