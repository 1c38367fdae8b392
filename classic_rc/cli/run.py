"""``classic-rc run``: score datasets with baselines and print the results table."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import options
from classic_rc.cli.console import check_folder, check_writable, emit, message, write_file
from classic_rc.errors import ClassicRCError, DataError, UsageError, unknown_name

if TYPE_CHECKING:
    from classic_rc.evaluation.results import Evaluation
    from classic_rc.questions import Dataset
    from classic_rc.solvers.base import Solver


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser, several=True)
    options.add_spans(parser)
    options.add_solvers(parser, options.ANY_OR_USUAL_SOLVERS)
    options.add_training_options(parser)
    options.add_search_options(parser)
    options.add_decision_options(parser)
    parser.add_argument(
        "--group-by",
        metavar="KEY",
        help="break the metrics down by something the data says, or one of `list keys`; `breakdown` does more",
    )
    parser.add_argument(
        "--baseline", metavar="ROW", help="mark rows that differ from this one (permutation test, Holm's p < 0.05)"
    )
    parser.add_argument(
        "--published", action="store_true", help="show the published figures of the same data beside ours"
    )
    options.add_intervals(parser)
    options.add_jobs(parser)
    options.add_output_options(parser)
    parser.add_argument(
        "--save", metavar="DIR", help="also write DIR/run.json: parameters, versions, every outcome"
    )


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.datasets.registry import expand
    from classic_rc.solvers.specs import parse_solver

    check_writable(args.output, *args.data, args.train, args.tune)
    check_folder(args.save)
    solvers = [parse_solver(spec) for spec in args.solver]
    spans = options.span_generator(args)
    extra = options.learning_options(args)
    evaluations: list[Evaluation] = []
    failed: ClassicRCError | None = None
    try:
        for data in (name for argument in args.data for name in expand(argument)):
            try:
                evaluations.append(_evaluate(args, data, solvers, spans, extra))
            except ClassicRCError as error:
                # One unreadable dataset must not cost the results of the others.
                message(f"error: {error}")
                failed = failed or error
    finally:
        _report(args, evaluations)
    return failed.exit_code if failed else 0


def _evaluate(
    args: argparse.Namespace, data: str, solvers: list[Solver], spans: Any, extra: dict[str, Any]
) -> Evaluation:
    from classic_rc.evaluation.evaluate import evaluate
    from classic_rc.evaluation.significance import with_intervals, with_significance

    start = time.perf_counter()
    dataset = options.dataset_of(args, data)
    seconds = time.perf_counter() - start
    solvers = options.searching(args, solvers_for(dataset, solvers, extra))
    if args.baseline is not None:
        _check_baseline(args.baseline, solvers)
    evaluation = evaluate(
        dataset,
        solvers,
        spans=spans,
        group_by=args.group_by,
        jobs=args.jobs,
        read_seconds=seconds,
        progress=options.shows_progress(args),
        **extra,
        **options.decision_options(args),
    )
    if args.intervals is not None:
        evaluation = with_intervals(evaluation, args.intervals, seed=args.seed or 0, group=args.group)
    if args.baseline is not None:
        evaluation = with_significance(evaluation, args.baseline, seed=args.seed or 0, group=args.group)
    if args.published and not args.quiet:
        _warn_of_published(evaluation)
    if not args.quiet:
        for warning in evaluation.warnings:
            message(f"warning: {warning}")
        for note in evaluation.notes:
            message(f"note: {dataset.name}: {note}")
    return evaluation


def _check_baseline(name: str, solvers: list[Solver]) -> None:
    """Refuse a baseline that no row will be called, before anything is computed."""
    variants = (solver.variant_name() if solver.variants else None for solver in solvers)
    names = [f"{s.name}:{variant}" if variant else s.name for s, variant in zip(solvers, variants, strict=True)]
    if name not in names:
        raise unknown_name("baseline row", name, names)


def _warn_of_published(evaluation: Evaluation) -> None:
    from classic_rc.reports.published import published_warning

    if warning := published_warning(evaluation):
        message(f"warning: {evaluation.dataset.name}: {warning}")


def solvers_for(dataset: Dataset, named: list[Solver], extra: dict[str, Any]) -> list[Solver]:
    """What runs on a dataset: the named ones, or the usual ones of its task and of what there is to learn from."""
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

    # F1m and F1a of everything selected are high: no number should be read without them beside it.
    return named if any(isinstance(s, AllPositive) for s in named) else [AllPositive(), *named]


def _report(args: argparse.Namespace, evaluations: list[Evaluation]) -> None:
    if not evaluations:
        return
    try:
        emit(render_results(evaluations, args.format, args.published), args.output)
    finally:  # a table that cannot be written must not cost the record
        if args.save is not None:
            _save(Path(args.save), evaluations)


def render_results(evaluations: list[Evaluation], form: str, published: bool = False) -> str:
    """The results of all datasets in one form, with published figures if wanted, ending with a line break."""
    import json

    from classic_rc.evaluation.record import runs_to_dict
    from classic_rc.reports.results import results_csv, results_table
    from classic_rc.reports.tables import render

    if form == "json":
        plain = runs_to_dict(evaluations)
        if published:
            from classic_rc.reports.published import published_rows

            for run, evaluation in zip(plain["runs"], evaluations, strict=True):
                run["published"] = [row.to_dict() for row in published_rows(evaluation.dataset)[1]]
        return json.dumps(plain, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    if form == "csv":
        return results_csv(evaluations, published)
    return "\n".join(render(results_table(evaluation, published), form) for evaluation in evaluations)


def _save(folder: Path, evaluations: list[Evaluation]) -> None:
    import json

    from classic_rc.evaluation.record import run_record

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    write_file(folder / "run.json", json.dumps(run_record(evaluations, folder), indent=1, allow_nan=False) + "\n")
