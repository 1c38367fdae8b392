"""Lesson 8: the question's words and bigrams around a span, in plain Python."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise


def span_overlap(
    sentence: Sequence[Hashable], question: Sequence[Hashable], first: int, last: int
) -> int:
    """Count the distinct words and bigrams of the question that the sentence has outside
    ``sentence[first:last]``.

    Rajpurkar et al. 2016, section 5.1. The paper does not say whether types or tokens count; here
    types do. A bigram does not cross the span: its two words are on the same side.

    Examples
    --------
    >>> span_overlap("the cat sat on the mat".split(), "who sat on the mat".split(), 1, 2)
    7
    """
    sides = sentence[:first], sentence[last:]
    words = {word for side in sides for word in side} & set(question)
    bigrams = {pair for side in sides for pair in pairwise(side)} & set(pairwise(question))
    return len(words) + len(bigrams)
