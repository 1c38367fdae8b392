"""The sliding window of Richardson et al. 2013, of one size or of many, for whole datasets at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.postings import BLOCK_TOKENS, MatchedBlock, matched_blocks, places_of
from classic_rc.kernels.weights import SCALE, inverse_count_weights

INT32_SAFE = 2**31 // SCALE - 1
"""Sums of up to this many weights of 1 fit into an int32."""


def sliding_window(
    arrays: TokenArrays,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
    cells: int = 2**18,
    *,
    block_tokens: int = BLOCK_TOKENS,
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
    block_tokens : int
        How many tokens are matched at a time: bounds memory, changes no result.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        Fixed-point sums, of scale :data:`classic_rc.kernels.weights.SCALE`.
    """
    best = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for block in matched_blocks(arrays, block_tokens):
        best[block.where] = best_windows(block, window, word_weights, cells)
    return best


def best_windows(
    block: MatchedBlock,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
    cells: int = 2**18,
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
    weigh = RowWeights(block, word_weights, set_sizes if word_weights is None else widths)

    best = np.zeros(len(question), dtype=np.int64)
    # Rows of one width stand together, so that one shifted addition serves them all.
    order = np.argsort(widths, kind="stable")
    order = order[widths[order] > 0]
    # The chunks share their memory: giving it back and asking for it again would cost a fifth of the time.
    memory = np.empty((3, min(cells + int(lengths.max(initial=0)), int(lengths.sum()))), dtype=weigh.dtype)
    for rows in row_chunks(order, lengths, cells):
        starts = offsets_of(lengths[rows])
        best[rows] = row_maxima(weigh.rows(rows, starts, memory[0]), starts, widths[rows], memory[1:])
    return best


class RowWeights:
    """Lays out candidates as rows of their passage's tokens: a token's weight where it matches, else 0.

    Parameters
    ----------
    block : MatchedBlock
    word_weights : ndarray of int32, shape (n_words,), optional
        By default inverse counts within the passage.
    bounds : ndarray of int64
        Numbers that no window's sum exceeds, in units of a weight of 1: the number of distinct words, whose
        occurrences in a passage weigh ``C ln(1 + 1 / C) < 1`` together, or the number of tokens in a window.
    smoothing : int
        What is added to each count within the passage.
    """

    def __init__(
        self,
        block: MatchedBlock,
        word_weights: NDArray[np.int32] | None,
        bounds: NDArray[np.int64],
        smoothing: int = 0,
    ) -> None:
        self._block = block
        if word_weights is None:
            self._weights = inverse_count_weights(np.diff(block.postings.offsets) + smoothing)
        else:
            self._weights = word_weights[block.postings.keys % block.arrays.n_words]
        self.dtype = np.int64 if bounds.max(initial=0) > INT32_SAFE else np.int32

    def rows(
        self, candidates: NDArray[np.int64], starts: NDArray[np.int64], memory: NDArray[np.integer]
    ) -> NDArray[np.integer]:
        """The rows of `candidates`, one after the other.

        Parameters
        ----------
        candidates : ndarray of int64, shape (n_rows,)
        starts : ndarray of int64, shape (n_rows + 1,)
            Where each row starts, and where the last one ends; cells beyond a passage stay 0.
        memory : ndarray, shape (at least starts[-1],)
            What the rows are written to.
        """
        block = self._block
        cells = memory[: starts[-1]]
        cells.fill(0)
        asked = block.arrays.candidate_question[candidates]
        for matches, texts in ((block.questions, asked), (block.additions, candidates)):
            places = places_of(block.postings, matches, texts)
            at = np.repeat(starts[places.rows], places.counts)
            at += places.positions
            cells[at] = np.repeat(self._weights[places.runs], places.counts)
        return cells


def row_chunks(rows: NDArray[np.int64], lengths: NDArray[np.int64], cells: int) -> Iterator[NDArray[np.int64]]:
    """Split `rows` so that each part has about `cells` cells, one row at least."""
    if not len(rows):
        return
    chunk_of = offsets_of(lengths[rows])[:-1] // cells
    yield from np.split(rows, np.flatnonzero(np.diff(chunk_of)) + 1)


def row_maxima(
    weights: NDArray[np.integer],
    starts: NDArray[np.int64],
    widths: NDArray[np.int64],
    memory: NDArray[np.integer],
) -> NDArray[np.int64]:
    """The largest sum of `widths[i]` adjacent cells within each row i; rows are ordered by width.

    `memory` is two rows of scratch space, each at least as long as `weights`.
    """
    best = np.empty(len(widths), dtype=np.int64)
    bounds = np.flatnonzero(np.diff(widths, prepend=0, append=widths[-1] + 1))
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        width = int(widths[first])
        left, right = starts[first], starts[last]
        sums = _window_sums(weights[left:right], width, memory)
        # A row's windows start up to `width - 1` cells before its end: those beyond would run into the next
        # row. reduceat takes [start, stop) pairs, so every second of its results is thrown away.
        pairs = np.empty(2 * (last - first), dtype=np.int64)
        pairs[0::2] = starts[first:last] - left
        pairs[1::2] = starts[first + 1 : last + 1] - left - (width - 1)
        best[first:last] = np.maximum.reduceat(sums, pairs[:-1])[::2]
    return best


def _window_sums(cells: NDArray[np.integer], width: int, memory: NDArray[np.integer]) -> NDArray[np.integer]:
    """``sums[i] = cells[i:i + width].sum()``, by doubling: the binary digits of `width` from the highest down.

    Takes ``floor(log2 width) + popcount(width) - 1`` additions of whole arrays; they vectorise, as a running
    sum does not. They write into `memory`, two rows of at least as many cells, by turns.
    """
    sums, size = cells, 1
    free, used = memory
    for digit in f"{width:b}"[1:]:
        sums = np.add(sums[:-size], sums[size:], out=free[: len(sums) - size])
        free, used = used, free
        size *= 2
        if digit == "1":
            sums = np.add(sums[:-1], cells[size:], out=sums[:-1])
            size += 1
    return sums


def window_sweep(
    arrays: TokenArrays,
    sizes: Sequence[int] = range(2, 31),
    word_weights: NDArray[np.int32] | None = None,
    cells: int = 2**18,
    *,
    smoothing: int = 0,
    last_window: bool = True,
) -> NDArray[np.int64]:
    """The best window's weight for every candidate and each of several window sizes.

    Column k is :func:`~classic_rc.kernels.sliding_window` with ``window=sizes[k]``, to the bit.

    Parameters
    ----------
    arrays : TokenArrays
    sizes : sequence of int
        Numbers of tokens, at least 1 and rising.
    word_weights, cells
        As of :func:`~classic_rc.kernels.sliding_window`.
    smoothing : int
        What is added to each count within the passage.
    last_window : bool
        Whether the window at the passage's end counts; False leaves it out where there is another.

    Returns
    -------
    ndarray of int64, shape (n_candidates, n_sizes)
    """
    if not len(sizes) or sizes[0] < 1 or any(b <= a for a, b in zip(sizes, sizes[1:], strict=False)):
        raise ValueError(f"sizes must be at least 1 and rise, got {list(sizes)}")
    best = np.zeros((len(arrays.candidate_question), len(sizes)), dtype=np.int64)
    for block in matched_blocks(arrays):
        best[block.where] = _best_of_sizes(block, sizes, word_weights, cells, smoothing, last_window)
    return best


def _best_of_sizes(
    block: MatchedBlock,
    sizes: Sequence[int],
    word_weights: NDArray[np.int32] | None,
    cells: int,
    smoothing: int,
    last_window: bool,
) -> NDArray[np.int64]:
    arrays, question = block.arrays, block.arrays.candidate_question
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[question]]
    set_sizes = block.questions.n_distinct[question] + block.additions.n_distinct
    bounds = set_sizes if word_weights is None else np.full_like(set_sizes, sizes[-1])
    weigh = RowWeights(block, word_weights, bounds, smoothing)
    # Behind each passage stand as many empty cells as a window may reach beyond its end: a window that is cut
    # there holds no more than the last whole one, or, in a passage shorter than the window, all that there is.
    margin = sizes[-1] - 1
    best = np.zeros((len(question), len(sizes)), dtype=np.int64)
    padded = lengths + margin
    memory: NDArray[np.integer] = np.empty(
        min(cells + int(padded.max(initial=0)), int(padded.sum())), dtype=weigh.dtype
    )
    for rows in row_chunks(np.flatnonzero(lengths > 0), padded, cells):
        starts = offsets_of(padded[rows])
        row_weights = weigh.rows(rows, starts, memory)
        sums = row_weights.copy()
        bounds = np.stack((starts[:-1], starts[:-1] + lengths[rows]), axis=1).ravel()
        column = 0
        for size in range(1, sizes[-1] + 1):
            if size > 1:
                sums[: len(sums) - size + 1] += row_weights[size - 1 :]
            if size == sizes[column]:
                if not last_window:
                    bounds[1::2] = starts[:-1] + np.maximum(lengths[rows] - size, 1)
                cuts = bounds[:-1] if bounds[-1] == len(sums) else bounds  # reduceat takes no cut at the end
                best[rows, column] = np.maximum.reduceat(sums, cuts)[::2]
                column += 1
    return best
