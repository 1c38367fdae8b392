"""The plan of an evaluation: every option checked and every solver configured before anything is
fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.registry import as_dataset, require_dataset
from classic_rc.decisions import Argmax, Decision, Threshold, TunedThreshold
from classic_rc.errors import ClassicRCError, DataError, UsageError, system_failures
from classic_rc.folds import FoldPlan, copied_questions, drop_overlap_with, passage_groups
from classic_rc.metrics.multirc import selection_metric
from classic_rc.parameters import clone
from classic_rc.predictions import Prediction, Scores
from classic_rc.protocol import Cuts, Protocol, Step
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.base import Solver
from classic_rc.systems import RECORDED, System, Systems, as_systems, name_systems
from classic_rc.tables.model import format_count
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.languages import dataset_language
from classic_rc.text.scorers import DEFAULT_SCORER, SCORERS
from classic_rc.text.spans import SpanGenerator

if TYPE_CHECKING:
    from classic_rc.results.outcomes import Row


def unused_settings(
    protocol: Protocol, rules: Sequence[Decision], solvers: Sequence[Solver]
) -> Iterator[tuple[str, str]]:
    """Yield the name of each given setting that no rule and no solver uses, with a sentence that
    says why.
    """
    if protocol.ties is not None and not any(isinstance(rule, Argmax) for rule in rules):
        yield (
            "ties",
            f"the tie policy {protocol.ties!r} is not used: no solver answers with its best "
            "candidate",
        )
    if (value := protocol.threshold) is not None and not any(
        _uses_threshold(rule, value) for rule in rules
    ):
        yield "threshold", f"the threshold {value} is not used: no solver has a threshold to tune"
    if protocol.tune_metric is not None and not any(
        isinstance(rule, TunedThreshold) for rule in rules
    ):
        yield (
            "tune_metric",
            f"the metric {protocol.tune_metric!r} is not used: no solver tunes a threshold",
        )
    if protocol.analyzer is not None and not any(
        _has_analyzer(solver, protocol.analyzer) for solver in solvers
    ):
        yield (
            "analyzer",
            f"the analyzer {protocol.analyzer!r} is not used: no solver has an analyzer that its "
            "variant or its parameters leave open",
        )


def _uses_threshold(rule: Decision, threshold: float | Cuts) -> bool:
    if isinstance(threshold, str):
        return isinstance(rule, TunedThreshold) and rule.cuts == threshold
    return isinstance(rule, Threshold) and rule.value == threshold


def fold_plan(protocol: Protocol) -> FoldPlan:
    """Return the folds to learn in and to tune in."""
    if protocol.cv is None:
        return FoldPlan(group=protocol.group)
    return FoldPlan(protocol.cv, protocol.group)


def prepare_data(protocol: Protocol) -> Protocol:
    """Return the protocol with its training data as one dataset, and candidates for span
    questions.
    """
    train = as_dataset(protocol.train)
    tune = None if protocol.tune is None else require_dataset(protocol.tune, "tune")
    spans = protocol.spans
    return replace(
        protocol,
        train=train and add_span_candidates(train, spans),
        tune=tune and add_span_candidates(tune, spans),
    )


def separate_data(protocol: Protocol, dataset: Dataset) -> tuple[Protocol, tuple[str, ...]]:
    """Find what the data to learn from shares with `dataset` and, with `drop_overlap`, drop it.

    Returns the protocol with the remaining data, and notes of what is shared. UsageError if no
    question is left.
    """
    notes: list[str] = []

    def separate(role: str, data: Dataset | None) -> Dataset | None:
        if data is None:
            return None
        remaining = drop_overlap_with(data, dataset) if protocol.drop_overlap else data
        note = _overlap_note(f"{role} data {data.name}", data, dataset, remaining)
        notes.extend([note] if note else [])
        return remaining

    train = separate("training", as_dataset(protocol.train))
    tune = separate("tuning", protocol.tune)
    return replace(protocol, train=train, tune=tune), tuple(notes)


def _overlap_note(label: str, data: Dataset, dataset: Dataset, remaining: Dataset) -> str | None:
    """Return a sentence on the questions that `dataset` shares with `data`, or None.

    `remaining` is what is left of `data` after the overlap was dropped.
    """
    if data.fingerprint == dataset.fingerprint:
        return f"{label} is the data that is reported"
    n_copied = int(find_copied(dataset, data).sum())
    if not n_copied:
        return None
    of_all = f"{n_copied:,} of {format_count(len(dataset), 'question')}"
    note = f"{label} has {of_all} of {dataset.name}, or their passages"
    n_dropped = len(data) - len(remaining)
    return f"{note}: {n_dropped:,} of its questions are left out" if n_dropped else note


_copied: WeakKeyDictionary[Dataset, dict[str, NDArray[np.bool_]]] = WeakKeyDictionary()
"""All systems of a run need the same copies; by the fingerprint of the training data."""


def find_copied(dataset: Dataset, train: Dataset) -> NDArray[np.bool_]:
    """Return :func:`~classic_rc.folds.copied_questions`, computed once for two datasets."""
    masks = _copied.setdefault(dataset, {})
    if train.fingerprint not in masks:
        masks[train.fingerprint] = copied_questions(dataset, train)
    return masks[train.fingerprint]


@dataclass(frozen=True)
class ReadySystem:
    """A system that can answer the questions: its solver is configured, or its decisions are
    read.
    """

    name: str  # of its row
    solver: Solver | None = None  # a clone with an explicit decision
    file: System | None = None  # of a file
    predictions: Sequence[Prediction] = ()  # of a file of decisions, one per question
    row: Row | None = None  # of a run record


@dataclass(frozen=True)
class EvaluationPlan:
    """A checked evaluation: its settings are valid, its solvers are configured, nothing is
    fitted yet.
    """

    dataset: Dataset  # span questions have their candidates
    given: tuple[System, ...]  # with their names; solvers are neither fitted nor configured
    systems: tuple[ReadySystem, ...]
    # by name: why the other systems do not answer these questions
    errors: Mapping[str, ClassicRCError]
    protocol: Protocol  # with one training dataset, as it was given
    separated: (
        Protocol  # its data without what it shares with the dataset, if `drop_overlap` is set
    )
    notes: tuple[str, ...] = ()  # about the files of predictions
    overlap: tuple[str, ...] = ()  # what the data to learn from shares with the dataset


def make_plan(
    dataset: Dataset, systems: Systems, protocol: Protocol, *, needs_system: bool = True
) -> EvaluationPlan:
    """Check systems and settings against the dataset, configure the solvers and read files of
    predictions.

    Solvers are cloned, never changed. With `needs_system`, the error of the first system is raised
    if no system answers these questions.
    """
    named_systems = tuple(name_systems(as_systems(systems)))
    if protocol.tune_metric is not None:
        selection_metric(protocol.tune_metric)  # refuses an unknown name
    if protocol.group is not None:
        passage_groups(dataset, protocol.group)  # refuses an unknown key
    notes: list[str] = []
    errors: dict[str, ClassicRCError] = {}
    ready: list[ReadySystem] = []
    for system in (system for system in named_systems if not system.is_given):
        try:
            ready.append(_prepare_system(system, dataset, protocol, notes))
        except ClassicRCError as error:
            errors[str(system.name)] = error
    if needs_system and errors and not ready:
        raise next(iter(errors.values()))
    if needs_system and not ready and named_systems:
        first = str(named_systems[0].name)
        raise UsageError(
            f"{first} is a given number, or a sample of the questions: a solver or a file is "
            "needed here",
            field="solver",
            found=first,
        )
    dataset = add_span_candidates(dataset, protocol.spans)
    protocol = prepare_data(protocol)
    separated, overlap = separate_data(protocol, dataset)
    planned = tuple(system for system in named_systems if system.failure is None)
    return EvaluationPlan(
        dataset, planned, tuple(ready), errors, protocol, separated, tuple(notes), overlap
    )


def _prepare_system(
    system: System, dataset: Dataset, protocol: Protocol, notes: list[str]
) -> ReadySystem:
    """Configure a system's solver, or read its file; a file of scores becomes a solver."""
    name = str(system.name)
    if system.failure is not None:
        with system_failures(name):
            raise system.failure
    if system.solver is not None:
        with system.solver.failures(name):
            return ReadySystem(name, configure_solver(system.solver, dataset, protocol))
    from classic_rc.solvers.score_file import ScoreFile

    assert system.path is not None
    if system.format == RECORDED:
        from classic_rc.results.record_reading import read_row

        row = read_row(system.path, system.options["row"], dataset)
        return ReadySystem(name, None, system, row=row)
    file_notes: list[str] = []
    content = system.read(dataset, file_notes)
    notes += [f"{name}: {note}" for note in file_notes]
    if isinstance(content, Scores):
        solver = ScoreFile(path=system.path, format=system.format)
        return ReadySystem(name, configure_solver(solver, dataset, protocol), system)
    deciding = {**protocol.affecting(Step.DECIDE), "tune": protocol.tune}
    if ignored := [setting for setting, value in deciding.items() if value is not None]:
        settings = ", ".join(ignored)
        notes.append(
            f"{name}: the file has answers, which do not change; only scores use {settings}"
        )
    return ReadySystem(name, None, system, content)


