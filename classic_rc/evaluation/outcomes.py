"""Collecting what happened on every question, a part of the dataset at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.evaluation.results import Outcomes
from classic_rc.metrics.registry import metrics_for
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question, Task


class OutcomeTally:
    """Outcomes of `n_questions` questions, filled in as predictions come.

    Parameters
    ----------
    task : Task
    n_questions : int
    """

    def __init__(self, task: Task, n_questions: int) -> None:
        self._metrics = metrics_for(task)
        self._statistics: dict[str, NDArray[np.float64]] = {}
        self._n_tied = np.ones(n_questions, dtype=np.int64)
        self._n_selected = np.zeros(n_questions)
        self._n_candidates = np.zeros(n_questions, dtype=np.int64)
        self._evidence: NDArray[np.bool_] | None = np.zeros(n_questions, dtype=np.bool_)
        self._answers: list[Any] = [None] * n_questions

    def add(
        self,
        index: NDArray[np.int64],
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        scores: Scores | None,
    ) -> None:
        """Measure predictions of the questions that stand at `index`.

        Parameters
        ----------
        index : ndarray of int64, shape (n,)
        questions : sequence of Question, length n
        predictions : sequence of Prediction, length n
        scores : Scores, optional
            Where there are any: what the passage contributed to.
        """
        for metric in self._metrics:
            rows = metric.statistics(questions, predictions)
            if metric.name not in self._statistics:
                self._statistics[metric.name] = np.zeros((len(self._n_tied), rows.shape[1]))
            self._statistics[metric.name][index] = rows
        self._n_tied[index] = [p.n_tied for p in predictions]
        self._n_selected[index] = [_n_selected(p) for p in predictions]
        self._n_candidates[index] = [p.n_candidates for p in predictions]
        if scores is None:
            self._evidence = None
        elif self._evidence is not None:
            flags = np.concatenate(([0], np.cumsum(scores.evidence)))
            self._evidence[index] = flags[scores.offsets[1:]] > flags[scores.offsets[:-1]]
        for i, prediction in zip(index.tolist(), predictions, strict=True):
            # More answers than ties are a closed form over draws: there is no one answer.
            if 0 < len(prediction.answers) <= prediction.n_tied:
                self._answers[i] = plain_answer(prediction.answers[0])

    def outcomes(self) -> Outcomes:
        """What has been collected."""
        return Outcomes(
            self._statistics,
            self._n_tied,
            self._n_selected,
            self._n_candidates,
            self._evidence,
            tuple(self._answers),
        )


def _n_selected(prediction: Prediction) -> float:
    if prediction.selection_probability is not None:
        return prediction.selection_probability * prediction.n_candidates
    return float(len(prediction.answers[0])) if prediction.answers else 0.0


def plain_answer(answer: Answer) -> list[Any]:
    """An answer as plain data: sorted candidate indices, or texts."""
    return sorted(answer) if isinstance(answer, frozenset) else list(answer)
