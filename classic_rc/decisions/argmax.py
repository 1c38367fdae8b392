"""The best candidate, under a tie policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.base import Decision
from classic_rc.errors import UsageError
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question, Task

TiePolicy: TypeAlias = Literal["partial", "first", "random", "strict"]
TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)

TIE_TOLERANCE = 1e-6
"""Candidates this close to the best score tie with it. ln 5/4 = ln 9/8 + ln 10/9, but their rounded weights
differ by one unit of 2**-26; the smallest genuine gap on MCTest and DREAM is 1.6e-5."""


class Argmax(Decision):
    """The candidate with the highest score.

    Candidates of a cloze or span question that have one text are one candidate.

    Parameters
    ----------
    ties : {"partial", "first", "random", "strict"}
        What becomes of k candidates that share the best score: each gets 1/k of the credit (the MCTest
        authors' scores, Smith et al. 2015, ARC); the first is taken; one is drawn (Richardson et al. 2013,
        "a coin flip"), the same for a question whatever is asked beside it; or the question counts as not
        answered.
    tie_tolerance : float
        How far below the best a score may lie and still tie.
    seed : int
        For ``"random"``.
    """

    def __init__(self, *, ties: TiePolicy = "partial", tie_tolerance: float = TIE_TOLERANCE, seed: int = 0) -> None:
        self.ties = ties
        self.tie_tolerance = tie_tolerance
        self.seed = seed

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with its best candidate, or those that tie for it.

        Raises
        ------
        UsageError
            The tie policy is unknown, or the questions may have several right answers.
        """
        if self.ties not in TIE_POLICIES:
            raise UsageError(f"ties must be one of {', '.join(TIE_POLICIES)}, got {self.ties!r}")
        if len(questions) and questions[0].task is Task.MULTIPLE_ANSWER:
            raise UsageError("questions with several right answers need a threshold, not the best candidate")
        question, index = _tied_candidates(scores, self.tie_tolerance)
        tied = np.split(index, np.cumsum(np.bincount(question, minlength=len(scores)))[:-1])
        return [
            self._prediction(q, _distinct_answers(q, members.tolist()), size)
            for q, members, size in zip(questions, tied, np.diff(scores.offsets).tolist(), strict=True)
        ]

    def _prediction(self, question: Question, answers: list[Answer], n_candidates: int) -> Prediction:
        n_tied = len(answers)
        if n_tied > 1:
            if self.ties == "first":
                answers = answers[:1]
            elif self.ties == "strict":
                answers = []
            elif self.ties == "random":
                draws = uniform_draws(text_keys([question.id]), np.array([n_tied]), self.seed)
                answers = [answers[int(draws.argmax())]]
        return Prediction(question.id, tuple(answers), n_tied=n_tied, n_candidates=n_candidates)


def _tied_candidates(scores: Scores, tolerance: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The candidates within `tolerance` of their question's best: their question, and index within it."""
    counts = np.diff(scores.offsets)
    filled = counts > 0
    best = np.zeros(len(counts))
    if filled.any():
        best[filled] = np.maximum.reduceat(scores.values, scores.offsets[:-1][filled])
    # Subtracting from the best, not from each score: infinite scores then tie with each other.
    flat = np.flatnonzero(scores.values >= np.repeat(best - tolerance, counts))
    question = np.searchsorted(scores.offsets, flat, side="right") - 1
    return question, flat - scores.offsets[question]


def _distinct_answers(question: Question, indices: list[int]) -> list[Answer]:
    if question.task.has_choices:
        return [frozenset((i,)) for i in indices]
    return [(text,) for text in dict.fromkeys(question.candidates[i].text for i in indices)]
