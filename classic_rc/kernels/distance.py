"""The word distance of Richardson et al. 2013, with or without the sliding window, for entire
datasets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    MatchedBlock,
    Matches,
    Places,
    TokenArrays,
    block_size,
    matched_blocks,
    offsets_of,
    places_of,
    run_starts,
)
from classic_rc.kernels.window import best_windows

DistanceRule: TypeAlias = Literal["mean", "min", "min+1", "first"]

_Steps: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64] | int]"
"""Distances in steps, summed over some words or of a single word, and the number of these words."""

_MANY_ROWS = 256
"""With this many candidates of one question, it is faster to compute the distance of every
passage position.
"""

_CHUNK_ROWS = 2**14
"""How many candidates are measured at a time; it bounds memory if one passage has very many."""


def word_distance(
    arrays: TokenArrays,
    stop_words: NDArray[np.bool_],
    rule: DistanceRule = "mean",
    matched: Iterable[MatchedBlock] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the distance of question words from the candidate's words, as a share of the passage's
    length.

    Let S_Q be the question's words and S_A the candidate's words that are not in the question, both
    restricted to words of the passage P that are not stop words. Let m(q) be the least number of
    positions between an occurrence of q in S_Q and one of any word of S_A. Then::

        mean   d = sum over q in S_Q of m(q) / (|S_Q| (|P| - 1))
        min    d = min over q in S_Q of m(q) / (|P| - 1)
        min+1  d = (min over q in S_Q of m(q) + 1) / (|P| - 1)
        first  d = the distance of the last word of S_Q and the last word of S_A, at the first
               position by which both have been seen, / (|P| - 1)

    and d = 1 if S_Q or S_A is empty. This is
    :func:`classic_rc.kernels.reference.word_distance` for all candidates at once, equal to the bit.

    Parameters
    ----------
    arrays : TokenArrays
    stop_words : ndarray of bool, shape (n_words,)
        Words left out of S_Q and S_A; they keep their positions in the passage.
    rule : {"mean", "min", "min+1", "first"}
        ``mean`` is the authors' code; ``min`` is their paper as printed (Algorithm 2); ``min+1``
        and ``first`` are what two well-known re-implementations compute (see
        :mod:`classic_rc.solvers.sliding`).
    matched : iterable of MatchedBlock, optional
        The arrays' :func:`~classic_rc.kernels.arrays.matched_blocks`, if they are known.

    Returns
    -------
    distances : ndarray of float64, shape (n_candidates,)
    is_measured : ndarray of bool, shape (n_candidates,)
        Whether there is a pair of words to measure.
    """
    n_candidates = len(arrays.candidate_question)
    distances, is_measured = np.ones(n_candidates), np.zeros(n_candidates, dtype=np.bool_)
    for block in matched or matched_blocks(arrays):
        distances[block.where], is_measured[block.where] = word_distances(block, stop_words, rule)
    return distances, is_measured


def window_and_distance(
    arrays: TokenArrays,
    stop_words: NDArray[np.bool_],
    *,
    window: int | Literal["set", "passage"] = "set",
    word_weights: NDArray[np.int32] | None = None,
    rule: DistanceRule = "mean",
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Compute :func:`~classic_rc.kernels.sliding_window` and
    :func:`~classic_rc.kernels.word_distance` together.

    Parameters
    ----------
    arrays, window, word_weights
        As in :func:`~classic_rc.kernels.sliding_window`.
    stop_words, rule
        As in :func:`~classic_rc.kernels.word_distance`; stop words count in windows.

    Returns
    -------
    windows : ndarray of int64, shape (n_candidates,)
    distances : ndarray of float64, shape (n_candidates,)
    is_measured : ndarray of bool, shape (n_candidates,)
    """
    n_candidates = len(arrays.candidate_question)
    windows = np.zeros(n_candidates, dtype=np.int64)
    distances = np.ones(n_candidates)
    is_measured = np.zeros(n_candidates, dtype=np.bool_)
    for block in matched_blocks(arrays):
        windows[block.where] = best_windows(block, window, word_weights)
        distances[block.where], is_measured[block.where] = word_distances(block, stop_words, rule)
    return windows, distances, is_measured


def word_distances(
    block: MatchedBlock, stop_words: NDArray[np.bool_], rule: DistanceRule = "mean"
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return :func:`word_distance` of one block: two arrays of shape (n_candidates of the
    block,).
    """
    arrays, postings = block.arrays, block.postings
    content = ~stop_words[postings.keys % arrays.n_words]
    questions = _select_runs(block.questions, content)
    additions = _select_runs(block.additions, content)
    question = arrays.candidate_question
    is_measured = has_both(questions, question, additions)
    distances = np.ones(len(question))
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[question]]
    for rows, has_many in _split_rows(np.flatnonzero(is_measured), question):
        answer_places = places_of(postings, additions, rows)
        if has_many and rule != "first":
            # All rows have the question of the first one.
            question_places = places_of(postings, questions, question[rows[:1]])
            steps, n_words = _nearest_steps_of_many(question_places, answer_places, rule)
        else:
            measure = _first_steps if rule == "first" else _nearest_steps
            question_places = places_of(postings, questions, question[rows])
            steps, n_words = measure(question_places, answer_places, rule)
        # Both sides have a word, and the words differ: there are at least two tokens.
        distances[rows] = steps / (n_words * (lengths[rows] - 1))
    return distances, is_measured


