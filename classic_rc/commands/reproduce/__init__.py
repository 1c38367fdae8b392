"""``reproduce``: published scores, or those of a saved run, compared with scores computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.commands.reproduce.reproduction import reproduce

__all__ = [
    "reproduce",
]

__getattr__, __dir__ = names_on_use(__name__)
