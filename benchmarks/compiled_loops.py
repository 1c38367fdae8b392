"""The sliding window and the word distance as loops over the encoded arrays, compiled with Numba:
one core, one candidate after the other, one window after the other.

Without Numba, the loops are plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.weights import inverse_count_weights


def windows_and_distances(
    arrays: TokenArrays, stop_words: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the windows and the distances of :func:`classic_rc.kernels.window_and_distance`."""
    n = len(arrays.candidate_question)
    windows, distances = np.zeros((n, 1), dtype=np.int64), np.ones(n)
    size_of_set = np.zeros(1, dtype=np.int64)
    _score(*arrays, _weights(arrays), size_of_set, stop_words, windows, distances)
    return windows[:, 0], distances


def windows_of_sizes(arrays: TokenArrays, sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return what :func:`classic_rc.kernels.window_sweep` returns."""
    windows = np.zeros((len(arrays.candidate_question), len(sizes)), dtype=np.int64)
    all_words, no_distances = np.ones(arrays.n_words, dtype=np.bool_), np.zeros(0)
    _score(*arrays, _weights(arrays), np.array(sizes), all_words, windows, no_distances)
    return windows


def _weights(arrays: TokenArrays) -> NDArray[np.int64]:
    """Return the weight of each count that a word can have in a passage."""
    longest = int(np.diff(arrays.passage_offsets).max(initial=0))
    return inverse_count_weights(np.arange(longest + 1)).astype(np.int64)


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    if not find_spec("numba"):
        return function
    from numba import njit

    return njit(function)


_QUESTION, _CANDIDATE = 1, 2  # whose content word a word of the passage is


@_compiled
def _steps(
    places: NDArray[np.int64],
    numbers: NDArray[np.int64],
    sides: NDArray[np.int64],
    nearest: NDArray[np.int64],  # scratch space
    length: int,
) -> int:
    """Return the sum of each question word's distance to the nearest word of the candidate."""
    for place in places:
        nearest[numbers[place]] = 0
    total, last = 0, -length
    for place in places:
        number = numbers[place]
        if sides[number] == _CANDIDATE:
            last = place
        elif sides[number] == _QUESTION and (
            nearest[number] == 0 or place - last < nearest[number]
        ):
            total += place - last - nearest[number]
            nearest[number] = place - last
    last = 2 * length
    for place in places[::-1]:
        number = numbers[place]
        if sides[number] == _CANDIDATE:
            last = place
        elif sides[number] == _QUESTION and last - place < nearest[number]:
            total += last - place - nearest[number]
            nearest[number] = last - place
    return total


@_compiled
def _score(
    passage_tokens: NDArray[np.int32],
    passage_offsets: NDArray[np.int64],
    question_tokens: NDArray[np.int32],
    question_offsets: NDArray[np.int64],
    candidate_tokens: NDArray[np.int32],
    candidate_offsets: NDArray[np.int64],
    question_passage: NDArray[np.int64],
    candidate_question: NDArray[np.int64],
    n_words: int,
    weight_of_count: NDArray[np.int64],
    sizes: NDArray[np.int64],  # of windows; 0 is the number of the question's and candidate's words
    stop_words: NDArray[np.bool_],
    windows: NDArray[np.int64],  # to be filled: shape (n_candidates, n_sizes)
    distances: NDArray[np.float64],  # to be filled: shape (n_candidates,), or empty
) -> None:
    longest = len(weight_of_count) - 1
    # A passage's words are numbered from 0: what is known of them stays in the fastest cache.
    number_of = np.full(n_words, -1, dtype=np.int64)
    numbers = np.empty(longest, dtype=np.int64)  # of the passage's tokens
    counts, weights, sides, nearest = np.zeros((4, longest), dtype=np.int64)
    sums = np.zeros(longest + 1, dtype=np.int64)  # of the weights up to each token
    places = np.empty(longest, dtype=np.int64)  # of tokens with a weight
    last_question, last_candidate = np.full((2, n_words), -1, dtype=np.int64)  # with each word
    question = candidate = 0
    for passage in range(len(passage_offsets) - 1):
        tokens = passage_tokens[passage_offsets[passage] : passage_offsets[passage + 1]]
        length, n_numbers = len(tokens), 0
        for i in range(length):
            if number_of[tokens[i]] < 0:
                number_of[tokens[i]] = n_numbers
                counts[n_numbers] = 0
                n_numbers += 1
            numbers[i] = number_of[tokens[i]]
            counts[numbers[i]] += 1
        while question < len(question_passage) and question_passage[question] == passage:
            question_words = question_tokens[
                question_offsets[question] : question_offsets[question + 1]
            ]
            weights[:n_numbers] = 0
            sides[:n_numbers] = 0
            n_question_words = n_content_words = 0
            for word in question_words:
                if last_question[word] != question:
                    last_question[word] = question
                    n_question_words += 1
                    number = number_of[word]
                    if number >= 0:
                        weights[number] = weight_of_count[counts[number]]
                        if not stop_words[word]:
                            sides[number] = _QUESTION
                            n_content_words += 1
            while candidate < len(candidate_question) and candidate_question[candidate] == question:
                option = candidate_tokens[
                    candidate_offsets[candidate] : candidate_offsets[candidate + 1]
                ]
                n_set, has_content = n_question_words, False
                for word in option:
                    if last_question[word] != question and last_candidate[word] != candidate:
                        last_candidate[word] = candidate
                        n_set += 1
                        number = number_of[word]
                        if number >= 0:
                            weights[number] = weight_of_count[counts[number]]
                            if not stop_words[word]:
                                sides[number] = _CANDIDATE
                                has_content = True
                n_places = 0
                for i in range(length):
                    weight = weights[numbers[i]]
                    sums[i + 1] = sums[i] + weight
                    places[n_places] = i
                    n_places += weight > 0
                for column in range(len(sizes)):
                    width = min(sizes[column] if sizes[column] > 0 else n_set, length)
                    ends = sums[width : length + 1]
                    best = 0
                    for i in range(len(ends)):
                        best = max(best, ends[i] - sums[i])
                    windows[candidate, column] = best
                if len(distances) and has_content and n_content_words:
                    steps = _steps(places[:n_places], numbers, sides, nearest, length)
                    distances[candidate] = steps / (n_content_words * (length - 1))
                for word in option:
                    number = number_of[word]
                    if number >= 0 and last_question[word] != question:
                        weights[number] = sides[number] = 0
                candidate += 1
            question += 1
        for token in tokens:
            number_of[token] = -1
