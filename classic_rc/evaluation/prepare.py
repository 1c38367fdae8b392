"""What happens to a dataset and a solver before anything is scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sklearn.base import clone

from classic_rc.decisions import Argmax, Decision, Threshold, TiePolicy, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.questions import Dataset, Question
from classic_rc.solvers.base import Solver
from classic_rc.text.spans import SpanGenerator

__all__ = ["Overrides", "configured", "fitted", "with_spans"]


@dataclass(frozen=True)
class Overrides:
    """What a user may change in the decisions of all solvers at once; None leaves a thing as it is.

    Parameters
    ----------
    ties : {"partial", "first", "random", "strict"}, optional
        The tie policy.
    threshold : float, optional
        Takes the place of thresholds that would be tuned.
    tune_metric : str, optional
        What thresholds are tuned for.
    seed : int, optional
        The seed of everything drawn.
    """

    ties: TiePolicy | None = None
    threshold: float | None = None
    tune_metric: str | None = None
    seed: int | None = None


def with_spans(dataset: Dataset, spans: SpanGenerator | None = None) -> Dataset:
    """The dataset, its span questions given the generator's candidates if they have none yet."""
    task = dataset.task
    if task is None or not task.has_spans or dataset.span_generator is not None:
        return dataset
    generator = spans if spans is not None else SpanGenerator()
    return dataset.with_candidates(generator, generator.signature)


def configured(solver: Solver, dataset: Dataset, overrides: Overrides | None = None) -> Solver:
    """A clone of the solver with its decision for the dataset's task written out and overrides applied.

    Raises
    ------
    UsageError
        The dataset has no question, or the solver is not for its task.
    """
    overrides = overrides or Overrides()
    task = dataset.task
    if task is None:
        raise UsageError(f"{dataset.name} has no question")
    if task not in solver.tasks:
        tasks = " and ".join(sorted(solver.tasks))
        raise UsageError(f"solver {solver.name!r} is for {tasks} questions; {dataset.name} has {task} ones")
    solver = clone(solver)
    decision: Decision = clone(solver.decision_for(task))
    if isinstance(decision, Argmax):
        changes = {"ties": overrides.ties, "seed": overrides.seed}
        decision.set_params(**{name: value for name, value in changes.items() if value is not None})
    elif isinstance(decision, TunedThreshold) and overrides.threshold is not None:
        decision = Threshold(value=overrides.threshold)
    elif isinstance(decision, TunedThreshold) and overrides.tune_metric is not None:
        decision.set_params(metric=overrides.tune_metric)
    if overrides.seed is not None and "seed" in solver.get_params(deep=False):
        solver.set_params(seed=overrides.seed)
    return solver.set_params(decision=decision)


def fitted(solver: Solver, dataset: Dataset, train: Dataset | None) -> Solver:
    """A clone of the solver, fitted as its `learns_from` says.

    Raises
    ------
    UsageError
        It learns from gold and there is no training data.
    """
    solver = clone(solver)
    if solver.learns_from == "gold":
        if train is None:
            raise UsageError(f"{solver.name} learns from gold answers: give training data (--train DATA)")
        return solver.fit(train)
    if solver.learns_from == "passages":
        return solver.fit([*_texts_only(train or ()), *_texts_only(dataset)])
    return solver.fit(dataset)


def _texts_only(questions: Sequence[Question]) -> list[Question]:
    """The questions without gold and candidates: what may be learned from the data that is evaluated."""
    return [replace(q, gold=None, candidates=()) for q in questions]
