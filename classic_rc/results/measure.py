"""A system's metric on some of the questions: its value, interval and test, and whether it is the
best.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from classic_rc.results.outcomes import UNTESTED, Row, Tested
from classic_rc.results.resampling import Interval


class Measured(NamedTuple):
    """A system's metric on some of the questions."""

    value: float  # as a fraction; NaN without questions
    interval: Interval | None = None  # None if it was not asked for, or from fewer than two groups
    test: Tested = UNTESTED
    is_best: bool = False
    defines_group: bool = False  # the questions are those that it solves, or does not solve
    deviation: float | None = None  # over the runs of the system

    @property
    def mark(self) -> str:
        """The marks of the tests against baselines; § if the system's answers define the group."""
        return self.test.mark + "§" * self.defines_group


def find_best(
    rows: Sequence[Row], values: Sequence[float], left_out: AbstractSet[str], decimals: int = 2
) -> set[int]:
    """Return the indices of the rows with the best printed value.

    Expectations, rows tuned on the data that they report, and those of `left_out` are not compared.
    No value is the best of fewer than two.
    """
    compared = [
        i
        for i, row in enumerate(rows)
        if not (row.name in left_out or row.expected or row.tuned_here)
    ]
    if len(compared) < 2 or any(values[i] != values[i] for i in compared):
        return set()
    printed = {i: float(f"{100 * values[i]:.{decimals}f}") for i in compared}
    best = max(printed.values())
    return {i for i, value in printed.items() if value == best}
