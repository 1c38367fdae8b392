"""Tables of results: one class, and the formats that write it: plain text, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from classic_rc.errors import UsageError
from classic_rc.plugins import Registry
from classic_rc.tables.latex import render_latex
from classic_rc.tables.markup import render_html, render_markdown
from classic_rc.tables.model import Cell, Column, RowGroup, Table
from classic_rc.tables.records import records_csv
from classic_rc.tables.text import render_text

__all__ = ["TABLE_FORMATS", "Cell", "Column", "RowGroup", "Table", "records_csv", "render"]

TableFormat = Callable[[Sequence[Table], bool], str]
"""Writes tables as one text; the flag says whether plain text shows signatures."""


def _each(render_one: Callable[[Table], str]) -> TableFormat:
    return lambda tables, signatures: "\n".join(map(render_one, tables))


def _accept(name: str, offered: Any) -> TableFormat:
    if not callable(offered):
        raise UsageError(f"the table format {name} is {offered!r}, expected a function of tables and a flag")
    return offered


TABLE_FORMATS: Registry[TableFormat] = Registry(
    "table_format",
    {
        "table": lambda tables, signatures: "\n".join(
            render_text(table, signatures=signatures) for table in tables
        ),
        "markdown": _each(render_markdown),
        "latex": _each(render_latex),
        "csv": lambda tables, signatures: records_csv([record for table in tables for record in table.records()]),
        "html": _each(render_html),
    },
    _accept,
)
"""The formats of tables by name. Another package adds one by an entry point, as for the other registries."""


def render(tables: Table | Sequence[Table], form: str, *, signatures: bool = False) -> str:
    """Return tables in a format of :data:`TABLE_FORMATS`.

    Parameters
    ----------
    tables : Table or sequence of Table
    form : str
        ``"table"`` (plain text), ``"markdown"``, ``"latex"``, ``"csv"`` or ``"html"``.
    signatures : bool
        Whether plain text shows signatures; the other formats always have them.

    Returns
    -------
    str
        Ends with a line break.

    Raises
    ------
    KeyError
        The format is unknown.
    """
    return TABLE_FORMATS[form]([tables] if isinstance(tables, Table) else tables, signatures)
