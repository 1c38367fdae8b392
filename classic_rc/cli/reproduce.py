"""``classic-rc reproduce``: run what has published figures and compare ours with theirs, with reasons."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, emit, json_result, message
from classic_rc.errors import UsageError

if TYPE_CHECKING:
    from classic_rc.reports.reproduction import Reproduced


_DIFFERS = 1


OPTIONS = ("data...", "reading", "--with", "--check", "--jobs", "--format", "--output", "--quiet")


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.reports.reproduction import reproduce

    check_writable(args.output, *args.data)
    files = _files(args.files)
    datasets = [inputs.dataset_of(args, data) for data in inputs.named_datasets(args.data)]
    results = reproduce(datasets, files, args.jobs, inputs.shows_progress(args))
    emit(_rendered(results, args.format), args.output)
    failed = [result for result in results if result.fails] if args.check else []
    for result in failed:
        row = result.published
        message(
            f"{row.system} on {result.data} ({row.subset or 'all'}): {row.metric} {result.ours:.4f} "
            f"where {row.value} should come out"
        )
    return _DIFFERS if failed else 0


def _files(given: list[str]) -> dict[str, list[str]]:
    """Return the paths of the ``--with`` options by name."""
    files: dict[str, list[str]] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise UsageError(f"--with takes NAME=FILE, got {text!r}")
        files.setdefault(name, []).append(path)
    return files


def _rendered(results: list[Reproduced], form: str) -> str:
    from classic_rc.reports.reproduction import reproduction_records, reproduction_table
    from classic_rc.reports.tables import records_csv, render

    if form == "json":
        return json_result({"figures": reproduction_records(results)})
    if form == "csv":
        return records_csv(reproduction_records(results))
    return render(reproduction_table(results), form)
