"""The registry of metrics: by name, and those that tables show for each task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from classic_rc.errors import UsageError, unknown_name
from classic_rc.metrics.accuracy import Accuracy, OptionAccuracy
from classic_rc.metrics.base import Metric
from classic_rc.metrics.multirc import EM0, EM1, F1Answers, F1Macro, SelectionMetric, SuperGLUEF1Macro
from classic_rc.metrics.quoref import QuorefExactMatch, QuorefF1
from classic_rc.metrics.squad import (
    F1,
    NO_ANSWER,
    ExactMatch,
    HasAnswerExactMatch,
    HasAnswerF1,
    NoAnswerExactMatch,
    NoAnswerF1,
)
from classic_rc.plugins import Registry, accept_instances, by_name
from classic_rc.questions import Dataset, Question, Task

METRICS = Registry[Metric](
    "metric",
    by_name(
        Accuracy(),
        F1Macro(),
        F1Answers(),
        EM0(),
        EM1(),
        SuperGLUEF1Macro(),
        ExactMatch(),
        F1(),
        HasAnswerExactMatch(),
        HasAnswerF1(),
        NoAnswerExactMatch(),
        NoAnswerF1(),
        QuorefExactMatch(),
        QuorefF1(),
    ),
    accept_instances("classic_rc.metrics:Metric"),
)
"""Every metric by name."""

TABLE_METRICS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("accuracy",),
    Task.MULTIPLE_ANSWER: ("f1_m", "f1_a", "em0", "em1", "superglue_f1_m"),
    Task.CLOZE: ("em", "f1"),
    Task.SPAN: ("em", "f1", "has_ans_em", "has_ans_f1", "no_ans_em", "no_ans_f1"),
    Task.MULTI_SPAN: ("quoref_em", "quoref_f1"),
}
"""The metrics that tables show if none is named, in the order of columns. Others are measured if they are named."""

SELECTION_METRICS: dict[str, SelectionMetric] = {
    **{name: metric for name, metric in METRICS.own.items() if isinstance(metric, SelectionMetric)},
    "accuracy": OptionAccuracy(),
}
"""The metrics that a threshold can be tuned for, by name. Tables show all but the accuracy, which here is the
accuracy of options."""

_PRIMARY = {
    Task.SINGLE_CHOICE: "accuracy",
    Task.MULTIPLE_ANSWER: "f1_a",
    Task.CLOZE: "f1",
    Task.SPAN: "f1",
    Task.MULTI_SPAN: "quoref_f1",
}


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


def selection_metric(name: str) -> SelectionMetric:
    """Return the metric of a name among those of multiple-answer questions.

    Raises
    ------
    UsageError
        The name is unknown; the message suggests the closest names.

    Examples
    --------
    >>> selection_metric("accuracy").description
    'share of options labelled correctly'
    """
    try:
        return SELECTION_METRICS[name]
    except KeyError:
        raise unknown_name("multiple-answer metric", name, SELECTION_METRICS) from None


def metrics_for(task: Task, *, unanswerable: bool = False) -> tuple[Metric, ...]:
    """Return the metrics that tables of `task` show, in the order of columns.

    Parameters
    ----------
    task : Task
    unanswerable : bool
        Also return those for data in which some questions have no answer; see :func:`has_unanswerable`.

    Examples
    --------
    >>> [metric.name for metric in metrics_for(Task.SPAN)]
    ['em', 'f1']
    """
    shown = (METRICS[name] for name in TABLE_METRICS[task])
    return tuple(metric for metric in shown if unanswerable or not metric.needs_unanswerable)


def measured_metrics(dataset: Dataset, named: Iterable[str] = ()) -> tuple[Metric, ...]:
    """Return the metrics to measure on a dataset: those that its tables show, and others by name."""
    assert dataset.task is not None
    shown = metrics_for(dataset.task, unanswerable=has_unanswerable(dataset))
    return tuple(dict.fromkeys([*shown, *(METRICS[name] for name in named)]))


def has_unanswerable(questions: Iterable[Question]) -> bool:
    """Return whether a span question has no answer: its gold is the empty text."""
    return any(question.task is Task.SPAN and question.gold == NO_ANSWER for question in questions)


def primary_metric(task: Task) -> Metric:
    """Return the main metric of `task`, used where only one is possible: in tuning and in ``Solver.score``.

    Examples
    --------
    >>> primary_metric(Task.MULTIPLE_ANSWER).name
    'f1_a'
    """
    return METRICS[_PRIMARY[task]]


def metric_of_task(task: Task, name: str | None = None) -> Metric:
    """Return the metric of a name, or the task's main metric.

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
        return primary_metric(task)
    if name in METRICS and task in METRICS[name].tasks:
        return METRICS[name]
    known = [metric.name for metric in METRICS.values() if task in metric.tasks]
    if name in METRICS:
        raise UsageError(
            f"metric {name!r} does not apply to {task} questions: choose from {', '.join(known)}",
            field="metric",
            found=name,
            expected=", ".join(known),
        )
    raise unknown_name("metric", name, known)
