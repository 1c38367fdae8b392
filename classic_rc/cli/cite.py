"""``classic-rc cite``: print BibTeX of what a solver, a dataset or a metric follows."""

from __future__ import annotations

import argparse

from classic_rc.cli.console import check_writable, emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    parser.add_argument(
        "names",
        metavar="SOLVER[:VARIANT]|DATASET|METRIC",
        nargs="*",
        help="what to cite (`list solvers`, `list readers`, `list metrics`); without any, everything",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.reports.references import bibliography

    check_writable(args.output)
    emit(bibliography(tuple(args.names)), args.output)
    return 0
