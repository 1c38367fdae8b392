"""Kernels for cloze queries: mentions of candidates, the words around mentions, and shifts of
the whole query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    BLOCK_TOKENS,
    Postings,
    TokenArrays,
    look_up,
    offsets_of,
    passage_postings,
    ragged_indices,
)
from classic_rc.kernels.distance import nearest_distances
from classic_rc.kernels.weights import inverse_count_weights
from classic_rc.kernels.window import row_chunks

_PAIRS = 2**18
"""How many pairs of a mention and a query word are processed at a time; each takes about 100
bytes.
"""

_CELLS = 2**18
"""How many shifts and matching pairs of tokens are processed at a time; each takes about 50
bytes.
"""


def phrase_counts(arrays: TokenArrays) -> NDArray[np.int64]:
    """Return how often each candidate's token sequence occurs in its passage.

    This is :func:`classic_rc.kernels.reference.phrase_count` for all candidates at once.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        0 for a candidate without tokens.
    """
    counts = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        candidates, _ = phrase_places(block, passage_postings(block))
        counts[where] = np.bincount(candidates, minlength=len(block.candidate_question))
    return counts


def query_counts(arrays: TokenArrays, placeholders: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each candidate's token sequence occurs in its query, on either side of the
    placeholder.

    The queries have no token for the placeholder; `placeholders` says how many of their tokens
    precede it.
    """
    # Count with each query in place of the passage. The parts before and after the placeholder are
    # two texts, because no phrase can span it: text 2i is the first part of query i, and text 2i +
    # 1 the second.
    starts = arrays.question_offsets[:-1]
    half_starts = np.column_stack((starts, starts + placeholders))
    halves = arrays._replace(
        passage_tokens=arrays.question_tokens,
        passage_offsets=np.append(half_starts, arrays.question_offsets[-1]),
    )
    first_halves = 2 * np.arange(len(starts))
    before = phrase_counts(halves._replace(question_passage=first_halves))
    return before + phrase_counts(halves._replace(question_passage=first_halves + 1))


def phrase_places(
    arrays: TokenArrays, postings: Postings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each candidate's token sequence occurs in its passage, given the postings of
    these passages.

    Both results have shape (n_places,): the candidates, ascending (one without tokens has no
    places), and the position of the first token in the passage, ascending for each candidate.
    """
    lengths = np.diff(arrays.candidate_offsets)
    passage = arrays.question_passage[arrays.candidate_question]
    # Start with the places of the first token, keep those followed by the second token, and so on.
    row = np.flatnonzero(lengths > 0)
    first = arrays.candidate_tokens[arrays.candidate_offsets[row]]
    run, is_in_passage = look_up(passage[row] * arrays.n_words + first, postings.keys)
    row, run = row[is_in_passage], run[is_in_passage]
    n_places = np.diff(postings.offsets)[run]
    row = np.repeat(row, n_places)
    start = postings.positions[ragged_indices(postings.offsets[:-1][run], n_places)]
    step = 1
    complete = []
    while len(row):
        ended = lengths[row] == step
        complete.append((row[ended], start[ended]))
        place = arrays.passage_offsets[passage[row]] + start + step
        continues = ~ended & (place < arrays.passage_offsets[passage[row] + 1])
        row, start, place = row[continues], start[continues], place[continues]
        next_token = arrays.candidate_tokens[arrays.candidate_offsets[row] + step]
        is_next = arrays.passage_tokens[place] == next_token
        row, start = row[is_next], start[is_next]
        step += 1
    if not complete:
        return row, start
    rows, starts = (np.concatenate(parts) for parts in zip(*complete, strict=True))
    order = np.lexsort((starts, rows))  # so far, shorter candidates come first
    return rows[order], starts[order]


class QueryWords(NamedTuple):
    """The tokens of queries that occur in their passages."""

    offsets: NDArray[np.int64]  # (n_questions + 1,): query i has `offsets[i]:offsets[i + 1]`
    words: NDArray[np.int32]
    runs: NDArray[np.int64]  # runs of the postings
    places: NDArray[np.int64]  # positions in the query
    after: NDArray[np.bool_]  # whether the token comes after the placeholder


def query_words(
    arrays: TokenArrays, postings: Postings, placeholders: NDArray[np.int64]
) -> QueryWords:
    """Look up the queries' tokens in their passages."""
    lengths = np.diff(arrays.question_offsets)
    question = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(question)) - arrays.question_offsets[question]
    words = arrays.question_tokens
    keys = arrays.question_passage[question] * arrays.n_words + words
    run, is_in_passage = look_up(keys, postings.keys)
    del keys
    offsets = offsets_of(np.bincount(question[is_in_passage], minlength=len(lengths)))
    after = place >= placeholders[question]
    return QueryWords(
        offsets,
        words[is_in_passage],
        run[is_in_passage],
        place[is_in_passage],
        after[is_in_passage],
    )


