"""Answers that are given as scores are repeated."""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc.decisions import GivenAnswers
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Passage, Question, Task

PASSAGE = Passage("p", "Tam and Wren and Tam.")


def decide(task, rows, evidence=None, texts=("Tam", "Wren", "Tam")):
    question = Question("q", PASSAGE, "?", tuple(map(Candidate, texts)), None, task)
    scores = Scores.from_lists(rows)
    if evidence is not None:
        scores = Scores(scores.values, scores.offsets, np.repeat(evidence, len(texts)))
    predictions = GivenAnswers().decide(scores, [question] * len(rows))
    assert all(prediction.n_tied == 1 for prediction in predictions)
    assert all(prediction.n_candidates == len(texts) for prediction in predictions)
    return [(prediction.answers, prediction.weights) for prediction in predictions]


def test_one_option_has_the_whole_weight_and_samples_share_it():
    once, sampled = decide(Task.SINGLE_CHOICE, [[0, 1, 0], [0.25, 0, 0.5]])
    assert once == ((frozenset({1}),), None)
    assert sampled == ((frozenset({0}), frozenset({2})), (0.25, 0.5))


def test_options_above_one_half_are_selected():
    two, nothing = decide(Task.MULTIPLE_ANSWER, [[1, 0, 1], [0.5, 0, 0]])
    assert two == ((frozenset({0, 2}),), None)
    assert nothing == ((frozenset(),), None)


def test_mentions_of_one_text_are_one_answer():
    assert decide(Task.CLOZE, [[1, 0, 1]]) == [((("Tam",),), None)]


@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE])
def test_without_evidence_there_is_no_answer(task):
    unanswered, answered = decide(task, [[0, 0, 0], [1, 0, 0]], [False, True])
    assert unanswered == ((), None)
    assert answered[0] != ()
