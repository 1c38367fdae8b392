"""``classic-rc predict``: write a solver's scores or answers as an official submission file."""

from __future__ import annotations

import argparse

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, message
from classic_rc.errors import DataError
from classic_rc.io.progress import progress_bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser)
    options.add_spans(parser)
    options.add_solvers(parser, options.ANY_SOLVER, several=False, required=True)
    options.add_training_options(parser)
    options.add_search_options(parser)
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
    from classic_rc.evaluation.evaluate import predict
    from classic_rc.evaluation.plan import Overrides, with_spans
    from classic_rc.formats.registry import default_format, get_format
    from classic_rc.solvers.specs import parse_solver

    check_writable(args.output, args.data, args.train, args.tune)
    (solver,) = options.searching(args, [parse_solver(args.solver)])
    form = get_format(args.form) if args.form else None
    dataset = with_spans(options.dataset_of(args, args.data), options.span_generator(args))
    if dataset.task is None:
        raise DataError("there is no question in it", source=dataset.name)
    form = form or default_format(dataset.task, dataset.reader)
    extra = options.learning_options(args)
    with progress_bar(f"scoring {dataset.name}", None, options.shows_progress(args)):
        result = predict(
            dataset,
            solver,
            # Spans are scored and dropped some passages at a time: what remains is the decisions.
            decide=args.decide or "scores" not in form.holds or dataset.span_generator is not None,
            jobs=args.jobs,
            overrides=Overrides(**options.decision_options(args)),
            **extra,
        )
    if not args.quiet:
        for warning in result.warnings:
            message(f"warning: {warning}")
    scores = result.scores if form.holds_both or not args.decide else None
    emit(form.write(dataset, scores, result.predictions), args.output)
    if result.n_tied and not args.quiet:
        message(f"note: the best score is shared in {result.n_tied} questions: one candidate is written")
    return 0
