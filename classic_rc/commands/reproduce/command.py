"""``classic-rc reproduce``: compare published scores, or the scores of a saved run, with scores
computed here.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.json import render_json
from classic_rc.protocol import READING

if TYPE_CHECKING:
    from classic_rc.commands.reproduce.reproduction import ReproducedFigure
    from classic_rc.running.rerun import Rerun


_DIFFERS = 1
_DATA_CHANGED = 3
OPTIONS: Choice = (
    vary_option(
        "data...",
        metavar="DATA|RECORD",
        help="datasets, to compare published scores on them; or one record of `run --save` (the "
        "folder, or the file in it), to run it again and compare every number",
    ),
    "reading",
    "--pool",
    *under(
        "other inputs",
        option(
            "--file",
            several=True,
            metavar="NAME=FILE",
            help="a file that a system needs: rte (the RTE scores released for MCTest), "
            "annotations (from CoreNLP), categories (a folder); repeat for several",
        ),
        option(
            "--search",
            several=True,
            metavar="DIR",
            help="a folder to search, with its subfolders, for data files that have moved; files "
            "are recognised by their sha256; repeat for several",
        ),
    ),
    "--trust",
    "--jobs",
    "--format",
    "--output",
    "--quiet",
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.systems import record_file

    records = [record for data in args.data if (record := record_file(data)) is not None]
    if not records:
        return _reproduce_figures(args)
    if len(args.data) > 1:
        raise UsageError(
            f"{records[0]} is a run record, and one record is run again at a time: give it alone",
            field="DATA",
            found=", ".join(args.data),
            expected="one record, or datasets",
        )
    return _repeat_run(args, records[0])


def _reproduce_figures(args: argparse.Namespace) -> int:
    """Compare published scores on the datasets."""
    from classic_rc.commands.reproduce.reproduction import reproduce

    check_writable(args.output, *args.data)
    inputs.refuse_given(
        args, ("search", "trust"), "is for run records: `classic-rc run DATA --save DIR` writes one"
    )
    files = _parse_files(args.file)
    paths = list(inputs.expand_datasets(args, args.data))
    inputs.refuse_spans(paths, "published scores use the usual candidate spans")
    datasets = [inputs.load_dataset(args, data) for data in paths]
    results = reproduce(datasets, files, args.jobs, inputs.shows_progress(args))
    write_output(_render_figures(results, args.format), args.output)
    failed = [result for result in results if result.fails]
    for result in failed:
        row = result.published
        figure = f"{row.system} on {result.data} ({row.subset or 'all'})"
        print_message(f"{figure}: {row.metric} is {result.ours:.4f}, expected {row.value}")
    return _DIFFERS if failed else 0


def _parse_files(arguments: list[str]) -> dict[str, list[str]]:
    """Return the paths of the ``--file`` options by name."""
    files: dict[str, list[str]] = {}
    for text in arguments:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise UsageError(
                f"invalid --file {text!r}: expected NAME=FILE",
                field="--file",
                found=text,
                expected="NAME=FILE",
            )
        files.setdefault(name, []).append(path)
    return files


def _render_figures(results: list[ReproducedFigure], form: str) -> str:
    from classic_rc.commands.reproduce.reproduction import reproduction_records, reproduction_table
    from classic_rc.tables import records_csv, render

    if form == "json":
        return render_json({"figures": reproduction_records(results)})
    if form == "csv":
        return records_csv(reproduction_records(results))
    return render(reproduction_table(results), form)


def _repeat_run(args: argparse.Namespace, record: Path) -> int:
    """Run a record again and compare every number."""
    from classic_rc.running.rerun import rerun
    from classic_rc.running.restored_record import restore_record

    inputs.refuse_given(
        args, (*READING, "pool", "file"), f"is for data, and {record} has it already: leave it out"
    )
    check_writable(args.output, str(record))
    prepared = restore_record(record, args.search, trust=args.trust)
    inputs.report_notes(args, "note", [*prepared.notes, *prepared.code])
    if prepared.changes:
        for change in prepared.changes:
            print_message(f"error: {change}")
        return _DATA_CHANGED
    result = rerun(prepared, jobs=args.jobs, progress=inputs.shows_progress(args))
    write_output(_render_run(result, args.format), args.output)
    return 0 if result.same else _DIFFERS


def _render_run(result: Rerun, form: str) -> str:
    from classic_rc.commands.reproduce.reproduction import rerun_table
    from classic_rc.tables import render

    if form == "json":
        return render_json(result.to_dict())
    return render(list(map(rerun_table, result.runs)), form)
