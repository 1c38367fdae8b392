"""``classic-rc score``: score files of predictions with the official metrics of their dataset."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_output
from classic_rc.cli.options import vary_option
from classic_rc.cli.results import render_results, report_missing
from classic_rc.errors import UsageError
from classic_rc.protocol import Step

if TYPE_CHECKING:
    from classic_rc.evaluation.systems import System
    from classic_rc.questions import Dataset

OPTIONS = (
    "data",
    "files",
    "reading",
    "--as",
    "--tune-split",
    vary_option("--group", help="a field of the data (article, author, …) whose questions are resampled together"),
    "decisions",
    "--by of a table",
    "--metrics",
    "--baseline",
    "--intervals",
    "--format",
    "--signatures",
    "--output",
    "--quiet",
    vary_option("--tune", help="the questions to tune a threshold on; each FILE must have their scores too"),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.evaluation.evaluate import evaluate
    from classic_rc.evaluation.systems import System, find_baseline, name_systems
    from classic_rc.questions import Task
    from classic_rc.solvers.trivial import AllPositive

    files = list(_parse_files(args))
    check_writable(args.output, args.data, args.tune, *(file.path for file in files))
    start = time.perf_counter()
    dataset = inputs.load_dataset(args, args.data)
    seconds = time.perf_counter() - start
    protocol = inputs.read_protocol(args)
    if args.tune is not None or protocol.without(*(step for step in Step if step != Step.DECIDE)).changed:
        files = [_with_scores(file, dataset) for file in files]
    # F1m and F1a are high when everything is selected, so the table shows that row for comparison.
    reference = [System(AllPositive())] if dataset.task is Task.MULTIPLE_ANSWER else []
    systems, baseline = name_systems([*files, *reference]), None
    names = {system.name for system in systems[: len(files)]}
    if args.baseline is not None:
        systems, baseline = find_baseline(systems, args.baseline)
    evaluation = evaluate(
        dataset,
        systems,
        replace(protocol, by=args.group_by, baseline=baseline),
        read_seconds=seconds,
        progress=inputs.shows_progress(args),
    )
    if names <= evaluation.errors.keys():  # nothing but the rows for comparison is left
        raise next(error for name, error in evaluation.errors.items() if name in names)
    inputs.report_notes(args, "warning", evaluation.warnings)
    write_output(render_results([evaluation], args.format, signatures=args.signatures), args.output)
    failures = Failures()
    report_missing(args, [evaluation], failures)
    return failures.exit_code


def _parse_files(args: argparse.Namespace) -> Iterator[System]:
    """Yield the files; the name of an existing file may contain ``=``."""
    from classic_rc.evaluation.systems import System, split_format, split_name

    for text in args.files:
        name, path = (None, text) if Path(text).exists() else split_name(text)
        path, format = split_format(path)
        yield System(path=path, name=name, format=format or args.form)


def _with_scores(file: System, dataset: Dataset) -> System:
    """Return the system that decides on the scores of a file, which may also have decisions.

    Raises
    ------
    UsageError
        The file has decisions only.
    """
    from classic_rc.evaluation.systems import System
    from classic_rc.formats.registry import has_scores
    from classic_rc.solvers.score_file import ScoreFile

    assert file.path is not None
    if dataset.task is None or has_scores(file.path, dataset.task, file.format):
        solver = ScoreFile(path=file.path, format=file.format)
        return System(solver, name=file.name or file.default_name)
    raise UsageError(
        f"{file.path} has decisions, not scores: thresholds and tie policies do not apply; leave out the options",
        field="scores",
        found="decisions",
        expected="scores",
    )
