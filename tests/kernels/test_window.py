"""The sliding window, alone and with all sizes, against plain Python, down to the bits."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels import inverse_count_weights, reference, sliding_window, window_sweep
from classic_rc.kernels.arrays import small_blocks
from tests.depth import examples
from tests.kernels.builders import Problem, problems


@settings(max_examples=examples(50, 300))
@given(
    problem=problems(),
    window=st.sampled_from(["set", "passage", 1, 2, 7, 100]),
    cells=st.sampled_from([1, 30, 2**20]),
)
def test_sliding_window_equals_reference(problem, window, cells):
    with small_blocks(cells):
        got = sliding_window(problem.arrays, window)
    assert got.tolist() == [reference.sliding_window(*texts, window) for texts in problem.texts]


@settings(max_examples=examples(16, 100))
@given(problem=problems(), counts=st.lists(st.integers(1, 10**6), min_size=8, max_size=8))
def test_sliding_window_takes_corpus_counts(problem, counts):
    weights = inverse_count_weights(np.array(counts[: problem.n_words]))
    got = sliding_window(problem.arrays, "set", weights)
    expected = [
        reference.sliding_window(*texts, "set", counts.__getitem__) for texts in problem.texts
    ]
    assert got.tolist() == expected


@settings(max_examples=examples(25, 150))
@given(
    problem=problems(),
    sizes=st.sets(st.integers(1, 35), min_size=1).map(sorted),
    cells=st.sampled_from([1, 100, 2**20]),
    corpus=st.booleans(),
)
def test_the_sweep_equals_every_size_by_itself(problem, sizes, cells, corpus):
    arrays = problem.arrays
    weights = inverse_count_weights(np.arange(1, problem.n_words + 1)) if corpus else None
    with small_blocks(cells):
        got = window_sweep(arrays, sizes, weights)
    for column, size in enumerate(sizes):
        assert got[:, column].tolist() == sliding_window(arrays, size, weights).tolist()


@settings(max_examples=examples(25, 150))
@given(
    problem=problems(),
    sizes=st.sets(st.integers(1, 45), min_size=1).map(sorted),
    corpus=st.booleans(),
)
def test_the_sweep_equals_reference(problem, sizes, corpus):
    weights = inverse_count_weights(np.arange(1, problem.n_words + 1)) if corpus else None
    counts = (lambda word: word + 1) if corpus else None
    expected = [reference.window_sweep(*texts, sizes, counts) for texts in problem.texts]
    assert window_sweep(problem.arrays, sizes, weights).tolist() == expected
    for texts, windows in zip(problem.texts, expected, strict=True):
        assert windows == [reference.sliding_window(*texts, size, counts) for size in sizes]


@pytest.mark.parametrize("sizes", [[], [0, 1], [3, 3]])
def test_unusable_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match=re.escape(str(sizes))):
        window_sweep(Problem(1, [[0]], [], []).arrays, sizes)


def test_corpus_weights_of_a_frequent_word_do_not_overflow():
    # 200 tokens that the corpus counts as 1 each weigh 200 ln 2
    weights = inverse_count_weights(np.array([1]))
    passage = [0] * 200
    arrays = Problem(1, [passage], [(0, [0])], [(0, [])]).arrays
    expected = reference.sliding_window(passage, [0], [], 150, lambda word: 1)
    assert expected > 2**31
    assert sliding_window(arrays, 150, weights).tolist() == [expected]
    assert window_sweep(arrays, [2, 150], weights)[0, 1] == expected


def test_a_window_of_many_distinct_words_does_not_overflow():
    # 1,000 words that each stand once weigh 1,000 ln 2, far beyond an int32 of scale 2**26.
    words = list(range(1000))
    arrays = Problem(1000, [words], [(0, words[:600])], [(0, words[600:])]).arrays
    expected = reference.sliding_window(words, words[:600], words[600:])
    assert expected > 2**31
    assert sliding_window(arrays).tolist() == [expected]
