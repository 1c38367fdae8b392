"""Lesson 6: the word distance of cloze queries, in plain Python.

The idea: put the query over a mention of the candidate, as if the mention were the missing word. If
the candidate is the answer, the query's other words are near their expected places in the passage.

Passages, queries and candidates are lists of tokens; a token can be any hashable value. A query has
no token for the missing word; `placeholder` is the number of its tokens before the gap.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

from classic_rc.kernels.reference.phrases import phrase_starts

Tokens = Sequence[Hashable]


class AlignedWord(NamedTuple):
    """A word of the query, aligned with its occurrence in the passage nearest to its expected
    place.
    """

    at: int  # its position in the query
    place: int | None  # the occurrence's position in the passage; None if the word does not match
    steps: int  # its cost


def cloze_distance(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    max_distance: int = 8,
) -> int:
    """Return how many steps the query's words are from their expected places around a candidate's
    best mention.

    Hermann et al. 2015, section 3.1: align the placeholder with each mention, and sum the distances
    of the query words to their nearest occurrences, each at most `max_distance`. The best mention
    has the least sum. If the passage does not mention the candidate, each word costs
    `max_distance`.

    Parameters
    ----------
    passage, query, candidate : sequence of tokens
    placeholder : int
        The number of query tokens before the gap.
    max_distance : int
        The most that one word can cost.

    Returns
    -------
    int

    Examples
    --------
    >>> passage = "Ann saw the tall tower while Bob left the town".split()
    >>> cloze_distance(passage, ["left", "the", "tower"], 0, ["Bob"], max_distance=5)
    5
    >>> cloze_distance(passage, ["left", "the", "tower"], 0, ["Ann"], max_distance=5)
    6
    """
    mentions = alignments(passage, query, placeholder, candidate, max_distance=max_distance)
    distances = [sum(word.steps for word in words) for _, words in mentions]
    return min(distances, default=max_distance * len(query))


def alignments(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    max_distance: int = 8,
    ignored: Collection[Hashable] = (),
) -> list[tuple[int, list[AlignedWord]]]:
    """Return the position of each mention's first token, and the query's words aligned around the
    mention.

    A word k places before the placeholder is expected k places before the mention's first token,
    and a word k places after it is expected k places after the mention's last token. Words of
    `ignored` cost nothing and keep their positions in passage and query.
    """
    aligned = []
    for start in phrase_starts(passage, candidate):
        last = start + len(candidate) - 1
        words = []
        for at, word in enumerate(query):
            if word in ignored:
                continue
            if at < placeholder:
                target = start + at - placeholder
            else:  # the placeholder takes one place but is not a token
                target = last + at - placeholder + 1
            distances = [
                (abs(place - target), place)
                for place, token in enumerate(passage)
                if token == word and abs(place - target) < max_distance
            ]
            steps, nearest = min(distances, default=(max_distance, None))
            words.append(AlignedWord(at, nearest, steps))
        aligned.append((start, words))
    return aligned
