"""``-s path/to/file.py:Class``: a user's own solver, good or broken."""

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

class AList(Shortest):
    def score_candidates(self, questions):
        return [[0.0] * len(q.candidates) for q in questions]

class TooFew(Shortest):
    def score_candidates(self, questions):
        return Scores.from_lists([0.0] for q in questions)

class NotNumbers(Shortest):
    def score_candidates(self, questions):
        return Scores.from_lists([float("nan")] * len(q.candidates) for q in questions)
"""


@pytest.fixture
def own(write):
    return write("own.py", GOOD)


@pytest.mark.parametrize("task", ["single-choice", "multiple-answer", "cloze", "multi-span"])
def test_one_method_is_enough_for_every_task(cli, own, task):
    mine = cli("run", f"sample:{task}", "-s", f"{own}:Shortest", "--format", "json").row("Shortest")
    assert mine["params"] == {}
    if "multi-span" not in task and "cloze" not in task:
        theirs = cli("run", f"sample:{task}", "-s", "shortest", "--format", "json").row("shortest")
        assert mine["metrics"] == theirs["metrics"]


def test_parameters_are_given_and_recorded(cli, own, single):
    row = cli("run", single, "-s", f"{own}:Weighted,weight=2.5", "--format", "json").row("Weighted")
    assert row["params"]["weight"] == 2.5
    assert "weight:2.5" in row["signature"]
    plain = cli("run", single, "-s", f"{own}:Weighted", "--format", "json").row("Weighted")
    assert "weight" not in plain["signature"]


def test_an_infinite_parameter_is_still_json(cli, own, single):
    row = cli("run", single, "-s", f"{own}:Weighted,weight=inf", "--format", "json").row("Weighted")
    assert row["params"]["weight"] == "inf"


def test_tie_policies_and_thresholds_apply_to_it(cli, own, write, several):
    rows = [{"passage": "p", "question": "q", "candidates": ["bb", "aa"], "gold": 1}]
    tied = write("tied.jsonl", rows)
    for ties, accuracy in (("partial", 0.5), ("first", 0.0)):
        done = cli("run", tied, "-s", f"{own}:Shortest", "--ties", ties, "--format", "json")
        assert done.row("Shortest")["metrics"]["accuracy"] == accuracy
    row = cli("run", several, "-s", f"{own}:Shortest", "--threshold", "-6.5", "--format", "json").row("Shortest")
    assert row["threshold"] == -6.5


def test_a_solver_that_learns_nothing_is_never_shown_gold(cli, own):
    row = cli("run", "sample:single-choice", "-s", f"{own}:Peeks", "--format", "json").row("Peeks")
    assert row["tie_rate"] == 1.0
    assert row["metrics"]["accuracy"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Shortst", "did you mean 'Shortest'?"),
        ("", "unknown solver class"),
        ("Unfinished", "must write score_candidates(questions) -> Scores"),
        ("AList", "must return Scores (see Scores.from_lists), got list"),
        ("TooFew", "must give one score a candidate: got 3 scores in 3 rows for 9 candidates"),
        ("NotNumbers", "not a number"),
        ("Shortest,weight=2", "unknown parameter of Shortest 'weight'"),
    ],
)
def test_a_broken_solver_is_a_clear_error(cli, own, single, name, part):
    done = cli("run", single, "-s", f"{own}:{name}")
    assert done.code == 2
    assert part in done.err


def test_a_syntax_error_names_its_line(cli, write, single):
    broken = write("broken.py", "x = 1\ndef f(:\n")
    done = cli("run", single, "-s", f"{broken}:Solver")
    assert done.code == 2
    assert "broken.py, line 2" in done.err
