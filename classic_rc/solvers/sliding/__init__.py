"""Sliding window and word distance."""

from __future__ import annotations

from classic_rc.solvers.sliding.matchers import SlidingWindow, SlidingWindowDistance, WordDistance

__all__ = ["SlidingWindow", "SlidingWindowDistance", "WordDistance"]
