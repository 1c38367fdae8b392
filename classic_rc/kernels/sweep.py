"""All window sizes at once: the next size's sums are the last one's plus one shifted row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.postings import MatchedBlock, matched_blocks
from classic_rc.kernels.window import RowWeights, row_chunks


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
        best[block.where] = _block(block, sizes, word_weights, cells, smoothing, last_window)
    return best


def _block(
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
