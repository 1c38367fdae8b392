"""Tables of duplicates: the pairs with what differs, and scores without the copies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from classic_rc.audit.duplicates import DuplicateFinding
from classic_rc.audit.kinds import Finding
from classic_rc.audit.without_copies import ScoreWithout
from classic_rc.display import format_percent
from classic_rc.evaluation.resampling import Interval
from classic_rc.reports.tables import EMPTY_CELL, Table

_SHOWN_PAIRS = 3
_DIFF_WIDTH = 72


def duplicates_table(findings: Iterable[Finding], shown: int = _SHOWN_PAIRS) -> Table | None:
    """Return the table of duplicate passages, questions and options: for each kind, the least similar pairs.

    Parameters
    ----------
    findings : iterable of Finding
        Those of :func:`~classic_rc.audit.duplicates.find_duplicates` are shown; others are ignored.
    shown : int
        How many pairs of a kind are shown. Near copies are sorted by similarity, the least similar first: these are
        the ones to check.

    Returns
    -------
    Table or None
        None without duplicates.
    """
    rows: list[list[str]] = []
    headings: dict[int, str] = {}
    for finding in findings:
        if isinstance(finding, DuplicateFinding):
            headings[len(rows)] = f"{finding.count:,} {finding.kind.what} ({finding.kind.severity})"
            pairs = sorted(finding.pairs, key=lambda pair: pair.similarity)[:shown]
            rows += [[p.id, p.other, f"{p.similarity:.2f}", p.diff(_DIFF_WIDTH)] for p in pairs]
    if not rows:
        return None
    header = ["id", "same as", "similarity", "what differs"]
    notes = [
        "similarity: the share of the longer text that both have; [-only in the other-] {+only in this one+}",
        "a question is a copy together with its passage or its options",
    ]
    return Table("Duplicates", header, rows, frozenset({0, 1, 3}), notes, headings=headings)


def scores_without_table(scores: Sequence[ScoreWithout]) -> Table:
    """Return the table of systems' scores on all questions, and without the copies.

    Parameters
    ----------
    scores : sequence of ScoreWithout
        From :func:`~classic_rc.audit.without_copies.score_without`; at least one.

    Returns
    -------
    Table
    """
    first = scores[0]
    label = first.metric.label
    header = ["system", f"{label} all {first.n_questions:,}", f"{label} without {first.n_left:,}", "learned from"]
    rows = [
        [s.system, _cell(s.value, s.interval), _cell(s.left_value, s.left_interval), s.trained_on or EMPTY_CELL]
        for s in scores
    ]
    n_removed = first.n_questions - first.n_left
    note = (
        f"without: without the {n_removed:,} questions that, or whose passages, repeat or nearly repeat others, "
        "counted from the second time on"
    )
    if any(s.trained_on for s in scores):
        note += ", or training data"
    return Table("Scores without duplicates", header, rows, frozenset({0, 3}), [note])


def _cell(value: float | None, interval: Interval | None) -> str:
    return format_percent(value, interval=interval)
