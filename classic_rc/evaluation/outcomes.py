"""A system's outcome on every question, and the collector that makes it from predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.base import Metric, ScoreMetric
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question


@dataclass(frozen=True)
class Outcomes:
    """A system's outcome on every question, in the dataset's order; all numbers of a row follow from it."""

    statistics: Mapping[str, NDArray[np.float64]]  # by metric name: shape (n_questions, n_statistics)
    n_tied: NDArray[np.int64]  # candidates that share the best score, shape (n_questions,)
    n_selected: NDArray[np.float64]  # candidates in the answer, expected ones for a draw, shape (n_questions,)
    n_candidates: NDArray[np.int64]  # shape (n_questions,)
    # Whether the passage contributed to any candidate's score, shape (n_questions,); None without scores.
    evidence: NDArray[np.bool_] | None
    answers: tuple[Any, ...]  # candidate indices or texts, the first of a tie; None for no answer


class OutcomeTally:
    """A collector of the outcomes of questions, block by block."""

    def __init__(self, metrics: Sequence[Metric], n_questions: int) -> None:
        self._metrics = metrics
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
        *,
        are_draws: bool = False,
    ) -> None:
        """Measure the predictions for the questions at positions `index`.

        Parameters
        ----------
        index : ndarray of int64, shape (n,)
        questions : sequence of Question, length n
        predictions : sequence of Prediction, length n
        scores : Scores, optional
            Their evidence flags mark the scores that the passage contributed to.
        are_draws : bool
            Whether the scores are one random draw, and the predictions an expectation over draws.

        Raises
        ------
        UsageError
            A metric needs scores, and there are none, or only those of a draw.
        """
        for metric in self._metrics:
            if isinstance(metric, ScoreMetric) and scores is not None and not are_draws:
                rows = metric.statistics_of_scores(questions, scores)
            else:
                rows = metric.statistics(questions, predictions)
            if metric.name not in self._statistics:
                self._statistics[metric.name] = np.zeros((len(self._n_tied), rows.shape[1]))
            self._statistics[metric.name][index] = rows
        self._n_tied[index] = [p.n_tied for p in predictions]
        self._n_selected[index] = [_expected_selections(p) for p in predictions]
        self._n_candidates[index] = [p.n_candidates for p in predictions]
        if scores is None:
            self._evidence = None
        elif self._evidence is not None:
            flags = np.concatenate(([0], np.cumsum(scores.evidence)))
            self._evidence[index] = flags[scores.offsets[1:]] > flags[scores.offsets[:-1]]
        plain: dict[Answer, list[Any]] = {}  # few distinct choices, so few lists
        for i, prediction in zip(index.tolist(), predictions, strict=True):
            # A prediction in closed form over draws has more answers than ties: no single answer exists.
            if 0 < len(prediction.answers) <= prediction.n_tied:
                answer = prediction.answers[0]
                if answer not in plain:
                    plain[answer] = plain_answer(answer)
                self._answers[i] = plain[answer]

    def outcomes(self) -> Outcomes:
        """Return the collected outcomes."""
        return Outcomes(
            self._statistics,
            self._n_tied,
            self._n_selected,
            self._n_candidates,
            self._evidence,
            tuple(self._answers),
        )


def _expected_selections(prediction: Prediction) -> float:
    if prediction.selection_probability is not None:
        return prediction.selection_probability * prediction.n_candidates
    if prediction.weights:
        sizes = [len(answer) for answer in prediction.answers]
        return float(np.average(sizes, weights=prediction.weights)) * prediction.answered_share
    return float(len(prediction.answers[0])) if prediction.answers else 0.0


def plain_answer(answer: Answer) -> list[Any]:
    """Return an answer as plain data: sorted candidate indices, or texts."""
    return sorted(answer) if isinstance(answer, frozenset) else list(answer)
