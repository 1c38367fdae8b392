"""From parsed options to datasets, solvers and settings of the library."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from classic_rc.cli.console import Failures, check_writable, print_message
from classic_rc.errors import DataError, SystemFailedError, UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import READING, SETTINGS, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from classic_rc.datasets.fetch import NamedSplit
    from classic_rc.datasets.labels import Labels
    from classic_rc.datasets.specification import DatasetFiles
    from classic_rc.questions import Dataset
    from classic_rc.results.breakdown import CrossTabulation
    from classic_rc.results.evaluation import Evaluation
    from classic_rc.results.grouping import Grouping
    from classic_rc.results.shared_results import SharedResults
    from classic_rc.solvers.base import Solver
    from classic_rc.systems import System


_SHOWN_QUESTIONS = 3
_SHOWN_OF_TEXT = 80  # characters
_SHOWN_OF_OPTION = 30


def expand_datasets(args: argparse.Namespace, arguments: Sequence[str]) -> Iterator[DatasetFiles]:
    """Yield all datasets; one DATA argument, such as ``sample`` or a folder, can be several.

    With ``--pool`` the datasets of all arguments are one.
    """
    from classic_rc.datasets.folder import describe_others, list_datasets
    from classic_rc.datasets.registry import SAMPLES, expand_sample_names
    from classic_rc.datasets.specification import DatasetFiles, parse_data

    def expand(argument: str) -> Iterator[DatasetFiles]:
        spec = parse_data(argument).with_default(split=args.split)
        for name in expand_sample_names(spec.path):
            expanded = replace(spec, path=name)
            if name in SAMPLES or name.startswith("sample:"):
                yield DatasetFiles((str(expanded),))
                continue
            content = list_datasets(expanded, fields=expanded.fields or args.fields)
            if content.others:
                report_notes(args, "note", [describe_others(content.others)], name)
            yield from content.datasets

    if not getattr(args, "pool", False):  # not every command has it
        for argument in arguments:
            yield from expand(argument)
        return
    paths = tuple(
        path for argument in arguments for data in expand(argument) for path in data.paths
    )
    spec = parse_data(arguments[0]).with_default(split=args.split)
    folder = Path(spec.path)
    name = None
    if len(arguments) == 1 and folder.is_dir():
        name = folder.resolve().name + (f".{spec.split}" if spec.split else "")
    yield DatasetFiles(paths, name)


def choose_dataset(args: argparse.Namespace, arguments: Sequence[str]) -> DatasetFiles:
    """Return the one dataset of the DATA arguments."""
    datasets = list(expand_datasets(args, arguments))
    if len(datasets) > 1:
        names, texts = ", ".join(map(str, datasets)), " ".join(arguments)
        raise UsageError(
            f"one dataset is needed here, but {texts} is several: choose one of {names}; or join "
            "them with --pool",
            field="DATA",
            found=texts,
            expected=names,
        )
    return datasets[0]


def load_dataset(args: argparse.Namespace, data: str | DatasetFiles) -> Dataset:
    """Read DATA with the reading options of the command, and write its notes to stderr.

    Candidate spans are made later, because they are a setting of the protocol too
    (:func:`protocol_for`).
    """
    paths: Sequence[str]
    if isinstance(data, str):
        paths, name = [data], None
    else:
        paths, name = data.paths, data.name
    split = getattr(args, "split", None)  # commands lack some of these options
    datasets = [_load_data(args, path, split=split) for path in paths]
    if len(datasets) == 1 and name is None:
        return datasets[0]
    from classic_rc.datasets.memory import join_datasets

    joined = join_datasets(datasets)
    joined = joined if name is None else replace(joined, name=name)
    _report_joining(args, joined)
    return joined


def _load_data(args: argparse.Namespace, data: str, split: str | None = None) -> Dataset:
    from classic_rc.datasets.specification import parse_data

    spec = parse_data(data).with_default(split=split)
    reading = reading_options(args)
    if spec.fields is not None:  # what the options say is about other rows
        reading = {name: value for name, value in reading.items() if name == "skip"}
    return read_dataset(args, spec.path, **{**reading, **spec.reading})


def reading_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of reading apart from the split; commands lack some of them."""
    names = (name for name in READING if name != "split")
    return {name: value for name in names if (value := getattr(args, name, None))}


def fetch_split(args: argparse.Namespace, split: NamedSplit) -> None:
    """Download the files of a split that are not in the cache, or those of its copy where a server
    lacks them.
    """
    from classic_rc.datasets.fetch import fetch
    from classic_rc.datasets.registry import read_split
    from classic_rc.io.download import NOT_THERE

    try:
        for file in split.files:
            fetch(
                file,
                read_split,
                progress=shows_progress(args),
                notify=lambda text: report_notes(args, "note", [text]),
            )
    except DataError as error:
        if error.problem != NOT_THERE or split.copy is None:
            raise
        fetch_split(args, split.copy)


