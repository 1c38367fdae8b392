"""``classic-rc check``: test whether a dataset can be answered without reading it, and look for defects."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import (
    Failures,
    check_writable,
    print_message,
    render_json,
    termination_as_interrupt,
    write_file,
    write_output,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from classic_rc.audit.annotators import AnnotatorReport
    from classic_rc.audit.check import CheckReport
    from classic_rc.audit.findings import Comparison
    from classic_rc.audit.measuring import PartialResult
    from classic_rc.datasets.folder import DatasetFiles
    from classic_rc.questions import Dataset


_FINDING = 1


OPTIONS = (
    "data...",
    "reading",
    "--pool",
    vary_option("--train", help="the data to learn from, also checked for overlap with DATA; repeat for several"),
    "--train-split",
    vary_option("--tune", help="accepted as in `run`, without effect: partial inputs are not tuned"),
    "--tune-split",
    vary_option("--spans", help="accepted as in `run`, without effect: span questions have no partial inputs"),
    vary_option("--drop-overlap", help="accepted as in `run`: a check always drops what --train shares with DATA"),
    "findings",
    vary_option(
        "--analyzer",
        default=None,
        help="what makes words of the texts (see `classic-rc list analyzers`; "
        "default word, or char for scripts without spaces between words)",
    ),
    vary_option("--jobs", help="number of learners that run at the same time (default 1; -1: one for each core)"),
    "--output",
    "--quiet",
    vary_option(
        "--cv",
        type=int,
        help="without --train: learn out of fold, in N folds of passages (default 5; 2 for over 50,000 questions)",
    ),
    vary_option(
        "--cv-group", help="a field of the data (article, author, …): questions with the same value stay together"
    ),
    vary_option("--seed", help="no effect: nothing is drawn at random (an old option)"),
    vary_option("--format", choices=("table", "markdown", "json")),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command. An interruption prints what was found before."""
    with termination_as_interrupt():
        return _check(args)


def _check(args: argparse.Namespace) -> int:
    from classic_rc.audit.check import CheckInterrupted
    from classic_rc.audit.findings import accept, answered_ids, compare_checks, format_allowed, read_allowed
    from classic_rc.reports.checks import fail_messages
    from classic_rc.text.analyzers import get_analyzer

    for output in (args.output, args.ids, args.write_allow):
        check_writable(output, *args.data, *args.train, args.against, args.annotators)
    _refuse_bad_level(args.level)
    args.skip_bad = True  # A check lists all defects; the other commands stop at the first.
    for option, value in (("--tune", args.tune), ("--spans", args.spans)):
        if value is not None:
            inputs.report_notes(args, "note", [f"{option} has no effect on a check"])
    for name in ("permutations", "seed"):
        if getattr(args, name) is not None:
            print_message(
                f"notice: --{name} has no effect, because chance is exact; it will go with the next release"
            )
    if args.analyzer is not None:
        get_analyzer(args.analyzer)  # refuses an unknown name before anything is read
    allowed = frozenset() if args.allow is None else read_allowed(args.allow)
    train = inputs.read_train(args)
    found: list[CheckReport] = []
    failures = Failures()
    shown: list[_Shown] = []
    try:
        earlier = None if args.against is None else _read_earlier(args, train)
        for data in inputs.expand_datasets(args, args.data):
            with failures.caught():
                try:
                    report = _check_dataset(args, data, train)
                except CheckInterrupted as interruption:
                    shown.append((*accept(interruption.report, allowed), None, None))
                    raise
                found.append(report)
                report, accepted = accept(report, allowed)
                compared = None if earlier is None else compare_checks(earlier, report)
                shown.append((report, accepted, compared, _measure_annotators(args, report.dataset)))
    finally:
        if shown:
            write_output(_render(shown, args.format, args.against), args.output)
    if args.write_allow is not None:
        write_file(Path(args.write_allow), format_allowed(found))
    if args.ids is not None:
        write_file(Path(args.ids), "".join(answered_ids(report) for report, *_ in shown))
    if failures.exit_code:
        return failures.exit_code
    reasons = [line for report, *_ in shown for line in fail_messages(report, args.fail)]
    for line in reasons:
        print_message(line)
    return _FINDING if reasons else 0


_Shown = tuple[
    "CheckReport", "tuple[PartialResult, ...]", "tuple[Comparison, ...] | None", "AnnotatorReport | None"
]


def _measure_annotators(args: argparse.Namespace, dataset: Dataset) -> AnnotatorReport | None:
    """Return the accuracy and the agreement of the annotators of ``--annotators``."""
    if args.annotators is None:
        return None
    from classic_rc.audit.annotators import measure_annotators, read_annotations

    return measure_annotators(dataset, read_annotations(args.annotators, dataset), group=args.group)


def _refuse_bad_level(level: float) -> None:
    if not (math.isfinite(level) and level >= 0):
        expected = "a number of points, at least 0"
        raise UsageError(
            f"invalid --level {level}: expected {expected}", field="--level", found=str(level), expected=expected
        )


def _read_earlier(args: argparse.Namespace, train: Dataset | None) -> Mapping[str, Any]:
    """Return the earlier check: read from a file, or of the other version of the data."""
    from classic_rc.audit.findings import read_saved_check

    if args.against.endswith(".json") and os.path.isfile(args.against) and _is_saved_check(args.against):
        return read_saved_check(args.against)[0]
    plain: dict[str, Any] = _check_dataset(args, args.against, train).to_dict()
    return plain


def _is_saved_check(path: str) -> bool:
    with open(path, encoding="utf-8", errors="replace") as file:
        return '"checks"' in file.read(1000)


def _check_dataset(args: argparse.Namespace, data: DatasetFiles, train: Dataset | None) -> CheckReport:
    from classic_rc.audit.check import check_dataset

    dataset = inputs.load_dataset(args, data)
    if hidden := sum(question.gold is None for question in dataset):
        text = f"gold of {hidden:,} questions is hidden: leaks are measured on the other {len(dataset) - hidden:,}"
        inputs.report_notes(args, "note", [text], dataset.name)
    report = check_dataset(
        dataset,
        train=train,
        cv=args.cv,
        group=args.group,
        level=args.level,
        analyzer=args.analyzer,
        regressions=not args.rules_only,
        jobs=args.jobs,
        progress=inputs.shows_progress(args),
    )
    inputs.report_notes(args, "warning", report.partial_inputs.warnings, report.dataset.name)
    return report


def _render(shown: Sequence[_Shown], form: str, earlier: str | None) -> str:
    from classic_rc.reports.annotators import annotator_tables
    from classic_rc.reports.checks import check_tables, comparison_table
    from classic_rc.reports.tables import render

    if form == "json":
        checks = []
        for report, accepted, compared, annotators in shown:
            plain = {**report.to_dict(), "accepted": [r.name for r in accepted]}
            if compared is not None:
                plain["against"] = [
                    {"name": c.name, "change": str(c.change), "before": c.before, "after": c.after}
                    for c in compared
                ]
            if annotators is not None:
                plain["annotators"] = annotators.to_dict()
            checks.append(plain)
        return render_json({"checks": checks})
    tables = []
    for report, accepted, compared, annotators in shown:
        tables += check_tables(report, accepted)
        if compared is not None and earlier is not None:
            tables.append(comparison_table(compared, earlier, report.dataset.name))
        tables += [] if annotators is None else annotator_tables(annotators)
    return "\n".join(render(table, form) for table in tables)
