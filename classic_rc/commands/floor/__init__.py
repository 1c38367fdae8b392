"""``floor``: what systems without understanding get on known datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.commands.floor.page import floor_page
    from classic_rc.commands.floor.tables import floors_table
    from classic_rc.commands.floor.verify import verify_rows

__all__ = [
    "floor_page",
    "floors_table",
    "verify_rows",
]

__getattr__, __dir__ = names_on_use(__name__)
