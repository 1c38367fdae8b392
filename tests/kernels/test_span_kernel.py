"""Every span of a passage as a candidate, against the plain-Python reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import inverse_count_weights, reference, score_spans

WORDS = st.integers(0, 7)


def expected(passage, question, max_tokens, counts=None):
    return [
        [
            reference.sliding_window(passage, question, passage[i : i + k + 1], "set", counts)
            if i + k < len(passage)
            else -1
            for k in range(max_tokens)
        ]
        for i in range(len(passage))
    ]


@given(
    passage=st.lists(WORDS, max_size=25),
    question=st.lists(WORDS, max_size=5),
    max_tokens=st.integers(1, 30),
    cells=st.sampled_from([1, 60, 2**18]),
    corpus=st.booleans(),
)
def test_every_span_equals_reference(passage, question, max_tokens, cells, corpus):
    weights = inverse_count_weights(np.arange(1, 9)) if corpus else None
    tokens, asked = np.array(passage, dtype=np.int32), np.array(question, dtype=np.int32)
    got = score_spans(tokens, asked, max_tokens, weights, cells)
    assert got.shape == (len(passage), max_tokens)
    assert got.tolist() == expected(passage, question, max_tokens, (lambda w: w + 1) if corpus else None)


def test_long_spans_of_distinct_words_do_not_overflow():
    passage = list(range(60))
    got = score_spans(np.array(passage, dtype=np.int32), np.array([], dtype=np.int32), 60)
    assert got[0, -1] > 2**31
    assert got[0, -1] == reference.sliding_window(passage, [], passage)
