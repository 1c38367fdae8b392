"""Tables of an audit: artifacts, shortcuts, telling words, defects, and questions that no baseline solves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from classic_rc.audit.artifacts import PartialInputs
from classic_rc.audit.check import Balance, CheckReport
from classic_rc.audit.duplicates import COPIES
from classic_rc.audit.findings import Comparison
from classic_rc.audit.hard import HardSubset, Share
from classic_rc.audit.integrity import Finding, Severity
from classic_rc.audit.measuring import PartialResult
from classic_rc.audit.without_copies import ScoreWithout
from classic_rc.audit.words import LeakingWords
from classic_rc.evaluation.results import dataset_title
from classic_rc.metrics.base import METRICS, primary_metric
from classic_rc.reports.duplicates import duplicates_table, scores_without_table
from classic_rc.tables import Cell, Column, RowGroup, Table
from classic_rc.tables.model import Value, format_points

_SHOWN_WORDS = 10
_SHOWN_POSITIONS = 10
_SHOWN_FINDINGS = 12
_SHOWN_FOLLOWERS = 4
_SHOWN_EXAMPLES = 5
_LINE_WIDTH = 96


def check_tables(
    report: CheckReport, accepted: Sequence[PartialResult] = (), scores: Sequence[ScoreWithout] = ()
) -> list[Table]:
    """Return the tables of one dataset: artifacts and shortcuts, words that predict the right option, integrity.

    Parameters
    ----------
    report : CheckReport
    accepted : sequence of PartialResult
        Findings that are accepted; they get one line.
    scores : sequence of ScoreWithout
        Systems on all questions, and without the copies.

    Returns
    -------
    list of Table
    """
    tables = [findings_table(report, accepted)]
    if report.words is not None and report.words.words:
        tables.append(word_table(report.words))
    duplicates = duplicates_table(report.findings)
    tables += [integrity_table(report), *([duplicates] if duplicates is not None else [])]
    return [*tables, *([scores_without_table(scores)] if scores else [])]


def fail_messages(report: CheckReport, kinds: frozenset[str]) -> list[str]:
    """Return one line for each reason to fail: a finding that follows from no other, an error in the data.

    Parameters
    ----------
    report : CheckReport
    kinds : frozenset of str
        Of ``artifacts``, ``shortcuts``, ``duplicates`` and ``defects``.
    """
    name = report.dataset.name
    lines = [
        f"{name}: {r.verdict}: {r.sentence}"
        for r in report.partial_inputs.findings
        if f"{r.verdict}s" in kinds and r.follows_from is None
    ]
    for finding in report.findings:
        is_copy = finding.kind.name in COPIES
        if "duplicates" in kinds and is_copy:
            lines.append(f"{name}: duplicates: {finding.count:,} {finding.kind.what}")
        elif "defects" in kinds and not is_copy and finding.kind.severity is Severity.ERROR:
            lines.append(f"{name}: defects: {finding.count:,} {finding.kind.what}")
    return lines


def findings_table(report: CheckReport, accepted: Sequence[PartialResult] = ()) -> Table:
    """Return the table of artifacts and shortcuts."""
    partial, title = report.partial_inputs, dataset_title(report.dataset)
    missing = [f"INTERRUPTED. Missing: {'; '.join(report.missing)}"] if report.missing else []
    if not partial.results:
        columns = [Column("partial input"), Column("not tried")]
        return Table(title, columns, [RowGroup(group_left_out(partial))], missing)
    columns = [
        *(Column("the right option …", key="rule"), Column("", key="verdict")),
        *(Column(METRICS[partial.metric].label, "percent"), Column("chance", "percent"), Column("gain", "points")),
        *(Column("p (Holm)", "p"), Column("left", "count")),
    ]
    leading = [r for r in partial.findings if r.follows_from is None]
    rows: list[Sequence[Cell | Value]] = []
    notes = missing
    for result in leading[:_SHOWN_FINDINGS]:
        rows.append(_finding_row(result))
        notes += _finding_notes(result, partial)
    if not rows:
        rows.append(["nothing found", *[None] * 6])
    if partial.majority is not None:
        rows.append(["is the most frequent answer", "majority", *[partial.majority] * 2, *[None] * 3])
    if len(leading) > _SHOWN_FINDINGS:
        notes.append(f"and {len(leading) - _SHOWN_FINDINGS} more findings: --format json has all")
    if accepted:
        names = [r.name for r in accepted if r.follows_from not in {a.name for a in accepted}]
        more = f" (and {len(accepted) - len(names)} that follow)" if len(names) < len(accepted) else ""
        notes.append(f"accepted: {'; '.join(names)}{more}")
    notes += [*best_of_the_rest(partial), *definitions(partial)]
    notes += [f"not tried ({reason}): {names}" for names, reason in group_left_out(partial)]
    return Table(title, columns, [RowGroup(rows)], notes)


def _finding_row(result: PartialResult) -> list[Cell | Value]:
    return [
        *(result.rule, str(result.verdict).upper(), result.value, result.chance),
        *(Cell(result.gain, result.interval), result.p_holm, result.remaining),
    ]


def _finding_notes(result: PartialResult, partial: PartialInputs) -> Iterator[str]:
    sees = ", ".join(result.sees)
    yield f"{str(result.verdict).upper()} {result.name} (sees {sees})"
    shown = result.answered[:_SHOWN_EXAMPLES]
    if shown:
        yield f"    answers {len(result.answered):,}: {_join_ids(shown, _LINE_WIDTH - 20)}"
    followers = [r.name for r in partial.findings if r.follows_from == result.name]
    if followers:
        more = f"; and {len(followers) - _SHOWN_FOLLOWERS} more" if len(followers) > _SHOWN_FOLLOWERS else ""
        yield f"    from it follow: {'; '.join(followers[:_SHOWN_FOLLOWERS])}{more}"


def best_of_the_rest(partial: PartialInputs) -> Iterator[str]:
    """Yield the best partial input that is no finding, with and without the passage."""
    for sees_passage, words in ((False, "without the passage"), (True, "with the passage")):
        rest = [r for r in partial.results if r.verdict is None and ("passage" in r.sees) is sees_passage]
        if rest:
            best = max(rest, key=lambda r: r.gain)
            yield (
                f"no finding, {words}: {len(rest)}; the best: {best.name}, {format_points(best.gain)} points, "
                f"p {best.p_holm:.2g}"
            )


def definitions(partial: PartialInputs) -> Iterator[str]:
    """Yield what the words and numbers of the findings mean."""
    yield (
        "in brackets: 95 % interval; ARTIFACT: the passage is not seen; SHORTCUT: the passage is seen, the "
        "question not or not all of it; left: questions that it does not answer"
    )
    chance = "exact permutations of gold within each question"
    if partial.majority is not None:
        share = f"{100 * partial.majority:.1f} %"
        chance = f"all questions have the same options, so chance is their most frequent answer, {share}"
    yield f"learned from {partial.learned_from}; chance: {chance}"
    rare = f"; {partial.rare} rules tell apart too few options" if partial.rare else ""
    yield (
        f"p: adjusted for {len(partial.results)} tests; a finding has p up to 0.05 and is at least "
        f"{partial.level:g} points from chance{rare}"
    )
    if partial.analyzer != "word":
        yield f"words: {partial.analyzer} (--analyzer)"


def comparison_table(compared: Sequence[Comparison], earlier: str, later: str) -> Table:
    """Return the table of what became of findings between two checks.

    Parameters
    ----------
    compared : sequence of Comparison
    earlier, later : str
        The names of the two datasets.
    """
    rows: list[Sequence[Value]] = [
        [str(c.change), c.name, *(None if gain is None else 100 * gain for gain in (c.before, c.after))]
        for c in compared
    ]
    columns = [Column("", key="change"), Column("the right option …", key="rule")]
    columns += [Column("before", "number", 2), Column("after", "number", 2)]
    rows = rows or [[None, "no findings in either", None, None]]
    return Table(f"{later} against {earlier}: points from chance", columns, [RowGroup(rows)])


def group_left_out(partial: PartialInputs) -> list[tuple[str, str]]:
    """Group the partial inputs that were not tried by the reason: pairs of names and reason."""
    reasons: dict[str, list[str]] = {}
    for name, reason in partial.left_out.items():
        reasons.setdefault(reason, []).append(name)
    if not partial.results and len(reasons) == 1:
        return [("all", reason) for reason in reasons]
    return [(", ".join(names), reason) for reason, names in reasons.items()]


def word_table(words: LeakingWords) -> Table:
    """Return the table of the words that predict right options best."""
    shown = words.words[:_SHOWN_WORDS]
    rows = [[w.word, w.right, w.wrong, w.expected, w.passages, f"{w.pmi:+.3f}", w.q] for w in shown]
    title = f"words that tell right options from wrong ones: {len(words.words)} of the {words.n_tested}"
    title += f" that are in at least {words.at_least} options"
    columns = [
        *(Column("word"), Column("in right", "count"), Column("in wrong", "count")),
        *(
            Column("right by chance", "number", 1),
            Column("passages", "count"),
            Column("PMI", "number"),
            Column("q", "p"),
        ),
    ]
    notes = [f"and {len(words.words) - len(shown)} more"] if len(words.words) > len(shown) else []
    return Table(title, columns, [RowGroup(rows)], notes)


def integrity_table(report: CheckReport) -> Table:
    """Return the table of defects."""
    rows: list[Sequence[Value]] = [
        [str(f.kind.severity), f.kind.what, f.count, f.kind.why] for f in report.findings
    ]
    notes = [note for finding in report.findings for note in _defect_notes(finding)]
    if report.balance is not None:
        notes += balance_notes(report.balance)
    words = report.words
    if words is not None and not words.words:
        notes.append(
            f"no word tells right options from wrong ones ({words.n_tested} in at least {words.at_least} options)"
        )
    columns = [Column("severity"), Column("finding"), Column("count", "count"), Column("why it matters")]
    return Table("integrity", columns, [RowGroup(rows or [[None, "nothing found", 0, None]])], notes)


def _defect_notes(finding: Finding) -> Iterator[str]:
    """Yield the first places of a finding, one a line, or its ids on one line if the places are not known."""
    what = finding.kind.what
    if not finding.places:
        yield f"{what}: {_join_ids(finding.examples, _LINE_WIDTH - len(what) - 2)}"
        return
    yield f"{what}:"
    for place in finding.places:
        yield f"  {place if len(place) <= _LINE_WIDTH else '…' + place[1 - _LINE_WIDTH :]}"


def _join_ids(ids: tuple[str, ...], room: int) -> str:
    """Join ids; if they do not fit in `room` characters, shorten each in the middle, to at least 12 characters."""
    width = max(room // len(ids) - 2, 12)
    head = width // 2 - 1
    return ", ".join(i if len(i) <= width else f"{i[:head]}…{i[head + 1 - width :]}" for i in ids)


def balance_notes(balance: Balance) -> Iterator[str]:
    """Yield the share of right options, and where they are."""
    yield f"right options: {100 * balance.right_share:.1f} % of all"
    if balance.chi_square is None or balance.p is None:
        return
    shown = slice(_SHOWN_POSITIONS)
    observed = ", ".join(str(n) for n in balance.positions[shown])
    expected = ", ".join(f"{n:.0f}" for n in balance.expected[shown])
    more = ", …" if len(balance.positions) > _SHOWN_POSITIONS else ""
    yield f"right options by position: {observed}{more} (expected {expected}{more})"
    yield f"test of even positions: chi-square {balance.chi_square:.1f} (df {balance.degrees}), p {balance.p:.2g}"


def hard_table(found: HardSubset) -> Table:
    """Return the table with every system's main metric on all questions and on the hard ones.

    The notes compare the share of questions removed with the share that guessing would remove.

    Parameters
    ----------
    found : HardSubset

    Returns
    -------
    Table
    """
    dataset = found.evaluation.dataset
    assert dataset.task is not None
    main = primary_metric(dataset.task)
    rows = []
    for i, (row, (before, after)) in enumerate(zip(found.evaluation.rows, found.scores, strict=True)):
        solved = None if row.expected else int(found.solves(row).sum())
        notes = ["by construction"] if found.is_member(i) else []
        notes += ["expectation"] if row.expected else []
        notes += [f"learned from {row.trained_on}"] if row.trained_on else []
        notes += [f"tuned on {row.tuned_on}"] if row.tuned_on else []
        rows.append([row.name, solved, _cell(before), _cell(after), "; ".join(notes)])
    n_hard = int(found.hard.sum())
    columns = [
        *(Column("system"), Column("solves", "count"), Column(f"{main.label} all {len(dataset):,}", "percent")),
        *(Column(f"{main.label} hard {n_hard:,}", "percent"), Column("notes", "note")),
    ]
    title = f"{dataset.name} · {n_hard:,} of {len(dataset):,} questions are hard"
    signatures = {row.name: row.short_signature for row in found.evaluation.rows}
    return Table(title, columns, [RowGroup(rows)], _hard_notes(found), signatures=signatures)


def _hard_notes(found: HardSubset) -> list[str]:
    """Return the notes: what was removed, what guessing would remove, and the definitions."""
    members, most = found.n_members, found.max_solved
    removed, chance, excess = (found.removed[name] for name in ("removed", "chance", "excess"))
    guessers = "one guesser" if members == 1 else f"{members} independent guessers"
    return [
        f"Removed: {(~found.hard).sum():,} questions, {_percent(removed)} % of all; {guessers} "
        f"would remove {_percent(chance)} %; the difference is {_percent(excess)} points",
        f"Hard: at most {most} of {members} members solve it; solved: {found.metric.label}, the mean over "
        f"tied answers, is above {found.solved_above:g}",
        f"Chance: the mean of P(X > {most}), X ~ Binomial({members}, p), p the probability of a right guess",
        found.resampling.note,
    ]


def _cell(share: Share | None) -> Cell:
    return Cell() if share is None else Cell(share.value, share.interval)


def _percent(share: Share | None) -> str:
    return Column("", "percent").text(_cell(share))
