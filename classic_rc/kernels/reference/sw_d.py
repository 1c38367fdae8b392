"""Lesson 3: SW+D, the sliding window with word distance, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Literal

from classic_rc.kernels.reference.distance import word_distance
from classic_rc.kernels.reference.window import sliding_window
from classic_rc.kernels.weights import SCALE


def sliding_window_distance(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    *,
    window: int | Literal["set", "passage"] = "set",
    counts: Callable[[Hashable], int] | None = None,
    stop_words: Collection[Hashable] = (),
    distance: Literal["mean", "min", "min+1", "first"] = "mean",
    distance_weight: float = 11.0,
) -> float:
    """Return a candidate's score: the best window's weight minus a multiple of the word distance.

    Richardson et al. 2013, Algorithms 1 and 2. The paper subtracts the distance once; the authors'
    released scores subtract it 10 times for MC160 and 11 times for MC500. The answer is the
    candidate with the largest score.

    Parameters
    ----------
    passage, question, candidate : sequence of tokens
    window, counts
        As in :func:`~classic_rc.kernels.reference.sliding_window`. Stop words count in windows.
    stop_words, distance
        As in :func:`~classic_rc.kernels.reference.word_distance`, which calls the second one
        `rule`.
    distance_weight : float
        The cost of a distance as long as the passage, in units of the window's weight.

    Returns
    -------
    float
        The score of the solver :class:`~classic_rc.solvers.sliding.SlidingWindowDistance`, equal to
        the bit.

    Examples
    --------
    >>> passage = "the cat sat on the mat and the dog ran up the hill".split()
    >>> for candidate in ("the mat", "the hill"):
    ...     score = sliding_window_distance(
    ...         passage, ["the", "cat", "sat"], candidate.split(), stop_words={"the"}
    ...     )
    ...     print(candidate, round(score, 4))
    the mat -1.5989
    the hill -8.0156
    """
    sw = sliding_window(passage, question, candidate, window, counts) / SCALE
    d = word_distance(passage, question, candidate, stop_words, distance)
    return sw - distance_weight * d
