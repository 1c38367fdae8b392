"""The dense features against the plain-Python reference, on random and on real questions."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.ranker import plain_questions, word_lists, word_rarity
from classic_rc.datasets import load
from classic_rc.kernels import reference
from classic_rc.kernels.arrays import offsets_of, small_blocks
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers.feature_ranker.features import (
    FEATURES,
    GROUPS,
    MAIN_FEATURES,
    STOP_RARITY,
    TABLE,
    dense_features,
    evidence_sentences,
)
from classic_rc.solvers.feature_ranker.texts import FACTS, RankerTexts, ranker_texts
from tests.depth import examples
from tests.kernels.builders import flags_of, problems, ragged
from tests.solvers.feature_ranker.builders import (
    encode_problem,
    flat_integers,
    list_offsets,
)

COMPUTED_GROUPS = [group for group in GROUPS if group not in ("surface", "position")]
COMPUTED = [name for group in COMPUTED_GROUPS for name in FEATURES[group]]
ROUNDED = {name for name in COMPUTED if "attention" in name} | {"frequency", "close words"}
"""Features with an exponential or a logarithm, whose last bits depend on the library."""


@st.composite
def ranker_problems(draw):
    """Small random texts with sentences and turns; word 0 is a negation."""
    problem = draw(problems(n_words=9, n_passages=3, passage=30, question=6, candidate=6))
    lengths, speakers, turns = [], [], []
    for passage in problem.passages:
        cuts = sorted(draw(st.lists(st.integers(0, len(passage)), max_size=8)))
        bounds = [0, *cuts, len(passage)] if passage or draw(st.booleans()) else [0]
        lengths.append(np.diff(bounds).tolist())
        n = len(bounds) - 1
        is_dialogue = draw(st.booleans())
        dialogue = sorted(draw(st.lists(st.integers(-1, 6), min_size=n, max_size=n)))
        turns.append(dialogue if is_dialogue else [-1] * n)
        speakers.append([-1 if turn < 0 else draw(st.integers(0, 2)) for turn in turns[-1]])
    words = st.integers(0, problem.n_words - 1)
    statements = [draw(st.lists(words, max_size=12)) for _ in problem.candidates]
    question_speakers = [draw(st.integers(-1, 2)) for _ in problem.questions]
    stop = draw(st.sets(words))
    n_words = problem.n_words
    rarity = draw(st.lists(st.integers(0, 2**24), min_size=n_words, max_size=n_words))
    sentences = lengths, speakers, turns
    texts = ranker_texts_of(problem, *sentences, statements, question_speakers, stop)
    return texts, np.array(rarity, dtype=np.int64)


def ranker_texts_of(problem, lengths, speakers, turns, statements, question_speakers, stop):
    vocabulary = ["not", *(f"w{i}" for i in range(1, problem.n_words))]
    return RankerTexts(
        encode_problem(problem, "clitics", vocabulary),
        flags_of(problem.n_words, stop),
        offsets_of(flat_integers(lengths)),
        list_offsets(lengths),
        flat_integers(turns),
        flat_integers(speakers),
        np.array(question_speakers, dtype=np.int64),
        np.zeros(len(problem.questions), dtype=np.int64),
        *ragged(statements),
        np.zeros((len(problem.candidates), len(FACTS))),
    )


def expected_features(texts, rarity, question):
    for index in range(len(question.candidates)):
        features = reference.ranker_features(question, index, *word_lists(texts, rarity))
        assert set(features) == set(COMPUTED)
        yield [features[name] for name in COMPUTED]


def assert_equal_features(features, expected):
    columns = zip(COMPUTED, np.transpose(features), np.transpose(expected), strict=True)
    for name, column, expected_column in columns:
        if name in ROUNDED:
            assert column == pytest.approx(expected_column, rel=1e-12, abs=1e-12), name
        else:
            assert column.tolist() == expected_column.tolist(), name


@settings(max_examples=examples(25, 150))
@given(problem=ranker_problems())
def test_features_of_random_texts_equal_the_reference(problem):
    texts, rarity = problem
    features = dense_features(texts, rarity, COMPUTED_GROUPS)
    expected = [row for q in plain_questions(texts) for row in expected_features(texts, rarity, q)]
    assert features.shape == (len(expected), len(COMPUTED))
    if expected:
        assert_equal_features(features, expected)


@settings(max_examples=examples(16, 100))
@given(problem=ranker_problems())
def test_the_evidence_of_random_texts_is_that_of_the_reference(problem):
    texts, rarity = problem
    stop = set(np.flatnonzero(texts.stop).tolist())
    weights = np.where(texts.stop, STOP_RARITY, np.maximum(rarity, 1)).tolist()
    expected = []
    for question in plain_questions(texts):
        q = reference.evidence.content_set(question.question, stop)
        for candidate in question.candidates:
            content = reference.evidence.content_set(candidate, stop)
            n = reference.evidence.new_words(content, q)
            sentence = reference.evidence.evidence_sentence(
                question.sentences, q, n, weights.__getitem__
            )
            expected.append(sentence)
    assert evidence_sentences(texts, rarity).tolist() == expected


@settings(max_examples=examples(10, 60))
@given(problem=ranker_problems(), size=st.integers(1, 60))
def test_blocks_change_no_bit(problem, size):
    texts, rarity = problem
    unblocked = dense_features(texts, rarity, COMPUTED_GROUPS)
    with small_blocks(size):
        in_blocks = dense_features(texts, rarity, COMPUTED_GROUPS)
    assert in_blocks.tolist() == unblocked.tolist()


PATHS = [
    "mctest/mc500.dev.tsv",
    "dream/dev.json",
    "multirc/dev_83-fixedIds.json",
    "race/RACE-train-dev.tar.gz",
]


@pytest.mark.ci
@pytest.mark.parametrize("path", PATHS)
def test_features_of_real_questions_equal_the_reference(shared_data, path):
    data = load(shared_data / path, **({"split": "dev"} if "race" in path else {}))
    texts = ranker_texts(random.Random(0).sample(list(data), 200))
    rarity = word_rarity(texts)
    sample = random.Random(1).sample(range(200), 25)
    # One number of each question for each distinct candidate of the arrays.
    rows = np.arange(len(texts.encoded.arrays.candidate_question))
    if texts.encoded.candidate_rows is not None:
        _, rows = np.unique(texts.encoded.candidate_rows, return_index=True)
    features = dense_features(texts, rarity, COMPUTED_GROUPS)[rows]
    questions = list(plain_questions(texts))
    bounds = np.searchsorted(texts.encoded.arrays.candidate_question, np.arange(201))
    for q in sample:
        expected = list(expected_features(texts, rarity, questions[q]))
        assert_equal_features(features[bounds[q] : bounds[q + 1]], expected)


def small_dataset():
    talk = Passage(
        "p", "W: The cat sat on the mat.\nM: No, the dog sat there.\nW: Did it not bark? It did."
    )
    story = Passage(
        "s", "Tom had two dogs. The big dog was brown. He liked to swim in the lake. Tom fed it."
    )
    rows = [
        (story, "What did the big dog like?", ("to swim", "To swim", "milk")),
        (talk, "What does the woman say?", ("The cat sat", "It barked")),
        (story, "Who fed the dog?", ("Tom", "no one", "Tom", "the cat")),
    ]
    questions = []
    for i, (passage, text, options) in enumerate(rows):
        candidates = tuple(map(Candidate, options))
        question = Question(str(i), passage, text, candidates, frozenset({0}), Task.SINGLE_CHOICE)
        questions.append(question)
    return Dataset(questions, "small")


def test_equal_candidates_have_equal_features():
    texts = ranker_texts(small_dataset())
    to_swim, copy, milk, *_ = dense_features(texts, word_rarity(texts), COMPUTED_GROUPS).tolist()
    assert to_swim == copy != milk


def test_facts_have_a_row_for_equal_candidates_too():
    texts = ranker_texts(small_dataset())
    facts = dense_features(texts, word_rarity(texts), ["position", "surface"])
    assert len(facts) == 9
    assert facts.tolist() == texts.facts.tolist()


@pytest.mark.parametrize("selection", [[1], [2, 0], [2, 1, 0], [0, 1]])
def test_a_question_has_the_same_features_in_any_selection(selection):
    data = list(small_dataset())
    all_texts = ranker_texts(data)
    rarity = dict(zip(all_texts.encoded.vocabulary, word_rarity(all_texts).tolist(), strict=True))

    def features_by_question(questions):
        texts = ranker_texts(questions)
        weights = np.array([rarity[word] for word in texts.encoded.vocabulary], dtype=np.int64)
        features, offsets = dense_features(texts, weights), texts.encoded.question_offsets
        places = texts.encoded.place.tolist()
        return {
            question.id: features[offsets[place] : offsets[place + 1]].tolist()
            for question, place in zip(questions, places, strict=True)
        }

    selected = [data[i] for i in selection]
    expected = features_by_question(data)
    assert features_by_question(selected) == {q.id: expected[q.id] for q in selected}


def test_groups_are_columns_of_the_whole_matrix():
    texts = ranker_texts(small_dataset())
    rarity = word_rarity(texts)
    matrix = dense_features(texts, rarity)
    assert matrix.shape[1] == len(TABLE)
    of_groups = [dense_features(texts, rarity, [group]) for group in GROUPS]
    assert np.concatenate(of_groups, axis=1).tolist() == matrix.tolist()


def test_names_of_features_are_unique():
    names = [name for group in GROUPS for name in FEATURES[group]]
    assert len(set(names)) == len(names) == len(TABLE)
    assert set(names) > MAIN_FEATURES
