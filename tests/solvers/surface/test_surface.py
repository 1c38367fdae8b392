"""The surface-lr solver: what it learns, what it must not read, what it refuses, and its
explanations.
"""

from __future__ import annotations

import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import vstack
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.generate import dataset as generated_dataset
from classic_rc import evaluate
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text
from classic_rc.solvers import SurfaceLR, load_solver, parse_solver, save_solver
from classic_rc.solvers.learning import LEARNERS, gold_labels, one_thread
from classic_rc.testing import check_solver, synthetic_dataset
from classic_rc.text.encode import SharedQuestions
from tests.errors import raises

TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20, seed=1)
DEV = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=5, seed=2)


def fitted(**params) -> SurfaceLR:
    return SurfaceLR(**params).fit(TRAIN)


def scores(solver: SurfaceLR, questions: Dataset = DEV) -> np.ndarray:
    return solver.score_candidates(questions).values


def leaky(n: int) -> Dataset:
    """Return questions in which only the right candidate has the word "blue"."""
    passage = Passage("p", "Nothing of use stands here.")
    options = ["a red kite", "a blue kite", "a green kite"]
    questions = []
    for i in range(n):
        options.append(options.pop(0))
        gold = frozenset({options.index("a blue kite")})
        candidates = tuple(map(Candidate, options))
        question = Question(f"q{i}", passage, "Which one?", candidates, gold, Task.SINGLE_CHOICE)
        questions.append(question)
    return Dataset(questions)


@pytest.mark.parametrize("learner", [None, *LEARNERS])
def test_a_word_that_gives_the_answer_away_is_learned(learner):
    solver = SurfaceLR(learner=learner).fit(leaky(30))
    assert solver.score(leaky(30)) == 1
    assert solver.caveats_ == ()


@pytest.mark.parametrize(
    "params",
    [
        {"inputs": "no-passage", "question_words": 2},
        {"features": "question-answer", "learner": "liblinear"},
    ],
)
def test_all_parameters_keep_the_solver_contract(params):
    check_solver(SurfaceLR(**params))


def test_the_default_learner_finds_the_optimum_of_liblinears_logistic_regression():
    """Merging equal columns changes only the rounding."""
    liblinear = LogisticRegression(
        solver="liblinear", tol=1e-10, intercept_scaling=1, max_iter=5000, random_state=0
    )
    default = fitted()
    encoded = default.encoded(TRAIN)
    features = vstack([matrix for _, matrix in default.design_.blocks(encoded)], format="csr")
    n_rows = features.shape[0]
    rows = encoded.scores(np.arange(n_rows), np.ones(n_rows)).values.astype(int)
    liblinear.fit(features[rows], gold_labels("surface-lr", TRAIN))
    for learner, tolerance in ((None, 1e-3), ("newton", 1e-3), ("liblinear", 0.01)):
        model = fitted(learner=learner).model_
        assert len(model.weights) > 500
        assert np.allclose(model.weights, liblinear.coef_[0], atol=tolerance)
        assert model.bias == pytest.approx(liblinear.intercept_[0], abs=tolerance)


def test_regularisation_shrinks_the_weights():
    weak, strong = fitted(C=1.0).model_.weights, fitted(C=0.01).model_.weights
    assert np.linalg.norm(strong) < np.linalg.norm(weak) / 2


def test_scaling_divides_by_the_root_mean_square_in_training():
    solver, raw = fitted(), fitted(scaling="none")
    blocks = list(solver.design_.features.blocks(solver.encoded(TRAIN)))
    numbers = np.concatenate([block.numbers for block in blocks])
    assert np.allclose(np.sqrt(np.mean(numbers**2, axis=0)), solver.design_.scale)
    assert np.all(raw.design_.scale == 1)


@pytest.mark.parametrize(
    ("inputs", "hidden"),
    [("no-passage", ("passage",)), ("no-question", ("text",)), ("candidates", ("passage", "text"))],
)
def test_hidden_inputs_do_not_change_scores(inputs, hidden):
    texts = {"passage": Passage("other", "Quite other words."), "text": "Something else?"}
    changes: dict[str, Any] = {name: texts[name] for name in hidden}
    changed = Dataset([replace(question, **changes) for question in DEV])
    solver = fitted(inputs=inputs)
    assert np.array_equal(scores(solver), scores(solver, changed))
    everything = fitted()
    assert not np.array_equal(scores(everything), scores(everything, changed))
    evidence = solver.score_candidates(DEV).evidence
    assert evidence.any() == ("passage" not in hidden)


@pytest.mark.parametrize(("question_words", "is_equal"), [(2, True), (None, False)])
def test_only_the_first_question_words_are_read(question_words, is_equal):
    solver = fitted(question_words=question_words)
    short, long = (
        Dataset([replace(q, text=f"the garden {end}") for q in DEV])
        for end in ("was red", "and so on and on")
    )
    assert np.array_equal(scores(solver, short), scores(solver, long)) is is_equal


