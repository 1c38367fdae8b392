"""What a metric is: a small value with a name, a sentence and a citation.

Sufficient statistics first, one row a question; the aggregate after, so that resampling, breakdowns and
cross-fitting can re-use the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.predictions import Prediction
from classic_rc.questions import Question, Task

Texts = tuple[tuple[str, ...], ...]


class Metric(ABC):
    """A measure of predictions against gold, in 0..1.

    Attributes
    ----------
    name : str
        As on the command line and in JSON: ``"f1_m"``.
    label : str
        As in a table: ``"F1m"``.
    description : str
        One sentence.
    citation : str
        Where the formula comes from: paper and section, or release.
    cites : tuple of str
        Keys of the references behind `citation`.
    tasks : frozenset of Task
        The tasks it measures.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    cites: ClassVar[tuple[str, ...]] = ()
    tasks: ClassVar[frozenset[Task]]

    @abstractmethod
    def statistics(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> NDArray[np.float64]:
        """Sufficient statistics, shape (n_questions, n_statistics); row i belongs to question i.

        Under a tie policy that keeps several answers, the weighted mean over them.

        Raises
        ------
        DataError
            A question's gold is hidden.
        """

    def from_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """The metric from means of statistics: by default the first of them.

        Parameters
        ----------
        means : ndarray of float64, shape (..., n_statistics)
            Over the questions of a dataset, of a resample or of a group.

        Returns
        -------
        ndarray of float64, shape (...)
        """
        return means[..., 0]

    def aggregate(self, statistics: NDArray[np.float64]) -> float:
        """The metric over these rows; NaN without a row."""
        return float(self.from_means(statistics.mean(axis=0))) if len(statistics) else float("nan")

    def __call__(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> float:
        """The metric over these questions."""
        return self.aggregate(self.statistics(questions, predictions))

    def __repr__(self) -> str:
        return f"<metric {self.name}>"


class TextMetric(Metric):
    """A metric that is a mean over questions of a value of one predicted answer."""

    @abstractmethod
    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """The value, in 0..1, of one answer given the gold texts."""

    def statistics(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> NDArray[np.float64]:
        """The weighted mean of the values of each question's answers, 0 without one; shape (n_questions, 1)."""
        rows = np.zeros((len(questions), 1))
        for i, (question, prediction) in enumerate(zip(questions, predictions, strict=True)):
            gold = known_gold(question)
            values = [self.value(gold, answer) for answer in cast(Texts, prediction.answers)]
            if values:
                rows[i, 0] = np.average(values, weights=prediction.weights)
        return rows


def known_gold(question: Question) -> Any:
    """The question's gold: its indices or its texts, as its task says.

    Raises
    ------
    DataError
        It is hidden.
    """
    if question.gold is None:
        raise DataError(
            "the gold answer is hidden, so nothing can be measured",
            where=f"question {question.id}",
            hint="Use `predict` to write an official submission instead",
        )
    return question.gold
