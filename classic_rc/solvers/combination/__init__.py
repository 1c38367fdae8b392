"""Solvers that combine other solvers."""

from __future__ import annotations

from classic_rc.solvers.combination.composite import Composite
from classic_rc.solvers.combination.solver import Combination

__all__ = ["Combination", "Composite"]
