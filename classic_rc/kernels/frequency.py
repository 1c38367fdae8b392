"""How often candidates stand in their passages, for whole datasets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, ragged_indices
from classic_rc.kernels.postings import BLOCK_TOKENS, passage_postings

__all__ = ["phrase_counts"]


def phrase_counts(arrays: TokenArrays) -> NDArray[np.int64]:
    """How often each candidate's token sequence occurs in its passage.

    This is :func:`classic_rc.kernels.reference.phrase_count` for all candidates at once.

    Parameters
    ----------
    arrays : TokenArrays

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        0 for a candidate without tokens.
    """
    counts = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        counts[where] = _block(block)
    return counts


def _block(arrays: TokenArrays) -> NDArray[np.int64]:
    lengths = np.diff(arrays.candidate_offsets)
    postings = passage_postings(arrays)
    passage = arrays.question_passage[arrays.candidate_question]
    # Begin with the places of the first token, then keep those where the next token follows, and so on.
    rows = np.flatnonzero(lengths > 0)
    keys = passage[rows] * arrays.n_words + arrays.candidate_tokens[arrays.candidate_offsets[rows]]
    run = np.searchsorted(postings.keys, keys)
    found = run < len(postings.keys)
    found[found] = postings.keys[run[found]] == keys[found]
    rows, run = rows[found], run[found]
    n_places = np.diff(postings.offsets)[run]
    row = np.repeat(rows, n_places)
    place = postings.positions[ragged_indices(postings.offsets[:-1][run], n_places)]
    place += arrays.passage_offsets[passage[row]]
    ends = arrays.passage_offsets[passage[row] + 1]
    counts = np.zeros(len(lengths), dtype=np.int64)
    step = 0
    while len(row):
        whole = lengths[row] == step + 1
        counts += np.bincount(row[whole], minlength=len(counts))
        step += 1
        go_on = ~whole & (place + step < ends)
        row, place, ends = row[go_on], place[go_on], ends[go_on]
        wanted = arrays.candidate_tokens[arrays.candidate_offsets[row] + step]
        same = arrays.passage_tokens[place + step] == wanted
        row, place, ends = row[same], place[same], ends[same]
    return counts
