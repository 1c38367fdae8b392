"""The alignment-ilp solver: alignment by integer programming."""

from __future__ import annotations

from classic_rc.solvers.alignment.solver import AlignmentILP

__all__ = ["AlignmentILP"]
