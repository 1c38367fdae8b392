"""``classic-rc stats``, now ``report --datasheet``: count passages, questions and tokens.

The old command answers for one release.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.breakdown import GroupTables
from classic_rc.cli.console import Failures, check_writable, print_message, write_file, write_output
from classic_rc.cli.datasheet import datasheet_command, group_questions
from classic_rc.cli.options import vary_option
from classic_rc.io.json import render_json
from classic_rc.io.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.audit.statistics.tables import DatasetStatistics
    from classic_rc.questions import Dataset


OPTIONS = (
    "data...",
    "reading",
    "--pool",
    "--analyzer",
    vary_option("--by", help="also count the questions in each group of KEY (see `classic-rc list keys`)"),
    "--labels",
    "--other-questions",
    "--cross",
    "--format",
    "--output",
    "--quiet",
    vary_option("--plot", help="also draw histograms of lengths (.pdf, .png, .svg); needs matplotlib"),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.audit.statistics.tables import describe_datasets

    if not args.quiet:
        print_message(
            f"notice: stats is now `{datasheet_command(args)}`, for data of one task; the old name will go with "
            "the next release"
        )
    check_writable(args.output, *args.data, *args.labels, figure_option="--plot")
    form = None if args.plot is None else inputs.check_figure_path(args.plot, *args.data, *args.labels)
    datasets: list[Dataset] = []
    groups: list[GroupTables] = []
    failures = Failures()
    for data in inputs.expand_datasets(args, args.data):
        with failures.caught():
            dataset = inputs.load_dataset(args, data)
            groups.append(group_questions(args, dataset))
            datasets.append(dataset)
    if datasets:
        with progress_bar("counting", None, inputs.shows_progress(args)):
            counts = describe_datasets(datasets, args.analyzer)
        write_output(_render(counts, groups, args.format), args.output)
        if form is not None:
            _draw(counts, Path(args.plot), form)
    return failures.exit_code


def _render(counts: DatasetStatistics, groups: Sequence[GroupTables], form: str) -> str:
    from classic_rc.reports.statistics import statistics_records, statistics_tables
    from classic_rc.tables import records_csv, render

    if form == "json":
        named = [tables.to_dict() for tables in groups]
        return render_json({**counts.to_dict(), **({"groups": named} if any(named) else {})})
    of_groups = [table for tables in groups for table in tables.tables()]
    if form == "csv":
        cells = [record for table in of_groups for record in table.records()]
        return records_csv([*statistics_records(counts), *cells])
    return render([*statistics_tables(counts), *of_groups], form)


def _draw(counts: DatasetStatistics, path: Path, form: str) -> None:
    from classic_rc.reports.figures import figure_bytes, histogram_figure

    write_file(path, figure_bytes(histogram_figure(counts), form))
