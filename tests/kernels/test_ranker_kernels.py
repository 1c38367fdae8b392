"""Regions, distances and contrasts of word sets against their plain-Python reference, in chunks
of any size.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from classic_rc.kernels import reference
from classic_rc.kernels.arrays import (
    MatchedBlock,
    matched_blocks,
    passage_postings,
    small_blocks,
)
from classic_rc.kernels.pairs import mean_jaccard, words_of_others
from classic_rc.kernels.regions import proximity, word_regions
from classic_rc.kernels.window import pair_windows
from classic_rc.kernels.word_sets import ContentWords, content_words
from tests.kernels.builders import (
    Problem,
    flags_of,
    lists_of,
    problems,
    problems_with_stop_words,
    ragged,
    tuples,
    unragged,
)


class WeightedProblem(NamedTuple):
    """A problem with at least one candidate, as one block."""

    weights: list  # of words
    block: MatchedBlock
    words: ContentWords
    plain_sets: list  # for each candidate the passage and the sets Q, A and N

    @classmethod
    def of(cls, problem, stop, weights):
        block = next(matched_blocks(problem.arrays, whole_questions=True))
        words = content_words(block, flags_of(problem.n_words, stop), np.array(weights))
        content_set = partial(reference.evidence.content_set, stop_words=stop)
        sets = []
        for passage, question, candidate in problem.texts:
            q, a = content_set(question), content_set(candidate)
            sets.append((passage, q, a, reference.evidence.new_words(a, q)))
        return cls(weights, block, words, sets)


@st.composite
def cases(draw):
    problem, stop = draw(problems_with_stop_words())
    assume(problem.candidates)
    return WeightedProblem.of(problem, stop, draw(lists_of(st.integers(1, 2**24), problem.n_words)))


def words_of(sets, selection=slice(None)):
    """The words of each text."""
    words = [[] for _ in range(len(sets.offsets) - 1)]
    for text, word in tuples((sets.texts[selection], sets.words[selection])):
        words[text].append(word)
    return words


@given(cases())
def test_content_words_are_the_sets_of_the_reference(case):
    words, (passages, q, a, n) = case.words, zip(*case.plain_sets, strict=True)
    questions = words_of(words.questions)
    assert [questions[i] for i in case.block.arrays.candidate_question] == [*map(sorted, q)]
    assert words_of(words.candidates) == [*map(sorted, a)]
    assert words_of(words.candidates, words.shared) == [*map(sorted, map(set.__and__, a, q))]
    assert words_of(words.new) == [*map(sorted, n)]
    matched = [sorted(new.intersection(p)) for new, p in zip(n, passages, strict=True)]
    assert words_of(words.new, words.new.matched) == matched
    totals = [sum(case.weights[word] for word in new) for new in n]
    assert words.new.totals().tolist() == totals


@given(problems(), st.integers(1, 5), st.data())
def test_a_word_is_in_the_regions_that_have_one_of_its_sentences(problem, size, data):
    arrays, postings = problem.arrays, passage_postings(problem.arrays)
    sentences = [
        sorted(data.draw(lists_of(st.integers(0, 6), len(passage)))) for passage in problem.passages
    ]
    token_sentences = ragged(sentences)[0].astype(np.int64)
    regions = unragged(*word_regions(arrays, postings, token_sentences, size)[::-1])
    for key, word_regions_found in zip(postings.keys.tolist(), regions, strict=True):
        passage, word = divmod(key, arrays.n_words)
        tokens = zip(problem.passages[passage], sentences[passage], strict=True)
        word_sentences = {sentence for token, sentence in tokens if token == word}
        windows = [range(start, start + size) for start in range(7)]
        expected = [w.start for w in windows if not word_sentences.isdisjoint(w)]
        assert word_regions_found == expected


@given(cases(), st.integers(1, 60))
def test_distances_are_those_of_the_reference(case, places):
    words = case.words
    with small_blocks(places):
        got = proximity(case.block, words.questions, words.new)
    measure = partial(reference.proximity.proximity, weight=case.weights.__getitem__)
    assert tuples(got) == [measure(passage, q, n) for passage, q, _, n in case.plain_sets]


def sets_of_others(case):
    """The words of each candidate, and the sets of the other candidates of its question."""
    sets = [a for _, _, a, _ in case.plain_sets]
    question = case.block.arrays.candidate_question
    for i, words in enumerate(sets):
        rows = np.flatnonzero(question == question[i]).tolist()
        yield words, [sets[j] for j in rows if j != i]


@given(cases(), st.integers(1, 30))
def test_similarities_of_candidates_are_those_of_the_reference(case, pairs):
    arrays = case.block.arrays
    with small_blocks(pairs):
        got = mean_jaccard(case.words.candidates, arrays.candidate_question, arrays.n_words)
    assert got.tolist() == [reference.evidence.mean_jaccard(*sets) for sets in sets_of_others(case)]


@given(cases())
def test_words_of_others_are_those_that_another_candidate_has(case):
    arrays = case.block.arrays
    shared = words_of_others(case.words.candidates, arrays.candidate_question, arrays.n_words)
    expected = []
    for words, others in sets_of_others(case):
        other_words = set().union(*others)
        expected += [word in other_words for word in sorted(words)]
    assert shared.tolist() == expected


def test_a_question_that_names_no_speaker_has_no_turns():
    assert reference.evidence.turns_of([0, 1], [0, 1], -1) == ([], [], [])


@pytest.mark.parametrize("stop", [set(), {0}, {0, 1}])
def test_new_words_are_all_words_if_the_question_has_them_all(stop):
    q = reference.evidence.content_set([0, 1], stop)
    assert reference.evidence.new_words(q, q) == q


def assert_windows_are_the_references(case, sizes):
    words = case.words
    sides = words.questions.matches(), words.new.matches()
    got = pair_windows(case.block, *sides, sizes, sizes)
    for row, (passage, q, _, n) in enumerate(case.plain_sets):
        for column, size in enumerate(sizes):
            pair = got.product[row, column], got.least[row, column]
            assert pair == reference.proximity.pair_window(passage, q, n, size)
            assert got.both[row, column] == reference.sliding_window(passage, [*q], [*n], size)
    return got


@given(cases(), st.integers(1, 200))
def test_windows_of_pairs_are_those_of_the_reference(case, cells):
    with small_blocks(cells):
        assert_windows_are_the_references(case, [1, 3, 10, 45])


def test_a_window_of_pairs_of_many_distinct_words_does_not_overflow():
    words = list(range(1000))
    problem = Problem(1000, [words], [(0, words[:500])], [(0, words[500:])])
    got = assert_windows_are_the_references(WeightedProblem.of(problem, set(), [1] * 1000), [900])
    assert got.least[0, 0] > 2**31
