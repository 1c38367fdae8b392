"""Cloze questions by where the query fits."""

from __future__ import annotations

from classic_rc.solvers.cloze.distance import ClozeDistance
from classic_rc.solvers.cloze.window import ClozeWindow

__all__ = ["ClozeDistance", "ClozeWindow"]