def read_dataset(args: argparse.Namespace, data: str, **reading: Any) -> Dataset:
    """Read DATA with the arguments of :func:`classic_rc.load`, and write its notes to stderr."""
    from classic_rc.datasets.registry import load

    gc.collect()  # Free what the last dataset left in cycles.
    # The questions live long: the garbage collector need not search them, not even once.
    was_on = gc.isenabled()
    gc.disable()
    try:
        with progress_bar(f"reading {data}", None, shows_progress(args)):
            dataset = load(data, **reading)
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
    report_notes(args, "note", dataset.notes, dataset.name)
    if reading.get("fields") is not None:
        report_notes(args, "note", _describe_mapping(dataset))
    return dataset


def _report_joining(args: argparse.Namespace, joined: Dataset) -> None:
    """Report the notes of joining; the parts' notes are reported already."""
    if joined.parts:
        n_reported = sum(len(dataset.notes) for dataset in joined.parts)
        report_notes(args, "note", joined.notes[n_reported:], joined.name)


def _describe_mapping(dataset: Dataset) -> Iterator[str]:
    """Yield lines that show the first questions as they were read, so that wrong fields are seen
    before scores.
    """
    first_questions = dataset.questions[:_SHOWN_QUESTIONS]
    mark = "" if first_questions[0].task.has_spans else "; [[ ]] marks right options"
    yield (
        f"{dataset.name}: read as {dataset.task} questions, the first {len(first_questions)} of "
        f"{len(dataset):,}{mark}"
    )
    for number, question in enumerate(first_questions, start=1):
        yield f"{number}. passage: {_shorten(question.passage.text) or '(none)'}"
        yield f"   question: {_shorten(question.text)}"
        hidden = " (gold is hidden)" if question.gold is None else ""
        if question.task.has_spans:
            answers = [_shorten(text) or "(no answer)" for text in question.gold_texts]
            yield f"   gold: {' | '.join(answers)}{hidden}"
            continue
        right = set() if question.gold is None else {*question.gold}
        options = []
        for i, candidate in enumerate(question.candidates):
            text = _shorten(candidate.text, _SHOWN_OF_OPTION)
            options.append(f"[[{text}]]" if i in right or candidate.text in right else text)
        yield f"   options: {' | '.join(options)}{hidden}"


def _shorten(text: str, max_length: int = _SHOWN_OF_TEXT) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_length else f"{line[: max_length - 1]}…"


def read_train(args: argparse.Namespace) -> Dataset | None:
    """Read the files and folders of ``--train`` as one dataset; None without the option."""
    from classic_rc.datasets.registry import as_dataset

    train = as_dataset([_load_learned(args, data) for data in args.train])
    if train is not None:
        _report_joining(args, train)
    return train


def _load_learned(args: argparse.Namespace, data: str) -> Dataset:
    """Read data to learn from; its own candidate spans win over those of the protocol."""
    from classic_rc.datasets.registry import read_to_learn
    from classic_rc.datasets.specification import parse_data

    def read(path: str, **reading: Any) -> Dataset:
        spec = parse_data(path)
        return read_dataset(args, spec.path, **{**reading, **spec.reading})

    dataset = read_to_learn(data, reading_options(args), read)
    spans = parse_data(data).spans
    if spans is None:
        return dataset
    from classic_rc.running.plan import add_span_candidates

    return add_span_candidates(dataset, Protocol(spans=spans).spans)


def protocol_for(protocol: Protocol, data: str | DatasetFiles) -> Protocol:
    """Return the protocol with the longest candidate spans that the specification of DATA sets."""
    from classic_rc.datasets.specification import parse_data

    return replace(protocol, spans=parse_data(data).spans if isinstance(data, str) else data.spans)


def refuse_spans(data: Iterable[str | DatasetFiles], why: str) -> None:
    """Raise an error for DATA that sets candidate spans, where nothing uses them."""
    for spec in data:
        if (spans := protocol_for(Protocol(), spec).spans) is not None:
            raise UsageError(
                f"spans={spans} has no effect here, because {why}: leave it out",
                field="DATA",
                found=str(spec),
            )


def read_protocol(args: argparse.Namespace) -> Protocol:
    """Read the data to learn from, and return the protocol that the options describe.

    A command that has no option for a setting leaves it at its default. ``--by`` and ``--baseline``
    mean more than the settings of these names, so each command sets them itself.
    """
    names = SETTINGS.keys() - {"train", "tune", "by", "baseline"}
    settings = {name: getattr(args, name) for name in names if hasattr(args, name)}
    tune = None if args.tune is None else _load_learned(args, args.tune)
    train = read_train(args) if hasattr(args, "train") else None
    return Protocol(**settings, train=train, tune=tune)


