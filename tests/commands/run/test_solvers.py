"""A user's own solvers, combinations, language models and span solvers in every sub-command."""

from __future__ import annotations

import pytest

GOOD = """
from classic_rc import Scores, Solver

class Shortest(Solver):
    def score_candidates(self, questions):
        return Scores.from_lists([-len(c.text) for c in q.candidates] for q in questions)

class Weighted(Shortest):
    def __init__(self, *, weight=1.0, decision=None):
        self.weight = weight
        self.decision = decision

class Peeks(Solver):
    '''Says that it learns nothing, and tries to remember the answers.'''
    def fit(self, questions, y=None):
        self.gold_ = {q.id: q.gold or () for q in questions}
        return self
    def score_candidates(self, questions):
        return Scores.from_lists(
            [float(i in self.gold_[q.id]) for i in range(len(q.candidates))] for q in questions
        )

class Unfinished(Solver):
    pass

class AFlatList(Shortest):
    def score_candidates(self, questions):
        return [0.0 for q in questions for c in q.candidates]

class TooFew(Shortest):
    def score_candidates(self, questions):
        return Scores.from_lists([0.0] for q in questions)

class NotNumbers(Shortest):
    def score_candidates(self, questions):
        return Scores.from_lists([float("nan")] * len(q.candidates) for q in questions)
"""


@pytest.fixture
def own_file(write):
    return write("own.py", GOOD)


@pytest.mark.parametrize("task", ["single-choice", "multi-span"])
def test_one_method_is_enough_for_every_task(cli, own_file, task):
    mine = cli("run", f"sample:{task}", "-s", f"{own_file}:Shortest", "--format", "json").row(
        "Shortest"
    )
    assert mine["params"] == {}
    if task == "single-choice":
        theirs = cli("run", f"sample:{task}", "-s", "shortest", "--format", "json").row("shortest")
        assert mine["metrics"] == theirs["metrics"]


def test_parameters_are_given_and_recorded(cli, own_file, single):
    row = cli("run", single, "-s", f"{own_file}:Weighted,weight=2.5", "--format", "json").row(
        "Weighted"
    )
    assert row["params"]["weight"] == 2.5
    assert "weight:2.5" in row["signature"]
    plain = cli("run", single, "-s", f"{own_file}:Weighted", "--format", "json").row("Weighted")
    assert "weight" not in plain["signature"]


@pytest.mark.parametrize(
    ("name", "code", "facts"),
    [
        ("Shortst", 2, ["'Shortst'", "'Shortest'"]),
        ("", 2, ["solver class", "''", "Shortest"]),
        ("Unfinished", 2, ["Unfinished", "score_candidates(questions) -> Scores"]),
        ("AFlatList", 5, ["AFlatList", "a list of numbers for each question", "9 lists"]),
        ("TooFew", 5, ["TooFew", "3 scores", "9 candidates"]),
        ("NotNumbers", 5, ["NaN"]),
        ("Shortest,weight=2", 2, ["parameter", "Shortest", "'weight'"]),
    ],
)
def test_a_broken_solver_is_a_clear_error(cli, own_file, single, name, code, facts):
    cli("run", single, "-s", f"{own_file}:{name}").fails(code, *facts)


def test_a_syntax_error_names_its_line(cli, write, single):
    broken = write("broken.py", "x = 1\ndef f(:\n")
    done = cli("run", single, "-s", f"{broken}:Solver")
    done.fails(2, f"{broken}, line 2")
