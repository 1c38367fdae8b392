"""What a rule of an audit is, and the two ways to make one: of a property, and of a quantity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable

OPTIONS = ("options",)


@dataclass(frozen=True)
class PartialInput:
    """A way to answer from part of the input: a fixed rule, or a row that learns.

    Parameters
    ----------
    name : str
        Unique; findings are accepted and compared by it.
    sees : tuple of str
        What it reads: ``options``, ``question``, ``first word of the question``, ``passage``, ``order`` (positions
        and answers of other questions), ``fields`` (ids and meta data) or ``other options`` (of other questions).
    group : str
        Rules of one kind. Each group has the same share of the error level.
    above : str
        What is said of right options if it scores above chance: "is the longest".
    below : str
        The same below chance. Empty for rows that learn their direction: these are tested on one side only.
    score : callable
        Takes an :class:`OptionTable` and returns a number for each option, shape (n_options,). For rows that learn,
        None: :mod:`classic_rc.audit.learned` has their learners.
    flips : bool
        Whether the rule is a property that options have or lack. Below chance, it answers with those that lack it.
    """

    name: str
    sees: tuple[str, ...]
    group: str
    above: str
    below: str = ""
    score: Callable[[OptionTable], Floats] | None = None
    flips: bool = False

    @property
    def reads_passage(self) -> bool:
        """Whether it sees the passage: then what it finds is a shortcut, else an artifact."""
        return "passage" in self.sees


Measure = Callable[[OptionTable], NDArray[Any]]


def has(name: str, group: str, lack: str, measure: Measure, sees: tuple[str, ...] = OPTIONS) -> PartialInput:
    """Return the rule of a property: `name` says that an option has it, `lack` that it lacks it."""

    def score(table: OptionTable) -> Floats:
        return (np.asarray(measure(table)) > 0).astype(np.float64)

    return PartialInput(name, sees, group, name, lack, score, flips=True)


def ordered(
    measure: Measure,
    group: str,
    most: str,
    least: str,
    sees: tuple[str, ...] = OPTIONS,
    middle: str = "",
    seconds: tuple[str, ...] = (),
) -> Iterator[PartialInput]:
    """Yield rules of a quantity: the largest, the smallest and, if they have names, those in between.

    `middle` is the one in the middle; `seconds` are the second largest and the second smallest (of four or more).
    """

    def ranks(table: OptionTable) -> Floats:
        # The rules of one quantity follow each other, so the last quantity is the one to remember.
        known = table.memory.get("ranks")
        if known is None or known[0] is not measure:
            known = table.memory["ranks"] = (measure, table.rank(np.asarray(measure(table))))
        return known[1]

    def nearest(place: Callable[[OptionTable], Any], smallest: int) -> Callable[[OptionTable], Floats]:
        def score(table: OptionTable) -> Floats:
            distance = np.abs(ranks(table) - place(table)[table.question])
            return np.where(table.sizes[table.question] >= smallest, -distance, 0.0)

        return score

    def rule(what: str, score: Callable[[OptionTable], Floats]) -> PartialInput:
        return PartialInput(
            f"is the {what}", sees, group, f"is the {what}", f"is never or seldom the {what}", score
        )

    yield rule(most, ranks)
    yield rule(least, lambda table: -ranks(table))
    if middle:
        yield rule(middle, nearest(lambda table: (table.sizes - 1) / 2, 3))
    for what, place in zip(
        seconds, (lambda table: table.sizes - 2, lambda table: np.ones(len(table))), strict=False
    ):
        yield rule(what, nearest(place, 4))


def characters(belongs: Callable[[str], bool]) -> Measure:
    """Return the number of characters of a kind."""
    return lambda table: table.count_characters(belongs)


def matches(pattern: str) -> Measure:
    """Return whether a regular expression is found."""
    search = re.compile(pattern).search
    return lambda table: table.of_texts(lambda text: search(text) is not None)


_WORD = re.compile(r"\w+")


def count_words(pattern: str) -> Measure:
    """Return how many words match a regular expression in full, in either case; words are runs of ``\\w``."""
    match = re.compile(pattern, re.IGNORECASE).fullmatch

    def count(table: OptionTable) -> Floats:
        if "runs of letters" not in table.memory:
            number: dict[str, int] = {}
            own = [_WORD.findall(text) for text in table.distinct_texts]
            words = np.array([number.setdefault(w, len(number)) for words in own for w in words], dtype=np.int64)
            text = np.repeat(np.arange(len(own)), [len(words) for words in own])
            table.memory["runs of letters"] = list(number), words, text
        vocabulary, words, text = table.memory["runs of letters"]
        flags = np.array([match(word) is not None for word in vocabulary], dtype=np.bool_)
        counts = np.bincount(text[flags[words]] if len(words) else text, minlength=len(table.distinct_texts))
        return counts.astype(np.float64)[table.text_index]

    return count


def count_matches(pattern: str) -> Measure:
    """Return how often a regular expression is found, in either case."""
    find = re.compile(pattern, re.IGNORECASE).findall
    return lambda table: table.of_texts(lambda text: len(find(text)))


def shares(measure: Measure, whole: Measure) -> Measure:
    """Return the measure of a quantity as a share of another one; rounded, so that equal shares tie."""
    return lambda table: (np.asarray(measure(table)) / np.maximum(np.asarray(whole(table)), 1)).round(9)
