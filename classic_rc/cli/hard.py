"""``classic-rc hard``: find the questions that no baseline solves, and what is left of every score on them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, message, write_file
from classic_rc.errors import DataError, UsageError

if TYPE_CHECKING:
    from classic_rc.audit.hard import HardSubset


_JSONL = ".jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser)
    options.add_spans(parser)
    group = parser.add_argument_group("filtering")
    what = "a member of the filter (`list solvers`); once for each. What learns does so out of fold"
    options.add_solvers(group, what, required=True)
    group.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="SOLVER",
        help="a solver that is scored before and after, and is no member; once for each",
    )
    group.add_argument(
        "--max-solved", type=int, default=0, metavar="K", help="keep what at most K members solve (default 0)"
    )
    group.add_argument(
        "--solved-above",
        type=float,
        metavar="CREDIT",
        help="a question is solved above this credit for the answers that tie, 1/k for k of them (default 0.5)",
    )
    options.add_training_options(parser)
    options.add_search_options(parser)
    options.add_decision_options(parser)
    options.add_jobs(parser)
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE", help="write the hard questions to a file")
    group.add_argument(
        "--as",
        dest="form",
        choices=("ids", "jsonl"),
        help="as what: their ids, one a line, or a dataset in our own format (default for FILE.jsonl)",
    )
    options.add_resamples(group, "how many resamples of whole passages intervals are made from")
    group.add_argument(
        "--format",
        choices=("table", "markdown", "latex", "json"),
        default="table",
        help="what the scores look like on stdout (default table)",
    )
    group.add_argument("--quiet", action="store_true", help="no progress and no notes on stderr")


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.audit.hard import SOLVED_ABOVE, hard_subset
    from classic_rc.solvers.specs import parse_solver

    check_writable(args.output, args.data, args.train, args.tune)
    if args.form is not None and args.output is None:
        raise UsageError(f"--as {args.form} says how the questions are written: name a file (-o FILE)")
    named = [parse_solver(spec) for spec in (*args.solver, *args.report)]
    solvers = options.searching(args, named)
    dataset = options.dataset_of(args, args.data)
    if dataset.task is None:
        raise DataError("there is no question in it", source=dataset.name)
    found = hard_subset(
        dataset,
        solvers[: len(args.solver)],
        report=solvers[len(args.solver) :],
        max_solved=args.max_solved,
        solved_above=SOLVED_ABOVE if args.solved_above is None else args.solved_above,
        spans=options.span_generator(args),
        resamples=args.resamples,
        jobs=args.jobs,
        progress=options.shows_progress(args),
        **options.learning_options(args),
        **options.decision_options(args),
    )
    if not args.quiet:
        for warning in found.evaluation.warnings:
            message(f"warning: {warning}")
    try:
        if args.output is not None:
            write_file(Path(args.output), _written(found, args))
    finally:  # a file that cannot be written must not cost the scores
        emit(_rendered(found, args.format), None)
    return 0


def _written(found: HardSubset, args: argparse.Namespace) -> str:
    """The hard questions as they go to the file."""
    if (args.form or ("jsonl" if args.output.endswith(_JSONL) else "ids")) == "jsonl":
        from classic_rc.datasets.jsonl import to_jsonl

        return to_jsonl(found.dataset)
    ids = [question.id for question in found.dataset]
    if any(len(id_.splitlines()) > 1 for id_ in ids):
        raise UsageError("a question's id has a line break in it, so ids cannot stand one a line: say --as jsonl")
    return "".join(f"{id_}\n" for id_ in ids)


def _rendered(found: HardSubset, form: str) -> str:
    import json

    from classic_rc._version import __version__
    from classic_rc.reports.checks import hard_table
    from classic_rc.reports.tables import render

    if form == "json":
        plain = {"version": __version__, **found.to_dict()}
        return json.dumps(plain, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    return render(hard_table(found), form)
