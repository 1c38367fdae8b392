"""The tables of a comparison: systems, pairs of systems, and which questions each set of systems
solves.
"""

from __future__ import annotations

from typing import Any

from classic_rc.reports.result_tables import comparison_facts, difference_table
from classic_rc.results.comparison import Comparison, SolvedRegion
from classic_rc.tables import Cell, Column, RowGroup, Table
from classic_rc.tables.model import format_percent

_NAMED_QUESTIONS = 5


def comparison_tables(comparison: Comparison, *, verbose: bool = False) -> list[Table]:
    """Return the tables of one dataset: systems, pairs of systems, and which questions each set of
    systems solves.

    The last table is left out if the comparison has no regions. One more has the examples, if there
    are any.

    Parameters
    ----------
    comparison : Comparison
    verbose : bool
        Whether notes name the first questions of each set of systems; CSV has all of them.

    Returns
    -------
    list of Table
    """
    tables = [_system_table(comparison), difference_table(comparison)]
    if comparison.regions:
        tables.append(_overlap_table(comparison, verbose))
    if comparison.examples:
        tables.append(_example_table(comparison))
    return tables


def _system_table(comparison: Comparison) -> Table:
    columns = [
        Column("system"),
        Column(comparison.metric.label, "percent", key="value"),
        Column("gain over chance", "points", key="gain"),
        Column("relative gain %", "points", 1, "relative_gain"),
        Column("signature", hidden=True),
    ]
    rows: list[list[Any]] = []
    for system in comparison.estimates:
        value = Cell(system.value, system.interval)
        gain = Cell(system.gain, system.gain_interval)
        rows.append([system.name, value, gain, system.relative_gain, system.signature])
    if comparison.chance is None:
        chance_note = (
            "gain over chance: unknown, because no system is `random`; to compute it, add --data "
            "DATA"
        )
    else:
        chance_note = (
            f"chance: random scores {format_percent(comparison.chance)}, in expectation; relative "
            "gain: gain / chance"
        )
    results = comparison.results
    return Table(
        results.label,
        columns,
        [RowGroup(rows)],
        [comparison.resampling.note, chance_note],
        f"{results.caption}: systems",
        {system.name: system.signature for system in comparison.estimates},
        comparison_facts(comparison, "system"),
    )


def _overlap_table(comparison: Comparison, verbose: bool) -> Table:
    names = comparison.regions[0].systems  # the first region has all systems
    columns = [
        *(Column(name, key=f"solved[{name}]") for name in names),
        Column("questions", "count"),
        Column("%", "percent", 1, "share"),
        Column("systems", hidden=True),
        Column("ids", hidden=True),
    ]
    rows: list[list[Any]] = []
    for region in comparison.regions:
        marks = ["yes" if name in region.systems else None for name in names]
        lists = [" + ".join(region.systems), " ".join(region.ids)]
        rows.append([*marks, region.questions, region.share, *lists])
    notes = [f"left out: {', '.join(comparison.left_out)}"] if comparison.left_out else []
    if verbose:
        notes += [_name_questions(region) for region in comparison.regions if region.ids]
    title = f"solved by exactly these systems ({comparison.solved_by.label} 1)"
    return Table(
        title,
        columns,
        [RowGroup(rows)],
        notes,
        f"{comparison.results.caption}: questions {title}",
        facts=comparison_facts(comparison, "region"),
    )


def _name_questions(region: SolvedRegion) -> str:
    """Return a line that names the first questions of a region."""
    names = " + ".join(region.systems) or "no system"
    more = " …" if region.questions > _NAMED_QUESTIONS else ""
    return f"{names}: {' '.join(region.ids[:_NAMED_QUESTIONS])}{more}"


def _example_table(comparison: Comparison) -> Table:
    heading = "{question_id}: {wrong} wrong, {right} right, one of {questions:,}"
    groups = [RowGroup(e["rows"], heading.format(**e)) for e in comparison.examples]
    columns = [Column("example"), Column("text"), Column("outcome")]
    note = f"drawn by their ids, seed {comparison.resampling.seed}"
    facts = comparison_facts(comparison, "example")
    return Table("examples of questions", columns, groups, [note], facts=facts)
