"""The sliding window of Richardson et al. 2013, of one or many sizes, for entire datasets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    MatchedBlock,
    Matches,
    Postings,
    TokenArrays,
    block_size,
    matched_blocks,
    offsets_of,
    places_of,
    run_starts,
)
from classic_rc.kernels.weights import SCALE, inverse_count_weights

INT32_SAFE = 2**31 // SCALE - 1
"""31: a sum of up to this many weights of 1 fits into an int32."""

_CELLS = 2**18
"""How many cells (candidates x passage tokens) are processed at a time; each takes about 10
bytes.
"""


def sliding_window(
    arrays: TokenArrays,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return the weight of the best window for every candidate.

    With S the set of the question's and the candidate's words, and IC(w) the weight of word w::

        sw = max over windows of sum over the window's tokens t in S of IC(t)

    Every occurrence in a window counts. A passage shorter than the window is one window. This is
    :func:`classic_rc.kernels.reference.sliding_window` for all candidates at once, equal to the
    bit.

    Parameters
    ----------
    arrays : TokenArrays
    window : int, "set" or "passage"
        The window's length in tokens: ``"set"`` is ``|S|`` (Algorithm 1), ``"passage"`` is the
        whole passage.
    word_weights : ndarray of int32, shape (n_words,), optional
        Fixed-point weights of words (:mod:`classic_rc.kernels.weights`), at most 1 each; by default
        inverse counts in the candidate's own passage.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        Fixed-point sums, of scale :data:`classic_rc.kernels.weights.SCALE`.
    """
    best = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for block in matched_blocks(arrays):
        best[block.where] = best_windows(block, window, word_weights)
    return best


