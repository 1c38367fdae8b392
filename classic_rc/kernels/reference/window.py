"""The sliding window, in plain Python.

Passages, questions and candidates are lists of tokens here, of any kind that can be hashed. A word weighs
:func:`~classic_rc.kernels.weights.inverse_count_weight`: a whole number, so that no sum depends on its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

from classic_rc.kernels.weights import inverse_count_weight


def sliding_window(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    window: int | Literal["set", "passage"] = "set",
    counts: Callable[[Hashable], int] | None = None,
) -> int:
    """The weight of the window that matches question and candidate best.

    Richardson et al. 2013, Algorithm 1: slide a window of |S| tokens over the passage, S being the set of
    the question's and the candidate's words, and add up the inverse counts of its tokens that are in S.

    Parameters
    ----------
    passage, question, candidate : sequence of tokens
    window : int, "set" or "passage"
        The window's length; ``"set"`` is |S|, ``"passage"`` the whole passage.
    counts : callable, optional
        How often a word occurs; by default in this passage.

    Returns
    -------
    int
        Fixed-point, of scale 2**26.

    Examples
    --------
    >>> sliding_window("the cat sat on the mat".split(), ["who", "sat"], ["cat"]) / 2**26
    1.3862943649291992
    """
    words = {*question, *candidate}
    size = len(words) if window == "set" else len(passage) if window == "passage" else window
    count_of = counts or Counter(passage).__getitem__
    best = 0
    for start in range(max(len(passage) - size, 0) + 1):
        inside = passage[start : start + size]
        best = max(best, sum(inverse_count_weight(count_of(token)) for token in inside if token in words))
    return best
