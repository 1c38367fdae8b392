"""The datasets' official metrics, each a small value with a name, a sentence and a citation."""

from classic_rc.metrics.base import (
    METRICS,
    Metric,
    ScoreMetric,
    get_metric,
    metrics_for,
    primary_metric,
)
from classic_rc.metrics.multirc import SELECTION_METRICS, selection_metric

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
