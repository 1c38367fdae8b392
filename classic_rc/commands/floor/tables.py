"""The floor: what systems without understanding get on known datasets, in a file that comes with
the package.

Nothing is computed and no data is read, so this module imports neither NumPy nor the datasets'
readers.
"""

from __future__ import annotations

from collections.abc import Iterable

from classic_rc.results.floors import METRIC_NAMES, FloorDataset, above, bounds
from classic_rc.tables import Cell, Column, RowGroup, Table

_OPTIONS_ONLY = "feature-ranker:candidates"


def floors_table(floors: Iterable[FloorDataset]) -> Table:
    """Return the list: a row for each dataset with chance, the floor, what is trained, and what
    is published.
    """
    rows = []
    for of in floors:
        trained, options = (
            of.trained,
            of.best(row for row in of.rows if row.system == _OPTIONS_ONLY),
        )
        classical, human = (of.best_published(kind) for kind in ("classical", "human"))
        rows.append(
            [
                of.name,
                of.questions,
                METRIC_NAMES[of.metric],
                of.value(of.chance),
                Cell(of.value(of.floor), bounds(of.floor.intervals, of.metric)),
                of.floor.system,
                Cell()
                if trained is None
                else Cell(of.value(trained), bounds(trained.intervals, of.metric)),
                None if trained is None else trained.system,
                None if options is None else of.value(options),
                *(None if figure is None else figure.share for figure in (classical, human)),
                above(of.value(of.floor), of.value(of.chance))[0],
                of.fingerprint,
            ]
        )
    columns = [
        Column("dataset"),
        Column("n", "count", key="questions"),
        Column("metric"),
        Column("chance", "percent"),
        Column("floor", "percent"),
        Column("system", key="floor_system"),
        Column("trained", "percent"),
        Column("trained system", key="trained_system"),
        Column("options only", "percent", key="options_only"),
        Column("published non-neural", "percent", key="published_classical"),
        Column("human", "percent"),
        Column("above chance", "percent", 1, "above_chance", hidden=True),
        Column("fingerprint", hidden=True),
    ]
    notes = [
        "floor: the best of the systems that learn nothing; trained: the best that learns from "
        "gold answers; options only: trained without passage and question",
        "published: the highest figure of other authors for this split, where a system has several "
        "its lowest; human: the highest figure of people",
        "classic-rc floor NAME has all systems, intervals and signatures; classic-rc floor DATA or "
        "LOG says which of these your own file is",
    ]
    return Table("The floor of known datasets", columns, [RowGroup(rows)], notes)
