"""Where words and candidates stand in passages, for whole datasets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, ragged_indices
from classic_rc.kernels.postings import Postings


def word_runs(
    postings: Postings, passages: NDArray[np.int64], words: NDArray[np.integer], n_words: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The run of each word in its passage, and whether it stands there at all.

    Parameters
    ----------
    postings : Postings
    passages, words : ndarray of int, shape (n,)
    n_words : int
        The size of the vocabulary.

    Returns
    -------
    runs : ndarray of int64, shape (n,)
        Meaningful only where found.
    found : ndarray of bool, shape (n,)
    """
    if not len(postings.keys):
        return np.zeros(len(words), dtype=np.int64), np.zeros(len(words), dtype=np.bool_)
    keys = passages * n_words + words
    runs = np.minimum(np.searchsorted(postings.keys, keys), len(postings.keys) - 1)
    return runs, postings.keys[runs] == keys


def phrase_places(arrays: TokenArrays, postings: Postings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each candidate's tokens stand in its passage, one after the other.

    Parameters
    ----------
    arrays : TokenArrays
    postings : Postings
        Of these passages.

    Returns
    -------
    candidates : ndarray of int64, shape (n_places,)
        Never falls; a candidate without tokens stands nowhere.
    starts : ndarray of int64, shape (n_places,)
        The position of its first token in the passage, rising for each candidate.
    """
    lengths = np.diff(arrays.candidate_offsets)
    passage = arrays.question_passage[arrays.candidate_question]
    # Begin with the places of the first token, then keep those where the next token follows, and so on.
    row = np.flatnonzero(lengths > 0)
    first = arrays.candidate_tokens[arrays.candidate_offsets[row]]
    run, found = word_runs(postings, passage[row], first, arrays.n_words)
    row, run = row[found], run[found]
    n_places = np.diff(postings.offsets)[run]
    row = np.repeat(row, n_places)
    start = postings.positions[ragged_indices(postings.offsets[:-1][run], n_places)]
    step = 1
    whole = []
    while len(row):
        ended = lengths[row] == step
        whole.append((row[ended], start[ended]))
        place = arrays.passage_offsets[passage[row]] + start + step
        go_on = ~ended & (place < arrays.passage_offsets[passage[row] + 1])
        row, start, place = row[go_on], start[go_on], place[go_on]
        wanted = arrays.candidate_tokens[arrays.candidate_offsets[row] + step]
        same = arrays.passage_tokens[place] == wanted
        row, start = row[same], start[same]
        step += 1
    if not whole:
        return row, start
    rows, starts = (np.concatenate(parts) for parts in zip(*whole, strict=True))
    order = np.lexsort((starts, rows))
    return rows[order], starts[order]