def test_columns_do_not_depend_on_the_order_of_training_questions():
    backwards = Dataset([replace(q) for q in reversed(TRAIN.questions)])
    in_order, reversed_order = fitted(), SurfaceLR().fit(backwards)
    assert in_order.design_.columns.words == reversed_order.design_.columns.words
    assert np.allclose(in_order.model_.weights, reversed_order.model_.weights, atol=1e-5)


def test_each_candidate_with_the_same_text_counts_in_training():
    """Two right and one wrong of the same text are more right than one right and two wrong."""

    def score_of_dog(*right: int) -> float:
        passage, gold = Passage("p", "A dog."), frozenset(right)
        candidates = tuple(map(Candidate, ["dog", "dog", "dog", "cat", "cat"]))
        question = Question("q", passage, "Who?", candidates, gold, Task.MULTIPLE_ANSWER)
        return scores(SurfaceLR().fit([question]), Dataset([question]))[0]

    assert score_of_dog(0, 1, 3) > score_of_dog(2, 3)


def test_a_cloze_candidate_is_right_if_its_text_is_accepted():
    passage, candidates = Passage("p", "Ann."), ("the Ann", "Bob", "Ann", "Carla")
    choices = tuple(map(Candidate, candidates))
    question = Question("q", passage, "@placeholder ran.", choices, ("ann",), Task.CLOZE)
    train = Dataset([replace(question, id=f"q{i}") for i in range(20)])
    values = scores(SurfaceLR().fit(train), Dataset([question]))
    assert (values > 0).tolist() == [True, False, True, False]


def test_a_fit_that_stops_early_is_a_caveat_and_no_other_warning(monkeypatch):
    monkeypatch.setattr("classic_rc.solvers.learning.MOST_ITERATIONS", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver = SurfaceLR(learner="liblinear").fit(TRAIN)
    (caveat,) = solver.caveats_
    assert re.search("learner liblinear .*converged", caveat)
    evaluation = evaluate(DEV, [SurfaceLR(learner="liblinear")], train=TRAIN)
    assert evaluation.rows[0].caveats == (caveat,)
    assert f"surface-lr: {caveat}" in evaluation.warnings


def test_scoring_needs_a_fit():
    with raises(NotFittedError) as error:
        SurfaceLR().score_candidates(DEV)
    assert re.search("surface-lr.*--train DATA", str(error.value))


@pytest.mark.parametrize(
    ("questions", "error", "facts"),
    [
        ([], UsageError, "surface-lr.* questions?"),
        ([replace(q, gold=None) for q in TRAIN[:3]], DataError, "gold.* 3 of 3 questions"),
        (
            [replace(TRAIN[0], gold=frozenset())],
            DataError,
            f"{len(TRAIN[0].candidates)} (candidates are )?wrong",
        ),
        (
            [replace(q, candidates=q.candidates[:1], gold=frozenset({0})) for q in TRAIN[:2]],
            DataError,
            "2 (candidates are )?right",
        ),
        (
            [replace(TRAIN[0], candidates=(), gold=frozenset())],
            DataError,
            "0 (candidates are )?wrong",
        ),
        (
            [replace(q, task=Task.SPAN) for q in synthetic_dataset(Task.CLOZE)],
            UsageError,
            "surface-lr.* span questions",
        ),
    ],
)
def test_data_without_anything_to_learn_is_refused(questions, error, facts):
    with raises(error) as refused:
        SurfaceLR().fit(questions)
    assert re.search(facts, str(refused.value))
    if questions and error is UsageError:
        assert (refused.value.field, refused.value.found) == ("task", "span")


def test_candidates_without_a_feature_are_refused():
    passage, candidates = Passage("p", "x"), (Candidate(""), Candidate("!"))
    question = Question("q", passage, "y?", candidates, frozenset({0}), Task.SINGLE_CHOICE)
    with raises(DataError, problem=re.compile("features 'answer'")):
        SurfaceLR(features="answer").fit([question])
    assert SurfaceLR().fit([question]).score_candidates([question]).values.tolist() == [0, 0]


def test_questions_without_a_right_candidate_are_learned_from():
    train = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=6, seed=1)
    assert any(not q.gold for q in train)
    assert isinstance(SurfaceLR().fit(train).score_candidates(train), Scores)


@pytest.mark.parametrize("variant", [None, *SurfaceLR.variants])
def test_a_variant_is_recognised_and_parsed(variant):
    spec = "surface-lr" if variant is None else f"surface-lr:{variant}"
    assert parse_solver(spec).variant_name() == variant
    assert parse_solver(f"{spec},C=0.5").variant_name() is None


def test_a_loaded_solver_scores_as_the_saved_one(tmp_path):
    solver = fitted()
    save_solver(solver, tmp_path / "surface.npz")
    assert np.array_equal(scores(load_solver(tmp_path / "surface.npz")), scores(solver))


def test_parameters_can_be_set_on_the_command_line():
    solver = parse_solver("surface-lr,features=lengths+answer,inputs=candidates,learner=liblinear")
    assert len(solver.fit(TRAIN).model_.weights) == solver.design_.n_features


