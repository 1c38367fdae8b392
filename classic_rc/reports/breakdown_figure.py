"""Bar charts of breakdowns: a panel a key, a bar for every system in every group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from classic_rc.errors import UsageError
from classic_rc.evaluation.breakdown import Breakdown, Group
from classic_rc.evaluation.derived import FEW_QUESTIONS
from classic_rc.io.printable import printable
from classic_rc.reports.figures import COLOURS, styled_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDTH = 5.0
_BAR, _GAP, _AXIS = 0.14, 0.12, 0.55
"""Inches: the height of a bar, the room between two groups, and what an axis with its label takes."""
_NAME_LETTERS = 40
_PALE = 0.3
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo", "||||", "****", "OOOO")


def breakdown_figure(breakdowns: Sequence[Breakdown]) -> Figure:
    """Bars of the metric with their intervals, group by group; without systems, of the questions' shares.

    Bars of groups of few questions are pale.

    Parameters
    ----------
    breakdowns : sequence of Breakdown
        Of the same systems and metric.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UsageError
        There is nothing to draw.
    MissingPackageError
        Matplotlib is not installed.
    """
    if not breakdowns:
        raise UsageError("there is no breakdown to draw")
    systems = breakdowns[0].systems
    n_bars = max(len(systems), 1)
    heights = [_AXIS + (len(b.groups) + 1) * (n_bars * _BAR + _GAP) for b in breakdowns]
    legend_height = 0.17 * len(systems) + 0.1 if len(systems) > 1 else 0
    with styled_figure(_WIDTH, sum(heights) + legend_height) as (figure, axes):
        axes.remove()
        panels = figure.subplots(len(breakdowns), squeeze=False, height_ratios=heights)[:, 0]
        for panel, breakdown in zip(panels, breakdowns, strict=True):
            _draw(breakdown, panel)
        if len(systems) > 1:
            patches = [axes.barh(0, 0, **_look(i))[0] for i in range(len(systems))]
            legend = figure.legend(patches, ["?"] * len(systems), loc="outside lower center", frameon=False)
            for text, name in zip(legend.get_texts(), systems, strict=True):
                text.set(text=printable(name), parse_math=False)  # a name is no mathematics
    return figure


def _look(i: int) -> dict[str, Any]:
    """A colour, and behind the last of them a hatch."""
    hatch = _HATCHES[i // len(COLOURS) % len(_HATCHES)]
    return {"color": COLOURS[i % len(COLOURS)], "hatch": hatch, "edgecolor": "white", "linewidth": 0}


def _draw(breakdown: Breakdown, axes: Axes) -> None:
    groups = (breakdown.total, *breakdown.groups)
    systems = breakdown.systems
    n_bars = max(len(systems), 1)
    step = n_bars * _BAR + _GAP
    middles = np.arange(len(groups)) * step
    for i in range(n_bars):
        places = middles + (i - (n_bars - 1) / 2) * _BAR
        for place, group in zip(places, groups, strict=True):
            _draw_bar(axes, float(place), breakdown, group, i)
    axes.set_yticks(middles, [_name(group) for group in groups], parse_math=False)
    for text, group in zip(axes.get_yticklabels(), groups, strict=True):
        text.set_color("0.55" if group.is_small else "black")
    axes.set_ylim(middles[-1] + step / 2, middles[0] - step / 2)
    axes.axhline(step / 2, color="0.7", linewidth=0.6)
    label = f"{breakdown.metric.label} (%)" if systems else "% of the questions"
    axes.set(xlim=(0, 100), xlabel=label)
    small = f" (pale: n < {FEW_QUESTIONS})" if any(group.is_small for group in groups) else ""
    title = f"{breakdown.contest.dataset} by {breakdown.grouping.key}{small}"
    axes.set_title(printable(title), loc="left", fontsize="medium", parse_math=False)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_bar(axes: Axes, place: float, breakdown: Breakdown, group: Group, i: int) -> None:
    pale = _PALE if group.is_small else 1.0
    if not breakdown.systems:
        share = group.questions / max(breakdown.total.questions, 1)
        axes.barh(place, 100 * share, _BAR, alpha=pale, **_look(0))
        return
    cell = group.cells[i]
    if not group.questions:
        return
    axes.barh(place, 100 * cell.value, _BAR, alpha=pale, **_look(i))
    if cell.interval is not None:
        low, high = (100 * bound for bound in cell.interval)
        axes.plot([low, high], [place, place], color="black", linewidth=0.6, alpha=max(pale, 0.5))


def _name(group: Group) -> str:
    name = printable(group.name)
    short = name if len(name) <= _NAME_LETTERS else name[: _NAME_LETTERS - 1] + "…"
    return f"{short} ({group.questions:,})"
