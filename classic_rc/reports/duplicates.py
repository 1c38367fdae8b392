"""Tables of duplicates: the pairs with what differs, and scores without the copies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from classic_rc.audit.duplicates import DuplicateFinding
from classic_rc.audit.kinds import Finding
from classic_rc.audit.without_copies import ScoreWithout
from classic_rc.tables import Cell, Column, RowGroup, Table

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
    blocks = [
        RowGroup(
            [
                [pair.id, pair.other, pair.similarity, pair.diff(_DIFF_WIDTH)]
                for pair in sorted(finding.pairs, key=lambda pair: pair.similarity)[:shown]
            ],
            f"{finding.count:,} {finding.kind.what} ({finding.kind.severity})",
        )
        for finding in findings
        if isinstance(finding, DuplicateFinding)
    ]
    if not blocks:
        return None
    columns = [Column("id"), Column("same as"), Column("similarity", "number", 2), Column("what differs")]
    notes = [
        "similarity: the share of the longer text that both have; [-only in the other-] {+only in this one+}",
        "a question is a copy together with its passage or its options",
    ]
    return Table("Duplicates", columns, blocks, notes)


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
    columns = [
        Column("system"),
        Column(f"{label} all {first.n_questions:,}", "percent"),
        Column(f"{label} without {first.n_left:,}", "percent"),
        Column("learned from"),
    ]
    rows = [
        [s.system, Cell(s.value, s.interval), Cell(s.left_value, s.left_interval), s.trained_on] for s in scores
    ]
    n_removed = first.n_questions - first.n_left
    note = (
        f"without: without the {n_removed:,} questions that, or whose passages, repeat or nearly repeat others, "
        "counted from the second time on"
    )
    if any(s.trained_on for s in scores):
        note += ", or training data"
    return Table("Scores without duplicates", columns, [RowGroup(rows)], [note])