def test_weights_have_the_same_bits_for_any_number_of_threads():
    train = generated_dataset("RACE", 200)  # large enough for the library to use two threads

    def bits(solver: SurfaceLR) -> bytes:
        assert solver.model_.weights is not None
        return np.append(solver.model_.weights, solver.model_.bias).tobytes()

    def weights(n_threads: int, questions) -> bytes:
        with threadpool_limits(n_threads):
            return bits(SurfaceLR().fit(questions))

    expected = weights(1, train)
    assert weights(2, train) == expected
    assert weights(2, SharedQuestions(train)) == expected
    with one_thread(), ThreadPoolExecutor(2) as pool:
        fits = [pool.submit(SurfaceLR().fit, train) for _ in range(4)]
    assert {bits(fit.result()) for fit in fits} == {expected}


PASSAGE = Passage("p", "Mina fed the goat. The goat ate a blue hat, and Mina laughed.")


def ask(i: int, task: Task = Task.SINGLE_CHOICE) -> Question:
    candidates = tuple(map(Candidate, ["a blue hat", "the red hat", "the barn"]))
    return Question(f"q{i}", PASSAGE, "What did the goat eat?", candidates, frozenset({0}), task)


GOATS = Dataset([ask(i) for i in range(12)])


@pytest.mark.parametrize(
    "params",
    [{}, {"inputs": "no-passage", "features": "all+prominent"}],
)
@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE])
def test_the_numbers_add_up_to_the_log_odds(params, task):
    data = synthetic_dataset(task, n_passages=6)
    solver = SurfaceLR(**params).fit(data)
    for question in data:
        explanation = solver.explain(question)
        sums = np.array([sum(c.numbers.values()) for c in explanation.candidates])
        scores = solver.score_candidates([question])[0]
        assert [c.score for c in explanation.candidates] == scores.tolist()
        assert np.allclose(sums, scores, atol=1e-9)


def test_the_heaviest_features_are_named():
    explanation = SurfaceLR().fit(GOATS).explain(GOATS[0])
    right, *_, barn = explanation.candidates
    assert "candidate has 'blue'" in right.numbers
    assert right.numbers["candidate has 'blue'"] > 0 > barn.numbers["candidate has 'the'"]
    assert right.numbers["passage and candidate have 'blue'"] > 0
    *names, others, bias = right.numbers
    assert (len(names), others, bias) == (8, "other features", "bias")
    sizes = [abs(right.numbers[name]) for name in names]
    assert sizes == sorted(sizes, reverse=True)


def test_pairs_of_words_are_named():
    explanation = SurfaceLR(features="question-answer").fit(GOATS).explain(GOATS[0])
    assert "question has 'goat' and candidate 'blue'" in explanation.candidates[0].numbers


def test_features_of_all_candidates_are_named_only_if_they_can_decide():
    single_choice = SurfaceLR(features="lengths").fit(GOATS).explain(ask(0))
    multiple_answer = SurfaceLR(features="lengths").fit(GOATS).explain(ask(0, Task.MULTIPLE_ANSWER))
    assert "passage length in words" not in single_choice.candidates[0].numbers
    assert "passage length in words" in multiple_answer.candidates[0].numbers
    assert "candidate length in words" in single_choice.candidates[0].numbers


def test_the_candidates_words_are_marked_in_the_passage():
    explanation = SurfaceLR().fit(GOATS).explain(GOATS[0])
    marks = explanation.candidates[0].marks
    assert [PASSAGE.text[mark.start : mark.end] for mark in marks] == ["a", "blue", "hat"]
    assert {mark.kind for mark in marks} == {"candidate"}
    blue = explanation.candidates[0].numbers["passage and candidate have 'blue'"]
    assert marks[1].weight == pytest.approx(blue)
    assert "The goat ate *a* *blue* *hat*, and Mina" in explanation_text(explanation)


def test_an_unread_passage_has_no_marks():
    explanation = SurfaceLR(inputs="no-passage").fit(GOATS).explain(GOATS[0])
    assert all(candidate.marks == () for candidate in explanation.candidates)


def test_marks_have_no_weight_without_features_of_words():
    without_words = SurfaceLR(features="overlap").fit(GOATS).explain(GOATS[0]).candidates[0]
    assert [mark.weight for mark in without_words.marks] == [None] * 3


def test_only_the_best_of_many_candidates_are_explained():
    words = [f"word{i}" for i in range(300)]
    candidates = tuple(map(Candidate, [*words, "a blue hat", "a blue hat"]))
    question = Question("many", PASSAGE, "What?", candidates, frozenset({300}), Task.SINGLE_CHOICE)
    explanation = SurfaceLR().fit(GOATS).explain(question)
    explained = [i for i, candidate in enumerate(explanation.candidates) if candidate.numbers]
    assert len(explained) == 100
    assert {300, 301} <= set(explained)
    assert explanation.candidates[300].numbers == explanation.candidates[301].numbers
