"""The floor: what systems without understanding get on known datasets, in a file that comes with
the package.

Nothing is computed and no data is read, so this module imports neither NumPy nor the datasets'
readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from classic_rc.results.floors import METRIC_NAMES, FloorDataset, FloorRow, above, bounds
from classic_rc.tables import Cell, Column, RowGroup, Table

_OPTIONS_ONLY = "feature-ranker:candidates"
_OUTDATED = "†"


def sort_floors(floors: Iterable[FloorDataset]) -> list[FloorDataset]:
    """Return datasets by task and language, English first."""
    return sorted(floors, key=lambda of: (of.task, of.language != "English", of.language, of.name))


def floors_table(floors: Iterable[FloorDataset], *, wide: bool = False) -> Table:
    """Return the list: a row for each dataset with chance, the floor, what is trained, and what
    is published. Where it is not `wide`, it fits 80 columns.
    """
    kinds: dict[str, list[list[Any]]] = {}
    for of in sort_floors(floors):
        kinds.setdefault(f"{of.task}, {of.language}", []).append(_cells(of))
    columns = [
        Column("dataset"),
        Column("n", "count", key="questions", hidden=not wide),
        Column("metric", hidden=not wide),
        Column("chance", "percent", 1),
        Column("floor", "percent", 1, intervals="lines" if wide else "none"),
        Column("system", key="short_system", hidden=wide),
        Column("floor system", key="floor_system", hidden=not wide),
        Column("trained", "percent", 1, intervals="lines" if wide else "none"),
        Column("trained system", key="trained_system", hidden=not wide),
        Column("folds", "percent", 1, intervals="lines" if wide else "none"),
        Column("system in folds", key="folds_system", hidden=not wide),
        Column("prior", "percent", 1, hidden=not wide),
        Column("options only", "percent", 1, key="options_only", hidden=not wide),
        Column("published non-neural", "percent", 1, key="published_classical", hidden=not wide),
        Column("human", "percent", 1, hidden=not wide),
        Column("above chance", "percent", 1, "above_chance", hidden=True),
        Column("fingerprint", hidden=True),
    ]
    notes = [
        "floor: the best of the systems that learn nothing, chosen on the development split if "
        "there is one; trained: the best that learned from training data; folds: the best out of "
        "fold. Both are without the questions that are copied from what was learned",
        f"{_OUTDATED} made with an earlier version, and copies were not counted",
        "classic-rc floor NAME has all systems, intervals, published figures and signatures; "
        "classic-rc floor DATA or LOG says which of these your own file is",
    ]
    groups = [RowGroup(rows, kind) for kind, rows in kinds.items()]
    return Table("The floor of known datasets", columns, groups, notes)


def _cells(of: FloorDataset) -> list[Any]:
    trained, folds = (of.trained(out_of_fold=in_folds) for in_folds in (False, True))
    options = of.best(row for row in of.rows if row.system == _OPTIONS_ONLY)
    classical, human = (of.best_published(kind) for kind in ("classical", "human"))
    return [
        of.name,
        of.questions,
        METRIC_NAMES[of.metric],
        of.value(of.chance),
        Cell(of.value(of.floor), bounds(of.floor.intervals, of.metric)),
        of.floor.system.replace("constant-position", "position"),
        of.floor.system,
        *_learned_cells(of, trained),
        *_learned_cells(of, folds),
        _learned_cells(of, of.prior)[0],
        None if options is None else of.fair_value(options),
        *(None if figure is None else figure.share for figure in (classical, human)),
        above(of.value(of.floor), of.value(of.chance))[0],
        of.fingerprint,
    ]


def _learned_cells(of: FloorDataset, row: FloorRow | None) -> tuple[Cell, str | None]:
    if row is None:
        return Cell(), None
    mark = _OUTDATED if row.outdated else ""
    return Cell(of.fair_value(row), of.fair_interval(row), mark), row.system
