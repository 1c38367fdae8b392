"""``classic-rc score``: measure any system's predictions with the dataset's official metrics."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, message
from classic_rc.cli.run import render_results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser)
    parser.add_argument("file", metavar="FILE", help="scores or decisions in one of the formats of `list formats`")
    parser.add_argument("--as", dest="form", metavar="FORMAT", help="the file's format, instead of finding it")
    group = parser.add_argument_group("tuning")
    group.add_argument(
        "--tune", metavar="DATA", help="the questions, among those FILE scores, to tune a threshold on"
    )
    group.add_argument("--tune-split", metavar="S", help="the split to take of it")
    options.add_decision_options(parser)
    parser.add_argument(
        "--group-by",
        metavar="KEY",
        help="break the metrics down by something the data says, or one of `list keys`; `breakdown` does more",
    )
    options.add_intervals(parser)
    options.add_output_options(parser)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.evaluation.evaluate import evaluate, evaluate_predictions
    from classic_rc.evaluation.significance import with_intervals
    from classic_rc.formats.registry import read_predictions, read_scores
    from classic_rc.predictions import Prediction, Scores
    from classic_rc.questions import Task
    from classic_rc.solvers.score_file import ScoreFile
    from classic_rc.solvers.trivial import AllPositive

    check_writable(args.output, args.data, args.file, args.tune)
    start = time.perf_counter()
    dataset = options.dataset_of(args, args.data)
    notes: list[str] = []
    content: Scores | list[Prediction]
    if args.tune is not None or any(v is not None for v in options.decision_options(args).values()):
        content = read_scores(args.file, dataset, args.form)
    else:
        content = read_predictions(args.file, dataset, args.form, notes=notes)
    given = {"group_by": args.group_by, "read_seconds": time.perf_counter() - start}
    # F1m and F1a of everything selected are high: no number should be read without them beside it.
    beside = [AllPositive()] if dataset.task is Task.MULTIPLE_ANSWER else []
    if isinstance(content, Scores):
        tune = None if args.tune is None else options.dataset_of(args, args.tune, split=args.tune_split or "")
        solvers = [ScoreFile(path=args.file, format=args.form), *beside]
        shown = options.shows_progress(args)
        evaluation = evaluate(
            dataset, solvers, tune=tune, progress=shown, **given, **options.decision_options(args)
        )
    else:
        evaluation = evaluate_predictions(dataset, content, source=args.file, **given)
        if beside:
            evaluation = replace(evaluation, rows=evaluation.rows + evaluate(dataset, beside, **given).rows)
    if args.intervals is not None:
        evaluation = with_intervals(evaluation, args.intervals, seed=args.seed or 0)
    if not args.quiet:
        for warning in (*notes, *evaluation.warnings):
            message(f"warning: {warning}")
    emit(render_results([evaluation], args.format), args.output)
    return 0
