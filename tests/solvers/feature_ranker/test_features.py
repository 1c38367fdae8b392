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
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encoded import EncodedDataset
from tests.depth import examples
from tests.kernels.builders import problems, ragged

COMPUTED = [
    name for group in GROUPS if group not in ("surface", "position") for name in FEATURES[group]
]
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
        is_dialogue = draw(st.booleans())
        sentence_turns = sorted(
            draw(st.lists(st.integers(-1, 6), min_size=len(bounds) - 1, max_size=len(bounds) - 1))
        )
        turns.append(sentence_turns if is_dialogue else [-1] * len(sentence_turns))
        speakers.append([turn if turn < 0 else draw(st.integers(0, 2)) for turn in turns[-1]])
    words = st.integers(0, problem.n_words - 1)
    statements = [draw(st.lists(words, max_size=12)) for _ in problem.candidates]
    question_speakers = [draw(st.integers(-1, 2)) for _ in problem.questions]
    stop = draw(st.sets(words))
    rarity = draw(
        st.lists(st.integers(0, 2**24), min_size=problem.n_words, max_size=problem.n_words)
    )
    return (
        problem,
        lengths,
        speakers,
        turns,
        statements,
        question_speakers,
        stop,
        np.array(rarity, dtype=np.int64),
    )


def ranker_texts_of(problem, lengths, speakers, turns, statements, question_speakers, stop):
    arrays, n_candidates = problem.arrays, len(problem.candidates)
    n_questions = len(problem.questions)
    vocabulary = ["not", *(f"w{i}" for i in range(1, problem.n_words))]
    sizes = np.bincount(arrays.candidate_question, minlength=n_questions)
    encoded = EncodedDataset(
        [],
        get_analyzer("clitics"),
        vocabulary,
        arrays,
        np.arange(n_questions),
        offsets_of(sizes),
        None,
    )
    return RankerTexts(
        encoded,
        np.array([word in stop for word in range(problem.n_words)]),
        offsets_of(
            np.array([n for passage_values in lengths for n in passage_values], dtype=np.int64)
        ),
        offsets_of(np.array([len(passage_values) for passage_values in lengths], dtype=np.int64)),
        np.array([turn for passage_values in turns for turn in passage_values], dtype=np.int64),
        np.array(
            [speaker for passage_values in speakers for speaker in passage_values], dtype=np.int64
        ),
        np.array(question_speakers, dtype=np.int64),
        np.zeros(n_questions, dtype=np.int64),
        *ragged(statements),
        np.zeros((n_candidates, len(FACTS))),
    )


def expected_features(texts, rarity, question):
    for index in range(len(question.candidates)):
        features = reference.ranker_features(question, index, *word_lists(texts, rarity))
        assert set(features) == set(COMPUTED)
        yield [features[name] for name in COMPUTED]


def assert_equal_features(got, expected):
    for name, column, expected_column in zip(
        COMPUTED, np.transpose(got), np.transpose(expected), strict=True
    ):
        if name in ROUNDED:
            assert column == pytest.approx(expected_column, rel=1e-12, abs=1e-12), name
        else:
            assert column.tolist() == expected_column.tolist(), name


def computed_groups():
    return [group for group in GROUPS if group not in ("surface", "position")]


@settings(max_examples=examples(25, 150))
@given(problem=ranker_problems())
def test_features_of_random_texts(problem):
    *parts, rarity = problem
    texts = ranker_texts_of(*parts)
    got = dense_features(texts, rarity, computed_groups())
    expected = [row for q in plain_questions(texts) for row in expected_features(texts, rarity, q)]
    assert got.shape == (len(expected), len(COMPUTED))
    if expected:
        assert_equal_features(got, expected)


@settings(max_examples=examples(16, 100))
@given(problem=ranker_problems())
def test_evidence_of_random_texts(problem):
    *parts, rarity = problem
    texts = ranker_texts_of(*parts)
    stop, weights = parts[-1], np.where(texts.stop, STOP_RARITY, np.maximum(rarity, 1)).tolist()
    expected = []
    for question in plain_questions(texts):
        q = reference.evidence.content_set(question.question, stop)
        for candidate in question.candidates:
            n = reference.evidence.new_words(reference.evidence.content_set(candidate, stop), q)
            sentence = reference.evidence.evidence_sentence(
                question.sentences, q, n, weights.__getitem__
            )
            expected.append(sentence)
    assert evidence_sentences(texts, rarity).tolist() == expected


