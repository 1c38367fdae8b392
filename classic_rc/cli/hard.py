"""``classic-rc compare --hard``: find the questions that no baseline solves, and score every solver on them."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, write_file, write_output
from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import render_json

if TYPE_CHECKING:
    from classic_rc.audit.hard import HardSubset


_JSONL = ".jsonl"


def find_hard_questions(args: argparse.Namespace) -> int:
    """Find the hard questions."""
    from classic_rc.audit.hard import find_hard_subset

    if args.data is None:
        raise UsageError("--hard needs the dataset: add --data DATA", field="--data", expected="DATA")
    check_writable(args.output, args.data, *args.train, args.tune)
    given = inputs.parse_systems((*args.systems, *args.report))
    dataset = inputs.load_dataset(args, args.data)
    if dataset.task is None:
        raise DataError("the dataset has no questions", source=dataset.name)
    protocol = inputs.protocol_for(inputs.read_protocol(args), args.data)
    members, reported = given[: len(args.systems)], given[len(args.systems) :]
    subset = find_hard_subset(
        dataset,
        members,
        replace(protocol, intervals=args.intervals or True),
        report=reported,
        max_solved=args.hard,
        jobs=args.jobs,
        progress=inputs.shows_progress(args),
    )
    inputs.report_notes(args, "warning", subset.evaluation.warnings)
    try:
        if args.output is not None:
            write_file(Path(args.output), _format_questions(subset, args))
    finally:  # print the scores even if the file cannot be written
        write_output(_render(subset, args.format, args.verbose), None)
    return 0


def _format_questions(subset: HardSubset, args: argparse.Namespace) -> str:
    """Return the hard questions as text for the file."""
    if args.output.endswith(_JSONL):
        from classic_rc.datasets.jsonl import to_jsonl

        return to_jsonl(subset.dataset)
    ids = [question.id for question in subset.dataset]
    multiline = next((id_ for id_ in ids if len(id_.splitlines()) > 1), None)
    if multiline is not None:
        raise UsageError(
            f"cannot write one id per line: the question id {multiline!r} has a line break; use -o FILE.jsonl",
            field="--output",
            found=args.output,
            expected="FILE.jsonl",
        )
    return "".join(f"{id_}\n" for id_ in ids)


def _render(subset: HardSubset, form: str, verbose: bool) -> str:
    from classic_rc.reports.checks import hard_table
    from classic_rc.tables import render

    if form == "json":
        return render_json(subset.to_dict())
    return render(hard_table(subset), form, signatures=verbose)
