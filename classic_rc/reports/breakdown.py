"""The tables of a breakdown by groups of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from classic_rc.evaluation.breakdown import Breakdown, CrossTabulation, Group
from classic_rc.evaluation.resampling import MIN_RELIABLE_GROUPS
from classic_rc.evaluation.results import SMALL_NOTE
from classic_rc.tables import Cell, Column, RowGroup, Table


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
            *(group.passages, group.is_small, *(system.signature for system in results.systems)),
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
            *(Column(grouping.key, key="group"), Column("n", "count", key="questions")),
            *(Column("%", "percent", 1, "share"), *(Column(name, "percent") for name in breakdown.systems)),
            *(Column("passages", hidden=True), Column("small", hidden=True)),
            *(Column(f"signature[{name}]", hidden=True) for name in breakdown.systems),
        ],
        [RowGroup(rows)],
        notes,
        f"{results.caption} {by.removesuffix('.')}. {'; '.join(notes)}.",
        facts={"dataset": results.dataset, "key": grouping.key, "metric": breakdown.metric.name},
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
    columns = [Column(keys, key="group"), *(Column(name, "count") for name in cross.columns.masks)]
    facts = {"key": cross.rows.key, "cross_key": cross.columns.key}
    return Table(f"questions by {keys}", columns, [RowGroup(rows)], facts=facts)
