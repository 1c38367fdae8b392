"""What parsed options turn into: datasets, solvers and settings, as the library takes them."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli.console import check_writable, message
from classic_rc.errors import DataError, UsageError
from classic_rc.io.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from classic_rc.datasets.labels import Labels
    from classic_rc.questions import Dataset
    from classic_rc.solvers.base import Solver
    from classic_rc.text.spans import SpanGenerator


def named_datasets(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the name of every dataset that the arguments name; one argument can name several."""
    from classic_rc.datasets.registry import expand

    return (name for argument in arguments for name in expand(argument))


def dataset_of(args: argparse.Namespace, data: str, *, split: str | None = None) -> Dataset:
    """Read DATA as the reading options say, with its notes on stderr; options the command lacks are None."""
    from classic_rc.datasets.registry import load

    how = {name: getattr(args, name, None) for name in ("reader", "subset", "answers", "fields", "gold_as")}
    with progress_bar(f"reading {data}", None, shows_progress(args)):
        dataset = load(data, split=args.split if split is None else split or None, **how)
    tell(args, "note", dataset.notes, dataset.name)
    return dataset


def training_data(args: argparse.Namespace) -> dict[str, Any]:
    """Read the datasets of ``--train`` and ``--tune`` and return them as keyword arguments."""
    return {
        role: None if data is None else dataset_of(args, data, split=split or "")
        for role, data, split in (
            ("train", args.train, args.train_split),
            ("tune", args.tune, args.tune_split),
        )
    }


def learning_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the training and tuning options as keyword arguments of :func:`classic_rc.evaluate`."""
    return {**training_data(args), "cv": args.cv, "group": args.group, "drop_overlap": args.drop_overlap}


def decision_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the decision options as keyword arguments of :func:`classic_rc.evaluate`."""
    return {
        "ties": args.ties,
        "threshold": args.threshold,
        "tune_metric": args.tune_metric,
        "tune_cuts": args.tune_cuts,
        "relative_threshold": args.relative_threshold,
        "seed": args.seed,
    }


def solvers_for(dataset: Dataset, named: list[Solver], extra: dict[str, Any]) -> list[Solver]:
    """Return the solvers to run on a dataset: the named ones, or else the default set for its task.

    The default set includes solvers that learn if there is something to learn from. On questions with several right
    answers, `AllPositive` is always among the solvers.

    Raises
    ------
    DataError
        The dataset has no question.
    """
    from classic_rc.questions import Task
    from classic_rc.solvers.registry import DEFAULT_SOLVERS, LEARNING_SOLVERS
    from classic_rc.solvers.specs import parse_solver

    if dataset.task is None:
        raise DataError("there is no question in it", source=dataset.name)
    if not named:
        train = extra["train"]
        learns = extra["cv"] is not None or (train is not None and train.task is dataset.task)
        usual = DEFAULT_SOLVERS[dataset.task] + (LEARNING_SOLVERS[dataset.task] if learns else ())
        return [parse_solver(name) for name in usual]
    if dataset.task is not Task.MULTIPLE_ANSWER:
        return named
    from classic_rc.solvers.trivial import AllPositive

    # F1m and F1a are high when everything is selected, so every table shows that row for comparison.
    return named if any(isinstance(s, AllPositive) for s in named) else [AllPositive(), *named]


def searching(args: argparse.Namespace, solvers: Sequence[Solver]) -> list[Solver]:
    """Apply ``--corpus`` and ``--exclude-verbatim`` to the solvers that search, and return all solvers.

    Raises
    ------
    UsageError
        One of the options is given, and no solver searches.
    """
    if not args.corpus and not args.exclude_verbatim:
        return list(solvers)
    from classic_rc.solvers.ir import IRSolver

    if not any(isinstance(solver, IRSolver) for solver in solvers):
        raise UsageError("--corpus and --exclude-verbatim are for solvers that search: add -s ir")
    wanted = {"paths": args.corpus, "exclude_verbatim": args.exclude_verbatim}
    return [solver.searching(**wanted) if isinstance(solver, IRSolver) else solver for solver in solvers]


def span_generator(args: argparse.Namespace) -> SpanGenerator | None:
    """Return the span generator that ``--spans`` describes, or None.

    Raises
    ------
    UsageError
        The value is not ``k=N`` with N of at least 1.
    """
    if args.spans is None:
        return None
    from classic_rc.text.spans import SpanGenerator

    text = args.spans.removeprefix("k=")
    try:
        most = int(text) if text.isdecimal() else 0
    except ValueError:  # Python refuses to read more than 4,300 digits
        most = 0
    if most < 1:
        raise UsageError(f"--spans takes k=N with N the most tokens a span may have, got {args.spans!r}")
    return SpanGenerator(max_tokens=most)


def labels_of(args: argparse.Namespace, dataset: Dataset) -> list[Labels]:
    """Read the files of ``--labels``, with their notes on stderr."""
    from classic_rc.datasets.labels import check_names, read_labels

    notes: list[str] = []
    labels = [
        own for path in args.labels for own in read_labels(path, dataset, others=args.other_questions, notes=notes)
    ]
    check_names(labels)
    tell(args, "note", notes)
    return labels


def figure_form(path: str, *inputs: str | None) -> str:
    """Return the figure format of ``--plot`` by its suffix, and check that the figure can be drawn and written.

    Raises
    ------
    UsageError
        The suffix is not that of a figure format, or the file cannot be written.
    MissingPackageError
        Matplotlib is not installed.
    """
    from classic_rc.reports.figures import FIGURE_FORMATS, require_matplotlib

    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FIGURE_FORMATS:
        known = ", ".join(f".{known}" for known in FIGURE_FORMATS)
        raise UsageError(f"--plot {path} does not say what to write: give a file whose name ends in one of {known}")
    check_writable(path, *inputs)
    require_matplotlib()
    return form


def shows_progress(args: argparse.Namespace) -> bool:
    """Return whether to draw progress bars: on a terminal, unless ``--quiet`` is given."""
    return not args.quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def tell(args: argparse.Namespace, kind: str, texts: Iterable[str], about: str | None = None) -> None:
    """Write each text to stderr as a ``note`` or a ``warning``, unless ``--quiet`` is given."""
    if not args.quiet:
        for text in texts:
            message(f"{kind}: {about}: {text}" if about else f"{kind}: {text}")
