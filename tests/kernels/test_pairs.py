"""Shared and paired words in bulk, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.pairs import occurrences, pair_blocks, word_counts, word_pairs
from tests.kernels.builders import problems, ragged

N_WORDS = 6
TEXTS = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=8), min_size=1, max_size=6)


def counted(texts: list[list[int]]):
    return word_counts(*ragged(texts), N_WORDS)


@given(texts=TEXTS)
def test_each_distinct_word_of_a_text_is_counted_once(texts):
    counts = counted(texts)
    counted_words = list(
        zip(counts.texts.tolist(), counts.words.tolist(), counts.counts.tolist(), strict=True)
    )
    assert counted_words == [
        (i, word, n) for i, text in enumerate(texts) for word, n in sorted(Counter(text).items())
    ]
    assert np.diff(counts.offsets).tolist() == [len(set(text)) for text in texts]


@given(texts=TEXTS, data=st.data())
def test_occurrences_are_those_of_the_text_that_is_asked_for(texts, data):
    queries = data.draw(
        st.lists(st.tuples(st.integers(0, len(texts) - 1), st.integers(0, N_WORDS - 1)))
    )
    of_text, word = (
        (np.array(column, dtype=np.int64) for column in zip(*queries, strict=True))
        if queries
        else ([], [])
    )
    occurrences_found = occurrences(
        counted(texts), np.array(of_text, dtype=np.int64), np.array(word, dtype=np.int64)
    )
    assert occurrences_found.tolist() == [texts[i].count(w) for i, w in queries]


@given(texts=TEXTS, others=TEXTS, data=st.data())
def test_pairs_are_all_pairs_of_distinct_words(texts, others, data):
    other_of = [data.draw(st.integers(0, len(others) - 1)) for _ in texts]
    pairs = list(zip(*word_pairs(counted(texts), counted(others), np.array(other_of)), strict=True))
    expected = [
        (i, word, other_word)
        for i, text in enumerate(texts)
        for word in sorted(set(text))
        for other_word in sorted(set(others[other_of[i]]))
    ]
    assert pairs == expected


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
