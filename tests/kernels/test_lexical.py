"""The kernels of the lexical matcher against their plain-Python reference."""

from __future__ import annotations

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
from tests.kernels.builders import problems

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
def test_all_window_widths(problem, last, widths):
    got = window_sweep(problem.arrays, widths, smoothing=1, last_window=last).sum(axis=1)
    assert got.tolist() == [
        reference.lexical.window_sum(*texts, widths, last_window=last)
        for _, *texts in each(problem)
    ]


@settings(max_examples=examples(25, 150))
@given(problem=PROBLEMS, data=st.data())
def test_sums_over_passages_and_sentences(problem, data):
    passages = problem.passages
    weights = [
        data.draw(st.lists(st.integers(0, 2**26), min_size=len(p), max_size=len(p)))
        for p in passages
    ]
    sentences = [
        sorted(data.draw(st.lists(st.integers(0, 9), min_size=len(p), max_size=len(p))))
        for p in passages
    ]
    arrays = problem.arrays
    token_weights = np.array(
        [w for passage_weights in weights for w in passage_weights], dtype=np.int32
    )
    token_sentences = np.array(
        [s for passage_weights in sentences for s in passage_weights], dtype=np.int64
    )
    assert bag_of_words(arrays, token_weights).tolist() == [
        reference.lexical.bag_of_words(*texts, weights[p]) for p, *texts in each(problem)
    ]
    for n_best in (1, 2, 20):
        assert best_sentences(arrays, token_weights, token_sentences, n_best).tolist() == [
            reference.lexical.best_sentences(*texts, weights[p], sentences[p], n_best)
            for p, *texts in each(problem)
        ]


@settings(max_examples=examples(25, 150))
@given(problem=PROBLEMS)
def test_distance_by_occurrences(problem):
    distances, has_distance = occurrence_distance(problem.arrays)
    expected = [reference.lexical.occurrence_distance(*texts) for _, *texts in each(problem)]
    assert distances.tolist() == expected
    has_both = [bool({*p} & {*q}) and bool({*p} & {*c}) for _, p, q, c in each(problem)]
    assert has_distance.tolist() == has_both


@given(problem=PROBLEMS)
def test_counts_and_texts_without_questions(problem):
    arrays = problem.arrays
    counts = np.split(token_counts(arrays), arrays.passage_offsets[1:-1])
    for number in set(problem.passage_numbers):
        passage = problem.passages[number]
        assert counts[number].tolist() == [passage.count(token) for token in passage]
    ones = np.ones(len(arrays.passage_tokens), dtype=np.int32)
    counts = bag_of_words(arrays.without_questions(), ones)
    expected = [sum(token in c for token in p) for _, p, _, c in each(problem)]
    assert counts.tolist() == expected
    even = np.arange(len(expected)) % 2 == 0
    alone = [block.candidates_alone(even[block.where]) for block in matched_blocks(arrays)]
    assert bag_of_words(arrays, ones, alone).tolist() == np.where(even, expected, 0).tolist()


def test_weights_are_smoothed():
    assert [w / 2**26 for w in reference.lexical.smoothed_weights("aab")] == [
        round(2**26 * value) / 2**26 for value in (np.log(4 / 3), np.log(4 / 3), np.log(3 / 2))
    ]
