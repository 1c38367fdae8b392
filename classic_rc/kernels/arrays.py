"""The token arrays that most kernels take, helpers for ragged arrays and blocks, and words' places.

Postings say where each word occurs in each passage; matches, which of those places a question's and
a candidate's words have.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.work import tracked

Counts: TypeAlias = NDArray[np.integer] | np.integer
"""Integers, or one integer for all."""


class TokenArrays(NamedTuple):
    """Passages, questions and candidates as token ids of one vocabulary, in ragged (CSR-like)
    arrays.

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

    def with_inputs(self, inputs: Collection[str]) -> TokenArrays:
        """Return the arrays with empty passages or questions, unless these are among the inputs."""
        arrays = self if "passage" in inputs else self.without_passages()
        return arrays if "question" in inputs else arrays.without_questions()

    def blocks(
        self, tokens: int, *, whole_questions: bool = False
    ) -> Iterator[tuple[slice, TokenArrays]]:
        """Cut the candidates into runs of about `tokens` tokens (:func:`block_size`), with
        questions and passages.

        A block is small enough for the cache and for compact keys. It has at least one candidate,
        so one long passage can make it larger. With `whole_questions` it has all candidates of each
        of its questions.

        Yields
        ------
        candidates : slice
            The block's candidates.
        block : TokenArrays
        """
        question = self.candidate_question
        passage = self.question_passage[question]
        # A question's tokens count at its first candidate, a passage's at the first candidate of
        # all its questions. A candidate counts one more, so that a block has a bounded number of
        # candidates without tokens.
        load = np.diff(self.candidate_offsets) + 1
        for of_candidate, offsets in (
            (question, self.question_offsets),
            (passage, self.passage_offsets),
        ):
            first = run_starts(of_candidate)
            load[first] += np.diff(offsets)[of_candidate[first]]
        starts = run_starts(offsets_of(load)[:-1] // block_size(tokens))
        if whole_questions:
            starts = np.unique(np.searchsorted(question, question[starts]))
        bounds = itertools.pairwise([*starts.tolist(), len(question)])
        # Half of a step of the progress bar: a solver may run several kernels in it.
        for start, stop in tracked(bounds, len(starts), share=0.5):
            yield slice(start, stop), self.slice_candidates(start, stop)


def _slice_ragged(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], start: int, stop: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    bounds = offsets[start : stop + 1]
    return tokens[bounds[0] : bounds[-1]], bounds - bounds[0]


def offsets_of(
    counts: NDArray[np.integer] | NDArray[np.bool_] | Sequence[int],
) -> NDArray[np.int64]:
    """Return where each of ragged rows of these lengths starts, and where the last one ends:
    shape (n + 1,).
    """
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ragged_indices(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the flat indices of rows that start at `starts` and have `counts` elements, row after
    row.

    Examples
    --------
    >>> ragged_indices(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    # Element j of row i is number offsets[i] + j of the result; the repeated term turns that into
    # starts[i] + j.
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
    """Return the sum of the values with each index below `n`, added one by one in their order, as
    doubles.

    Sums of integers are exact below 2**53, so the order does not matter for them.

    Examples
    --------
    >>> sums_by(np.array([0, 2, 0]), np.array([1, 2, 3]), 4)
    array([4., 0., 2., 0.])
    """
    # Without an index, `bincount` returns integers in spite of the weights.
    return np.bincount(index, weights=values, minlength=n).astype(np.float64, copy=False)


def distinct(values: NDArray[np.integer]) -> NDArray[Any]:
    """Return the different values in ascending order, like :func:`numpy.unique`, but faster than
    its hash table.

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


def group_equal(
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the order that sorts the keys, where each run of equal ones starts in it, and each
    key's run.
    """
    order = np.argsort(keys, kind="stable")
    is_first = np.diff(keys[order], prepend=-1) != 0  # keys are not negative
    group = np.empty(len(keys), dtype=np.int64)
    group[order] = np.cumsum(is_first) - 1
    return order, np.flatnonzero(is_first), group


_limit: ContextVar[int | None] = ContextVar("most", default=None)


def block_size(usual: int) -> int:
    """Return the size of a block: the usual one, or a smaller one inside :func:`small_blocks`."""
    limit = _limit.get()
    return usual if limit is None else min(usual, limit)


@contextmanager
def small_blocks(limit: int) -> Iterator[None]:
    """Work in blocks of at most `limit` items (tokens, pairs, rows …), in this thread. Results
    stay the same.
    """
    before = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(before)


def runs_of(loads: NDArray[np.integer], limit: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of runs of loads up to `limit` (:func:`block_size`) in all, or of one
    larger load.
    """
    ends, limit = offsets_of(loads), block_size(limit)

    def bounds() -> Iterator[tuple[int, int]]:
        start = 0
        while start < len(loads):
            last_fitting = int(np.searchsorted(ends, ends[start] + limit, side="right")) - 1
            stop = max(last_fitting, start + 1)
            yield start, stop
            start = stop

    yield from tracked(bounds(), len(loads), lambda bound: bound[1] - bound[0], share=0.5)


# --------------------------------------------------------------------------------------------------
# Where words occur

BLOCK_TOKENS = 2**18
"""Tokens matched at a time: enough to make NumPy's calls cheap, few enough for a core's cache."""

_DENSE_KEYS = 2**19  # up to this key a lookup table (4 MB) may be faster than a binary search
_CELLS_PER_KEY = 64  # it is if it has at most this many cells for each key that is looked up


class Postings(NamedTuple):
    """The positions of every word of every passage.

    A *run* is one word of one passage. Its positions are ``positions[offsets[r]:offsets[r + 1]]``,
    ascending.
    """

    keys: NDArray[np.int64]  # (n_runs,): `passage * n_words + word`, ascending
    offsets: NDArray[np.int64]  # (n_runs + 1,)
    positions: NDArray[np.int64]  # (n_tokens,): positions within the passage, from 0


def passage_postings(arrays: TokenArrays) -> Postings:
    """Sort the passages' tokens by (passage, word, position), packed into one int64 each."""
    lengths = np.diff(arrays.passage_offsets)
    bits = int(lengths.max(initial=1)).bit_length()
    # One sort of plain integers replaces a lexsort of three columns. A block has about 2**18
    # passages at most, or 2**18 positions, so 63 bits leave room for 2**27 words.
    packed = np.repeat(np.arange(len(lengths)) * arrays.n_words, lengths)
    packed += arrays.passage_tokens
    packed <<= bits
    packed += ragged_indices(np.zeros_like(lengths), lengths)
    packed.sort()
    key = packed >> bits
    starts = run_starts(key)
    packed &= (1 << bits) - 1
    return Postings(key[starts], np.append(starts, len(key)), packed)


class Matches(NamedTuple):
    """The distinct words of texts, and the ones that occur in the texts' passages."""

    # (n_texts,): how many distinct words each text has, in the passage or not
    n_distinct: NDArray[np.int64]
    # (n_texts + 1,): the matches of text i are `runs[offsets[i]:offsets[i + 1]]`
    offsets: NDArray[np.int64]
    runs: NDArray[np.int64]  # runs of the postings

    @property
    def texts(self) -> NDArray[np.int64]:
        """The text of each match: shape (n_matches,)."""
        return np.repeat(np.arange(len(self.n_distinct)), np.diff(self.offsets))


def match_words(arrays: TokenArrays, postings: Postings) -> tuple[Matches, Matches]:
    """Match the questions' words, and the words that each candidate adds to its question's, to
    the passages.
    """
    n_words = arrays.n_words
    question_keys = distinct_words(arrays.question_tokens, arrays.question_offsets, n_words)
    question = question_keys // n_words
    questions = _find_matches(
        question, question_keys % n_words, arrays.question_passage, postings, n_words
    )

    candidate_keys = distinct_words(arrays.candidate_tokens, arrays.candidate_offsets, n_words)
    candidate, word = candidate_keys // n_words, candidate_keys % n_words
    new = ~is_in(arrays.candidate_question[candidate] * n_words + word, question_keys)
    passages = arrays.question_passage[arrays.candidate_question]
    return questions, _find_matches(candidate[new], word[new], passages, postings, n_words)


def distinct_words(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int
) -> NDArray[np.int64]:
    """Return ``text * n_words + word`` for the distinct words of ragged texts, ascending."""
    first_keys = np.arange(len(offsets) - 1) * n_words
    keys = np.repeat(first_keys, np.diff(offsets))
    keys += tokens
    keys.sort()
    return keys[run_starts(keys)]


def look_up(
    keys: NDArray[np.int64], table: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the index of each key in an ascending table, and whether it is there."""
    largest = int(max(table[-1:].max(initial=0), keys.max(initial=0)))
    if largest < min(_DENSE_KEYS, _CELLS_PER_KEY * len(keys)):  # few passages with many candidates
        place = np.full(largest + 1, -1)
        place[table] = np.arange(len(table))
        return place[keys], place[keys] >= 0
    return binary_search(keys, table)


def is_in(keys: NDArray[np.int64], table: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each key is in an ascending table."""
    return look_up(keys, table)[1]


def _find_matches(
    text: NDArray[np.int64],
    word: NDArray[np.int64],
    text_passage: NDArray[np.int64],
    postings: Postings,
    n_words: int,
) -> Matches:
    n_texts = len(text_passage)
    run, is_in_passage = look_up(text_passage[text] * n_words + word, postings.keys)
    counts = np.bincount(text[is_in_passage], minlength=n_texts)
    return Matches(np.bincount(text, minlength=n_texts), offsets_of(counts), run[is_in_passage])


class Places(NamedTuple):
    """The positions of matched words of some texts in their passages.

    An *entry* is one matched word of one text; its positions are adjacent.
    """

    rows: NDArray[np.int64]  # (n_entries,): which of the texts, ascending
    runs: NDArray[np.int64]  # (n_entries,): the run of the word
    counts: NDArray[np.int64]  # (n_entries,): how many positions it has, at least one
    positions: NDArray[np.int64]  # (counts.sum(),): the positions, ascending within an entry


def places_of(postings: Postings, matches: Matches, texts: NDArray[np.int64]) -> Places:
    """Expand the matches of `texts`, in any order and with repetitions, to single positions."""
    first = matches.offsets[texts]
    n_matches = matches.offsets[texts + 1] - first
    runs = matches.runs[ragged_indices(first, n_matches)]
    starts = postings.offsets[runs]
    counts = postings.offsets[runs + 1] - starts
    positions = postings.positions[ragged_indices(starts, counts)]
    return Places(np.repeat(np.arange(len(texts)), n_matches), runs, counts, positions)


class MatchedBlock(NamedTuple):
    """Some passages with their questions' and candidates' words matched: the unit of work of the
    kernels.
    """

    where: slice  # the block's candidates among all
    arrays: TokenArrays  # the block, numbered from 0
    postings: Postings
    questions: Matches  # over questions
    additions: Matches  # over candidates: the words that each adds to its question's words

    def candidates_alone(self, is_chosen: NDArray[np.bool_]) -> MatchedBlock:
        """Return the block with empty questions, so that candidates add all of their words; those
        that are not chosen are empty too.
        """
        lengths = np.diff(self.arrays.candidate_offsets)
        chosen_tokens = self.arrays.candidate_tokens[np.repeat(is_chosen, lengths)]
        arrays = self.arrays.without_questions()._replace(
            candidate_tokens=chosen_tokens, candidate_offsets=offsets_of(lengths * is_chosen)
        )
        return MatchedBlock(self.where, arrays, self.postings, *match_words(arrays, self.postings))


def matched_blocks(arrays: TokenArrays, *, whole_questions: bool = False) -> Iterator[MatchedBlock]:
    """Yield the arrays in blocks of bounded size, at least one passage and one candidate (or
    question) each.
    """
    for where, block in arrays.blocks(BLOCK_TOKENS, whole_questions=whole_questions):
        postings = passage_postings(block)
        yield MatchedBlock(where, block, postings, *match_words(block, postings))


def longest_runs(arrays: TokenArrays) -> NDArray[np.int64]:
    """Return the length of the longest run of each candidate's tokens that occurs verbatim in its
    passage.

    Parameters
    ----------
    arrays : TokenArrays

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        In tokens; 0 for a candidate without a token in the passage.
    """
    runs = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        runs[where] = _longest_runs(block)
    return runs


def _longest_runs(arrays: TokenArrays) -> NDArray[np.int64]:
    lengths = np.diff(arrays.candidate_offsets)
    candidate = np.repeat(np.arange(len(lengths)), lengths)
    index = np.arange(len(candidate)) - arrays.candidate_offsets[candidate]
    passage = arrays.question_passage[arrays.candidate_question[candidate]]
    postings = passage_postings(arrays)
    keys = passage * arrays.n_words + arrays.candidate_tokens
    at, is_in_passage = look_up(keys, postings.keys)
    candidate, index, at = candidate[is_in_passage], index[is_in_passage], at[is_in_passage]

    # A run is a stretch of one diagonal: passage position minus candidate position is constant.
    # Cells of one diagonal get consecutive numbers, so after sorting a run is a sequence of steps
    # of 1.
    n_places = np.diff(postings.offsets)[at]
    place = postings.positions[ragged_indices(postings.offsets[:-1][at], n_places)]
    candidate, index = np.repeat(candidate, n_places), np.repeat(index, n_places)
    # one more than the largest index: diagonals do not touch
    width = int(lengths.max(initial=0)) + 1
    n_diagonals = width + int(place.max(initial=0)) + 1
    cells = (candidate * n_diagonals + place - index + width) * width + index
    cells.sort()
    # -2, because cell 0 would continue a run after a cell -1.
    starts = np.flatnonzero(np.diff(cells, prepend=-2) != 1)
    run_candidates = cells[starts] // (n_diagonals * width)
    run_lengths = np.diff(starts, append=len(cells))
    runs = np.zeros(len(lengths), dtype=np.int64)
    np.maximum.at(runs, run_candidates, run_lengths)
    return runs
