"""``classic-rc run``: score datasets with baselines and print a table of results.

The datasets and systems of a suite file are run by :mod:`classic_rc.cli.suite`.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.breakdown import NO_GROUPS, GroupTables, break_down_results, draw_groups, read_groups
from classic_rc.cli.console import Failures, check_writable, print_message, write_output
from classic_rc.cli.options import vary_option
from classic_rc.cli.results import render_results, report_missing, save_record, warn_about_published
from classic_rc.errors import ClassicRCError, SystemFailedError, UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from classic_rc.datasets.folder import DatasetFiles
    from classic_rc.evaluation.results import Evaluation
    from classic_rc.evaluation.systems import System


OPTIONS = (
    vary_option(
        "data...",
        metavar="DATA|SUITE.toml",
        help="a dataset: a file, a folder, or `sample` for the questions that come with the package; or a suite, "
        "one file of datasets, systems and options (docs/suites.md), with -o DIR",
    ),
    "reading",
    "--pool",
    "--spans",
    "--solver",
    "training and tuning",
    "searching",
    "--analyzer of systems",
    "decisions",
    "--perturbed",
    "--perturbed-train",
    "--function-words",
    "breakdown",
    "--metrics",
    "--baseline",
    "--published",
    "--intervals",
    vary_option("--trust", help="run users' code that the suite names (path/to/file.py:Class); -s needs no trust"),
    "--jobs",
    "--format",
    "--signatures",
    "--output",
    "--save",
    "--write-suite",
    "--quiet",
    vary_option(
        "--figure",
        choices=("pr", "pr-micro"),
        help="instead of results: precision against recall of the -s systems, to -o FILE (.pdf, .png, .svg), or "
        "its points (.csv, or stdout); pr: means over questions, pr-micro: over all options together. Scores give "
        "a curve, answers in a file a point",
    ),
    vary_option("--plot", help="also draw the groups of one dataset as bars (.pdf, .png, .svg); needs matplotlib"),
)

DEFAULT_RESAMPLES = 10_000
"""Of the intervals that the questions of a model's log always have."""

_LEAST_PAUSE = 20
"""Between two writings of the record for finished rows, in times that one takes."""


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.cli import suite

    if any(data.endswith(suite.SUFFIX) for data in args.data):
        return suite.run_suite(args, OPTIONS)
    if args.trust:
        raise UsageError(
            "--trust is for the code that a suite names; what -s names runs without it", field="--trust"
        )
    if args.figure is not None:
        from classic_rc.cli.precision_recall import draw_curves

        return draw_curves(args, OPTIONS)
    if args.perturbed is not None:
        from classic_rc.cli.perturb import run_perturbed

        return run_perturbed(args)
    if args.perturbed_train:
        raise UsageError("--perturbed-train needs --perturbed: add it", field="--perturbed-train")
    if args.write_suite is not None:
        return suite.write_suite(args)
    systems = inputs.parse_systems(args.solver)
    files = [system.path for system in systems]
    check_writable(args.output, *args.data, *args.train, args.tune, *args.labels, *files)
    check_writable(args.save, is_folder=True, option="--save")
    datasets = list(inputs.expand_datasets(args, args.data))
    figure = None
    if args.plot is not None:
        figure, datasets = _check_plot(args), [inputs.choose_dataset(args, args.data)]
    protocol = inputs.read_protocol(args)
    results = _Results(args, datasets)
    failures = Failures()
    try:
        for data in datasets:
            with failures.caught():
                try:
                    evaluation, tables = _evaluate(args, data, systems, protocol, results.keep_row)
                except BaseException as error:
                    if results.add_unfinished(error):
                        continue
                    raise
                results.add(evaluation, tables)
                if figure is not None:
                    draw_groups(tables.drawn, args.plot, figure)
    finally:
        results.finish()
    report_missing(args, results.evaluations, failures)
    return failures.exit_code


