"""Regions, distances and contrasts of word sets against their plain-Python reference, in chunks
of any size.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import reference
from classic_rc.kernels.arrays import matched_blocks, passage_postings, small_blocks
from classic_rc.kernels.pairs import mean_jaccard, words_of_others
from classic_rc.kernels.regions import proximity, word_regions
from classic_rc.kernels.window import pair_windows
from classic_rc.kernels.word_sets import content_words
from tests.kernels.builders import Problem, flags_of, problems_with_stop_words


def whole_block(problem):
    """The arrays as one block."""
    return next(matched_blocks(problem.arrays, whole_questions=True))


def plain_sets(problem, stop):
    """For each candidate the passage and the sets Q, A and N."""
    for passage, question, candidate in problem.texts:
        q, a = (reference.evidence.content_set(text, stop) for text in (question, candidate))
        yield passage, q, a, reference.evidence.new_words(a, q)


@given(problems_with_stop_words())
def test_sets_of_words(drawn):
    problem, stop = drawn
    if not problem.candidates:
        return
    block = whole_block(problem)
    words = content_words(block, flags_of(problem.n_words, stop), np.arange(problem.n_words) + 1)

    def lists(sets, selection=slice(None)):
        word_lists = [[] for _ in range(len(sets.offsets) - 1)]
        for text, word in zip(
            sets.texts[selection].tolist(), sets.words[selection].tolist(), strict=True
        ):
            word_lists[text].append(word)
        return word_lists

    expected = list(plain_sets(problem, stop))
    assert lists(words.candidates) == [sorted(a) for _, _, a, _ in expected]
    assert lists(words.new) == [sorted(n) for _, _, _, n in expected]
    assert lists(words.candidates, words.shared) == [sorted(a & q) for _, q, a, _ in expected]
    assert lists(words.new, words.new.matched) == [sorted(n & {*p}) for p, _, _, n in expected]
    questions = lists(words.questions)
    assert [questions[q] for q in block.arrays.candidate_question.tolist()] == [
        sorted(q) for _, q, _, _ in expected
    ]
    assert words.new.totals().tolist() == [sum(word + 1 for word in n) for _, _, _, n in expected]


@given(problems_with_stop_words(), st.integers(1, 5), st.data())
def test_regions_of_words(drawn, size, data):
    problem, _ = drawn
    arrays, postings = problem.arrays, passage_postings(problem.arrays)
    sentences = [
        sorted(data.draw(st.lists(st.integers(0, 6), min_size=len(p), max_size=len(p))))
        for p in problem.passages
    ]
    got = word_regions(
        arrays,
        postings,
        np.array([s for passage_sentences in sentences for s in passage_sentences], dtype=np.int64),
        size,
    )
    for run, key in enumerate(postings.keys.tolist()):
        passage, word = divmod(key, arrays.n_words)
        passage_sentences = [
            s
            for s, token in zip(sentences[passage], problem.passages[passage], strict=True)
            if token == word
        ]
        expected = [
            start for start in range(7) if any(start <= s < start + size for s in passage_sentences)
        ]
        assert got.regions[got.offsets[run] : got.offsets[run + 1]].tolist() == expected


@given(problems_with_stop_words(), st.integers(1, 60), st.data())
def test_distances(drawn, places, data):
    problem, stop = drawn
    if not problem.candidates:
        return
    weights = data.draw(
        st.lists(st.integers(1, 2**24), min_size=problem.n_words, max_size=problem.n_words)
    )
    block = whole_block(problem)
    words = content_words(block, flags_of(problem.n_words, stop), np.array(weights))
    with small_blocks(places):
        got = proximity(block, words.questions, words.new)
    expected = [
        reference.proximity.proximity(passage, q, n, weights.__getitem__)
        for passage, q, _, n in plain_sets(problem, stop)
    ]
    assert np.transpose(got).tolist() == [list(map(float, row)) for row in expected]


@given(problems_with_stop_words(), st.integers(1, 30))
def test_contrasts(drawn, pairs):
    problem, stop = drawn
    if not problem.candidates:
        return
    block = whole_block(problem)
    words = content_words(
        block, flags_of(problem.n_words, stop), np.ones(problem.n_words, dtype=np.int64)
    )
    question = block.arrays.candidate_question
    sets = [a for _, _, a, _ in plain_sets(problem, stop)]
    others = [
        [sets[j] for j in np.flatnonzero(question == question[i]).tolist() if j != i]
        for i in range(len(sets))
    ]
    with small_blocks(pairs):
        got = mean_jaccard(words.candidates, question, problem.n_words)
    assert got.tolist() == [
        reference.evidence.mean_jaccard(*set_pair) for set_pair in zip(sets, others, strict=True)
    ]
    shared = words_of_others(words.candidates, question, problem.n_words)
    assert shared.tolist() == [
        any(word in other_set for other_set in others[i])
        for i in range(len(sets))
        for word in sorted(sets[i])
    ]


def test_turns_without_a_named_speaker():
    assert reference.evidence.turns_of([0, 1], [0, 1], -1) == ([], [], [])


@pytest.mark.parametrize("stop", [set(), {0}, {0, 1}])
def test_new_words_are_all_words_if_the_question_has_them_all(stop):
    q = reference.evidence.content_set([0, 1], stop)
    assert reference.evidence.new_words(q, q) == q


@given(problems_with_stop_words(), st.integers(1, 200))
def test_windows_of_pairs(drawn, cells):
    problem, stop = drawn
    if not problem.candidates:
        return
    block = whole_block(problem)
    words = content_words(
        block, flags_of(problem.n_words, stop), np.ones(problem.n_words, dtype=np.int64)
    )
    sizes = [1, 3, 10, 45]
    with small_blocks(cells):
        got = pair_windows(block, words.questions.matches(), words.new.matches(), sizes, sizes)
    expected = [
        [reference.proximity.pair_window(p, q, n, size) for size in sizes]
        for p, q, _, n in plain_sets(problem, stop)
    ]
    assert np.stack((got.product, got.least), axis=2).tolist() == [
        [list(pair) for pair in row] for row in expected
    ]
    assert got.both.tolist() == [
        [reference.sliding_window(p, list(q), list(n), size) for size in sizes]
        for p, q, _, n in plain_sets(problem, stop)
    ]


def test_a_window_of_pairs_of_many_distinct_words_does_not_overflow():
    words = list(range(1000))
    problem = Problem(1000, [words], [(0, words[:500])], [(0, words[500:])])
    block = whole_block(problem)
    sets = content_words(block, np.zeros(1000, dtype=np.bool_), np.ones(1000, dtype=np.int64))
    got = pair_windows(block, sets.questions.matches(), sets.new.matches(), [900], [900])
    product, shortest = reference.proximity.pair_window(
        words, set(words[:500]), set(words[500:]), 900
    )
    window_sum = reference.sliding_window(words, words[:500], words[500:], 900)
    assert (got.product.tolist(), got.least.tolist(), got.both.tolist()) == (
        [[product]],
        [[shortest]],
        [[window_sum]],
    )
    assert shortest > 2**31
