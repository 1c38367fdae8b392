"""Shared and paired words in bulk, against plain Python."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.pairs import occurrences, pair_blocks, word_counts, word_pairs
from tests.kernels.builders import problems, ragged, tuples

N_WORDS = 6
TEXTS = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=8), min_size=1, max_size=6)


def counted(texts: list[list[int]]):
    return word_counts(*ragged(texts), N_WORDS)


@given(texts=TEXTS)
def test_each_distinct_word_of_a_text_is_counted_once(texts):
    counts = counted(texts)
    expected = []
    for i, text in enumerate(texts):
        expected += [(i, word, n) for word, n in sorted(Counter(text).items())]
    assert tuples((counts.texts, counts.words, counts.counts)) == expected
    assert np.diff(counts.offsets).tolist() == [len(set(text)) for text in texts]


@given(texts=TEXTS, data=st.data())
def test_occurrences_are_those_of_the_text_that_is_asked_for(texts, data):
    text_numbers, words = st.integers(0, len(texts) - 1), st.integers(0, N_WORDS - 1)
    queries = data.draw(st.lists(st.tuples(text_numbers, words)))
    columns = np.array(queries, dtype=np.int64).reshape(-1, 2).T
    expected = [texts[i].count(word) for i, word in queries]
    assert occurrences(counted(texts), *columns).tolist() == expected


@given(texts=TEXTS, others=TEXTS, data=st.data())
def test_pairs_are_all_pairs_of_distinct_words(texts, others, data):
    other_of = [data.draw(st.integers(0, len(others) - 1)) for _ in texts]
    pairs = word_pairs(counted(texts), counted(others), np.array(other_of))
    expected = []
    for i, text in enumerate(texts):
        words, other_words = sorted(set(text)), sorted(set(others[other_of[i]]))
        expected += itertools.product([i], words, other_words)
    assert tuples(pairs) == expected


@given(problem=problems(), tokens=st.integers(1, 80), pairs=st.integers(1, 60))
def test_blocks_have_all_candidates_once_and_few_pairs(problem, tokens, pairs):
    arrays = problem.arrays
    n_candidates = np.diff(arrays.candidate_offsets)
    of_question = np.diff(arrays.question_offsets)[arrays.candidate_question]
    stop = 0
    for where, block in pair_blocks(arrays, tokens, pairs):
        assert where.start == stop < where.stop
        stop = where.stop
        assert len(block.candidate_question) == where.stop - where.start
        assert (np.diff(block.candidate_offsets) == n_candidates[where]).all()
        load = np.maximum(n_candidates[where] * of_question[where], 16)
        assert load[:-1].sum() < pairs
    assert stop == len(n_candidates)
