"""The base classes of metrics, and the registry of all metrics.

A metric is a small object with a name, a description and a citation. It first computes sufficient
statistics, one row per question, and then aggregates them, so that resampling, breakdowns and
cross-fitting can reuse the rows. :data:`METRICS` has every metric by name.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.kernels.arrays import offsets_of
from classic_rc.plugins import Registry, accept_instances
from classic_rc.predictions import ChosenOptions, Prediction, Scores
from classic_rc.questions import Dataset, Question, Task
from classic_rc.text.scorers import DEFAULT_SCORER, SCORERS

AcceptedTexts = tuple[tuple[str, ...], ...]

NO_ANSWER = ("",)
"""The gold of a question without an answer."""


class Metric(ABC):
    """A measure of predictions against gold, in 0..1."""

    name: ClassVar[str]  # on the command line and in JSON: "f1_m"
    label: ClassVar[str]  # in tables: "F1m"
    description: ClassVar[str]  # one sentence
    citation: ClassVar[str]  # the source of the formula: paper and section, or release
    cites: ClassVar[tuple[str, ...]] = ()  # keys of the references in `citation`
    tasks: ClassVar[frozenset[Task]]  # that it measures
    needs_unanswerable: ClassVar[bool] = (
        False  # whether it is for data in which some questions have no answer
    )

    @abstractmethod
    def statistics(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> NDArray[np.float64]:
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
        """Return the metric over rows of statistics, in 0..1, the mean over runs; NaN without
        rows.
        """
        return float(self.of_runs(statistics).mean()) if len(statistics) else float("nan")

    def of_runs(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the metric of each run, shape (n_runs,), 1 for rows of the shape (n_questions,
        n_statistics).

        Rows of several runs have the shape (n_questions, n_runs, n_statistics).
        """
        # Exact sums, because the last bit of a rounded one follows from the order of its terms.
        columns = statistics.reshape(len(statistics), -1).T.tolist()
        sums = np.array([math.fsum(column) for column in columns])
        means = (sums / len(statistics)).reshape(statistics.shape[1:])
        return np.atleast_1d(self.from_means(means))

    def of_questions(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the metric of each single question, the mean over runs, shape (n_questions,)."""
        values = self.from_means(statistics)
        return values if values.ndim == 1 else values.mean(axis=1)

    def __call__(self, questions: Sequence[Question], predictions: Sequence[Prediction]) -> float:
        """Return the metric over questions, in 0..1; NaN without questions."""
        return self.aggregate(self.statistics(questions, predictions))

    def __repr__(self) -> str:
        return f"<metric {self.name}>"


class ScoreMetric(Metric):
    """A metric of the candidates' scores, such as a reciprocal rank: answers without scores
    cannot be measured.
    """

    @abstractmethod
    def statistics_of_scores(
        self, questions: Sequence[Question], scores: Scores
    ) -> NDArray[np.float64]:
        """Return the sufficient statistics of the scores, shape (n_questions, n_statistics)."""

    def statistics(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> NDArray[np.float64]:
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

    def compare(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the value of each text if each text were gold, shape (n_texts, n_texts): row i has
        the values of text i.
        """
        return np.array([[self.value((gold,), (text,)) for gold in texts] for text in texts])

    def statistics(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> NDArray[np.float64]:
        """Return the weighted mean value of each question's answers, 0 without one, shape
        (n_questions, 1).
        """
        rows = np.zeros((len(questions), 1))
        for row, question, prediction in zip(rows, questions, predictions, strict=True):
            gold = gold_of(question)
            values = [
                self.value(gold, answer) for answer in cast(AcceptedTexts, prediction.answers)
            ]
            if values:
                mean = np.average(values, weights=prediction.weights)
                row[0] = mean * prediction.answered_share
        return rows


class Accuracy(Metric):
    """The share of questions whose chosen option is right.

    Under the tie policy ``partial``, a k-way tie scores 1/k for each right option in it, as on the
    MCTest site and in the ARC scorer. A question without an answer scores 0.
    """

    name = "accuracy"
    label = "Acc."
    description = "share of questions whose chosen option is right; a k-way tie scores 1/k"
    citation = (
        "Richardson, Burges and Renshaw 2013, MCTest; partial credit as in the authors' released "
        "results"
    )
    cites = ("richardson2013",)
    tasks = frozenset({Task.SINGLE_CHOICE})

    def statistics(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> NDArray[np.float64]:
        """Return the share of right answers among each question's tied ones, shape (n_questions,
        1).
        """
        if isinstance(predictions, ChosenOptions):
            return _credits(questions, predictions).reshape(-1, 1)
        pairs = zip(questions, predictions, strict=True)
        credits = [_credit(gold_of(question), prediction) for question, prediction in pairs]
        return np.array(credits, dtype=np.float64).reshape(-1, 1)


def _credit(gold: frozenset[int], prediction: Prediction) -> float:
    # An empty answer is a subset of any gold, but not right.
    right = [bool(answer) and gold.issuperset(answer) for answer in prediction.answers]
    if prediction.weights is None:
        return sum(right) / max(len(right), 1)
    return sum(
        weight for weight, is_right in zip(prediction.weights, right, strict=True) if is_right
    )


def _credits(questions: Sequence[Question], choices: ChosenOptions) -> NDArray[np.float64]:
    """Return :func:`_credit` of all questions."""
    golds = list(map(gold_of, questions))
    firsts = offsets_of(choices.n_candidates)
    is_right = np.zeros(firsts[-1], dtype=np.bool_)
    sizes = np.fromiter(map(len, golds), np.int64, len(golds))
    right = np.fromiter(itertools.chain.from_iterable(golds), np.int64, sizes.sum())
    is_right[np.repeat(firsts[:-1], sizes) + right] = True
    n_selected = np.diff(choices.offsets)
    question = np.repeat(np.arange(len(golds)), n_selected)  # of each selected option
    question = question[is_right[firsts[question] + choices.options]]
    n_right = np.bincount(question, minlength=len(golds))
    return n_right / np.maximum(n_selected, 1)


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


# --------------------------------------------------------------------------------------------------
# The registry


METRICS = Registry[Metric](
    "metric",
    {
        "accuracy": "classic_rc.metrics.base:Accuracy",
        "f1_m": "classic_rc.metrics.multirc:F1Macro",
        "f1_a": "classic_rc.metrics.multirc:F1Answers",
        "em0": "classic_rc.metrics.multirc:EM0",
        "em1": "classic_rc.metrics.multirc:EM1",
        "superglue_f1_m": "classic_rc.metrics.multirc:SuperGLUEF1Macro",
        "em": "classic_rc.metrics.squad:ExactMatch",
        "f1": "classic_rc.metrics.squad:F1",
        "has_ans_em": "classic_rc.metrics.squad:HasAnswerExactMatch",
        "has_ans_f1": "classic_rc.metrics.squad:HasAnswerF1",
        "no_ans_em": "classic_rc.metrics.squad:NoAnswerExactMatch",
        "no_ans_f1": "classic_rc.metrics.squad:NoAnswerF1",
        "quoref_em": "classic_rc.metrics.quoref:QuorefExactMatch",
        "quoref_f1": "classic_rc.metrics.quoref:QuorefF1",
        **{
            name: f"classic_rc.metrics.squad:{name}"
            for scorer in SCORERS.values()
            for name in scorer.labels
            if scorer.name != DEFAULT_SCORER
        },
    },
    accept_instances("classic_rc.metrics:Metric"),
)
"""Every metric by name; an entry is imported when it is first used."""

_TABLE_METRICS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("accuracy",),
    Task.MULTIPLE_ANSWER: ("f1_m", "f1_a", "em0", "em1", "superglue_f1_m"),
    Task.CLOZE: ("em", "f1"),
    Task.SPAN: ("em", "f1", "has_ans_em", "has_ans_f1", "no_ans_em", "no_ans_f1"),
    Task.MULTI_SPAN: ("quoref_em", "quoref_f1"),
}
_PRIMARY = {
    Task.SINGLE_CHOICE: "accuracy",
    Task.MULTIPLE_ANSWER: "f1_a",
    Task.CLOZE: "f1",
    Task.MULTI_SPAN: "quoref_f1",
}
_SOLVED_BY = {
    Task.SINGLE_CHOICE: "accuracy",
    Task.MULTIPLE_ANSWER: "em0",
    Task.CLOZE: "em",
    Task.MULTI_SPAN: "quoref_em",
}


class HasTask(Protocol):
    """Something with a task: a question, a dataset, or results on one."""

    @property
    def task(self) -> Task | None:
        """The task."""

    @property
    def scorers(self) -> tuple[str, ...]:
        """The scorers of span questions, the primary one first; empty for the default one."""


def get_metric(name: str) -> Metric:
    """Return the metric of a name.

    Raises
    ------
    UsageError
        The name is unknown; the message suggests the closest names.
    """
    try:
        return METRICS[name]
    except KeyError:
        raise unknown_name("metric", name, METRICS) from None


def _task_and_scorers(subject: Task | HasTask) -> tuple[Task, tuple[str, ...]]:
    if isinstance(subject, Task):
        return subject, (DEFAULT_SCORER,)
    assert subject.task is not None  # there are questions
    return subject.task, subject.scorers or (DEFAULT_SCORER,)


def metrics_for(subject: Task | HasTask, *, unanswerable: bool = False) -> tuple[Metric, ...]:
    """Return the metrics that tables show if none is named, in the order of columns. Others are
    measured if they are named.

    Parameters
    ----------
    subject : Task, Question, Dataset or SharedResults
        A task alone means the default scorer.
    unanswerable : bool
        Also return those for data in which some questions have no answer; see
        :func:`has_unanswerable`.

    Examples
    --------
    >>> [metric.name for metric in metrics_for(Task.SPAN)]
    ['em', 'f1']
    """
    task, scorers = _task_and_scorers(subject)
    names: Sequence[str] = _TABLE_METRICS[task]
    if task is Task.SPAN:
        by_scorer = ((names if s == DEFAULT_SCORER else SCORERS[s].labels) for s in scorers)
        names = [name for of_scorer in by_scorer for name in of_scorer]
    metrics = (METRICS[name] for name in names)
    return tuple(metric for metric in metrics if unanswerable or not metric.needs_unanswerable)


def measured_metrics(dataset: Dataset, named: Iterable[str] = ()) -> tuple[Metric, ...]:
    """Return the metrics to measure on a dataset: those that its tables show, and others by
    name.

    Raises
    ------
    UsageError
        Its questions have different scorers.
    """
    scorer_sets = {question.scorers for question in dataset}
    if len(scorer_sets) > 1:
        names = sorted("+".join(scorers) or DEFAULT_SCORER for scorers in scorer_sets)
        listed = ", ".join(names)
        raise UsageError(
            f"the questions of {dataset.name} have different scorers, {listed}: name one for all "
            f"of them, DATA,scorer={names[0]}",
            field="scorer",
            found=listed,
            expected="one scorer",
        )
    standard = metrics_for(dataset, unanswerable=has_unanswerable(dataset))
    return tuple(dict.fromkeys([*standard, *(METRICS[name] for name in named)]))


def has_unanswerable(questions: Iterable[Question]) -> bool:
    """Return whether a span question has no answer: its gold is the empty text."""
    return any(question.task is Task.SPAN and question.gold == NO_ANSWER for question in questions)


def primary_metric(subject: Task | HasTask) -> Metric:
    """Return the main metric, used where only one is possible: in tuning and in
    ``Solver.score``.

    Examples
    --------
    >>> primary_metric(Task.MULTIPLE_ANSWER).name
    'f1_a'
    """
    task, scorers = _task_and_scorers(subject)
    _, f1 = SCORERS[scorers[0]].labels
    return METRICS[_PRIMARY.get(task, f1)]


def solved_metric(subject: Task | HasTask) -> Metric:
    """Return the metric that is 1 if a question is answered exactly (:data:`FULL_CREDIT`).

    Examples
    --------
    >>> solved_metric(Task.SPAN).name
    'em'
    """
    task, scorers = _task_and_scorers(subject)
    exact_match, _ = SCORERS[scorers[0]].labels
    return METRICS[_SOLVED_BY.get(task, exact_match)]


def metric_of_task(subject: Task | HasTask, name: str | None = None) -> Metric:
    """Return the metric of a name, or the main metric.

    Raises
    ------
    UsageError
        The metric is unknown or does not apply to the task.

    Examples
    --------
    >>> metric_of_task(Task.SPAN, "em").label
    'EM'
    """
    if name is None:
        return primary_metric(subject)
    task, _ = _task_and_scorers(subject)
    if name in METRICS and task in METRICS[name].tasks:
        return METRICS[name]
    task_metrics = [metric.name for metric in METRICS.values() if task in metric.tasks]
    if name in METRICS:
        listed = ", ".join(task_metrics)
        message = f"metric {name!r} does not apply to {task} questions: choose from {listed}"
        raise UsageError(message, field="metric", found=name, expected=listed)
    raise unknown_name("metric", name, task_metrics)


FULL_CREDIT = 1 - 1e-9
"""A question with at least as much of :func:`solved_metric` is solved."""
