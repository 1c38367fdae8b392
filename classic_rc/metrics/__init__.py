"""The datasets' official metrics, each a small value with a name, a sentence and a citation."""

from classic_rc.metrics.base import Metric, ScoreMetric
from classic_rc.metrics.registry import (
    METRICS,
    SELECTION_METRICS,
    get_metric,
    metrics_for,
    primary_metric,
    selection_metric,
)

__all__ = [
    "METRICS",
    "SELECTION_METRICS",
    "Metric",
    "ScoreMetric",
    "get_metric",
    "metrics_for",
    "primary_metric",
    "selection_metric",
]
