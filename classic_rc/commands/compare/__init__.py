"""``compare``: paired differences of systems, and which questions each solves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.commands.compare.tables import comparison_tables

__all__ = [
    "comparison_tables",
]

__getattr__, __dir__ = names_on_use(__name__)
