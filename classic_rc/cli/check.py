"""``classic-rc check``: test whether a dataset can be answered without reading it, and look for defects."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from classic_rc.cli import inputs
from classic_rc.cli.console import (
    Failures,
    check_writable,
    print_message,
    write_file,
    write_output,
)
from classic_rc.cli.options import SOLVER, vary_option
from classic_rc.errors import UsageError
from classic_rc.io.json import render_json
from classic_rc.protocol import DEFAULT_RESAMPLES, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from classic_rc.audit.annotators import AnnotatorReport
    from classic_rc.audit.check import CheckReport
    from classic_rc.audit.findings import Comparison
    from classic_rc.audit.measuring import PartialResult
    from classic_rc.audit.without_copies import ScoreWithout
    from classic_rc.datasets.specification import DatasetFiles
    from classic_rc.evaluation.systems import System
    from classic_rc.questions import Dataset


_FINDING = 1


OPTIONS = (
    "data...",
    "reading",
    "--pool",
    "training and tuning",
    "decisions",
    vary_option("--intervals", help="the number of resamples of passages for intervals (default 10000)"),
    "findings",
    vary_option("--train", help="the data to learn from, also checked for overlap with DATA; repeat for several"),
    vary_option(
        "--cv",
        help="without --train: learn out of fold, in N folds of passages (default 5; 2 for over 50,000 questions)",
    ),
    vary_option(
        "--group", help="a field of the data (article, author, …): questions with the same value stay together"
    ),
    vary_option("--drop-overlap", help="as in `run`; rules and learners always drop what --train shares with DATA"),
    vary_option(
        "--solver",
        help=f"{SOLVER}: a system to score on all questions and without the copies, if there are any (default: the "
        "best of the usual systems); repeat for several",
    ),
    vary_option(
        "--analyzer",
        default=None,
        help="what makes words of the texts (see `classic-rc list analyzers`; "
        "default word, or char for scripts without spaces between words)",
    ),
    vary_option("--jobs", help="number of learners that run at the same time (default 1; -1: one for each core)"),
    vary_option("--seed", help="the seed of resamples and systems (default 0); findings have exact p-values"),
    "--output",
    "--quiet",
    "--format",
    "--verbose",
)

_MOST_QUESTIONS = 50_000
"""With more questions, only systems that are named are scored without the copies."""


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command. An interruption prints what was found before."""
    from classic_rc.audit.check import CheckInterrupted
    from classic_rc.audit.findings import accept, answered_ids, compare_checks, format_allowed, read_allowed
    from classic_rc.datasets.registry import as_dataset
    from classic_rc.io.text import read_text
    from classic_rc.reports.checks import fail_messages
    from classic_rc.text.analyzers import get_analyzer

    given = inputs.parse_systems(args.solver)
    for name in ("output", "ids", "write_allow"):
        option = f"--{name.replace('_', '-')}"
        check_writable(getattr(args, name), *args.data, *args.train, args.against, args.annotators, option=option)
    _refuse_bad_level(args.level)
    args.skip = ("bad", *(args.skip or ()))  # A check lists all defects; the other commands stop at the first.
    if args.analyzer is not None:
        get_analyzer(args.analyzer)  # refuses an unknown name before anything is read
    allowed = frozenset() if args.allow is None else read_allowed(args.allow)
    if args.annotators is not None:
        read_text(args.annotators)  # refuses a missing file before anything is measured
    protocol = inputs.read_protocol(args)
    train = as_dataset(protocol.train)
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
                    shown.append(_Shown(*accept(interruption.report, allowed), None))
                    raise
                found.append(report)
                report, accepted = accept(report, allowed)
                compared = None if earlier is None else compare_checks(earlier, report)
                shown.append(_Shown(report, accepted, compared))
                # One at a time: what fails or is interrupted loses nothing that was computed before.
                shown[-1] = shown[-1]._replace(annotators=measure_annotators_of(args, report.dataset))
                own = inputs.protocol_for(protocol, data)
                scores = _score_without_copies(args, report, given, own, failures)
                shown[-1] = shown[-1]._replace(scores=scores)
    finally:
        if shown:
            write_output(_render(shown, args.format, args.against, args.verbose), args.output)
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


class _Shown(NamedTuple):
    """What is shown of one dataset."""

    report: CheckReport
    accepted: tuple[PartialResult, ...]
    compared: tuple[Comparison, ...] | None
    annotators: AnnotatorReport | None = None
    scores: tuple[ScoreWithout, ...] = ()


def measure_annotators_of(args: argparse.Namespace, dataset: Dataset) -> AnnotatorReport | None:
    """Return the accuracy and the agreement of the annotators of ``--annotators``."""
    if args.annotators is None:
        return None
    from classic_rc.audit.annotators import measure_annotators, read_annotations

    return measure_annotators(dataset, read_annotations(args.annotators, dataset), group=args.group)


def _score_without_copies(
    args: argparse.Namespace,
    report: CheckReport,
    given: Sequence[System],
    protocol: Protocol,
    failures: Failures,
) -> tuple[ScoreWithout, ...]:
    """Score the given systems, or the best of the usual ones, on all questions and without the copies.

    There are none without copies, without gold, and without given systems for very large datasets.
    """
    from classic_rc.audit.check import labelled_part
    from classic_rc.audit.without_copies import copied_questions, score_without
    from classic_rc.evaluation.evaluate import evaluate

    dataset = labelled_part(report.dataset)
    n_copies = int(copied_questions(dataset, report.findings).sum())
    if not n_copies or any(question.gold is None for question in dataset):
        return ()
    if not given and len(dataset) > _MOST_QUESTIONS:
        text = f"{n_copies:,} questions are copies: to score a system without them, name it with -s"
        inputs.report_notes(args, "note", [text], dataset.name)
        return ()
    evaluation = evaluate(
        dataset,
        inputs.choose_systems(args, dataset, given, protocol),
        protocol,
        jobs=args.jobs,
        progress=inputs.shows_progress(args),
    )
    inputs.report_notes(args, "warning", evaluation.warnings)
    failures.add_failed(dataset.name, evaluation.errors)
    scores = score_without(
        evaluation, report.findings, resamples=protocol.resamples or DEFAULT_RESAMPLES, seed=args.seed or 0
    )
    return scores if given else (max(scores, key=lambda score: score.value),)


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
        labelled = len(dataset) - hidden
        text = f"gold of {hidden:,} questions is hidden: "
        text += f"leaks are measured on the other {labelled:,}" if labelled else "leaks are not measured"
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


def _render(shown: Sequence[_Shown], form: str, earlier: str | None, verbose: bool) -> str:
    from classic_rc.reports.annotators import annotator_tables
    from classic_rc.reports.checks import check_tables, comparison_table
    from classic_rc.tables import render

    if form == "json":
        checks = []
        for report, accepted, compared, annotators, scores in shown:
            plain = {**report.to_dict(), "accepted": [r.name for r in accepted]}
            plain["scores_without_duplicates"] = [score.to_dict() for score in scores]
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
    for report, accepted, compared, annotators, scores in shown:
        tables += check_tables(report, accepted, scores)
        if compared is not None and earlier is not None:
            tables.append(comparison_table(compared, earlier, report.dataset.name))
        tables += [] if annotators is None else annotator_tables(annotators)
    return render(tables, form, signatures=verbose)
