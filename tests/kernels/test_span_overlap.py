"""Question words and bigrams around spans, against the plain-Python reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import TokenArrays
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.reference import spans as reference_spans
from classic_rc.kernels.spans import span_overlap

TEXT = st.lists(st.integers(0, 5), max_size=12)


@st.composite
def asked_sentences(draw):
    """Sentences, each with questions, each with spans of the sentence."""
    spans = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)
    return draw(
        st.lists(st.tuples(TEXT, st.lists(st.tuples(TEXT, st.lists(spans, max_size=4)), max_size=3)), max_size=3)
    )


def ragged(texts):
    flat = [token for text in texts for token in text]
    return np.array(flat, dtype=np.int32), offsets_of(np.array(list(map(len, texts)), dtype=np.int64))


@given(asked_sentences())
def test_overlap_equals_reference(asked):
    sentences = [sentence for sentence, _ in asked]
    questions = [(s, question, spans) for s, (_, own) in enumerate(asked) for question, spans in own]
    cases = [
        (q, min(first, len(sentences[s])), min(last, len(sentences[s])))
        for q, (s, _, spans) in enumerate(questions)
        for first, last in spans
    ]
    expected = [
        reference_spans.span_overlap(sentences[questions[q][0]], questions[q][1], first, last)
        for q, first, last in cases
    ]
    candidates = [sentences[questions[q][0]][first:last] for q, first, last in cases]
    arrays = TokenArrays(
        *ragged(sentences),
        *ragged([question for _, question, _ in questions]),
        *ragged(candidates),
        np.array([s for s, _, _ in questions], dtype=np.int64),
        np.array([q for q, _, _ in cases], dtype=np.int64),
        6,
    )
    first, last = (np.array([case[i] for case in cases], dtype=np.int64) for i in (1, 2))
    assert span_overlap(arrays, first, last).tolist() == expected
