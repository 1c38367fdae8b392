"""The checks that every metric must pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.metrics.base import Metric, ScoreMetric
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Dataset, Gold, Question, Task
from classic_rc.testing.synthetic import synthetic_dataset


def check_metric(metric: Metric) -> None:
    """Check that a metric keeps the contract of the Metric interface, on each of its tasks.

    Values are in 0..1, gold scores 1 and no answer 0, tied answers count by their weights, a
    question's statistics do not depend on other questions, and hidden gold is a DataError.

    Parameters
    ----------
    metric : Metric

    Raises
    ------
    AssertionError
        A check fails. The message describes the problem and names the task.

    Examples
    --------
    >>> from classic_rc.metrics import get_metric
    >>> check_metric(get_metric("f1_a"))
    """
    for name in ("name", "label", "description", "citation", "tasks"):
        assert getattr(metric, name, None), f"{metric!r}: {name} is missing"
    for task in sorted(metric.tasks):
        try:
            _check_task(metric, task)
        except AssertionError as error:
            raise AssertionError(f"{metric.name} on {task} questions: {error}") from error


def _check_task(metric: Metric, task: Task) -> None:
    dataset = _questions(task, metric.needs_unanswerable)
    right = _statistics(metric, dataset, [question.gold for question in dataset])
    wrong = _statistics(metric, dataset, [_wrong_answer(question) for question in dataset])
    value = metric.aggregate(right)
    assert value > 1 - 1e-9, f"gold must score 1, got {value}"
    assert value < 1 + 1e-9, f"the value must be at most 1, got {value}"
    assert 0 <= metric.aggregate(wrong) < 1, "wrong answers must score at least 0 and less than 1"
    assert np.isnan(metric.aggregate(right[:0])), "the value of no question must be NaN"
    order = list(range(len(dataset)))[::-1]
    shuffled = dataset[::-1]
    assert np.array_equal(
        _statistics(metric, shuffled, [q.gold for q in shuffled]), right[order]
    ), "the statistics of a question must not depend on other questions"
    place = None
    try:
        _statistics(metric, [replace(dataset[0], gold=None)], [dataset[0].gold])
    except DataError as error:
        place = error.where
    assert place == f"question {dataset[0].id}", (
        "hidden gold must be a DataError that names the question"
    )
    if isinstance(metric, ScoreMetric):
        return
    nothing = [Prediction(question.id, ()) for question in dataset]
    assert metric(dataset, nothing) == 0, "without an answer nothing is earned"
    for weights in (None, (0.75, 0.25)):
        tied = []
        for question in dataset:
            answers = _answer(task, question.gold), _answer(task, _wrong_answer(question))
            tied.append(Prediction(question.id, answers, weights))
        first = 0.5 if weights is None else weights[0]
        expected = first * right + (1 - first) * wrong
        assert np.allclose(metric.statistics(dataset, tied), expected), (
            "the statistics of tied answers must be their weighted mean"
        )


def _questions(task: Task, needs_unanswerable: bool) -> Sequence[Question]:
    """Return questions with candidates and a right answer, and one that has no answer if the
    metric needs it.
    """
    dataset: Dataset = synthetic_dataset(task)
    questions = [question for question in dataset if question.gold and question.passage.text]
    if task.has_choices:
        questions = [q for q in questions if len(q.gold or ()) < len(q.candidates)]
    if task.has_spans:
        words = [dict.fromkeys(q.passage.text.split()) for q in questions]
        candidates = [tuple(map(Candidate, distinct)) for distinct in words]
        pairs = zip(questions, candidates, strict=True)
        questions = [replace(q, candidates=spans) for q, spans in pairs]
    if not task.has_choices:  # a text that is empty once it is normalised need not score 1
        golds = [_longest_words(q.passage.text, len(q.gold or ())) for q in questions]
        questions = [replace(q, gold=gold) for q, gold in zip(questions, golds, strict=True)]
    if needs_unanswerable:
        questions[0] = replace(questions[0], gold=("",))
    return questions


def _longest_words(text: str, n: int) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(text.rstrip(".!?").split()), key=len)[-n:])


def _wrong_answer(question: Question) -> Gold:
    if question.task.has_choices:
        assert isinstance(question.gold, frozenset)
        return frozenset(range(len(question.candidates))) - question.gold
    return ("7 unheard-of",)


def _answer(task: Task, gold: Gold) -> frozenset[int] | tuple[str, ...]:
    """Return an answer that is gold: of several accepted texts the first."""
    assert gold is not None
    return gold[:1] if isinstance(gold, tuple) and task is not Task.MULTI_SPAN else gold


def _statistics(
    metric: Metric, questions: Sequence[Question], golds: Sequence[Gold]
) -> NDArray[np.float64]:
    """Return the statistics of answers, or of scores that are 1 for the candidates of the
    answers and else 0.
    """
    pairs = list(zip(questions, golds, strict=True))
    if not isinstance(metric, ScoreMetric):
        predictions = [
            Prediction(question.id, (_answer(question.task, gold),)) for question, gold in pairs
        ]
        rows = metric.statistics(questions, predictions)
    else:
        scores: list[list[float]] = []
        for question, gold in pairs:
            answers = _candidate_answers(question)
            scores.append([float(answer in (gold or ())) for answer in answers])
        rows = metric.statistics_of_scores(questions, Scores.from_lists(scores))
    assert rows.shape[0] == len(questions), (
        f"{len(questions)} rows of statistics are due, got {rows.shape[0]}"
    )
    assert rows.ndim == 2, f"the statistics must be an array of two dimensions, got {rows.ndim}"
    return rows


def _candidate_answers(question: Question) -> Sequence[int | str]:
    """Return what gold has of each candidate that is right: its index, or its text."""
    if question.task.has_choices:
        return range(len(question.candidates))
    return [candidate.text for candidate in question.candidates]
