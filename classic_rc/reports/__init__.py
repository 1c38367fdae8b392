"""Reports: the tables of results, explanations, one-page HTML, datasheets, published figures and BibTeX.

Each name loads on first use, so that printing a table does not import what an HTML page needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.reports.datasheet import Datasheet, render_datasheet
    from classic_rc.reports.explanations import explanation_html, explanation_text
    from classic_rc.reports.methods import methods_text
    from classic_rc.reports.page import PageContent, page_html
    from classic_rc.reports.paper import make_paper_table, read_paper_records
    from classic_rc.reports.paper_formats import as_table, table_csv, table_latex
    from classic_rc.reports.paper_table import PaperTable
    from classic_rc.reports.references import bibliography
    from classic_rc.reports.reproduction import reproduce
    from classic_rc.reports.result_tables import breakdown_tables, comparison_tables

__all__ = [
    "Datasheet",
    "PageContent",
    "PaperTable",
    "as_table",
    "bibliography",
    "breakdown_tables",
    "comparison_tables",
    "explanation_html",
    "explanation_text",
    "make_paper_table",
    "methods_text",
    "page_html",
    "read_paper_records",
    "render_datasheet",
    "reproduce",
    "table_csv",
    "table_latex",
]

__getattr__, __dir__ = names_on_use(__name__)
