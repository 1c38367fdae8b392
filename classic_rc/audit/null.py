"""The null distribution of a rule: gold is permuted within each question, or between questions that are alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_EXACT_CELLS = 2**15
"""A sum with at most this many possible values gets its exact distribution; others a saddle point approximation."""

_ROUNDING = 1e-9
_EXACT_FLOOR = 1e-11
"""Exact probabilities below this are mostly rounding errors of the Fourier transform."""


@dataclass(frozen=True, slots=True)
class Tails:
    """How often permuted gold reaches a credit: at least as much, and at most as much."""

    upper: float
    lower: float

    @property
    def two_sided(self) -> float:
        """Twice the smaller tail, at most 1."""
        return min(1.0, 2 * min(self.upper, self.lower))


def permutation_tails(
    sizes: Integers, right: Integers, selected: Integers, hits: Integers, weights: Floats
) -> Tails:
    r"""Return the tails of a credit when gold is permuted within each question.

    The credit is :math:`\sum_q w_q h_q`. Of the k options of question q, g are right and s selected. If gold is
    drawn at random, in its number, the number of hits h is hypergeometric. Questions are independent.

    Questions of equal k, g, s and w have equal distributions, so the generating function of the sum is a product of
    few powers. Its Fourier transform gives exact tails; with very many questions, the saddle point approximation of
    Lugannani and Rice 1980 does.

    Parameters
    ----------
    sizes, right, selected, hits : ndarray of int64, shape (n_questions,)
        k, g, s and the observed h.
    weights : ndarray of float64, shape (n_questions,)

    Returns
    -------
    Tails

    Examples
    --------
    >>> two = np.array([2, 2]); one = np.array([1, 1])
    >>> tails = permutation_tails(two, one, one, one, np.ones(2))
    >>> round(tails.upper, 12), round(tails.lower, 12)
    (0.25, 1.0)
    """
    informative = (selected > 0) & (selected < sizes) & (right > 0) & (right < sizes)
    if not informative.any():
        return Tails(1.0, 1.0)
    most = int(sizes.max()) + 1
    keys = (sizes[informative] * most + right[informative]) * most + selected[informative]
    keys, first, counts = np.unique(keys, return_index=True, return_counts=True)
    lots = np.stack((keys // most**2, keys // most % most, keys % most))
    lot_weights = weights[informative][first]  # the weight is a function of k, g and s
    observed = float((weights[informative] * hits[informative]).sum())
    distributions = [
        _hits_distribution(k, g, s, w) for (k, g, s), w in zip(lots.T.tolist(), lot_weights.tolist(), strict=True)
    ]
    unit = _common_unit(lot_weights)
    steps = [np.rint(values / unit).astype(np.int64) for values, _ in distributions]
    least = sum(int(n) * int(s[0]) for n, s in zip(counts, steps, strict=True))
    span = sum(int(n) * int(s[-1] - s[0]) for n, s in zip(counts, steps, strict=True))
    if span < _EXACT_CELLS:
        tails = _exact_tails(counts, steps, [odds for _, odds in distributions], least, span, observed / unit)
        if min(tails.upper, tails.lower) > _EXACT_FLOOR:
            return tails
    return _saddle_point_tails(counts, distributions, observed, unit)


def _hits_distribution(k: int, g: int, s: int, weight: float) -> tuple[Floats, Floats]:
    """Return the possible credits of a question, and their probabilities."""
    hits = range(max(0, g + s - k), min(g, s) + 1)
    odds = [math.comb(s, h) * math.comb(k - s, g - h) / math.comb(k, g) for h in hits]
    return weight * np.array(hits, dtype=np.float64), np.array(odds)


def _common_unit(weights: Floats) -> float:
    """Return the largest unit such that 1 and all weights 1/s are multiples of it."""
    return 1 / math.lcm(*(round(1 / w) for w in set(weights.tolist())))


def _exact_tails(
    counts: Integers, steps: Sequence[Integers], odds: Sequence[Floats], least: int, span: int, observed: float
) -> Tails:
    angles = np.exp(-2j * np.pi * np.arange((span + 1) // 2 + 1) / (span + 1))
    transform = np.ones(len(angles), dtype=np.complex128)
    for n, own, p in zip(counts.tolist(), steps, odds, strict=True):
        transform *= sum(p_h * angles ** (h - own[0]) for h, p_h in zip(own.tolist(), p.tolist(), strict=True)) ** n
    distribution = np.fft.irfft(transform, span + 1).clip(0)
    place = int(np.rint(observed)) - least
    return Tails(min(1.0, float(distribution[place:].sum())), min(1.0, float(distribution[: place + 1].sum())))


def _saddle_point_tails(
    counts: Integers, distributions: Sequence[tuple[Floats, Floats]], observed: float, unit: float
) -> Tails:
    """Return both tails by Lugannani and Rice, with the continuity correction of a lattice."""
    n = counts.astype(np.float64)[:, None]
    most = max(len(values) for values, _ in distributions)
    # Impossible credits fill the rows, with the row's last value and the probability 0.
    values = np.array([np.pad(own, (0, most - len(own)), mode="edge") for own, _ in distributions])
    odds = np.array([np.pad(own, (0, most - len(own))) for _, own in distributions])
    mean = float((n * values * odds).sum())
    variance = float((n[:, 0] * ((values**2 * odds).sum(axis=1) - (values * odds).sum(axis=1) ** 2)).sum())

    def tail(sign: float) -> float:
        """P(sign * X >= sign * observed); half a unit corrects for the lattice."""
        v, centre = sign * values, sign * mean
        x = sign * observed - unit / 2
        if abs(x - centre) < 1e-3 * math.sqrt(variance):
            return 0.5
        if x >= float((n[:, 0] * v.max(axis=1)).sum()):
            return 0.0

        def cumulants(t: float) -> tuple[float, float, float]:
            e = t * v
            top = e.max(axis=1, keepdims=True)
            q = odds * np.exp(e - top)
            z = q.sum(axis=1, keepdims=True)
            first = (v * q).sum(axis=1, keepdims=True) / z
            second = (v**2 * q).sum(axis=1, keepdims=True) / z - first**2
            return float((n * (np.log(z) + top)).sum()), float((n * first).sum()), float((n * second).sum())

        low, high = (0.0, 1.0) if x > centre else (-1.0, 0.0)
        while x > centre and cumulants(high)[1] < x and high < 1e4:
            low, high = high, 2 * high
        while x <= centre and cumulants(low)[1] > x and low > -1e4:
            low, high = 2 * low, low
        for _ in range(60):
            t = (low + high) / 2
            low, high = (t, high) if cumulants(t)[1] < x else (low, t)
        t = (low + high) / 2
        total, _, second = cumulants(t)
        r = math.copysign(math.sqrt(max(2 * (t * x - total), 0.0)), t)
        u = t * math.sqrt(max(second, 1e-300))
        if abs(r) < 1e-4 or abs(u) < 1e-300:
            return 0.5
        density = math.exp(-r * r / 2) / math.sqrt(2 * math.pi)
        return min(1.0, max(0.0, math.erfc(r / math.sqrt(2)) / 2 + density * (1 / u - 1 / r)))

    return Tails(tail(1.0), tail(-1.0))


def class_tails(predicted: Floats, gold: Integers) -> Tails:
    """Return the tails of the credit when gold classes are permuted between questions with the same options.

    Two classes give Fisher's exact test. More classes give a normal approximation with the moments of Hoeffding's
    permutation statistic (1951).

    Parameters
    ----------
    predicted : ndarray of float64, shape (n_questions, n_classes)
        The credit of each class if it is right: 1 for the answer, 1/s for each of s tied answers.
    gold : ndarray of int64, shape (n_questions,)
        The right class.

    Returns
    -------
    Tails
    """
    decided = np.ptp(predicted, axis=1) > _ROUNDING
    predicted, gold = predicted[decided], gold[decided]
    n, k = predicted.shape
    if n < 2:
        return Tails(1.0, 1.0)
    if k == 2:
        from scipy.stats import hypergeom

        chosen = predicted[:, 1] > 0.5
        both = int((chosen & (gold == 1)).sum())
        null = hypergeom(n, int((gold == 1).sum()), int(chosen.sum()))
        return Tails(float(null.sf(both - 1)), float(null.cdf(both)))
    deviation, variance = class_moments(predicted, gold)
    if variance <= _ROUNDING:
        return Tails(1.0, 1.0)
    z = deviation / math.sqrt(variance)
    return Tails(math.erfc(z / math.sqrt(2)) / 2, math.erfc(-z / math.sqrt(2)) / 2)


def class_moments(predicted: Floats, gold: Integers) -> tuple[float, float]:
    """Return the credit minus its expectation, and its variance, if gold is permuted between questions.

    Parameters are those of :func:`class_tails`; there are at least two questions.
    """
    n, k = predicted.shape
    observed = float(predicted[np.arange(n), gold].sum())
    share = np.bincount(gold, minlength=k) / n
    mean = float((predicted @ share).sum())
    # The credit of question i under gold of question j, minus row and column means, plus the overall mean.
    centred = predicted - (predicted @ share)[:, None] - predicted.mean(axis=0)[None, :] + mean / n
    return observed - mean, float((centred**2 @ share).sum()) * n / (n - 1)


def deflated(p: float) -> float:
    r"""Return a p-value for predictions learned out of fold, from that of fixed predictions.

    Predictions are independent of their own fold's gold. But folds learn from each other: if a cue deviates by
    chance, in any direction, questions i and j of two folds each raise the credit of the other. The credit is then
    close to a quadratic form :math:`\sum_{i \ne j} K_{ij} x_i x_j`, in which each pair counts twice, and its
    variance is at most twice that of fixed predictions. So the normal deviate of `p` is divided by the root of 2.

    Examples
    --------
    >>> round(deflated(0.001), 4), deflated(0.5)
    (0.0144, 0.5)
    """
    from scipy.stats import norm

    return float(norm.sf(norm.isf(min(max(p, 1e-300), 1.0)) / math.sqrt(2))) if p < 1 else 1.0


def weighted_holm(p_values: Sequence[float], weights: Sequence[float]) -> Floats:
    r"""Adjust p-values by Holm's procedure with weights.

    The smallest :math:`p_i / w_i` is multiplied with the sum of all weights, the next with that of the rest, and so
    on; adjusted values never decrease. Rejecting those up to 0.05 makes any error in at most 5 % of families, for
    any dependence (Holm 1979, section 4). Equal weights give Holm's ordinary procedure.

    Parameters
    ----------
    p_values, weights : sequence of float, length m
        Weights are positive and must not depend on the p-values.

    Returns
    -------
    ndarray of float64, shape (m,)

    Examples
    --------
    >>> weighted_holm([0.01, 0.04, 0.03], [1, 1, 1]).tolist()
    [0.03, 0.06, 0.06]
    """
    p, w = np.asarray(p_values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    order = np.argsort(p / w, kind="stable")
    remaining = np.cumsum(w[order][::-1])[::-1]
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1, (p / w)[order] * remaining))
    return adjusted
