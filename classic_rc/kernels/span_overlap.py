"""How many of a question's words and pairs of words stand around each span, for whole datasets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.kernels.postings import BLOCK_TOKENS, match_words, passage_postings


def span_overlap(arrays: TokenArrays, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct words and bigrams of the question that its passage has outside the candidate.

    A bigram is outside if neither of its words is inside; words on both sides of the candidate are no bigram. This
    is :func:`classic_rc.kernels.reference_spans.span_overlap` for all candidates at once.

    Parameters
    ----------
    arrays : TokenArrays
        To have sentences, as Rajpurkar et al. 2016 do, let them be its passages.
    first, last : ndarray of int64, shape (n_candidates,)
        The candidate is the tokens ``first:last`` of its passage, numbered from 0.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
    """
    overlap = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        bounds = first[where], last[where]
        overlap[where] = _outside(block, *bounds, size=1) + _outside(bigrams_of(block), *bounds, size=2)
    return overlap


def bigrams_of(arrays: TokenArrays) -> TokenArrays:
    """The same passages and questions as ids of their bigrams; candidates have none."""
    texts = ((arrays.passage_tokens, arrays.passage_offsets), (arrays.question_tokens, arrays.question_offsets))
    pairs = [_pairs(tokens, offsets, arrays.n_words) for tokens, offsets in texts]
    codes, ids = np.unique(np.concatenate([own for own, _ in pairs]), return_inverse=True)
    passage_ids, question_ids = np.split(ids.reshape(-1).astype(np.int32), [len(pairs[0][0])])
    return arrays._replace(
        passage_tokens=passage_ids,
        passage_offsets=pairs[0][1],
        question_tokens=question_ids,
        question_offsets=pairs[1][1],
        candidate_tokens=np.empty(0, dtype=np.int32),
        candidate_offsets=np.zeros_like(arrays.candidate_offsets),
        n_words=max(len(codes), 1),
    )


def _pairs(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each two neighbouring tokens of ragged texts as one number, and where each text's begin."""
    counts = np.maximum(np.diff(offsets) - 1, 0)
    left = ragged_indices(offsets[:-1], counts)
    return tokens[left].astype(np.int64) * n_words + tokens[left + 1], offsets_of(counts)


def _outside(
    arrays: TokenArrays, first: NDArray[np.int64], last: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """How many of the question's units, of `size` tokens each, have a place before or after the candidate."""
    postings = passage_postings(arrays)
    asked, _ = match_words(arrays, postings)
    n_units = np.diff(asked.offsets)[arrays.candidate_question]
    run = asked.runs[ragged_indices(asked.offsets[arrays.candidate_question], n_units)]
    candidate = np.repeat(np.arange(len(first)), n_units)
    # Of a unit's places only the first and the last can be the one that lies outside.
    earliest, latest = postings.positions[postings.offsets[run]], postings.positions[postings.offsets[run + 1] - 1]
    outside = (earliest + size <= first[candidate]) | (latest >= last[candidate])
    return np.bincount(candidate[outside], minlength=len(first))
