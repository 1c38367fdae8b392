"""The span solvers: logistic regression and the sliding window of Rajpurkar et al. 2016."""

from __future__ import annotations

from classic_rc.solvers.spans.logistic_regression import SpanLR
from classic_rc.solvers.spans.sliding_window import SpanSlidingWindow

__all__ = ["SpanLR", "SpanSlidingWindow"]
