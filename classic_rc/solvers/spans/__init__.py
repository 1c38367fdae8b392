"""The span solvers: a log-linear ranker, and the sliding window of Rajpurkar et al. 2016."""

from __future__ import annotations

from classic_rc.solvers.spans.ranker import SpanRanker
from classic_rc.solvers.spans.sliding_window import SpanSlidingWindow

__all__ = ["SpanRanker", "SpanSlidingWindow"]
