"""The lexical matcher's kernels against their plain-Python reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels import TokenArrays, window_sweep
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.lexical import (
    bag_of_words,
    best_sentences,
    occurrence_distance,
    token_counts,
    without_questions,
)
from classic_rc.kernels.reference import lexical as reference_lexical

WORDS = st.integers(0, 6)
TEXT = st.lists(WORDS, max_size=5)


@st.composite
def problems(draw):
    """Passages, questions about them and candidates, as lists of small numbers."""
    passages = draw(st.lists(st.lists(WORDS, max_size=40), min_size=1, max_size=3))
    questions, candidates = [], []
    for passage in range(len(passages)):
        for _ in range(draw(st.integers(0, 2))):
            questions.append((passage, draw(TEXT)))
            candidates += [(len(questions) - 1, text) for text in draw(st.lists(TEXT, max_size=4))]
    return passages, questions, candidates


def arrays_of(passages, questions, candidates):
    def ragged(rows):
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        return np.array([token for row in rows for token in row], dtype=np.int32), offsets_of(lengths)

    return TokenArrays(
        *ragged(passages),
        *ragged([text for _, text in questions]),
        *ragged([text for _, text in candidates]),
        np.array([passage for passage, _ in questions], dtype=np.int64),
        np.array([question for question, _ in candidates], dtype=np.int64),
        7,
    )


def each(passages, questions, candidates):
    """For each candidate the number of its passage, the passage, the question and itself."""
    for question, candidate in candidates:
        passage, asked = questions[question]
        yield passage, passages[passage], asked, candidate


@settings(max_examples=150)
@given(problem=problems(), last=st.booleans(), widths=st.sampled_from([[1], [1, 2], range(2, 30), [3, 39, 40, 41]]))
def test_all_window_widths(problem, last, widths):
    got = window_sweep(arrays_of(*problem), widths, smoothing=1, last_window=last).sum(axis=1)
    assert got.tolist() == [
        reference_lexical.window_sum(*texts, widths, last_window=last) for _, *texts in each(*problem)
    ]


@settings(max_examples=150)
@given(problem=problems(), data=st.data())
def test_sums_over_passages_and_sentences(problem, data):
    passages = problem[0]
    weights = [data.draw(st.lists(st.integers(0, 2**26), min_size=len(p), max_size=len(p))) for p in passages]
    sentences = [sorted(data.draw(st.lists(st.integers(0, 9), min_size=len(p), max_size=len(p)))) for p in passages]
    arrays = arrays_of(*problem)
    token_weights = np.array([w for own in weights for w in own], dtype=np.int32)
    token_sentences = np.array([s for own in sentences for s in own], dtype=np.int64)
    assert bag_of_words(arrays, token_weights).tolist() == [
        reference_lexical.bag_of_words(*texts, weights[p]) for p, *texts in each(*problem)
    ]
    for n_best in (1, 2, 20):
        assert best_sentences(arrays, token_weights, token_sentences, n_best).tolist() == [
            reference_lexical.best_sentences(*texts, weights[p], sentences[p], n_best)
            for p, *texts in each(*problem)
        ]


@settings(max_examples=150)
@given(problem=problems())
def test_distance_by_occurrences(problem):
    distances, found = occurrence_distance(arrays_of(*problem))
    expected = [reference_lexical.occurrence_distance(*texts) for _, *texts in each(*problem)]
    assert distances.tolist() == expected
    has_both = [bool({*p} & {*q}) and bool({*p} & {*c}) for _, p, q, c in each(*problem)]
    assert found.tolist() == has_both


@given(problem=problems())
def test_counts_and_texts_without_questions(problem):
    arrays = arrays_of(*problem)
    assert token_counts(arrays).tolist() == [p.count(token) for p in problem[0] for token in p]
    ones = np.ones(len(arrays.passage_tokens), dtype=np.int32)
    own = bag_of_words(without_questions(arrays), ones)
    assert own.tolist() == [sum(token in c for token in p) for _, p, _, c in each(*problem)]


def test_weights_are_smoothed():
    assert [w / 2**26 for w in reference_lexical.smoothed_weights("aab")] == [
        round(2**26 * value) / 2**26 for value in (np.log(4 / 3), np.log(4 / 3), np.log(3 / 2))
    ]
