"""The fast kernels against their plain-Python reference, down to the bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels import (
    TokenArrays,
    inverse_count_weights,
    phrase_counts,
    reference,
    sliding_window,
    window_and_distance,
    window_sweep,
    word_distance,
)
from classic_rc.kernels.arrays import offsets_of

RULES = ("mean", "min", "min+1", "first")


def ragged(rows):
    return np.array([t for row in rows for t in row], dtype=np.int32), offsets_of(
        np.array([len(row) for row in rows], dtype=np.int64)
    )


@st.composite
def problems(draw):
    """Passages with questions with candidates, as lists of small ints, and a set of stop words."""
    n_words = draw(st.integers(1, 8))
    words = st.integers(0, n_words - 1)
    text = st.lists(words, max_size=5)
    passages = draw(st.lists(st.lists(words, max_size=40), min_size=1, max_size=4))
    questions, candidates = [], []
    for passage in range(len(passages)):
        for _ in range(draw(st.integers(0, 2))):
            questions.append((passage, draw(text)))
            candidates += [(len(questions) - 1, c) for c in draw(st.lists(text, max_size=4))]
    return n_words, passages, questions, candidates, draw(st.sets(words))


def arrays_of(n_words, passages, questions, candidates):
    return TokenArrays(
        *ragged(passages),
        *ragged([q for _, q in questions]),
        *ragged([c for _, c in candidates]),
        np.array([p for p, _ in questions], dtype=np.int64),
        np.array([q for q, _ in candidates], dtype=np.int64),
        n_words,
    )


def each(passages, questions, candidates):
    for q, candidate in candidates:
        p, question = questions[q]
        yield passages[p], question, candidate


@settings(max_examples=300)
@given(
    problem=problems(),
    window=st.sampled_from(["set", "passage", 1, 2, 7, 100]),
    cells=st.sampled_from([1, 30, 2**20]),
)
def test_sliding_window_equals_reference(problem, window, cells):
    n_words, passages, questions, candidates, _ = problem
    got = sliding_window(arrays_of(n_words, passages, questions, candidates), window, cells=cells)
    assert got.tolist() == [
        reference.sliding_window(*texts, window) for texts in each(passages, questions, candidates)
    ]


@settings(max_examples=100)
@given(problem=problems(), counts=st.lists(st.integers(1, 10**6), min_size=8, max_size=8))
def test_sliding_window_takes_corpus_counts(problem, counts):
    n_words, passages, questions, candidates, _ = problem
    weights = inverse_count_weights(np.array(counts[:n_words]))
    got = sliding_window(arrays_of(n_words, passages, questions, candidates), "set", weights)
    expected = [
        reference.sliding_window(*texts, "set", counts.__getitem__)
        for texts in each(passages, questions, candidates)
    ]
    assert got.tolist() == expected


@settings(max_examples=150)
@given(
    problem=problems(),
    sizes=st.sets(st.integers(1, 35), min_size=1).map(sorted),
    cells=st.sampled_from([1, 100, 2**20]),
    corpus=st.booleans(),
)
def test_the_sweep_equals_every_size_by_itself(problem, sizes, cells, corpus):
    n_words, passages, questions, candidates, _ = problem
    arrays = arrays_of(n_words, passages, questions, candidates)
    weights = inverse_count_weights(np.arange(1, n_words + 1)) if corpus else None
    got = window_sweep(arrays, sizes, weights, cells)
    for column, size in enumerate(sizes):
        assert got[:, column].tolist() == sliding_window(arrays, size, weights).tolist()


@pytest.mark.parametrize("sizes", [[], [0, 1], [3, 3]])
def test_unusable_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="at least 1 and rise"):
        window_sweep(arrays_of(1, [[0]], [], []), sizes)


def test_corpus_weights_of_a_frequent_word_do_not_overflow():
    # 200 tokens that the corpus counts as 1 each weigh 200 ln 2
    weights = inverse_count_weights(np.array([1]))
    arrays = arrays_of(1, [[0] * 200], [(0, [0])], [(0, [])])
    expected = reference.sliding_window([0] * 200, [0], [], 150, lambda word: 1)
    assert expected > 2**31
    assert sliding_window(arrays, 150, weights).tolist() == [expected]
    assert window_sweep(arrays, [2, 150], weights)[0, 1] == expected


@settings(max_examples=300)
@given(problem=problems(), rule=st.sampled_from(RULES))
def test_word_distance_equals_reference(problem, rule):
    n_words, passages, questions, candidates, stop = problem
    flags = np.array([w in stop for w in range(n_words)])
    got, found = word_distance(arrays_of(n_words, passages, questions, candidates), flags, rule)
    expected = [reference.word_distance(*texts, stop, rule) for texts in each(passages, questions, candidates)]
    assert got.tolist() == expected
    assert (got[~found] == 1).all()


@pytest.mark.parametrize("rule", RULES)
def test_many_candidates_of_one_question_equal_reference(rule):
    rng = np.random.default_rng(1)
    passage = rng.integers(0, 30, 200).tolist()
    questions = [(0, rng.integers(0, 40, size).tolist()) for size in (7, 3, 5)]
    candidates = [
        (q, rng.integers(0, 40, rng.integers(0, 5)).tolist()) for q, n in enumerate((300, 4, 900)) for _ in range(n)
    ]
    flags = np.arange(40) % 5 == 0
    stop = set(np.flatnonzero(flags).tolist())
    windows, distances, _ = window_and_distance(arrays_of(40, [passage], questions, candidates), flags, rule=rule)
    texts = list(each([passage], questions, candidates))
    assert windows.tolist() == [reference.sliding_window(*t) for t in texts]
    assert distances.tolist() == [reference.word_distance(*t, stop, rule) for t in texts]


@settings(max_examples=200)
@given(problem=problems())
def test_phrase_counts_equal_reference(problem):
    n_words, passages, questions, candidates, _ = problem
    got = phrase_counts(arrays_of(n_words, passages, questions, candidates))
    expected = [reference.phrase_count(passage, c) for passage, _, c in each(passages, questions, candidates)]
    assert got.tolist() == expected


@settings(max_examples=100)
@given(problem=problems(), rule=st.sampled_from(RULES), window=st.sampled_from(["set", 3]))
def test_both_at_once_are_each_by_itself(problem, rule, window):
    n_words, passages, questions, candidates, stop = problem
    flags = np.array([w in stop for w in range(n_words)])
    arrays = arrays_of(n_words, passages, questions, candidates)
    windows, distances, found = window_and_distance(arrays, flags, window=window, rule=rule)
    assert windows.tolist() == sliding_window(arrays, window).tolist()
    alone = word_distance(arrays, flags, rule)
    assert (distances.tolist(), found.tolist()) == (alone[0].tolist(), alone[1].tolist())


def test_a_window_of_many_distinct_words_does_not_overflow():
    # 1,000 words that each stand once weigh 1,000 ln 2, far beyond an int32 of scale 2**26.
    words = list(range(1000))
    arrays = arrays_of(1000, [words], [(0, words[:600])], [(0, words[600:])])
    expected = reference.sliding_window(words, words[:600], words[600:])
    assert expected > 2**31
    assert sliding_window(arrays).tolist() == [expected]


def test_blocks_cover_every_candidate_once(monkeypatch):
    rng = np.random.default_rng(0)
    passages = [rng.integers(0, 20, rng.integers(0, 60)).tolist() for _ in range(40)]
    questions = [(p, rng.integers(0, 20, 6).tolist()) for p in range(40) for _ in range(2)]
    candidates = [(q, rng.integers(0, 20, 3).tolist()) for q in range(80) for _ in range(4)]
    arrays = arrays_of(20, passages, questions, candidates)
    whole = sliding_window(arrays), word_distance(arrays, np.zeros(20, dtype=bool))[0], phrase_counts(arrays)
    for module in ("postings", "cloze"):
        monkeypatch.setattr(f"classic_rc.kernels.{module}.BLOCK_TOKENS", 50)
    monkeypatch.setattr("classic_rc.kernels.distance._CHUNK_ROWS", 3)
    parts = sliding_window(arrays), word_distance(arrays, np.zeros(20, dtype=bool))[0], phrase_counts(arrays)
    for one, other in zip(whole, parts, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("passage", "question", "candidate", "expected"),
    [
        # question word at 1, candidate's words at 3 and 6: |1 - 3| / (1 * 6)
        ("a q b c d e c", "q", "c", 2 / 6),
        # two question words, 2 and 1 away: (2 + 1) / (2 * 6)
        ("a q b c r e f", "q r", "c", 3 / 12),
        # no candidate's word in the passage
        ("a q b", "q", "z", 1.0),
        # a candidate's word that is in the question does not count
        ("a q b", "q", "q", 1.0),
    ],
)
def test_the_mean_distance_by_hand(passage, question, candidate, expected):
    assert reference.word_distance(passage.split(), question.split(), candidate.split()) == expected


def test_the_first_distance_keeps_its_bug():
    # both have been seen at position 2 for the first time, 2 after the last question word; the later
    # pair next to each other does not count any more
    passage = "q x a x x q a".split()
    assert reference.word_distance(passage, ["q"], ["a"], rule="first") == 2 / 6
    assert reference.word_distance(passage, ["q"], ["a"], rule="min") == 1 / 6
