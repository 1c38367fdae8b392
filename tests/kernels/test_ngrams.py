"""N-grams and subsequences against their plain-Python reference."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from classic_rc.kernels import reference
from classic_rc.kernels.arrays import passage_postings, small_blocks
from classic_rc.kernels.ngrams import Texts, common_subsequences, longest_found, ngram_counts
from classic_rc.kernels.word_sets import share
from tests.kernels.builders import lists_of, problems, ragged, tuples


def counts_of_candidates(problem, weights):
    arrays = problem.arrays
    passages = arrays.question_passage[arrays.candidate_question]
    texts = Texts(arrays.candidate_tokens, arrays.candidate_offsets, passages)
    return ngram_counts(arrays, passage_postings(arrays), texts, np.array(weights), 5)


@given(problem=problems(n_words=5, candidate=8), data=st.data())
def test_ngrams_of_candidates_have_the_shares_of_the_reference(problem, data):
    weights = data.draw(lists_of(st.integers(0, 2**24), problem.n_words))
    counts = counts_of_candidates(problem, weights)
    assert len(counts) == 5
    for n, ngrams in enumerate(counts, 1):
        shares = share(ngrams.found_weight, ngrams.weight)
        weigh = partial(reference.ngrams.ngram_share, n=n, weight=weights.__getitem__)
        expected = [weigh(passage, candidate) for passage, _, candidate in problem.texts]
        assert tuples((shares, ngrams.found)) == expected


@given(problem=problems(n_words=5, candidate=8))
def test_the_longest_ngram_of_a_candidate_is_its_longest_run(problem):
    counts = counts_of_candidates(problem, [1] * problem.n_words)
    runs = [reference.longest_run(passage, candidate) for passage, _, candidate in problem.texts]
    assert longest_found(counts).tolist() == [min(run, 5) for run in runs]


WORDS = st.integers(0, 4)
PAIRS = st.lists(st.tuples(st.lists(WORDS, max_size=25), st.lists(WORDS, max_size=15)), max_size=12)
_rng = random.Random(0)
LONG_TEXTS = tuple(_rng.choices(range(5), k=length) for length in (700, 300))


@given(PAIRS, st.integers(1, 99))
@example([LONG_TEXTS], 2**18)
def test_common_subsequences_have_the_length_of_the_reference(pairs, cells):
    tokens, offsets = ragged([first for first, _ in pairs])
    others, other_offsets = ragged([second for _, second in pairs])
    counts = np.diff(other_offsets)
    with small_blocks(cells):
        lengths = common_subsequences(tokens, offsets, others, other_offsets[:-1], counts)
    assert lengths.tolist() == [reference.ngrams.common_subsequence(*pair) for pair in pairs]
