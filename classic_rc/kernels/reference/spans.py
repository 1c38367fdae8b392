"""What surrounds a span, in plain Python."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise


def span_overlap(sentence: Sequence[Hashable], question: Sequence[Hashable], first: int, last: int) -> int:
    """How many distinct words and bigrams of the question the sentence has outside ``sentence[first:last]``.

    Rajpurkar et al. 2016, section 5.1, who leave unsaid whether types or tokens count: here types do.

    Examples
    --------
    >>> span_overlap("the cat sat on the mat".split(), "who sat on the mat".split(), 1, 2)
    7
    """
    sides = sentence[:first], sentence[last:]
    words = {word for side in sides for word in side} & set(question)
    bigrams = {pair for side in sides for pair in pairwise(side)} & set(pairwise(question))
    return len(words) + len(bigrams)
