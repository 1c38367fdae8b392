"""The sliding window with every span of a passage as a candidate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.weights import inverse_count_weights
from classic_rc.kernels.window import INT32_SAFE, row_maxima

__all__ = ["score_spans"]


def score_spans(
    passage: NDArray[np.int32],
    question: NDArray[np.int32],
    max_tokens: int,
    word_weights: NDArray[np.int32] | None = None,
    cells: int = 2**18,
) -> NDArray[np.int64]:
    """The best window's weight for every span of a passage, as :func:`~classic_rc.kernels.sliding_window` has it.

    From one span to the one that is a token longer, the set S of the question's and the span's words grows by
    that token or stays; where it stays, so does the score. For every start a row holds the weights of the
    passage's tokens that are in S: growing S fills in a word's places.

    Parameters
    ----------
    passage : ndarray of int32, shape (n_tokens,)
        Token ids.
    question : ndarray of int32
        Token ids.
    max_tokens : int
        The longest span's length, at least 1.
    word_weights : ndarray of int32, shape (n_words,), optional
        As of :func:`~classic_rc.kernels.sliding_window`.
    cells : int
        How many cells (spans x passage tokens) are worked on at a time: bounds memory, changes no result.

    Returns
    -------
    ndarray of int64, shape (n_tokens, max_tokens)
        ``[i, k]`` is the score of the span of k + 1 tokens that starts at token i, fixed-point; -1 where that
        would run past the end.
    """
    length = len(passage)
    best = np.full((length, max_tokens), -1, dtype=np.int64)
    if not length:
        return best
    words, word_of, counts = np.unique(passage, return_inverse=True, return_counts=True)
    weights = (inverse_count_weights(counts) if word_weights is None else word_weights[words])[word_of]
    asked = np.unique(question)
    in_question = np.isin(words, asked)[word_of]
    places = np.argsort(word_of, kind="stable")
    first_place = offsets_of(counts)[:-1]

    # Token i + k makes S grow if it is no question word and the span from i has not had it yet.
    previous = np.full(length, -1)
    again = word_of[places[1:]] == word_of[places[:-1]]
    previous[places[1:][again]] = places[:-1][again]
    starts = np.arange(length)[:, None]
    token = starts + np.arange(max_tokens)
    inside = token < length
    token[~inside] = 0
    grows = inside & ~in_question[token] & (previous[token] < starts)
    widths = np.minimum(len(asked) + np.cumsum(grows, axis=1), length)
    heaviest = widths.max() if word_weights is not None else len(asked) + grows.sum(axis=1).max()
    own = np.where(in_question, weights, 0).astype(np.int32 if heaviest <= INT32_SAFE else np.int64)

    todo = grows.copy()
    todo[:, 0] = True
    n_rows = min(max(cells // length, 1), length)
    buffer = np.empty((max(cells // length, n_rows), length), dtype=own.dtype)
    for first in range(0, length, n_rows):
        rows = slice(first, first + n_rows)
        matrix = np.tile(own, (len(starts[rows]), 1))
        # As many steps at a time as fit, so that their rows can be ordered by width and added up together.
        n_todo = np.cumsum(todo[rows].sum(axis=0))
        for steps in _steps(n_todo, len(buffer)):
            row, step = np.nonzero(todo[rows, steps])
            width = widths[rows, steps][row, step]
            order = np.argsort(width, kind="stable")
            slot = np.empty(todo[rows, steps].shape, dtype=np.int64)
            slot[row[order], step[order]] = np.arange(len(order))
            for k in range(steps.start, steps.stop):
                grown = np.flatnonzero(grows[rows, k])
                word = word_of[token[rows, k][grown]]
                position = places[ragged_indices(first_place[word], counts[word])]
                matrix[np.repeat(grown, counts[word]), position] = weights[position]
                wanted = np.flatnonzero(todo[rows, k])
                buffer[slot[wanted, k - steps.start]] = matrix[wanted]
            ends = np.arange(0, (len(order) + 1) * length, length)
            found = row_maxima(buffer[: len(order)].ravel(), ends, width[order])
            best[first + row[order], steps.start + step[order]] = found
    # Where S stayed, the score of the span that is a token shorter stands; it is never larger than a later one.
    best = np.maximum.accumulate(best, axis=1)
    best[~inside] = -1
    return best


def _steps(n_todo: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Runs of steps with up to `most` rows each (of a single step, as many as there are, never more)."""
    start = done = 0
    for stop in range(1, len(n_todo) + 1):
        if stop == len(n_todo) or n_todo[stop] - done > most:
            yield slice(start, stop)
            start, done = stop, n_todo[stop - 1]
