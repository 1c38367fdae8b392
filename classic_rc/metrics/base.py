"""The base classes of metrics. A metric is a small object with a name, a description and a citation.

It first computes sufficient statistics, one row per question, and then aggregates them, so that resampling,
breakdowns and cross-fitting can reuse the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task

AcceptedTexts = tuple[tuple[str, ...], ...]


class Metric(ABC):
    """A measure of predictions against gold, in 0..1.

    Attributes
    ----------
    name : str
        The name on the command line and in JSON: ``"f1_m"``.
    label : str
        The name in tables: ``"F1m"``.
    description : str
        One sentence.
    citation : str
        The source of the formula: paper and section, or release.
    cites : tuple of str
        Keys of the references in `citation`.
    tasks : frozenset of Task
        The tasks it measures.
    needs_unanswerable : bool
        Whether it is for data in which some questions have no answer (SQuAD 2.0).
    """

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    cites: ClassVar[tuple[str, ...]] = ()
    tasks: ClassVar[frozenset[Task]]
    needs_unanswerable: ClassVar[bool] = False

    @abstractmethod
    def statistics(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> NDArray[np.float64]:
        """Return the sufficient statistics; row i belongs to question i.

        If a tie policy keeps several answers to a question, its row is the weighted mean over them.

        Parameters
        ----------
        questions : sequence of Question
            With gold answers.
        predictions : sequence of Prediction
            One per question, in the same order.

        Returns
        -------
        ndarray of float64, shape (n_questions, n_statistics)

        Raises
        ------
        DataError
            A question's gold is hidden.
        """

    def from_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the metric from means of its statistics: by default the first mean.

        Parameters
        ----------
        means : ndarray of float64, shape (..., n_statistics)
            Means over the questions of a dataset, of a resample or of a group.

        Returns
        -------
        ndarray of float64, shape (...)
        """
        return means[..., 0]

    def aggregate(self, statistics: NDArray[np.float64]) -> float:
        """Return the metric over rows of statistics, in 0..1; NaN without rows."""
        return float(self.from_means(statistics.mean(axis=0))) if len(statistics) else float("nan")

    def __call__(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> float:
        """Return the metric over questions, in 0..1; NaN without questions."""
        return self.aggregate(self.statistics(questions, predictions))

    def __repr__(self) -> str:
        return f"<metric {self.name}>"


class ScoreMetric(Metric):
    """A metric of the candidates' scores, such as a reciprocal rank: answers without scores cannot be measured."""

    @abstractmethod
    def statistics_of_scores(self, questions: Sequence[Question], scores: Scores) -> NDArray[np.float64]:
        """Return the sufficient statistics of the scores, shape (n_questions, n_statistics)."""

    def statistics(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> NDArray[np.float64]:
        """Raise UsageError: predictions have no scores."""
        raise UsageError(
            f"metric {self.name!r} needs scores, and answers have none",
            field="metric",
            found=self.name,
            expected="a metric of answers",
        )


class TextMetric(Metric):
    """A metric that is the mean over questions of the value of one predicted answer."""

    @abstractmethod
    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return the value of one answer given the gold texts, in 0..1."""

    def statistics(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> NDArray[np.float64]:
        """Return the weighted mean value of each question's answers, 0 without one, shape (n_questions, 1)."""
        rows = np.zeros((len(questions), 1))
        for i, (question, prediction) in enumerate(zip(questions, predictions, strict=True)):
            gold = gold_of(question)
            values = [self.value(gold, answer) for answer in cast(AcceptedTexts, prediction.answers)]
            if values:
                rows[i, 0] = np.average(values, weights=prediction.weights) * prediction.answered_share
        return rows


def gold_of(question: Question) -> Any:
    """Return a question's gold: candidate indices for choices, else texts.

    Raises
    ------
    DataError
        Gold is hidden.
    """
    if question.gold is None:
        raise DataError(
            "the gold answer is hidden, so nothing can be measured",
            where=f"question {question.id}",
            hint="Use `predict` to write an official submission instead",
        )
    return question.gold
