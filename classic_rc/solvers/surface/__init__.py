"""The surface-lr solver: logistic regression on surface features."""

from __future__ import annotations

from classic_rc.solvers.surface.solver import SurfaceLR

__all__ = ["SurfaceLR"]
