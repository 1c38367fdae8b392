"""Explanations of surface features add up, name what decided and mark the words involved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text
from classic_rc.solvers import SurfaceLR
from classic_rc.testing import synthetic_dataset

PASSAGE = Passage("p", "Mina fed the goat. The goat ate a blue hat, and Mina laughed.")


def ask(i: int, task: Task = Task.SINGLE_CHOICE) -> Question:
    candidates = tuple(map(Candidate, ["a blue hat", "the red hat", "the barn"]))
    return Question(f"q{i}", PASSAGE, "What did the goat eat?", candidates, frozenset({0}), task)


TRAIN = Dataset([ask(i) for i in range(12)])


@pytest.mark.parametrize(
    "params",
    [{}, {"hashing": 200}, {"inputs": "no-passage"}, {"output": "probability"}, {"features": "all+prominent"}],
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
        assert np.allclose(expit(sums) if params.get("output") else sums, scores, atol=1e-9)


def test_the_heaviest_features_are_named():
    explanation = SurfaceLR().fit(TRAIN).explain(TRAIN[0])
    right, *_, barn = explanation.candidates
    assert "candidate has 'blue'" in right.numbers
    assert right.numbers["candidate has 'blue'"] > 0 > barn.numbers["candidate has 'the'"]
    assert right.numbers["passage and candidate have 'blue'"] > 0
    shown = [value for name, value in right.numbers.items() if name not in ("other features", "bias")]
    assert len(shown) == 8
    assert [abs(value) for value in shown] == sorted(map(abs, shown), reverse=True)


def test_pairs_of_words_are_named():
    explanation = SurfaceLR(features="question-answer").fit(TRAIN).explain(TRAIN[0])
    assert "question has 'goat' and candidate 'blue'" in explanation.candidates[0].numbers


def test_what_all_candidates_share_is_named_only_where_it_decides():
    one = SurfaceLR(features="lengths").fit(TRAIN).explain(ask(0))
    several = SurfaceLR(features="lengths").fit(TRAIN).explain(ask(0, Task.MULTIPLE_ANSWER))
    assert "passage length in words" not in one.candidates[0].numbers
    assert "passage length in words" in several.candidates[0].numbers
    assert "candidate length in words" in one.candidates[0].numbers


def test_the_candidates_words_are_marked_in_the_passage():
    explanation = SurfaceLR().fit(TRAIN).explain(TRAIN[0])
    marks = explanation.candidates[0].marks
    assert [PASSAGE.text[mark.start : mark.end] for mark in marks] == ["a", "blue", "hat"]
    assert {mark.kind for mark in marks} == {"candidate"}
    blue = explanation.candidates[0].numbers["passage and candidate have 'blue'"]
    assert marks[1].weight == pytest.approx(blue)
    assert "The goat ate *a* *blue* *hat*, and Mina" in explanation_text(explanation)


def test_nothing_is_marked_where_the_passage_is_not_read():
    explanation = SurfaceLR(inputs="no-passage").fit(TRAIN).explain(TRAIN[0])
    assert all(candidate.marks == () for candidate in explanation.candidates)
    without_words = SurfaceLR(features="overlap").fit(TRAIN).explain(TRAIN[0]).candidates[0]
    assert [mark.weight for mark in without_words.marks] == [None] * 3


def test_a_learner_without_weights_has_its_scores_alone():
    explanation = SurfaceLR(learner="naive-bayes").fit(TRAIN).explain(TRAIN[0])
    assert all(candidate.numbers == {} for candidate in explanation.candidates)
    svm = SurfaceLR(learner="linear-svm").fit(TRAIN).explain(TRAIN[0])
    assert sum(svm.candidates[0].numbers.values()) == pytest.approx(svm.candidates[0].score)


def test_of_many_candidates_the_best_are_explained():
    words = [f"word{i}" for i in range(300)]
    candidates = tuple(map(Candidate, [*words, "a blue hat", "a blue hat"]))
    question = Question("many", PASSAGE, "What?", candidates, frozenset({300}), Task.SINGLE_CHOICE)
    explanation = SurfaceLR().fit(TRAIN).explain(question)
    explained = [i for i, candidate in enumerate(explanation.candidates) if candidate.numbers]
    assert len(explained) == 100
    assert {300, 301} <= set(explained)
    assert explanation.candidates[300].numbers == explanation.candidates[301].numbers
