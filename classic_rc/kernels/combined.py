"""Sliding window and word distance together: the words are matched once for both."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.distance import DistanceRule, word_distances
from classic_rc.kernels.postings import matched_blocks
from classic_rc.kernels.window import best_windows


def window_and_distance(
    arrays: TokenArrays,
    stop_words: NDArray[np.bool_],
    *,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
    rule: DistanceRule = "mean",
    cells: int = 2**18,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """:func:`~classic_rc.kernels.sliding_window` and :func:`~classic_rc.kernels.word_distance` of all candidates.

    Parameters
    ----------
    arrays, window, word_weights, cells
        As of :func:`~classic_rc.kernels.sliding_window`.
    stop_words, rule
        As of :func:`~classic_rc.kernels.word_distance`; stop words count in windows.

    Returns
    -------
    windows : ndarray of int64, shape (n_candidates,)
    distances : ndarray of float64, shape (n_candidates,)
    found : ndarray of bool, shape (n_candidates,)
    """
    n = len(arrays.candidate_question)
    windows, distances, found = np.zeros(n, dtype=np.int64), np.ones(n), np.zeros(n, dtype=np.bool_)
    for block in matched_blocks(arrays):
        windows[block.where] = best_windows(block, window, word_weights, cells)
        distances[block.where], found[block.where] = word_distances(block, stop_words, rule)
    return windows, distances, found
