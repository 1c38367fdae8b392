"""The tables of a comparison of systems."""

from __future__ import annotations

from classic_rc.evaluation.comparison import Comparison
from classic_rc.tables import Cell, Column, RowGroup, Table
from classic_rc.tables.model import format_count, format_percent


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of one dataset: systems, pairs of systems, and which questions each set of systems solves.

    The last table is left out if the comparison has no regions.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    list of Table
    """
    tables = [_system_table(comparison), difference_table(comparison)]
    return [*tables, _overlap_table(comparison)] if comparison.regions else tables


def _system_table(comparison: Comparison) -> Table:
    columns = [
        Column("system"),
        Column(comparison.metric.label, "percent", key="value"),
        Column("gain over chance", "points", key="gain"),
        Column("relative gain %", "points", 1, "relative_gain"),
        Column("signature", hidden=True),
    ]
    rows = [
        [s.name, Cell(s.value, s.interval), Cell(s.gain, s.gain_interval), s.relative_gain, s.signature]
        for s in comparison.standings
    ]
    if comparison.chance is None:
        gain = "gain over chance: unknown, because no system is `random`; to compute it, add --data DATA"
    else:
        chance = format_percent(comparison.chance)
        gain = f"chance: random scores {chance}, in expectation; relative gain: gain / chance"
    results = comparison.results
    return Table(
        results.label,
        columns,
        [RowGroup(rows)],
        [comparison.resampling.note, gain],
        f"{results.caption}: systems",
        {s.name: s.signature for s in comparison.standings},
        _facts(comparison, "system"),
    )


def _facts(comparison: Comparison, kind: str) -> dict[str, str]:
    metric = comparison.solved_by if kind == "region" else comparison.metric
    return {"dataset": comparison.results.dataset, "metric": metric.name, "kind": kind}


def difference_table(comparison: Comparison) -> Table:
    """Return the differences of a comparison's pairs, with their intervals and p-values."""
    columns = [
        *(Column("first"), Column("second"), Column("difference", "points")),
        *(Column("p", "p"), Column("p (Holm)", "p", key="p_holm")),
        *(Column(name, "count") for name in ("wins", "ties", "losses")),
        Column("exact", hidden=True),
    ]
    rows = [
        [
            *(pair.first, pair.second, Cell(pair.difference, pair.interval), pair.p, pair.p_holm),
            *(pair.wins, pair.ties, pair.losses, pair.exact),
        ]
        for pair in comparison.pairs
    ]
    notes = [
        f"null hypothesis: {comparison.null_hypothesis}",
        f"p: {_describe_test(comparison)}; Holm: adjusted for {format_count(len(rows), 'pair')}",
        "wins, ties, losses: questions that the first answers better than, as well as, and worse than the second",
        f"in brackets: {comparison.resampling.label}",
    ]
    expected = [c.name for c in comparison.results.systems if c.expected]
    if expected and comparison.test == "permutation":
        names = f"{', '.join(expected)}, in expectation"
        notes.append(f"against {names}, the null hypothesis is that differences by passage are symmetric about 0")
    if comparison.baseline is not None:
        notes.insert(1, f"only differences from {comparison.baseline} are tested")
    title = f"{comparison.metric.label}: first minus second"
    caption = f"{comparison.results.caption}: differences in {comparison.metric.label}, first minus second"
    facts = {**_facts(comparison, "pair"), "test": comparison.test}
    return Table(title, columns, [RowGroup(rows)], notes, caption, facts=facts)


def _describe_test(comparison: Comparison) -> str:
    n, seed = comparison.resampling.n, comparison.resampling.seed
    if comparison.test == "mcnemar":
        return "two-sided, McNemar's test, exact"
    exact = [pair.exact for pair in comparison.pairs]
    if all(exact):
        return "two-sided, exact: from all swaps of groups of passages"
    some = " (or all swaps, if there are fewer)" if any(exact) else ""
    return f"two-sided, from {n:,} random swaps of groups of passages{some}, seed {seed}"


def _overlap_table(comparison: Comparison) -> Table:
    names = comparison.regions[0].systems  # the first region has all systems
    columns = [
        *(Column(name, key=f"solved[{name}]") for name in names),
        *(Column("questions", "count"), Column("%", "percent", 1, "share"), Column("systems", hidden=True)),
    ]
    rows = [
        [
            *("yes" if name in region.systems else None for name in names),
            *(region.questions, region.share, " + ".join(region.systems)),
        ]
        for region in comparison.regions
    ]
    notes = [f"left out: {', '.join(comparison.left_out)}"] if comparison.left_out else []
    title = f"solved by exactly these systems ({comparison.solved_by.label} 1)"
    caption = f"{comparison.results.caption}: questions {title}"
    return Table(title, columns, [RowGroup(rows)], notes, caption, facts=_facts(comparison, "region"))
