"""Sums over matched words and sentences, and a distance (Smith et al. 2015), for entire
datasets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    BLOCK_TOKENS,
    MatchedBlock,
    TokenArrays,
    match_words,
    matched_blocks,
    offsets_of,
    passage_postings,
    places_of,
)
from classic_rc.kernels.distance import has_both, nearest_distances, pack_places, row_stride


def token_counts(
    arrays: TokenArrays, matched: Iterable[MatchedBlock] | None = None
) -> NDArray[np.int64]:
    """Return how often the word of each passage token occurs in its passage: shape
    (n_passage_tokens,).

    Nobody reads the counts of a passage without candidates: they depend on the blocks. `matched`
    are the arrays' :func:`~classic_rc.kernels.arrays.matched_blocks`, if they are known.
    """
    counts = np.zeros(len(arrays.passage_tokens), dtype=np.int64)
    for block in matched or matched_blocks(arrays):
        sizes = np.diff(block.postings.offsets)
        counts[_posted_tokens(arrays, block)] = np.repeat(sizes, sizes)
    return counts


def bag_of_words(
    arrays: TokenArrays,
    token_weights: NDArray[np.int32],
    matched: Iterable[MatchedBlock] | None = None,
) -> NDArray[np.int64]:
    """Sum the weights of all passage tokens that are words of the question or of the candidate.

    This is :func:`classic_rc.kernels.reference.lexical.bag_of_words` of all candidates. A token
    that does not count has the weight 0. `matched` as in :func:`token_counts`.
    """
    totals = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for block in matched or matched_blocks(arrays):
        tokens, starts = _posted_tokens(arrays, block), block.postings.offsets[:-1]
        run_weights = np.add.reduceat(token_weights[tokens], starts, dtype=np.int64)
        # Sums of fixed-point weights stay far below 2**53, so doubles hold them exactly.
        sums = [
            np.bincount(matches.texts, run_weights[matches.runs], len(matches.n_distinct))
            for matches in (block.questions, block.additions)
        ]
        totals[block.where] = sums[0][block.arrays.candidate_question] + sums[1]
    return totals


def best_sentences(
    arrays: TokenArrays,
    token_weights: NDArray[np.int32],
    token_sentences: NDArray[np.int64],
    n_best: int = 2,
    matched: Iterable[MatchedBlock] | None = None,
) -> NDArray[np.int64]:
    """Sum the weights of matched tokens in the `n_best` sentences of the passage that have the
    largest sums.

    This is :func:`classic_rc.kernels.reference.lexical.best_sentences` of all candidates.
    `token_sentences` is the index of each passage token's sentence in its passage. `matched` as in
    :func:`token_counts`.
    """
    totals = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, rows, tokens in _find_matched_tokens(arrays, matched):
        n = where.stop - where.start
        # Passages with fewer sentences get empty ones, which weigh 0.
        width = max(int(token_sentences[tokens].max(initial=0)) + 1, n_best)
        cells = rows * width + token_sentences[tokens]
        sums = np.bincount(cells, token_weights[tokens], minlength=n * width).reshape(n, width)
        # Exact again: these doubles are integers far below 2**53, so their order does not matter.
        sums.partition(width - n_best, axis=1)
        totals[where] = sums[:, -n_best:].sum(axis=1)
    return totals


def occurrence_distance(arrays: TokenArrays) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the mean distance from question words in the passage to the candidate, occurrence by
    occurrence.

    An occurrence of a question word counts the steps to the nearest occurrence of any word of the
    candidate (shared words included), plus one. d is the mean of these numbers divided by |P| - 1.
    This follows the code of Smith et al. 2015, where P is the passage without stop words. Both
    results have shape (n_candidates,): d, or 1 if there is nothing to measure, and whether there is
    (:func:`classic_rc.kernels.reference.lexical.occurrence_distance`).
    """
    n_candidates = len(arrays.candidate_question)
    distances, is_measured = np.ones(n_candidates), np.zeros(n_candidates, dtype=np.bool_)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        postings = passage_postings(block)
        questions, _ = match_words(block, postings)
        # all of a candidate's own words
        _, candidates = match_words(block.without_questions(), postings)
        question = block.candidate_question
        is_measured[where] = has_both(questions, question, candidates)
        rows = np.flatnonzero(is_measured[where])
        if not len(rows):
            continue
        lengths = np.diff(block.passage_offsets)[block.question_passage[question[rows]]]
        places = (
            places_of(postings, questions, question[rows]),
            places_of(postings, candidates, rows),
        )
        stride = row_stride(*places)
        from_, to = (np.sort(pack_places(side, stride)) for side in places)
        steps = nearest_distances(from_, to) + 1
        counts = np.bincount(from_ // stride, minlength=len(rows))
        totals = np.add.reduceat(steps, offsets_of(counts)[:-1])
        # A passage may be a single token, because shared words are on both sides.
        distances[where.start + rows] = totals / (counts * np.maximum(lengths - 1, 1))
    return distances, is_measured


def _posted_tokens(arrays: TokenArrays, block: MatchedBlock) -> NDArray[np.int64]:
    """Return the passage token of each position of a block's postings."""
    passage = arrays.question_passage[arrays.candidate_question[block.where.start]]
    starts = arrays.passage_offsets[passage + block.postings.keys // block.arrays.n_words]
    return np.repeat(starts, np.diff(block.postings.offsets)) + block.postings.positions


def _find_matched_tokens(
    arrays: TokenArrays, matched: Iterable[MatchedBlock] | None
) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield some candidates at a time, and the candidate and the token of each match with it or
    its question.
    """
    passage_starts = arrays.passage_offsets[:-1]
    for block in matched or matched_blocks(arrays):
        question = block.arrays.candidate_question
        starts = passage_starts[arrays.question_passage[arrays.candidate_question[block.where]]]
        rows, tokens = [], []
        for matches, texts in (
            (block.questions, question),
            (block.additions, np.arange(len(question))),
        ):
            places = places_of(block.postings, matches, texts)
            rows.append(np.repeat(places.rows, places.counts))
            tokens.append(starts[rows[-1]] + places.positions)
        yield block.where, np.concatenate(rows), np.concatenate(tokens)
