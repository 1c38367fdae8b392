"""``classic-rc compare``: differences between systems with intervals and tests, and who solves what."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, message

if TYPE_CHECKING:
    from classic_rc.evaluation.comparison import Comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    parser.add_argument(
        "systems",
        metavar="[NAME=]SYSTEM",
        nargs="+",
        help="a record of `run --save` (its folder or file; FOLDER#SOLVER for one of its rows); or, on --data, "
        "a file of predictions or a solver",
    )
    parser.add_argument("--data", metavar="DATA", help="the questions that predictions and solvers answer")
    options.add_reading_options(parser)
    options.add_spans(parser)
    group = parser.add_argument_group("comparing")
    group.add_argument("--metric", metavar="M", help="what is compared (default: the task's main metric)")
    group.add_argument(
        "--test",
        choices=("permutation", "bootstrap", "mcnemar"),
        default="permutation",
        help="where p-values come from: swapping whole passages (default), resampling them, or McNemar's test, "
        "which assumes independent questions",
    )
    options.add_resamples(group, "how many resamples for intervals, and random swaps for p-values")
    options.add_training_options(parser)
    options.add_search_options(parser)
    options.add_decision_options(parser)
    options.add_jobs(parser)
    options.add_output_options(parser)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.cli.contenders import contests, parse_system
    from classic_rc.evaluation.comparison import compare

    systems = [parse_system(text) for text in args.systems]
    check_writable(args.output, args.data, args.train, args.tune, *(system.file for system in systems))
    comparisons = []
    for contest, chance in contests(args, systems):
        comparison = compare(
            contest,
            metric=args.metric,
            test=args.test,
            chance=chance,
            n=args.resamples,
            seed=args.seed or 0,
        )
        if comparison.resampling.warning and not args.quiet:
            message(f"warning: {contest.dataset}: {comparison.resampling.warning}")
        comparisons.append(comparison)
    emit(_rendered(comparisons, args.format), args.output)
    return 0


def _rendered(comparisons: list[Comparison], form: str) -> str:
    import json

    from classic_rc._version import __version__
    from classic_rc.reports.comparison import comparison_csv, comparison_tables
    from classic_rc.reports.tables import render

    if form == "json":
        plain = {"version": __version__, "comparisons": [comparison.to_dict() for comparison in comparisons]}
        return json.dumps(plain, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    if form == "csv":
        return comparison_csv(comparisons)
    return "\n".join(render(table, form) for comparison in comparisons for table in comparison_tables(comparison))
