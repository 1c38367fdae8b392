"""``classic-rc run``: score datasets with baselines and print a table of results.

The datasets and systems of a suite file are run by :mod:`classic_rc.commands.run.suite`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_file, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    under,
)
from classic_rc.cli.options import FORMATS, TABLE, vary_option
from classic_rc.commands.run.results import (
    GroupTables,
    RunResults,
    break_down_results,
    draw_groups,
    report_answers,
    warn_about_published,
)
from classic_rc.errors import UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import READING, Protocol, column_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from classic_rc.datasets.specification import DatasetFiles
    from classic_rc.predictions import Prediction, Scores
    from classic_rc.questions import Dataset
    from classic_rc.results.curves import Average, PrecisionRecallCurve
    from classic_rc.results.evaluation import Evaluation
    from classic_rc.systems import System


OPTIONS: Choice = (
    vary_option(
        "data...",
        metavar="DATA|SUITE.toml",
        help="a dataset: a file, a folder, or `sample` for the questions that come with the "
        "package; or a suite, one file of datasets, systems and options (docs/suites.md), with "
        "--save DIR",
    ),
    "reading",
    "--pool",
    "--solver",
    "training and tuning",
    "--analyzer of systems",
    "decisions",
    "--perturbed",
    "breakdown",
    "--metrics",
    vary_option("--baseline", action="append", default=[]),
    "--published",
    "--intervals",
    vary_option(
        "--trust",
        help="run users' code that the suite names (path/to/file.py:Class); -s needs no trust",
    ),
    "--jobs",
    vary_option(
        "--format",
        choices=(*FORMATS, "suite"),
        help="the output format (default table); suite: run nothing, but write the datasets, "
        "systems and options of this command to -o FILE.toml",
    ),
    "--verbose",
    "--output",
    *under(
        "output",
        option(
            "--save",
            metavar="DIR",
            help="also write DIR/run.json: parameters, versions, and every outcome",
        ),
    ),
    "--quiet",
    vary_option(
        "--figure",
        choices=("pr", "pr-micro", "groups"),
        help="draw to -o FILE (.pdf, .png, .svg). pr: instead of results, precision against recall "
        "of the -s systems, as means over questions (pr-micro: over all options together), or "
        "their points to FILE.csv or stdout; scores give a curve, answers in a file a point. "
        "groups: also draw --by or --labels as bars",
    ),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.commands.run import suite

    if any(data.endswith(suite.SUFFIX) for data in args.data):
        return suite.run_suite(args, OPTIONS)
    if args.trust:
        raise UsageError(
            "--trust is for the code that a suite names; what -s names runs without it",
            field="--trust",
        )
    if args.format == "suite":
        return suite.write_suite(args)
    if args.figure in _AVERAGES:
        return _draw_curves(args)
    if args.perturbed is not None:
        from classic_rc.commands.run.perturbed import run_perturbed

        return run_perturbed(args)
    systems = inputs.parse_systems(args.solver)
    files = [system.path for system in systems]
    is_drawn = args.figure is not None
    inputs_of_run = (*args.data, *args.train, args.tune, *args.labels, *files)
    check_writable(
        args.output, *inputs_of_run, is_figure=is_drawn, figure_option="--figure groups -o"
    )
    check_writable(args.save, is_folder=True, option="--save")
    datasets = list(inputs.expand_datasets(args, args.data))
    figure = None
    if is_drawn:
        figure, datasets = _check_groups_figure(args), [inputs.choose_dataset(args, args.data)]
    protocol = inputs.read_protocol(args)
    results = RunResults(args, list(map(str, datasets)))
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
                    draw_groups(tables.drawn, args.output, figure)
    finally:
        results.finish()
    inputs.report_missing(args, results.evaluations, failures, asked_for=bool(systems))
    return failures.exit_code


def _check_groups_figure(args: argparse.Namespace) -> str:
    """Return the format of the figure."""
    if not args.by and not args.labels:
        raise UsageError(
            "--figure groups draws groups of questions: add --by KEY (see `classic-rc list keys`) "
            "or --labels FILE",
            field="--figure",
        )
    return inputs.check_figure_path(args.output, *args.data, *args.labels)


def _evaluate(
    args: argparse.Namespace,
    data: DatasetFiles,
    systems_of_options: Sequence[System],
    protocol: Protocol,
    keep_row: Callable[[Evaluation], None],
) -> tuple[Evaluation, GroupTables]:
    """Return the evaluation of a dataset and its groups; while it runs, `keep_row` gets the rows
    so far.
    """
    from classic_rc.running.evaluate import evaluate
    from classic_rc.systems import find_baselines, find_log_model, one_or_all

    start = time.perf_counter()
    protocol = inputs.protocol_for(protocol, data)
    dataset = inputs.load_dataset(args, data)
    seconds = time.perf_counter() - start
    systems = inputs.choose_systems(args, dataset, systems_of_options, protocol)
    systems, baselines = find_baselines(systems, args.baseline)
    if baselines:
        protocol = replace(protocol, baseline=one_or_all(baselines))
    elif (model := find_log_model(dataset, systems)) is not None and len(systems) > 1:
        protocol = replace(protocol, baseline=model, intervals=protocol.intervals or True)
    questions = inputs.read_groups(args, dataset)
    in_columns = column_key(args.by, args.labels)
    evaluation = evaluate(
        dataset,
        systems,
        replace(protocol, by=in_columns),
        jobs=args.jobs,
        read_seconds=seconds,
        progress=inputs.shows_progress(args),
        groupings=questions.groupings,
        on_row=keep_row,
    )
    apart = [groups for groups in questions.groupings if groups.key != in_columns]
    with progress_bar(f"resampling {dataset.name}", None, inputs.shows_progress(args)):
        drawn = break_down_results(
            evaluation, questions.groupings if args.figure is not None else apart
        )
    report_answers(args, evaluation)
    warn_about_published(args, evaluation)
    inputs.report_notes(args, "warning", evaluation.warnings)
    listed = [breakdown for breakdown in drawn if breakdown.grouping.key != in_columns]
    return evaluation, GroupTables(listed, questions.crosses, drawn)


# --------------------------------------------------------------------------------------------------
# --figure pr


_LEARNING = ("train", "tune", "cv", "group", "drop_overlap")
_WITH_CURVES = frozenset(
    (
        *READING,
        *_LEARNING,
        "pool",
        "solver",
        "analyzer",
        "seed",
        "jobs",
        "figure",
        "output",
        "quiet",
    )
)
"""The options of ``run`` that mean something for scores without decisions."""

_AVERAGES: dict[str, Average] = {"pr": "macro", "pr-micro": "micro"}


def _draw_curves(args: argparse.Namespace) -> int:
    """Run ``classic-rc run --figure pr``."""
    from classic_rc.predictions import Scores
    from classic_rc.results.curves import PrecisionRecallCurve, check_choices
    from classic_rc.running.plan import require_gold
    from classic_rc.systems import name_systems, separate_runs

    for given_option in TABLE.given(args, OPTIONS):
        if given_option.dest not in _WITH_CURVES:
            flag = given_option.flag
            problem = (
                f"{flag} does not apply with --figure {args.figure}: run again without --figure "
                "for it"
            )
            raise UsageError(problem, field=flag, found=flag)
    output, average = args.output, _AVERAGES[args.figure]
    systems_of_options = inputs.parse_systems(args.solver)
    if not systems_of_options:
        raise UsageError(
            "nothing to plot: add systems (-s SYSTEM)", field="--solver", expected="-s SYSTEM"
        )
    systems = separate_runs(name_systems(systems_of_options))
    files = [system.path for system in systems]
    read = (*args.data, *args.train, args.tune, *files)
    form = "csv" if output is None else inputs.check_figure_path(output, *read, others=("csv",))
    data = inputs.choose_dataset(args, args.data)
    dataset = inputs.load_dataset(args, data)
    check_choices(dataset)
    require_gold(dataset, "precision and recall cannot be computed")
    protocol = inputs.protocol_for(inputs.read_protocol(args), data)
    curves: list[PrecisionRecallCurve] = []
    failures = Failures()
    try:
        for system in systems:
            with failures.caught():
                answers, name = _answer_questions(args, dataset, system, protocol), str(system.name)
                if isinstance(answers, Scores):
                    curve = PrecisionRecallCurve.from_scores(answers, dataset, name, average)
                else:
                    curve = PrecisionRecallCurve.from_predictions(answers, dataset, name, average)
                curves.append(curve)
    finally:
        _write_curves(curves, form, output)
    return failures.exit_code


def _answer_questions(
    args: argparse.Namespace, dataset: Dataset, system: System, protocol: Protocol
) -> Scores | list[Prediction]:
    """Return a solver's scores, or the scores or predictions in a file."""
    from classic_rc.running.evaluate import predict

    notes: list[str] = []
    if system.failure is not None:
        raise system.failure
    if system.solver is None:
        answers = system.read(dataset, notes)
    else:
        with progress_bar(f"scoring {dataset.name}", None, inputs.shows_progress(args)):
            result = predict(dataset, system.solver, protocol, decide=False, jobs=args.jobs)
        assert result.scores is not None  # check_choices() refuses questions without choices
        answers, notes = result.scores, [*result.warnings]
    inputs.report_notes(args, "warning", notes)
    return answers


def _write_curves(curves: list[PrecisionRecallCurve], form: str, output: str | None) -> None:
    from classic_rc.reports.figures import curves_csv, figure_bytes, precision_recall_figure

    if not curves:
        return
    if output is None or form == "csv":
        write_output(curves_csv(curves), output)
        return
    try:
        write_file(Path(output), figure_bytes(precision_recall_figure(curves), form))
    except UsageError:  # print the points, so that they are not lost
        write_output(curves_csv(curves), None)
        raise
