"""Answers that are given as scores are repeated."""

from __future__ import annotations

import numpy as np

from classic_rc.decisions import GivenAnswers
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Passage, Question, Task

PASSAGE = Passage("p", "Tam and Wren and Tam.")


def decide(task, rows, evidence=None, texts=("Tam", "Wren", "Tam")):
    questions = [
        Question(f"q{i}", PASSAGE, "?", tuple(map(Candidate, texts)), None, task)
        for i in range(len(rows))
    ]
    scores = Scores.from_lists(rows)
    if evidence is not None:
        scores = Scores(scores.values, scores.offsets, np.repeat(evidence, len(texts)))
    return [
        (p.answers, p.weights, p.n_tied, p.n_candidates)
        for p in GivenAnswers().decide(scores, questions)
    ]


def test_one_option_has_the_whole_weight_and_samples_share_it():
    decisions = decide(Task.SINGLE_CHOICE, [[0, 1, 0], [0.25, 0, 0.5]])
    assert decisions == [
        ((frozenset({1}),), None, 1, 3),
        ((frozenset({0}), frozenset({2})), (0.25, 0.5), 1, 3),
    ]


def test_options_above_one_half_are_selected():
    decisions = decide(Task.MULTIPLE_ANSWER, [[1, 0, 1], [0, 0, 0]])
    assert decisions == [((frozenset({0, 2}),), None, 1, 3), ((frozenset(),), None, 1, 3)]


def test_mentions_of_one_text_are_one_answer():
    assert decide(Task.CLOZE, [[1, 0, 1]]) == [((("Tam",),), None, 1, 3)]


def test_without_evidence_there_is_no_answer():
    for task in (Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE):
        (first, second) = decide(task, [[0, 0, 0], [1, 0, 0]], np.array([False, True]))
        assert first == ((), None, 1, 3)
        assert second[0] != ()
