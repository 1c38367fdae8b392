"""The solver as a whole: what it reads, what it learns, what it saves, and what it says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks.generate import dataset as generated_dataset
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text
from classic_rc.solvers import FeatureRanker, parse_solver, save_solver
from classic_rc.solvers.feature_ranker.features import FEATURES
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.solvers.feature_ranker.builders import (
    CLOZE,
    DEV,
    FIXED,
    PEOPLE,
    TASKS,
    THINGS,
    TRAIN,
    assert_a_loaded_solver_is_equal,
    assert_numbers_add_up,
    equal_scores,
)

LESSONS = {
    Task.SINGLE_CHOICE: TRAIN,
    Task.MULTIPLE_ANSWER: synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12, seed=1),
    Task.CLOZE: CLOZE,
}
PLACES = "garden kitchen harbour attic station market forest library".split()


@cache
def fitted(task: Task) -> FeatureRanker:
    return FeatureRanker(**FIXED).fit(LESSONS[task])


def stories(n: int, seed: int) -> Dataset:
    """Passages that say who found what where; one question each, with things of other sentences
    as options.
    """
    rng = np.random.default_rng(seed)
    questions = []
    for i in range(n):
        names = rng.permutation(PEOPLE)[:4].tolist()
        things = rng.permutation(THINGS)[:4].tolist()
        places = rng.permutation(PLACES)[:4].tolist()
        columns = zip(names, things, places, strict=True)
        text = " ".join(
            f"{name} found the {thing} in the {place}." for name, thing, place in columns
        )
        target = int(rng.integers(4))
        options = rng.permutation(4).tolist()
        candidates = tuple(Candidate(things[k]) for k in options)
        gold = frozenset({options.index(target)})
        passage, query = Passage(f"p{i}", text), f"What did {names[target]} find?"
        questions.append(Question(f"q{i}", passage, query, candidates, gold, Task.SINGLE_CHOICE))
    return Dataset(questions, f"stories {seed}")


def test_it_learns_to_match():
    solver = FeatureRanker().fit(stories(60, 0))
    assert solver.score(stories(40, 1)) > 0.9
    assert FeatureRanker(inputs="candidates").fit(stories(60, 0)).score(stories(40, 1)) < 0.6
    assert set(solver.signature_facts()) == {"C", "lexical_C", "cells"}


OPTION_PARAMS: list[dict[str, Any]] = [
    {},
    {"inputs": "candidates"},
    {"features": "surface+lexical"},
    {"features": "vectors"},
]
CLOZE_PARAMS: list[dict[str, Any]] = [
    {},
    {"features": "contexts+sentences"},
    {"inputs": "no-passage"},
]


@pytest.mark.parametrize(
    ("task", "params"),
    [
        *((Task.SINGLE_CHOICE, params) for params in OPTION_PARAMS),
        *((Task.MULTIPLE_ANSWER, params) for params in OPTION_PARAMS),
        *((Task.CLOZE, params) for params in CLOZE_PARAMS),
    ],
)
def test_a_loaded_solver_scores_and_explains_as_the_saved_one(task, params, tmp_path):
    solver = FeatureRanker(**FIXED, **params).fit(LESSONS[task])
    assert_a_loaded_solver_is_equal(solver, LESSONS[task], tmp_path / "ranker.npz")


def test_the_number_of_threads_does_not_change_a_fit(tmp_path):
    train = generated_dataset("RACE", 100)  # large enough for the library to use two threads
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            save_solver(FeatureRanker(**FIXED).fit(train), tmp_path / f"ranker{n_threads}")
    assert (tmp_path / "ranker1").read_bytes() == (tmp_path / "ranker2").read_bytes()


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("weights", lambda a: a[1:]),
        ("vectors", lambda a: a[1:]),
        ("cell_weights", lambda a: a[1:]),
        ("scale", lambda a: a[1:]),
        ("passages_with", lambda a: a[1:]),
        ("vector_words", lambda a: a[::-1]),
        ("cells.word", lambda a: a[::-1]),
    ],
)
def test_a_state_that_does_not_match_is_refused(part, change):
    state, arrays = fitted(Task.SINGLE_CHOICE).fitted_state()
    with pytest.raises(ValueError, match=r"."):
        FeatureRanker(**FIXED).restore(state, {**arrays, part: change(arrays[part])})


@pytest.mark.parametrize("task", TASKS)
def test_an_explanation_adds_up_exactly_group_by_group(task):
    assert_numbers_add_up(fitted(task), LESSONS[task][:12])


@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
def test_the_largest_features_of_each_option_are_named(task):
    for question in LESSONS[task][:12]:
        text = explanation_text(fitted(task).explain(question))
        assert text.count("largest features: ") == len(question.candidates)


def test_the_sentence_with_the_evidence_is_marked():
    solver = FeatureRanker(**FIXED).fit(stories(30, 0))
    question = stories(3, 5)[1]
    right = solver.explain(question).candidates[min(question.gold)]
    (mark,) = right.marks
    sentence = question.passage.text[mark.start : mark.end]
    assert mark.kind == "sentence"
    assert right.text in sentence
    assert question.text.split()[2] in sentence


def test_hidden_inputs_are_not_read():
    other_passage = Passage("other", "Something else entirely. Nobody knows.")
    no_passage = FeatureRanker(inputs="no-passage", **FIXED).fit(TRAIN)
    candidates = FeatureRanker(inputs="candidates", **FIXED).fit(TRAIN)
    swapped = [replace(q, passage=other_passage) for q in DEV]
    assert equal_scores(no_passage.score_candidates(swapped), no_passage.score_candidates(DEV))
    assert not no_passage.score_candidates(DEV).evidence.any()
    changed = [replace(q, passage=other_passage, text="Why not?") for q in DEV]
    assert equal_scores(candidates.score_candidates(changed), candidates.score_candidates(DEV))
    assert not equal_scores(no_passage.score_candidates(changed), no_passage.score_candidates(DEV))


def test_hidden_inputs_do_not_change_what_is_learned():
    params: dict[str, Any] = {"inputs": "candidates", "features": "surface", "C": 0.01}
    passages = {q.passage.id: replace(q.passage, text=q.passage.text[::-1]) for q in TRAIN}
    changed = [
        replace(question, passage=passages[question.passage.id], text=question.text[::-1])
        for question in TRAIN
    ]
    expected, solver = FeatureRanker(**params).fit(TRAIN), FeatureRanker(**params).fit(changed)
    assert np.array_equal(solver.ranker_.weights, expected.ranker_.weights)


def test_a_solver_that_reads_no_passage_has_no_vectors():
    assert FeatureRanker(inputs="candidates", **FIXED).fit(TRAIN).vectors_ is None


def test_choices_with_several_right_candidates_or_none_are_learned_from():
    several_right = replace(TRAIN[1], gold=frozenset({0, 1}))
    without_right = replace(TRAIN[2], gold=frozenset())
    solver = FeatureRanker(**FIXED).fit([TRAIN[0], several_right, without_right, *TRAIN[3:]])
    assert np.isfinite(solver.score_candidates(DEV).values).all()


def test_the_command_line_sets_groups_and_strengths():
    solver = parse_solver("feature-ranker,features=ngrams+surface,C=0.1,min_count=3")
    solver.fit(TRAIN)
    assert solver.ranker_.design.names[0] in (*FEATURES["ngrams"], *FEATURES["surface"])
    assert solver.cells_ is None
    assert solver.vectors_ is None
    assert solver.signature_facts() == {"C": 0.1}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"features": "windows+magic"}, "group of features"),
        ({"C": 0}, "C"),
        ({"C": "best"}, "C"),
        ({"lexical_C": -1.0}, "lexical_C"),
        ({"min_count": 0}, "min_count"),
        ({"folds": 1}, "folds"),
        ({"inputs": "no-question"}, "inputs"),
    ],
)
def test_parameters_that_are_not_allowed_are_refused(params, field):
    with raises(UsageError, field=field):
        FeatureRanker(**params).fit(TRAIN)


@pytest.mark.parametrize(
    ("questions", "field"),
    [
        ([], "questions"),
        ([replace(q, task=Task.SPAN) for q in CLOZE], "task"),
        ([q for q in TRAIN if q.passage is TRAIN[0].passage], "questions"),  # no folds
    ],
    ids=["nothing", "spans", "one passage"],
)
def test_questions_that_cannot_be_learned_from_are_refused(questions, field):
    with raises(UsageError, field=field):
        FeatureRanker().fit(questions)


def test_questions_without_gold_are_refused():
    with raises(DataError):
        FeatureRanker().fit([replace(q, gold=None) for q in TRAIN])


def test_scoring_needs_a_fit():
    with raises(NotFittedError):
        FeatureRanker().score_candidates(DEV)
