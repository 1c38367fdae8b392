"""Rules that compare an option with the other options of its question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules.partial_input import OPTIONS, Measure, PartialInput, has, ordered

# Similarity to the other options of the question


def _counts_matrix(lists: list[list[Any]]) -> Any:
    from scipy.sparse import csr_matrix

    number: dict[Any, int] = {}
    columns = [number.setdefault(item, len(number)) for items in lists for item in items]
    offsets = np.append(0, np.cumsum([len(items) for items in lists]))
    matrix = csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(lists), max(len(number), 1)))
    matrix.sum_duplicates()
    return matrix


_PAIRS_AT_ONCE = 200_000


def _shared_counts(table: OptionTable, lists: list[list[Any]]) -> tuple[Floats, Floats, Floats]:
    """Return, for each pair of options, how many items they share, and how many each of the two has."""
    matrix, sizes = _counts_matrix(lists), np.array([len(items) for items in lists], dtype=np.float64)
    one, other = (table.text_index[side] for side in table.pairs)
    shared = np.zeros(len(one))
    for start in range(0, len(one), _PAIRS_AT_ONCE):
        block = slice(start, start + _PAIRS_AT_ONCE)
        shared[block] = np.ravel(matrix[one[block]].minimum(matrix[other[block]]).sum(axis=1))
    return shared, sizes[one], sizes[other]


def _dice(table: OptionTable, lists: list[list[Any]]) -> Floats:
    shared, one, other = _shared_counts(table, lists)
    return (2 * shared / np.maximum(one + other, 1)).round(9)


def _trigrams(table: OptionTable) -> list[list[str]]:
    texts = [f" {text.casefold().strip()} " for text in table.distinct_texts]
    return [[text[i : i + 3] for i in range(len(text) - 2)] for text in texts]


def _similar(make: Callable[[OptionTable], list[list[Any]]], how: str) -> Measure:
    def score(table: OptionTable) -> Floats:
        name = f"similarity {make.__name__}"
        if name not in table.memory:
            table.memory[name] = _dice(table, make(table))
        # The rank of a mean over k - 1 others must not depend on rounding.
        return table.over_pairs(table.memory[name], how).round(6)

    return score


def _words(table: OptionTable) -> list[list[str]]:
    return table.words


def _one_word_edits(table: OptionTable) -> Floats:
    """How many others differ from the option in one word that is put in, left out or replaced."""
    shared, one, other = _shared_counts(table, table.words)
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
