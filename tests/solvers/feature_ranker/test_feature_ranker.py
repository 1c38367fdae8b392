"""The solver as a whole: what it reads, what it learns, what it saves, and what it says."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks.generate import dataset as generated_dataset
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text
from classic_rc.reports.verdict import parts_sum_to_score
from classic_rc.solvers import FeatureRanker, load_solver, parse_solver, save_solver
from classic_rc.solvers.feature_ranker.features import FEATURES
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

FIXED = {"C": 0.01, "lexical_C": 0.03}
TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12, seed=1, name="lessons")
DEV = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, seed=2, name="exam")
SEVERAL = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12, seed=1)

THINGS = (
    "kettle lamp violin anchor blanket ladder candle mirror basket hammer bottle window".split()
)
PLACES = "garden kitchen harbour attic station market forest library".split()
NAMES = "Ann Bob Carla Dan Eve Fred Gina Hugo".split()


def stories(n: int, seed: int) -> Dataset:
    """Passages that say who found what where; one question each, with things of other sentences
    as options.
    """
    rng = np.random.default_rng(seed)
    questions = []
    for i in range(n):
        names, things = rng.permutation(NAMES)[:4].tolist(), rng.permutation(THINGS)[:4].tolist()
        places = rng.permutation(PLACES)[:4].tolist()
        text = " ".join(
            f"{a} found the {b} in the {c}." for a, b, c in zip(names, things, places, strict=True)
        )
        target = int(rng.integers(4))
        options = rng.permutation(4).tolist()
        candidates = tuple(Candidate(things[k]) for k in options)
        gold = frozenset({options.index(target)})
        passage = Passage(f"p{i}", text)
        questions.append(
            Question(
                f"q{i}",
                passage,
                f"What did {names[target]} find?",
                candidates,
                gold,
                Task.SINGLE_CHOICE,
            )
        )
    return Dataset(questions, f"stories {seed}")


def same(scores: Scores, other_scores: Scores) -> bool:
    return np.array_equal(scores.values, other_scores.values) and np.array_equal(
        scores.evidence, other_scores.evidence
    )


def test_it_learns_to_match():
    solver = FeatureRanker().fit(stories(60, 0))
    assert solver.score(stories(40, 1)) > 0.9
    assert FeatureRanker(inputs="candidates").fit(stories(60, 0)).score(stories(40, 1)) < 0.6
    assert set(solver.signature_facts()) == {"C", "lexical_C", "cells"}


@pytest.mark.parametrize("dataset", [TRAIN, SEVERAL], ids=["single", "several"])
@pytest.mark.parametrize(
    "params",
    [{}, {"inputs": "candidates"}, {"features": "surface+lexical"}, {"features": "vectors"}],
)
def test_a_loaded_solver_scores_and_explains_as_the_saved_one(dataset, params, tmp_path):
    solver = FeatureRanker(**FIXED, **params).fit(dataset)
    save_solver(solver, tmp_path / "ranker.npz")
    loaded = load_solver(tmp_path / "ranker.npz")
    assert same(loaded.score_candidates(dataset), solver.score_candidates(dataset))
    assert loaded.explain(dataset[4]).to_dict() == solver.explain(dataset[4]).to_dict()
    assert loaded.signature_facts() == solver.signature_facts()


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
    state, arrays = FeatureRanker(**FIXED).fit(TRAIN).fitted_state()
    with pytest.raises(ValueError, match=r"."):
        FeatureRanker(**FIXED).restore(state, {**arrays, part: change(arrays[part])})


@pytest.mark.parametrize("dataset", [TRAIN, SEVERAL], ids=["single", "several"])
def test_an_explanation_adds_up_exactly_group_by_group(dataset):
    solver = FeatureRanker(**FIXED).fit(dataset)
    for question in dataset[:12]:
        explanation = solver.explain(question)
        for candidate in explanation.candidates:
            assert reduce(add, candidate.numbers.values()) == candidate.score
            assert parts_sum_to_score(candidate)
            assert set(candidate.numbers) <= {"bias", *FEATURES, "vectors", "lexical"}
        assert explanation_text(explanation).count("largest features: ") == len(question.candidates)


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
    assert same(no_passage.score_candidates(swapped), no_passage.score_candidates(DEV))
    assert not no_passage.score_candidates(DEV).evidence.any()
    changed = [replace(q, passage=other_passage, text="Why not?") for q in DEV]
    assert same(candidates.score_candidates(changed), candidates.score_candidates(DEV))
    assert not same(no_passage.score_candidates(changed), no_passage.score_candidates(DEV))


def test_hidden_inputs_do_not_change_what_is_learned():
    hidden = FeatureRanker(inputs="candidates", **FIXED).fit(TRAIN)
    texts = {
        q.passage.id: Passage(q.passage.id, f"{q.passage.text[::-1]} Zebra {i}.")
        for i, q in enumerate(TRAIN)
    }
    renamed = [replace(q, passage=texts[q.passage.id], text=q.text[::-1]) for q in TRAIN]
    of_changed_texts = FeatureRanker(inputs="candidates", features="surface", C=0.01).fit(renamed)
    of_plain_texts = FeatureRanker(inputs="candidates", features="surface", C=0.01).fit(TRAIN)
    assert np.array_equal(of_plain_texts.ranker_.weights, of_changed_texts.ranker_.weights)
    assert hidden.vectors_ is None


def test_several_right_candidates_of_one_choice_and_none():
    changes = {1: frozenset({0, 1}), 2: frozenset()}
    graded = [replace(q, gold=changes.get(i, q.gold)) for i, q in enumerate(TRAIN)]
    solver = FeatureRanker(**FIXED).fit(graded)
    assert np.isfinite(solver.score_candidates(DEV).values).all()


def test_groups_and_variants_of_the_command_line():
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
def test_parameters_that_are_not_allowed(params, field):
    with raises(UsageError, field=field):
        FeatureRanker(**params).fit(TRAIN)


def test_data_that_cannot_be_learned_from():
    with raises(UsageError, field="questions"):
        FeatureRanker().fit([])
    with raises(DataError):
        FeatureRanker().fit([replace(q, gold=None) for q in TRAIN])
    with raises(UsageError, field="task"):
        FeatureRanker().fit([replace(q, task=Task.SPAN) for q in synthetic_dataset(Task.CLOZE)])
    with raises(UsageError, field="questions"):  # one passage has no folds
        FeatureRanker().fit([q for q in TRAIN if q.passage is TRAIN[0].passage])
    with raises(NotFittedError):
        FeatureRanker().score_candidates(DEV)
