"""How near the words of questions and candidates are to each other in passages, for entire datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import MatchedBlock, Matches, Places, offsets_of, places_of
from classic_rc.kernels.distance import nearest_distances, pack_places, row_stride
from classic_rc.kernels.weights import DECAY_SCALE, decay_weights
from classic_rc.kernels.window import row_chunks
from classic_rc.kernels.word_sets import WordSets, share

QUESTION_REACH = 5
CANDIDATE_REACH = 6
"""A distance of d tokens counts exp(-d / reach)."""

CLOSE = 3
"""A word of the candidate is close to one of the question within this many tokens."""

_CHUNK_PLACES = 2**18
"""How many places of matched words are measured at a time; it bounds memory."""


class Proximity(NamedTuple):
    """Distances between the words of question and candidate, each of shape (n_candidates,).

    Distances in passages are shares of |P| - 1, and 1 where there is nothing to measure.
    """

    mean: NDArray[np.float64]  # over Q's words in P: the distance of the nearest occurrence to any word of N
    weighted_mean: NDArray[np.float64]  # the same, weighted by rarity
    least: NDArray[np.float64]  # the least of these distances
    decay: NDArray[np.float64]  # sum over Q of g(q) exp(-d / 5) / sum over Q of g
    best_decay: NDArray[np.float64]  # sum over N of g(w) exp(-d / 6) of w's best occurrence / sum over N of g
    all_decay: NDArray[np.float64]  # the same, summed over all occurrences
    close: NDArray[np.int64]  # how many occurrences of N's words are within 3 tokens of a word of Q


def proximity(block: MatchedBlock, questions: WordSets, candidates: WordSets) -> Proximity:
    """Measure the distances between the words of each candidate and those of its question.

    Parameters
    ----------
    questions, candidates : WordSets
        The words Q of the block's questions and the words N of its candidates.
    """
    arrays, postings = block.arrays, block.postings
    question, n = arrays.candidate_question, len(arrays.candidate_question)
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[question]]
    q_set, n_set = questions.select(questions.matched), candidates.select(candidates.matched)
    of_question, of_candidate = q_set.matches(), n_set.matches()
    mean, weighted_mean, least = (np.ones(n) for _ in range(3))
    decay, best_decay, all_decay = (np.zeros(n) for _ in range(3))
    close = np.zeros(n, dtype=np.int64)
    q_totals, n_totals = questions.totals()[question] * DECAY_SCALE, candidates.totals() * DECAY_SCALE
    # Sums of weights times decays stay below 2**63 for fewer than 2**18 occurrences of the rarest words.
    to_decay, from_decay = decay_weights(QUESTION_REACH), decay_weights(CANDIDATE_REACH)
    for rows in _row_chunks(block, of_question, of_candidate):
        texts = question[rows]
        q_places, n_places = places_of(postings, of_question, texts), places_of(postings, of_candidate, rows)
        to_new, to_question = nearest_steps(q_places, n_places)
        spans = np.maximum(lengths[rows] - 1, 1).astype(np.float64)

        steps = np.minimum.reduceat(to_new, offsets_of(q_places.counts)[:-1])  # one number for each word
        own = q_set.take(texts)
        starts = own.offsets[:-1]
        mean[rows] = np.add.reduceat(steps, starts) / (np.diff(own.offsets) * spans)
        weighted_mean[rows] = np.add.reduceat(own.weights * steps, starts) / (own.totals() * spans)
        least[rows] = np.minimum.reduceat(steps, starts) / spans
        decay[rows] = share(np.add.reduceat(own.weights * _look_up(to_decay, steps), starts), q_totals[rows])

        own = n_set.take(rows)
        starts, word_starts = own.offsets[:-1], offsets_of(n_places.counts)[:-1]
        values = _look_up(from_decay, to_question)
        best, total = np.maximum.reduceat(values, word_starts), np.add.reduceat(values, word_starts)
        best_decay[rows] = share(np.add.reduceat(own.weights * best, starts), n_totals[rows])
        all_decay[rows] = share(np.add.reduceat(own.weights * total, starts), n_totals[rows])
        close[rows] = np.add.reduceat(np.add.reduceat(to_question <= CLOSE, word_starts, dtype=np.int64), starts)
    return Proximity(mean, weighted_mean, least, decay, best_decay, all_decay, close)


def _look_up(table: NDArray[np.int64], distances: NDArray[np.int64]) -> NDArray[np.int64]:
    return table[np.minimum(distances, len(table) - 1)]


def _row_chunks(block: MatchedBlock, questions: Matches, candidates: Matches) -> Iterator[NDArray[np.int64]]:
    """Yield the candidates for which both sides have matches, some at a time."""
    question = block.arrays.candidate_question
    found = (np.diff(questions.offsets)[question] > 0) & (np.diff(candidates.offsets) > 0)
    counts = np.diff(block.postings.offsets)
    n_places = []
    for matches in (questions, candidates):
        summed = offsets_of(counts[matches.runs])
        n_places.append(summed[matches.offsets[1:]] - summed[matches.offsets[:-1]])
    return row_chunks(np.flatnonzero(found), n_places[0][question] + n_places[1], _CHUNK_PLACES)


def nearest_steps(left: Places, right: Places) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distance of each place of either side to the nearest place of the other side in the same row.

    Every row has places on both sides.
    """
    stride = row_stride(left, right)
    keys = [pack_places(side, stride) for side in (left, right)]
    return nearest_distances(keys[0], np.sort(keys[1])), nearest_distances(keys[1], np.sort(keys[0]))
