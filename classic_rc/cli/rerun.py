"""``classic-rc rerun``: repeat a saved run and compare every number with its record."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, render_json, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import DataError

if TYPE_CHECKING:
    from classic_rc.evaluation.rerun import Rerun


_DIFFERS = 1
_DATA_CHANGED = 3


OPTIONS = (
    "record",
    "--data of records",
    "--trust",
    "--jobs",
    "--output",
    "--quiet",
    vary_option("--format", choices=("table", "markdown", "json")),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.evaluation.record import record_file
    from classic_rc.evaluation.rerun import rerun, restore_record

    path = record_file(args.record)
    if path is None:
        hint = "`classic-rc run DATA --save DIR` writes one"
        raise DataError("no run record found", source=args.record, hint=hint)
    check_writable(args.output, str(path))
    prepared = restore_record(path, args.data, trust=args.trust)
    inputs.report_notes(args, "note", prepared.notes)
    if prepared.changes:
        for change in prepared.changes:
            print_message(f"error: {change}")
        return _DATA_CHANGED
    result = rerun(prepared, jobs=args.jobs, progress=inputs.shows_progress(args))
    write_output(_render(result, args.format), args.output)
    return 0 if result.same else _DIFFERS


def _render(result: Rerun, form: str) -> str:
    from classic_rc.reports.reproduction import rerun_tables
    from classic_rc.reports.tables import render

    if form == "json":
        return render_json(result.to_dict())
    return "\n".join(render(table, form) for table in rerun_tables(result))