def parse_systems(texts: Sequence[str]) -> list[System]:
    """Return the systems of ``-s``, with the names that the user gave."""
    from classic_rc.systems import name_systems, parse_system

    systems = [parse_system(text) for text in texts]
    name_systems(systems)  # refuses two equal names before anything is read
    return systems


def choose_systems(
    args: argparse.Namespace, dataset: Dataset, requested: Sequence[System], protocol: Protocol
) -> list[System]:
    """Return the systems to run on a dataset: the given ones or the default set of its task, and
    their companions.

    The default set includes solvers that learn if there is training data; a note names those for
    which there is too much of it. For questions with several right answers, `AllPositive` is always
    among the solvers. The first systems on the questions of a log are the answers of its model.
    """
    from classic_rc.datasets.registry import as_dataset, is_log
    from classic_rc.systems import (
        System,
        find_log_model,
        name_systems,
        systems_of_log,
        with_companions,
    )

    if dataset.task is None:
        raise DataError("the dataset has no questions", source=dataset.name)
    leading = list(requested) or [
        System(solver) for solver in _default_solvers(args, dataset, protocol)
    ]
    complete = with_companions(leading, dataset, as_dataset(protocol.train))
    if (
        find_log_model(dataset, requested) is None
    ):  # the model of a log comes first, unless -s names it
        models = systems_of_log(dataset)
        if is_log(dataset) and not models:
            text = (
                "the model has no row: its answers are read only if the log is the dataset's only "
                "file"
            )
            report_notes(args, "note", [text], dataset.name)
        complete = [*models, *complete]
    systems = name_systems(complete)
    _report_log_settings(args, systems)
    return systems


def _report_log_settings(args: argparse.Namespace, systems: Sequence[System]) -> None:
    """Note how the models of logs were run, each log once."""
    from classic_rc.formats.harness_settings import read_settings

    for path in dict.fromkeys(system.path for system in systems if system.path is not None):
        settings = read_settings(path)
        if settings is not None and settings.facts:
            name = next(str(system.name) for system in systems if system.path == path)
            report_notes(args, "note", [f"{settings} ({path})"], name)


def _default_solvers(
    args: argparse.Namespace, dataset: Dataset, protocol: Protocol
) -> list[Solver]:
    from classic_rc.datasets.registry import as_dataset
    from classic_rc.metrics.base import has_unanswerable
    from classic_rc.questions import Task, has_constant_candidates
    from classic_rc.solvers.registry import (
        DEFAULT_SOLVERS,
        LEARNING_SOLVERS,
        MOST_TRAINING_QUESTIONS,
    )
    from classic_rc.solvers.specs import parse_solver

    assert dataset.task is not None
    names = list(DEFAULT_SOLVERS[dataset.task])
    if has_unanswerable(dataset):
        names.insert(1, "no-answer")
    training = dataset if protocol.cv is not None else as_dataset(protocol.train)
    if training is not None and training.task is dataset.task:
        for name in LEARNING_SOLVERS[dataset.task]:
            limit = MOST_TRAINING_QUESTIONS.get(name)
            if limit is None or len(training) <= limit:
                names.append(name)
            else:
                text = (
                    f"{name} is left out, because {len(training):,} training questions take it "
                    "minutes"
                )
                report_notes(args, "note", [f"{text}: name it with -s to run it"], dataset.name)
    if dataset.task is Task.SINGLE_CHOICE and has_constant_candidates(dataset):
        if training is not None and training.task is dataset.task:
            names.insert(1, "majority")
        else:
            text = (
                "all questions have the same candidates: to see the majority class, add --train or "
                "--cv 5"
            )
            report_notes(args, "note", [text], dataset.name)
    return [parse_solver(name) for name in names]


def require_solver(system: System) -> Solver:
    """Return a system's solver; UsageError for a file of predictions."""
    if system.path is not None:
        raise UsageError(
            f"{system.path} is a file of predictions, and a solver is needed here",
            field="--solver",
            found=system.path,
            expected="a solver (see `classic-rc list solvers`)",
        )
    if system.failure is not None:
        raise system.failure
    assert system.solver is not None
    return system.solver


def read_label_files(args: argparse.Namespace, dataset: Dataset) -> list[Labels]:
    """Read the files of ``--labels``, with their notes on stderr."""
    if not args.labels:
        return []
    from classic_rc.datasets.labels import check_names, read_labels

    notes: list[str] = []
    labels = [
        labels_of_file
        for path in args.labels
        for labels_of_file in read_labels(path, dataset, notes=notes)
    ]
    check_names(labels)
    report_notes(args, "note", notes)
    return labels


