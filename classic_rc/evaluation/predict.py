"""Answers without measuring: for submissions, whose gold may be hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classic_rc.errors import UsageError
from classic_rc.evaluation.blocks import blocks
from classic_rc.evaluation.scoring import score_in_shards
from classic_rc.evaluation.tuning import cross_fit_decision, cross_fit_solver
from classic_rc.evaluation.evaluate import configured, fitted, with_spans
from classic_rc.decisions import TiePolicy
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.spans import SpanGenerator

__all__ = ["Predicted", "predict"]


@dataclass(frozen=True)
class Predicted:
    """A solver's output on a dataset.

    Parameters
    ----------
    dataset : Dataset
        With the candidates that were scored.
    scores : Scores or None
        None for spans, which are scored and dropped a passage at a time.
    predictions : list of Prediction or None
        None where they were not asked for.
    """

    dataset: Dataset
    scores: Scores | None
    predictions: list[Prediction] | None

    @property
    def n_tied(self) -> int:
        """How many questions' answers were chosen among equals."""
        return sum(p.n_tied > 1 for p in self.predictions or ())


def predict(
    dataset: Dataset,
    solver: Solver,
    *,
    decide: bool = True,
    train: Dataset | None = None,
    tune: Dataset | None = None,
    ties: TiePolicy | None = None,
    threshold: float | None = None,
    tune_metric: str | None = None,
    seed: int | None = None,
    spans: SpanGenerator | None = None,
    jobs: int = 1,
) -> Predicted:
    """Score a dataset and, if wanted, decide; parameters as in :func:`classic_rc.evaluate`.

    Parameters
    ----------
    decide : bool
        Whether predictions are wanted, or scores alone (which need no threshold).

    Returns
    -------
    Predicted
    """
    if not len(dataset):
        raise UsageError(f"{dataset.name} has no question to answer")
    dataset = with_spans(dataset, spans)
    solver = configured(solver, dataset, ties=ties, threshold=threshold, tune_metric=tune_metric, seed=seed)
    ready = fitted(solver, dataset, train)
    assert dataset.task is not None
    decision = ready.decision_for(dataset.task)
    wants_tuning = ready.tunes_parameters or (decide and decision.needs_fit)
    if wants_tuning and tune is not None:
        ready.tune(with_spans(tune, spans))
    elif wants_tuning and any(q.gold is None for q in dataset):
        raise UsageError(
            f"{dataset.name} hides its gold answers, so nothing can be tuned on it: "
            "tune on another split (--tune DATA) or fix the threshold (--threshold T)"
        )
    elif wants_tuning and ready.tunes_parameters:
        answered, _ = cross_fit_solver(lambda: fitted(solver, dataset, train), dataset)
        return Predicted(dataset, None, answered)

    kept: list[Scores] = []
    predictions: list[Prediction | None] = [None] * len(dataset)
    for index, questions in blocks(dataset):
        scores = score_in_shards(ready, _prepared(ready, questions), jobs)
        if dataset.span_generator is None:
            kept.append(scores)
        if not decide:
            continue
        if wants_tuning and tune is None:
            decided, _ = cross_fit_decision(decision, scores, questions)
        else:
            decided = getattr(ready, "decision_", decision).decide(scores, questions)
        for i, prediction in zip(index.tolist(), decided, strict=True):
            predictions[i] = prediction
    return Predicted(
        dataset,
        Scores.concatenate(kept) if kept else None,
        [p for p in predictions if p is not None] if decide else None,
    )


def _prepared(solver: Solver, questions):
    return solver.encoded(questions) if solver.analyzer is not None else questions
