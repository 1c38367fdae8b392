"""The word distance of Hermann et al. 2015 for cloze queries, for whole datasets at once."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.kernels.phrases import phrase_places, word_runs
from classic_rc.kernels.postings import BLOCK_TOKENS, Postings, passage_postings
from classic_rc.kernels.window import row_chunks

Alignment: TypeAlias = Literal["ends", "first", "last"]
OwnWords: TypeAlias = Literal["match", "cap"]


def cloze_distance(
    arrays: TokenArrays,
    placeholders: NDArray[np.int64],
    counted: NDArray[np.bool_],
    max_distance: int = 8,
    alignment: Alignment = "ends",
    own_words: OwnWords = "match",
    pairs: int = 2**18,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    r"""How far query words stand from where they should around each candidate's best mention.

    With q_i the query's words that count, at i places from the placeholder (negative before it), and M the
    candidate's mentions, which are the occurrences of its tokens one after the other::

        d = min over mentions m in M of sum over i of min(max_distance, min over j with P_j = q_i of |j - (m + i)|)

    where m is the mention's first token for words before the placeholder and its last for words after it. Without
    a mention, each word costs `max_distance`. This is :func:`classic_rc.kernels.reference_cloze.cloze_distance`
    for all candidates at once.

    Parameters
    ----------
    arrays : TokenArrays
        Queries without a token for the placeholder.
    placeholders : ndarray of int64, shape (n_questions,)
        How many of each query's tokens stand before its placeholder.
    counted : ndarray of bool, shape (n_words,)
        The words that are added up; the others keep their positions in passage and query.
    max_distance : int
        What a word costs at most.
    alignment : {"ends", "first", "last"}
        Which token of a mention of several stands for m: the first on its left and the last on its right, or one
        of them on both sides.
    own_words : {"match", "cap"}
        Whether a query word that is one of the candidate's may match, or costs `max_distance`.
    pairs : int
        How many pairs of a mention and a query word are worked on at a time: bounds memory to about 100 bytes a
        pair and does not change the result.

    Returns
    -------
    distances : ndarray of int64, shape (n_candidates,)
        In steps.
    found : ndarray of bool, shape (n_candidates,)
        Whether any word is nearer than `max_distance`.
    """
    n_candidates = len(arrays.candidate_question)
    distances, found = np.zeros(n_candidates, dtype=np.int64), np.zeros(n_candidates, dtype=np.bool_)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        first = int(arrays.candidate_question[where.start])
        own = placeholders[first : first + len(block.question_passage)]
        distances[where], found[where] = _block(block, own, counted, max_distance, alignment, own_words, pairs)
    return distances, found


class QueryWords(NamedTuple):
    """The tokens of queries that stand in their passages.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_questions + 1,)
        Those of query i are ``offsets[i]:offsets[i + 1]``.
    words : ndarray of int32
    runs : ndarray of int64
        Runs of the postings.
    places : ndarray of int64
        Places in the query.
    after : ndarray of bool
        Whether it stands after the placeholder.
    """

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    runs: NDArray[np.int64]
    places: NDArray[np.int64]
    after: NDArray[np.bool_]


def query_words(arrays: TokenArrays, postings: Postings, placeholders: NDArray[np.int64]) -> QueryWords:
    """Look up the queries' tokens in their passages."""
    lengths = np.diff(arrays.question_offsets)
    question = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(question)) - arrays.question_offsets[question]
    words = arrays.question_tokens
    run, found = word_runs(postings, arrays.question_passage[question], words, arrays.n_words)
    offsets = offsets_of(np.bincount(question[found], minlength=len(lengths)))
    after = place >= placeholders[question]
    return QueryWords(offsets, words[found], run[found], place[found], after[found])


def _block(
    arrays: TokenArrays,
    placeholders: NDArray[np.int64],
    counted: NDArray[np.bool_],
    max_distance: int,
    alignment: Alignment,
    own_words: OwnWords,
    pairs: int,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    postings = passage_postings(arrays)
    query = query_words(arrays, postings, placeholders)
    question = arrays.candidate_question
    n_counted = np.diff(offsets_of(counted[arrays.question_tokens].astype(np.int64))[arrays.question_offsets])
    worst = max_distance * n_counted[question]

    # A word's place relative to the mention's token on its side; the placeholder itself takes one place.
    relative = query.places - np.repeat(placeholders, np.diff(query.offsets)) + query.after
    from_last = {"ends": query.after, "first": np.zeros_like(query.after), "last": np.ones_like(query.after)}
    nearest = _Nearest(postings, reach=_longest(arrays.passage_offsets) + _longest(arrays.question_offsets))
    candidates, starts = phrase_places(arrays, postings)
    n_words = np.diff(query.offsets)[question[candidates]]
    distances = worst.copy()
    for part in row_chunks(np.arange(len(candidates)), n_words, pairs):
        candidate, start = candidates[part], starts[part]
        counts = n_words[part]
        word = ragged_indices(query.offsets[:-1][question[candidate]], counts)
        size = np.diff(arrays.candidate_offsets)[candidate]
        mention = np.repeat(start, counts) + np.where(from_last[alignment][word], np.repeat(size - 1, counts), 0)
        steps = np.minimum(nearest(query.runs[word], mention + relative[word]), max_distance)
        unsaved = ~counted[query.words[word]]
        if own_words == "cap":
            unsaved |= _has_word(arrays, np.repeat(candidate, counts), query.words[word])
        saved = np.where(unsaved, 0, max_distance - steps)
        sums = np.diff(offsets_of(saved)[offsets_of(counts)])
        np.minimum.at(distances, candidate, worst[candidate] - sums)
    return distances, distances < worst


class _Nearest:
    """How far a position is from the nearest of a run's.

    Parameters
    ----------
    postings : Postings
    reach : int
        More than the distance of any position that is asked for from any of the passage.
    """

    def __init__(self, postings: Postings, reach: int) -> None:
        # Runs lie so far apart that the nearest place is always one of the run's own.
        self._stride = 2 * reach + 1
        runs = np.repeat(np.arange(len(postings.keys)), np.diff(postings.offsets))
        self._keys = runs * self._stride + postings.positions

    def __call__(self, runs: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The distances; every run has a place at least."""
        keys = runs * self._stride + positions
        after = np.searchsorted(self._keys, keys)
        right = self._keys[np.minimum(after, len(self._keys) - 1)]
        left = self._keys[np.maximum(after - 1, 0)]
        return np.minimum(np.abs(right - keys), np.abs(keys - left))


def _longest(offsets: NDArray[np.int64]) -> int:
    return int(np.diff(offsets).max(initial=0)) + 1


def _has_word(arrays: TokenArrays, candidates: NDArray[np.int64], words: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each word is one of the candidate's, which has tokens."""
    of_token = np.repeat(np.arange(len(arrays.candidate_question)), np.diff(arrays.candidate_offsets))
    keys = np.sort(of_token * arrays.n_words + arrays.candidate_tokens)
    wanted = candidates * arrays.n_words + words
    return keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
