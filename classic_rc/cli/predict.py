"""``classic-rc predict``: write a solver's scores or answers as an official submission file."""

from __future__ import annotations

import argparse

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, message

__all__ = ["add_arguments", "handle"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser)
    parser.add_argument(
        "-s",
        "--solver",
        required=True,
        metavar="SOLVER[:VARIANT][,key=value]…",
        help="a solver (`list solvers`), or path/to/file.py:Class for your own",
    )
    options.add_training_options(parser)
    options.add_decision_options(parser)
    options.add_jobs(parser)
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")
    group.add_argument(
        "--as", dest="form", metavar="FORMAT", help="the file's format (`list formats`); default the dataset's own"
    )
    group.add_argument(
        "--decide", action="store_true", help="write decisions where the format could hold scores as well"
    )
    group.add_argument("--quiet", action="store_true", help="no notes on stderr")


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.evaluation.predict import predict
    from classic_rc.formats import default_format, get_format
    from classic_rc.solvers import parse_solver

    check_writable(args.output)
    solver = parse_solver(args.solver)
    form = get_format(args.form) if args.form else None
    dataset = options.dataset_of(args, args.data)
    form = form or default_format(dataset)
    decide = args.decide or "scores" not in form.holds or form.name == "jsonl"
    result = predict(
        dataset,
        solver,
        decide=decide,
        spans=options.span_generator(args),
        jobs=args.jobs,
        **options.training_data(args),
        **options.decision_options(args),
    )
    scores = None if args.decide and form.name != "jsonl" else result.scores
    emit(form.write(result.dataset, scores, result.predictions), args.output)
    if result.n_tied and not args.quiet:
        message(f"note: the best score is shared in {result.n_tied} questions: the first candidate is written")
    return 0
