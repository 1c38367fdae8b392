"""Answers without measuring: for submissions, whose gold may be hidden."""

from __future__ import annotations

from dataclasses import dataclass

from classic_rc.evaluation.fitted_system import Encodings, System, blocks
from classic_rc.evaluation.learning import Learning, fit_warnings
from classic_rc.evaluation.plan import Overrides, configured, with_spans
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.spans import SpanGenerator


@dataclass(frozen=True)
class Predicted:
    """A solver's output on a dataset.

    Parameters
    ----------
    scores : Scores or None
        None for spans, which are scored and dropped some passages at a time.
    predictions : list of Prediction or None
        None where they were not wanted.
    warnings : tuple of str
        What the reader of the numbers should know.
    """

    scores: Scores | None
    predictions: list[Prediction] | None
    warnings: tuple[str, ...] = ()

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
    cv: int | None = None,
    group: str | None = None,
    drop_overlap: bool = False,
    overrides: Overrides | None = None,
    spans: SpanGenerator | None = None,
    jobs: int = 1,
) -> Predicted:
    """Score a dataset and, if wanted, decide.

    Parameters
    ----------
    dataset : Dataset
        Gold may be hidden.
    solver : Solver
        Cloned, never changed.
    decide : bool
        Whether predictions are wanted, or scores alone (which need no threshold).
    train, tune, cv, group, drop_overlap, spans, jobs
        As in :func:`classic_rc.evaluate`.
    overrides : Overrides, optional
        Tie policy, threshold, what it is tuned for, seed.

    Returns
    -------
    Predicted

    Raises
    ------
    UsageError
        A threshold or a parameter has to be tuned, there is no tuning data and gold is hidden.
    """
    dataset = with_spans(dataset, spans)
    solver = configured(solver, dataset, overrides)
    to_tune = solver.tunes_parameters or (decide and System.wants_tuning(solver, dataset))
    train, tune = (other and with_spans(other, spans) for other in (train, tune))
    learning = Learning(train, tune, cv, group, drop_overlap).apart_from(dataset)
    system = learning.system(solver, dataset, tune=to_tune, cross_fit=to_tune and tune is None)
    kept: list[Scores | None] = []
    predictions: dict[int, Prediction] = {}
    for index, questions in blocks(dataset):
        encodings = Encodings(questions, index)
        if decide or system.cross_fit:
            answered, scores = system.answer(encodings, jobs)
            predictions.update(zip(index.tolist(), answered, strict=True))
        else:
            scores = system.score(encodings, jobs)
        kept.append(scores if dataset.span_generator is None else None)
    return Predicted(
        kept[0] if len(kept) == 1 else None,
        [predictions[i] for i in range(len(dataset))] if decide else None,
        (*learning.notes, *fit_warnings([system])),
    )
