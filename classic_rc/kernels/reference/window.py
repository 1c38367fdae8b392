"""Lesson 1: the sliding window, in plain Python.

The idea: the passage states the right answer somewhere, in words of the question and of the answer.
So look for the stretch of the passage that has the most of these words. A rare word says more than
a frequent one, so it weighs more.

Passages, questions and candidates are lists of tokens; a token can be any hashable value. A word's
weight is :func:`~classic_rc.kernels.weights.inverse_count_weight`: an integer, so no sum depends on
the order of addition.
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
    """Return the weight of the window that best matches the question and the candidate.

    Richardson et al. 2013, Algorithm 1. Let S be the set of the question's and the candidate's
    words. Slide a window of ``|S|`` tokens over the passage. A window's weight is the sum of ``ln(1
    + 1 / count)`` over its tokens that are in S, repeated ones included. Return the largest weight.
    A passage shorter than the window is one window.

    Parameters
    ----------
    passage, question, candidate : sequence of tokens
    window : int, "set" or "passage"
        The window's length: ``"set"`` is ``|S|``, ``"passage"`` is the whole passage.
    counts : callable, optional
        Returns how often a word occurs; by default, in this passage.

    Returns
    -------
    int
        Fixed-point: divide by 2**26 for the weight in the paper's units.

    Examples
    --------
    >>> sliding_window("the cat sat on the mat".split(), ["who", "sat"], ["cat"]) / 2**26
    1.3862943649291992
    """
    words = {*question, *candidate}
    size = len(words) if window == "set" else len(passage) if window == "passage" else window
    count_of = counts or Counter(passage).__getitem__
    best = 0
    # at least one window, even in a short passage
    for start in range(max(len(passage) - size, 0) + 1):
        inside = passage[start : start + size]
        best = max(
            best, sum(inverse_count_weight(count_of(token)) for token in inside if token in words)
        )
    return best
