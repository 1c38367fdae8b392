"""Formulas of explanations as lines of text: every number is shown, and the shown numbers add
up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from classic_rc.io.text import printable
from classic_rc.solvers.explanation import OPERATIONS, Term

DIGITS = 5
"""The digits after the decimal point of a score, unless the user chooses."""
_MORE_DIGITS = 8
_WRITTEN_OUT = 6
"""A sum of up to this many numbers is written as an expression; a longer one is the numbers
below it.
"""
_MOST_LINES, _SHOWN_LINES = 12, 10
"""A sum with more lines below it shows its largest numbers, unless the user wants all."""


class FormulaLine(NamedTuple):
    """One number of a formula."""

    depth: int  # 0 for the score
    value: str
    name: str
    expression: str  # how the number is made of those that are shown; empty for a given number
    note: str

    def __str__(self) -> str:
        expression = f" = {self.expression}" if self.expression else ""
        note = f"  # {self.note}" if self.note else ""
        return f"{self.value}  {self.name}{expression}{note}"


def formula_lines(formula: Term, *, digits: int = DIGITS, every: bool = False) -> list[FormulaLine]:
    """Return a formula as lines: each number, followed by the numbers that it is made of.

    The score has `digits` digits after the decimal point. The other numbers have as many more as
    they need: each expression gives the number before it with an error of at most one unit in the
    score's last digit (for numbers below 1, in the last of `digits` significant digits). Without
    `every`, a long sum has its ten largest numbers, and the sum of the others.
    """
    folded = formula if every else _fold(formula)
    for extra in range(_MORE_DIGITS):
        numbers = _Numbers(digits, extra)
        if _adds_up(folded, numbers):
            break
    else:
        numbers = _Numbers(digits, 2)
    return list(_lines(folded, numbers, 0))


class _Numbers(NamedTuple):
    """How numbers are written."""

    digits: int
    extra: int

    def write(self, value: float) -> str:
        """Write whole numbers and constants such as 0.9 as such, and others with enough
        significant digits.
        """
        if not math.isfinite(value):
            return str(value)
        if value == int(value) and abs(value) < 1e15:
            return str(int(value))
        zeros = max(-math.floor(math.log10(abs(value))) - 1, 0)
        written = f"{value:.{self.digits + self.extra + zeros}f}"
        exact = written.rstrip("0")
        return exact if math.isclose(float(exact), value, rel_tol=1e-12) else written

    def read(self, term: Term) -> float:
        """Return the number that a reader has for a term."""
        if term.operation is None or term.name:
            return float(self.write(term.value))
        return self.compute(term)

    def compute(self, term: Term) -> float:
        """Return what a term's operation gives for the shown numbers."""
        assert term.operation is not None
        return OPERATIONS[term.operation]([self.read(operand) for operand in term.parts])


def _fold(term: Term) -> Term:
    """Add up the smaller numbers of long sums."""
    parts = tuple(map(_fold, term.parts))
    if (
        term.operation == "sum"
        and len(parts) > _MOST_LINES
        and all(operand.name for operand in parts)
    ):
        by_size = sorted(range(len(parts)), key=lambda i: -abs(parts[i].value))
        largest = by_size[:_SHOWN_LINES]
        rest = [parts[i] for i in range(len(parts)) if i not in largest]
        total = math.fsum(operand.value for operand in rest)
        others = Term(f"{len(rest)} more", total, note="--all shows them")
        parts = (*(parts[i] for i in sorted(largest)), others)
    return replace(term, parts=parts)


def _adds_up(term: Term, numbers: _Numbers) -> bool:
    """Return whether all expressions give their numbers; a term without a name shows none."""
    if term.operation is not None and term.name and math.isfinite(term.value):
        unit = 10.0**-numbers.digits
        try:
            error = abs(numbers.compute(term) - numbers.read(replace(term, operation=None)))
        except (ValueError, ZeroDivisionError, OverflowError):
            return False
        if error > unit * (min(abs(term.value), 1) or 1) * (1 + 1e-9):
            return False
    return all(_adds_up(operand, numbers) for operand in term.parts)


def _lines(term: Term, numbers: _Numbers, depth: int) -> Iterator[FormulaLine]:
    value = numbers.write(term.value)
    if depth == 0:  # the score has exactly the digits that the heading shows
        value = f"{term.value:.{numbers.digits}f}"
    expression = _write_expression(term, numbers) if term.operation else ""
    yield FormulaLine(depth, value, printable(term.name), expression, printable(term.note))
    for named_term in _named_parts(term):
        yield from _lines(named_term, numbers, depth + 1)


def _named_parts(term: Term) -> Iterator[Term]:
    """Yield the parts that have lines of their own: also those of parts inside the expression."""
    for operand in term.parts:
        if operand.name:
            yield operand
        else:
            yield from _named_parts(operand)


def _write_expression(term: Term, numbers: _Numbers) -> str:
    operands = [operand for operand in term.parts if operand.name]
    if term.operation == "sum" and len(operands) == len(term.parts) > _WRITTEN_OUT:
        return f"sum of the {len(operands)} numbers below"
    return _write_operation(term, numbers)


def _write_operation(term: Term, numbers: _Numbers) -> str:
    """Write an operation as Python does."""
    operands = [_write_operand(operand, numbers) for operand in term.parts]
    if term.operation == "minimum" and len(operands) == 1:
        return operands[0]
    if term.operation == "sum":
        written, *others = operands or ["0"]
        for operand in others:
            is_negative = operand.startswith("-")
            written += f" - {operand[1:]}" if is_negative else f" + {operand}"
        return written
    if term.operation == "negative":
        return f"-{_enclose(term.parts[0], operands[0], 'sum')}"
    if term.operation == "product":
        rows = zip(term.parts, operands, strict=True)
        return " * ".join(_enclose(operand, written, "sum") for operand, written in rows)
    if term.operation == "quotient":
        above = _enclose(term.parts[0], operands[0], "sum")
        return f"{above} / {_enclose(term.parts[1], operands[1], 'sum', 'product', 'quotient')}"
    functions = {"minimum": "min", "logarithm": "ln", "root": "sqrt"}
    assert term.operation is not None
    return f"{functions[term.operation]}({', '.join(operands)})"


def _write_operand(operand: Term, numbers: _Numbers) -> str:
    inside = operand.operation is not None and not operand.name
    return _write_operation(operand, numbers) if inside else numbers.write(operand.value)


def _enclose(operand: Term, written: str, *weaker: str) -> str:
    """Put brackets around an operand that binds less than what is around it, or that begins with
    a minus.
    """
    inside = operand.operation if not operand.name else None
    return f"({written})" if inside in weaker or written.startswith("-") else written
