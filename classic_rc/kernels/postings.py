"""Where each word occurs in each passage, and which of those places a question's and a candidate's words match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, binary_search, offsets_of, ragged_indices, run_starts

BLOCK_TOKENS = 2**18
"""Tokens matched at a time: enough to make NumPy's calls cheap, few enough for a core's cache."""

_DENSE_KEYS = 2**19  # up to this key a lookup table (4 MB) may be faster than a binary search
_CELLS_PER_KEY = 64  # it is if it has at most this many cells for each key that is looked up


class Postings(NamedTuple):
    """The positions of every word of every passage.

    A *run* is one word of one passage. Its positions are ``positions[offsets[r]:offsets[r + 1]]``, ascending.
    """

    keys: NDArray[np.int64]  # (n_runs,): `passage * n_words + word`, ascending
    offsets: NDArray[np.int64]  # (n_runs + 1,)
    positions: NDArray[np.int64]  # (n_tokens,): positions within the passage, from 0


def passage_postings(arrays: TokenArrays) -> Postings:
    """Sort the passages' tokens by (passage, word, position), packed into one int64 each."""
    lengths = np.diff(arrays.passage_offsets)
    bits = int(lengths.max(initial=1)).bit_length()
    # One sort of plain integers replaces a lexsort of three columns. A block has about 2**18 passages at most, or
    # 2**18 positions, so 63 bits leave room for 2**27 words.
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
    """The distinct words of texts, and those of them that occur in the texts' passages."""

    n_distinct: NDArray[np.int64]  # (n_texts,): how many distinct words each text has, in the passage or not
    offsets: NDArray[np.int64]  # (n_texts + 1,): the matches of text i are `runs[offsets[i]:offsets[i + 1]]`
    runs: NDArray[np.int64]  # runs of the postings


def match_words(arrays: TokenArrays, postings: Postings) -> tuple[Matches, Matches]:
    """Match the questions' words, and the candidates' words that are not in their question, to the passages.

    Returns
    -------
    questions : Matches
        Over questions.
    candidates : Matches
        Over candidates: the words that each adds to its question's.
    """
    n_words = arrays.n_words
    question_keys = distinct_words(arrays.question_tokens, arrays.question_offsets, n_words)
    question = question_keys // n_words
    questions = _find_matches(question, question_keys % n_words, arrays.question_passage, postings, n_words)

    candidate_keys = distinct_words(arrays.candidate_tokens, arrays.candidate_offsets, n_words)
    candidate, word = candidate_keys // n_words, candidate_keys % n_words
    new = ~is_in(arrays.candidate_question[candidate] * n_words + word, question_keys)
    passages = arrays.question_passage[arrays.candidate_question]
    return questions, _find_matches(candidate[new], word[new], passages, postings, n_words)


def distinct_words(tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int) -> NDArray[np.int64]:
    """Return ``text * n_words + word`` for the distinct words of ragged texts, ascending."""
    keys = np.repeat(np.arange(len(offsets) - 1) * n_words, np.diff(offsets))
    keys += tokens
    keys.sort()
    return keys[run_starts(keys)]


def look_up(keys: NDArray[np.int64], table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
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
    run, found = look_up(text_passage[text] * n_words + word, postings.keys)
    counts = np.bincount(text[found], minlength=n_texts)
    return Matches(np.bincount(text, minlength=n_texts), offsets_of(counts), run[found])


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
    """Some passages with their questions' and candidates' words matched: the unit of work of the kernels."""

    where: slice  # the block's candidates among all
    arrays: TokenArrays  # the block, numbered from 0
    postings: Postings
    questions: Matches  # over questions
    additions: Matches  # over candidates: the words that each adds to its question's words


def matched_blocks(
    arrays: TokenArrays, block_tokens: int = BLOCK_TOKENS, *, whole_questions: bool = False
) -> Iterator[MatchedBlock]:
    """Yield the arrays in blocks of bounded size, at least one passage and one candidate (or question) each."""
    for where, block in arrays.blocks(block_tokens, whole_questions=whole_questions):
        postings = passage_postings(block)
        yield MatchedBlock(where, block, postings, *match_words(block, postings))


def longest_runs(arrays: TokenArrays) -> NDArray[np.int64]:
    """Return the length of the longest run of each candidate's tokens that occurs verbatim in its passage.

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
    at = np.searchsorted(postings.keys, keys)
    found = at < len(postings.keys)
    found[found] = postings.keys[at[found]] == keys[found]
    candidate, index, at = candidate[found], index[found], at[found]

    # A run is a stretch of one diagonal: passage position minus candidate position is constant. Cells of one
    # diagonal get consecutive numbers, so after sorting a run is a sequence of steps of 1.
    n_places = np.diff(postings.offsets)[at]
    place = postings.positions[ragged_indices(postings.offsets[:-1][at], n_places)]
    candidate, index = np.repeat(candidate, n_places), np.repeat(index, n_places)
    width = int(lengths.max(initial=0)) + 1  # one more than the largest index: diagonals do not touch
    n_diagonals = width + int(place.max(initial=0)) + 1
    cells = (candidate * n_diagonals + place - index + width) * width + index
    cells.sort()
    starts = np.flatnonzero(np.diff(cells, prepend=-2) != 1)
    runs = np.zeros(len(lengths), dtype=np.int64)
    np.maximum.at(runs, cells[starts] // (n_diagonals * width), np.diff(starts, append=len(cells)))
    return runs
