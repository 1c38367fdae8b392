"""Rules that compare an option with the other options of its question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules.partial_input import OPTIONS, Measure, PartialInput, has, ordered
from classic_rc.kernels.arrays import offsets_of

# Similarity to the other options of the question


_Items = tuple[NDArray[Any], NDArray[np.int64], int]
"""The items (words, n-grams) of all distinct texts as numbers, the offsets of the texts, a bound of the numbers."""


def _shared_counts(table: OptionTable, items: _Items) -> tuple[Floats, Floats, Floats]:
    """Return, for each pair of options, how many items they share, and how many each of the two has."""
    sizes = np.diff(items[1]).astype(np.float64)[table.text_index]
    one, other = table.pairs
    return table.shared_in_pairs(*items), sizes[one], sizes[other]


def _dice(table: OptionTable, items: _Items) -> Floats:
    shared, one, other = _shared_counts(table, items)
    return (2 * shared / np.maximum(one + other, 1)).round(9)


def trigrams(texts: Sequence[str]) -> _Items:
    """Return the runs of three characters of texts in lower case, with a blank at each end."""
    padded = [f" {text.casefold()} " for text in texts]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    found = np.flatnonzero(np.bincount(codes))
    n = max(len(found), 1)
    place = np.zeros(int(found.max(initial=0)) + 1, dtype=np.int32 if n**3 < 2**31 else np.int64)
    place[found] = np.arange(len(found))
    own: NDArray[Any] = place[codes]
    offsets = offsets_of(np.array([len(text) for text in padded], dtype=np.int64))
    is_start = np.ones(len(own), dtype=np.bool_)
    is_start[offsets[1:] - 1] = is_start[offsets[1:] - 2] = False  # the last two characters of each text
    items = (own[:-2] * n + own[1:-1]) * n + own[2:]
    return items[is_start[:-2]], offsets - 2 * np.arange(len(offsets)), n**3


def _trigrams(table: OptionTable) -> _Items:
    return trigrams([text.strip() for text in table.distinct_texts])


def _similar(make: Callable[[OptionTable], _Items], how: str) -> Measure:
    def score(table: OptionTable) -> Floats:
        name = f"similarity {make.__name__}"
        if name not in table.memory:
            table.memory[name] = _dice(table, make(table))
        # The rank of a mean over k - 1 others must not depend on rounding.
        return table.over_pairs(table.memory[name], how).round(6)

    return score


def _words(table: OptionTable) -> _Items:
    tokens, offsets = table.tokens
    return tokens, offsets, int(tokens.max(initial=0)) + 1


def _one_word_edits(table: OptionTable) -> Floats:
    """How many others differ from the option in one word that is put in, left out or replaced."""
    shared, one, other = _shared_counts(table, _words(table))
    left, right = table.pairs
    is_edit = (one - shared <= 1) & (other - shared <= 1) & (shared > 0)
    is_edit &= table.normalised[left] != table.normalised[right]
    return (table.over_pairs(is_edit.astype(np.float64), "mean") * (table.sizes - 1)[table.question]).round()


def _like_others(pick: Callable[[list[str]], str]) -> Measure:
    """How many others have the same word at one end."""

    def score(table: OptionTable) -> Floats:
        number: dict[str, int] = {}
        own = [number.setdefault(pick(words), len(number)) if words else -1 for words in table.words]
        word = np.array(own, dtype=np.int64)[table.text_index]
        left, right = table.pairs
        return table.over_pairs(((word[left] == word[right]) & (word[left] >= 0)).astype(np.float64), "mean").round(
            9
        )

    return score


def _contains_another(table: OptionTable) -> Floats:
    return _containment(table, 0)


def _is_in_another(table: OptionTable) -> Floats:
    return _containment(table, 1)


def _containment(table: OptionTable, side: int) -> Floats:
    texts = [text.casefold().strip(" .,;:!?") for text in table.distinct_texts]
    left, right = (table.text_index[s].tolist() for s in (table.pairs[side], table.pairs[1 - side]))
    inside = [
        len(texts[j]) < len(texts[i]) and bool(texts[j]) and texts[j] in texts[i]
        for i, j in zip(left, right, strict=True)
    ]
    return table.over_pairs(np.array(inside, dtype=np.float64), "most")


def _has_equal(table: OptionTable) -> Floats:
    left, right = table.pairs
    return table.over_pairs((table.normalised[left] == table.normalised[right]).astype(np.float64), "most")


SIMILARITY_RULES: tuple[PartialInput, ...] = (
    PartialInput(
        "is the one from which most others differ in one word",
        OPTIONS,
        "similarity",
        "is the one from which most others differ in one word",
        "is not the one from which others differ in one word",
        _one_word_edits,
    ),
    *ordered(_similar(_words, "mean"), "similarity", "one most like the others in words", "odd one out in words"),
    *ordered(
        _similar(_words, "most"),
        "similarity",
        "one most like some other in words",
        "one least like any other in words",
    ),
    *ordered(
        _similar(_trigrams, "mean"), "similarity", "one most like the others in spelling", "odd one out in spelling"
    ),
    *ordered(
        _similar(_trigrams, "most"),
        "similarity",
        "one most like some other in spelling",
        "one least like any other in spelling",
    ),
    *ordered(
        _like_others(lambda words: words[0]),
        "similarity",
        "one whose first word most others share",
        "one whose first word fewest others share",
    ),
    *ordered(
        _like_others(lambda words: words[-1]),
        "similarity",
        "one whose last word most others share",
        "one whose last word fewest others share",
    ),
    has("contains another option", "similarity", "contains no other option", _contains_another),
    has("is part of another option", "similarity", "is no part of another option", _is_in_another),
    has("is equal to another option", "similarity", "is not equal to another option", _has_equal),
)
