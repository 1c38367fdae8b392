"""``classic-rc compare``: compare systems: differences, intervals, p-values, and which questions each solves."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_output
from classic_rc.cli.options import vary_option
from classic_rc.io.json import render_json

if TYPE_CHECKING:
    from classic_rc.evaluation.comparison import Comparison


OPTIONS = (
    "systems",
    "--data",
    "reading",
    "--spans",
    vary_option("--metrics", help="a comparison for each of these metrics (default: the main metric of the task)"),
    vary_option(
        "--baseline",
        help="test only the differences of the other systems from this one, the name of a row or one more system",
    ),
    "--test",
    "--resamples",
    "training and tuning",
    "searching",
    "--analyzer of systems",
    "decisions",
    "--jobs",
    "--format",
    "--signatures",
    "--output",
    "--quiet",
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.cli.systems import add_baseline, iter_shared_results, parse_arguments
    from classic_rc.evaluation.comparison import compare

    systems, baseline = parse_arguments(args.systems), None
    if args.baseline is not None:
        systems, baseline = add_baseline(systems, args.baseline)
    check_writable(args.output, args.data, *args.train, args.tune, *(system.file for system in systems))
    comparisons, failures = [], Failures()
    for results, chance in iter_shared_results(args, systems, failures):
        names = [system.name for system in results.systems]
        if failures.exit_code and (len(names) < 2 or (baseline is not None and baseline not in names)):
            continue  # nothing is left to compare
        for metric in args.metrics or (None,):
            comparison = compare(
                results,
                metric=metric,
                baseline=baseline,
                test=args.test,
                chance=chance,
                n=args.resamples,
                seed=args.seed or 0,
            )
            comparisons.append(comparison)
        if comparison.resampling.warning:
            inputs.report_notes(args, "warning", [comparison.resampling.warning], results.dataset)
    if comparisons:
        write_output(_render(comparisons, args.format, args.signatures), args.output)
    return failures.exit_code


def _render(comparisons: list[Comparison], form: str, signatures: bool) -> str:
    from classic_rc.reports.comparison import comparison_tables
    from classic_rc.tables import render

    if form == "json":
        return render_json({"comparisons": [comparison.to_dict() for comparison in comparisons]})
    # Which questions each system solves does not depend on the metric that is compared: one table for each dataset.
    shown = [
        replace(comparison, regions=()) if i and comparison.results is comparisons[i - 1].results else comparison
        for i, comparison in enumerate(comparisons)
    ]
    tables = [table for comparison in shown for table in comparison_tables(comparison)]
    return render(tables, form, signatures=signatures)
