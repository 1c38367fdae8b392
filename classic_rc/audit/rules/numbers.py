"""Rules of numbers in options, and of the order of options: by number, by alphabet, by length."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules.partial_input import OPTIONS, Measure, PartialInput, has, ordered

# Numbers and the alphabet

_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_DIGIT = re.compile(r"\d")
_NUMBER_WORDS = {
    word: float(i)
    for i, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {
    "thirty": 30.0,
    "forty": 40.0,
    "fifty": 50.0,
    "sixty": 60.0,
    "seventy": 70.0,
    "eighty": 80.0,
    "ninety": 90.0,
    "hundred": 100.0,
    "thousand": 1000.0,
    "million": 1e6,
}
_HAN_NUMBERS = {c: float(i) for i, c in enumerate("零一二三四五六七八九十")} | {"两": 2.0}


def _number(text: str) -> float:
    """Return the first number of a text, in digits or in words; NaN without one."""
    if _DIGIT.search(text):
        found = _NUMBER.search(text)
        if found:
            return float(found[0].replace(",", "")[:300])
    for word in text.casefold().split():
        if word.strip(".,;:!?") in _NUMBER_WORDS:
            return _NUMBER_WORDS[word.strip(".,;:!?")]
    return (
        float("nan") if text.isascii() else next((_HAN_NUMBERS[c] for c in text if c in _HAN_NUMBERS), float("nan"))
    )


def _numbers(table: OptionTable) -> Floats:
    if "numbers" not in table.memory:
        table.memory["numbers"] = table.of_texts(_number)
    return table.memory["numbers"]


def _number_ranks(table: OptionTable) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return ranks of numbers in their question, which options have one, and which questions have two."""
    values = _numbers(table)
    known = ~np.isnan(values)
    ranks = table.rank(np.where(known, values, np.inf))  # options without a number come last
    return ranks, known, (table.sum(known.astype(np.int64)) >= 2)[table.question]


def _number_rule(name: str, score: Callable[[Floats, Floats], Floats], at_least: int = 2) -> PartialInput:
    def of(table: OptionTable) -> Floats:
        ranks, known, comparable = _number_ranks(table)
        count = table.sum(known.astype(np.float64))[table.question]
        own = np.where(known, score(ranks, count), -1e3)
        return np.where(comparable & (count >= at_least), own, 0.0)

    return PartialInput(
        f"is the {name}", OPTIONS, "numbers", f"is the {name}", f"is never or seldom the {name}", of
    )


def _nearest_to_mean(table: OptionTable) -> Floats:
    values = _numbers(table)
    known = ~np.isnan(values)
    count = table.sum(known.astype(np.float64))[table.question]
    mean = table.sum(np.where(known, values, 0.0))[table.question] / np.maximum(count, 1)
    distance = table.rank(np.where(known, np.abs(values - mean), np.inf))
    return np.where(count >= 3, np.where(known, -distance, -1e3), 0.0)


def _digit_rule(name: str, lack: str, holds: Callable[[Floats], NDArray[np.bool_]]) -> PartialInput:
    def of(table: OptionTable) -> NDArray[np.bool_]:
        values = _numbers(table)
        return ~np.isnan(values) & holds(np.where(np.isnan(values), 0.5, values))

    return has(name, "numbers", lack, of)


def _leaves(m: int, rest: int, values: Floats) -> NDArray[np.bool_]:
    return values % m == rest


_NUMBERS = (
    _number_rule("largest number", lambda rank, n: rank),
    _number_rule("smallest number", lambda rank, n: -rank),
    _number_rule("second largest number", lambda rank, n: -np.abs(rank - (n - 2)), at_least=4),
    _number_rule("second smallest number", lambda rank, n: -np.abs(rank - 1), at_least=4),
    _number_rule("middle number", lambda rank, n: -np.abs(rank - (n - 1) / 2), at_least=3),
    PartialInput(
        "is the number nearest to the mean",
        OPTIONS,
        "numbers",
        "is the number nearest to the mean",
        "is never or seldom the number nearest to the mean",
        _nearest_to_mean,
    ),
    has("has a number", "numbers", "has no number", lambda t: ~np.isnan(_numbers(t))),
    has(
        "has a number in words",
        "numbers",
        "has no number in words",
        lambda t: ~np.isnan(t.of_texts(lambda text: float("nan") if _NUMBER.search(text) else _number(text))),
    ),
    _digit_rule("is an even number", "is no even number", lambda v: v % 2 == 0),
    _digit_rule("is an odd number", "is no odd number", lambda v: v % 2 == 1),
    _digit_rule("is a round number", "is no round number", lambda v: v % 5 == 0),
    *(
        _digit_rule(
            f"is a number that leaves {rest} when divided by {m}",
            f"is no number that leaves {rest} when divided by {m}",
            partial(_leaves, m, rest),
        )
        for m in (3, 4, 5)
        for rest in range(m)
        if (m, rest) != (5, 0)
    ),
    _digit_rule("is a number with a fraction", "is no number with a fraction", lambda v: (v % 1 != 0) & (v != 0.5)),
)


def _alphabet(table: OptionTable) -> Floats:
    if "alphabet" not in table.memory:
        folded = [text.casefold().strip() for text in table.distinct_texts]
        order = {text: i for i, text in enumerate(sorted(set(folded)))}
        table.memory["alphabet"] = np.array([order[text] for text in folded], dtype=np.float64)[table.text_index]
    return table.memory["alphabet"]


def _out_of_order(measure: Measure) -> Measure:
    """Options without which the others of their question are sorted, while all together are not."""

    def score(table: OptionTable) -> Floats:
        values, result = np.asarray(measure(table), dtype=np.float64), np.zeros(len(table.texts))
        for k in np.unique(table.sizes[table.sizes >= 4]).tolist():
            starts = table.offsets[:-1][table.sizes == k]
            rows = values[starts[:, None] + np.arange(k)]
            for sign in (1, -1):
                is_sorted = np.all(sign * np.diff(rows, axis=1) > 0, axis=1)
                for i in range(k):
                    rest = np.all(sign * np.diff(np.delete(rows, i, axis=1), axis=1) > 0, axis=1)
                    result[starts[rest & ~is_sorted] + i] = 1
        return result

    return score


_ALPHABET = (
    *ordered(
        _alphabet,
        "alphabet",
        "last in the alphabet",
        "first in the alphabet",
        middle="middle in the alphabet",
        seconds=("second last in the alphabet", "second in the alphabet"),
    ),
    has("is out of alphabetical order", "alphabet", "is in alphabetical order", _out_of_order(_alphabet)),
    has("is out of order by length", "alphabet", "is in order by length", _out_of_order(lambda t: t.lengths)),
    has("is out of order by number", "alphabet", "is in order by number", _out_of_order(_numbers)),
)

NUMBER_RULES: tuple[PartialInput, ...] = (*_NUMBERS, *_ALPHABET)
