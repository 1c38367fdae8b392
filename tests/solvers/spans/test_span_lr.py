"""Logistic regression over spans."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from sklearn.base import clone

from classic_rc.datasets import load
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.evaluation import evaluate
from classic_rc.evaluation.plan import add_span_candidates
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers import SpanLR, load_solver, save_solver
from classic_rc.testing import check_solver
from classic_rc.text.spans import SpanGenerator
from tests.errors import raises

NAMES = "Ann Bob Carla Dora Emil Fritz Gero Hanna Ines Jan".split()


def dataset(task: Task = Task.MULTI_SPAN, n: int = 30) -> Dataset:
    """Return questions about who found what somebody else lost; the finder follows "found by"."""
    questions = []
    for i in range(n):
        finder, loser, year = NAMES[i % 10], NAMES[(3 * i + 1) % 10], 1900 + i
        text = f"The ring of {loser} was found by {finder} in {year}. Nobody else came to the old garden."
        passage = Passage(f"p{i}", text)
        questions += [
            Question(f"{i}-who", passage, "By whom was the ring found?", (), (finder,), task),
            Question(f"{i}-when", passage, "When was the ring found?", (), (str(year),), task),
        ]
    return add_span_candidates(Dataset(questions, "rings"))


def answers(solver: SpanLR, questions) -> list[str]:
    return [cast("tuple[str, ...]", prediction.answers[0])[0] for prediction in solver.predict(questions)]


@pytest.mark.parametrize("task", [Task.SPAN, Task.MULTI_SPAN])
@pytest.mark.parametrize("learner", ["newton", "liblinear"])
def test_it_learns_what_answers_look_like(task, learner):
    data = dataset(task)
    solver = SpanLR(learner=learner).fit(data[:40])
    assert answers(solver, data[40:]) == [text for q in data[40:] for text in q.gold_texts]
    assert solver.score(data[40:]) == 1.0
    assert solver.caveats_ == ()


def test_out_of_fold_and_with_training_data_whose_spans_are_generated_too():
    data = dataset()
    bare = Dataset([replace(q, candidates=()) for q in data[:40]], "bare")
    for evaluation in (evaluate(data, [SpanLR()], cv=5), evaluate(data[40:], [SpanLR()], train=bare)):
        assert evaluation.rows[0].metrics() == {"quoref_em": 1.0, "quoref_f1": 1.0}


def test_the_same_data_gives_the_same_bits_in_any_order_of_passages():
    data = dataset()
    solver = SpanLR(negatives=3).fit(data)
    assert np.array_equal(
        solver.score_candidates(data).values, clone(solver).fit(data).score_candidates(data).values
    )
    shuffled = Dataset(data.questions[30:] + data.questions[:30], "rings")
    again = SpanLR(negatives=3).fit(shuffled)
    assert np.allclose(solver.model_.weights, again.model_.weights, atol=1e-2)
    assert solver.model_.weights.shape == again.model_.weights.shape


def test_the_sample_depends_on_the_seed_unless_all_wrong_spans_are_used():
    data = dataset()
    few, other = SpanLR(negatives=2).fit(data), SpanLR(negatives=2, seed=1).fit(data)
    assert not np.array_equal(few.model_.weights, other.model_.weights)
    every, many = SpanLR(negatives=None).fit(data), SpanLR(negatives=10**6, seed=5).fit(data)
    assert np.array_equal(every.model_.weights, many.model_.weights)


def test_questions_without_a_right_span_have_no_effect():
    data = dataset()
    lost = replace(data[0], id="lost", gold=("nowhere",))
    with_it = Dataset([*data, lost], "rings")
    assert np.array_equal(SpanLR().fit(data).model_.weights, SpanLR().fit(with_it).model_.weights)


def test_a_restored_solver_gives_the_same_bits(tmp_path):
    data = dataset()
    solver = SpanLR(features="lengths+span-words+shape", buckets=4).fit(data)
    save_solver(solver, tmp_path / "lr.npz")
    restored = load_solver(tmp_path / "lr.npz")
    assert np.array_equal(restored.score_candidates(data).values, solver.score_candidates(data).values)
    save_solver(SpanLR(features="lengths+span-words+shape", buckets=4).fit(data), tmp_path / "same.npz")
    assert (tmp_path / "lr.npz").read_bytes() == (tmp_path / "same.npz").read_bytes()


def test_an_inconsistent_state_is_refused():
    state, arrays = SpanLR().fit(dataset()).fitted_state()
    n, n_words = len(arrays["weights"]), len(state["words"])
    with pytest.raises(ValueError, match=f"{n - 1} weights .*{n} features"):
        SpanLR().restore(state, {**arrays, "weights": arrays["weights"][1:]})
    with pytest.raises(ValueError, match=f"{n_words + 1} word weights .*{n_words - 1} words"):
        SpanLR().restore({**state, "words": state["words"][1:]}, arrays)
    with pytest.raises(ValueError, match=f"{n} weights .* features"):
        SpanLR(features="lengths").restore(state, arrays)


def test_explanations_add_up_to_the_scores():
    data = dataset()
    solver = SpanLR().fit(data)
    question = replace(data[0], candidates=data[0].candidates.generate())
    explained = solver.explain(question).candidates
    assert [c.score for c in explained] == solver.score_candidates([question])[0].tolist()
    for candidate in explained:
        assert sum(candidate.numbers.values()) == pytest.approx(candidate.score)
    best = max(explained, key=lambda c: c.score)
    assert best.text == "Bob" or best.text == question.gold_texts[0]
    assert {m.kind for m in best.marks} == {"question", "candidate"}
    assert set(best.numbers) >= {"other features", "bias"}


def test_a_question_without_spans_can_be_scored_and_explained():
    empty = Question("q", Passage("p", ""), "Who?", (), ("x",), Task.MULTI_SPAN)
    solver = SpanLR().fit(dataset())
    assert len(solver.score_candidates([empty]).values) == 0
    assert solver.explain(empty).candidates == ()


def test_data_without_anything_to_learn_is_refused():
    data = dataset(n=2)
    with raises(UsageError, field="questions", found="0"):
        SpanLR().fit([])
    with raises(UsageError, field="task", found="cloze"):
        SpanLR().fit([replace(data[0], task=Task.CLOZE)])
    with raises(DataError, found=re.compile("^1 of 4 questions.* gold")):
        SpanLR().fit([replace(data[0], gold=None), *data[1:]])
    with raises(DataError, found="no right candidate in 4 questions"):
        SpanLR().fit([replace(q, gold=("nowhere",)) for q in data])
    only = Question("q", Passage("p", "Ann."), "Who?", (Candidate("Ann", 0, 3),), ("Ann",), Task.SPAN)
    with raises(DataError, found="no wrong candidate in 1 questions"):
        SpanLR().fit([only])
    with raises(NotFittedError) as error:
        SpanLR().score_candidates(data)
    assert re.search("span-lr.*--train DATA.*--cv 5", str(error.value))


@pytest.mark.parametrize(
    "parameters", [{"learner": "liblinear", "negatives": None}, {"analyzer": "word+stop=smart+porter"}]
)
def test_it_keeps_the_solver_contract_with_other_parameters(parameters):
    check_solver(SpanLR(**parameters))


def test_it_beats_chance_on_other_passages_of_quoref(shared_data):
    data = load(shared_data / "quoref" / "quoref-dev-v0.1.json")
    some = set(map(id, data.passages[:70]))
    part = data.filter(lambda question: id(question.passage) in some)
    lr = evaluate(part, [SpanLR(negatives=20)], cv=3, spans=SpanGenerator(max_tokens=5)).rows[0].metrics()
    assert lr["quoref_f1"] > 0.06


@pytest.mark.slow
def test_quoref_dev(shared_data):
    data = load(shared_data / "quoref" / "quoref-dev-v0.1.json")
    (row,) = evaluate(data, [SpanLR()], cv=5).rows
    assert row.metrics() == pytest.approx({"quoref_em": 0.161, "quoref_f1": 0.219}, abs=0.005)
