"""Scores that tests of solvers make, and how they compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers import Solver
from classic_rc.solvers.explanation import Explanation, Mark


def by_candidate(score: Callable[[Any, int], float]) -> Callable[[Question], list[float]]:
    """Return what scores a question's candidates, given the score of the one at an index."""
    return lambda question: [float(score(question, i)) for i in range(len(question.candidates))]


def scores_of(
    questions: Iterable[Question], score: Callable[[Any, int], float], **fields: Any
) -> Scores:
    """Return the scores of questions, given the score of the candidate at an index."""
    return Scores.from_lists(map(by_candidate(score), questions), **fields)


def score_lists(solver: Solver, *questions: Question) -> list[list[float]]:
    """Return the scores of each question's candidates."""
    return [row.tolist() for row in solver.score_candidates(questions)]


def are_equal(scores: Scores, other_scores: Scores) -> bool:
    """Return whether scores and evidence are equal to the last digit."""
    fields = ("values", "offsets", "evidence")
    return all(np.array_equal(getattr(scores, f), getattr(other_scores, f)) for f in fields)


def marked(text: str, marks: Iterable[Mark]) -> list[tuple[str, str]]:
    """Return the texts of marks, with their kinds."""
    return [(text[mark.start : mark.end], mark.kind) for mark in marks]


def formulas_give_the_scores(explanation: Explanation) -> bool:
    """Return whether the formula of each candidate that has one comes to its score."""
    formulas = [(c.formula, c.score) for c in explanation.candidates if c.formula is not None]
    assert formulas
    return all(formula.recompute() == pytest.approx(score, rel=1e-6) for formula, score in formulas)
