"""Tables and CSV records of a comparison of systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from classic_rc.display import EMPTY_CELL, Table, format_percent
from classic_rc.evaluation.comparison import Comparison
from classic_rc.reports.tables import (
    format_bounds,
    format_p_value,
    format_points,
    records_csv,
)


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


def comparison_csv(comparisons: Sequence[Comparison]) -> str:
    """Return comparisons as CSV, with records of three kinds: system, pair and region.

    Parameters
    ----------
    comparisons : sequence of Comparison

    Returns
    -------
    str
        Metrics, differences and shares are fractions in full precision.
    """
    return records_csv([record for comparison in comparisons for record in _flat_records(comparison)])


def _system_table(comparison: Comparison) -> Table:
    interval = comparison.resampling.label
    header = ["system", comparison.metric.label, "gain over chance", interval, "relative gain"]
    rows = [
        [
            s.name,
            format_percent(s.value, interval=s.interval),
            format_points(s.gain),
            format_bounds(s.gain_interval),
            EMPTY_CELL if s.relative_gain is None else f"{100 * s.relative_gain:+.1f} %",
        ]
        for s in comparison.standings
    ]
    if comparison.chance is None:
        gain = "gain over chance: unknown, because no system is `random`; to compute it, add --data DATA"
    else:
        chance = format_percent(comparison.chance)
        gain = f"chance: random scores {chance}, in expectation; relative gain: gain / chance"
    signatures = [f"{s.name} = {s.signature}" for s in comparison.standings]
    notes = [comparison.resampling.note, gain, "Signatures", *signatures]
    results = comparison.results
    return Table(results.label, header, rows, frozenset({0}), notes, caption=f"{results.caption}: systems")


def difference_table(comparison: Comparison) -> Table:
    """Return the differences of a comparison's pairs, with their intervals and p-values."""
    header = [
        *("first", "second", "difference", comparison.resampling.label),
        *("p", "p (Holm)", "wins", "ties", "losses"),
    ]
    rows = [
        [
            pair.first,
            pair.second,
            format_points(pair.difference),
            format_bounds(pair.interval),
            format_p_value(pair.p),
            format_p_value(pair.p_holm),
            *(f"{count:,}" for count in (pair.wins, pair.ties, pair.losses)),
        ]
        for pair in comparison.pairs
    ]
    notes = [
        f"null hypothesis: {comparison.null_hypothesis}",
        f"p: {_describe_test(comparison)}; Holm: adjusted for {_count(len(rows), 'pair')}",
        "wins, ties, losses: questions that the first answers better than, as well as, and worse than the second",
    ]
    expected = [c.name for c in comparison.results.systems if c.expected]
    if expected and comparison.test == "permutation":
        names = f"{', '.join(expected)}, in expectation"
        notes.append(f"against {names}, the null hypothesis is that differences by passage are symmetric about 0")
    if comparison.baseline is not None:
        notes.insert(1, f"only differences from {comparison.baseline} are tested")
    title = f"{comparison.metric.label}: first minus second"
    caption = f"{comparison.results.caption}: differences in {comparison.metric.label}, first minus second"
    return Table(title, header, rows, frozenset({0, 1}), notes, caption=caption)


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
    rows = [
        [
            *("yes" if name in region.systems else EMPTY_CELL for name in names),
            f"{region.questions:,}",
            format_percent(region.share, 1),
        ]
        for region in comparison.regions
    ]
    notes = [f"left out: {', '.join(comparison.left_out)}"] if comparison.left_out else []
    title = f"solved by exactly these systems ({comparison.solved_by.label} 1)"
    caption = f"{comparison.results.caption}: questions {title}"
    return Table(title, [*names, "questions", "%"], rows, frozenset(range(len(names))), notes, caption=caption)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("s" if n > 1 else "")


def _flat_records(comparison: Comparison) -> list[dict[str, Any]]:
    plain = comparison.to_dict()
    shared = {"dataset": comparison.results.dataset, "metric": comparison.metric.name}
    records: list[dict[str, Any]] = [
        *({**shared, "kind": "system", **system} for system in plain["systems"]),
        *({**shared, "kind": "pair", "test": comparison.test, **pair} for pair in plain["pairs"]),
        *(
            {**shared, "kind": "region", "metric": comparison.solved_by.name, **region}
            for region in plain["overlap"]["regions"]
        ),
    ]
    return [_flatten(record) for record in records]


def _flatten(record: dict[str, Any]) -> dict[str, Any]:
    """Split each interval into two columns (low, high), and join lists of names into one text."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if key.endswith("interval"):
            low, high = value or (None, None)
            stem = key.removesuffix("interval")
            flat |= {f"{stem}low": low, f"{stem}high": high}
        else:
            flat[key] = " + ".join(value) if isinstance(value, list) else value
    return flat
