"""The plan of an evaluation: every option checked and every solver configured before anything is fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from classic_rc.decisions import Argmax, Cuts, Decision, RelativeThreshold, Threshold, TiePolicy, TunedThreshold
from classic_rc.errors import ClassicRCError, DataError, UsageError, system_failures
from classic_rc.estimator import clone
from classic_rc.evaluation.systems import System, Systems, as_systems, name_systems
from classic_rc.folds import FoldPlan, Overlap, drop_overlap_with, find_overlap
from classic_rc.metrics.registry import selection_metric
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.spans import SpanGenerator
from classic_rc.text.tokenizers import unspaced_share


@dataclass(frozen=True)
class Overrides:
    """Changes to the decisions and analyzers of all solvers at once; None leaves a setting as it is."""

    ties: TiePolicy | None = None
    threshold: float | None = None  # replaces every threshold that would be tuned
    tune_metric: str | None = None  # the metric that thresholds are tuned for
    seed: int | None = None  # of every random draw
    tune_cuts: Cuts | None = None  # the thresholds to try
    relative_threshold: float | None = None  # multi-span: answer with all spans this close to the best one
    analyzer: str | None = None  # of all solvers whose own is the default

    def unused(self, rules: Sequence[Decision], solvers: Sequence[Solver]) -> Iterator[tuple[str, str]]:
        """Yield the name of each override that no rule and no solver uses, with a sentence that says why."""
        if self.ties is not None and not any(isinstance(rule, Argmax) for rule in rules):
            yield "ties", f"the tie policy {self.ties!r} is not used: no solver answers with its best candidate"
        if self.threshold is not None and not any(
            isinstance(rule, Threshold) and rule.value == self.threshold for rule in rules
        ):
            yield "threshold", f"the threshold {self.threshold:g} is not used: no solver has a threshold to tune"
        if self.relative_threshold is not None and not any(isinstance(rule, RelativeThreshold) for rule in rules):
            yield (
                "relative_threshold",
                f"the relative threshold {self.relative_threshold:g} is not used: "
                "it applies only to solvers that answer multi-span questions with the best span",
            )
        if self.tune_metric is not None and not any(isinstance(rule, TunedThreshold) for rule in rules):
            yield "tune_metric", f"the metric {self.tune_metric!r} is not used: no solver tunes a threshold"
        if self.tune_cuts is not None and not any(isinstance(rule, TunedThreshold) for rule in rules):
            yield "tune_cuts", f"the cut points {self.tune_cuts!r} are not used: no solver tunes a threshold"
        if self.analyzer is not None and not any(_has_analyzer(solver, self.analyzer) for solver in solvers):
            yield (
                "analyzer",
                f"the analyzer {self.analyzer!r} is not used: no solver has an analyzer that its variant or its "
                "parameters leave open",
            )


@dataclass(frozen=True)
class LearningData:
    """The data and the folds that solvers learn from and are tuned on.

    Raises
    ------
    UsageError
        Both training data and folds are given, or fewer than two folds.
    """

    train: Dataset | None = None
    tune: Dataset | None = None  # for thresholds and tuned parameters; None tunes out of fold
    cv: int | None = None  # number of folds to learn from gold in, in place of `train`
    group: str | None = None  # a key of `meta` whose equal values stay in one fold
    drop_overlap: bool = False  # whether `separate_from` removes what is shared with the evaluated data
    notes: tuple[str, ...] = ()  # what `separate_from` found

    def __post_init__(self) -> None:
        if self.cv is not None and self.train is not None:
            raise UsageError(
                f"--train {self.train.name} and --cv {self.cv} exclude each other: solvers learn either from other "
                "data or out of fold",
                field="cv",
                found=str(self.cv),
            )
        if self.cv is not None:
            if isinstance(self.cv, bool) or not isinstance(self.cv, int):
                found, expected = repr(self.cv), "a number of folds, such as 5"
                raise UsageError(f"cv is {found}, expected {expected}", field="cv", found=found, expected=expected)
            _ = self.folds  # refuses fewer than two

    @property
    def folds(self) -> FoldPlan:
        """The folds to learn in and to tune in."""
        return FoldPlan(group=self.group) if self.cv is None else FoldPlan(self.cv, self.group)

    def separate_from(self, dataset: Dataset) -> LearningData:
        """Return a copy that notes what its data shares with `dataset` and, with `drop_overlap`, drops it.

        Raises
        ------
        UsageError
            No question is left.
        """
        notes = list(self.notes)

        def separate(role: str, other: Dataset | None) -> Dataset | None:
            if other is None:
                return None
            remaining = drop_overlap_with(other, dataset) if self.drop_overlap else other
            note = _overlap_note(f"{role} data {other.name}", other, dataset, dropped=self.drop_overlap)
            notes.extend([note] if note else [])
            return remaining

        train, tune = separate("training", self.train), separate("tuning", self.tune)
        return replace(self, train=train, tune=tune, notes=tuple(notes))


def _overlap_note(label: str, other: Dataset, dataset: Dataset, *, dropped: bool) -> str | None:
    """Return a sentence on what `other` shares with `dataset`, or None if they share nothing."""
    if other.fingerprint == dataset.fingerprint:
        return f"{label} is the data that is reported"
    shared: Overlap = find_overlap(other, dataset)
    if not shared:
        return None
    counts = ((shared.passages, "passage"), (shared.questions, "question"))
    told = " and ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts)
    note = f"{label} shares {told} with {dataset.name}"
    return note + (f": {len(shared.affected)} questions are left out" if dropped else "")


@dataclass(frozen=True)
class RunProtocol:
    """The arguments of :func:`classic_rc.evaluate` other than the dataset, for the run record."""

    systems: tuple[System, ...]  # with their names; solvers are as given: neither fitted nor overridden
    options: Mapping[str, Any] = field(default_factory=dict)  # other arguments that results depend on; plain data
    train: Dataset | None = None
    tune: Dataset | None = None
    spans: SpanGenerator | None = None

    @classmethod
    def of(
        cls,
        systems: Sequence[System],
        learning: LearningData,
        overrides: Overrides,
        spans: SpanGenerator | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> RunProtocol:
        """Return the protocol of systems with names; `options` are further arguments that results depend on."""
        learning_options = {"cv": learning.cv, "group": learning.group, "drop_overlap": learning.drop_overlap}
        named = {**learning_options, **(options or {}), **vars(overrides)}
        made = tuple(system for system in systems if system.failure is None)
        return cls(made, named, learning.train, learning.tune, spans)


@dataclass(frozen=True)
class ReadySystem:
    """A system that can answer the questions: its solver is configured, or its decisions are read."""

    name: str  # of its row
    solver: Solver | None = None  # a clone with an explicit decision
    path: str = ""  # of a file
    format: str | None = None  # of the file, if it is named
    predictions: Sequence[Prediction] = ()  # of a file of decisions, one per question


@dataclass(frozen=True)
class EvaluationPlan:
    """A checked evaluation: its options are valid, its solvers are configured, nothing is fitted yet."""

    dataset: Dataset  # span questions have their candidates
    systems: tuple[ReadySystem, ...]
    errors: Mapping[str, ClassicRCError]  # by name: why the other systems do not answer these questions
    notes: tuple[str, ...]  # about the files of predictions
    learning: LearningData  # compared with the dataset by `LearningData.separate_from`
    overrides: Overrides
    protocol: RunProtocol  # the arguments as given

    @classmethod
    def check(
        cls,
        dataset: Dataset,
        systems: Systems,
        learning: LearningData,
        overrides: Overrides | None = None,
        *,
        spans: SpanGenerator | None = None,
        options: Mapping[str, Any] | None = None,
        needs_system: bool = True,
    ) -> EvaluationPlan:
        """Check systems and options against the dataset, configure the solvers and read files of predictions.

        Parameters
        ----------
        dataset : Dataset
        systems : sequence or mapping
            See :func:`classic_rc.evaluate`. Solvers are cloned, never changed.
        learning : LearningData
        overrides : Overrides, optional
        spans : SpanGenerator, optional
            Makes the candidates of span questions.
        options : mapping, optional
            Other options that results depend on, for the run record.
        needs_system : bool
            Whether to raise an error if no system answers these questions.

        Raises
        ------
        UsageError
            An option has no meaning for the data, or no training data is left.
        ClassicRCError
            The error of the first system, if no system answers these questions.
        """
        named = tuple(name_systems(as_systems(systems)))
        overrides = overrides or Overrides()
        if overrides.tune_metric is not None:
            selection_metric(overrides.tune_metric)  # refuses an unknown name
        notes: list[str] = []
        errors: dict[str, ClassicRCError] = {}
        ready: list[ReadySystem] = []
        for system in named:
            try:
                ready.append(_prepare_system(system, dataset, overrides, notes))
            except ClassicRCError as error:
                errors[str(system.name)] = error
        if needs_system and errors and not ready:
            raise next(iter(errors.values()))
        dataset = add_span_candidates(dataset, spans)
        train, tune = (other and add_span_candidates(other, spans) for other in (learning.train, learning.tune))
        learning = replace(learning, train=train, tune=tune)
        protocol = RunProtocol.of(named, learning, overrides, spans, options)
        return cls(
            dataset, tuple(ready), errors, tuple(notes), learning.separate_from(dataset), overrides, protocol
        )


def _prepare_system(system: System, dataset: Dataset, overrides: Overrides, notes: list[str]) -> ReadySystem:
    """Configure a system's solver, or read its file; a file of scores becomes a solver."""
    name = str(system.name)
    if system.failure is not None:
        with system_failures(name):
            raise system.failure
    if system.solver is not None:
        with system.solver.failures(name):
            return ReadySystem(name, configure_solver(system.solver, dataset, overrides))
    from classic_rc.solvers.score_file import ScoreFile

    assert system.path is not None
    found: list[str] = []
    content = system.read(dataset, found)
    notes += [f"{name}: {note}" for note in found]
    if isinstance(content, Scores):
        solver = ScoreFile(path=system.path, format=system.format)
        return ReadySystem(name, configure_solver(solver, dataset, overrides), system.path)
    return ReadySystem(name, None, system.path, system.format, content)


