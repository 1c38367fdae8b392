"""The token arrays that most kernels take, and helpers for ragged arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.integer] | np.integer
"""Integers, or one integer for all."""


class TokenArrays(NamedTuple):
    """Passages, questions and candidates as token ids of one vocabulary, in ragged (CSR-like) arrays.

    The tokens of text i are ``tokens[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    passage_tokens, question_tokens, candidate_tokens : ndarray of int32
    passage_offsets, question_offsets, candidate_offsets : ndarray of int64
    question_passage : ndarray of int64, shape (n_questions,)
        Each question's passage, ascending.
    candidate_question : ndarray of int64, shape (n_candidates,)
        Each candidate's question, ascending.
    n_words : int
        The size of the vocabulary: token ids are in ``range(n_words)``.
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

    def slice_questions(self, start: int, stop: int) -> TokenArrays:
        """Return the questions ``start:stop``, at least one, with their passages and candidates.

        Everything is numbered from 0; the arrays of tokens are views.
        """
        first, last = np.searchsorted(self.candidate_question, (start, stop)).tolist()
        return self._slice(start, stop, first, last)

    def slice_candidates(self, start: int, stop: int) -> TokenArrays:
        """Return the candidates ``start:stop``, at least one, with their questions and passages.

        Everything is numbered from 0; the arrays of tokens are views.
        """
        first, last = self.candidate_question[[start, stop - 1]].tolist()
        return self._slice(first, last + 1, start, stop)

    def _slice(self, q0: int, q1: int, c0: int, c1: int) -> TokenArrays:
        p0, p1 = (self.question_passage[[q0, q1 - 1]] + (0, 1)).tolist()
        return TokenArrays(
            *_slice_ragged(self.passage_tokens, self.passage_offsets, p0, p1),
            *_slice_ragged(self.question_tokens, self.question_offsets, q0, q1),
            *_slice_ragged(self.candidate_tokens, self.candidate_offsets, c0, c1),
            self.question_passage[q0:q1] - p0,
            self.candidate_question[c0:c1] - q0,
            self.n_words,
        )

    def without_passages(self) -> TokenArrays:
        """Return the same texts with empty passages."""
        offsets = np.zeros_like(self.passage_offsets)
        return self._replace(passage_tokens=self.passage_tokens[:0], passage_offsets=offsets)

    def without_questions(self) -> TokenArrays:
        """Return the same texts with empty questions."""
        offsets = np.zeros_like(self.question_offsets)
        return self._replace(question_tokens=self.question_tokens[:0], question_offsets=offsets)

    def blocks(self, tokens: int, *, whole_questions: bool = False) -> Iterator[tuple[slice, TokenArrays]]:
        """Cut the candidates into runs of about `tokens` tokens each, with their questions and passages.

        A block is small enough for the cache and for compact keys. It has at least one candidate, so one long
        passage can make it larger. With `whole_questions` it has all candidates of each of its questions.

        Yields
        ------
        candidates : slice
            The block's candidates.
        block : TokenArrays
        """
        question = self.candidate_question
        passage = self.question_passage[question]
        # A question's tokens count at its first candidate, a passage's at the first candidate of all its questions.
        load = np.diff(self.candidate_offsets) + 1
        for of_candidate, offsets in ((question, self.question_offsets), (passage, self.passage_offsets)):
            first = run_starts(of_candidate)
            load[first] += np.diff(offsets)[of_candidate[first]]
        starts = run_starts(offsets_of(load)[:-1] // tokens)
        if whole_questions:
            starts = np.unique(np.searchsorted(question, question[starts]))
        for start, stop in itertools.pairwise([*starts.tolist(), len(question)]):
            yield slice(start, stop), self.slice_candidates(start, stop)


def _slice_ragged(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], start: int, stop: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    bounds = offsets[start : stop + 1]
    return tokens[bounds[0] : bounds[-1]], bounds - bounds[0]


def offsets_of(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return where each of ragged rows of these lengths starts, and where the last one ends: shape (n + 1,)."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ragged_indices(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the flat indices of rows that start at `starts` and have `counts` elements, row after row.

    Examples
    --------
    >>> ragged_indices(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    # Element j of row i is number offsets[i] + j of the result; the repeated term turns that into starts[i] + j.
    offsets = offsets_of(counts)
    indices = np.repeat(starts - offsets[:-1], counts)
    indices += np.arange(offsets[-1])
    return indices


def binary_search(
    keys: NDArray[np.integer], table: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return a place in an ascending table for each key, and whether the key is there.

    Examples
    --------
    >>> binary_search(np.array([8, 4, 3]), np.array([3, 5, 8]))
    (array([2, 1, 0]), array([ True, False,  True]))
    """
    if not len(table):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.bool_)
    place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return place, table[place] == keys


def sums_by(index: NDArray[np.integer], values: NDArray[Any], n: int) -> NDArray[np.float64]:
    """Return the sum of the values with each index below `n`, added one by one in their order, as doubles.

    Sums of integers are exact below 2**53, so the order does not matter for them.

    Examples
    --------
    >>> sums_by(np.array([0, 2, 0]), np.array([1, 2, 3]), 4)
    array([4., 0., 2., 0.])
    """
    return np.bincount(index, weights=values, minlength=n).astype(np.float64, copy=False)


def distinct(values: NDArray[np.integer]) -> NDArray[Any]:
    """Return the different values in ascending order, as :func:`numpy.unique` does, whose hash table is slower.

    Examples
    --------
    >>> distinct(np.array([4, 7, 4]))
    array([4, 7])
    """
    ordered = np.sort(values)
    return ordered[run_starts(ordered)]


def run_starts(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return where each run of equal neighbours starts.

    Examples
    --------
    >>> run_starts(np.array([4, 4, 7, 4]))
    array([0, 2, 3])
    """
    is_start = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_start[1:])
    return is_start.nonzero()[0]
