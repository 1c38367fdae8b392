"""The word distance of cloze queries, in plain Python.

Passages, queries and candidates are lists of tokens of any kind that can be hashed. A query has no token for what
is missing; `placeholder` is the number of tokens that stand before it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Literal, NamedTuple

from classic_rc.kernels.reference.phrases import phrase_starts

Tokens = Sequence[Hashable]


class AlignedWord(NamedTuple):
    """A word of the query, and the occurrence in the passage that is nearest to where it should stand.

    Parameters
    ----------
    at : int
        Its place in the query.
    place : int or None
        The occurrence's place in the passage; None where the word does not count as matched.
    steps : int
        What it costs.
    """

    at: int
    place: int | None
    steps: int


def cloze_distance(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    max_distance: int = 8,
    ignored: Collection[Hashable] = (),
    alignment: Literal["ends", "first", "last"] = "ends",
    own_words: Literal["match", "cap"] = "match",
) -> int:
    """How many steps the query's words are from where they should stand around a candidate's best mention.

    Hermann et al. 2015, section 3.1: align the placeholder with each mention, and add up how far each query word
    is from its nearest occurrence, `max_distance` at most. A candidate that the passage does not mention costs
    `max_distance` a word.

    Examples
    --------
    >>> passage = "Ann saw the tall tower while Bob left the town".split()
    >>> cloze_distance(passage, ["left", "the", "tower"], 0, ["Bob"], max_distance=5)
    5
    >>> cloze_distance(passage, ["left", "the", "tower"], 0, ["Ann"], max_distance=5)
    6
    """
    mentions = alignments(
        passage,
        query,
        placeholder,
        candidate,
        max_distance=max_distance,
        ignored=ignored,
        alignment=alignment,
        own_words=own_words,
    )
    worst = max_distance * sum(word not in ignored for word in query)
    return min((sum(word.steps for word in words) for _, words in mentions), default=worst)


def alignments(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    max_distance: int = 8,
    ignored: Collection[Hashable] = (),
    alignment: Literal["ends", "first", "last"] = "ends",
    own_words: Literal["match", "cap"] = "match",
) -> list[tuple[int, list[AlignedWord]]]:
    """Each mention's first place in the passage, and the query's words as they are aligned around it.

    A word k places before the placeholder should stand k places before the mention's first token, and a word k
    places after it k places after the mention's last token (``ends``), or both should from its ``first`` or its
    ``last`` token.
    """
    found = []
    for start in phrase_starts(passage, candidate):
        first, last = start, start + len(candidate) - 1
        left, right = {"ends": (first, last), "first": (first, first), "last": (last, last)}[alignment]
        words = []
        for at, word in enumerate(query):
            if word in ignored:
                continue
            target = left + at - placeholder if at < placeholder else right + at - placeholder + 1
            places = [] if own_words == "cap" and word in candidate else _places(passage, word)
            nearest = min(places, key=lambda place: abs(place - target), default=None)
            if nearest is None or abs(nearest - target) >= max_distance:
                words.append(AlignedWord(at, None, max_distance))
            else:
                words.append(AlignedWord(at, nearest, abs(nearest - target)))
        found.append((start, words))
    return found


def _places(passage: Tokens, word: Hashable) -> list[int]:
    return [i for i, token in enumerate(passage) if token == word]
