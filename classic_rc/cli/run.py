"""``classic-rc run``: score datasets with baselines and print a table of results.

The datasets and systems of a suite file are run by :mod:`classic_rc.cli.suite`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.breakdown import NO_GROUPS, GroupTables, break_down_results, draw_groups, read_groups
from classic_rc.cli.console import Failures, check_save_folder, check_writable, print_message, write_output
from classic_rc.cli.options import vary_option
from classic_rc.cli.results import render_results, report_missing, save_record, warn_about_published
from classic_rc.errors import UsageError
from classic_rc.io.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    "--jobs",
    "--format",
    "--signatures",
    "--output",
    "--save",
    "--write-suite",
    "--quiet",
    vary_option("--plot", help="also draw the groups of one dataset as bars (.pdf, .png, .svg); needs matplotlib"),
)

DEFAULT_RESAMPLES = 10_000
"""Of the intervals that the questions of a model's log always have."""


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.cli import suite

    if any(data.endswith(suite.SUFFIX) for data in args.data):
        return suite.run_suite(args, OPTIONS)
    if args.perturbed is not None:
        from classic_rc.cli.perturb import run_perturbed

        return run_perturbed(args)
    if args.perturbed_train:
        raise UsageError("--perturbed-train needs --perturbed: add it", field="--perturbed-train")
    if args.write_suite is not None:
        return suite.write_suite(args)
    check_writable(args.output, *args.data, *args.train, args.tune, *args.labels)
    check_save_folder(args.save)
    systems = inputs.parse_systems(args.solver)
    spans = inputs.parse_spans(args)
    datasets: Iterable[DatasetFiles] = inputs.expand_datasets(args, args.data)
    figure = None
    if args.plot is not None:
        figure, datasets = _check_plot(args), [inputs.choose_dataset(args, args.data)]
    extra = inputs.learning_options(args)
    evaluations: list[Evaluation] = []
    groups: list[GroupTables] = []  # of the evaluations
    failures = Failures()
    # JSON, CSV and a file hold the results of all datasets; a table is printed when its dataset is finished.
    writes_at_once = args.output is None and args.format not in ("csv", "json")

    def write_last() -> None:
        table = _render(args, evaluations[-1:], groups[-1:])
        write_output(table if len(evaluations) == 1 else f"\n{table}", None)
        sys.stdout.flush()

    unfinished: list[Evaluation] = []
    try:
        for data in datasets:
            with failures.caught():
                unfinished.clear()
                evaluation, tables = _evaluate(args, data, systems, spans, extra, unfinished)
                evaluations.append(evaluation)
                groups.append(tables)
                unfinished.clear()
                if writes_at_once:
                    write_last()
                if figure is not None:
                    draw_groups(tables.drawn, args.plot, figure)
    finally:
        if unfinished:  # the work was interrupted: keep the rows that are finished
            evaluations.append(unfinished[-1])
            groups.append(NO_GROUPS)
            done = len(evaluations[-1].rows)
            print_message(f"{evaluations[-1].dataset.name}: only {done} rows are finished")
            if writes_at_once:
                write_last()
        _write_results(args, evaluations, groups, written=writes_at_once)
    report_missing(args, evaluations, failures)
    return failures.exit_code


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
    spans: Any,
    extra: dict[str, Any],
    unfinished: list[Evaluation],
) -> tuple[Evaluation, GroupTables]:
    """Return the evaluation of a dataset and its groups; while it runs, `unfinished` ends with the rows so far."""
    from classic_rc.evaluation.evaluate import evaluate
    from classic_rc.evaluation.significance import with_statistics
    from classic_rc.evaluation.systems import find_baseline, find_log_model

    start = time.perf_counter()
    dataset = inputs.load_dataset(args, data)
    seconds = time.perf_counter() - start
    systems, baseline, intervals = inputs.choose_systems(args, dataset, given, extra), None, args.intervals
    if args.baseline is not None:
        systems, baseline = find_baseline(systems, args.baseline)
    elif (model := find_log_model(dataset, systems)) is not None and len(systems) > 1:
        baseline, intervals = model, intervals or DEFAULT_RESAMPLES
    # One key is columns of the table; several keys, and labels from files, are tables of their own.
    in_columns = len(args.by) == 1 and not args.labels
    questions = read_groups(args, dataset)
    evaluation = evaluate(
        dataset,
        systems,
        spans=spans,
        group_by=args.by[0] if in_columns else None,
        metrics=args.metrics,
        jobs=args.jobs,
        read_seconds=seconds,
        progress=inputs.shows_progress(args),
        on_row=unfinished.append,
        **extra,
        **inputs.decision_options(args),
    )
    with progress_bar(f"resampling {dataset.name}", None, inputs.shows_progress(args)):
        tests = baseline is not None and (args.baseline is not None or len(evaluation.rows) > 1)
        evaluation = with_statistics(
            evaluation,
            intervals=intervals,
            baseline=baseline if tests else None,
            seed=args.seed or 0,
            group=args.group,
        )
        drawn = break_down_results(args, evaluation, questions) if args.plot or not in_columns else []
    warn_about_published(args, evaluation)
    inputs.report_notes(args, "warning", evaluation.warnings)
    inputs.report_notes(args, "note", evaluation.notes, dataset.name)
    return evaluation, GroupTables([] if in_columns else drawn, questions.crosses, drawn)


def _render(args: argparse.Namespace, evaluations: list[Evaluation], groups: list[GroupTables]) -> str:
    return render_results(evaluations, args.format, args.published, groups, signatures=args.signatures)


def _write_results(
    args: argparse.Namespace, evaluations: list[Evaluation], groups: list[GroupTables], *, written: bool
) -> None:
    if not evaluations:
        return
    try:
        if not written:
            write_output(_render(args, evaluations, groups), args.output)
    finally:  # save the record even if the table cannot be written
        if args.save is not None:
            save_record(Path(args.save), evaluations)
