"""The feature-ranker solver: a trained log-linear ranker over matching features."""

from __future__ import annotations

from classic_rc.solvers.feature_ranker.solver import FeatureRanker

__all__ = ["FeatureRanker"]
