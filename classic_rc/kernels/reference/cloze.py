"""How well a cloze query fits a place of its passage, in plain Python: to be read, and to check kernels against.

Passages, queries and candidates are lists of tokens of any kind that can be hashed. A query has no token for what
is missing; `placeholder` is the number of tokens that stand before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Literal, NamedTuple

from classic_rc.kernels.weights import inverse_count_weight

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


def cloze_window(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    anchored: bool = False,
    weigh: Callable[[Hashable], int] | None = None,
) -> int:
    """The weight of the tokens that match best when the completed query is laid over the passage.

    Hill et al. 2015, the sliding-window baseline, token on token: put the candidate into the query, shift that
    over the passage, ends hanging over included, and add up the weights of the tokens that stand on their like.

    Parameters
    ----------
    passage, query, candidate : sequence of tokens
    placeholder : int
    anchored : bool
        Whether the whole candidate must stand on its like.
    weigh : callable, optional
        A word's weight; by default its inverse count in this passage.

    Returns
    -------
    int
        Fixed-point, of scale 2**26.

    Examples
    --------
    >>> cloze_window("Bob met Ann in Rome".split(), ["met", "Eve", "in"], 0, ["Bob"]) / 2**26
    2.079441547393799
    """
    return best_shift(passage, query, placeholder, candidate, anchored=anchored, weigh=weigh)[0]


def best_shift(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    anchored: bool = False,
    weigh: Callable[[Hashable], int] | None = None,
) -> tuple[int, int]:
    """The weight of the best place for the completed query, and the place in the passage of its first token."""
    completed = [*query[:placeholder], *candidate, *query[placeholder:]]
    counts = Counter(passage)
    weight_of = weigh or (lambda word: inverse_count_weight(counts[word]))
    shifts: Sequence[int] = range(1 - len(completed), len(passage))
    if anchored:
        shifts = [start - placeholder for start in phrase_starts(passage, candidate)]
    best = 0, 0
    for shift in shifts:
        matched = [
            weight_of(word)
            for place, word in enumerate(completed, start=shift)
            if 0 <= place < len(passage) and passage[place] == word
        ]
        if sum(matched) > best[0]:
            best = sum(matched), shift
    return best


def phrase_starts(passage: Tokens, candidate: Tokens) -> list[int]:
    """Where the candidate's tokens stand in the passage, one after the other."""
    size = len(candidate)
    return [i for i in range(len(passage) - size + 1) if size and list(passage[i : i + size]) == list(candidate)]


def _places(passage: Tokens, word: Hashable) -> list[int]:
    return [i for i, token in enumerate(passage) if token == word]
