"""Columns of a paper's table that say how far a system is above chance, or above the floor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from classic_rc.errors import UsageError
from classic_rc.evaluation.outcomes import Block, Row
from classic_rc.reports.floor import CHANCE, above, find_by_fingerprint
from classic_rc.reports.paper_data import PaperDataset
from classic_rc.reports.paper_table import PaperCell, PaperColumn, PaperTable

BASES = ("chance", "floor")
"""What values can be measured from: random choice, or the best system that learns nothing."""


def add_above(table: PaperTable, base: str) -> PaperTable:
    """Return a table with the column (value - base) / (1 - base) after the primary metric of each dataset.

    The base, ``"chance"`` or ``"floor"``, is that of the record: its row of random choice, or the best of its rows
    that learn nothing. Without such a row it is the one that comes with the package for data of the same content; a
    UsageError if that has none.
    """
    columns: list[PaperColumn] = []
    cells: list[list[PaperCell]] = [[] for _ in table.rows]
    notes = []
    datasets = {dataset.label: dataset for dataset in table.datasets}
    for j, column in enumerate(table.columns):
        columns.append(column)
        for row, kept in zip(table.rows, cells, strict=True):
            kept.append(row.cells[j])
        dataset = datasets[column.dataset]
        if column.metric != dataset.primary or column.group is not None:
            continue
        share, source = _find_base(dataset, base)
        notes.append(f"{dataset.label}: above {base}: (value - b) / (1 - b), b = {100 * share:.2f} ({source})")
        names = frozenset({*column.names, f"above {base}"})
        columns.append(replace(column, group_label=f"above {base}", is_tested=False, names=names, above=base))
        for row, kept in zip(table.rows, cells, strict=True):
            value = row.cells[j].value
            distance = None if value is None else above(value, share)[0]
            kept.append(PaperCell(distance, is_best=row.cells[j].is_best, reason=row.cells[j].reason))
    rows = tuple(replace(row, cells=tuple(kept)) for row, kept in zip(table.rows, cells, strict=True))
    return replace(table, columns=tuple(columns), rows=rows, notes=(*table.notes, *notes))


def _find_base(dataset: PaperDataset, base: str) -> tuple[float, str]:
    """Return the share that a base is, and the system and the place that it is from."""
    metric = dataset.primary
    recorded = [(metric.aggregate(s.statistics[metric.name]), s.name) for s in _systems(dataset, base)]
    if recorded:
        share, name = max(recorded)
        return share, f"{name} of the record"
    known = find_by_fingerprint(dataset.results.fingerprint)
    if known is None or known.metric != metric.name:
        need = CHANCE if base == "chance" else "a system that learns nothing, such as sw+d"
        raise UsageError(
            f"{dataset.label}: neither the record nor the package has its {base}: run it with {need} too",
            field="--above",
            found=base,
            expected=f"a record with {need}",
        )
    row = known.chance if base == "chance" else known.floor
    return known.value(row), f"{row.system}, as `classic-rc floor {known.name}` has it"


def _systems(dataset: PaperDataset, base: str) -> Iterator[Row]:
    """Yield the systems of a dataset whose best value is the base; a floor needs another one than random choice."""
    untrained = [s for s in dataset.results.systems if s.block is Block.UNTRAINED and not s.tuned_here]
    is_floor = base == "floor" and any(system.solver != CHANCE for system in untrained)
    return (system for system in untrained if is_floor or (base == "chance" and system.solver == CHANCE))
