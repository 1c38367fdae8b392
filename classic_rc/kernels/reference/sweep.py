"""Lesson 4: the sliding window of all sizes at once, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence

from classic_rc.kernels.weights import inverse_count_weight


def window_sweep(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    sizes: Collection[int] = range(2, 31),
    counts: Callable[[Hashable], int] | None = None,
) -> list[int]:
    """Return the weight of the best window of each size.

    Lai et al. 2017 (RACE) use one window size for all questions. To tune it, one needs the scores
    of every size. A window of n + 1 tokens is a window of n tokens and the next token, so each size
    costs one addition per window.

    Parameters
    ----------
    passage, question, candidate : sequence of tokens
    sizes : collection of int
        Window sizes in tokens, at least 1 and ascending.
    counts : callable, optional
        Returns how often a word occurs; by default, in this passage.

    Returns
    -------
    list of int
        For each size, the result of :func:`~classic_rc.kernels.reference.sliding_window` with that
        window.

    Examples
    --------
    >>> [
    ...     weight / 2**26
    ...     for weight in window_sweep("a b a c b".split(), ["a"], ["b"], sizes=(1, 2, 5))
    ... ]
    [0.40546511113643646, 0.8109302222728729, 1.6218604445457458]
    """
    words = {*question, *candidate}
    count_of = counts or Counter(passage).__getitem__
    weights = [inverse_count_weight(count_of(token)) if token in words else 0 for token in passage]
    sums = weights  # sums[i] is the weight of the window that starts at token i
    best = []
    for size in range(1, max(sizes) + 1):
        if 1 < size <= len(passage):  # a larger window is the whole passage: sums stay
            added = weights[size - 1 :]
            sums = [window + weight for window, weight in zip(sums, added, strict=False)]
        if size in sizes:
            best.append(max(sums, default=0))
    return best