def add_span_candidates(dataset: Dataset, spans: SpanGenerator | None = None) -> Dataset:
    """Return the dataset; span questions without candidates get those of the generator."""
    task = dataset.task
    if task is None or not task.has_spans or dataset.span_generator is not None:
        return dataset
    generator = spans if spans is not None else SpanGenerator()
    return dataset.with_candidates(generator, generator.signature)


_MIN_UNSPACED_SHARE = 0.1
_analyzers_of_datasets: WeakKeyDictionary[Dataset, str] = WeakKeyDictionary()


def default_analyzer(dataset: Dataset) -> str:
    """Return the analyzer for a dataset's texts: ``char`` for scripts without spaces between words, else ``word``.

    ``word`` would make one token of a whole sentence. A tenth of the letters and digits of passages and questions
    is enough: no other texts have as many.
    """
    if dataset not in _analyzers_of_datasets:
        texts = [passage.text for passage in dataset.passages] + [question.text for question in dataset]
        is_unspaced = unspaced_share(texts) >= _MIN_UNSPACED_SHARE
        _analyzers_of_datasets[dataset] = "char" if is_unspaced else "word"
    return _analyzers_of_datasets[dataset]


def adapt_analyzer(solver: Solver, dataset: Dataset, analyzer: str | None = None) -> None:
    """Change the analyzers that a solver and its members were not given: those that are the default of their class.

    Variants keep the analyzers of their papers.

    Parameters
    ----------
    solver : Solver
        It is changed.
    dataset : Dataset
        Without `analyzer`, the default ``word`` becomes ``char`` for scripts without spaces between words;
        ``word+lower`` is another spelling of ``word`` that stays.
    analyzer : str, optional
        The analyzer to use instead.

    Raises
    ------
    UsageError
        The analyzer is unknown.
    """
    if analyzer is not None:
        get_analyzer(analyzer)
    if analyzer is None and (solver.variant_name() is not None or default_analyzer(dataset) == "word"):
        return
    for name, owner, value in list(_iter_analyzers(solver)):
        if value == "word" if analyzer is None else _leaves_analyzer_open(owner):
            solver.set_params(**{name: analyzer or default_analyzer(dataset)})


