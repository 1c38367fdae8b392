"""Surface features computed in blocks against a slow plain-Python reference, and their columns."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.reference import surface_features as reference
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers.surface.features import (
    INPUTS,
    SURFACE_FEATURE_GROUPS,
    FeatureSet,
    SurfaceDesign,
    feature_groups,
)
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import encode
from tests.depth import examples
from tests.errors import raises

RELEASED = "lengths+token-overlap+answer+text-answer+question-answer+prominent"


def in_bulk(questions: Dataset, features: FeatureSet, analyzer: str) -> list[dict[object, float]]:
    """Return the features of all candidates of all questions, in their order."""
    encoded = encode(questions, analyzer)
    rows: list[dict[object, float]] = []
    for block in features.blocks(encoded):
        assert block.where.start == len(rows)
        rows += [dict(zip(features.numbers, row, strict=True)) for row in block.numbers.tolist()]
        for group, word_set in block.words.items():
            arrays = [array.tolist() for array in word_set if array is not None]
            for row, *ids in zip(*arrays, strict=True):
                feature = (group, *(encoded.vocabulary[i] for i in ids))
                assert feature not in rows[block.where.start + row], "a feature is listed once"
                rows[block.where.start + row][feature] = 1
    numbers, evidence = np.arange(len(rows), dtype=np.float64), np.ones(len(rows), dtype=np.bool_)
    return [rows[int(number)] for number in encoded.scores(numbers, evidence).values]


WORDS = st.sampled_from(["a", "the", "Cat", "cats", "dog's", "sat", "on", "¼", "old", "mat."])
TEXT = st.lists(WORDS, max_size=7).map(" ".join)


@st.composite
def datasets(draw) -> Dataset:
    texts = draw(st.lists(TEXT, min_size=1, max_size=3))
    passages = [Passage(f"p{i}", text) for i, text in enumerate(texts)]
    questions = []
    for i in range(draw(st.integers(1, 5))):
        candidates = tuple(map(Candidate, draw(st.lists(TEXT, min_size=1, max_size=4))))
        passage, text, gold = draw(st.sampled_from(passages)), draw(TEXT), frozenset({0})
        questions.append(Question(f"q{i}", passage, text, candidates, gold, Task.SINGLE_CHOICE))
    return Dataset(questions)


def expected(questions: Dataset, features: FeatureSet, analyzer: str) -> list[dict[object, float]]:
    words = get_analyzer(analyzer).analyze
    read = INPUTS[features.inputs]

    def is_read(key: object) -> bool:
        if isinstance(key, tuple):
            return key[0] in features.word_groups
        return key in features.numbers

    rows: list[dict[object, float]] = []
    for question in questions:
        passage = words(question.passage.text) if "passage" in read else []
        query = words(question.text) if "question" in read else []
        for candidate in question.candidates:
            row = reference(passage, query[: features.question_words], words(candidate.text))
            rows.append({key: number for key, number in row.items() if is_read(key)})
    return rows


@pytest.mark.parametrize("analyzer", ["word", "multirc2018"])
@pytest.mark.parametrize("groups", ["all", RELEASED, "+".join(SURFACE_FEATURE_GROUPS)])
@settings(max_examples=examples(8, 40))
@given(
    questions=datasets(),
    inputs=st.sampled_from(list(INPUTS)),
    question_words=st.none() | st.integers(1, 3),
)
def test_bulk_equals_the_reference(analyzer, groups, questions, inputs, question_words):
    features = FeatureSet(feature_groups(groups), inputs, question_words)
    assert in_bulk(questions, features, analyzer) == expected(questions, features, analyzer)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_features_do_not_depend_on_the_size_of_blocks(size):
    questions = synthetic_dataset(Task.MULTIPLE_ANSWER)
    features = FeatureSet(feature_groups("all"))
    one_block = in_bulk(questions, features, "word")
    with small_blocks(size):
        assert len(list(features.blocks(encode(questions, "word")))) > 3
        assert in_bulk(questions, features, "word") == one_block


@small_blocks(1)
def test_each_feature_has_a_column_that_does_not_depend_on_word_ids():
    questions = synthetic_dataset(Task.SINGLE_CHOICE)
    features = FeatureSet(feature_groups("all+prominent"))
    encoded = encode(questions, "word")
    columns = SurfaceDesign.fit(features, encoded, scaled=True)[0].columns
    keys = [key for row in in_bulk(questions, features, "word") for key in row]
    assert columns.n_columns == len({key for key in keys if isinstance(key, tuple)})

    def rows(subset: Dataset) -> list[list[int]]:
        encoded = encode(subset, "word")
        feature_rows = []
        for block in features.blocks(encoded):
            row, column = columns.find(block.words, columns.word_ids(encoded.vocabulary))
            feature_rows += [column[row == i].tolist() for i in range(len(block.numbers))]
        return feature_rows

    all_rows = rows(questions)
    distinct = in_bulk(_with_distinct_candidates(questions), features, "word")
    sizes = [sum(isinstance(key, tuple) for key in row) for row in distinct]
    assert list(map(len, all_rows)) == sizes
    assert all(row == sorted(set(row)) for row in all_rows), "columns rise within a row"
    last = rows(questions[-3:])
    assert last == all_rows[-len(last) :]


def _with_distinct_candidates(questions: Dataset) -> Dataset:
    """Return the questions with each candidate text only once."""
    distinct = []
    for question in questions:
        candidates = {candidate.text: candidate for candidate in question.candidates}
        distinct.append(replace(question, candidates=tuple(candidates.values()), gold=None))
    return Dataset(distinct)


@small_blocks(1)
def test_the_training_matrix_is_that_of_the_blocks_with_repeated_rows():
    encoded = encode(synthetic_dataset(Task.SINGLE_CHOICE), "word")
    repeats = np.random.default_rng(0).integers(1, 4, len(encoded.arrays.candidate_question))
    design, matrix = SurfaceDesign.fit(
        FeatureSet(feature_groups("all+prominent")), encoded, scaled=True, repeats=repeats
    )
    dense = np.vstack([features.toarray() for _, features in design.blocks(encoded)])
    ones = np.ones(len(matrix.columns))
    shape = (repeats.sum(), design.columns.n_columns)
    words = csr_matrix((ones, matrix.columns, matrix.offsets), shape=shape).toarray()
    expected = np.repeat(dense, repeats, axis=0)
    assert np.array_equal(np.hstack((matrix.numbers, words)), expected)


def ask(text: str, *candidates: str, passage: str = "x") -> list[Question]:
    choices, gold = tuple(map(Candidate, candidates)), frozenset({0})
    return [Question("q", Passage("p", passage), text, choices, gold, Task.SINGLE_CHOICE)]


@pytest.mark.parametrize(
    ("text", "candidate", "n"),
    [("who ran", "the dog", 6), ("who sat", "the cat", 2), ("when", "never", 0)],
)
def test_unseen_words_have_no_column(text, candidate, n):
    features = FeatureSet(feature_groups("answer+question-answer"))
    train = encode(ask("who ran", "the dog"), "word")
    columns = SurfaceDesign.fit(features, train, scaled=True)[0].columns
    assert columns.words == ["dog", "ran", "the", "who"]
    assert columns.n_columns == 2 + 4
    encoded = encode(ask(text, candidate), "word")
    (block,) = features.blocks(encoded)
    _, numbers = columns.find(block.words, columns.word_ids(encoded.vocabulary))
    assert len(numbers) == n


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("all", ("lengths", "overlap", "answer", "text-answer", "question-answer")),
        ("answer+lengths", ("lengths", "answer")),
        ("all+prominent", (*feature_groups("all"), "prominent")),
    ],
)
def test_groups_are_named_with_a_plus(text, groups):
    assert feature_groups(text) == groups


def test_an_unknown_group_is_refused_with_the_nearest_name():
    with raises(UsageError, field="group of features", found="length", expected="lengths"):
        feature_groups("length+answer")


@pytest.mark.parametrize(
    ("inputs", "n_numbers", "word_groups"),
    [
        ("all", 9, ("answer", "text-answer", "question-answer")),
        ("no-passage", 5, ("answer", "question-answer")),
        ("no-question", 5, ("answer", "text-answer")),
        ("candidates", 2, ("answer",)),
    ],
)
def test_hidden_inputs_have_no_features(inputs, n_numbers, word_groups):
    features = FeatureSet(feature_groups("all"), inputs)
    assert len(features.numbers) == n_numbers
    assert features.word_groups == word_groups
    missing = INPUTS["all"] - INPUTS[inputs]
    assert not [name for name in features.numbers if any(text in name for text in missing)]


def test_no_feature_at_all_is_an_error():
    with raises(
        UsageError, field="features", found="'text-answer'", expected=re.compile("'candidates'")
    ):
        FeatureSet(feature_groups("text-answer"), "candidates")


@pytest.mark.parametrize(
    ("inputs", "evidence"), [("all", [True, False, False]), ("no-passage", [False] * 3)]
)
def test_evidence_is_a_word_shared_with_a_passage_that_is_read(inputs, evidence):
    questions = ask("Who?", "the cat", "a dog", "", passage="The old cat.")
    (block,) = FeatureSet(feature_groups("answer"), inputs).blocks(encode(questions, "word"))
    assert block.evidence.tolist() == evidence
