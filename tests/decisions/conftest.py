"""Questions with any number of options, for the tests of decisions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Passage, Question, Task

PASSAGE = Passage("p", "Some text.")


def ask(n, gold, task=Task.SINGLE_CHOICE, id="q", texts=None) -> Question:
    texts = texts or [f"option {i}" for i in range(n)]
    return Question(id, PASSAGE, "?", tuple(map(Candidate, texts)), gold, task)


@pytest.fixture(scope="session")
def question() -> Callable[..., Question]:
    """Makes a question with so many options and this gold."""
    return ask


@pytest.fixture(scope="session")
def answers() -> Callable[..., Prediction]:
    """What a decision answers to one question with these scores."""

    def decide(decision, scores, query=None):
        query = query or ask(len(scores), frozenset({0}))
        return decision.decide(Scores.from_lists([scores]), [query])[0]

    return decide
