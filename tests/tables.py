"""Tables as texts, to compare with."""

from __future__ import annotations

from classic_rc.tables import Table


def header(table: Table) -> list[str]:
    """The names of the columns that people see."""
    return [column.heading for column in table.shown]


def texts(table: Table) -> list[list[str]]:
    """What every cell that people see shows."""
    return [
        [column.text(cell) for column, cell in zip(table.shown, cells, strict=True)]
        for _, cells in table.lines()
    ]


def headings(table: Table) -> dict[int, str]:
    """The headings by the number of the row below."""
    return {i: heading for i, (heading, _) in enumerate(table.lines()) if heading is not None}