def add_span_candidates(dataset: Dataset, spans: int | SpanGenerator | None = None) -> Dataset:
    """Return the dataset; span questions without candidates get those of a generator.

    `spans` is the generator, or the number of tokens for that of the dataset's language.
    """
    task = dataset.task
    if task is None or not task.has_spans or dataset.span_generator is not None:
        return dataset
    if not isinstance(spans, SpanGenerator):
        spans = SpanGenerator.of_language(dataset_language(dataset), spans)
    return dataset.with_candidates(spans, spans.signature)


_GENERAL_ANALYZERS = ("word", "lucene-english")
"""The defaults of solvers that give way to the analyzer of another language."""


def adapt_analyzer(solver: Solver, dataset: Dataset, analyzer: str | None = None) -> None:
    """Change the analyzers that a solver and its members were not given: those that are the default
    of their class.

    Variants keep the analyzers that they set. Without `analyzer`, ``word`` and ``lucene-english``
    become the analyzer of the dataset's language; ``word+lower`` is another spelling of ``word``
    that stays, and so does ``lucene-english`` where the language's words are characters, as it
    cuts them too.
    """
    if analyzer is not None:
        get_analyzer(analyzer)
    usual = dataset_language(dataset).analyzer
    if analyzer is None and usual == "word":
        return
    general = _GENERAL_ANALYZERS[:1] if usual == "char" else _GENERAL_ANALYZERS
    for name, owner, value in list(_iter_analyzers(solver)):
        variant = owner.variants.get(owner.variant_name() or "")
        is_set = variant is not None and "analyzer" in variant.params
        if (value in general and not is_set) if analyzer is None else _leaves_analyzer_open(owner):
            solver.set_params(**{name: analyzer or usual})


