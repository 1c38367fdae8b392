"""The answers of another system, given as scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.base import Decision, distinct_answers
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question, Task


class GivenAnswers(Decision):
    """The rule for the answers of another system, given as scores: it repeats them.

    A candidate's score is the share of the samples that choose it: 1 or 0 if the system answered
    once. Of several right candidates, those above one half are selected. A question whose scores
    have no evidence has no answer.
    """

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Return the given answers."""
        n_flags = np.concatenate(([0], np.cumsum(scores.evidence)))  # before each candidate
        has_answers = np.diff(n_flags[scores.offsets]) > 0
        predictions = []
        for question, row, has_answer in zip(questions, scores, has_answers, strict=True):
            if has_answer:
                predictions.append(self._prediction(question, row))
            else:
                predictions.append(Prediction(question.id, (), n_candidates=len(row)))
        return predictions

    def _prediction(self, question: Question, row: NDArray[np.float64]) -> Prediction:
        if question.task is Task.MULTIPLE_ANSWER:
            selected = frozenset(np.flatnonzero(row > 0.5).tolist())
            return Prediction(question.id, (selected,), n_candidates=len(row))
        # Mentions with one text have the same share, which counts once.
        shares: dict[Answer, float] = {}
        for i in np.flatnonzero(row).tolist():
            (answer,) = distinct_answers(question, [i])
            shares.setdefault(answer, float(row[i]))
        weights = tuple(shares.values())
        if weights == (1.0,):
            return Prediction(question.id, tuple(shares), n_candidates=len(row))
        return Prediction(question.id, tuple(shares), weights, n_candidates=len(row))
