"""``classic-rc hard``: find the questions that no baseline solves, and what is left of every score on them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, emit, json_result, write_file
from classic_rc.cli.options import vary
from classic_rc.errors import DataError, UsageError

if TYPE_CHECKING:
    from classic_rc.audit.hard import HardSubset


_JSONL = ".jsonl"


OPTIONS = (
    "data",
    "reading",
    "--spans",
    "filtering",
    "training and tuning",
    "searching",
    "decisions",
    "--jobs",
    "--resamples",
    "--quiet",
    vary("--output", help="write the hard questions to a file"),
    vary(
        "--solver",
        required=True,
        default=None,
        help="a member of the filter (`list solvers`); once for each. What learns does so out of fold",
    ),
    vary(
        "--as",
        metavar=None,
        choices=("ids", "jsonl"),
        help="as what: their ids, one a line, or a dataset in our own format (default for FILE.jsonl)",
    ),
    vary(
        "--format",
        choices=("table", "markdown", "latex", "json"),
        help="what the scores look like on stdout (default table)",
    ),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.audit.hard import SOLVED_ABOVE, hard_subset
    from classic_rc.solvers.specs import parse_solver

    check_writable(args.output, args.data, args.train, args.tune)
    if args.form is not None and args.output is None:
        raise UsageError(f"--as {args.form} says how the questions are written: name a file (-o FILE)")
    named = [parse_solver(spec) for spec in (*args.solver, *args.report)]
    solvers = inputs.searching(args, named)
    dataset = inputs.dataset_of(args, args.data)
    if dataset.task is None:
        raise DataError("there is no question in it", source=dataset.name)
    found = hard_subset(
        dataset,
        solvers[: len(args.solver)],
        report=solvers[len(args.solver) :],
        max_solved=args.max_solved,
        solved_above=SOLVED_ABOVE if args.solved_above is None else args.solved_above,
        spans=inputs.span_generator(args),
        resamples=args.resamples,
        jobs=args.jobs,
        progress=inputs.shows_progress(args),
        **inputs.learning_options(args),
        **inputs.decision_options(args),
    )
    inputs.tell(args, "warning", found.evaluation.warnings)
    try:
        if args.output is not None:
            write_file(Path(args.output), _written(found, args))
    finally:  # print the scores even if the file cannot be written
        emit(_rendered(found, args.format), None)
    return 0


def _written(found: HardSubset, args: argparse.Namespace) -> str:
    """Return the hard questions as text for the file."""
    if (args.form or ("jsonl" if args.output.endswith(_JSONL) else "ids")) == "jsonl":
        from classic_rc.datasets.jsonl import to_jsonl

        return to_jsonl(found.dataset)
    ids = [question.id for question in found.dataset]
    if any(len(id_.splitlines()) > 1 for id_ in ids):
        raise UsageError("a question's id has a line break in it, so ids cannot stand one a line: say --as jsonl")
    return "".join(f"{id_}\n" for id_ in ids)


def _rendered(found: HardSubset, form: str) -> str:
    from classic_rc.reports.checks import hard_table
    from classic_rc.reports.tables import render

    if form == "json":
        return json_result(found.to_dict())
    return render(hard_table(found), form)
