"""Tables and histograms of datasets' statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from classic_rc.audit.statistics.measures import Measure, Statistic, Values
from classic_rc.audit.statistics.tables import DatasetStatistics, Figure, StatisticsTable
from classic_rc.errors import UsageError
from classic_rc.io.printable import printable
from classic_rc.reports.figures import COLOURS, styled_figure
from classic_rc.reports.tables import Table, records_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


_NOTHING = "–"
_BINS = 40
_SHOWN = 0.995
"""The share of lengths that a histogram shows; the longest are left out, or nothing else could be seen."""
_WIDTH, _PANEL_HEIGHT = 3.3, 1.5


def statistics_tables(found: DatasetStatistics) -> list[Table]:
    """The papers' own tables, each figure beside the paper's, then the common one."""
    return [_table(table) for table in found.tables]


def _table(table: StatisticsTable) -> Table:
    if not table.has_published:
        rows = [
            [row.statistic.label, *(_cell(row.statistic, measure) for measure in row.measures)]
            for row in table.rows
        ]
        return Table(table.title, ["", *table.columns], rows, frozenset({0}), table.notes)
    header = ["", *(name for column in table.columns for name in (column, "paper")), "counted"]
    rows = [
        [
            row.statistic.label,
            *(
                cell
                for measure, figure in zip(row.measures, row.published, strict=True)
                for cell in (_cell(row.statistic, measure), _figure(row.statistic, figure))
            ),
            row.statistic.definition,
        ]
        for row in table.rows
    ]
    return Table(table.title, header, rows, frozenset({0, len(header) - 1}), table.notes)


def _cell(statistic: Statistic, measure: Measure | None) -> str:
    if measure is None or measure.value is None:
        return _NOTHING
    if not isinstance(measure, Values):
        return f"{measure.value:,}"
    if statistic.is_share:
        return f"{100 * measure.value:.{statistic.decimals}f}"
    return f"{measure.value:,.{statistic.decimals}f} ({measure.spread:.{statistic.decimals or 1}f})"


def _figure(statistic: Statistic, figure: Figure | None) -> str:
    if figure is None:
        return _NOTHING
    if isinstance(figure, tuple):
        return f"{figure[0]} ({figure[1]})"
    return f"{figure:,}"


def statistics_csv(found: DatasetStatistics) -> str:
    """A record for every cell, in full precision; shares are fractions, published figures as printed."""
    return records_csv(
        [
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
    )


def histogram_figure(found: DatasetStatistics) -> Drawing:
    """How long passages, questions and candidates are, a panel each; of several datasets an outline each.

    A height is the share of the texts that are so long. The longest 0.5 % are left out.

    Raises
    ------
    UsageError
        There is no text.
    MissingPackageError
        Matplotlib is not installed.
    """
    names = list(found.lengths)
    lengths = {kind: [found.lengths[name][kind] for name in names] for kind in ("passage", "question", "candidate")}
    kinds = [kind for kind, values in lengths.items() if any(len(v.numbers) for v in values)]
    if not kinds:
        raise UsageError("there is no text to draw the lengths of")
    with styled_figure(_WIDTH, _PANEL_HEIGHT * len(kinds) + 0.16 * len(names)) as (figure, axes):
        axes.remove()
        for panel, kind in zip(figure.subplots(len(kinds), squeeze=False)[:, 0], kinds, strict=True):
            edges = _edges(lengths[kind])
            for i, values in enumerate(lengths[kind]):
                if len(values.numbers):
                    heights = 100 * np.histogram(values.numbers, edges)[0] / len(values.numbers)
                    panel.stairs(heights, edges, color=COLOURS[i % len(COLOURS)], fill=len(names) == 1)
            panel.xaxis.get_major_locator().set_params(integer=True)
            panel.set(xlabel=f"tokens a {kind}", ylabel="%", xlim=(edges[0], edges[-1]))
        if len(names) > 1:
            lines = [axes.plot([], [], color=COLOURS[i % len(COLOURS)])[0] for i in range(len(names))]
            legend = figure.legend(lines, ["?"] * len(names), loc="outside lower center", frameon=False)
            for text, name in zip(legend.get_texts(), names, strict=True):
                text.set(text=printable(name), parse_math=False)  # a name is no mathematics
    return figure


def _edges(lengths: list[Values]) -> np.ndarray:
    """Borders of bars between whole numbers, as many numbers to each bar."""
    most = max(float(np.quantile(values.numbers, _SHOWN)) for values in lengths if len(values.numbers))
    step = max(1, int(np.ceil((most + 1) / _BINS)))
    return np.arange(0, most + 1 + step, step) - 0.5
