"""The page of floors: known datasets with a bar of chance, floor, best trained and human,
sortable, in one file.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from classic_rc._version import __version__
from classic_rc.commands.floor.tables import floors_table, sort_floors
from classic_rc.results.floors import FloorDataset

_WIDTH = 120
"""The length of the bar of 100 %, in pixels."""


def floor_page(floors: Iterable[FloorDataset]) -> str:
    """Return one HTML file with the list of floors, the bars, how to cite them, and the numbers
    as JSON.
    """
    from markupsafe import Markup

    from classic_rc.reports.html import fill_template
    from classic_rc.reports.references import bibliography

    floors = sort_floors(floors)
    table = floors_table(floors, is_wide=True)
    script = (files(__package__) / "templates" / "floor.js").read_text(encoding="utf-8")
    lines = []
    for _, cells in table.lines():
        columns_and_cells = zip(table.shown, cells, strict=True)
        lines.append([(column, cell, _order(cell.value)) for column, cell in columns_and_cells])
    return fill_template(
        "floor.html",
        __package__,
        table=table,
        lines=lines,
        bars=[_bar(dataset) for dataset in floors],
        width=_WIDTH,
        floors=floors,
        bibtex=bibliography(("classic_rc",)),
        version=__version__,
        script=Markup(script),
        data={"floors": table.records()},
    )


def _order(value: Any) -> str:
    """Return what a cell is sorted by."""
    return "" if value is None else str(value if isinstance(value, str) else float(value))


def _bar(dataset: FloorDataset) -> dict[str, int | str | None]:
    """Return the places of the marks of a dataset's bar, in pixels, and a text that says the
    same.
    """
    trained, human = dataset.trained(out_of_fold=False), dataset.best_published("human")
    trained = trained or dataset.trained(out_of_fold=True)
    shares: dict[str, float | None] = {
        "chance": dataset.value(dataset.chance),
        "floor": dataset.value(dataset.floor),
        "trained": None if trained is None else dataset.fair_value(trained),
        "human": None if human is None else float(human.share),
    }
    places: dict[str, int | str | None] = dict.fromkeys(shares)
    percentages = []
    for name, share in shares.items():
        if share is not None:
            places[name] = round(_WIDTH * share)
            percentages.append(f"{name} {100 * share:.1f}")
    return {**places, "text": ", ".join(percentages)}
