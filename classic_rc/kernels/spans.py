"""Kernels for spans of a passage: the sliding window of every span, and the question's words
around a span.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    BLOCK_TOKENS,
    TokenArrays,
    block_size,
    match_words,
    offsets_of,
    passage_postings,
    ragged_indices,
)
from classic_rc.kernels.weights import inverse_count_weights
from classic_rc.kernels.window import INT32_SAFE, row_maxima

_CELLS = 2**18  # (starts x passage tokens) that are processed at a time
_WORTH_COPYING = 0.75  # the matrix is copied when less than this share of its rows still grows


def score_spans(
    passage: NDArray[np.int32],
    question: NDArray[np.int32],
    max_tokens: int,
    word_weights: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return the best window's weight (:func:`~classic_rc.kernels.sliding_window`) for every span
    of a passage.

    The set S is the words of the question and of the span. If the span grows by one token, S grows
    by that token or stays the same; if S stays the same, so does the score. For every span start,
    one row holds the weights of the passage's tokens that are in S. After each row has grown r
    times, all have ``|Q| + r`` words, so the window has one length for all, and they are scored
    together.

    Parameters
    ----------
    passage : ndarray of int32, shape (n_tokens,)
        Token ids.
    question : ndarray of int32
        Token ids.
    max_tokens : int
        The longest span's length, at least 1.
    word_weights : ndarray of int32, shape (n_words,), optional
        As in :func:`~classic_rc.kernels.sliding_window`.

    Returns
    -------
    ndarray of int64, shape (n_tokens, max_tokens)
        ``[i, k]`` is the fixed-point score of the span of k + 1 tokens that starts at token i, or
        -1 if that span would run past the end.
    """
    length = len(passage)
    best = np.full((length, max_tokens), -1, dtype=np.int64)
    if not length:
        return best
    words, word_of, counts = np.unique(passage, return_inverse=True, return_counts=True)
    if word_weights is None:
        weights = inverse_count_weights(counts)[word_of]
    else:
        weights = word_weights[passage]
    question_words = np.unique(question)
    in_question = np.isin(words, question_words)[word_of]
    places = np.argsort(word_of, kind="stable")
    first_place = offsets_of(counts)[:-1]

    # Token i + k makes S grow if it is not a question word and the span from i does not have its
    # word yet.
    previous = np.full(length, -1)
    is_repeated = word_of[places[1:]] == word_of[places[:-1]]
    previous[places[1:][is_repeated]] = places[:-1][is_repeated]
    starts = np.arange(length)[:, None]
    token = starts + np.arange(max_tokens)
    inside = token < length
    token[~inside] = 0  # any token will do: `grows` is False there
    grows = inside & ~in_question[token] & (previous[token] < starts)
    n_words = len(question_words) + grows.sum(axis=1)
    # As in RowWeights: by inverse counts a window weighs less than its number of distinct words, by
    # given weights at most its length.
    heaviest = n_words.max() if word_weights is None else min(n_words.max(), length)
    question_weights: NDArray[np.integer] = np.where(in_question, weights, 0)
    question_weights = question_weights.astype(np.int32 if heaviest <= INT32_SAFE else np.int64)

    if len(question_words):  # else the first token of each span makes S grow
        width = min(len(question_words), length)
        memory = np.empty((2, length), question_weights.dtype)
        row_bounds = np.array([0, length])
        best[:, 0] = row_maxima(question_weights, row_bounds, np.array([width]), memory)
    n_rows = max(block_size(_CELLS) // length, 1)
    for first in range(0, length, n_rows):
        start, step = np.nonzero(grows[first : first + n_rows])
        start += first
        # Entries by how often their row has grown, so that each round is one slice of them.
        round_of = np.arange(len(start)) - np.searchsorted(start, start)
        order = np.argsort(round_of, kind="stable")
        rows = np.unique(start)  # a row that never grows is not needed
        matrix = np.tile(question_weights, (len(rows), 1))
        memory = np.empty((2, matrix.size), dtype=question_weights.dtype)
        bounds = np.flatnonzero(np.diff(round_of[order], prepend=-1, append=length))
        for r, (begin, end) in enumerate(itertools.pairwise(bounds.tolist()), start=1):
            growing_entries = order[begin:end]
            growing, steps = start[growing_entries], step[growing_entries]
            if len(growing) < _WORTH_COPYING * len(rows):  # the other rows no longer grow
                matrix, rows = matrix[np.searchsorted(rows, growing)], growing
            at = np.searchsorted(rows, growing)
            word = word_of[growing + steps]
            position = places[ragged_indices(first_place[word], counts[word])]
            matrix[np.repeat(at, counts[word]), position] = weights[position]
            ends = np.arange(0, matrix.size + 1, length)
            widths = np.full(len(rows), min(len(question_words) + r, length))
            best[growing, steps] = row_maxima(matrix.ravel(), ends, widths, memory)[at]
    # A span that did not make S grow has the score of the span one token shorter. A running maximum
    # copies it, because scores never fall while S grows: windows only get longer and match more
    # words.
    best = np.maximum.accumulate(best, axis=1)
    best[~inside] = -1
    return best


def span_overlap(
    arrays: TokenArrays, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the distinct words and bigrams of the question that its passage has outside the
    candidate.

    A bigram is outside if neither of its words is inside; two words on different sides of the
    candidate are not a bigram. This is :func:`classic_rc.kernels.reference.span_overlap` for all
    candidates at once.

    Parameters
    ----------
    arrays : TokenArrays
        For overlaps with sentences, as in Rajpurkar et al. 2016, its passages must be the
        sentences.
    first, last : ndarray of int64, shape (n_candidates,)
        The candidate is the tokens ``first:last`` of its passage, numbered from 0.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
    """
    overlap = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        bounds = first[where], last[where]
        overlap[where] = _count_outside(block, *bounds, size=1)
        overlap[where] += _count_outside(bigrams_of(block), *bounds, size=2)
    return overlap


def bigrams_of(arrays: TokenArrays) -> TokenArrays:
    """Return the same passages and questions as ids of their bigrams; candidates have none."""
    passage_codes, passage_offsets = _encode_bigrams(
        arrays.passage_tokens, arrays.passage_offsets, arrays.n_words
    )
    question_codes, question_offsets = _encode_bigrams(
        arrays.question_tokens, arrays.question_offsets, arrays.n_words
    )
    codes = np.concatenate([passage_codes, question_codes])
    bigrams, ids = np.unique(codes, return_inverse=True)
    passage_ids, question_ids = np.split(ids.astype(np.int32), [len(passage_codes)])
    return arrays._replace(
        passage_tokens=passage_ids,
        passage_offsets=passage_offsets,
        question_tokens=question_ids,
        question_offsets=question_offsets,
        candidate_tokens=np.empty(0, dtype=np.int32),
        candidate_offsets=np.zeros_like(arrays.candidate_offsets),
        n_words=max(len(bigrams), 1),
    )


def _encode_bigrams(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Encode each two neighbouring tokens of ragged texts as one number, and return the offsets
    of the texts.
    """
    counts = np.maximum(np.diff(offsets) - 1, 0)
    first_tokens = ragged_indices(offsets[:-1], counts)
    codes = tokens[first_tokens].astype(np.int64)
    codes *= n_words
    codes += tokens[first_tokens + 1]
    return codes, offsets_of(counts)


def _count_outside(
    arrays: TokenArrays, first: NDArray[np.int64], last: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Count the question's units, of `size` tokens each, that occur before or after the
    candidate.
    """
    postings = passage_postings(arrays)
    questions, _ = match_words(arrays, postings)
    n_units = np.diff(questions.offsets)[arrays.candidate_question]
    unit = ragged_indices(questions.offsets[arrays.candidate_question], n_units)
    # If any occurrence of a unit is outside, its first or its last one is: two comparisons are
    # enough.
    end_of_first = postings.positions[postings.offsets[questions.runs]] + size
    start_of_last = postings.positions[postings.offsets[questions.runs + 1] - 1]
    outside = end_of_first[unit] <= first.repeat(n_units)
    outside |= start_of_last[unit] >= last.repeat(n_units)
    candidate = np.arange(len(first)).repeat(n_units)
    return np.bincount(candidate[outside], minlength=len(first))
