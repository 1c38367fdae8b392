"""Every span of a passage as a candidate, and the context of spans, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import inverse_count_weights, reference, score_spans
from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.spans import span_overlap
from tests.kernels.builders import Problem

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
    tokens, question_tokens = np.array(passage, dtype=np.int32), np.array(question, dtype=np.int32)
    with small_blocks(cells):
        got = score_spans(tokens, question_tokens, max_tokens, weights)
    assert got.shape == (len(passage), max_tokens)
    assert got.tolist() == expected(
        passage, question, max_tokens, (lambda w: w + 1) if corpus else None
    )


def test_long_spans_of_distinct_words_do_not_overflow():
    passage = list(range(60))
    got = score_spans(np.array(passage, dtype=np.int32), np.array([], dtype=np.int32), 60)
    assert got[0, -1] > 2**31
    assert got[0, -1] == reference.sliding_window(passage, [], passage)


TEXT = st.lists(st.integers(0, 5), max_size=12)


@st.composite
def sentences_with_questions(draw):
    """Sentences, each with questions, each with spans of the sentence."""
    spans = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)
    return draw(
        st.lists(
            st.tuples(TEXT, st.lists(st.tuples(TEXT, st.lists(spans, max_size=4)), max_size=3)),
            max_size=3,
        )
    )


@given(sentences_with_questions())
def test_overlap_equals_reference(drawn):
    sentences = [sentence for sentence, _ in drawn]
    questions = [
        (s, question, spans)
        for s, (_, passage_questions) in enumerate(drawn)
        for question, spans in passage_questions
    ]
    cases = [
        (q, min(first, len(sentences[s])), min(last, len(sentences[s])))
        for q, (s, _, spans) in enumerate(questions)
        for first, last in spans
    ]
    expected = [
        reference.span_overlap(sentences[questions[q][0]], questions[q][1], first, last)
        for q, first, last in cases
    ]
    candidates = [(q, sentences[questions[q][0]][first:last]) for q, first, last in cases]
    problem = Problem(6, sentences, [(s, question) for s, question, _ in questions], candidates)
    first, last = (np.array([case[i] for case in cases], dtype=np.int64) for i in (1, 2))
    assert span_overlap(problem.arrays, first, last).tolist() == expected