@settings(max_examples=examples(10, 60))
@given(problem=ranker_problems(), size=st.integers(1, 60))
def test_blocks_change_no_bit(problem, size):
    *parts, rarity = problem
    texts = ranker_texts_of(*parts)
    unblocked = dense_features(texts, rarity, computed_groups())
    with small_blocks(size):
        in_blocks = dense_features(texts, rarity, computed_groups())
    assert in_blocks.tolist() == unblocked.tolist()


PATHS = [
    "mctest/mc500.dev.tsv",
    "dream/dev.json",
    "multirc/dev_83-fixedIds.json",
    "race/RACE-train-dev.tar.gz",
]


@pytest.mark.ci
@pytest.mark.parametrize("path", PATHS)
def test_features_of_real_questions(shared_data, path):
    data = load(shared_data / path, **({"split": "dev"} if "race" in path else {}))
    texts = ranker_texts(random.Random(0).sample(list(data), 200))
    rarity = word_rarity(texts)
    sample = random.Random(1).sample(range(200), 25)
    # One number of each question for each distinct candidate of the arrays.
    rows = np.arange(len(texts.encoded.arrays.candidate_question))
    if texts.encoded.candidate_rows is not None:
        rows = np.unique(texts.encoded.candidate_rows, return_index=True)[1]
    got = dense_features(texts, rarity, computed_groups())[rows]
    questions = list(plain_questions(texts))
    bounds = np.searchsorted(texts.encoded.arrays.candidate_question, np.arange(201))
    for q in sample:
        expected = list(expected_features(texts, rarity, questions[q]))
        assert_equal_features(got[bounds[q] : bounds[q + 1]], expected)


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
    questions = [
        Question(
            str(i),
            passage,
            text,
            tuple(map(Candidate, options)),
            frozenset({0}),
            Task.SINGLE_CHOICE,
        )
        for i, (passage, text, options) in enumerate(rows)
    ]
    return Dataset(questions, "small")


def test_equal_candidates_have_equal_features_and_their_own_surface():
    texts = ranker_texts(small_dataset())
    groups = ("coverage", "surface", "contrast", "position")
    features = dense_features(texts, word_rarity(texts), groups)
    names = [
        name
        for group in ("coverage", "contrast", "surface", "position")
        for name in FEATURES[group]
    ]
    assert features.shape == (9, 12 + 5 + 12)
    assert [name for group in GROUPS if group in groups for name in FEATURES[group]] == names
    assert features[0, :17].tolist() == features[1, :17].tolist() != features[2, :17].tolist()
    assert features[:, 17:].tolist() == texts.facts.tolist()


@pytest.mark.parametrize("selection", [[1], [2, 0], [2, 1, 0], [0, 1]])
def test_a_question_has_the_same_features_in_any_selection(selection):
    data = list(small_dataset())
    all_texts = ranker_texts(data)
    rarity = dict(zip(all_texts.encoded.vocabulary, word_rarity(all_texts).tolist(), strict=True))

    def features_by_question(questions):
        texts = ranker_texts(questions)
        weights = np.array([rarity[word] for word in texts.encoded.vocabulary], dtype=np.int64)
        features, offsets = dense_features(texts, weights), texts.encoded.question_offsets
        order = texts.encoded.order.tolist()
        return {
            questions[i].id: features[offsets[k] : offsets[k + 1]].tolist()
            for k, i in enumerate(order)
        }

    everything = features_by_question(data)
    some = features_by_question([data[i] for i in selection])
    assert some == {data[i].id: everything[data[i].id] for i in selection}


def test_groups_are_columns_of_the_whole_matrix():
    texts = ranker_texts(small_dataset())
    rarity = word_rarity(texts)
    all_columns, start = dense_features(texts, rarity), 0
    assert all_columns.shape[1] == len(TABLE)
    for group in GROUPS:
        group_columns = dense_features(texts, rarity, [group])
        assert (
            group_columns.tolist()
            == all_columns[:, start : start + group_columns.shape[1]].tolist()
        )
        start += group_columns.shape[1]


def test_names_are_unique():
    names = [name for group in GROUPS for name in FEATURES[group]]
    assert len(set(names)) == len(names) == len(TABLE)
    assert set(names) > MAIN_FEATURES
