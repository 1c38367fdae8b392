"""``classic-rc check``: find out whether a dataset can be answered without reading it, and whether it is sound."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, message
from classic_rc.errors import ClassicRCError, UsageError

if TYPE_CHECKING:
    from classic_rc.audit.check import CheckReport
    from classic_rc.questions import Dataset


_FOUND = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser, several=True)
    group = parser.add_argument_group("learning")
    group.add_argument("--train", metavar="DATA", help="what is learned from, and what else must not hold DATA")
    group.add_argument("--train-split", metavar="S", help="the split to take of it")
    group.add_argument(
        "--cv", type=int, metavar="N", help="without --train, learn in N folds of passages (default 5)"
    )
    group.add_argument(
        "--group", metavar="META", help="what else stays together: article, author, … as the data says"
    )
    group = parser.add_argument_group("testing")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of permutations and resamples (default 0)")
    group.add_argument(
        "--permutations", type=int, default=10_000, metavar="N", help="of gold, to know chance by (default 10000)"
    )
    group.add_argument("--fail", action="store_true", help="exit with 1 where a partial input leaks")
    group.add_argument(
        "--level",
        type=float,
        default=5.0,
        metavar="POINTS",
        help="it leaks where the lower bound of its gain's 95 %% interval is above so many points (default 5)",
    )
    options.add_output_options(parser, ("table", "markdown", "json"))


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.datasets.registry import expand
    from classic_rc.reports.checks import leak_messages

    check_writable(args.output, *args.data, args.train)
    if not math.isfinite(args.level):
        raise UsageError(f"--level takes a number of points, got {args.level}")
    train = None
    if args.train is not None:
        train = options.dataset_of(args, args.train, split=args.train_split or "")
    reports: list[CheckReport] = []
    failed: ClassicRCError | None = None
    try:
        for data in (name for argument in args.data for name in expand(argument)):
            try:
                reports.append(_check(args, data, train))
            except ClassicRCError as error:
                # One unreadable dataset must not cost the reports on the others.
                message(f"error: {error}")
                failed = failed or error
    finally:
        if reports:
            emit(_rendered(reports, args.format, args.level), args.output)
    if failed is not None:
        return failed.exit_code
    leaks = [line for report in reports for line in leak_messages(report, args.level)] if args.fail else []
    for line in leaks:
        message(line)
    return _FOUND if leaks else 0


def _check(args: argparse.Namespace, data: str, train: Dataset | None) -> CheckReport:
    from classic_rc.audit.check import check

    report = check(
        options.dataset_of(args, data),
        train=train,
        cv=args.cv,
        group=args.group,
        seed=args.seed,
        permutations=args.permutations,
        progress=options.shows_progress(args),
    )
    if not args.quiet:
        for warning in report.partial_inputs.warnings:
            message(f"warning: {report.dataset.name}: {warning}")
    return report


def _rendered(reports: list[CheckReport], form: str, level: float) -> str:
    import json

    from classic_rc._version import __version__
    from classic_rc.reports.checks import check_tables
    from classic_rc.reports.tables import render

    if form == "json":
        plain = {"version": __version__, "checks": [report.to_dict() for report in reports]}
        return json.dumps(plain, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    return "\n".join(render(table, form) for report in reports for table in check_tables(report, level))
