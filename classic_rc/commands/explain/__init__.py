"""``explain``: how solvers score each candidate of one question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.commands.explain.page import explanation_html

__all__ = [
    "explanation_html",
]

__getattr__, __dir__ = names_on_use(__name__)
