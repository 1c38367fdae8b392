"""Many tests at once: adjusted p-values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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
