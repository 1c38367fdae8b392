"""The span oracle: the metrics that a perfect choice among the candidate spans would reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from classic_rc.metrics.base import METRICS, AcceptedTexts, TextMetric, gold_of, metrics_for
from classic_rc.predictions import Prediction
from classic_rc.questions import Dataset, Question, Task
from classic_rc.running.fitted_system import iter_blocks


def compute_span_oracle(dataset: Dataset) -> SpanOracle:
    """Score a perfect choice among a dataset's candidate spans; hidden gold is a DataError."""
    oracle = SpanOracle()
    for _, questions in iter_blocks(dataset):
        oracle.add(questions)
    return oracle


@dataclass
class SpanOracle:
    """The highest possible metrics over the questions that were added."""

    n_questions: int = 0
    # By metric, the score of each question's best answer: with any number of spans, and with one.
    best: dict[str, list[float]] = field(default_factory=dict)
    best_single: dict[str, list[float]] = field(default_factory=dict)

    def add(self, questions: Sequence[Question]) -> None:
        """Add questions whose candidates are in memory."""
        predictions = oracle_predictions(questions)
        singles = [_best_single(q, p) for q, p in zip(questions, predictions, strict=True)]
        for metric in metrics_for(questions[0]) if len(questions) else ():
            for scores, answers in ((self.best, predictions), (self.best_single, singles)):
                values = metric.statistics(questions, answers)[:, 0]
                scores.setdefault(metric.name, []).extend(values.tolist())
        self.n_questions += len(questions)

    @property
    def ceilings(self) -> dict[str, float]:
        """Each metric's ceiling, in 0..1.

        For exact match it is the share of questions whose gold is among the candidates.
        """
        return _means(self.best)

    @property
    def single_span_ceilings(self) -> dict[str, float]:
        """Each metric's ceiling for answers of at most one span, in 0..1."""
        return _means(self.best_single)

    @property
    def note(self) -> str:
        """A line for the results of a run."""
        note = (
            "a perfect choice among the candidate spans would score "
            f"{_format_values(self.ceilings)}"
        )
        if self.best_single == self.best:
            return note
        return (
            f"{note}; a perfect choice of one span per question, "
            f"{_format_values(self.single_span_ceilings)}"
        )


def _means(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    # Exact sums: the size of blocks changes no digit.
    return {name: math.fsum(values) / len(values) for name, values in scores.items()}


def _format_values(values: Mapping[str, float]) -> str:
    scores = (f"{METRICS[name].label} {100 * value:.2f}" for name, value in values.items())
    return ", ".join(scores)


def oracle_predictions(questions: Sequence[Question]) -> list[Prediction]:
    """Answer each question perfectly: with the candidate nearest to each gold text.

    The nearest candidate matches exactly (normalised as the metric does) or, if none does, has the
    highest F1; the first one wins among equals. If any one of the gold texts is enough, the answer
    is the single best of these candidates. Questions without candidates have no answer; those of a
    passage share their list of candidates.
    """
    predictions = []
    texts: Sequence[str] = ()
    previous = None
    for question in questions:
        if question.candidates is not previous:
            previous = question.candidates
            texts = list(dict.fromkeys(candidate.text for candidate in previous))
        answers = _best_answers(question, texts)
        n_candidates = len(question.candidates)
        predictions.append(Prediction(question.id, answers, n_candidates=n_candidates))
    return predictions


def _best_answers(question: Question, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    gold = gold_of(question)
    if not gold or not texts:
        return ()
    text_set = set(texts)
    best_texts = []
    for text in gold:
        # Nearly all gold texts are exactly candidates: only the others need a search.
        nearest = text if text in text_set else max(texts, key=_measures(question, (text,)))
        best_texts.append(nearest)
    if question.task is Task.MULTI_SPAN:
        return (tuple(best_texts),)
    best = max(best_texts, key=_measures(question, gold))
    return ((best,),)


def _measures(question: Question, gold: tuple[str, ...]) -> Callable[[str], tuple[float, ...]]:
    """Return a function that scores one text by each metric, exact match first."""
    metrics = [metric for metric in metrics_for(question) if isinstance(metric, TextMetric)]
    return lambda text: tuple(metric.value(gold, (text,)) for metric in metrics)


def _best_single(question: Question, prediction: Prediction) -> Prediction:
    """Return the prediction with only the text that scores best as the single answer."""
    gold = gold_of(question)
    answers = cast(AcceptedTexts, prediction.answers)
    best = tuple((max(answer, key=_measures(question, gold)),) for answer in answers)
    return replace(prediction, answers=best)
