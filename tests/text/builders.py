"""Texts at their places, and rows of words, which tests of texts compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any


def texts_at(text: str, places: Iterable[tuple[int, int]]) -> list[str]:
    """Return the parts of a text at places."""
    return [text[start:end] for start, end in places]


def texts_of(text: str, spans: Iterable[Any]) -> list[str]:
    """Return the parts of a text that spans with a `start` and an `end` have."""
    return [text[span.start : span.end] for span in spans]


def word_rows(
    vocabulary: Sequence[str], tokens: Sequence[int], offsets: Iterable[int]
) -> list[list[str]]:
    """Return the words of each row of a ragged array of ids."""
    return [[vocabulary[token] for token in tokens[a:b]] for a, b in pairwise(offsets)]
