"""The note about a constant position, or a length, that beats a system."""

from __future__ import annotations

import pytest

from classic_rc import evaluate
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers.base import Solver
from classic_rc.solvers.registry import SOLVERS


def data(golds, texts=("a", "bb", "ccc")):
    passage = Passage("p", "x")
    options = tuple(map(Candidate, texts))
    questions = []
    for i, gold in enumerate(golds):
        id_, text, right = f"q{i}", f"{i}?", frozenset({gold})
        questions.append(Question(id_, passage, text, options, right, Task.SINGLE_CHOICE))
    return Dataset(questions)


def notes_of(dataset, *systems):
    return [note for note in evaluate(dataset, systems).notes if "accuracy of" in note]


@pytest.mark.parametrize(
    ("golds", "what"),
    [
        ([1] * 9 + [0], "always option 2 reaches an accuracy of 90.00"),
        ([2] * 8 + [0] * 2, "the longest option reaches"),
    ],
)
def test_a_trivial_choice_that_beats_a_system_is_said_once(golds, what):
    (note,) = notes_of(data(golds), "sliding-window", "random", "longest")
    assert what in note
    assert "sliding-window (" in note
    assert "random" not in note


def test_nothing_is_said_of_better_systems_or_of_trivial_ones(tmp_path):
    golds = [0, 1, 2, 1]
    file = tmp_path / "right.csv"
    file.write_text("id,answer\nq0,A\nq1,B\nq2,C\nq3,B\n", encoding="utf-8")
    assert notes_of(data(golds), str(file), "longest", "random") == []
    assert issubclass(SOLVERS["longest"], Solver)