def _leaves_analyzer_open(solver: Solver) -> bool:
    """Return whether a solver has its default analyzer, and no variant but the one that is the default itself."""
    own, default = (s.get_params(deep=False) for s in (solver, type(solver)()))
    changed = {name for name in own if name != "decision" and own[name] != default[name]}
    return "analyzer" not in changed and (not changed or solver.variant_name() is None)


def _iter_analyzers(solver: Solver) -> Iterator[tuple[str, Solver, Any]]:
    """Yield the name, the owner and the value of the analyzers of a solver and its members."""
    params = solver.get_params()
    for name, value in params.items():
        member, _, last = name.rpartition("__")
        owner = params[member] if member else solver
        if last == "analyzer" and isinstance(owner, Solver):
            yield name, owner, value


def _has_analyzer(solver: Solver, analyzer: str) -> bool:
    return any(get_analyzer(value) == get_analyzer(analyzer) for _, _, value in _iter_analyzers(solver))


def require_gold(dataset: Dataset, purpose: str) -> None:
    """Raise an error if any gold answer is hidden.

    Raises
    ------
    DataError
        Gold is hidden; the message gives `purpose` as the consequence.
    """
    hidden = sum(question.gold is None for question in dataset)
    if hidden:
        raise DataError(
            f"{hidden:,} of {len(dataset):,} questions hide their gold answers, so {purpose}",
            source=dataset.name,
            hint=None if hidden == len(dataset) else "To use the labelled questions only, add --labelled-only",
        )


