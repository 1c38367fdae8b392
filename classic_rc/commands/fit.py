"""``classic-rc fit``: train a solver on a dataset and save it to a file."""

from __future__ import annotations

import argparse

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message
from classic_rc.cli.option import Choice
from classic_rc.cli.options import vary_option
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import Protocol

OPTIONS: Choice = (
    "data",
    "reading",
    "--analyzer of systems",
    "--quiet",
    vary_option(
        "--solver alone", required=True, help="a solver that learns (see `classic-rc list solvers`)"
    ),
    vary_option(
        "--output",
        required=True,
        help="the file to save the solver to; run it with -s saved,path=FILE",
    ),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.running.plan import adapt_analyzer, add_span_candidates, configure_solver
    from classic_rc.solvers.saved import require_persistent, save_solver

    check_writable(args.output, args.data)
    (system,) = inputs.parse_systems([args.solver])
    solver = inputs.require_solver(system)
    require_persistent(solver)
    protocol = inputs.protocol_for(Protocol(analyzer=args.analyzer), args.data)
    dataset = add_span_candidates(inputs.load_dataset(args, args.data), protocol.spans)
    configure_solver(solver, dataset)  # raises if the solver cannot learn from this kind of data
    adapt_analyzer(solver, dataset, protocol.analyzer)
    with (
        solver.failures(),
        progress_bar(f"fitting to {dataset.name}", None, inputs.shows_progress(args)),
    ):
        solver.fit(dataset)
    save_solver(solver, args.output)
    inputs.report_notes(args, "warning", solver.caveats(dataset), solver.name)
    if not args.quiet:
        variant = solver.variant_name()
        name = f"{solver.name}:{variant}" if variant else solver.name
        print_message(
            f"{name} learned from {len(dataset):,} "
            f"questions about {len(dataset.passages):,} passages of {dataset.name}; run it with -s "
            f"saved,path={args.output}"
        )
    return 0
