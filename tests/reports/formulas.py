"""A reader's view of formulas: scores computed again from JSON and from the printed text, by
nothing else.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from classic_rc.reports.explanations import explanation_text
from classic_rc.solvers.explanation import Explanation

_FUNCTIONS = {
    "ln": math.log,
    "sqrt": math.sqrt,
    "max": max,
    "min": min,
    "__builtins__": {},
}
_LINE = re.compile(r" {4}(?P<indent> *)(?P<value>-?[\d.]+)  (?P<rest>.*)")
_SUM = re.compile(r"sum of the (\d+) numbers below")


def assert_formulas_add_up(explanation: Explanation) -> None:
    """Every candidate has a formula; JSON gives the score, and so does the text, with few digits
    and with many.
    """
    document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    explained = [c for c in document["candidates"] if "formula" in c]
    assert len(explained) == min(len(explanation.candidates), len(explained))
    assert len(explained) >= min(len(explanation.candidates), 100)
    for candidate in explained:
        assert candidate["formula"]["value"] == candidate["score"]
        assert math.isclose(
            compute(candidate["formula"]), candidate["score"], rel_tol=1e-5, abs_tol=1e-5
        )
    for digits, every in ((5, False), (2, True)):
        n_checked = _check_text(explanation_text(explanation, digits=digits, every=every), digits)
        assert n_checked == min(len(explanation.candidates), 20)


def compute(term: dict[str, Any]) -> float:
    """Compute a term of the JSON document from the given numbers."""
    parts = [compute(part) for part in term.get("parts", ())]
    match term.get("operation"):
        case None:
            return float(term["value"])
        case "sum":
            return math.fsum(parts)
        case "product":
            return math.prod(parts)
        case "quotient":
            return parts[0] / parts[1]
        case "negative":
            return -parts[0]
        case "maximum":
            return max(parts)
        case "minimum":
            return min(parts)
        case "logarithm":
            return math.log(parts[0])
        case "root":
            return math.sqrt(parts[0])
    raise AssertionError(term["operation"])


def _check_text(text: str, digits: int) -> int:
    """Every line's expression gives the line's number, and the first line's is the score of the
    heading.

    Returns the number of candidates whose formulas were checked.
    """
    lines, n_checked = text.splitlines(), 0
    for number, line in enumerate(lines):
        heading = re.search(r"\)  ?.*  \|  score (-?[\d.]+)(?=  |$)", line)
        if (
            not heading
            or number + 1 == len(lines)
            or not (first := _LINE.fullmatch(lines[number + 1]))
        ):
            continue
        assert first["value"] == heading[1]
        n_checked += 1
        block: list[tuple[int, float, str]] = []
        for row in lines[number + 1 :]:
            if not (match := _LINE.fullmatch(row)) or (block and not match["indent"]):
                break
            block.append((len(match["indent"]), float(match["value"]), match["rest"]))
        for i, (depth, value, rest) in enumerate(block):
            below = []
            for other_depth, other_value, _ in block[i + 1 :]:
                if other_depth <= depth:
                    break
                if other_depth == depth + 2:
                    below.append(other_value)
            computed = _evaluate(rest, below)
            if computed is None:
                continue
            unit = 10.0**-digits
            tolerance = unit * (min(abs(value), 1) or 1) * 1.01
            if i == 0:  # the score has exactly `digits` digits
                tolerance += unit
            assert abs(computed - value) <= tolerance, (rest, computed, value)
    return n_checked


def _evaluate(rest: str, below: list[float]) -> float | None:
    """Return what the expression behind a name gives; None for a given number."""
    expression = rest.split("  # ")[0]
    if many := _SUM.search(expression):
        assert len(below) == int(many[1])
        return math.fsum(below)
    _, equals, formula = expression.rpartition(" = ")
    return eval(formula, dict(_FUNCTIONS)) if equals else None  # our own output