def _leaves_analyzer_open(solver: Solver) -> bool:
    """Return whether a solver has its default analyzer, and no variant but the one that is the
    default itself.
    """
    params, default = (s.get_params(deep=False) for s in (solver, type(solver)()))
    changed = {name for name in params if name != "decision" and params[name] != default[name]}
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
    return any(
        get_analyzer(value) == get_analyzer(analyzer) for _, _, value in _iter_analyzers(solver)
    )


def require_gold(dataset: Dataset, purpose: str) -> None:
    """Raise a DataError if any gold answer is hidden; its message gives `purpose` as the
    consequence.
    """
    hidden = sum(question.gold is None for question in dataset)
    if hidden:
        has_labelled = hidden < len(dataset)
        hint = "To use the labelled questions only, add --skip unlabelled" if has_labelled else None
        raise DataError(
            f"{hidden:,} of {len(dataset):,} questions hide their gold answers, so {purpose}",
            source=dataset.name,
            hint=hint,
        )


def check_data_to_learn(
    solver: Solver, dataset: Dataset, protocol: Protocol, *, cross_fit: bool
) -> None:
    """Check that a configured solver can learn from, and be tuned on, a protocol's data or
    `dataset` itself.
    """
    train, tune = as_dataset(protocol.train), protocol.tune
    learns, tunes = solver.learns_from == "gold", solver.tunes_parameters
    learns_here = protocol.cv is not None and learns and train is None
    if (cross_fit or learns_here) and any(question.gold is None for question in dataset):
        raise UsageError(
            f"{dataset.name} hides its gold answers, so solvers cannot learn from it or be tuned "
            "on it: tune on another split (--tune DATA) or fix the threshold (--threshold T), and "
            "learn from other data (--train DATA)",
            field="dataset",
            found=dataset.name,
        )
    if tune is not None:
        require_same_task(tune, dataset, "tuning")
        require_gold(tune, "nothing can be tuned on it")
    if (cross_fit or tune is not None) and tunes and dataset.span_generator is not None:
        raise UsageError(
            f"{solver.name} cannot tune its parameters on generated spans: give them fixed values",
            field="solver",
            found=solver.name,
        )
    if learns_here and cross_fit and tunes:
        raise UsageError(
            f"{solver.name} cannot learn and tune its parameters in the same folds: "
            "give data to learn from (--train) or to tune on (--tune)",
            field="cv",
            found=str(protocol.cv),
        )
    if learns and train is not None:
        require_same_task(train, dataset, "training")


