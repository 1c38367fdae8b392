"""Tables and CSV records of the statistics of datasets."""

from __future__ import annotations

from typing import Any

from classic_rc.audit.statistics.measures import Measure, MeasuredValues, Statistic
from classic_rc.audit.statistics.tables import DatasetStatistics, PublishedValue, StatisticsTable
from classic_rc.tables import Column, RowGroup, Table, records_csv
from classic_rc.tables.model import EMPTY_CELL


def statistics_tables(found: DatasetStatistics) -> list[Table]:
    """Return the tables that papers print, each of our figures next to the paper's, then the common table.

    Parameters
    ----------
    found : DatasetStatistics

    Returns
    -------
    list of Table
    """
    return [_format_table(table) for table in found.tables]


def _format_table(table: StatisticsTable) -> Table:
    if not table.has_published:
        rows = [
            [row.statistic.label, *(_measure_cell(row.statistic, measure) for measure in row.measures)]
            for row in table.rows
        ]
        columns = [Column(""), *(Column(name, "count") for name in table.columns)]
        return Table(table.title, columns, [RowGroup(rows)], table.notes)
    names = [name for column in table.columns for name in (column, "paper")]
    columns = [Column(""), *(Column(name, "count") for name in names), Column("counted", "note")]
    rows = [
        [
            row.statistic.label,
            *(
                cell
                for measure, figure in zip(row.measures, row.published, strict=True)
                for cell in (_measure_cell(row.statistic, measure), _published_cell(row.statistic, figure))
            ),
            row.statistic.definition,
        ]
        for row in table.rows
    ]
    return Table(table.title, columns, [RowGroup(rows)], table.notes)


def _measure_cell(statistic: Statistic, measure: Measure | None) -> str:
    if measure is None or measure.value is None:
        return EMPTY_CELL
    if not isinstance(measure, MeasuredValues):
        return f"{measure.value:,}"
    if statistic.is_share:
        return f"{100 * measure.value:.{statistic.decimals}f}"
    return f"{measure.value:,.{statistic.decimals}f} ({measure.spread:.{statistic.decimals or 1}f})"


def _published_cell(statistic: Statistic, figure: PublishedValue | None) -> str:
    if figure is None:
        return EMPTY_CELL
    if isinstance(figure, tuple):
        return f"{figure[0]} ({figure[1]})"
    return f"{figure:,}"


def statistics_csv(found: DatasetStatistics) -> str:
    """Return a CSV record for every cell of the tables.

    Parameters
    ----------
    found : DatasetStatistics

    Returns
    -------
    str
        Values are in full precision and shares are fractions; published figures are as printed.
    """
    return records_csv(statistics_records(found))


def statistics_records(found: DatasetStatistics) -> list[dict[str, Any]]:
    """Return the records of :func:`statistics_csv`."""
    return [
        {
            "table": table.title,
            "statistic": row.statistic.label,
            "column": column,
            **(measure.to_dict() if measure else {}),
            "published": figure[0] if isinstance(figure, tuple) else figure,
            "definition": row.statistic.definition,
        }
        for table in found.tables
        for row in table.rows
        for column, measure, figure in zip(table.columns, row.measures, row.published, strict=True)
    ]