def configure_solver(solver: Solver, dataset: Dataset, overrides: Overrides | None = None) -> Solver:
    """Return a clone of the solver with an explicit decision for the dataset's task and the overrides applied.

    The solver's default decision replaces one that does not fit the task: an argmax, which most published variants
    have, if several candidates may be right; a threshold, if exactly one is. For scripts without spaces
    between words, the analyzer ``word`` becomes ``char`` (:func:`adapt_analyzer`).

    Raises
    ------
    UsageError
        The dataset has no questions, the solver does not answer its task, or its decision is not a decision rule.
    """
    overrides = overrides or Overrides()
    task = dataset.task
    if task is None:
        raise UsageError(f"{dataset.name} has no questions", field="dataset", found=dataset.name)
    if task not in solver.tasks:
        tasks = " and ".join(sorted(solver.tasks))
        raise UsageError(
            f"solver {solver.name!r} answers {tasks} questions, but {dataset.name} has {task} questions",
            field="task",
            found=str(task),
            expected=tasks,
        )
    if not isinstance(solver.decision, Decision | None):
        raise UsageError(
            f"parameter 'decision' of {solver.name} must be a decision rule, got {solver.decision!r}: "
            "on the command line, use --ties or --threshold",
            field="decision",
            found=repr(solver.decision),
            expected="a decision rule",
        )
    solver = clone_unfitted(solver)
    adapt_analyzer(solver, dataset, overrides.analyzer)
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


def require_same_task(other: Dataset, dataset: Dataset, role: str) -> None:
    """Raise an error if training or tuning data is of another task than `dataset`.

    Raises
    ------
    UsageError
    """
    if other.task is not dataset.task:
        raise UsageError(
            f"{role} data {other.name} has {other.task} questions, but {dataset.name} has {dataset.task} questions",
            field=f"{role} data",
            found=str(other.task),
            expected=str(dataset.task),
        )


def clone_unfitted(solver: Solver) -> Solver:
    """Return an unfitted clone with the same decision, even if it is not a constructor parameter."""
    copy: Solver = clone(solver)
    copy.decision = solver.decision
    return copy