def _check_learned(solver: Solver, dataset: Dataset) -> None:
    """Refuse a saved solver that learned from data of another language, or of spans of other
    units.
    """
    for learned in solver.learned_before:
        learned.require_language(dataset)
        if dataset.task is not Task.SPAN:
            continue
        learned_scorer, scorer = (
            data.scorers[0] if data.scorers else DEFAULT_SCORER for data in (learned, dataset)
        )
        learned_unit, unit = SCORERS[learned_scorer].unit, SCORERS[scorer].unit
        if unit != learned_unit:
            raise UsageError(
                f"the saved solver {solver.name} learned from {learned.name}, whose scorer "
                f"{learned_scorer} counts {learned_unit}, but {scorer} of {dataset.name} counts "
                f"{unit}: fit it on data of the same units with `classic-rc fit`",
                field="scorer",
                found=scorer,
                expected=learned_unit,
            )


def configure_solver(solver: Solver, dataset: Dataset, protocol: Protocol | None = None) -> Solver:
    """Return a clone of the solver with an explicit decision for the dataset's task and the
    settings applied.

    The solver's default decision replaces one that does not fit the task: an argmax, which most
    published variants have, if several candidates may be right; a threshold, if exactly one is. Its
    analyzer is that of the dataset's language (:func:`adapt_analyzer`). A dataset without questions
    or of a task that the solver does not answer, and a decision that is not a rule, are
    UsageErrors.
    """
    protocol = protocol or Protocol()
    task = dataset.task
    if task is None:
        raise UsageError(f"{dataset.name} has no questions", field="dataset", found=dataset.name)
    if task not in solver.tasks:
        tasks = " and ".join(sorted(solver.tasks))
        raise UsageError(
            f"solver {solver.name!r} answers {tasks} questions, but {dataset.name} has {task} "
            "questions",
            field="task",
            found=str(task),
            expected=tasks,
        )
    if not isinstance(solver.decision, Decision | None):
        raise UsageError(
            f"parameter 'decision' of {solver.name} must be a decision rule, got "
            f"{solver.decision!r}: on the command line, use --ties or --threshold",
            field="decision",
            found=repr(solver.decision),
            expected="a decision rule",
        )
    _check_learned(solver, dataset)
    solver = clone_unfitted(solver)
    adapt_analyzer(solver, dataset, protocol.analyzer)
    decision: Decision = clone(solver.decision_for(task))
    if isinstance(decision, Argmax if task is Task.MULTIPLE_ANSWER else Threshold | TunedThreshold):
        decision = solver.default_decision(task)
    changes: dict[str, Any]
    if isinstance(decision, Argmax):
        changes = {"ties": protocol.ties, "seed": protocol.seed}
        decision.set_params(**{name: value for name, value in changes.items() if value is not None})
    elif isinstance(decision, TunedThreshold) and isinstance(protocol.threshold, int | float):
        decision = Threshold(value=protocol.threshold)
    elif isinstance(decision, TunedThreshold):
        changes = {"metric": protocol.tune_metric, "cuts": protocol.threshold}
        decision.set_params(**{name: value for name, value in changes.items() if value is not None})
    if protocol.seed is not None:
        paths = {name: name.split("__") for name in solver.get_params()}
        # The seed of a decision is a setting of ties, which is set above.
        for name, path in paths.items():
            if path[-1] == "seed" and "decision" not in path:
                solver.set_params(**{name: protocol.seed})
    solver.decision = decision
    return solver


def require_same_task(data: Dataset, dataset: Dataset, role: str) -> None:
    """Raise a UsageError if training or tuning data is of another task than `dataset`."""
    if data.task is not dataset.task:
        raise UsageError(
            f"{role} data {data.name} has {data.task} questions, but {dataset.name} has "
            f"{dataset.task} questions",
            field=f"{role} data",
            found=str(data.task),
            expected=str(dataset.task),
        )


def clone_unfitted(solver: Solver) -> Solver:
    """Return an unfitted clone with the same decision, even if it is not a constructor
    parameter.
    """
    copy: Solver = clone(solver)
    copy.decision = solver.decision
    return copy
