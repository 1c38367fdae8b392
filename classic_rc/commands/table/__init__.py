"""``table``: one table for a paper from saved runs, its figure, methods and release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.commands.table.figure import forest_figure
    from classic_rc.commands.table.formats import as_table, table_csv, table_latex
    from classic_rc.commands.table.methods import methods_text
    from classic_rc.commands.table.model import PaperTable
    from classic_rc.commands.table.paper import make_paper_table, read_paper_records

__all__ = [
    "PaperTable",
    "as_table",
    "forest_figure",
    "make_paper_table",
    "methods_text",
    "read_paper_records",
    "table_csv",
    "table_latex",
]

__getattr__, __dir__ = names_on_use(__name__)
