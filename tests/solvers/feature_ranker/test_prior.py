"""A fitted ranker as columns of another: what it changes, what is said, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import perturb_dataset
from classic_rc.errors import DataError, UsageError
from classic_rc.folds import copied_questions
from classic_rc.io.files import sha256_of
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers import FeatureRanker, load_solver, parse_solver, save_solver
from classic_rc.solvers.saved import SavedSolver
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.solvers.feature_ranker.builders import CLOZE, DEV, FIXED, TRAIN

ELSEWHERE = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20, seed=5, name="elsewhere")


@pytest.fixture(scope="module")
def prior_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("prior") / "prior.npz"
    save_solver(FeatureRanker(**FIXED, trees=4).fit(ELSEWHERE), path)
    return str(path)


@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
def test_a_ranker_with_a_prior_needs_no_other_file(task, prior_path, tmp_path):
    train = synthetic_dataset(task, n_passages=12, seed=1)
    solver = FeatureRanker(**FIXED, prior=prior_path).fit(train)
    assert any(name.startswith("prior: ") for name in solver.ranker_.design.names)
    assert "prior" in solver.explain(train[0]).candidates[0].numbers
    elsewhere = tmp_path / "prior.npz"
    elsewhere.write_bytes(Path(prior_path).read_bytes())
    moved = FeatureRanker(**FIXED, prior=str(elsewhere)).fit(train)
    save_solver(moved, tmp_path / "ranker.npz")
    elsewhere.unlink()
    loaded = load_solver(tmp_path / "ranker.npz")
    scores = solver.score_candidates(train).values
    assert np.array_equal(loaded.score_candidates(train).values, scores)
    without_prior = FeatureRanker(**FIXED).fit(train).score_candidates(train).values
    assert not np.array_equal(scores, without_prior)


def test_rows_say_what_was_learned_where(prior_path, tmp_path):
    copies = [replace(q, id=f"copy {q.id}") for q in ELSEWHERE[:15]]
    mixed = replace(DEV, questions=[*DEV, *copies], parts=(), read_with=None)
    (learned,) = SavedSolver(path=prior_path).learned_before
    is_copied = learned.copied(mixed)
    assert is_copied[len(DEV) :].any()
    solver = parse_solver(f"feature-ranker,prior={prior_path},C=0.01,lexical_C=0.03")
    rows = evaluate(mixed, [solver], train=[TRAIN]).rows
    (row,) = (row for row in rows if row.name == "feature-ranker")
    assert row.trained_on == "lessons + elsewhere"
    assert np.array_equal(row.copied, is_copied | copied_questions(mixed, TRAIN))
    assert "prior:prior.npz@" in row.signature
    save_solver(solver.fit(TRAIN), tmp_path / "ranker.npz")
    saved = SavedSolver(path=str(tmp_path / "ranker.npz"))
    assert [trained_on.name for trained_on in saved.learned_before] == ["lessons", "elsewhere"]
    assert np.array_equal(saved.learned_before[1].copied(mixed), is_copied)


@pytest.mark.parametrize("variant", ["", ":candidates"])
def test_the_signature_names_the_priors_file_and_what_else_differs(variant, prior_path):
    specs = [f"prior={prior_path}", f"prior={prior_path},features=default+position", "trees=0"]
    solvers = [parse_solver(f"feature-ranker{variant},C=0.01,lexical_C=0.03,{s}") for s in specs]
    rows = evaluate(DEV, solvers, train=[TRAIN]).rows
    parts = [row.signature.split("|") for row in rows if row.name.startswith("feature-ranker")]
    digest = sha256_of(prior_path)[:8]
    assert [f"prior:prior.npz@{digest}" in names for names in parts] == [True, True, False]
    assert ["features:default+position" in names for names in parts] == [False, True, False]


def test_partial_inputs_hide_the_texts_from_the_prior(prior_path):
    solver = FeatureRanker(**FIXED, prior=prior_path, inputs="candidates").fit(TRAIN)
    other_passage = Passage("other", "Something else entirely. Nobody knows.")
    changed = [replace(q, passage=other_passage, text="Why not?") for q in DEV]
    scores = solver.score_candidates(DEV)
    assert np.array_equal(solver.score_candidates(changed).values, scores.values)


def test_a_prior_that_has_learned_the_training_questions_is_a_caveat(prior_path):
    solver = FeatureRanker(**FIXED, prior=prior_path).fit(ELSEWHERE)
    (caveat,) = [caveat for caveat in solver.caveats(DEV) if "the prior learned" in caveat]
    assert "training questions, or their passages, are in elsewhere" in caveat
    assert not FeatureRanker(**FIXED, prior=prior_path).fit(TRAIN).caveats(DEV)


def german_question(i: int) -> Question:
    passage = Passage(f"p{i}", f"Der Hund {i} schläft heute unter dem großen Baum. " * 5)
    candidates = tuple(map(Candidate, ("im Haus", "am Baum", "im Auto", "im Bett")))
    gold = frozenset({1})
    return Question(f"q{i}", passage, "Wo schläft der Hund?", candidates, gold, Task.SINGLE_CHOICE)


GERMAN = Dataset([german_question(i) for i in range(len(TRAIN))], "german")


def test_english_rankers_refuse_other_languages(prior_path):
    ranker = FeatureRanker(prior=prior_path)
    with raises(UsageError, field="language", found="a language with blanks between words"):
        ranker.fit(GERMAN)
    for solver, train in ((SavedSolver(path=prior_path), ()), (ranker, [TRAIN])):
        with raises(UsageError, field="language"):
            evaluate(GERMAN, [solver], train=train)


@pytest.mark.parametrize("name", ["no-function-words", "no-question", "options-only"])
def test_english_rankers_read_english_that_was_perturbed(name, prior_path):
    question = replace(TRAIN[0], passage=Passage("p", "The end of the day and of the week. " * 70))
    text = "What is the end of the day and of the week?"
    english = Dataset([replace(question, id=f"q{i}", text=text) for i in range(50)], "english")
    perturbed = perturb_dataset(english, name)
    assert evaluate(perturbed, [SavedSolver(path=prior_path)]).rows


def test_rankers_of_other_languages_read_them(tmp_path):
    save_solver(FeatureRanker(**FIXED).fit(GERMAN), tmp_path / "german.npz")
    saved = SavedSolver(path=str(tmp_path / "german.npz"))
    assert evaluate(GERMAN, [saved]).rows[0].copied.all()


@pytest.mark.parametrize(
    "spec", ["surface-lr", "feature-ranker,C=0.01,lexical_C=0.03,inputs=candidates"]
)
def test_a_solver_of_another_kind_is_no_prior(spec, tmp_path):
    path = tmp_path / "other.npz"
    save_solver(parse_solver(spec).fit(TRAIN), path)
    with raises(UsageError, field="prior"):
        FeatureRanker(prior=str(path)).fit(TRAIN)


def test_a_missing_file_is_no_prior(tmp_path):
    with raises(DataError):
        FeatureRanker(prior=str(tmp_path / "none.npz")).fit(TRAIN)


def test_a_number_is_no_prior():
    with raises(UsageError, field="prior"):
        FeatureRanker(prior=3).fit(TRAIN)


def test_cloze_questions_have_no_prior(prior_path):
    with raises(UsageError, field="prior"):
        FeatureRanker(prior=prior_path).fit(CLOZE)