def best_windows(
    block: MatchedBlock,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return :func:`sliding_window` of one block: shape (n_candidates of the block,)."""
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
    # Rows of equal width are adjacent, so one shifted addition serves all of them.
    order = np.argsort(widths, kind="stable")
    order = order[widths[order] > 0]
    # The chunks share their memory: freeing and allocating it for each would take a fifth of the
    # time.
    memory = np.empty((3, _largest_chunk(lengths)), dtype=weigh.dtype)
    for rows in row_chunks(order, lengths, _CELLS):
        starts = offsets_of(lengths[rows])
        row_weights = weigh.rows(rows, starts, memory[0])
        best[rows] = row_maxima(row_weights, starts, widths[rows], memory[1:])
    return best


def _largest_chunk(lengths: NDArray[np.int64]) -> int:
    """Return how many cells a chunk of rows of these lengths has at most."""
    return min(_CELLS + int(lengths.max(initial=0)), int(lengths.sum()))


class RowWeights:
    """Lays out candidates as rows of their passage's tokens: a token's weight if it matches, else
    0.

    Weights are inverse counts within the passage, to which `smoothing` is added, or `word_weights`.
    `bounds` are upper bounds of every window's sum in units of a weight of 1, from which the dtype
    follows: the number of distinct words, because all C occurrences of a word weigh ``C ln(1 + 1 /
    C) < 1`` together; with given weights, the number of tokens in a window.
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
        """Return the rows of `candidates`, one after the other, written to `memory`.

        Row i starts at ``starts[i]`` and ends at ``starts[i + 1]``. Cells beyond a passage stay 0.
        """
        block = self._block
        cells = memory[: starts[-1]]
        cells.fill(0)
        questions = block.arrays.candidate_question[candidates]
        # Additions are no words of the question, so no cell is written twice.
        for matches, texts in ((block.questions, questions), (block.additions, candidates)):
            _fill_rows(cells, starts, block.postings, self._weights, matches, texts)
        return cells


def _fill_rows(
    cells: NDArray[np.integer],
    starts: NDArray[np.int64],
    postings: Postings,
    run_weights: NDArray[np.integer],
    matches: Matches,
    texts: NDArray[np.int64],
) -> None:
    """Write the weights of the matches of text i into row i."""
    places = places_of(postings, matches, texts)
    at = np.repeat(starts[places.rows], places.counts)
    at += places.positions
    cells[at] = np.repeat(run_weights[places.runs], places.counts)


def row_chunks(
    rows: NDArray[np.int64], lengths: NDArray[np.int64], cells: int
) -> Iterator[NDArray[np.int64]]:
    """Split `rows` into parts of about `cells` cells (:func:`block_size`), at least one row
    each.
    """
    if not len(rows):
        return
    chunk_of = offsets_of(lengths[rows])[:-1] // block_size(cells)
    yield from np.split(rows, np.flatnonzero(np.diff(chunk_of)) + 1)


def row_maxima(
    weights: NDArray[np.integer],
    starts: NDArray[np.int64],
    widths: NDArray[np.int64],
    memory: NDArray[np.integer],
) -> NDArray[np.int64]:
    """Return the largest sum of `widths[i]` adjacent cells in each row i; rows are ordered by
    width.

    `memory` is two rows of scratch space, each at least as long as `weights`.
    """
    best = np.empty(len(widths), dtype=np.int64)
    for first, last in itertools.pairwise([*run_starts(widths).tolist(), len(widths)]):
        width = int(widths[first])
        start, stop = starts[first], starts[last]
        sums = _window_sums(weights[start:stop], width, memory)
        # The last window of a row starts `width` cells before its end; later starts run into the
        # next row. Their sums may even wrap around an int32, but nothing reads them.
        row_starts = starts[first : last + 1] - start
        bounds = _bounds_of(row_starts[:-1], row_starts[1:] - (width - 1))
        best[first:last] = _maxima_between(sums, bounds)
    return best


def _bounds_of(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bounds of ranges for :func:`_maxima_between`."""
    bounds = np.empty(2 * len(starts), dtype=np.int64)
    bounds[0::2] = starts
    bounds[1::2] = ends
    return bounds


def _window_sums(
    cells: NDArray[np.integer], width: int, memory: NDArray[np.integer]
) -> NDArray[np.integer]:
    """Return ``sums[i] = cells[i:i + width].sum()``, by doubling along the binary digits of
    `width`, highest first.

    This takes ``floor(log2 width) + popcount(width) - 1`` additions of whole arrays. They
    vectorise; a running sum does not. The sums alternate between the two rows of `memory`, each at
    least as long as `cells`.
    """
    sums, size = cells, 1
    free, used = memory
    for digit in f"{width:b}"[1:]:
        n_sums = len(sums) - size
        sums = np.add(sums[:n_sums], sums[size:], out=free[:n_sums])
        free, used = used, free
        size *= 2
        if digit == "1":
            sums = sums[:-1]
            sums += cells[size:]
            size += 1
    return sums


def window_sweep(
    arrays: TokenArrays,
    sizes: Sequence[int] = range(2, 31),
    word_weights: NDArray[np.int32] | None = None,
    *,
    smoothing: int = 0,
    last_window: bool = True,
    matched: Iterable[MatchedBlock] | None = None,
) -> NDArray[np.int64]:
    """Return the weight of the best window for every candidate and each of several window sizes.

    Column k equals :func:`~classic_rc.kernels.sliding_window` with ``window=sizes[k]``, to the bit.

    Parameters
    ----------
    arrays : TokenArrays
    sizes : sequence of int
        Window sizes in tokens, at least 1 and ascending.
    word_weights
        As in :func:`~classic_rc.kernels.sliding_window`.
    smoothing : int
        Added to each count within the passage.
    last_window : bool
        Whether the window at the end of the passage counts. False leaves it out if there is another
        window.
    matched : iterable of MatchedBlock, optional
        The arrays' :func:`~classic_rc.kernels.arrays.matched_blocks`, if they are known.

    Returns
    -------
    ndarray of int64, shape (n_candidates, n_sizes)
    """
    if (
        not len(sizes)
        or sizes[0] < 1
        or any(b <= a for a, b in zip(sizes, sizes[1:], strict=False))
    ):
        raise ValueError(f"sizes must be at least 1 and ascending, got {list(sizes)}")
    best = np.zeros((len(arrays.candidate_question), len(sizes)), dtype=np.int64)
    for block in matched or matched_blocks(arrays):
        best[block.where] = best_of_sizes(
            block, sizes, word_weights, smoothing=smoothing, last_window=last_window
        )
    return best


def best_of_sizes(
    block: MatchedBlock,
    sizes: Sequence[int],
    word_weights: NDArray[np.int32] | None = None,
    *,
    smoothing: int = 0,
    last_window: bool = True,
) -> NDArray[np.int64]:
    """Return :func:`window_sweep` of one block: shape (n_candidates of the block, n_sizes)."""
    arrays, question = block.arrays, block.arrays.candidate_question
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[question]]
    set_sizes = block.questions.n_distinct[question] + block.additions.n_distinct
    bounds = set_sizes if word_weights is None else np.full_like(set_sizes, sizes[-1])
    weigh = RowWeights(block, word_weights, bounds, smoothing)
    # Each passage is followed by as many empty cells as a window can reach beyond its end. A window
    # that the end cuts off weighs no more than the last whole one, or is the whole passage if that
    # is shorter than the window.
    margin = sizes[-1] - 1
    best = np.zeros((len(question), len(sizes)), dtype=np.int64)
    padded = lengths + margin
    memory: NDArray[np.integer] = np.empty(_largest_chunk(padded), dtype=weigh.dtype)
    for rows in row_chunks(np.flatnonzero(lengths > 0), padded, _CELLS):
        starts = offsets_of(padded[rows])
        row_weights = weigh.rows(rows, starts, memory)
        sums = row_weights.copy()
        bounds = _bounds_of(starts[:-1], starts[:-1] + lengths[rows])
        column = 0
        for size in range(1, sizes[-1] + 1):
            if size > 1:  # a window of `size` tokens is one of `size - 1` tokens and the next token
                sums[: len(sums) - size + 1] += row_weights[size - 1 :]
            if size == sizes[column]:
                if not last_window:
                    bounds[1::2] = starts[:-1] + np.maximum(lengths[rows] - size, 1)
                best[rows, column] = _maxima_between(sums, bounds)
                column += 1
    return best


class PairWindows(NamedTuple):
    """The best windows of two sets of words for each candidate; sums are fixed-point."""

    both: NDArray[np.int64]  # (n_candidates, n_sizes): the largest sum of the words of either set
    # (n_candidates, n_pair_sizes): the largest product of both sums, each at most 3
    product: NDArray[np.int64]
    least: NDArray[np.int64]  # (n_candidates, n_pair_sizes): the largest minimum of both sums


_LARGEST_SUM = 3 * SCALE  # products of two stay below 2**56


def pair_windows(
    block: MatchedBlock,
    questions: Matches,  # the set of each of the block's questions
    candidates: Matches,  # the set of each of its candidates
    sizes: Sequence[int],  # of the windows of either set
    pair_sizes: Sequence[int],  # of the windows that have words of both
) -> PairWindows:
    """Return the best windows for a set of words of each question and one of each candidate.

    A window's sums are those of the inverse counts of its tokens in the question's set, in the
    candidate's set, and in either of them; a word can be in both.
    """
    arrays, postings, question = block.arrays, block.postings, block.arrays.candidate_question
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[question]]
    weights = inverse_count_weights(np.diff(postings.offsets))
    # All occurrences of a word in a passage weigh less than 1 together.
    most_words = questions.n_distinct.max(initial=0) + candidates.n_distinct.max(initial=0)
    dtype = np.int64 if most_words > INT32_SAFE else np.int32
    union = np.zeros((len(question), len(sizes)), dtype=np.int64)
    product, minimum = np.zeros((2, len(question), len(pair_sizes)), dtype=np.int64)
    # As in `best_of_sizes`: empty cells behind each passage, so that windows may begin at each of
    # its tokens.
    padded = lengths + (max([*sizes, *pair_sizes]) - 1)
    n_cells = _largest_chunk(padded)
    row_memory, scratch = np.empty((3, n_cells), dtype), np.empty((2, n_cells), dtype)
    question_memory = np.empty(n_cells, dtype)
    for rows in row_chunks(np.flatnonzero(lengths > 0), padded, _CELLS):
        starts = offsets_of(padded[rows])
        of_question, of_candidate, of_both = (memory[: starts[-1]] for memory in row_memory)
        of_question.fill(0)
        of_candidate.fill(0)
        _fill_rows(of_question, starts, postings, weights, questions, question[rows])
        _fill_rows(of_candidate, starts, postings, weights, candidates, rows)
        np.maximum(of_question, of_candidate, out=of_both)  # a token has one weight
        bounds = _bounds_of(starts[:-1], starts[:-1] + lengths[rows])
        for column, size in enumerate(sizes):
            sums = _window_sums(of_both, size, scratch)
            union[rows, column] = _maxima_between(sums, bounds)
        for column, size in enumerate(pair_sizes):
            question_sums = question_memory[: len(of_question) - size + 1]
            # copied: the next sums overwrite them
            question_sums[:] = _window_sums(of_question, size, scratch)
            candidate_sums = _window_sums(of_candidate, size, scratch)
            smaller_sums = np.minimum(question_sums, candidate_sums)
            minimum[rows, column] = _maxima_between(smaller_sums, bounds)
            # Not in place: windows of one token are the cells themselves.
            capped_sums = np.minimum(candidate_sums, _LARGEST_SUM, out=smaller_sums)
            np.minimum(question_sums, _LARGEST_SUM, out=question_sums)
            products = np.multiply(question_sums, capped_sums, dtype=np.int64)
            product[rows, column] = _maxima_between(products, bounds)
            del smaller_sums, capped_sums, products
    return PairWindows(union, product, minimum)


def _maxima_between(values: NDArray[np.integer], bounds: NDArray[np.int64]) -> NDArray[np.integer]:
    """Return the largest of the values ``bounds[2 * i]:bounds[2 * i + 1]`` for each i."""
    cuts = bounds[:-1] if bounds[-1] == len(values) else bounds  # reduceat takes no cut at the end
    return np.maximum.reduceat(values, cuts)[::2]  # without those between two pairs
