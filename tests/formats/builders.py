"""Builders of the tests of formats: questions, rows and decisions, and what predictions select."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from classic_rc.predictions import Prediction
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

PASSAGE = Passage("p", "Old Tam keeps the lighthouse with Wren, his dog.")


def ask(id: str, *options: str, task: Task = Task.SINGLE_CHOICE) -> Question:
    """Return a question whose first option is right."""
    return Question(id, PASSAGE, "Who?", tuple(map(Candidate, options)), frozenset({0}), task)


def ask_each(n: int, *options: str, task: Task = Task.SINGLE_CHOICE) -> Dataset:
    """Return the questions q0, q1, … with the same options."""
    return Dataset([ask(f"q{i}", *options, task=task) for i in range(n)])


def ask_for_text(n: int, *gold: str, task: Task = Task.SPAN) -> Dataset:
    """Return the questions q0, q1, … about spans."""
    return Dataset([Question(f"q{i}", PASSAGE, "Who?", (), gold, task) for i in range(n)])


def json_lines(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def select(questions: Sequence[Question], *options: Iterable[int]) -> list[Prediction]:
    """Return decisions for these options of each question; one set of options is for all."""
    sets = options * len(questions) if len(options) == 1 else options
    pairs = zip(questions, map(frozenset, sets), strict=True)
    return [Prediction(question.id, (answer,)) for question, answer in pairs]


def selected(predictions: Iterable[Prediction]) -> list[set[int] | None]:
    """Return the options of each prediction's only answer; None without an answer."""
    answers = [prediction.answers for prediction in predictions]
    assert max(map(len, answers), default=0) < 2
    return [set(*options) if options else None for options in answers]
