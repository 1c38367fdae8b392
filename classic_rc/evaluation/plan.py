"""What runs, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from classic_rc.decisions import Argmax, Cuts, Decision, RelativeThreshold, Threshold, TiePolicy, TunedThreshold
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.base import Solver
from classic_rc.text.spans import SpanGenerator


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
    tune_cuts : {"exact", "multirc2018"}, optional
        Which thresholds are tried.
    relative_threshold : float, optional
        Several-span answers are all spans that score so close to the best one, in place of that alone.
    """

    ties: TiePolicy | None = None
    threshold: float | None = None
    tune_metric: str | None = None
    seed: int | None = None
    tune_cuts: Cuts | None = None
    relative_threshold: float | None = None


def with_spans(dataset: Dataset, spans: SpanGenerator | None = None) -> Dataset:
    """The dataset, its span questions given the generator's candidates if they have none yet."""
    task = dataset.task
    if task is None or not task.has_spans or dataset.span_generator is not None:
        return dataset
    generator = spans if spans is not None else SpanGenerator()
    return dataset.with_candidates(generator, generator.signature)


def require_gold(dataset: Dataset, purpose: str) -> None:
    """Refuse a dataset of which any gold answer is hidden.

    Raises
    ------
    DataError
    """
    hidden = sum(question.gold is None for question in dataset)
    if hidden:
        raise DataError(
            f"{hidden:,} of {len(dataset):,} questions hide their gold answers, so {purpose}", source=dataset.name
        )


def configured(solver: Solver, dataset: Dataset, overrides: Overrides | None = None) -> Solver:
    """A clone of the solver with its decision for the dataset's task written out and overrides applied.

    A rule that picks one candidate, as most published variants have, gives way to the solver's usual one where
    several may be right, and a threshold where one is.

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
    if not isinstance(solver.decision, Decision | None):
        raise UsageError(
            f"parameter 'decision' of {solver.name} must be a decision rule, got {solver.decision!r}: "
            "on the command line say --ties or --threshold"
        )
    solver = _fresh(solver)
    decision: Decision = clone(solver.decision_for(task))
    if isinstance(decision, Argmax if task is Task.MULTIPLE_ANSWER else Threshold | TunedThreshold):
        decision = solver.default_decision(task)
    changes: dict[str, Any]
    if overrides.relative_threshold is not None and task is Task.MULTI_SPAN and isinstance(decision, Argmax):
        decision = RelativeThreshold(margin=overrides.relative_threshold)
    if isinstance(decision, Argmax):
        changes = {"ties": overrides.ties, "seed": overrides.seed}
        decision.set_params(**{name: value for name, value in changes.items() if value is not None})
    elif isinstance(decision, TunedThreshold) and overrides.threshold is not None:
        decision = Threshold(value=overrides.threshold)
    elif isinstance(decision, TunedThreshold):
        changes = {"metric": overrides.tune_metric, "cuts": overrides.tune_cuts}
        decision.set_params(**{name: value for name, value in changes.items() if value is not None})
    if overrides.seed is not None:
        names = (name for name in solver.get_params() if "decision" not in name.split("__"))
        solver.set_params(**{name: overrides.seed for name in names if name.split("__")[-1] == "seed"})
    solver.decision = decision
    return solver


def fitted(solver: Solver, dataset: Dataset, train: Dataset | None) -> Solver:
    """A clone of the solver, fitted as its `learns_from` says; never to the gold answers of `dataset`.

    Raises
    ------
    UsageError
        It learns from gold, and there is no training data or data of another task.
    """
    if solver.learns_from == "gold" and train is not None:
        check_task(train, dataset, "training")
    return _fresh(solver).fit_for(dataset, train)


def check_task(other: Dataset, dataset: Dataset, role: str) -> None:
    """Refuse training or tuning data of another task than the data that is to be answered.

    Raises
    ------
    UsageError
    """
    if other.task is not dataset.task:
        raise UsageError(
            f"{role} data {other.name} has {other.task} questions, and {dataset.name} has {dataset.task} ones"
        )


def _fresh(solver: Solver) -> Solver:
    """An unfitted clone. A solver whose constructor takes no decision keeps the one it was given."""
    copy: Solver = clone(solver)
    copy.decision = solver.decision
    return copy
