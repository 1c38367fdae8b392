"""``classic-rc check``: test whether a dataset can be answered without reading it, and look for
defects.
"""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, print_message, write_file, write_output
from classic_rc.cli.option import (
    Bare,
    Choice,
    option,
    parser_of,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.json import render_json
from classic_rc.protocol import NAMES, names_among

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from classic_rc.commands.check.audit import CheckReport
    from classic_rc.commands.check.cues import Cue
    from classic_rc.commands.check.mend import Repairs
    from classic_rc.questions import Dataset

_FINDING = 1

FAILURES = ("artifacts", "shortcuts", "duplicates", "defects")
USUAL_FAILURES = "artifacts,defects"

OPTIONS: Choice = (
    "data...",
    "reading",
    "--pool",
    *under(
        "findings",
        option(
            "--fail",
            type=parser_of(names_among("kind of finding", FAILURES)),
            bare=Bare(USUAL_FAILURES),
            default=(),
            metavar="KINDS",
            help="exit with 1 if there are findings of some kinds: "
            "--fail=artifacts,shortcuts,duplicates,defects, separated by commas; --fail alone: "
            "artifacts and defects",
        ),
        option(
            "--allow",
            rare=True,
            metavar="FILE",
            help="accept findings by printed name or id, one per line, or a JSON list of objects "
            "with name or id, and reason: they neither fail nor hide others",
        ),
        option(
            "--baseline",
            metavar="FILE",
            help="with --fail: only what is new fails, or has a higher count, compared with the "
            "JSON of an earlier check (--format json -o FILE)",
        ),
        option(
            "--without-fields",
            rare=True,
            type=parser_of(NAMES),
            default=(),
            metavar="KEY,…",
            help="search no cues in these fields (votes that --fields names as annotators never "
            "are)",
        ),
        option(
            "--ids",
            rare=True,
            metavar="FILE",
            help="write all questions that each cue answers: name, tab, question id",
        ),
        option(
            "--mend",
            metavar="FILE",
            help="write a repaired copy as JSON lines, check it too, and list what a program "
            "cannot mend: the copy has equal blanks, quotes and invisible characters, shuffled "
            "options, and no exact copies or leaking fields",
        ),
    ),
    vary_option("--train", help="the training data, searched for copies; repeat for several"),
    vary_option(
        "--cv", help="the number of passage folds for the learners of the header (default 5)"
    ),
    vary_option(
        "--group",
        help="a field of the data (article, author, …): questions with the same value stay "
        "together",
    ),
    vary_option(
        "--analyzer",
        default=None,
        help="how texts become words (see `classic-rc list analyzers`; "
        "default word, or char for scripts without spaces between words)",
    ),
    vary_option("--seed", help="the seed of draws, resamples and --mend (default 0)"),
    vary_option("--output", help="write the results to a file instead of stdout"),
    "--quiet",
    vary_option(
        "--format",
        help="the output format (default table); html: a page with a picture of the cues",
    ),
    vary_option("--verbose", help="show all findings, with examples and advice"),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command. An interruption prints what was found before."""
    from classic_rc.commands.check.accepted import EarlierFinding, read_accepted, read_baseline
    from classic_rc.commands.check.audit import CheckInterrupted
    from classic_rc.commands.check.tables import fail_messages, improvements
    from classic_rc.text.analyzers import get_analyzer

    for name in ("output", "ids", "mend"):
        check_writable(getattr(args, name), *args.data, *args.train, option=f"--{name}")
    # A check lists all defects; the other commands stop at the first.
    args.skip = ("bad", *(args.skip or ()))
    if args.analyzer is not None:
        get_analyzer(args.analyzer)  # refuses an unknown name before anything is read
    args.allow = {} if args.allow is None else read_accepted(args.allow)
    if args.baseline is not None and not args.fail:
        raise UsageError("--baseline has no effect without --fail: add it", field="--baseline")
    baselines = None if args.baseline is None else read_baseline(args.baseline)
    train = inputs.read_train(args)
    failures = Failures()
    reports: list[CheckReport] = []
    mended: _Mended | None = None
    try:
        for data in inputs.expand_datasets(args, args.data):
            with failures.caught():
                dataset = inputs.load_dataset(args, data)
                if baselines is not None and dataset.name not in baselines:
                    raise DataError(
                        "the baseline is of other data",
                        source=args.baseline,
                        found=", ".join(baselines),
                        expected=dataset.name,
                    )
                try:
                    report = _check_data(args, dataset, train)
                except CheckInterrupted as interruption:
                    reports.append(interruption.report)
                    raise
                reports.append(report)
        if args.mend is not None and reports:
            mended = _mend(args, reports, train)
    finally:
        if reports:
            write_output(_render(reports, args.format, args.verbose, mended), args.output)
    if args.ids is not None:
        write_file(Path(args.ids), "".join(_answered_ids(report.cues) for report in reports))
    if failures.exit_code:
        return failures.exit_code
    _refuse_unknown(reports, args.allow)
    reasons: list[str] = []
    allowed = {name: EarlierFinding(reason) for name, reason in args.allow.items()}
    for report in reports:
        baseline = (baselines or {}).get(report.dataset.name, {})
        inputs.report_notes(args, "note", improvements(report, baseline), report.dataset.name)
        reasons += fail_messages(report, args.fail, baseline | allowed)
    for line in reasons:
        print_message(line)
    return _FINDING if reasons else 0


def _refuse_unknown(reports: Sequence[CheckReport], accepted: Iterable[str]) -> None:
    """Refuse an accepted name that is no feature of any dataset and no kind of defect."""
    from classic_rc.commands.check.cues import phrase
    from classic_rc.commands.check.integrity import KINDS

    kinds = [*KINDS.values(), *(finding.kind for report in reports for finding in report.defects)]
    kind_names = {name for kind in kinds for name in (kind.name, kind.what)}
    for name in accepted:
        near = [report.unknown.get(name, [name]) for report in reports]
        if name not in kind_names and near and not any(name in names for names in near):
            printed = [phrase(cue.name) for report in reports for cue in report.cues]
            raise unknown_name("finding", name, [*printed, *chain(*near)])


class _Mended(NamedTuple):
    """A repaired copy and its check."""

    repairs: Repairs
    report: CheckReport


def _mend(
    args: argparse.Namespace, reports: Sequence[CheckReport], train: Dataset | None
) -> _Mended:
    """Write a repaired copy with its provenance next to it, and check it."""
    from classic_rc.commands.check.mend import PROVENANCE, mend_dataset
    from classic_rc.datasets.own_files import to_jsonl

    if len(reports) > 1:
        raise UsageError(
            f"--mend writes one dataset, but there are {len(reports)}: add --pool to join them",
            field="--mend",
        )
    repairs = mend_dataset(reports[0], train=train, seed=args.seed or 0)
    write_file(Path(args.mend), to_jsonl(repairs.dataset))
    write_file(Path(f"{args.mend}{PROVENANCE}"), render_json(repairs.to_dict()))
    return _Mended(repairs, _check_data(args, repairs.dataset, train))


def _check_data(args: argparse.Namespace, dataset: Dataset, train: Dataset | None) -> CheckReport:
    from classic_rc.commands.check.audit import check_dataset

    if hidden := sum(question.gold is None for question in dataset):
        labelled = len(dataset) - hidden
        text = f"gold of {hidden:,} questions is hidden: "
        text += (
            f"cues are searched for in the other {labelled:,}"
            if labelled
            else "no cues are searched for"
        )
        inputs.report_notes(args, "note", [text], dataset.name)
    return check_dataset(
        dataset,
        train=train,
        folds=args.cv or 5,
        group=args.group,
        analyzer=args.analyzer,
        accepted=args.allow,
        without_fields=args.without_fields,
        seed=args.seed or 0,
        progress=inputs.shows_progress(args),
    )


def _answered_ids(cues: Sequence[Cue]) -> str:
    """Return all questions that each cue answers: lines of the cue's name, a tab and the
    question's id.
    """
    lines = []
    for cue in cues:
        for id_ in cue.ids:
            if "\t" in id_ or len(id_.splitlines()) > 1:
                raise UsageError(
                    f"cannot write one id per line: the question id {id_!r} has a tab or a line "
                    "break",
                    field="--ids",
                    found=id_,
                )
            lines.append(f"{cue.name}\t{id_}\n")
    return "".join(lines)


def _render(
    reports: Sequence[CheckReport],
    form: str,
    verbose: bool,
    mended: _Mended | None,
) -> str:
    from classic_rc.commands.check.tables import check_tables, mend_tables
    from classic_rc.tables import render

    if form == "json":
        checks = [report.to_dict() for report in reports]
        if mended is not None:
            checks[0]["mended"] = {**mended.repairs.to_dict(), "check": mended.report.to_dict()}
        return render_json({"checks": checks}, times=False)  # equal calls give equal bytes
    if form == "html":
        from classic_rc.commands.check.page import check_page

        return check_page(reports if mended is None else [*reports, mended.report])
    has_details = verbose or form != "table"
    tables = [
        table for report in reports for table in check_tables(report, has_details=has_details)
    ]
    if mended is not None:
        tables += mend_tables(reports[0], mended.report, mended.repairs)
    return render(tables, form)
