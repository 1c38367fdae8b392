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
from classic_rc.tables.model import IntervalStyle

_OPTIONS_ONLY = "feature-ranker:candidates"
_OUTDATED = "†"


def sort_floors(floors: Iterable[FloorDataset]) -> list[FloorDataset]:
    """Return datasets by task and language, English first."""
    return sorted(
        floors,
        key=lambda dataset: (
            dataset.task,
            dataset.language != "English",
            dataset.language,
            dataset.name,
        ),
    )


def floors_table(floors: Iterable[FloorDataset], *, is_wide: bool = False) -> Table:
    """Return the list: a row for each dataset with chance, the floor, what is trained, and what
    is published. Where it is not `is_wide`, it fits 80 columns.
    """
    kinds: dict[str, list[list[Any]]] = {}
    for dataset in sort_floors(floors):
        kinds.setdefault(f"{dataset.task}, {dataset.language}", []).append(_cells(dataset))
    intervals: IntervalStyle = "lines" if is_wide else "none"
    columns = [
        Column("dataset"),
        Column("n", "count", key="questions", hidden=not is_wide),
        Column("metric", hidden=not is_wide),
        Column("chance", "percent", 1),
        Column("floor", "percent", 1, intervals=intervals),
        Column("system", key="short_system", hidden=is_wide),
        Column("floor system", key="floor_system", hidden=not is_wide),
        Column("trained", "percent", 1, intervals=intervals),
        Column("trained system", key="trained_system", hidden=not is_wide),
        Column("folds", "percent", 1, intervals=intervals),
        Column("system in folds", key="folds_system", hidden=not is_wide),
        Column("prior", "percent", 1, hidden=not is_wide),
        Column("options only", "percent", 1, key="options_only", hidden=not is_wide),
        Column("published non-neural", "percent", 1, key="published_classical", hidden=not is_wide),
        Column("human", "percent", 1, hidden=not is_wide),
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


def _cells(dataset: FloorDataset) -> list[Any]:
    trained, folds = (dataset.trained(out_of_fold=in_folds) for in_folds in (False, True))
    options = dataset.best(row for row in dataset.rows if row.system == _OPTIONS_ONLY)
    published = [dataset.best_published(kind) for kind in ("classical", "human")]
    chance, floor = dataset.value(dataset.chance), dataset.value(dataset.floor)
    system = dataset.floor.system
    return [
        dataset.name,
        dataset.questions,
        METRIC_NAMES[dataset.metric],
        chance,
        Cell(floor, bounds(dataset.floor.intervals, dataset.metric)),
        system.replace("constant-position", "position"),
        system,
        *_learned_cells(dataset, trained),
        *_learned_cells(dataset, folds),
        _learned_cells(dataset, dataset.prior)[0],
        None if options is None else dataset.fair_value(options),
        *(None if figure is None else figure.share for figure in published),
        above(floor, chance)[0],
        dataset.fingerprint,
    ]


def _learned_cells(dataset: FloorDataset, row: FloorRow | None) -> tuple[Cell, str | None]:
    if row is None:
        return Cell(), None
    mark = _OUTDATED if row.outdated else ""
    return Cell(dataset.fair_value(row), dataset.fair_interval(row), mark), row.system
