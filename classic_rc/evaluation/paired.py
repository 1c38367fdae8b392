"""Tests of whether two systems differ on the same questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.evaluation.resampling import whole_numbers
from classic_rc.metrics.base import Metric

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
