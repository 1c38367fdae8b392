"""``classic-rc fit``: let a solver learn from a dataset, and keep what it learned in a file."""

from __future__ import annotations

import argparse

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, message
from classic_rc.io.progress import progress_bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser)
    options.add_spans(parser)
    options.add_solvers(parser, "a solver that learns (`list solvers`)", several=False, required=True)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="where to keep it; `-s saved,path=FILE` runs it"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no notes on stderr")


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.evaluation.plan import configured, with_spans
    from classic_rc.solvers.saved import require_persistent, save_solver
    from classic_rc.solvers.specs import parse_solver

    check_writable(args.output, args.data)
    solver = parse_solver(args.solver)
    require_persistent(solver)
    dataset = with_spans(options.dataset_of(args, args.data), options.span_generator(args))
    configured(solver, dataset)  # refuses data that the solver is not for
    with progress_bar(f"fitting to {dataset.name}", None, options.shows_progress(args)):
        solver.fit(dataset)
    save_solver(solver, args.output)
    if not args.quiet:
        for caveat in solver.caveats(dataset):
            message(f"warning: {solver.name}: {caveat}")
        variant = solver.variant_name()
        message(
            f"{solver.name}{f':{variant}' if variant else ''} learned from {len(dataset):,} questions about "
            f"{len(dataset.passages):,} passages of {dataset.name}; run it with -s saved,path={args.output}"
        )
    return 0
