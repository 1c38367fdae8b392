"""Lesson 7: the sliding window of cloze queries, in plain Python.

The idea: fill the gap of the query with the candidate, and slide the completed query over the
passage as a ruler. The right candidate makes the query fit some place best.

Passages, queries and candidates are lists of tokens. A query has no token for the missing word;
`placeholder` is the number of its tokens before the gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from classic_rc.kernels.weights import inverse_count_weight

Tokens = Sequence[Hashable]


def cloze_window(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    weigh: Callable[[Hashable], int] | None = None,
) -> int:
    """Return the weight of the best match when the completed query is laid over the passage.

    Hill et al. 2015, the sliding-window baseline, token on token: put the candidate into the query,
    shift the query over the passage (it may extend beyond either end), and sum the weights of the
    query tokens that are on an equal token.

    Parameters
    ----------
    passage, query, candidate : sequence of tokens
    placeholder : int
        The number of query tokens before the gap.
    weigh : callable, optional
        Returns a word's weight; by default its inverse count in this passage.

    Returns
    -------
    int
        Fixed-point: divide by 2**26.

    Examples
    --------
    >>> cloze_window("Bob met Ann in Rome".split(), ["met", "Eve", "in"], 0, ["Bob"]) / 2**26
    2.079441547393799
    """
    return best_shift(passage, query, placeholder, candidate, weigh=weigh)[0]


def best_shift(
    passage: Tokens,
    query: Tokens,
    placeholder: int,
    candidate: Tokens,
    *,
    weigh: Callable[[Hashable], int] | None = None,
) -> tuple[int, int]:
    """Return the weight of the best shift, and the passage position of the completed query's
    first token there.
    """
    completed = [*query[:placeholder], *candidate, *query[placeholder:]]
    counts = Counter(passage)
    weight_of = weigh or (lambda word: inverse_count_weight(counts[word]))
    # From "only the last query token is on the passage" to "only the first one is".
    best = 0, 0
    for shift in range(1 - len(completed), len(passage)):
        weight = 0
        for place, word in enumerate(completed, start=shift):
            if 0 <= place < len(passage) and passage[place] == word:
                weight += weight_of(word)
        if weight > best[0]:
            best = weight, shift
    return best
