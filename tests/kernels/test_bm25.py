"""BM25 and TF-IDF as Lucene scores them, against plain Python, down to the bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import bm25, reference, tfidf
from classic_rc.kernels.bm25 import byte4_lengths
from classic_rc.kernels.tfidf import byte315_norms


def test_lengths_come_back_from_a_byte_as_in_the_reference():
    powers = 2 ** np.arange(12, 31)
    lengths = np.concatenate([np.arange(3000), powers, powers - 1])
    expected = [reference.bm25.remembered_length(n) for n in lengths.tolist()]
    assert byte4_lengths(lengths).tolist() == expected


def test_lengths_above_40_come_back_in_steps_of_2_of_4_and_so_on_as_in_smallfloat():
    lengths = np.array([39, 40, 41, 42, 55, 56, 59, 60, 2**31 - 1])
    expected = [39, 40, 40, 42, 54, 56, 56, 60, 24 + (15 << 27)]
    assert byte4_lengths(lengths).tolist() == expected


def test_norms_come_back_from_a_byte_as_in_the_reference():
    lengths = np.arange(1, 5000)
    expected = [reference.tfidf.remembered_norm(n) for n in lengths.tolist()]
    assert tfidf.length_factors(lengths).tolist() == expected


def test_a_norm_that_is_too_small_for_its_byte_is_the_smallest_there_is():
    assert byte315_norms(np.array([1e-30], dtype=np.float32)) > 0


@given(n=st.integers(1, 10**9), share=st.floats(0, 1))
def test_idf_is_that_of_the_reference(n, share):
    frequency = int(n * share)
    numbers = np.array([n]), np.array([frequency])
    assert bm25.idf(*numbers).tolist() == [reference.bm25.idf(n, frequency)]
    assert tfidf.idf(*numbers).tolist() == [reference.tfidf.idf(n, frequency)]


@given(
    weight=st.floats(0, 100, width=32),
    count=st.integers(1, 10**5),
    length=st.integers(1, 10**5),
    mean=st.floats(1, 1000, width=32),
    k1=st.floats(0, 10),
    b=st.floats(0, 1),
)
def test_term_scores_are_those_of_the_reference(weight, count, length, mean, k1, b):
    mean = np.float32(mean)
    with np.errstate(divide="ignore"):
        expected = reference.bm25.term_score(np.float32(weight), count, length, mean, k1, b)
    factors = bm25.length_factors(np.array([length]), mean, k1, b)
    weights, counts = np.array([[weight], [count]], dtype=np.float32)
    assert bm25.term_scores(weights, counts, factors).tolist() == [expected]
