"""``report``: one page about a dataset, or its datasheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.commands.report.datasheet import Datasheet, render_datasheet
    from classic_rc.commands.report.page import PageContent, page_html

__all__ = [
    "Datasheet",
    "PageContent",
    "page_html",
    "render_datasheet",
]

__getattr__, __dir__ = names_on_use(__name__)
