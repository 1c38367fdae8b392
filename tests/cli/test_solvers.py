"""A user's own solvers, combinations, language models and span solvers in every sub-command."""

from __future__ import annotations

import json

import pytest

from classic_rc.datasets import load
from classic_rc.evaluation import evaluate
from classic_rc.solvers import parse_solver

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
def test_a_broken_solver_is_a_clear_error(cli, own, single, name, code, facts):
    cli("run", single, "-s", f"{own}:{name}").fails(code, *facts)


def test_a_syntax_error_names_its_line(cli, write, single):
    broken = write("broken.py", "x = 1\ndef f(:\n")
    done = cli("run", single, "-s", f"{broken}:Solver")
    done.fails(2, f"{broken}, line 2")


@pytest.fixture
def theirs(cli, single, tmp_path):
    """Somebody's scores of the single-answer questions."""
    path = tmp_path / "theirs.jsonl"
    assert cli("predict", single, "-s", "word-distance", "--scores", "-o", path).code == 0
    return path


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ("combination,solvers=[sw+d; rte]", ["combination", "'rte'"]),
        ("combination,solvers=[sw+d; ir", ["[sw+d; ir"]),
        ("combination,solvers=[sw+d; ir],weights=[1]", ["weights", "2"]),
        ("combination:mctest160-rte", ["score-file", "path=FILE"]),
        ("combination", ["combination", "solvers=[A; B]"]),
    ],
)
def test_errors_are_one_line(cli, single, spec, facts):
    done = cli("run", single, "-s", spec)
    done.fails(2, *facts)
    assert done.out == ""
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("spec", ["ngram-lm", "ngram-lm,order=2,corpus=passages+queries,cache_weight=0.1"])
def test_a_language_model_is_run_from_its_file(cli, tmp_path, spec):
    model = tmp_path / "model"
    done = cli("fit", "sample:cloze", "-s", spec, "-o", model)
    assert done.code == 0
    assert f"-s saved,path={model}" in done.err
    saved = cli("run", "sample:cloze", "-s", f"saved,path={model}", "--format", "json")
    anew = cli("run", "sample:cloze", "-s", spec, "--train", "sample:cloze", "--format", "json")
    assert saved.row("saved:ngram-lm")["metrics"] == anew.row("ngram-lm")["metrics"]


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ("ngram-lm,order=7", ["'order'", "ngram-lm", "1, 2, 3, 4, 5", "7"]),
        ("ngram-lm,corpus=none.txt", ["'none.txt'"]),
        ("ngram-lm,scoring=partial", ["partial", "single-choice"]),
        ("ngram-lm,corpus=queries", ["ngram-lm", "gold", "--train DATA"]),
    ],
)
def test_what_cannot_be_is_one_sentence(cli, spec, facts):
    done = cli("run", "sample:single-choice", "-s", spec)
    done.fails(2, *facts)
    assert done.out == ""


def test_quorefs_predictions_score_what_evaluate_says(cli, shared_data, tmp_path):
    """A few passages of Quoref, written in its official form and scored as any submission."""
    whole = json.loads((shared_data / "quoref" / "quoref-dev-v0.1.json").read_text(encoding="utf-8"))
    part = tmp_path / "part.json"
    part.write_text(json.dumps({**whole, "data": whole["data"][:4]}), encoding="utf-8")
    file = tmp_path / "predictions.json"
    assert cli("predict", part, "-s", "span-sw", "--ties", "first", "-o", file).code == 0
    scored = cli("run", part, "-s", file, "--format", "json").rows[0]["metrics"]
    assert scored == evaluate(load(part), [parse_solver("span-sw")], ties="first").rows[0].metrics()
