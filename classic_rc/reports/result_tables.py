"""Tables of results: breakdowns, comparisons, perturbed copies, and duplicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classic_rc.results.breakdown import Breakdown, CrossTabulation
from classic_rc.results.comparison import Comparison
from classic_rc.results.grouping import WITHOUT_COPIES
from classic_rc.results.resampling import MIN_RELIABLE_GROUPS, is_mean
from classic_rc.results.result_table import (
    COPIES_NOTE,
    DEFINING_NOTE,
    SMALL_NOTE,
    copies_notes,
    dataset_title,
)
from classic_rc.tables import Cell, Column, RowGroup, Table
from classic_rc.tables.model import Value, format_count

if TYPE_CHECKING:
    from classic_rc.running.perturbed import PerturbedEvaluation, PerturbedScore


# --------------------------------------------------------------------------------------------------
# Breakdowns.


def breakdown_tables(breakdowns: Sequence[Breakdown]) -> list[Table]:
    """Return one table per breakdown: the total, then one row per group.

    A row has the number of questions, its share in percent, and the metric of every system. Small
    groups are faint. The signatures are the same for all tables and are below the last one.

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
    for breakdown in breakdowns[-1:]:
        signatures = {row.name: row.short_signature for row in breakdown.results.systems}
        tables[-1] = replace(tables[-1], signatures=signatures)
    return tables


def breakdown_table(breakdown: Breakdown) -> Table:
    """Return the table of one breakdown as :func:`breakdown_tables` makes it, without the
    signatures.
    """
    grouping, results, groups = breakdown.grouping, breakdown.results, breakdown.lines
    n, numbers = breakdown.total.questions, [cell for group in groups for cell in group.cells]
    columns = [
        Column(grouping.key, key="group"),
        Column("n", "count", key="questions"),
        Column("%", "percent", 1, "share"),
    ]
    columns += [Column(name, "percent") for name in breakdown.systems]
    columns += [Column(name, hidden=True) for name in ("passages", "small")]
    columns += [Column(f"signature[{name}]", hidden=True) for name in breakdown.systems]
    rows: list[list[Cell | Value]] = []
    for group in groups:
        small = group.is_small
        sizes = (group.questions, group.questions / n if n else None)
        row: list[Cell | Value] = [group.name, *(Cell(size, faint=small) for size in sizes)]
        for number in group.cells:
            row.append(Cell(number.value, number.interval, number.mark, faint=small))
        row += [group.passages, small, *(system.short_signature for system in results.systems)]
        rows.append(row)
    notes = [grouping.coverage]
    if grouping.overlapping:
        notes.append("groups overlap: a question can be in several")
    if any(cell.interval for cell in numbers):
        notes.append(_interval_note(breakdown))
    if results.tests is not None:
        notes.append(results.tests.note)
    if any(cell.defines_group for cell in numbers):
        notes.append(DEFINING_NOTE)
    if any(group.is_small for group in groups):
        notes.append(SMALL_NOTE)
    by = f"by {grouping.key}" + (f": {breakdown.metric.label}" if results.systems else "")
    title = f"{results.label} {by}"
    caption = f"{results.caption} {by.removesuffix('.')}. {'; '.join(notes)}."
    facts = {"dataset": results.dataset, "key": grouping.key, "metric": breakdown.metric.name}
    return Table(title, columns, [RowGroup(rows)], notes, caption, facts=facts)


def _interval_note(breakdown: Breakdown) -> str:
    resampling = breakdown.results.resampling
    assert resampling is not None
    note = f"{resampling.label}: {resampling.rule(f'the {resampling.units} of each group')}"
    few = any(0 < group.passages < MIN_RELIABLE_GROUPS for group in breakdown.groups)
    if is_mean(breakdown.metric) or not few:
        return note
    return f"{note}; likely too narrow if there are fewer than {MIN_RELIABLE_GROUPS}"


def cross_table(cross: CrossTabulation) -> Table:
    """Return the table with the number of questions that are in both a row's group and a
    column's group.
    """
    counts_by_row = zip(cross.rows.masks, cross.counts.tolist(), strict=True)
    rows = [[name, *counts] for name, counts in counts_by_row]
    keys = f"{cross.rows.key} / {cross.columns.key}"
    columns = [Column(keys, key="group"), *(Column(name, "count") for name in cross.columns.masks)]
    facts = {"key": cross.rows.key, "cross_key": cross.columns.key}
    return Table(f"questions by {keys}", columns, [RowGroup(rows)], facts=facts)


# --------------------------------------------------------------------------------------------------
# Comparisons.


def comparison_facts(comparison: Comparison, kind: str) -> dict[str, str]:
    """Return the facts that every record of a comparison has."""
    metric = comparison.solved_by if kind in ("region", "example") else comparison.metric
    return {"dataset": comparison.results.dataset, "metric": metric.name, "kind": kind}


