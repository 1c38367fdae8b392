"""Questions and predictions for the tests of metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from classic_rc.predictions import Prediction
from classic_rc.questions import Candidate, Passage, Question, Task

PASSAGE = Passage("harbour", "Mira counted the boats. Two were blue.")


@pytest.fixture(scope="session")
def ask() -> Callable[..., Question]:
    """Make a question of a task with this gold and number of candidates."""

    def make(task: Task, gold: Any, n_candidates: int = 0, id: str = "q") -> Question:
        candidates = tuple(Candidate(f"boat {i}") for i in range(n_candidates))
        return Question(id, PASSAGE, "What?", candidates, gold, task)

    return make


@pytest.fixture(scope="session")
def golden(shared_golden) -> Callable[[str], list[dict[str, Any]]]:
    """The recorded cases of an official scorer."""

    def cases(name: str) -> list[dict[str, Any]]:
        text = (shared_golden / f"{name}_metrics.json").read_text(encoding="utf-8")
        return json.loads(text)["cases"]

    return cases


@pytest.fixture(scope="session")
def text_predictions() -> Callable[..., list[Prediction]]:
    """Predictions from a mapping of question ids to texts; none where an id is missing."""

    def make(
        questions: Sequence[Question], answers: dict[str, str | list[str]]
    ) -> list[Prediction]:
        predictions = []
        for question in questions:
            texts = answers.get(question.id)
            answer = (texts,) if isinstance(texts, str) else tuple(texts or ())
            predictions.append(Prediction(question.id, () if texts is None else (answer,)))
        return predictions

    return make
