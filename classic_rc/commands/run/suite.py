"""``classic-rc run SUITE.toml --save DIR``: the cells of a suite, kept as they finish; and
``--format suite``.
"""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, print_message, write_file
from classic_rc.cli.option import Choice
from classic_rc.cli.options import TABLE
from classic_rc.commands.run.results import (
    GroupTables,
    RunResults,
    break_down_results,
    report_answers,
    warn_about_published,
)
from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.io.files import exclusive_lock
from classic_rc.io.progress import Progress, progress_bar
from classic_rc.protocol import READING, SETTINGS

if TYPE_CHECKING:
    from classic_rc.metrics.base import Metric
    from classic_rc.questions import Dataset
    from classic_rc.running.cells import DatasetRun, FinishedCell
    from classic_rc.running.suite import Suite, SuiteDataset

SUFFIX = ".toml"
"""What the names of suite files end in. The module that reads them is not imported for other
runs.
"""

_WITH_SUITES = frozenset(
    {"output", "save", "jobs", "format", "published", "verbose", "quiet", "trust"}
)
"""The options of ``run`` that a suite does not replace."""

_NOT_IN_SUITES = frozenset({"pool", "figure"})
"""The options of ``run`` that suites have no key for."""


def run_suite(args: argparse.Namespace, options: Choice) -> int:
    """Run the suite of ``classic-rc run SUITE.toml --save DIR``; `options` are the command's."""
    from classic_rc.running.suite import read_suite

    _check_options(args, options)
    check_writable(args.output, *args.data)
    check_writable(args.save, is_folder=True, option="--save")
    suite = read_suite(args.data[0], trust=args.trust)
    command = _SuiteCommand(args, options, suite)
    with exclusive_lock(
        Path(args.save) / ".lock",
        lambda: print_message(f"another suite runs in {args.save}: waiting until it ends"),
    ):
        return command.run()


def _check_options(args: argparse.Namespace, options: Choice) -> None:
    """Raise an error for options that a suite file replaces, and for several suites or none with
    a folder.
    """
    path = next(data for data in args.data if data.endswith(SUFFIX))
    if len(args.data) > 1:
        raise UsageError(
            f"{path} is a suite, which names its own data: run it alone, and add other data to its "
            "[datasets]",
            field="DATA",
            found=" ".join(args.data),
            expected="one suite, or datasets",
        )
    for option in TABLE.given(args, options):
        flag = option.flag
        if option.dest not in _WITH_SUITES or (flag == "--format" and args.format == "suite"):
            fix = (
                "leave it out"
                if option.dest in _NOT_IN_SUITES
                else "put it into that file (see docs/suites.md)"
            )
            raise UsageError(
                f"{flag} cannot be combined with the suite {path}: {fix}",
                field=flag,
                found=flag,
                expected="a suite with only --save, -o, --jobs, --format, --published, -v, --trust "
                "and --quiet",
            )
    if args.save is None:
        command = shlex.join(["classic-rc", "run", path, "--save", Path(path).stem])
        raise UsageError(
            f"a suite needs a folder for its results: {command}",
            field="--save",
            expected="--save DIR",
        )