def difference_table(comparison: Comparison) -> Table:
    """Return the differences of a comparison's pairs, with their intervals and p-values."""
    columns = [
        Column("first"),
        Column("second"),
        Column("difference", "points"),
        Column("p", "p"),
        Column("p (Holm)", "p", key="p_holm"),
        Column("wins", "count"),
        Column("ties", "count"),
        Column("losses", "count"),
        Column("exact", hidden=True),
    ]
    rows = []
    for pair in comparison.pairs:
        difference = Cell(pair.difference, pair.interval)
        outcomes = pair.wins, pair.ties, pair.losses
        row = [pair.first, pair.second, difference, pair.p, pair.p_holm, *outcomes, pair.exact]
        rows.append(row)
    n_tested = sum(pair.p is not None for pair in comparison.pairs)
    notes = [
        f"null hypothesis: {comparison.null_hypothesis}",
        f"p: {_describe_test(comparison)}; Holm: adjusted for {format_count(n_tested, 'pair')}",
        "wins, ties, losses: questions that the first answers better than, as well as, and worse "
        "than the second",
        f"in brackets: {comparison.resampling.label}",
    ]
    notes += copies_notes(comparison.results.systems)
    expected = [c.name for c in comparison.results.systems if c.expected]
    if expected and comparison.test == "permutation":
        names = f"{', '.join(expected)}, in expectation"
        notes.append(
            f"against {names}, the null hypothesis is that differences by passage are symmetric "
            "about 0"
        )
    if comparison.baseline is not None:
        notes.insert(1, f"only differences from {comparison.baseline} are tested")
    title = f"{comparison.metric.label}: first minus second"
    caption = (
        f"{comparison.results.caption}: differences in {comparison.metric.label}, first minus "
        "second"
    )
    facts = {**comparison_facts(comparison, "pair"), "test": comparison.test}
    return Table(title, columns, [RowGroup(rows)], notes, caption, facts=facts)


def _describe_test(comparison: Comparison) -> str:
    n, seed = comparison.resampling.n, comparison.resampling.seed
    if comparison.test == "mcnemar":
        return "two-sided, McNemar's test, exact"
    exact = [pair.exact for pair in comparison.pairs if pair.exact is not None]
    if all(exact):
        return "two-sided, exact: from all swaps of groups of passages"
    some = " (or all swaps, if there are fewer)" if any(exact) else ""
    return f"two-sided, from {n:,} random swaps of groups of passages{some}, seed {seed}"


# --------------------------------------------------------------------------------------------------
# Perturbed copies.


def perturbation_table(evaluation: PerturbedEvaluation) -> Table:
    """Return the table: for each system a block with its score on the original, then on each
    copy.
    """
    dataset = evaluation.dataset
    assert dataset.task is not None
    columns = [
        Column("copy"),
        Column(evaluation.metric.label, "percent"),
        Column("by seed", "percent", 1),
        Column("difference", "points"),
    ]
    if dataset.task.has_spans:
        columns.append(Column("unanswerable", "percent", 1))
    blocks = []
    for original in evaluation.originals:
        learned = [f"learned from {original.trained_on}"] if original.trained_on else []
        learned += [f"tuned on {original.tuned_on}"] if original.tuned_on else []
        score_cell = Cell(original.score, original.interval)
        rows: list[list[Cell | Value]] = [["original", score_cell, None, None, None]]
        for score in evaluation.scores:
            if score.system == original.system:
                rows.append(_score_cells(score))
        block = [row[: len(columns)] for row in rows]
        blocks.append(RowGroup(block, "; ".join([original.system, *learned])))
    return Table(f"{dataset_title(dataset)} · perturbed", columns, blocks, list(_notes(evaluation)))


def _score_cells(score: PerturbedScore) -> list[Cell | Value]:
    spread = None
    if len(score.by_seed) > 1:
        low, high = min(score.by_seed), max(score.by_seed)
        spread = f"{100 * low:.1f}-{100 * high:.1f}"
    difference = Cell(score.difference, score.interval)
    return [score.perturbation, score.score, spread, difference, score.unanswerable]


def _notes(evaluation: PerturbedEvaluation) -> Iterator[str]:
    first, *others = evaluation.seeds
    drawn = f"seeds {first} to {others[-1]}" if others else f"seed {first}"
    yield f"copies that draw: the mean over {drawn}; difference: copy - original, in points, paired"
    yield (
        "learners are trained and tuned on original data; what is learned without gold (counts, "
        "indexes) is learned from the copy"
    )
    if any(original.tuned_on for original in evaluation.originals):
        yield (
            "tuned thresholds are the original's: a copy that lowers all scores selects fewer "
            "candidates"
        )
    if any(original.system.endswith(WITHOUT_COPIES) for original in evaluation.originals):
        yield COPIES_NOTE
    yield "function words: the list nltk, interrogatives, and contractions of both"
    yield evaluation.resampling.note + "; intervals are not adjusted for their number"
    for name, reason in evaluation.left_out.items():
        yield f"not made: {name}: {reason}"
    for name, error in evaluation.errors.items():
        yield f"not measured: {name}: {error}"
