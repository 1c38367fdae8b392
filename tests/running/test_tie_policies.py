"""A table whose rows treat ties differently says so once."""

from __future__ import annotations

import json

import pytest

from classic_rc import evaluate
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.evaluation import evaluation_table
from classic_rc.solvers import LongestCandidate, Solver
from tests.harness_logs import choice_row

PASSAGE = Passage("p", "A short text.")


def which(id, text, *options):
    candidates = tuple(map(Candidate, options))
    return Question(id, PASSAGE, text, candidates, frozenset({1}), Task.SINGLE_CHOICE)


QUESTIONS = [
    which("q0", "Which one is 0?", "aa", "bb", "c"),
    which("q1", "Which one is 1?", "aa", "bb", "cc"),
    which("q2", "Which one is 2?", "a", "bb", "c"),
]
DATASET = Dataset(QUESTIONS, "exam")


class Prefers(Solver):
    """Never ties."""

    def score_candidates(self, questions):
        return Scores.from_lists([list(range(len(q.candidates))) for q in questions])


@pytest.fixture
def log(tmp_path):
    """Our own solver as the model of a log: 0 for its best options, -1 for the others."""
    path, scores = tmp_path / "samples_exam.jsonl", LongestCandidate().score_candidates(DATASET)
    with path.open("w", encoding="utf-8") as file:
        for i, (question, option_scores) in enumerate(zip(DATASET, scores, strict=True)):
            texts = [candidate.text for candidate in question.candidates]
            doc = {"passage": PASSAGE.text, "question": question.text, "choices": texts, "gold": 1}
            values = [0.0 if score == option_scores.max() else -1.0 for score in option_scores]
            row = choice_row(i, doc, [f" {text}" for text in texts], values, 1)
            file.write(json.dumps(row) + "\n")
    return str(path)


def policy_notes(evaluation):
    """The notes of a table but for that on the position of the right options, which is always
    the second here.
    """
    return [note for note in evaluation_table(evaluation).notes if "always option" not in note]


def test_the_log_of_a_solver_next_to_the_solver(log):
    evaluation = evaluate(DATASET, {"log": log, "own": LongestCandidate(), "never ties": Prefers()})
    of_log, of_solver, never = evaluation.rows
    assert (of_log.ties, of_solver.ties, never.ties) == ("first", "partial", "partial")
    assert of_log.tie_rate == of_solver.tie_rate == 2 / 3
    assert of_log.metrics()["accuracy"] == 1 / 3 < of_solver.metrics()["accuracy"]
    (note,) = policy_notes(evaluation)
    assert "log: the first of" in note
    assert "own: tied best" in note
    assert "never ties" not in note
    alike = evaluate(DATASET, {"log": log, "own": LongestCandidate()}, ties="first")
    assert "--ties first" in note
    assert alike.rows[0].metrics() == alike.rows[1].metrics()
    assert not policy_notes(alike)


def test_one_policy_and_rows_without_ties_need_no_note(log):
    assert not policy_notes(evaluate(DATASET, [LongestCandidate(), "shortest"]))
    assert not policy_notes(evaluate(DATASET, {"log": log, "never ties": Prefers()}))
