"""How long a part of each candidate stands verbatim in its passage, for whole datasets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, ragged_indices
from classic_rc.kernels.postings import BLOCK_TOKENS, passage_postings


def longest_runs(arrays: TokenArrays) -> NDArray[np.int64]:
    """The length of the longest run of each candidate's tokens that stands in its passage as it is.

    Parameters
    ----------
    arrays : TokenArrays

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        In tokens; 0 for a candidate none of whose tokens stands there.
    """
    runs = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        runs[where] = _block(block)
    return runs


def _block(arrays: TokenArrays) -> NDArray[np.int64]:
    lengths = np.diff(arrays.candidate_offsets)
    candidate = np.repeat(np.arange(len(lengths)), lengths)
    index = np.arange(len(candidate)) - arrays.candidate_offsets[candidate]
    passage = arrays.question_passage[arrays.candidate_question[candidate]]
    postings = passage_postings(arrays)
    keys = passage * arrays.n_words + arrays.candidate_tokens
    at = np.searchsorted(postings.keys, keys)
    found = at < len(postings.keys)
    found[found] = postings.keys[at[found]] == keys[found]
    candidate, index, at = candidate[found], index[found], at[found]

    # A run is a stretch of one diagonal: place in the passage minus place in the candidate stays the same.
    n_places = np.diff(postings.offsets)[at]
    place = postings.positions[ragged_indices(postings.offsets[:-1][at], n_places)]
    candidate, index = np.repeat(candidate, n_places), np.repeat(index, n_places)
    width = int(lengths.max(initial=0)) + 1  # one more than an index can be: diagonals do not touch
    n_diagonals = width + int(place.max(initial=0)) + 1
    cells = (candidate * n_diagonals + place - index + width) * width + index
    cells.sort()
    starts = np.flatnonzero(np.diff(cells, prepend=-2) != 1)
    runs = np.zeros(len(lengths), dtype=np.int64)
    np.maximum.at(runs, cells[starts] // (n_diagonals * width), np.diff(starts, append=len(cells)))
    return runs
