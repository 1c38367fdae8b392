"""How right options are distributed over positions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from classic_rc.questions import Dataset, Task


@dataclass(frozen=True, slots=True)
class Balance:
    """The distribution of right options over positions.

    Parameters
    ----------
    right_share : float
        The share of all options that is right.
    positions : tuple of int
        Single choice: the number of right options at each position; else empty.
    expected : tuple of float
        The numbers expected if right options were placed at random within each question.
    chi_square : float or None
        The sum over positions of (observed - expected)^2 / expected; None with fewer than two positions.
    degrees : int
        The degrees of freedom.
    p : float or None
        The probability of a chi-square at least this large; approximate if questions differ in their number of
        options.
    """

    right_share: float
    positions: tuple[int, ...] = ()
    expected: tuple[float, ...] = ()
    chi_square: float | None = None
    degrees: int = 0
    p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def measure_label_balance(dataset: Dataset) -> Balance | None:
    """Measure how right options are distributed over positions.

    Parameters
    ----------
    dataset : Dataset
        Of choices, with gold answers.

    Returns
    -------
    Balance or None
        None if there is no option.
    """
    counts = np.array([len(q.candidates) for q in dataset], dtype=np.int64)
    rights = np.array([len(q.gold or ()) for q in dataset])
    if not counts.sum():
        return None
    share = float(rights.sum() / counts.sum())
    if dataset.task is not Task.SINGLE_CHOICE:
        return Balance(share)
    observed = np.bincount([i for q in dataset for i in q.gold or () if isinstance(i, int)], minlength=counts.max())
    # A question with k options and r right ones expects r/k right options at each of its k positions.
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
