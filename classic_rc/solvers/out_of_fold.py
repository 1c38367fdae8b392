"""Learning from gold without seeing the answers that are then reported: a solver for each fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.folds import FoldPlan
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question
from classic_rc.solvers.base import Solver


class OutOfFold:
    """A solver for each fold of a dataset, learned from the other folds' questions.

    Parameters
    ----------
    learn : callable
        Gives a solver fitted to some of the questions: to a dataset, if they are one.
    dataset : Dataset or sequence of Question
        With gold answers.
    plan : FoldPlan

    Attributes
    ----------
    solvers : list of Solver
        One a fold.
    fold_of : ndarray of int64, shape (n_questions,)
        The fold that each question of `dataset` is in.
    """

    def __init__(self, learn: Callable[[Any], Solver], dataset: Sequence[Question], plan: FoldPlan) -> None:
        self.solvers: list[Solver] = []
        self.fold_of = np.zeros(len(dataset), dtype=np.int64)
        for fold, (others, own) in enumerate(plan.folds(dataset)):
            questions = [dataset[i] for i in others.tolist()]
            part = replace(dataset, questions=questions) if isinstance(dataset, Dataset) else questions
            self.solvers.append(learn(part))
            self.fold_of[own] = fold

    def score(self, questions: Sequence[Question], index: NDArray[np.int64]) -> Scores:
        """The scores of some of the dataset's questions, each by its own fold's solver.

        Parameters
        ----------
        questions : sequence of Question
        index : ndarray of int64, shape (len(questions),)
            Where they stand in the dataset.
        """
        parts, places = [], []
        for solver, members in self._by_fold(index):
            parts.append(solver.score_candidates([questions[i] for i in members.tolist()]))
            places.append(members)
        return Scores.concatenate(parts).take(np.argsort(np.concatenate(places)))

    def decide(self, scores: Scores, questions: Sequence[Question], index: NDArray[np.int64]) -> list[Prediction]:
        """The answers to those questions, each by its own fold's tuned decision."""
        answers: dict[int, Prediction] = {}
        for solver, members in self._by_fold(index):
            own = [questions[i] for i in members.tolist()]
            answers.update(zip(members.tolist(), solver.decision_.decide(scores.take(members), own), strict=True))
        return [answers[i] for i in range(len(index))]

    def _by_fold(self, index: NDArray[np.int64]) -> list[tuple[Solver, NDArray[np.int64]]]:
        fold = self.fold_of[index]
        return [(solver, np.flatnonzero(fold == k)) for k, solver in enumerate(self.solvers) if (fold == k).any()]