def has_both(
    questions: Matches, question: NDArray[np.int64], candidates: Matches
) -> NDArray[np.bool_]:
    """Return for each candidate whether it and its question have matches."""
    has_question_match = np.diff(questions.offsets)[question] > 0
    return has_question_match & (np.diff(candidates.offsets) > 0)


def _split_rows(
    rows: NDArray[np.int64], question: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], bool]]:
    """Split rows, by ascending question, into parts of bounded size; a question with many rows
    has its own.
    """
    of_row = question[rows]
    has_many_rows = np.bincount(of_row)[of_row] >= _MANY_ROWS
    change = np.diff(of_row) > 0
    cuts = np.flatnonzero(change & (has_many_rows[:-1] | has_many_rows[1:])) + 1
    size = block_size(_CHUNK_ROWS)
    for question_rows in np.split(rows, cuts):
        for start in range(0, len(question_rows), size):
            place = np.searchsorted(rows, question_rows[0])
            yield question_rows[start : start + size], bool(has_many_rows[place])


def _select_runs(matches: Matches, selected: NDArray[np.bool_]) -> Matches:
    """Return the matches with the runs that are selected."""
    keep = selected[matches.runs]
    n_before = np.concatenate(([0], np.cumsum(keep)))
    return Matches(matches.n_distinct, n_before[matches.offsets], matches.runs[keep])


def nearest_distances(keys: NDArray[np.int64], table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distance of each key to the nearest number of an ascending table, which is not
    empty.
    """
    after = np.searchsorted(table, keys)
    above = table[np.minimum(after, len(table) - 1)]
    below = table[np.maximum(after - 1, 0)]
    return np.minimum(np.abs(above - keys), np.abs(keys - below))


def pack_places(places: Places, stride: int) -> NDArray[np.int64]:
    """Pack (row, position) into one number, so far apart that the nearest place is never in
    another row.
    """
    keys = np.repeat(places.rows * stride, places.counts)
    keys += places.positions
    return keys


def row_stride(*places: Places) -> int:
    """Return a stride for :func:`pack_places`."""
    # Places of one row differ by at most the largest position, places of two rows by three times as
    # much or more.
    return 4 * (1 + max(int(p.positions.max(initial=0)) for p in places))


def _nearest_steps(question_places: Places, answer_places: Places, rule: DistanceRule) -> _Steps:
    """Sum each row's least distances per question word, with the number of words; or take their
    minimum, with 1.
    """
    stride = row_stride(question_places, answer_places)
    answer_keys = pack_places(answer_places, stride)
    answer_keys.sort()
    keys = pack_places(question_places, stride)
    nearest = nearest_distances(keys, answer_keys)
    # m(q) is the least distance of all occurrences of q.
    per_word = np.minimum.reduceat(nearest, offsets_of(question_places.counts)[:-1])
    row_starts = run_starts(question_places.rows)
    if rule == "mean":
        return np.add.reduceat(per_word, row_starts), np.diff(row_starts, append=len(per_word))
    return np.minimum.reduceat(per_word, row_starts) + (rule == "min+1"), 1


def _nearest_steps_of_many(
    question_places: Places, answer_places: Places, rule: DistanceRule
) -> _Steps:
    """:func:`_nearest_steps` for rows of one question: each word's distances are computed once
    per position.
    """
    positions = np.arange(1 + int(answer_places.positions.max()))
    row_starts = offsets_of(answer_places.counts)[run_starts(answer_places.rows)]
    per_word = []
    for at in np.split(question_places.positions, np.cumsum(question_places.counts)[:-1]):
        steps = nearest_distances(positions, at)
        per_word.append(np.minimum.reduceat(steps[answer_places.positions], row_starts))
    if rule == "mean":
        return np.sum(per_word, axis=0), len(per_word)
    return np.min(per_word, axis=0) + (rule == "min+1"), 1


def _first_steps(question_places: Places, answer_places: Places, rule: DistanceRule) -> _Steps:
    """Return the distance of the last words of both kinds, at the first position by which both
    occurred, and 1.
    """
    stride = row_stride(question_places, answer_places)
    sides = []
    for places in (question_places, answer_places):
        keys = pack_places(places, stride)
        keys.sort()
        sides.append((keys, keys[run_starts(keys // stride)]))
    (question_keys, first_question), (answer_keys, first_answer) = sides
    both_seen = np.maximum(first_question, first_answer)
    last_question = question_keys[np.searchsorted(question_keys, both_seen, side="right") - 1]
    last_answer = answer_keys[np.searchsorted(answer_keys, both_seen, side="right") - 1]
    return np.abs(last_question - last_answer), 1
