"""Retrieval of sentences."""

from __future__ import annotations

from classic_rc.solvers.ir.solver import IRSolver

__all__ = ["IRSolver"]
