"""The arrays that the kernels read, and the two ragged helpers that they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["TokenArrays", "offsets_of", "ragged_indices"]


class TokenArrays(NamedTuple):
    """Passages, questions and candidates as token ids over one vocabulary, ragged (CSR-like).

    Text i's tokens are ``tokens[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    passage_tokens, question_tokens, candidate_tokens : ndarray of int32
    passage_offsets, question_offsets, candidate_offsets : ndarray of int64
    question_passage : ndarray of int64, shape (n_questions,)
        Each question's passage; never falls.
    candidate_question : ndarray of int64, shape (n_candidates,)
        Each candidate's question; never falls.
    n_words : int
        The size of the vocabulary: token ids lie in ``range(n_words)``.
    """

    passage_tokens: NDArray[np.int32]
    passage_offsets: NDArray[np.int64]
    question_tokens: NDArray[np.int32]
    question_offsets: NDArray[np.int64]
    candidate_tokens: NDArray[np.int32]
    candidate_offsets: NDArray[np.int64]
    question_passage: NDArray[np.int64]
    candidate_question: NDArray[np.int64]
    n_words: int

    def slice_passages(self, start: int, stop: int) -> TokenArrays:
        """The passages ``start:stop`` with their questions and candidates, renumbered from 0; views."""
        q0, q1 = np.searchsorted(self.question_passage, (start, stop))
        c0, c1 = np.searchsorted(self.candidate_question, (q0, q1))
        return TokenArrays(
            *_slice_ragged(self.passage_tokens, self.passage_offsets, start, stop),
            *_slice_ragged(self.question_tokens, self.question_offsets, q0, q1),
            *_slice_ragged(self.candidate_tokens, self.candidate_offsets, c0, c1),
            self.question_passage[q0:q1] - start,
            self.candidate_question[c0:c1] - q0,
            self.n_words,
        )

    def blocks(self, tokens: int) -> Iterator[tuple[slice, TokenArrays]]:
        """Runs of passages with about `tokens` tokens each (questions' and candidates' included).

        Yields
        ------
        candidates : slice
            The block's candidates.
        block : TokenArrays
        """
        if not len(self.candidate_question):
            return
        candidate_passage = self.question_passage[self.candidate_question]
        load = np.diff(self.passage_offsets)
        load = load + np.bincount(
            self.question_passage, weights=np.diff(self.question_offsets), minlength=len(load)
        ).astype(np.int64)
        load = load + np.bincount(
            candidate_passage, weights=np.diff(self.candidate_offsets) + 1, minlength=len(load)
        ).astype(np.int64)
        block_of = offsets_of(load)[:-1] // tokens
        starts = np.flatnonzero(np.diff(block_of, prepend=-1))
        for start, stop in zip(starts, np.append(starts[1:], len(load)), strict=True):
            first, last = np.searchsorted(candidate_passage, (start, stop))
            if first < last:
                yield slice(int(first), int(last)), self.slice_passages(int(start), int(stop))


def _slice_ragged(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], start: int, stop: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    bounds = offsets[start : stop + 1]
    return tokens[bounds[0] : bounds[-1]], bounds - bounds[0]


def offsets_of(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where each of ragged rows of these lengths starts, and where the last one ends: shape (n + 1,)."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ragged_indices(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """The flat indices of the rows that start at `starts` and have `counts` elements, one after the other.

    Examples
    --------
    >>> ragged_indices(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    offsets = offsets_of(counts)
    return np.arange(offsets[-1], dtype=np.int64) + np.repeat(starts - offsets[:-1], counts)
