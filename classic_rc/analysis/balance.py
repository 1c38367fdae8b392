"""Where the right options stand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from classic_rc.questions import Dataset, Task


@dataclass(frozen=True, slots=True)
class Balance:
    """How right options are spread.

    Parameters
    ----------
    right_share : float
        The share of all options that is right.
    positions : tuple of int
        Single choice: how many right options stand at each position; else empty.
    expected : tuple of float
        How many would, were they spread at random within each question.
    chi_square : float or None
        The sum over positions of (observed - expected)^2 / expected; None where there is nothing to compare.
    degrees : int
        Its degrees of freedom.
    p : float or None
        Of a chi-square distribution that large or larger; approximate where questions differ in their number of
        options.
    """

    right_share: float
    positions: tuple[int, ...] = ()
    expected: tuple[float, ...] = ()
    chi_square: float | None = None
    degrees: int = 0
    p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def label_balance(dataset: Dataset) -> Balance | None:
    """How right options are spread over a dataset of choices with gold answers; None without an option."""
    counts = np.array([len(q.candidates) for q in dataset], dtype=np.int64)
    rights = np.array([len(q.gold or ()) for q in dataset])
    if not counts.sum():
        return None
    share = float(rights.sum() / counts.sum())
    if dataset.task is not Task.SINGLE_CHOICE:
        return Balance(share)
    observed = np.bincount([i for q in dataset for i in q.gold or () if isinstance(i, int)], minlength=counts.max())
    has = counts[:, None] > np.arange(counts.max())
    expected = np.where(has, (rights / np.maximum(counts, 1))[:, None], 0).sum(axis=0)
    degrees = int(np.count_nonzero(expected)) - 1
    if degrees < 1:
        return Balance(share, tuple(observed.tolist()), tuple(expected.tolist()))
    from scipy.stats import chi2

    likely = expected > 0
    chi_square = float(((observed - expected)[likely] ** 2 / expected[likely]).sum())
    return Balance(
        share,
        tuple(observed.tolist()),
        tuple(expected.tolist()),
        chi_square,
        degrees,
        float(chi2.sf(chi_square, degrees)),
    )
