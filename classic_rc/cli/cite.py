"""``classic-rc cite``: print the BibTeX references of solvers, datasets and metrics."""

from __future__ import annotations

import argparse

from classic_rc.cli.console import check_writable, write_output
from classic_rc.cli.options import vary_option

OPTIONS = ("names", vary_option("--output", help="write the references to a file instead of stdout"))


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.reports.references import bibliography

    check_writable(args.output)
    write_output(bibliography(tuple(args.names)), args.output)
    return 0
