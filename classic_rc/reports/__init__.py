"""Reports: the tables of results and audits, explanations, one-page HTML, published figures and BibTeX.

Each name loads on first use, so that printing a table does not import what an HTML page needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from classic_rc.reports.checks import check_tables
    from classic_rc.reports.datasheet import Datasheet, render_datasheet
    from classic_rc.reports.explanations import explanation_html, explanation_markdown, explanation_text
    from classic_rc.reports.methods import methods_text
    from classic_rc.reports.page import PageContent, page_html
    from classic_rc.reports.paper import make_paper_table, read_paper_records
    from classic_rc.reports.paper_formats import as_table, table_csv, table_latex
    from classic_rc.reports.paper_table import PaperTable
    from classic_rc.reports.published import results_table
    from classic_rc.reports.references import bibliography
    from classic_rc.reports.reproduction import reproduce, reproduction_table
    from classic_rc.reports.result_tables import (
        breakdown_tables,
        comparison_tables,
        duplicates_table,
        perturbation_table,
        perturbations_csv,
        scores_without_table,
    )

_HOMES = {
    "checks": ("check_tables",),
    "datasheet": ("Datasheet", "render_datasheet"),
    "explanations": ("explanation_html", "explanation_markdown", "explanation_text"),
    "methods": ("methods_text",),
    "page": ("PageContent", "page_html"),
    "paper": ("make_paper_table", "read_paper_records"),
    "paper_formats": ("as_table", "table_csv", "table_latex"),
    "paper_table": ("PaperTable",),
    "published": ("results_table",),
    "references": ("bibliography",),
    "reproduction": ("reproduce", "reproduction_table"),
    "result_tables": (
        "breakdown_tables",
        "comparison_tables",
        "duplicates_table",
        "scores_without_table",
        "perturbation_table",
        "perturbations_csv",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Datasheet",
    "PageContent",
    "PaperTable",
    "as_table",
    "bibliography",
    "breakdown_tables",
    "check_tables",
    "comparison_tables",
    "duplicates_table",
    "explanation_html",
    "explanation_markdown",
    "explanation_text",
    "make_paper_table",
    "methods_text",
    "page_html",
    "perturbation_table",
    "perturbations_csv",
    "read_paper_records",
    "render_datasheet",
    "reproduce",
    "reproduction_table",
    "results_table",
    "scores_without_table",
    "table_csv",
    "table_latex",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"classic_rc.reports.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
