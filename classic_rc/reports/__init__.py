"""Reports: what several commands show: tables of results, explanations, HTML, figures and BibTeX.

Each name loads on first use, so that printing a table does not import what an HTML page needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.reports.explanations import explanation_text
    from classic_rc.reports.references import bibliography
    from classic_rc.reports.result_tables import breakdown_tables

__all__ = [
    "bibliography",
    "breakdown_tables",
    "explanation_text",
]

__getattr__, __dir__ = names_on_use(__name__)
