"""The sliding window of Richardson et al. 2013, for whole datasets at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.postings import MatchedBlock, Postings, matched_blocks, places_of
from classic_rc.kernels.weights import inverse_count_weights

__all__ = ["best_windows", "sliding_window"]

_INT32_SAFE_WINDOW = 2**31 // 2**26 - 1
"""A word's occurrences weigh ``C * ln(1 + 1 / C) < 1`` together, so a window's sum is below its number of
distinct matching words: up to this many of them cannot overflow an int32 of scale 2**26."""


def sliding_window(
    arrays: TokenArrays,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
    cells: int = 2**20,
) -> NDArray[np.int64]:
    """The best window's weight for every candidate.

    With S the set of the question's and the candidate's words, and IC(w) the weight of word w::

        sw = max over windows of sum over the window's tokens t in S of IC(t)

    Every occurrence in a window counts. A passage shorter than the window is one window. This is
    :func:`classic_rc.kernels.reference.sliding_window` for all candidates at once, equal to the bit.

    Parameters
    ----------
    arrays : TokenArrays
    window : int, "set" or "passage"
        The window's length in tokens; ``"set"`` is |S| (Algorithm 1), ``"passage"`` the whole passage.
    word_weights : ndarray of int32, shape (n_words,), optional
        Fixed-point weights of words (:mod:`classic_rc.kernels.weights`); by default inverse counts within
        the candidate's own passage.
    cells : int
        How many cells (candidates x passage tokens) are worked on at a time: bounds memory to about
        10 bytes a cell and does not change the result.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        Fixed-point sums, of scale :data:`classic_rc.kernels.weights.SCALE`.
    """
    best = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for block in matched_blocks(arrays):
        best[block.where] = best_windows(block, window, word_weights, cells)
    return best


def best_windows(
    block: MatchedBlock,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
    cells: int = 2**20,
) -> NDArray[np.int64]:
    """:func:`sliding_window` of one block: shape (n_candidates of the block,)."""
    arrays, questions, additions = block.arrays, block.questions, block.additions
    question = arrays.candidate_question
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[question]]
    set_sizes = questions.n_distinct[question] + additions.n_distinct
    if window == "set":
        widths = np.minimum(set_sizes, lengths)
    elif window == "passage":
        widths = lengths
    else:
        widths = np.minimum(window, lengths)
    run_weights = _run_weights(block.postings, word_weights, arrays.n_words)
    total = np.int64 if set_sizes.max(initial=0) > _INT32_SAFE_WINDOW else np.int32

    best = np.zeros(len(question), dtype=np.int64)
    # Rows of one width stand together, so that one shifted addition serves them all.
    order = np.argsort(widths, kind="stable")
    order = order[widths[order] > 0]
    for rows in _chunks(order, lengths, cells):
        starts = offsets_of(lengths[rows])
        row_weights = np.zeros(starts[-1], dtype=total)
        for matches, texts in ((questions, question[rows]), (additions, rows)):
            places = places_of(block.postings, matches, texts)
            cell = np.repeat(starts[places.rows], places.counts)
            cell += places.positions
            row_weights[cell] = np.repeat(run_weights[places.runs], places.counts)
        best[rows] = _row_maxima(row_weights, starts, widths[rows])
    return best


def _run_weights(postings: Postings, word_weights: NDArray[np.int32] | None, n_words: int) -> NDArray[np.int32]:
    if word_weights is None:
        return inverse_count_weights(np.diff(postings.offsets))
    return word_weights[postings.keys % n_words]


def _chunks(rows: NDArray[np.int64], lengths: NDArray[np.int64], cells: int) -> Iterator[NDArray[np.int64]]:
    """Split `rows` so that each part has about `cells` cells, one row at least."""
    if not len(rows):
        return
    chunk_of = offsets_of(lengths[rows])[:-1] // cells
    yield from np.split(rows, np.flatnonzero(np.diff(chunk_of)) + 1)


def _row_maxima(
    weights: NDArray[np.integer], starts: NDArray[np.int64], widths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The largest sum of `widths[i]` adjacent cells within each row i; rows are ordered by width."""
    best = np.empty(len(widths), dtype=np.int64)
    bounds = np.flatnonzero(np.diff(widths, prepend=0, append=widths[-1] + 1))
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        width = int(widths[first])
        left, right = starts[first], starts[last]
        sums = _window_sums(weights[left:right], width)
        # A row's windows start up to `width - 1` cells before its end: those beyond would run into the next
        # row. reduceat takes [start, stop) pairs, so every second of its results is thrown away.
        pairs = np.empty(2 * (last - first), dtype=np.int64)
        pairs[0::2] = starts[first:last] - left
        pairs[1::2] = starts[first + 1 : last + 1] - left - (width - 1)
        best[first:last] = np.maximum.reduceat(sums, pairs[:-1])[::2]
    return best


def _window_sums(cells: NDArray[np.integer], width: int) -> NDArray[np.integer]:
    """``sums[i] = cells[i:i + width].sum()`` by binary doubling: sums of 1, 2, 4, … cells, put together.

    Takes ``floor(log2 width) + popcount(width) - 1`` additions of whole arrays; they vectorise, as a running
    sum does not.
    """
    n = len(cells) - width + 1
    sums: NDArray[np.integer] | None = None
    covered, power, size = 0, cells, 1
    while True:
        if width & size:
            part = power[covered : covered + n]
            sums = part if sums is None else sums + part
            covered += size
        if 2 * size > width:
            break
        power = power[:-size] + power[size:]
        size *= 2
    assert sums is not None
    return sums
