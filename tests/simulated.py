"""Simulated datasets with several questions per passage and random words, with or without a
leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import strategies as st

from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

_NEGATIONS = ("not", "never", "no")
_WORDS = np.array([f"w{i}" for i in range(300)] + list(_NEGATIONS))
# as words are: few of them often
_ODDS = np.random.default_rng(0).permutation(1 / np.arange(1, len(_WORDS) + 1))
_ODDS /= _ODDS.sum()

Leak = Callable[[np.random.Generator, list[str], frozenset[int]], Sequence[str]]


def random_text(rng: np.random.Generator, shortest: int, longest: int) -> str:
    return " ".join(rng.choice(_WORDS, size=rng.integers(shortest, longest + 1), p=_ODDS))


def make(
    task: Task, seed: int, n_passages: int = 25, n_questions: int = 4, leak: Leak | None = None
) -> Dataset:
    """A dataset whose gold is drawn at random, and whose options `leak` may then change in view
    of it.
    """
    rng = np.random.default_rng([seed, 1])
    questions = []
    for p in range(n_passages):
        passage = Passage(f"p{p}", random_text(rng, 30, 60))
        for i in range(n_questions):
            k = 4 if task is Task.SINGLE_CHOICE else int(rng.integers(3, 7))
            options = [random_text(rng, 1, 6) for _ in range(k)]
            right = (
                {int(rng.integers(k))}
                if task is Task.SINGLE_CHOICE
                else np.flatnonzero(rng.random(k) < 0.45)
            )
            gold = frozenset(map(int, right))
            texts = options if leak is None else leak(rng, options, gold)
            candidates = tuple(map(Candidate, texts))
            questions.append(
                Question(f"p{p}.{i}", passage, random_text(rng, 4, 10), candidates, gold, task)
            )
    return Dataset(questions, f"simulated {seed}")


def telling_word(rng: np.random.Generator, options: list[str], gold: frozenset[int]) -> list[str]:
    """Right options often have a certain word; wrong ones seldom."""
    return [
        f"{o} indeed" if rng.random() < (0.6 if i in gold else 0.1) else o
        for i, o in enumerate(options)
    ]


def longer(rng: np.random.Generator, options: list[str], gold: frozenset[int]) -> list[str]:
    """Right options often go on."""
    more = [
        f" {random_text(rng, 3, 5)}" if i in gold and rng.random() < 0.7 else ""
        for i in range(len(options))
    ]
    return list(map("".join, zip(options, more, strict=True)))


@pytest.fixture
def simulated() -> Callable[..., Dataset]:
    """Makes a simulated dataset: ``simulated(task, seed, leak=...)``."""
    return make


@pytest.fixture(params=[Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
def task(request) -> Task:
    return request.param


@pytest.fixture
def leaks() -> dict[str, Leak]:
    """Ways to plant a leak, by name."""
    return {"word": telling_word, "length": longer}


def draw_groups(rng: np.random.Generator, n_questions: int, n_groups: int) -> np.ndarray:
    """Groups of questions, none of them empty."""
    others = rng.integers(n_groups, size=n_questions - n_groups)
    return np.concatenate([np.arange(n_groups), others])


_SMALL_INTEGERS = st.integers(-3, 3)


@st.composite
def scored_options(draw, numbers=_SMALL_INTEGERS) -> tuple[Scores, list[Question]]:
    """Scores of the options of a few questions of several answers, and the questions."""
    rows = draw(st.lists(st.lists(numbers, max_size=5), min_size=1, max_size=6))
    questions = []
    for i, row in enumerate(rows):
        options = st.sampled_from(range(len(row))) if row else st.nothing()
        gold = draw(st.frozensets(options))
        candidates = tuple(Candidate(str(option)) for option in range(len(row)))
        facts = Passage("p", "Some text."), "?", candidates, gold, Task.MULTIPLE_ANSWER
        questions.append(Question(f"q{i}", *facts))
    return Scores.from_lists(rows), questions
