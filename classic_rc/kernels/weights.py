"""Inverse counts and decays as fixed-point integers, whose sums do not depend on the order of
addition.

Richardson et al. 2013 (Algorithm 1) weigh a word w by ``IC(w) = ln(1 + 1 / C(w))``. The last bits
of a sum of such floats depend on the order of addition, and those bits decide ties, which a third
of the questions have. Sums of integers have no such order: ``round(2**26 * IC)`` keeps 7 decimals,
and a window's sum is far below ``2**53``.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SCALE = 2**26
"""The integer that represents a weight of 1."""

DECAY_SCALE = 2**20
"""A decay of 1 as an integer."""

_CONTEXT = Context(prec=40, rounding=ROUND_HALF_EVEN)


@lru_cache(maxsize=65536)
def inverse_count_weight(count: int, total: int = 1) -> int:
    """Return ``round(2**26 * ln(1 + total / count))``, in decimal so that no platform's `log`
    changes a bit.

    If `total` is the number of texts and `count` the number of texts that have a word, this is the
    word's idf.

    Examples
    --------
    >>> (
    ...     inverse_count_weight(4),
    ...     inverse_count_weight(8) + inverse_count_weight(9),
    ... )  # ln 5/4 = ln 9/8 + ln 10/9
    (14974910, 14974911)
    """
    if count < 1:
        raise ValueError(f"a count must be at least 1, got {count}")
    ratio = _CONTEXT.divide(Decimal(count + total), Decimal(count))
    return int((_CONTEXT.ln(ratio) * SCALE).to_integral_value(ROUND_HALF_EVEN))


def inverse_count_weights(counts: NDArray[np.integer], total: int = 1) -> NDArray[np.int32]:
    """Return :func:`inverse_count_weight` of every element, 0 for a count of 0; same shape as
    `counts`.
    """
    if counts.max(initial=0) <= counts.size:  # small counts: a table over all of them beats sorting
        distinct = np.flatnonzero(np.bincount(counts.ravel()))
        table = np.zeros(int(counts.max(initial=0)) + 1, dtype=np.int32)
        table[distinct] = _weights_of(distinct, total)
        return table[counts]
    distinct, inverse = np.unique(counts, return_inverse=True)
    return _weights_of(distinct, total)[inverse].reshape(counts.shape)


def _weights_of(counts: NDArray[np.integer], total: int) -> NDArray[np.int32]:
    return np.array(
        [inverse_count_weight(int(c), total) if c else 0 for c in counts], dtype=np.int32
    )


@lru_cache
def decay_weights(reach: int) -> NDArray[np.int64]:
    """Return ``round(2**20 * exp(-d / reach))`` for d = 0, 1, ..., up to the first 0.

    Integers make sums exact; in decimal, no platform's `exp` changes a bit.

    Examples
    --------
    >>> decay_weights(5)[:3] / 2**20
    array([1.        , 0.81873035, 0.67032051])
    """
    weights = [DECAY_SCALE]
    while weights[-1]:
        value = _CONTEXT.exp(_CONTEXT.divide(Decimal(-len(weights)), Decimal(reach)))
        weights.append(int((value * DECAY_SCALE).to_integral_value(ROUND_HALF_EVEN)))
    return np.array(weights, dtype=np.int64)
