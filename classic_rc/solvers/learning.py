"""What solvers that learn share: gold, scores out of fold, one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.folds import FoldPlan
from classic_rc.metrics.squad import normalise
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver
from classic_rc.text.encode import SharedQuestions


def right_candidates(learner: str, questions: Sequence[Question]) -> NDArray[np.int64]:
    """1 for every candidate that gold accepts, else 0.

    Where gold is texts, a candidate is right if its text is among them, both normalised as SQuAD's metric does.

    Parameters
    ----------
    learner : str
        The solver's name, for the errors.
    questions : sequence of Question

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        Of both there is at least one.

    Raises
    ------
    UsageError
        There is no question.
    DataError
        Gold is hidden, or no candidate is right, or none is wrong.
    """
    if not len(questions):
        raise UsageError(f"{learner} cannot learn from data without a question")
    hidden = sum(question.gold is None for question in questions)
    if hidden:
        raise DataError(
            f"{learner} learns from gold answers, and {hidden:,} of {len(questions):,} questions hide theirs"
        )
    flags: list[bool] = []
    for question in questions:
        gold = question.gold or ()
        if question.task.has_choices:
            flags += [i in gold for i in range(len(question.candidates))]
        else:
            accepted = {normalise(str(text)) for text in gold}
            flags += [normalise(c.text) in accepted for c in question.candidates]
    right = np.array(flags, dtype=np.int64)
    if not 0 < right.sum() < len(right):
        which = "right" if len(right) and right.all() else "wrong"
        problem = f"{learner} cannot learn: all {len(right):,} candidates are {which}"
        raise DataError(problem, hint="It needs right and wrong ones")
    return right


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
        shared = SharedQuestions.of(dataset)
        for fold, (others, own) in enumerate(plan.folds(dataset)):
            self.solvers.append(learn(shared.take(others)))
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
        shared = SharedQuestions.of(questions)
        for solver, members in self._by_fold(index):
            parts.append(solver.score_candidates(shared.take(members)))
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


def one_thread() -> AbstractContextManager[object]:
    """While it is open, linear algebra runs in one thread.

    With several, sums are added up in an order that depends on their number, and a learner's weights with it: in
    their last digits, which a threshold in force or a run made again would show.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
