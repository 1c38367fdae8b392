"""N-grams and subsequences against their plain-Python reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import reference
from classic_rc.kernels.arrays import offsets_of, passage_postings, small_blocks
from classic_rc.kernels.ngrams import Texts, common_subsequences, longest_found, ngram_counts
from classic_rc.kernels.word_sets import share
from tests.kernels.builders import problems, ragged


@given(problem=problems(n_words=5, candidate=8), data=st.data())
def test_ngrams_of_candidates(problem, data):
    weights = np.array(
        data.draw(
            st.lists(st.integers(0, 2**24), min_size=problem.n_words, max_size=problem.n_words)
        )
    )
    arrays = problem.arrays
    passages = arrays.question_passage[arrays.candidate_question]
    texts = Texts(arrays.candidate_tokens, arrays.candidate_offsets, passages)
    counts = ngram_counts(arrays, passage_postings(arrays), texts, weights, 5)
    assert len(counts) == 5
    for n, ngrams in enumerate(counts, 1):
        shares = share(ngrams.found_weight, ngrams.weight)
        expected = [
            reference.ngrams.ngram_share(passage, candidate, n, weights.tolist().__getitem__)
            for passage, _, candidate in problem.texts
        ]
        assert list(zip(shares.tolist(), ngrams.found.tolist(), strict=True)) == expected
    runs = [
        min(reference.longest_run(passage, candidate), 5) for passage, _, candidate in problem.texts
    ]
    assert longest_found(counts).tolist() == runs


def texts_of(max_words, size):
    return st.lists(
        st.lists(st.integers(0, 4), max_size=size), min_size=max_words, max_size=max_words
    )


@given(
    st.integers(0, 12).flatmap(lambda n: st.tuples(texts_of(n, 25), texts_of(n, 15))),
    st.integers(1, 99),
)
def test_common_subsequences(sides, cells):
    (tokens, offsets), (others, other_offsets) = map(ragged, sides)
    with small_blocks(cells):
        got = common_subsequences(
            tokens, offsets, others, other_offsets[:-1], np.diff(other_offsets)
        )
    expected = [
        reference.ngrams.common_subsequence(first, second)
        for first, second in zip(*sides, strict=True)
    ]
    assert got.tolist() == expected


def test_a_subsequence_of_long_texts():
    rng = np.random.default_rng(0)
    first, second = (
        rng.integers(0, 5, 700).astype(np.int32),
        rng.integers(0, 5, 300).astype(np.int32),
    )
    got = common_subsequences(
        first, offsets_of(np.array([700])), second, np.array([0]), np.array([300])
    )
    assert got.tolist() == [reference.ngrams.common_subsequence(first.tolist(), second.tolist())]
