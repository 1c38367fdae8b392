"""What an evaluation runs: options and solvers, checked once, before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone

from classic_rc.decisions import Argmax, Cuts, Decision, RelativeThreshold, Threshold, TiePolicy, TunedThreshold
from classic_rc.errors import DataError, UsageError
from classic_rc.folds import FoldPlan, Overlap, overlap, without_overlap
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


@dataclass(frozen=True)
class Learning:
    """The data and the folds that solvers learn from and are tuned on.

    Parameters
    ----------
    train : Dataset, optional
        What solvers learn from.
    tune : Dataset, optional
        What thresholds and tuned parameters are chosen on; without it they are chosen out of fold.
    cv : int, optional
        Learn from gold out of fold, in so many folds, in place of `train`.
    group : str, optional
        A key of `meta` whose equal values stay in one fold.
    drop_overlap : bool
        Whether :meth:`apart_from` takes out what the data shares with the evaluated data.
    notes : tuple of str
        What :meth:`apart_from` found.

    Raises
    ------
    UsageError
        There are both training data and folds to learn in, or fewer than two folds.
    """

    train: Dataset | None = None
    tune: Dataset | None = None
    cv: int | None = None
    group: str | None = None
    drop_overlap: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.cv is not None and self.train is not None:
            raise UsageError(
                f"solvers learn either from {self.train.name} (--train) or out of fold (--cv): give one of them"
            )
        if self.cv is not None:
            _ = self.folds  # refuses fewer than two

    @property
    def folds(self) -> FoldPlan:
        """The folds to learn and to tune in."""
        return FoldPlan(group=self.group) if self.cv is None else FoldPlan(self.cv, self.group)

    def apart_from(self, dataset: Dataset) -> Learning:
        """The same with a note on what the data shares with `dataset`, without it where that is wanted.

        Raises
        ------
        UsageError
            Nothing is left.
        """
        notes = list(self.notes)

        def apart(role: str, other: Dataset | None) -> Dataset | None:
            if other is None:
                return None
            kept = without_overlap(other, dataset) if self.drop_overlap else other
            note = _note(f"{role} data {other.name}", other, dataset, dropped=self.drop_overlap)
            notes.extend([note] if note else [])
            return kept

        train, tune = apart("training", self.train), apart("tuning", self.tune)
        return replace(self, train=train, tune=tune, notes=tuple(notes))


def _note(what: str, other: Dataset, dataset: Dataset, *, dropped: bool) -> str | None:
    if other.fingerprint == dataset.fingerprint:
        return f"{what} is the data that is reported"
    shared: Overlap = overlap(other, dataset)
    if not shared:
        return None
    found = f"{what} shares {shared.passages} passages and {shared.questions} questions with {dataset.name}"
    return found + (f": {len(shared.affected)} questions are left out" if dropped else "")


@dataclass(frozen=True)
class Protocol:
    """What :func:`classic_rc.evaluate` was given besides the dataset.

    Parameters
    ----------
    solvers : tuple of Solver
        As they were given, neither fitted nor overridden.
    options : mapping of str to object
        Other keyword arguments that results depend on, all of them plain.
    train, tune : Dataset, optional
    spans : SpanGenerator, optional
    """

    solvers: tuple[Solver, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    train: Dataset | None = None
    tune: Dataset | None = None
    spans: SpanGenerator | None = None


@dataclass(frozen=True)
class Plan:
    """What runs on a dataset: every option checked, every solver configured, nothing fitted yet."""

    dataset: Dataset  # span questions have their candidates
    solvers: tuple[Solver, ...]  # configured: clones, their decisions written out
    learning: Learning  # apart from the dataset
    overrides: Overrides
    protocol: Protocol  # what was given

    @classmethod
    def check(
        cls,
        dataset: Dataset,
        solvers: Sequence[Solver],
        learning: Learning,
        overrides: Overrides | None = None,
        *,
        spans: SpanGenerator | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Plan:
        """Check what was given against the dataset.

        Parameters
        ----------
        dataset : Dataset
        solvers : sequence of Solver
            They are cloned, never changed.
        learning : Learning
        overrides : Overrides, optional
        spans : SpanGenerator, optional
            Makes the candidates of span questions.
        options : mapping, optional
            Other options that results depend on, for the run record.

        Raises
        ------
        UsageError
            A solver is not for the task, an option has no meaning for it, or nothing is left to learn from.
        """
        overrides = overrides or Overrides()
        dataset = with_spans(dataset, spans)
        train, tune = (other and with_spans(other, spans) for other in (learning.train, learning.tune))
        learning = replace(learning, train=train, tune=tune).apart_from(dataset)
        ready = tuple(configured(solver, dataset, overrides) for solver in solvers)
        asked = {"cv": learning.cv, "group": learning.group, "drop_overlap": learning.drop_overlap}
        protocol = Protocol(tuple(solvers), {**asked, **(options or {}), **vars(overrides)}, train, tune, spans)
        return cls(dataset, ready, learning, overrides, protocol)


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
    solver = unfitted(solver)
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


def unfitted(solver: Solver) -> Solver:
    """An unfitted clone. A solver whose constructor takes no decision keeps the one it was given."""
    copy: Solver = clone(solver)
    copy.decision = solver.decision
    return copy
