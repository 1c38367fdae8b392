"""The forest of a paper's table: every system with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from classic_rc.errors import UsageError
from classic_rc.io.text import printable
from classic_rc.reports.figures import COLUMN_WIDTH, add_legend, require_matplotlib, styled_figure
from classic_rc.results.outcomes import Block
from classic_rc.results.resampling import ALPHA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from classic_rc.commands.table.model import PaperRow, PaperTable


_FOREST_ROW, _FOREST_TITLE, _FOREST_AXIS = 0.1, 0.16, 0.14
_BLOCK_LOOKS: dict[Block, dict[str, Any]] = {
    Block.UNTRAINED: {"marker": "o", "markerfacecolor": "white"},
    Block.TRAINED: {"marker": "s", "markerfacecolor": "black"},
    Block.GIVEN: {"marker": "^", "markerfacecolor": "0.6"},
    Block.PUBLISHED: {"marker": "x"},
}
"""Markers, so that blocks differ in print without colours."""


def forest_figure(table: PaperTable) -> Figure:
    """Draw every system of a paper's table with its interval, one panel per dataset and group.

    A panel shows the dataset's tested metric, or else its first column. A dashed line is at the
    baseline. The figure is as wide as one column of a paper. Markers differ by block, and nothing
    depends on colour.

    Parameters
    ----------
    table : PaperTable
        From :func:`classic_rc.commands.table.make_paper_table`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UsageError
        The table has no numbers.
    MissingPackageError
        Matplotlib is not installed.

    Examples
    --------
    >>> from classic_rc import evaluate, load
    >>> from classic_rc.commands.table import forest_figure, make_paper_table
    >>> results = evaluate(load("sample:single-choice"), ["sw+d", "longest"]).results
    >>> figure = forest_figure(make_paper_table([("today", results)], intervals=100))
    """
    require_matplotlib()
    from matplotlib.lines import Line2D

    panels = []
    for label in dict.fromkeys(column.dataset for column in table.columns):
        dataset_columns = [j for j, column in enumerate(table.columns) if column.dataset == label]
        ungrouped = [j for j in dataset_columns if table.columns[j].group is None]
        tested = [j for j in ungrouped if table.columns[j].is_tested]
        panels += tested[:1] or ungrouped[:1]
        panels += [j for j in dataset_columns if table.columns[j].group is not None]
    rows: dict[int, list[PaperRow]] = {}
    for j in panels:
        rows[j] = [row for row in table.rows if row.cells[j].value is not None]
    panels = [j for j in panels if rows[j]]
    if not panels:
        raise UsageError("no numbers to draw: the table has no columns or no rows", field="table")
    heights = [_FOREST_TITLE + _FOREST_ROW * len(rows[j]) for j in panels]
    with styled_figure(COLUMN_WIDTH, sum(heights) + _FOREST_AXIS) as (figure, axes):
        axes.remove()
        drawn = figure.subplots(len(panels), sharex=True, squeeze=False, height_ratios=heights)[
            :, 0
        ]
        for panel, j in zip(drawn, panels, strict=True):
            _draw_forest(panel, table, j, rows[j])
        drawn_rows = [(row, row.cells[j]) for j in panels for row in rows[j]]
        if any(cell.test.is_significant for _, cell in drawn_rows):
            mark = f"*: differs from {table.baselines[0]}, p < {ALPHA:g}"
            drawn[-1].set_xlabel(printable(mark), parse_math=False, labelpad=1)
        present = {row.block for row, _ in drawn_rows}
        blocks = [block for block in Block if block in present]
        if len(blocks) > 1:
            dots = [
                Line2D([], [], color="black", linestyle="none", **_BLOCK_LOOKS[block])
                for block in blocks
            ]
            is_given = all(row.is_given for row in table.rows if row.block is Block.PUBLISHED)
            names = [
                "given numbers" if block is Block.PUBLISHED and is_given else str(block)
                for block in blocks
            ]
            legend = add_legend(figure, dots, names, ncols=4, handletextpad=0, columnspacing=0.8)
            figure.set_figheight(
                figure.get_figheight() + legend.get_window_extent().height / figure.dpi
            )
    return figure


def _draw_forest(axes: Axes, table: PaperTable, j: int, rows: Sequence[PaperRow]) -> None:
    column = table.columns[j]
    names = []
    for i, row in enumerate(rows):
        cell = row.cells[j]
        assert cell.value is not None
        value = 100 * cell.value
        if cell.interval is not None:
            bounds = [100 * cell.interval.low, 100 * cell.interval.high]
            axes.plot(bounds, [i, i], color="black", linewidth=0.8)
        look: dict[str, Any] = {
            "color": "black",
            "linestyle": "none",
            "markersize": 3.5,
            "markeredgewidth": 0.8,
        }
        axes.plot([value], [i], zorder=3, **look, **_BLOCK_LOOKS[row.block])
        if row.name in table.baselines and row.block is not Block.PUBLISHED:
            axes.axvline(value, color="0.6", linestyle="--", linewidth=0.6, zorder=1)
        mark = " *" if cell.test.is_significant else ""
        names.append(printable(row.name) + mark)
    axes.set_yticks(range(len(rows)), names, parse_math=False, fontsize="x-small")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=2, pad=1)
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    label = "" if column.metric.name == "accuracy" else f": {column.metric_label}"
    group = "" if column.group is None else f", {column.group_label} ({column.questions:,})"
    axes.set_title(
        printable(f"{column.dataset}{group}{label} (%)"),
        loc="left",
        fontsize="small",
        pad=2,
        parse_math=False,
    )
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
