"""``classic-rc stats``: count what is in datasets, as each paper does it and all alike."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, message, write_file
from classic_rc.errors import ClassicRCError

if TYPE_CHECKING:
    from classic_rc.audit.statistics.tables import DatasetStatistics
    from classic_rc.questions import Dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser, several=True)
    parser.add_argument(
        "--analyzer",
        default="word",
        metavar="A",
        help="what a token is in the common table (`list analyzers`; default word); papers' tables have their own",
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="also draw histograms of the lengths (.pdf, .png, .svg); needs matplotlib"
    )
    options.add_output_options(parser)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.audit.statistics.tables import statistics
    from classic_rc.datasets.registry import expand

    check_writable(args.output, *args.data)
    form = None if args.plot is None else options.figure_form(args.plot, *args.data)
    datasets: list[Dataset] = []
    failed: ClassicRCError | None = None
    for data in (name for argument in args.data for name in expand(argument)):
        try:
            datasets.append(options.dataset_of(args, data))
        except ClassicRCError as error:
            # One unreadable dataset must not cost the statistics of the others.
            message(f"error: {error}")
            failed = failed or error
    if datasets:
        found = statistics(datasets, args.analyzer)
        emit(_rendered(found, args.format), args.output)
        if form is not None:
            _draw(found, Path(args.plot), form)
    return failed.exit_code if failed else 0


def _rendered(found: DatasetStatistics, form: str) -> str:
    import json

    from classic_rc._version import __version__
    from classic_rc.reports.statistics import statistics_csv, statistics_tables
    from classic_rc.reports.tables import render

    if form == "json":
        plain = {"version": __version__, **found.to_dict()}
        return json.dumps(plain, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    if form == "csv":
        return statistics_csv(found)
    return "\n".join(render(table, form) for table in statistics_tables(found))


def _draw(found: DatasetStatistics, path: Path, form: str) -> None:
    from classic_rc.reports.figures import figure_bytes, histogram_figure

    write_file(path, figure_bytes(histogram_figure(found), form))
