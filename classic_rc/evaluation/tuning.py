"""Tuning without looking at the answers that are then reported: out of fold, by whole passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from classic_rc.decisions import Decision
from classic_rc.folds import FoldPlan
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver


class CrossFitted(NamedTuple):
    """What was answered out of fold.

    Parameters
    ----------
    predictions : list of Prediction
        In the questions' order.
    scores : Scores
        In the questions' order; each fold's are its own solver's.
    folds : list of Decision or of Solver
        What was fitted, once for each fold.
    """

    predictions: list[Prediction]
    scores: Scores
    folds: list[Any]


def cross_fit_decision(
    decision: Decision, scores: Scores, questions: Sequence[Question], plan: FoldPlan
) -> CrossFitted:
    """Answer every question by a decision fitted to the scores of other passages' questions."""

    def answer(others: list[int], own: list[int]) -> tuple[list[Prediction], Scores, Decision]:
        fitted = clone(decision).fit(scores.take(others), [questions[i] for i in others])
        mine = scores.take(own)
        return fitted.decide(mine, [questions[i] for i in own]), mine, fitted

    return _out_of_fold(questions, plan, answer)


def cross_fit_solver(prepare: Callable[[], Solver], questions: Sequence[Question], plan: FoldPlan) -> CrossFitted:
    """Answer every question by a solver whose parameters were tuned on other passages' questions.

    Parameters
    ----------
    prepare : callable
        Gives a fresh solver, fitted but not tuned.
    questions : sequence of Question
    plan : FoldPlan
    """

    def answer(others: list[int], own: list[int]) -> tuple[list[Prediction], Scores, Solver]:
        solver = prepare().tune([questions[i] for i in others])
        mine = [questions[i] for i in own]
        scores = solver.score_candidates(mine)
        return solver.decision_.decide(scores, mine), scores, solver

    return _out_of_fold(questions, plan, answer)


def _out_of_fold(
    questions: Sequence[Question],
    plan: FoldPlan,
    answer: Callable[[list[int], list[int]], tuple[list[Prediction], Scores, Any]],
) -> CrossFitted:
    index: list[int] = []
    predictions: list[Prediction] = []
    scores, fitted = [], []
    for others, own in plan.folds(questions):
        answered, scored, learned = answer(others.tolist(), own.tolist())
        index += own.tolist()
        predictions += answered
        scores.append(scored)
        fitted.append(learned)
    order = np.argsort(index)
    return CrossFitted([predictions[i] for i in order], Scores.concatenate(scores).take(order), fitted)
