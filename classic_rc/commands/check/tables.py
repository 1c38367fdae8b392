"""Tables of an audit: what it takes to answer, cues, defects and copies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from types import MappingProxyType

from classic_rc.commands.check.accepted import EarlierFinding
from classic_rc.commands.check.annotators import Agreement
from classic_rc.commands.check.audit import CheckReport
from classic_rc.commands.check.cues import Cue, CueKind
from classic_rc.commands.check.duplicates import COPIES, OTHER_GOLD
from classic_rc.commands.check.integrity import Finding, Severity
from classic_rc.commands.check.mend import Repairs
from classic_rc.results.result_table import dataset_title
from classic_rc.tables import Cell, Column, RowGroup, Table
from classic_rc.tables.model import Value

_SHOWN_CUES = 5
_SHOWN_SUSPECTS = 10
_SHOWN_DISPUTES = 50
_NAME_WIDTH = 70
_LINE_WIDTH = 96


def check_tables(report: CheckReport, *, has_details: bool = False) -> list[Table]:
    """Return the tables of one dataset: the header, and what was found; with `has_details`, also
    examples and advice.
    """
    tables = [header_table(report)]
    if report.n_features:
        tables.append(cue_table(report, has_details=has_details))
    if has_details and (disputes := dispute_table(report)):
        tables.append(disputes)
    if has_details or not report.n_features:
        tables.append(integrity_table(report))
    return tables


def fail_messages(
    report: CheckReport,
    kinds: Collection[str],
    accepted: Mapping[str, EarlierFinding] = MappingProxyType({}),
) -> list[str]:
    """Return one line for each reason to fail, of the `kinds` artifacts, shortcuts, duplicates and
    defects.

    `accepted` findings do not fail, by the ids of cues and the names of kinds, unless a kind has
    more.
    """
    name = report.dataset.name
    failing = {CueKind.ARTIFACT: "artifacts", CueKind.SHORTCUT: "shortcuts"}
    lines = []
    for cue in report.cues:
        is_accepted = accepted.keys() >= {*cue.id.split("+")}
        if failing.get(cue.kind) in kinds and not is_accepted:
            lines.append(f"{name}: {cue.kind}: {cue.sentence} ({cue.id})")
    for finding in report.defects:
        kind, before = finding.kind, ""
        if earlier := accepted.get(kind.name, accepted.get(kind.what)):
            if finding.count <= earlier.n:
                continue
            before = f", {earlier.n:,} in the baseline"
        text = f"{kind.what} ({finding.count:,}{finding.detail}{before})"
        if "defects" in kinds and kind.severity is Severity.ERROR:
            lines.append(f"{name}: DEFECT: {text}")
        elif "duplicates" in kinds and kind.name in COPIES | OTHER_GOLD:
            lines.append(f"{name}: duplicates: {text}")
    return lines


def improvements(report: CheckReport, baseline: Mapping[str, EarlierFinding]) -> list[str]:
    """Return one line for each finding of a baseline that is gone or has a smaller count."""
    counts: dict[str, float] = {finding.kind.what: finding.count for finding in report.defects}
    for cue in report.cues:
        counts |= dict.fromkeys(cue.id.split("+"), inf)
    lines = []
    for key, (what, count) in baseline.items():
        if key not in counts:
            lines.append(f"no longer found: {what}")
        elif counts[key] < count:
            lines.append(f"fewer: {what} ({counts[key]:,}, {count:,} in the baseline)")
    return list(dict.fromkeys(lines))


def mend_tables(before: CheckReport, after: CheckReport, repairs: Repairs) -> list[Table]:
    """Return what was repaired, what it changed, and which questions people should look at."""
    done = [[what, count] for what, count in repairs.done] or [["nothing to repair", 0]]
    tables = [Table("repairs", [Column("repair"), Column("questions", "count")], [RowGroup(done)])]
    rows: list[Sequence[Cell | Value]] = []
    accuracy_after = {row.input: row.accuracy for row in after.header}
    for row in before.header:
        name = f"a learner reads {row.input}"
        rows.append([name, row.accuracy, accuracy_after.get(row.input)])
    precision_before = {cue.label: cue.precision for cue in before.cues}
    precision_after = {cue.label: cue.precision for cue in after.cues}
    for name in precision_before | precision_after:
        rows.append([name, precision_before.get(name), precision_after.get(name)])
    columns = [Column("right, or precision of a cue")]
    columns += [Column("before", "percent", 1), Column("after", "percent", 1)]
    notes = []
    if any(cue.about for cue in after.cues):
        notes.append("cues of span data are in passages and questions: a program cannot mend them")
    if after.suspects:
        ids = tuple(id_ for id_, _ in after.suspects[:_SHOWN_SUSPECTS])
        notes.append(
            f"for people: {len(after.suspects):,} questions that the remaining cues answer, worst "
            "first:"
        )
        notes.append(f"    {_join_ids(ids, _LINE_WIDTH)}")
    return [*tables, Table("before and after", columns, [RowGroup(rows)], notes)]


def header_table(report: CheckReport) -> Table:
    """Return the table of what it takes to answer."""
    columns = [
        Column("what a learner reads", key="input"),
        Column("right", "percent", 1, key="accuracy", intervals="pm"),
        Column("chance", "percent", 1),
    ]
    rows: list[Sequence[Cell | Value]] = [
        [row.input, Cell(row.accuracy, row.interval), row.chance] for row in report.header
    ]
    agreement, notes = report.annotators, report.notes
    if agreement is not None:
        rows += [[name, Cell(*value), None] for name, value in agreement.accuracies.items()]
        notes = (*_agreement_notes(agreement), *notes)
    rows = rows or [["not measured", None, None]]
    missing = [f"INTERRUPTED. Missing: {', '.join(report.missing)}"] if report.missing else []
    return Table(dataset_title(report.dataset), columns, [RowGroup(rows)], [*missing, *notes])


def _agreement_notes(agreement: Agreement) -> Iterator[str]:
    n = len(agreement.names)
    text = f"{n:,} annotator{'s' if n > 1 else ''}, {agreement.n_votes:,} votes"
    text += "" if agreement.alpha is None else f", alpha {agreement.alpha:.2f}"
    yield text + ("" if agreement.kappa is None else f", mean kappa {agreement.kappa:.2f}")
    if agreement.n_tied:
        yield f"most annotators: {agreement.n_tied:,} ties count by their share of right answers"
    if agreement.disputes:
        text = f"most disagree with gold in {len(agreement.disputes):,} questions: "
        ids = tuple(dispute.id for dispute in agreement.disputes[:_SHOWN_CUES])
        yield text + _join_ids(ids, _LINE_WIDTH - len(text))


def dispute_table(report: CheckReport) -> Table | None:
    """Return the questions where most annotators disagree with gold; None without any."""
    disputes = () if report.annotators is None else report.annotators.disputes
    if not disputes:
        return None
    columns = [Column(name) for name in ("id", "gold", "most annotators", "against", "a learner")]
    verdicts = {True: "is right", False: "is wrong too", None: None}
    rows = []
    for dispute in disputes[:_SHOWN_DISPUTES]:
        against = f"{dispute.against:,} of {dispute.votes:,}"
        verdict = verdicts[None if dispute.learner is None else dispute.learner > 0]
        rows.append([dispute.id, dispute.gold, dispute.answer, against, verdict])
    n_more = len(disputes) - len(rows)
    notes = [f"and {n_more:,} more: --format json has all"] if n_more else []
    return Table("annotators against gold", columns, [RowGroup(rows)], notes)


def cue_table(
    report: CheckReport, *, has_details: bool = True, max_cues: int | None = _SHOWN_CUES
) -> Table:
    """Return the table of the cues that tell right options from wrong ones.

    With `has_details` it has all cues and columns, with examples and advice as notes; else it has
    at most `max_cues` cues.
    """
    has_spans = any(cue.about for cue in report.cues)
    columns = [
        Column("finding" if has_spans else "the option that …", key="name"),
        Column("is", key="direction"),
        Column("", key="kind"),
        Column("coverage", "percent", 1),
        Column("precision", "percent", 1),
        Column("alone", "percent", 1),
        Column("chance", "percent", 1),
        Column("z", "number", 1),
        Column("p", "p", 3),
    ]
    cues = report.cues if has_details else report.cues[:max_cues]
    rows: list[Sequence[Cell | Value]] = []
    for cue in cues:
        name = _shorten(cue.label, has_details)
        shares = cue.coverage, cue.precision, cue.accuracy, cue.chance
        rows.append([name, cue.direction, str(cue.kind), *shares, cue.z, cue.p])
    notes = list(_cue_notes(report, len(cues), has_details))
    if has_details:
        notes += [note for cue in cues for note in _example_notes(cue)]
    elif report.defects:
        notes += _defects_in_short(report)
    if not rows:
        outcome = "nothing found" if report.n_features else "not searched for"
        rows = [[outcome, *[None] * (len(columns) - 1)]]
    if not has_details:  # what fits 80 columns
        narrow = [0, 1, 2, 3, 4, 7]
        columns = [columns[i] for i in narrow]
        rows = [[row[i] for i in narrow] for row in rows]
    return Table("cues", columns, [RowGroup(rows)], notes)


def _shorten(text: str, has_details: bool) -> str:
    return text if has_details or len(text) <= _NAME_WIDTH else f"{text[: _NAME_WIDTH - 1]}…"


def _defects_in_short(report: CheckReport) -> Iterator[str]:
    """Yield each kind of defect and copy with its count and first ids."""
    for finding in report.defects:
        label = "DEFECT" if finding.kind.severity is Severity.ERROR else finding.kind.severity
        text = f"{label}: {finding.kind.what} ({finding.count:,}{finding.detail}): "
        yield text + _join_ids(finding.examples, _LINE_WIDTH - len(text))


def _cue_notes(report: CheckReport, n_shown: int, has_details: bool) -> Iterator[str]:
    if n_shown < len(report.cues):
        yield f"and {len(report.cues) - n_shown} more: -v shows all, with examples and advice"
    if report.without is not None and report.header:
        yield (
            f"without all of these, {report.header[0].input} falls from "
            f"{100 * report.header[0].accuracy:.1f} to {100 * report.without:.1f}"
        )
    yield from (cue.note for cue in report.cues if cue.note)
    if report.accepted:
        yield f"accepted, and not searched for: {'; '.join(report.accepted)}"
    bounds = sorted({f"{cue.bound:.1f}" for cue in report.cues}, key=float)
    bound = f", |z| above {' to '.join(bounds[:1] + bounds[1:][-1:])} is not chance"
    bound = bound if bounds else ""
    yield f"{report.n_features:,} features{bound}"
    if has_details:
        yield (
            "coverage: questions where it differs; precision: how often the option it favours is "
            "right there"
        )


def _example_notes(cue: Cue) -> Iterator[str]:
    yield f"{cue.kind} {cue.id}: {cue.sentence}: {cue.advice}"
    if cue.n_with:
        yield (
            f"    options that have it where others do not: {cue.n_right:,} of {cue.n_with:,} are "
            "right"
        )
    for example in cue.examples:
        yield f"    {example.id}: {'right' if example.right else 'wrong'}: {example.option}"


def integrity_table(report: CheckReport) -> Table:
    """Return the table of defects and copies."""
    findings = report.defects
    rows: list[Sequence[Value]] = [
        [str(f.kind.severity), f.kind.what, f.count, f.kind.why + f.detail] for f in findings
    ]
    notes = [note for finding in findings for note in _defect_notes(finding)]
    nothing = "nothing found" if not report.missing else "the search was incomplete"
    columns = [
        Column("severity"),
        Column("finding"),
        Column("count", "count"),
        Column("why it matters"),
    ]
    return Table(
        "defects and copies", columns, [RowGroup(rows or [[None, nothing, 0, None]])], notes
    )


def _defect_notes(finding: Finding) -> Iterator[str]:
    """Yield the first places of a finding, one a line, or its ids on one line if the places are
    not known.
    """
    what = finding.kind.what
    if not finding.places:
        yield f"{what}: {_join_ids(finding.examples, _LINE_WIDTH - len(what) - 2)}"
        return
    yield f"{what}:"
    for place in finding.places:
        yield f"  {place if len(place) <= _LINE_WIDTH else '…' + place[1 - _LINE_WIDTH :]}"


def _join_ids(ids: tuple[str, ...], room: int) -> str:
    """Join ids; if they do not fit in `room` characters, shorten each in the middle, to at least
    12 characters.
    """
    width = max(room // len(ids) - 2, 12)
    head = width // 2 - 1
    tail = width - head - 1
    short_ids = (id_ if len(id_) <= width else f"{id_[:head]}…{id_[-tail:]}" for id_ in ids)
    return ", ".join(short_ids)


_SHOWN_PAIRS = 3
_DIFF_WIDTH = 72


def duplicates_table(findings: Iterable[Finding], max_pairs: int = _SHOWN_PAIRS) -> Table | None:
    """Return the table of duplicate passages, questions and options: for each kind, the least
    similar pairs.

    These are the pairs to check, this many of a kind. None without duplicates; other findings are
    ignored.
    """
    from classic_rc.commands.check.duplicates import DuplicateFinding

    blocks = []
    for finding in findings:
        if isinstance(finding, DuplicateFinding):
            pairs = sorted(finding.pairs, key=lambda pair: pair.similarity)[:max_pairs]
            rows = [[p.id, p.other, p.similarity, p.diff(_DIFF_WIDTH)] for p in pairs]
            title = f"{finding.kind.what} ({finding.count:,}, {finding.kind.severity})"
            blocks.append(RowGroup(rows, title))
    if not blocks:
        return None
    columns = [
        Column("id"),
        Column("same as"),
        Column("similarity", "number", 2),
        Column("what differs"),
    ]
    notes = [
        "similarity: the share of the longer text that both have; [-only in the other-] {+only in "
        "this one+}",
        "a question is a copy together with its passage or its options",
    ]
    return Table("Duplicates", columns, blocks, notes)
