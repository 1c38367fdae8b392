"""Tuning without looking at the answers that are then reported: out of fold, by whole passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.base import clone

from classic_rc.decisions import Decision
from classic_rc.folds import folds
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver

__all__ = ["cross_fit_decision", "cross_fit_solver"]


def cross_fit_decision(
    decision: Decision, scores: Scores, questions: Sequence[Question]
) -> tuple[list[Prediction], list[Decision]]:
    """Answer every question by a decision fitted to the scores of other passages' questions.

    Returns
    -------
    predictions : list of Prediction
        In the questions' order.
    fitted : list of Decision
        One a fold.
    """

    def answer(others: Sequence[int], own: Sequence[int]) -> tuple[list[Prediction], Any]:
        fitted = clone(decision).fit(scores.take(others), [questions[i] for i in others])
        return fitted.decide(scores.take(own), [questions[i] for i in own]), fitted

    return _out_of_fold(questions, answer)


def cross_fit_solver(
    prepare: Callable[[], Solver], questions: Sequence[Question]
) -> tuple[list[Prediction], list[Solver]]:
    """Answer every question by a solver whose parameters were tuned on other passages' questions.

    Parameters
    ----------
    prepare : callable
        Gives a fresh solver, fitted but not tuned.
    questions : sequence of Question

    Returns
    -------
    predictions : list of Prediction
    tuned : list of Solver
        One a fold.
    """

    def answer(others: Sequence[int], own: Sequence[int]) -> tuple[list[Prediction], Any]:
        solver = prepare().tune([questions[i] for i in others])
        return solver.predict([questions[i] for i in own]), solver

    return _out_of_fold(questions, answer)


def _out_of_fold(
    questions: Sequence[Question],
    answer: Callable[[Sequence[int], Sequence[int]], tuple[list[Prediction], Any]],
) -> tuple[list[Prediction], list[Any]]:
    predictions: dict[int, Prediction] = {}
    fitted = []
    for others, own in folds(questions):
        answered, learned = answer(others.tolist(), own.tolist())
        predictions.update(zip(own.tolist(), answered, strict=True))
        fitted.append(learned)
    return [predictions[i] for i in range(len(questions))], fitted
