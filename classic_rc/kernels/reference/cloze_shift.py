"""The sliding window of cloze queries, in plain Python.

Passages, queries and candidates are lists of tokens. A query has no token for what is missing; `placeholder` is the
number of tokens that stand before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from classic_rc.kernels.reference.phrases import phrase_starts
from classic_rc.kernels.weights import inverse_count_weight

Tokens = Sequence[Hashable]


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
