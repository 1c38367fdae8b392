"""What a statistic comes to: values to take the mean of, a count, or a vocabulary; each can be pooled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Values:
    """A number of each passage, question or candidate; pooling puts them together, so that the mean is over all.

    Parameters
    ----------
    numbers : ndarray, shape (n,)
        Booleans where a share is meant.
    """

    numbers: NDArray[Any]

    def __add__(self, other: Values) -> Values:
        return Values(np.concatenate((self.numbers, other.numbers)))

    @property
    def value(self) -> float | None:
        """The mean; None of nothing."""
        return float(self.numbers.mean()) if len(self.numbers) else None

    @property
    def spread(self) -> float | None:
        """The standard deviation, with the number of values as its denominator."""
        return float(self.numbers.std()) if len(self.numbers) else None

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with quartiles."""
        if not len(self.numbers):
            return {"n": 0}
        least, lower, median, upper, most = np.quantile(
            self.numbers.astype(float), (0, 0.25, 0.5, 0.75, 1)
        ).tolist()
        return {
            "n": len(self.numbers),
            "mean": self.value,
            "sd": self.spread,
            "min": least,
            "q25": lower,
            "median": median,
            "q75": upper,
            "max": most,
        }


@dataclass(frozen=True)
class Count:
    """How many; pooling adds."""

    value: int

    def __add__(self, other: Count) -> Count:
        return Count(self.value + other.value)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"count": self.value}


@dataclass(frozen=True)
class Vocabulary:
    """Distinct words; pooling joins."""

    words: frozenset[str]

    def __add__(self, other: Vocabulary) -> Vocabulary:
        return Vocabulary(self.words | other.words)

    @property
    def value(self) -> int:
        """How many words."""
        return len(self.words)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without the words."""
        return {"count": self.value}


Measure: TypeAlias = "Values | Count | Vocabulary"


def pooled(measures: Iterable[Measure]) -> Measure:
    """Measures of one kind, taken of several parts, as that of all of them.

    Examples
    --------
    >>> pooled([Values(np.array([1, 2])), Values(np.array([6]))]).value
    3.0
    """
    return reduce(add, measures)
