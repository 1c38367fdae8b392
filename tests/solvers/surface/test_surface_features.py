"""Surface features computed in blocks against a slow plain-Python reference, and their columns."""

from __future__ import annotations

import re

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
            parts = (
                (word_set.words,) if word_set.asked is None else (word_set.words, word_set.asked)
            )
            for row, *ids in zip(
                word_set.rows.tolist(), *(array.tolist() for array in parts), strict=True
            ):
                feature = (group, *(encoded.vocabulary[i] for i in ids))
                assert feature not in rows[block.where.start + row], "a feature is listed once"
                rows[block.where.start + row][feature] = 1
    place = range(len(rows)) if encoded.candidate_rows is None else encoded.candidate_rows.tolist()
    of_question = {
        encoded.order[i]: [
            rows[k] for k in place[encoded.question_offsets[i] : encoded.question_offsets[i + 1]]
        ]
        for i in range(len(questions))
    }
    return [row for i in range(len(questions)) for row in of_question[i]]


WORDS = st.sampled_from(["a", "the", "Cat", "cats", "dog's", "sat", "on", "¼", "old", "mat."])
TEXT = st.lists(WORDS, max_size=7).map(" ".join)


@st.composite
def datasets(draw) -> Dataset:
    passages = [Passage(f"p{i}", draw(TEXT)) for i in range(draw(st.integers(1, 3)))]
    questions = []
    for i in range(draw(st.integers(1, 5))):
        candidates = tuple(map(Candidate, draw(st.lists(TEXT, min_size=1, max_size=4))))
        passage = draw(st.sampled_from(passages))
        questions.append(
            Question(f"q{i}", passage, draw(TEXT), candidates, frozenset({0}), Task.SINGLE_CHOICE)
        )
    return Dataset(questions)


def expected(questions: Dataset, features: FeatureSet, analyzer: str) -> list[dict[object, float]]:
    words = get_analyzer(analyzer).analyze
    read = INPUTS[features.inputs]
    rows: list[dict[object, float]] = []
    for question in questions:
        passage = words(question.passage.text) if "passage" in read else []
        question_words = (
            words(question.text)[: features.question_words] if "question" in read else []
        )
        for candidate in question.candidates:
            row = reference(passage, question_words, words(candidate.text))
            rows.append(
                {
                    key: value
                    for key, value in row.items()
                    if key in features.numbers
                    or (isinstance(key, tuple) and key[0] in features.word_groups)
                }
            )
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
    seen = {
        key for row in in_bulk(questions, features, "word") for key in row if isinstance(key, tuple)
    }
    assert columns.n_columns == len(seen)

    def rows(subset: Dataset) -> list[list[int]]:
        encoded = encode(subset, "word")
        feature_rows = []
        for block in features.blocks(encoded):
            row, column = columns.find(block.words, columns.word_ids(encoded.vocabulary))
            feature_rows += [column[row == i].tolist() for i in range(len(block.numbers))]
        return feature_rows

    all_rows = rows(questions)
    assert [len(row) for row in all_rows] == [
        sum(isinstance(key, tuple) for key in row)
        for row in in_bulk(_with_distinct_candidates(questions), features, "word")
    ]
    assert all(row == sorted(set(row)) for row in all_rows), "columns rise within a row"
    last = rows(questions[-3:])
    assert last == all_rows[-len(last) :]


def _with_distinct_candidates(questions: Dataset) -> Dataset:
    """Return the questions with each candidate text only once."""
    from dataclasses import replace

    def unique(question: Question) -> tuple[Candidate, ...]:
        return tuple({c.text: c for c in question.candidates}.values())

    return Dataset([replace(q, candidates=unique(q), gold=None) for q in questions])


@small_blocks(1)
def test_the_training_matrix_is_that_of_the_blocks_with_repeated_rows():
    encoded = encode(synthetic_dataset(Task.SINGLE_CHOICE), "word")
    repeats = np.random.default_rng(0).integers(1, 4, len(encoded.arrays.candidate_question))
    design, matrix = SurfaceDesign.fit(
        FeatureSet(feature_groups("all+prominent")), encoded, scaled=True, repeats=repeats
    )
    dense = np.vstack([features.toarray() for _, features in design.blocks(encoded)])
    shape = (repeats.sum(), design.columns.n_columns)
    words = csr_matrix(
        (np.ones(len(matrix.columns)), matrix.columns, matrix.offsets), shape=shape
    ).toarray()
    assert (np.hstack((matrix.numbers, words)) == np.repeat(dense, repeats, axis=0)).all()


def test_unseen_words_have_no_column():
    features = FeatureSet(feature_groups("answer+question-answer"))

    def one(question: str, candidate: str) -> Dataset:
        task = Task.SINGLE_CHOICE
        return Dataset(
            [
                Question(
                    "q", Passage("p", "x"), question, (Candidate(candidate),), frozenset({0}), task
                )
            ]
        )

    train = encode(one("who ran", "the dog"), "word")
    columns = SurfaceDesign.fit(features, train, scaled=True)[0].columns
    assert columns.words == ["dog", "ran", "the", "who"]
    assert columns.n_columns == 2 + 4
    for question, candidate, n in (
        ("who ran", "the dog", 6),
        ("who sat", "the cat", 2),
        ("when", "never", 0),
    ):
        encoded = encode(one(question, candidate), "word")
        (block,) = features.blocks(encoded)
        _, columns_found = columns.find(block.words, columns.word_ids(encoded.vocabulary))
        assert len(columns_found) == n


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


def test_evidence_is_a_shared_word():
    candidates = tuple(map(Candidate, ["the cat", "a dog", ""]))
    question = Question(
        "q", Passage("p", "The old cat."), "Who?", candidates, frozenset({0}), Task.SINGLE_CHOICE
    )
    (block,) = FeatureSet(feature_groups("answer")).blocks(encode([question], "word"))
    assert block.evidence.tolist() == [True, False, False]
    (block,) = FeatureSet(feature_groups("answer"), "no-passage").blocks(encode([question], "word"))
    assert not np.any(block.evidence)
