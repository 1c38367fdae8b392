"""Formulas as lines: digits, signs and brackets, long sums."""

from __future__ import annotations

import math

import pytest

from classic_rc.reports.formulas import formula_lines
from classic_rc.solvers.explanation import (
    divided,
    given,
    least,
    logarithm,
    minus,
    plus,
    root,
    times,
)


def first(formula, **options) -> str:
    return str(formula_lines(formula, **options)[0])


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        (plus("s", 1, minus("", 2), -3), "-4.00000  s = 1 - 2 - 3"),
        (times("s", plus("", 1, 2), -3), "-9.00000  s = (1 + 2) * (-3)"),
        (minus("s", plus("", 1, 2)), "-3.00000  s = -(1 + 2)"),
        (divided("s", times("", 2, 3), times("", 4, 5)), "0.30000  s = 2 * 3 / (4 * 5)"),
        (divided("s", plus("", 1, 2), divided("", 3, 4)), "4.00000  s = (1 + 2) / (3 / 4)"),
        (logarithm("s", plus("", 1, divided("", 1, 2))), "0.40547  s = ln(1 + 1 / 2)"),
        (plus("s", 1, least("", 5, 4)), "5.00000  s = 1 + min(5, 4)"),
        (root("s", 2.25), "1.50000  s = sqrt(2.25)"),
        (given("s", 2, "counted"), "2.00000  s  # counted"),
        (plus("s"), "0.00000  s = 0"),
        (given("a\x1bb", math.inf), r"inf  a\x1bb"),
    ],
)
def test_an_expression_is_written_as_in_python(formula, line):
    assert first(formula) == line


def test_parts_have_the_digits_that_the_score_needs():
    thirds = plus("s", *(given(f"p{i}", 1 / 3) for i in range(6)))
    assert first(thirds, digits=1) == "2.0  s = " + " + ".join(["0.33"] * 6)
    # 1000 times a rounding error needs three more digits.
    product = times("s", given("many", 1000), given("share", 2 / 3))
    assert first(product, digits=2) == "666.67  s = 1000 * 0.66667"


def test_small_numbers_keep_their_digits():
    formula = logarithm("s", given("p", 1.2345678e-7))
    printed = float(formula_lines(formula, digits=3)[1].value)
    assert abs(math.log(printed) - formula.value) <= 1e-3


def test_a_long_sum_shows_its_largest_numbers_and_the_rest():
    formula = plus("s", *(given(f"p{i}", i / 8) for i in range(20)))
    lines = formula_lines(formula)
    largest = [f"p{i}" for i in range(10, 20)]
    assert [line.name for line in lines] == ["s", *largest, "10 more"]
    assert lines[0].expression == "sum of the 11 numbers below"
    assert sum(float(line.value) for line in lines[1:]) == formula.value
    assert len(formula_lines(formula, every=True)) == 21


def test_numbers_inside_an_expression_have_lines_of_their_own_if_they_have_names():
    formula = minus("s", times("", given("weight", 11), divided("distance", 1, 4)))
    lines = formula_lines(formula, digits=2)
    written = ["-2.75  s = -11 * 0.25", "11  weight", "0.25  distance = 1 / 4"]
    assert list(map(str, lines)) == written
    assert [line.depth for line in lines] == [0, 1, 1]
