"""Completed cloze queries laid over their passages token on token, for whole datasets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.kernels.cloze_steps import query_words
from classic_rc.kernels.phrases import phrase_places, word_runs
from classic_rc.kernels.postings import BLOCK_TOKENS, passage_postings
from classic_rc.kernels.weights import inverse_count_weights
from classic_rc.kernels.window import row_chunks


def cloze_window(
    arrays: TokenArrays,
    placeholders: NDArray[np.int64],
    anchored: bool = False,
    word_weights: NDArray[np.int32] | None = None,
    cells: int = 2**18,
) -> NDArray[np.int64]:
    """The weight of the tokens that match best when each completed query is laid over its passage.

    With Q' the query in whose place of the placeholder the candidate's tokens stand, and IC(w) the weight of w::

        cw = max over shifts s of sum over k with P_{s+k} = Q'_k of IC(Q'_k)

    The query's ends may hang over the passage's. This is
    :func:`classic_rc.kernels.reference_cloze.cloze_window` for all candidates at once, equal to the bit.

    Parameters
    ----------
    arrays : TokenArrays
        Queries without a token for the placeholder.
    placeholders : ndarray of int64, shape (n_questions,)
        How many of each query's tokens stand before its placeholder.
    anchored : bool
        Whether only shifts count at which the whole candidate stands on its like.
    word_weights : ndarray of int32, shape (n_words,), optional
        Fixed-point weights of words; by default inverse counts within the candidate's own passage.
    cells : int
        How many shifts and matching pairs of tokens are worked on at a time: bounds memory to about 50 bytes each
        and does not change the result.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        Fixed-point sums, of scale :data:`classic_rc.kernels.weights.SCALE`.
    """
    best = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        first = int(arrays.candidate_question[where.start])
        own = placeholders[first : first + len(block.question_passage)]
        best[where] = _block(block, own, anchored, word_weights, cells)
    return best


def _block(
    arrays: TokenArrays,
    placeholders: NDArray[np.int64],
    anchored: bool,
    word_weights: NDArray[np.int32] | None,
    cells: int,
) -> NDArray[np.int64]:
    postings = passage_postings(arrays)
    n_places = np.diff(postings.offsets)
    if word_weights is None:
        weights = inverse_count_weights(n_places)
    else:
        weights = word_weights[postings.keys % arrays.n_words]
    question, passage = arrays.candidate_question, arrays.question_passage[arrays.candidate_question]
    sizes = np.diff(arrays.candidate_offsets)
    before = placeholders[question]

    # The tokens that match somewhere: those of the queries, and those of the candidates.
    query = query_words(arrays, postings, placeholders)
    of_token = np.repeat(np.arange(len(sizes)), sizes)
    run, found = word_runs(postings, passage[of_token], arrays.candidate_tokens, arrays.n_words)
    place = np.arange(len(of_token)) - arrays.candidate_offsets[of_token] + before[of_token]
    filling_runs, filling_places = run[found], place[found]
    filling_offsets = offsets_of(np.bincount(of_token[found], minlength=len(sizes)))

    # A row of cells for each candidate: one for every shift from the last token on the first to the reverse.
    lengths = np.diff(arrays.question_offsets)[question] + sizes
    widths = np.diff(arrays.passage_offsets)[passage] + lengths - 1
    n_query, n_filling = np.diff(query.offsets)[question], np.diff(filling_offsets)
    load = np.diff(offsets_of(n_places[query.runs])[query.offsets])[question]
    load += np.diff(offsets_of(n_places[filling_runs])[filling_offsets]) + widths
    mentioned, mention_starts = phrase_places(arrays, postings) if anchored else (np.empty(0, np.int64),) * 2
    best = np.zeros(len(sizes), dtype=np.int64)
    for rows in row_chunks(np.flatnonzero((lengths > 0) & (widths >= lengths)), load, cells):
        starts = offsets_of(widths[rows])
        zero = starts[:-1] + lengths[rows] - 1  # the cell of shift 0
        asked = ragged_indices(query.offsets[:-1][question[rows]], n_query[rows])
        filled = ragged_indices(filling_offsets[:-1][rows], n_filling[rows])
        run = np.concatenate((query.runs[asked], filling_runs[filled]))
        cell = np.concatenate(
            (
                np.repeat(zero, n_query[rows])
                - query.places[asked]
                - query.after[asked] * np.repeat(sizes[rows], n_query[rows]),
                np.repeat(zero, n_filling[rows]) - filling_places[filled],
            )
        )
        cell = np.repeat(cell, n_places[run])
        cell += postings.positions[ragged_indices(postings.offsets[:-1][run], n_places[run])]
        # Sums of whole numbers below 2**53: floats hold them exactly.
        sums = np.bincount(cell, np.repeat(weights[run], n_places[run]), minlength=int(starts[-1]))
        if anchored:
            at = np.arange(*np.searchsorted(mentioned, (rows[0], rows[-1] + 1)))
            row = np.searchsorted(rows, mentioned[at])
            values = sums[zero[row] + mention_starts[at] - before[mentioned[at]]]
            np.maximum.at(best, mentioned[at], values.astype(np.int64))
        else:
            best[rows] = np.maximum.reduceat(sums, starts[:-1])
    return best
