"""From scores to answers: the best candidate under a tie policy, or all candidates above a threshold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from classic_rc.errors import NotFittedError, UsageError
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.metrics import get_metric
from classic_rc.metrics.selection import Counts, SelectionMetric
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question, Task

__all__ = [
    "TIE_POLICIES",
    "TIE_TOLERANCE",
    "Argmax",
    "Decision",
    "Threshold",
    "TiePolicy",
    "TunedThreshold",
    "default_decision",
]

TiePolicy: TypeAlias = Literal["partial", "first", "random", "strict"]
TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)

TIE_TOLERANCE = 1e-6
"""Candidates this close to the best score tie with it. ln 5/4 = ln 9/8 + ln 10/9, but their rounded weights
differ by one unit of 2**-26; the smallest genuine gap on MCTest and DREAM is 1.6e-5."""


class Decision(BaseEstimator, ABC):
    """A rule that turns scores into predictions."""

    @abstractmethod
    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question from its candidates' scores."""

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Learn the rule's constants, if it has any that are not given."""
        return self

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`decide` has to wait for :meth:`fit`."""
        return False


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


class Threshold(Decision):
    """Every candidate whose score is above a value.

    Parameters
    ----------
    value : float
    """

    def __init__(self, *, value: float = 0.5) -> None:
        self.value = value

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the threshold."""
        return _above(self.value, scores, questions)


class TunedThreshold(Decision):
    """Every candidate whose score is above the value that is best for a metric on the questions of `fit`.

    Parameters
    ----------
    metric : str
        A metric of multiple-answer questions: ``"f1_a"``, ``"f1_m"``, ``"em0"``, …

    Attributes
    ----------
    best_threshold_ : float
        Halfway between two neighbouring scores, or 1 beyond the lowest one.
    best_score_ : float
        The metric there, in 0..1.
    """

    def __init__(self, *, metric: str = "f1_a") -> None:
        self.metric = metric

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`fit` has yet to be called."""
        return not hasattr(self, "best_threshold_")

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Sweep all cut points exactly, in O(n log n); of equally good ones the highest is taken."""
        metric = get_metric(self.metric)
        if not isinstance(metric, SelectionMetric):
            raise UsageError(f"a threshold cannot be tuned for {self.metric!r}: it is no multiple-answer metric")
        thresholds, values = sweep(metric, scores, questions)
        # Cumulative sums round in their last digits: do not let them choose among equals.
        best = int(np.flatnonzero(values >= values.max() - 1e-12)[0])
        self.best_threshold_, self.best_score_ = float(thresholds[best]), float(values[best])
        return self

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the tuned threshold."""
        if self.needs_fit:
            raise NotFittedError(
                "the threshold has not been tuned: call tune() with a split that has gold answers, "
                "or give a fixed one (decision=Threshold(value=…), on the command line --threshold)"
            )
        return _above(self.best_threshold_, scores, questions)


def sweep(
    metric: SelectionMetric, scores: Scores, questions: Sequence[Question]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A metric at every threshold that makes a difference.

    Returns
    -------
    thresholds : ndarray of float64, shape (n_cuts,)
        Falling: above all scores, halfway between each two neighbouring distinct ones, below all.
    values : ndarray of float64, shape (n_cuts,)
    """
    if not np.isfinite(scores.values).all():
        raise UsageError("a threshold cannot be tuned: some scores are infinite")
    question = np.repeat(np.arange(len(scores)), np.diff(scores.offsets))
    gold = _gold_flags(scores, questions)
    right = np.bincount(question, weights=gold, minlength=len(scores)).astype(np.float64)
    options = np.diff(scores.offsets).astype(np.float64)

    # Within each question, candidates become selected from the best down; each step changes its statistics.
    order = np.lexsort((-scores.values, question))
    rank = np.arange(len(order)) - scores.offsets[question]
    tp = np.cumsum(gold[order]) - (np.cumsum(right) - right)[question]
    none_selected = metric.of_counts(Counts(np.zeros_like(right), np.zeros_like(right), right, options))
    after = metric.of_counts(Counts(tp, rank + 1 - tp, right[question], options[question]))
    before = np.where(rank[:, None] == 0, none_selected[question], np.roll(after, 1, axis=0))

    # Over all questions, the same steps in the order of falling scores; a cut lies where the score changes.
    falling = np.argsort(-scores.values[order], kind="stable")
    values = scores.values[order][falling]
    totals = np.cumsum((after - before)[falling], axis=0) + none_selected.sum(axis=0)
    last_of_equals = np.flatnonzero(np.diff(values, append=-np.inf))
    totals = np.concatenate((none_selected.sum(axis=0)[None], totals[last_of_equals]))
    distinct = values[last_of_equals]
    if not len(distinct):
        return np.zeros(1), metric.from_means(totals / max(len(scores), 1))
    thresholds = np.concatenate(
        (distinct[:1], distinct[1:] + (distinct[:-1] - distinct[1:]) / 2, distinct[-1:] - 1)
    )
    return thresholds, metric.from_means(totals / len(scores))


def _gold_flags(scores: Scores, questions: Sequence[Question]) -> NDArray[np.float64]:
    flags = np.zeros(len(scores.values))
    for question, start in zip(questions, scores.offsets[:-1].tolist(), strict=True):
        if question.gold is None or not question.task.has_choices:
            raise UsageError(f"a threshold cannot be tuned on question {question.id}: it has no gold choices")
        flags[[start + index for index in question.gold]] = 1
    return flags


def _above(threshold: float, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
    if len(questions) and questions[0].task is not Task.MULTIPLE_ANSWER:
        raise UsageError(
            f"a threshold selects any number of candidates, and {questions[0].task} questions have one answer"
        )
    selected = [np.flatnonzero(row > threshold).tolist() for row in scores]
    return [
        Prediction(q.id, (frozenset(chosen),), n_candidates=len(row))
        for q, chosen, row in zip(questions, selected, scores, strict=True)
    ]


def default_decision(task: Task) -> Decision:
    """The rule for a task: a threshold where several candidates may be right, else the best candidate."""
    return TunedThreshold() if task is Task.MULTIPLE_ANSWER else Argmax()


def describe(decision: Decision) -> dict[str, Any]:
    """A decision's parameters as plain data, its kind included."""
    return {"rule": type(decision).__name__, **decision.get_params(deep=False)}
