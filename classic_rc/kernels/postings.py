"""Where each word stands in each passage, and which of those places a question's and a candidate's words touch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices

BLOCK_TOKENS = 2**18
"""How many tokens are matched at a time: enough to make NumPy's calls cheap, few enough for the cache."""

_DENSE_KEYS = 2**19


class Postings(NamedTuple):
    """The positions of every word of every passage.

    A *run* is one word of one passage; its positions are ``positions[offsets[r]:offsets[r + 1]]``, rising.

    Parameters
    ----------
    keys : ndarray of int64, shape (n_runs,)
        ``passage * n_words + word``, rising.
    offsets : ndarray of int64, shape (n_runs + 1,)
    positions : ndarray of int64, shape (n_tokens,)
        Positions within the passage, from 0.
    """

    keys: NDArray[np.int64]
    offsets: NDArray[np.int64]
    positions: NDArray[np.int64]


def passage_postings(arrays: TokenArrays) -> Postings:
    """Sort the passages' tokens by (passage, word, position), packed into one int64 each."""
    lengths = np.diff(arrays.passage_offsets)
    passage = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(passage)) - arrays.passage_offsets[passage]
    bits = int(lengths.max(initial=1)).bit_length()
    packed = ((passage * arrays.n_words + arrays.passage_tokens) << bits) | position
    packed.sort()
    key = packed >> bits
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    return Postings(key[starts], np.append(starts, len(key)), packed & ((1 << bits) - 1))


class Matches(NamedTuple):
    """The distinct words of texts, and those among them that stand in the texts' passages.

    Parameters
    ----------
    n_distinct : ndarray of int64, shape (n_texts,)
        How many distinct words each text has, in the passage or not.
    offsets : ndarray of int64, shape (n_texts + 1,)
        Text i's matches are ``runs[offsets[i]:offsets[i + 1]]``.
    runs : ndarray of int64
        Runs of the postings.
    """

    n_distinct: NDArray[np.int64]
    offsets: NDArray[np.int64]
    runs: NDArray[np.int64]


def match_words(arrays: TokenArrays, postings: Postings) -> tuple[Matches, Matches]:
    """Match the questions' words, and the candidates' words that are not in their question.

    Returns
    -------
    questions : Matches
        Over questions.
    candidates : Matches
        Over candidates: the words that each adds to its question's.
    """
    n_words = arrays.n_words
    question_keys = _distinct(arrays.question_tokens, arrays.question_offsets, n_words)
    question = question_keys // n_words
    questions = _matches(question, question_keys % n_words, arrays.question_passage, postings, n_words)

    candidate_keys = _distinct(arrays.candidate_tokens, arrays.candidate_offsets, n_words)
    candidate, word = candidate_keys // n_words, candidate_keys % n_words
    new = ~_is_in(arrays.candidate_question[candidate] * n_words + word, question_keys)
    passages = arrays.question_passage[arrays.candidate_question]
    return questions, _matches(candidate[new], word[new], passages, postings, n_words)


def _distinct(tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int) -> NDArray[np.int64]:
    text = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys = text * n_words + tokens
    keys.sort()
    return keys[np.flatnonzero(np.diff(keys, prepend=-1))]


def _find(keys: NDArray[np.int64], table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each key stands in a rising table, and whether it is there at all."""
    if not len(table):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.bool_)
    if table[-1] < _DENSE_KEYS:  # few passages with many candidates: looking up beats searching
        place = np.full(max(int(table[-1]), int(keys.max(initial=0))) + 1, -1)
        place[table] = np.arange(len(table))
        return place[keys], place[keys] >= 0
    at = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return at, table[at] == keys


def _is_in(keys: NDArray[np.int64], table: NDArray[np.int64]) -> NDArray[np.bool_]:
    return _find(keys, table)[1]


def _matches(
    text: NDArray[np.int64],
    word: NDArray[np.int64],
    text_passage: NDArray[np.int64],
    postings: Postings,
    n_words: int,
) -> Matches:
    n_texts = len(text_passage)
    run, found = _find(text_passage[text] * n_words + word, postings.keys)
    counts = np.bincount(text[found], minlength=n_texts)
    return Matches(np.bincount(text, minlength=n_texts), offsets_of(counts), run[found])


class Places(NamedTuple):
    """Where the matched words of some texts stand in their passages.

    An *entry* is one matched word of one text; its places stand together.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_entries,)
        Which of the texts; never falls.
    runs : ndarray of int64, shape (n_entries,)
        The run of its word.
    counts : ndarray of int64, shape (n_entries,)
        How many places it has, at least one.
    positions : ndarray of int64, shape (counts.sum(),)
        The places, rising within an entry.
    """

    rows: NDArray[np.int64]
    runs: NDArray[np.int64]
    counts: NDArray[np.int64]
    positions: NDArray[np.int64]


def places_of(postings: Postings, matches: Matches, texts: NDArray[np.int64]) -> Places:
    """Expand the matches of `texts`, in any order and as often as wanted, to single places."""
    n_matches = np.diff(matches.offsets)[texts]
    runs = matches.runs[ragged_indices(matches.offsets[:-1][texts], n_matches)]
    starts = postings.offsets[runs]
    counts = postings.offsets[runs + 1] - starts
    positions = postings.positions[ragged_indices(starts, counts)]
    return Places(np.repeat(np.arange(len(texts)), n_matches), runs, counts, positions)


class MatchedBlock(NamedTuple):
    """Some passages with their questions' and candidates' words matched: what the kernels work on.

    Parameters
    ----------
    where : slice
        The block's candidates among all.
    arrays : TokenArrays
        The block, numbered from 0.
    postings : Postings
    questions : Matches
        Over questions.
    additions : Matches
        Over candidates: the words that each adds to its question's.
    """

    where: slice
    arrays: TokenArrays
    postings: Postings
    questions: Matches
    additions: Matches


def matched_blocks(arrays: TokenArrays, block_tokens: int = BLOCK_TOKENS) -> Iterator[MatchedBlock]:
    """The arrays in blocks of bounded size (that of one passage and one candidate at the least)."""
    for where, block in arrays.blocks(block_tokens):
        postings = passage_postings(block)
        yield MatchedBlock(where, block, postings, *match_words(block, postings))


def longest_runs(arrays: TokenArrays) -> NDArray[np.int64]:
    """The length of the longest run of each candidate's tokens that stands in its passage as it is.

    Parameters
    ----------
    arrays : TokenArrays

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        In tokens; 0 for a candidate none of whose tokens stands there.
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

    # A run is a stretch of one diagonal: place in the passage minus place in the candidate stays the same.
    n_places = np.diff(postings.offsets)[at]
    place = postings.positions[ragged_indices(postings.offsets[:-1][at], n_places)]
    candidate, index = np.repeat(candidate, n_places), np.repeat(index, n_places)
    width = int(lengths.max(initial=0)) + 1  # one more than an index can be: diagonals do not touch
    n_diagonals = width + int(place.max(initial=0)) + 1
    cells = (candidate * n_diagonals + place - index + width) * width + index
    cells.sort()
    starts = np.flatnonzero(np.diff(cells, prepend=-2) != 1)
    runs = np.zeros(len(lengths), dtype=np.int64)
    np.maximum.at(runs, cells[starts] // (n_diagonals * width), np.diff(starts, append=len(cells)))
    return runs
