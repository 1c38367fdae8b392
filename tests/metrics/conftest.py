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
        return json.loads((shared_golden / f"{name}_metrics.json").read_text(encoding="utf-8"))[
            "cases"
        ]

    return cases


@pytest.fixture(scope="session")
def text_predictions() -> Callable[..., list[Prediction]]:
    """Predictions from a mapping of question ids to texts; none where an id is missing."""

    def make(
        questions: Sequence[Question], answers: dict[str, str | list[str]]
    ) -> list[Prediction]:
        texts = ((q.id, answers.get(q.id)) for q in questions)
        return [
            Prediction(
                id, () if text is None else ((text,) if isinstance(text, str) else tuple(text),)
            )
            for id, text in texts
        ]

    return make
