"""A system's metric on some of the questions: its value, interval and test, and whether it is the
best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from classic_rc.predictions import AnswerCounts
from classic_rc.results.outcomes import UNTESTED, Row, Tested
from classic_rc.results.resampling import Interval


@dataclass(frozen=True, slots=True)
class Measured:
    """One system's metric on some of the questions, or a number that no system here has."""

    value: float | None = None  # as a fraction; None if there is none
    interval: Interval | None = None  # None if it was not asked for, or from fewer than two groups
    test: Tested = UNTESTED
    is_best: bool = False
    defines_group: bool = False  # the questions are those that it solves, or does not solve
    deviation: float | None = None  # over the runs of the system
    row: Row | None = None  # what was measured; None for numbers of others
    lacks_answers: bool = False  # some answers to the questions say nothing
    printed: str | None = None  # a published figure, in percent with its digits
    sample: int | None = None  # the number of questions, if it is a sample of them
    reason: str | None = None  # why there is no value, if that is known

    @property
    def mark(self) -> str:
        """The marks of the tests against baselines; § if the system's answers define the group."""
        return self.test.mark + "§" * self.defines_group

    @property
    def is_expected(self) -> bool:
        """Whether it is an expectation over draws."""
        return self.row is not None and self.row.expected

    @property
    def is_tuned_here(self) -> bool:
        """Whether the system was tuned on the data that it reports."""
        return self.row is not None and self.row.tuned_here

    @property
    def answers(self) -> AnswerCounts | None:
        """How many answers of the system's file say something."""
        return None if self.row is None else self.row.answers

    def number(self, decimals: int) -> str | None:
        """Return the number in percent, as a table prints it; None without a value."""
        if self.printed is not None:  # no digits are made up
            digits = min(decimals, len(self.printed.partition(".")[2]))
            return str(Decimal(self.printed).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
        return None if self.value is None else f"{100 * self.value:.{decimals}f}"

    def shown(self, decimals: int = 9) -> float | Decimal | None:
        """Return what a cell shows: the value, or the printed digits of a published figure."""
        if self.printed is None:
            return self.value
        return Decimal(self.number(decimals) or self.printed).scaleb(-2)


GIVEN = "given"
"""The source of the numbers that a suite gives."""


@dataclass(frozen=True, slots=True)
class GivenNumber:
    """A number next to the rows: given, or measured on a sample of the questions."""

    metric: str
    group: str | None  # of questions; None for all
    value: float  # as a fraction
    printed: str | None = None  # in percent with its digits; None for a sample
    interval: Interval | None = None  # of a sample
    questions: int | None = None  # of a sample

    @property
    def measured(self) -> Measured:
        """The number as one of a table."""
        return Measured(self.value, self.interval, printed=self.printed, sample=self.questions)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a table that no row has: given, or published
    (`classic_rc.results.published.PublishedRow`).
    """

    system: str
    source: str
    number: GivenNumber  # of an unknown value if it is NaN
    cites: str | None = None
    key: str | None = None  # of the group of questions, if it is known
    note: str | None = None  # on the row


def given_figures(
    numbers_by_name: Mapping[str, Iterable[GivenNumber]], by: str | None
) -> list[Figure]:
    """Return the numbers that a suite gives, by name, on groups of the key `by`."""
    figures = []
    for name, numbers in numbers_by_name.items():
        for number in numbers:
            coverage = number.questions and f"{number.questions:,} of the questions"
            key = number.group and by
            figures.append(Figure(name, GIVEN, number, key=key, note=coverage or None))
    return figures


def find_best(
    rows: Sequence[Row], values: Sequence[float | None], left_out: AbstractSet[str], decimals: int
) -> set[int]:
    """Return the indices of the rows with the best printed value.

    Expectations, rows tuned on the data that they report, and those of `left_out` are not compared.
    No value is the best of fewer than two.
    """
    compared = {}
    for i, (row, value) in enumerate(zip(rows, values, strict=True)):
        if value is None or row.name in left_out or row.expected or row.tuned_here:
            continue
        # Values that print alike are equally good, whatever their other digits.
        compared[i] = float(f"{100 * value:.{decimals}f}")
    if len(compared) < 2:
        return set()
    best = max(compared.values())
    return {i for i, printed in compared.items() if printed == best}