def cloze_distance(
    arrays: TokenArrays, placeholders: NDArray[np.int64], max_distance: int = 8
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    r"""Return how far query words are from their expected places around each candidate's best
    mention.

    Let q_i be the word of the query at i places from the placeholder (negative before it), and M
    the candidate's mentions: the occurrences of its token sequence. Then::

        d = min over mentions m in M of sum over i of
            min(max_distance, min over j with P_j = q_i of |j - (m + i)|)

    Here m is the mention's first token for words before the placeholder and its last token for
    words after it. Without a mention, each word costs `max_distance`. This is
    :func:`classic_rc.kernels.reference.cloze_distance` for all candidates at once.

    Parameters
    ----------
    arrays : TokenArrays
        Queries without a token for the placeholder.
    placeholders : ndarray of int64, shape (n_questions,)
        How many of each query's tokens precede its placeholder.
    max_distance : int
        The most that a word can cost.

    Returns
    -------
    distances : ndarray of int64, shape (n_candidates,)
        In steps.
    is_near : ndarray of bool, shape (n_candidates,)
        Whether any word costs less than `max_distance`.
    """
    n_candidates = len(arrays.candidate_question)
    distances = np.zeros(n_candidates, dtype=np.int64)
    is_near = np.zeros(n_candidates, dtype=np.bool_)
    counted = np.ones(arrays.n_words, dtype=np.bool_)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        first = int(arrays.candidate_question[where.start])
        block_placeholders = placeholders[first : first + len(block.question_passage)]
        distances[where], is_near[where] = _distance_block(
            block, block_placeholders, counted, max_distance
        )
    return distances, is_near


def _distance_block(
    arrays: TokenArrays,
    placeholders: NDArray[np.int64],
    counted: NDArray[np.bool_],
    max_distance: int,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    postings = passage_postings(arrays)
    candidates, starts = phrase_places(arrays, postings)
    sums = mention_distances(
        arrays, postings, candidates, starts, placeholders, counted, max_distance
    )
    worst = max_distance * counted_lengths(arrays, counted)[arrays.candidate_question]
    distances = worst.copy()
    np.minimum.at(distances, candidates, sums)
    return distances, distances < worst


def counted_lengths(arrays: TokenArrays, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many of each question's tokens count: shape (n_questions,)."""
    counted_before = offsets_of(counted[arrays.question_tokens])
    return np.diff(counted_before[arrays.question_offsets])


def mention_distances(
    arrays: TokenArrays,  # of one block
    postings: Postings,  # of its passages
    # (n_mentions,): this and the next are the result of `phrase_places`
    candidates: NDArray[np.int64],
    starts: NDArray[np.int64],
    placeholders: NDArray[np.int64],
    counted: NDArray[np.bool_],  # (n_words,): the words that count; the others keep their positions
    max_distance: int,
    is_aligned: bool = True,
) -> NDArray[np.int64]:
    """Return how far each query's counted words are from each mention of its candidates, added up:
    (n_mentions,).

    Distances are measured from a word's expected place, as in :func:`cloze_distance`, or, unless
    `is_aligned`, from the nearer end of the mention itself. The other parameters are as in
    :func:`cloze_distance`.
    """
    query = query_words(arrays, postings, placeholders)
    question = arrays.candidate_question
    worst = max_distance * counted_lengths(arrays, counted)[question[candidates]]
    # A word's place relative to the mention's token on its side. The placeholder is not among the
    # tokens, but it takes one place: words after it are one place farther.
    relative = query.places - np.repeat(placeholders, np.diff(query.offsets)) + query.after
    # Runs are so far apart on one number line that the nearest place is always one of the same run.
    # An expected place is outside the passage by the query's length at most.
    longest_passage = int(np.diff(arrays.passage_offsets).max(initial=0))
    longest_query = int(np.diff(arrays.question_offsets).max(initial=0))
    stride = 2 * (longest_passage + longest_query + 2) + 1
    keys = np.arange(len(postings.keys)) * stride  # of the runs
    keys = np.repeat(keys, np.diff(postings.offsets))
    keys += postings.positions

    def nearest(runs: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the distances of positions from the nearest places of runs, which have at least
        one each.
        """
        return nearest_distances(runs * stride + positions, keys)

    n_words = np.diff(query.offsets)[question[candidates]]
    sums = np.empty(len(candidates), dtype=np.int64)
    for chunk in row_chunks(np.arange(len(candidates)), n_words, _PAIRS):
        candidate, counts = candidates[chunk], n_words[chunk]
        word = ragged_indices(query.offsets[:-1][question[candidate]], counts)
        first = np.repeat(starts[chunk], counts)
        to_last = np.repeat(np.diff(arrays.candidate_offsets)[candidate] - 1, counts)
        runs = query.runs[word]
        if is_aligned:
            first += np.where(query.after[word], to_last, 0)
            steps = nearest(runs, first + relative[word])
        else:
            steps = np.minimum(nearest(runs, first), nearest(runs, first + to_last))
        # Words that the passage lacks are not in `query`: they do not reduce the worst distance.
        saved = max_distance - np.minimum(steps, max_distance)
        saved *= counted[query.words[word]]
        # Some mentions have no words to look up. Differences of a running total allow empty rows,
        # unlike reduceat.
        sums[chunk] = worst[chunk] - np.diff(offsets_of(saved)[offsets_of(counts)])
    return sums


def cloze_window(
    arrays: TokenArrays,
    placeholders: NDArray[np.int64],
    word_weights: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return the weight of the best match when each completed query is laid over its passage.

    Let Q' be the query with the candidate's tokens instead of the placeholder, and IC(w) the weight
    of w. Then::

        cw = max over shifts s of sum over k with P_{s+k} = Q'_k of IC(Q'_k)

    The query may extend beyond either end of the passage. This is
    :func:`classic_rc.kernels.reference.cloze_window` for all candidates at once, equal to the bit.

    Parameters
    ----------
    arrays : TokenArrays
        Queries without a token for the placeholder.
    placeholders : ndarray of int64, shape (n_questions,)
        How many of each query's tokens precede its placeholder.
    word_weights : ndarray of int32, shape (n_words,), optional
        Fixed-point weights of words; by default inverse counts within the candidate's own passage.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        Fixed-point sums, of scale :data:`classic_rc.kernels.weights.SCALE`.
    """
    best = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        first = int(arrays.candidate_question[where.start])
        block_placeholders = placeholders[first : first + len(block.question_passage)]
        best[where] = _shift_block(block, block_placeholders, word_weights)
    return best


def _shift_block(
    arrays: TokenArrays, placeholders: NDArray[np.int64], word_weights: NDArray[np.int32] | None
) -> NDArray[np.int64]:
    postings = passage_postings(arrays)
    n_places = np.diff(postings.offsets)
    if word_weights is None:
        weights = inverse_count_weights(n_places)
    else:
        weights = word_weights[postings.keys % arrays.n_words]
    question = arrays.candidate_question
    passage = arrays.question_passage[question]
    sizes = np.diff(arrays.candidate_offsets)

    # Tokens of the queries, and of the candidates that fill them, that match somewhere in the
    # passage.
    query = query_words(arrays, postings, placeholders)
    of_token = np.repeat(np.arange(len(sizes)), sizes)
    keys = passage[of_token] * arrays.n_words + arrays.candidate_tokens
    run, is_in_passage = look_up(keys, postings.keys)
    del keys
    place = np.arange(len(of_token)) - arrays.candidate_offsets[of_token]
    place += placeholders[question[of_token]]
    filling_runs, filling_places = run[is_in_passage], place[is_in_passage]
    filling_offsets = offsets_of(np.bincount(of_token[is_in_passage], minlength=len(sizes)))

    # One row per candidate with one cell per shift: from the query's last token on the passage's
    # first, to the query's first token on the passage's last. A token at place k that matches
    # position j votes for shift j - k.
    lengths = np.diff(arrays.question_offsets)[question] + sizes
    widths = np.diff(arrays.passage_offsets)[passage] + lengths - 1
    n_query, n_filling = np.diff(query.offsets)[question], np.diff(filling_offsets)
    load = np.diff(offsets_of(n_places[query.runs])[query.offsets])[question]
    load += np.diff(offsets_of(n_places[filling_runs])[filling_offsets]) + widths
    best = np.zeros(len(sizes), dtype=np.int64)
    for rows in row_chunks(np.flatnonzero((lengths > 0) & (widths >= lengths)), load, _CELLS):
        starts = offsets_of(widths[rows])
        zero = starts[:-1] + lengths[rows] - 1  # the cell of shift 0
        query_index = ragged_indices(query.offsets[:-1][question[rows]], n_query[rows])
        filling_index = ragged_indices(filling_offsets[:-1][rows], n_filling[rows])
        run = np.concatenate((query.runs[query_index], filling_runs[filling_index]))
        # Words after the placeholder are moved back by the tokens that fill it.
        query_place = np.repeat(sizes[rows], n_query[rows])
        query_place *= query.after[query_index]
        query_place += query.places[query_index]
        place = np.concatenate((query_place, filling_places[filling_index]))
        cell = np.concatenate((np.repeat(zero, n_query[rows]), np.repeat(zero, n_filling[rows])))
        cell -= place
        counts = n_places[run]
        cell = np.repeat(cell, counts)
        cell += postings.positions[ragged_indices(postings.offsets[:-1][run], counts)]
        # Sums of integers far below 2**53: bincount's doubles hold them exactly.
        sums = np.bincount(cell, np.repeat(weights[run], counts), minlength=int(starts[-1]))
        best[rows] = np.maximum.reduceat(sums, starts[:-1])
    return best
