"""Statistics of datasets: a common table for any data, and each paper's own table."""

from __future__ import annotations

from classic_rc.audit.statistics.tables import DatasetStatistics, StatisticsRow, StatisticsTable, describe_datasets

__all__ = ["DatasetStatistics", "StatisticsRow", "StatisticsTable", "describe_datasets"]
