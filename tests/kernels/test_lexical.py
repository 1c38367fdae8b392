"""The kernels of the lexical matcher against their plain-Python reference."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels import reference, window_sweep
from classic_rc.kernels.arrays import matched_blocks
from classic_rc.kernels.lexical import (
    bag_of_words,
    best_sentences,
    occurrence_distance,
    token_counts,
)
from tests.depth import examples
from tests.kernels.builders import lists_of, problems, ragged, unragged

PROBLEMS = problems(n_words=7, n_passages=3)


def each(problem):
    """For each candidate the number of its passage, the passage, the question and itself."""
    for number, texts in zip(problem.passage_numbers, problem.texts, strict=True):
        yield number, *texts


@settings(max_examples=examples(25, 150))
@given(
    problem=PROBLEMS,
    last=st.booleans(),
    widths=st.sampled_from([[1], [1, 2], range(2, 30), [3, 39, 40, 41]]),
)
def test_best_windows_of_all_widths_have_the_sum_of_the_reference(problem, last, widths):
    got = window_sweep(problem.arrays, widths, smoothing=1, last_window=last).sum(axis=1)
    window_sum = partial(reference.lexical.window_sum, sizes=widths, last_window=last)
    assert got.tolist() == [window_sum(*texts) for texts in problem.texts]


def of_tokens(data, problem, numbers):
    """A number for each token of each passage."""
    return [data.draw(lists_of(numbers, len(passage))) for passage in problem.passages]


@settings(max_examples=examples(25, 150))
@given(problem=PROBLEMS, data=st.data())
def test_sums_over_passages_are_those_of_the_reference(problem, data):
    weights = of_tokens(data, problem, st.integers(0, 2**26))
    sums = bag_of_words(problem.arrays, ragged(weights)[0])
    expected = [reference.lexical.bag_of_words(*t, weights[p]) for p, *t in each(problem)]
    assert sums.tolist() == expected


@settings(max_examples=examples(25, 150))
@given(problem=PROBLEMS, data=st.data(), n_best=st.sampled_from([1, 2, 20]))
def test_sums_over_the_best_sentences_are_those_of_the_reference(problem, data, n_best):
    weights = of_tokens(data, problem, st.integers(0, 2**26))
    sentences = [*map(sorted, of_tokens(data, problem, st.integers(0, 9)))]
    token_weights, token_sentences = ragged(weights)[0], ragged(sentences)[0].astype(np.int64)
    sums = best_sentences(problem.arrays, token_weights, token_sentences, n_best)
    plain_sums = partial(reference.lexical.best_sentences, n_best=n_best)
    assert sums.tolist() == [plain_sums(*t, weights[p], sentences[p]) for p, *t in each(problem)]


@settings(max_examples=examples(25, 150))
@given(problem=PROBLEMS)
def test_distances_by_occurrences_are_those_of_the_reference(problem):
    distances, has_distance = occurrence_distance(problem.arrays)
    expected = [reference.lexical.occurrence_distance(*texts) for texts in problem.texts]
    assert distances.tolist() == expected
    for measured, (passage, *sides) in zip(has_distance, problem.texts, strict=True):
        assert measured == all(not set(passage).isdisjoint(side) for side in sides)


@given(problem=PROBLEMS)
def test_tokens_are_counted_in_passages_that_have_candidates(problem):
    counts = unragged(token_counts(problem.arrays), problem.arrays.passage_offsets)
    for number in set(problem.passage_numbers):
        passage = problem.passages[number]
        assert counts[number] == [passage.count(token) for token in passage]


@given(problem=PROBLEMS)
def test_candidates_without_questions_count_by_themselves(problem):
    arrays = problem.arrays
    ones = np.ones(len(arrays.passage_tokens), dtype=np.int32)
    expected = [sum(token in candidate for token in p) for p, _, candidate in problem.texts]
    assert bag_of_words(arrays.without_questions(), ones).tolist() == expected
    even = np.arange(len(expected)) % 2 == 0
    alone = [block.candidates_alone(even[block.where]) for block in matched_blocks(arrays)]
    assert bag_of_words(arrays, ones, alone).tolist() == np.where(even, expected, 0).tolist()


def test_weights_are_smoothed():
    expected = [round(2**26 * math.log(ratio)) for ratio in (4 / 3, 4 / 3, 3 / 2)]
    assert reference.lexical.smoothed_weights("aab") == expected