def check_figure_path(path: str | None, *inputs: str | None, others: Sequence[str] = ()) -> str:
    """Return the format of a figure, or one of `others`, by the suffix, after a check that it
    can be made.
    """
    from classic_rc.reports.figures import FIGURE_FORMATS, require_matplotlib

    if path is None:
        raise UsageError(
            "a figure needs a file: add -o FILE.pdf (or .png, .svg)",
            field="--output",
            expected="-o FILE.pdf",
        )
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in (*FIGURE_FORMATS, *others):
        suffixes = ", ".join(f".{suffix}" for suffix in (*FIGURE_FORMATS, *others))
        expected = f"a file name that ends in one of {suffixes}"
        raise UsageError(
            f"cannot draw a figure to {path}: expected {expected}",
            field="--output",
            found=path,
            expected=expected,
        )
    check_writable(path, *inputs, is_figure=True)
    if form in FIGURE_FORMATS:
        require_matplotlib()
    return form


def refuse_given(args: argparse.Namespace, names: Iterable[str], problem: str) -> None:
    """Raise an error for the first of these options that is given."""
    for name in names:
        if getattr(args, name) not in (None, False, [], ()):
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} {problem}", field=flag)


def shows_progress(args: argparse.Namespace) -> bool:
    """Return whether to show progress: unless ``--quiet`` is given. ``classic_rc.io.progress``
    decides how.
    """
    return not args.quiet


def report_notes(
    args: argparse.Namespace, kind: str, texts: Iterable[str], about: str | None = None
) -> None:
    """Write each text to stderr as a ``note`` or a ``warning``, unless ``--quiet`` is given."""
    if not args.quiet:
        for text in texts:
            print_message(f"{kind}: {about}: {text}" if about else f"{kind}: {text}")


class QuestionGroups(NamedTuple):
    """What ``--by`` and ``--labels`` mean for one dataset."""

    groupings: Sequence[Grouping]
    crosses: Sequence[CrossTabulation]


def read_groups(
    args: argparse.Namespace, dataset: Dataset, fields: Sequence[str] = ()
) -> QuestionGroups:
    """Group questions by the keys of ``--by``, by default by all labels of ``--labels`` and the
    keys `fields`.
    """
    if not (args.by or args.labels or fields):
        return QuestionGroups((), ())
    from classic_rc.results.grouping import group_questions, read_groupings

    labels = read_label_files(args, dataset)
    groupings = read_groupings(dataset, args.by, labels)
    if not args.by:
        label_names = {labels_of_key.name for labels_of_key in labels}
        groupings += [group_questions(dataset, key) for key in fields if key not in label_names]
    return QuestionGroups(
        groupings, [_cross_tabulate(dataset, key, labels) for key in args.by if "," in key]
    )


def _cross_tabulate(dataset: Dataset, keys: str, labels: Sequence[Labels]) -> CrossTabulation:
    """Count the groups of ``KEY,KEY`` together; the two may be the same."""
    from classic_rc.results.breakdown import cross_tabulate
    from classic_rc.results.grouping import group_questions

    first, second = (key.strip() for key in keys.split(",", 1))
    rows = group_questions(dataset, first, labels)
    return cross_tabulate(
        rows, rows if first == second else group_questions(dataset, second, labels)
    )


def count_questions(args: argparse.Namespace, dataset: Dataset) -> SharedResults:
    """Return results without systems: their breakdown has only the numbers of questions."""
    from classic_rc.folds import passage_groups
    from classic_rc.results.shared_results import SharedResults

    assert dataset.task is not None
    groups = passage_groups(dataset, args.group)
    return SharedResults(
        dataset.name,
        dataset.fingerprint,
        dataset.task,
        lambda: groups,
        (),
        args.group,
        scorers=dataset.scorers,
    )


def report_missing(
    args: argparse.Namespace,
    evaluations: Sequence[Evaluation],
    failures: Failures,
    *,
    asked_for: bool = True,
    notes: bool = True,
) -> None:
    """Report the systems that did not answer; `notes` says whether to report also those that
    answered other data.

    One that failed, or that was named and answered no dataset at all, is a failure.
    """
    answered = {row.name for evaluation in evaluations for row in evaluation.rows}
    for evaluation in evaluations:
        for name, error in evaluation.errors.items():
            about = f"{evaluation.dataset.name}: {name}"
            if isinstance(error, SystemFailedError) or (asked_for and name not in answered):
                failures.add(error, about)
            elif notes:
                report_notes(args, "note", [str(error)], about)