class _SuiteCommand:
    """One run of a suite: what is finished so far, and where it is shown and kept."""

    def __init__(self, args: argparse.Namespace, options: Choice, suite: Suite) -> None:
        from classic_rc.running.cells import CellFolder

        self.args, self.options, self.suite = args, options, suite
        self.cells = CellFolder(Path(args.save) / "cells")
        self.results = RunResults(args, [dataset.name for dataset in suite.datasets])
        self.n_cells = sum(len(suite.systems_of(dataset.name)) for dataset in suite.datasets)
        self.n_reused = 0
        self.progress = Progress(shows_results=True)

    def run(self) -> int:
        failures = Failures()
        try:
            for entry in self.suite.datasets:
                with failures.caught(entry.name):
                    self._run_dataset(entry)
        except KeyboardInterrupt:
            done, n_kept = self.progress.steps_done, self.progress.steps_kept
            words = ["classic-rc", "run", self.args.data[0]]
            for given_option in TABLE.given(self.args, self.options):
                words += given_option.words(self.args)
            command = shlex.join(words)
            print_message(
                f"{done} of {self.n_cells} cells are finished ({done - n_kept} now); go on with: "
                f"{command}"
            )
            raise
        finally:
            self.results.finish()
        inputs.report_missing(self.args, self.results.evaluations, failures, notes=False)
        return failures.exit_code

    def _run_dataset(self, entry: SuiteDataset) -> None:
        from classic_rc.running.cells import DatasetRun, read_data

        n_expected = len(self.suite.systems_of(entry.name))
        try:
            data = read_data(entry, self._read, time.perf_counter)
            run = DatasetRun(self.suite, data, self.cells)
        except ClassicRCError:
            self.progress.keep(n_expected)  # its cells are lost, and take no time
            self.results.skip()
            raise
        self.n_cells += run.n_cells - n_expected
        try:
            self._run_cells(run)
            with progress_bar(f"resampling {entry.name}", None, inputs.shows_progress(self.args)):
                evaluation = run.evaluation()
        except ClassicRCError:
            self.results.skip()
            raise
        except BaseException:
            partial = run.evaluation(final=False)
            if partial.rows:
                self.results.add(partial)
            raise
        report_answers(self.args, evaluation)
        warn_about_published(self.args, evaluation)
        inputs.report_notes(self.args, "note", run.notes)
        inputs.report_notes(self.args, "warning", evaluation.warnings, entry.name)
        apart = [grouping for grouping in run.groupings if grouping.key != evaluation.group_by]
        self.results.add(evaluation, GroupTables(break_down_results(evaluation, apart), ()))

    def _run_cells(self, run: DatasetRun) -> None:
        name, progress = run.data.entry.name, self.progress
        with progress_bar(name, self.n_cells, inputs.shows_progress(self.args), "cell", progress):
            for finished in run.iter_cells(self.args.jobs, progress.stage):
                if finished.is_kept or isinstance(finished.result, ClassicRCError):
                    progress.keep(1)
                else:
                    progress(1)
                self.n_reused += finished.is_kept
                progress.finished(self._describe(name, finished, run.metric))

    def _describe(self, dataset: str, finished: FinishedCell, metric: Metric) -> str:
        """Return a line about a finished cell: ``race: SW: Acc. 31.21 (12 of 48 cells, 3
        reused)``.
        """
        result = finished.result
        if isinstance(result, ClassicRCError):
            outcome = f"no result: {result}"
        else:
            score = result.rows[0].metrics()[metric.name]
            outcome = f"{metric.label} {100 * score:.2f}"
        reused = f", {self.n_reused} reused" if self.n_reused else ""
        done = f"{self.progress.steps_done} of {self.n_cells} cells{reused}"
        return f"{dataset}: {finished.system.name}: {outcome} ({done})"

    def _read(self, path: str, **reading: Any) -> Dataset:
        return inputs.read_dataset(self.args, path, **reading)


# --------------------------------------------------------------------------------------------------
# --format suite


def write_suite(args: argparse.Namespace) -> int:
    """Write the suite of ``classic-rc run DATA... --format suite -o FILE.toml``."""
    from classic_rc.running.suite import suite_text

    path = args.output or ""
    if not path.endswith(SUFFIX):
        raise UsageError(
            f"the name of a suite file ends in {SUFFIX}: --format suite -o "
            f"{path or 'FILE'}{SUFFIX}",
            field="--output",
            found=path,
            expected=f"a name that ends in {SUFFIX}",
        )
    if args.save is not None:
        raise UsageError(
            "--format suite runs nothing: give --save when the suite is run",
            field="--save",
            found=args.save,
            expected="--format suite without it",
        )
    if args.perturbed is not None:
        raise UsageError(
            "suites measure no perturbed copies: leave out --perturbed", field="--format"
        )
    if args.figure:
        raise UsageError(
            "a suite draws no figure: leave out --figure", field="--figure", found=args.figure
        )
    check_writable(path, *args.data, *args.train, args.tune)
    text = suite_text(path, list(_chosen_systems(args)))
    write_file(Path(path), text)
    command = ["classic-rc", "run", path, "--save", str(Path(path).with_suffix(""))]
    if ".py:" in text:
        command.append("--trust")
    print_message(f"note: {path} is written: run it with {shlex.join(command)}")
    return 0


def _chosen_systems(args: argparse.Namespace) -> Iterator[tuple[SuiteDataset, list[Any]]]:
    """Yield each dataset of the command line with its systems."""
    from classic_rc.running.suite import ANY_DATASET, SuiteDataset
    from classic_rc.systems import find_baselines, one_or_all, unused_name

    systems_of_options = inputs.parse_systems(args.solver)
    protocol = inputs.read_protocol(args)
    names_of_options = [name for name in (*READING, *SETTINGS) if hasattr(args, name)]
    values = {name: getattr(args, name) for name in names_of_options}
    values |= {
        "by": one_or_all(args.by),
        "labels": args.labels,
        "metrics": list(args.metrics),
    }
    names: list[str] = []
    for data in inputs.expand_datasets(args, args.data):
        if len(data.paths) > 1:
            raise UsageError(
                f"{data} has several files, and a dataset of a suite has one: write them into one "
                "file first",
                field="DATA",
                found=", ".join(data.paths),
                expected="one file or folder a dataset",
            )
        dataset = inputs.load_dataset(args, data)
        data_protocol = inputs.protocol_for(protocol, data)
        systems, baselines = find_baselines(
            inputs.choose_systems(args, dataset, systems_of_options, data_protocol), args.baseline
        )
        name = unused_name(dataset.name, {*names, ANY_DATASET})
        names.append(name)
        settings = {"path": data.paths[0], **values, "baseline": one_or_all(baselines)}
        yield SuiteDataset(name, settings), systems
