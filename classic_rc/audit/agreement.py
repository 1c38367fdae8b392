"""How much annotators agree: observed agreement, and coefficients that are corrected for chance.

Chance is measured in two ways. Cohen's and Fleiss' kappa and Krippendorff's alpha estimate it from how often each
category is used. Here the categories are positions of options, and a position means nothing: where options are in
random order, "A" of one question has nothing in common with "A" of another one, and two annotators who guess agree
with a probability of exactly 1/k on k options. The coefficient S uses this chance. It is the one to report for
shuffled options; a kappa that is much lower shows that the right answers, or the annotators, prefer positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.evaluation.resampling import Interval, Resampling, percentile_interval, resample_means

MISSING = -1
"""The answer of an annotator who did not answer a question."""


class Estimate(NamedTuple):
    """A number and its 95 % interval over resampled passages."""

    value: float  # NaN if it is undefined
    interval: Interval | None  # None with fewer than two groups of passages
    n: int  # number of questions that it is measured on


@dataclass(frozen=True)
class Measure:
    """A number that follows from the means of statistics of questions, so that it can be resampled."""

    statistics: NDArray[np.float64]  # shape (n_questions, n_statistics)
    from_means: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # of shape (..., n_statistics) to (...)
    n: int  # number of questions that count

    @property
    def value(self) -> float:
        """The number on all questions; NaN if it is undefined."""
        if not len(self.statistics):
            return float("nan")
        return float(self.from_means(self.statistics.mean(axis=0)))


def estimate_measures(
    measures: dict[str, Measure], groups: NDArray[np.int64], resampling: Resampling
) -> dict[str, Estimate]:
    """Return the estimates; all are made from the same resamples."""
    if resampling.n_groups < 2:
        return {name: Estimate(measure.value, None, measure.n) for name, measure in measures.items()}
    table = np.hstack([measure.statistics for measure in measures.values()])
    ends = np.cumsum([measure.statistics.shape[1] for measure in measures.values()])
    means = resample_means(table, groups, n=resampling.n, seed=resampling.seed)
    estimates = {}
    for (name, measure), part in zip(measures.items(), np.split(means, ends[:-1], axis=1), strict=True):
        values = measure.from_means(part)
        values = values[~np.isnan(values)]  # a resample may have no question that counts
        interval = percentile_interval(values, resampling.level) if len(values) else None
        estimates[name] = Estimate(measure.value, interval, measure.n)
    return estimates


def count_answers(answers: NDArray[np.int64], n_categories: int) -> NDArray[np.int64]:
    """Return how many annotators chose each option, shape (n_questions, n_categories)."""
    counts = np.zeros((len(answers), n_categories), dtype=np.int64)
    rows, columns = np.nonzero(answers != MISSING)
    np.add.at(counts, (rows, answers[rows, columns]), 1)
    return counts


def ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> Measure:
    """Return the ratio of two sums over questions."""
    statistics = np.column_stack([numerator, denominator]).astype(np.float64)
    return Measure(statistics, lambda means: _divide(means[..., 0], means[..., 1]), int((denominator > 0).sum()))


def _divide(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(one, other, out=np.full(np.shape(one), np.nan), where=np.asarray(other) > 0)


def _above_chance(observed: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    return _divide(observed - chance, 1 - chance)


def _pair_agreement(counts: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which questions have two or more answers, and the share of pairs of answers that agree, else 0."""
    n = counts.sum(axis=1)
    pairs = n * (n - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    return n > 1, np.where(n > 1, equal / np.maximum(pairs, 1), 0.0)


def observed_agreement(counts: NDArray[np.int64]) -> Measure:
    """Return the mean over questions of the share of pairs of annotators that agree."""
    counted, agreement = _pair_agreement(counts)
    return ratio(agreement, counted)


def cohen_kappa(answers: NDArray[np.int64], n_categories: int) -> Measure:
    r"""Return Cohen's kappa of two annotators (Cohen 1960: A coefficient of agreement for nominal scales).

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}, \quad p_e = \sum_c p_{1c} p_{2c}

    with the share of equal answers :math:`p_o` and the share :math:`p_{ac}` of category c among the answers of
    annotator a, over the questions that both answer. It is undefined if both always choose one category.

    Parameters
    ----------
    answers : ndarray of int64, shape (n_questions, 2)
    n_categories : int
    """
    both = (answers != MISSING).all(axis=1)
    equal = both & (answers[:, 0] == answers[:, 1])
    categories = np.arange(n_categories)
    chosen = [(answers[:, [a]] == categories) & both[:, None] for a in (0, 1)]
    statistics = np.column_stack([both, equal, *chosen]).astype(np.float64)

    def kappa(means: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second = means[..., 2 : 2 + n_categories], means[..., 2 + n_categories :]
        chance = _divide((first * second).sum(axis=-1), means[..., 0] ** 2)
        return _above_chance(_divide(means[..., 1], means[..., 0]), chance)

    return Measure(statistics, kappa, int(both.sum()))


def fleiss_kappa(counts: NDArray[np.int64]) -> Measure:
    r"""Return Fleiss' kappa (Fleiss 1971: Measuring nominal scale agreement among many raters).

    .. math:: \kappa = \frac{\bar P - \bar P_e}{1 - \bar P_e}, \quad
        P_i = \frac{\sum_c n_{ic} (n_{ic} - 1)}{n_i (n_i - 1)}, \quad \bar P_e = \sum_c p_c^2

    with the number :math:`n_{ic}` of annotators who choose category c for question i. Fleiss has the same number
    of answers for every question; otherwise :math:`n_i` is that of the question, and questions with fewer than two
    answers do not count.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_questions, n_categories)
    """
    counted, agreement = _pair_agreement(counts)
    statistics = np.column_stack([counted, agreement, counts * counted[:, None]]).astype(np.float64)

    def kappa(means: NDArray[np.float64]) -> NDArray[np.float64]:
        used = means[..., 2:]
        chance = _divide((used**2).sum(axis=-1), used.sum(axis=-1) ** 2)
        return _above_chance(_divide(means[..., 1], means[..., 0]), chance)

    return Measure(statistics, kappa, int(counted.sum()))


def krippendorff_alpha(counts: NDArray[np.int64]) -> Measure:
    r"""Return Krippendorff's alpha for nominal data.

    Krippendorff 2011: Computing Krippendorff's alpha-reliability, section C.

    .. math:: \alpha = 1 - \frac{D_o}{D_e} = 1 - (n - 1) \frac{n - \sum_c o_{cc}}{n^2 - \sum_c n_c^2}, \quad
        o_{cc} = \sum_i \frac{n_{ic} (n_{ic} - 1)}{n_i - 1}

    over the n answers to questions with two or more of them. Missing answers need no special case.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_questions, n_categories)
    """
    answers = counts.sum(axis=1)
    counted = answers > 1
    matched = np.where(counted, (counts * (counts - 1)).sum(axis=1) / np.maximum(answers - 1, 1), 0.0)
    statistics = np.column_stack([matched, counts * counted[:, None]]).astype(np.float64)
    n_questions = len(counts)

    def alpha(means: NDArray[np.float64]) -> NDArray[np.float64]:
        totals = means * n_questions
        n = totals[..., 1:].sum(axis=-1)
        observed = n - totals[..., 0]
        return 1 - _divide((n - 1) * observed, n**2 - (totals[..., 1:] ** 2).sum(axis=-1))

    return Measure(statistics, alpha, int(counted.sum()))


def free_marginal_s(counts: NDArray[np.int64], n_options: NDArray[np.int64]) -> Measure:
    r"""Return the agreement above a chance of 1/k: S, or kappa with free marginals.

    .. math:: S = \frac{\bar P - \bar P_e}{1 - \bar P_e}, \quad \bar P_e = \text{mean of } 1 / k_i

    with the number :math:`k_i` of options of question i: Bennett, Alpert and Goldstein 1954 for two annotators,
    Brennan and Prediger 1981 (kappa_n), Randolph 2005 for more. Options in random order are exchangeable, so this
    is the probability that guesses agree, whatever positions annotators prefer.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_questions, n_categories)
    n_options : ndarray of int64, shape (n_questions,)
    """
    counted, agreement = _pair_agreement(counts)
    statistics = np.column_stack([counted, agreement, counted / np.maximum(n_options, 1)]).astype(np.float64)

    def s(means: NDArray[np.float64]) -> NDArray[np.float64]:
        return _above_chance(_divide(means[..., 1], means[..., 0]), _divide(means[..., 2], means[..., 0]))

    return Measure(statistics, s, int(counted.sum()))