class _Results:
    """The results of the command, printed and saved as they are finished."""

    def __init__(self, args: argparse.Namespace, datasets: Sequence[DatasetFiles]) -> None:
        self._args = args
        self._left = [str(data) for data in datasets]
        self.evaluations: list[Evaluation] = []
        self._groups: list[GroupTables] = []  # of the evaluations
        self._rows: Evaluation | None = None  # what is finished of the first dataset that is left
        self._writing = (-math.inf, 0.0)  # when the record was written last, and for how many seconds
        # JSON, CSV and a file hold the results of all datasets; a table is printed when its dataset is finished.
        self._prints_at_once = args.output is None and args.format not in ("csv", "json")

    def keep_row(self, evaluation: Evaluation) -> None:
        """Keep what is finished of a dataset, also in the record unless writing it takes long."""
        self._rows = evaluation
        start, (last, seconds) = time.monotonic(), self._writing
        if start > last + _LEAST_PAUSE * seconds:
            self._save_early([*self.evaluations, evaluation.interrupted()], self._left[1:])
            self._writing = time.monotonic(), time.monotonic() - start

    def add(self, evaluation: Evaluation, groups: GroupTables = NO_GROUPS) -> None:
        """Print and save the results of a dataset."""
        self.evaluations.append(evaluation)
        self._groups.append(groups)
        self._rows = None
        del self._left[0]
        if self._prints_at_once:
            table = self._render([evaluation], [groups])
            write_output(table if len(self.evaluations) == 1 else f"\n{table}", None)
            sys.stdout.flush()
        if self._left:
            self._save_early(self.evaluations, self._left)

    def add_unfinished(self, error: BaseException) -> bool:
        """Add the systems that were finished before an error; return whether they say all about it."""
        rows, is_own = self._rows, isinstance(error, ClassicRCError)
        self._rows = None
        failed = rows is not None and any(isinstance(e, SystemFailedError) for e in rows.errors.values())
        if rows is not None and (rows.rows or failed):
            self.add(rows if is_own else rows.interrupted())
        elif is_own:
            del self._left[0]
        return failed and not (rows and rows.rows)

    def finish(self) -> None:
        """Write what was not written as it was finished, and the record."""
        from classic_rc.evaluation.record import find_interrupted

        if not self.evaluations:
            return
        if missing := [*find_interrupted(self.evaluations), *self._left]:
            print_message(f"the run was interrupted, and has no results of {', '.join(missing)}")
        try:
            if not self._prints_at_once:
                write_output(self._render(self.evaluations, self._groups), self._args.output)
        finally:  # save the record even if the table cannot be written
            if self._args.save is not None:
                save_record(Path(self._args.save), self.evaluations, self._left)

    def _render(self, evaluations: list[Evaluation], groups: Sequence[GroupTables]) -> str:
        args = self._args
        return render_results(evaluations, args.format, args.published, groups, signatures=args.signatures)

    def _save_early(self, evaluations: Sequence[Evaluation], left: Sequence[str]) -> None:
        if self._args.save is not None:
            with suppress(UsageError):  # a full disk: the work goes on, and `finish` says so
                save_record(Path(self._args.save), evaluations, left)


def _check_plot(args: argparse.Namespace) -> str:
    """Return the format of the figure.

    Raises
    ------
    UsageError
        There is nothing to draw, or the figure cannot be written.
    """
    if not args.by and not args.labels:
        raise UsageError(
            "--plot draws groups of questions: add --by KEY (see `classic-rc list keys`) or --labels FILE",
            field="--plot",
            found=args.plot,
        )
    return inputs.check_figure_path(args.plot, *args.data, *args.labels)


def _evaluate(
    args: argparse.Namespace,
    data: DatasetFiles,
    given: Sequence[System],
    protocol: Protocol,
    keep_row: Callable[[Evaluation], None],
) -> tuple[Evaluation, GroupTables]:
    """Return the evaluation of a dataset and its groups; while it runs, `keep_row` gets the rows so far."""
    from classic_rc.evaluation.evaluate import evaluate
    from classic_rc.evaluation.systems import find_baseline, find_log_model

    start = time.perf_counter()
    dataset = inputs.load_dataset(args, data)
    seconds = time.perf_counter() - start
    systems = inputs.choose_systems(args, dataset, given, protocol)
    if args.baseline is not None:
        systems, baseline = find_baseline(systems, args.baseline)
        protocol = replace(protocol, baseline=baseline)
    elif (model := find_log_model(dataset, systems)) is not None and len(systems) > 1:
        protocol = replace(protocol, baseline=model, intervals=protocol.intervals or True)
    # One key is columns of the table; several keys, and labels from files, are tables of their own.
    in_columns = len(args.by) == 1 and not args.labels
    questions = read_groups(args, dataset)
    evaluation = evaluate(
        dataset,
        systems,
        replace(protocol, by=args.by[0] if in_columns else None),
        jobs=args.jobs,
        read_seconds=seconds,
        progress=inputs.shows_progress(args),
        on_row=keep_row,
    )
    with progress_bar(f"resampling {dataset.name}", None, inputs.shows_progress(args)):
        drawn = break_down_results(args, evaluation, questions) if args.plot or not in_columns else []
    warn_about_published(args, evaluation)
    inputs.report_notes(args, "warning", evaluation.warnings)
    inputs.report_notes(args, "note", evaluation.notes, dataset.name)
    return evaluation, GroupTables([] if in_columns else drawn, questions.crosses, drawn)
