"""Tables and CSV records of a breakdown by groups of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from classic_rc.evaluation.breakdown import Breakdown, CrossTabulation, Group
from classic_rc.evaluation.resampling import MIN_RELIABLE_GROUPS
from classic_rc.evaluation.results import SMALL_NOTE
from classic_rc.tables import Cell, Column, RowGroup, Table, records_csv


def breakdown_tables(breakdowns: Sequence[Breakdown]) -> list[Table]:
    """Return one table per breakdown: the total, then one row per group.

    A row has the number of questions, its share in percent, and the metric of every system. Small groups are faint.
    The signatures are the same for all tables and are below the last one.

    Parameters
    ----------
    breakdowns : sequence of Breakdown
        Breakdowns of the same systems.

    Returns
    -------
    list of Table
        In the order of `breakdowns`.
    """
    tables = [breakdown_table(breakdown) for breakdown in breakdowns]
    if tables:
        tables[-1] = replace(tables[-1], signatures={c.name: c.signature for c in breakdowns[-1].results.systems})
    return tables


def breakdown_table(breakdown: Breakdown) -> Table:
    """Return the table of one breakdown as :func:`breakdown_tables` makes it, without the signatures."""
    grouping, results = breakdown.grouping, breakdown.results
    groups = (breakdown.total, *breakdown.groups)
    rows = [
        [
            group.name,
            Cell(group.questions, faint=group.is_small),
            Cell(_question_share(breakdown, group), faint=group.is_small),
            *(Cell(cell.value, cell.interval, faint=group.is_small) for cell in group.cells),
        ]
        for group in groups
    ]
    by = f"by {grouping.key}"
    if results.systems:
        by += f": {breakdown.metric.label}"
    notes = [grouping.coverage]
    if grouping.overlapping:
        notes.append("groups overlap: a question can be in several")
    notes += _interval_notes(breakdown)
    if any(group.is_small for group in groups):
        notes.append(SMALL_NOTE)
    return Table(
        f"{results.label} {by}",
        [
            *(Column(grouping.key), Column("n", "count"), Column("%", "percent", 1)),
            *(Column(name, "percent") for name in breakdown.systems),
        ],
        [RowGroup(rows)],
        notes,
        f"{results.caption} {by.removesuffix('.')}. {'; '.join(notes)}.",
    )


def _question_share(breakdown: Breakdown, group: Group) -> float | None:
    return group.questions / breakdown.total.questions if breakdown.total.questions else None


def _interval_notes(breakdown: Breakdown) -> list[str]:
    if not any(cell.interval for group in (breakdown.total, *breakdown.groups) for cell in group.cells):
        return []
    resampling = breakdown.resampling
    units = "passages" if resampling.group is None else f"groups of passages ({resampling.group})"
    note = f"{resampling.label}: {resampling.n:,} resamples of the {units} of each group, seed {resampling.seed}"
    few = any(0 < group.passages < MIN_RELIABLE_GROUPS for group in breakdown.groups)
    return [note + (f"; likely too narrow if there are fewer than {MIN_RELIABLE_GROUPS}" if few else "")]


def cross_table(cross: CrossTabulation) -> Table:
    """Return the table with the number of questions that are in both a row's group and a column's group."""
    rows = [[name, *counts] for name, counts in zip(cross.rows.masks, cross.counts.tolist(), strict=True)]
    keys = f"{cross.rows.key} / {cross.columns.key}"
    columns = [Column(keys), *(Column(name, "count") for name in cross.columns.masks)]
    return Table(f"questions by {keys}", columns, [RowGroup(rows)])


def breakdown_csv(breakdowns: Sequence[Breakdown], crosses: Sequence[CrossTabulation] = ()) -> str:
    """Return breakdowns and cross-tabulations as CSV: a record for every cell, then one for every count.

    Parameters
    ----------
    breakdowns : sequence of Breakdown
    crosses : sequence of CrossTabulation

    Returns
    -------
    str
        Metrics and shares are fractions in full precision.
    """
    return records_csv(breakdown_records(breakdowns, crosses))


def breakdown_records(
    breakdowns: Sequence[Breakdown], crosses: Sequence[CrossTabulation] = ()
) -> list[dict[str, Any]]:
    """Return the records of :func:`breakdown_csv`."""
    cells = [record for breakdown in breakdowns for record in _cell_records(breakdown)]
    counts = [
        {"key": cross.rows.key, "group": row, "cross_key": cross.columns.key, "cross_group": column, "questions": n}
        for cross in crosses
        for row, counts in zip(cross.rows.masks, cross.counts.tolist(), strict=True)
        for column, n in zip(cross.columns.masks, counts, strict=True)
    ]
    return [*cells, *counts]


def _cell_records(breakdown: Breakdown) -> list[dict[str, Any]]:
    records = []
    for group in (breakdown.total, *breakdown.groups):
        shared = {
            "dataset": breakdown.results.dataset,
            "key": breakdown.grouping.key,
            "group": group.name,
            "questions": group.questions,
            "passages": group.passages,
            "share": _question_share(breakdown, group),
            "small": group.is_small,
        }
        if not group.cells:
            records.append(shared)
        for system, cell in zip(breakdown.results.systems, group.cells, strict=True):
            low, high = cell.interval or (None, None)
            value = cell.value if group.questions else None
            result = {"metric": breakdown.metric.name, "value": value, "low": low, "high": high}
            records.append({**shared, "system": system.name, **result, "signature": system.signature})
    return records
