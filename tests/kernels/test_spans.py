"""Every span of a passage as a candidate, and the context of spans, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import inverse_count_weights, reference, score_spans
from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.spans import span_overlap
from tests.kernels.builders import problems

WORDS = st.integers(0, 7)


def plain_scores(passage, question, max_tokens, counts=None):
    scores = []
    for start in range(len(passage)):
        spans = [passage[start : start + size] for size in range(1, max_tokens + 1)]
        spans = spans[: len(passage) - start]
        row = [reference.sliding_window(passage, question, s, "set", counts) for s in spans]
        scores.append(row + [-1] * (max_tokens - len(row)))
    return scores


@given(
    passage=st.lists(WORDS, max_size=25),
    question=st.lists(WORDS, max_size=5),
    max_tokens=st.integers(1, 30),
    cells=st.sampled_from([1, 60, 2**18]),
    corpus=st.booleans(),
)
def test_every_span_equals_reference(passage, question, max_tokens, cells, corpus):
    weights, counts = None, None
    if corpus:
        weights, counts = inverse_count_weights(np.arange(1, 9)), lambda word: word + 1
    texts = [np.array(text, dtype=np.int32) for text in (passage, question)]
    with small_blocks(cells):
        got = score_spans(*texts, max_tokens, weights)
    assert got.shape == (len(passage), max_tokens)
    assert got.tolist() == plain_scores(passage, question, max_tokens, counts)


def test_long_spans_of_distinct_words_do_not_overflow():
    passage = list(range(60))
    got = score_spans(np.array(passage, dtype=np.int32), np.array([], dtype=np.int32), 60)
    assert got[0, -1] > 2**31
    assert got[0, -1] == reference.sliding_window(passage, [], passage)


@given(problems(n_words=6, passage=12, question=12), st.data())
def test_overlap_equals_reference(problem, data):
    spans = []
    for passage, _, _ in problem.texts:
        places = st.integers(0, len(passage))
        spans.append(sorted((data.draw(places), data.draw(places))))
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    expected = []
    for (passage, question, _), (first, last) in zip(problem.texts, spans, strict=True):
        expected.append(reference.span_overlap(passage, question, first, last))
    assert span_overlap(problem.arrays, *bounds).tolist() == expected
