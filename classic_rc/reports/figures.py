"""Figures for papers, drawn with matplotlib (the extra `plot`), and the points of curves as CSV."""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from classic_rc.errors import MissingPackageError, UsageError, unknown_name
from classic_rc.io.text import printable
from classic_rc.results.curves import AVERAGES, PrecisionRecallCurve
from classic_rc.results.grouping import MIN_GROUP_QUESTIONS
from classic_rc.tables import records_csv

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from classic_rc.results.breakdown import Breakdown, Group

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""The colours of Okabe and Ito, distinct with any colour vision; without yellow, which is hard
to see on white.
"""
_LINES = ("-", "--", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", "h", ">")
# Five line styles, seven colours, eleven markers: pairwise coprime, so 385 systems have different
# looks.

FIGURE_FORMATS = ("pdf", "png", "svg")
_BUILD_DATE = "SOURCE_DATE_EPOCH"
_NO_DATE: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {},
}

COLUMN_WIDTH = 3.03
"""Inches: 7.7 cm, the width of one column in ACL's style."""
_SQUARE_AXES = 3.0
"""Inches: the height, with labels, of square axes that are as wide as the column."""
_COLUMN_LETTERS, _HALF_COLUMN_LETTERS = 45, 18
"""The longest name in a legend of one column, and in a legend of two columns."""

_STYLE: dict[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Sans"],  # Times, as in ACL's style, and other scripts
    "font.size": 8,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # TrueType; publishers refuse the default, Type 3
    "svg.hashsalt": "classic_rc",  # makes the ids in the file the same each time
}


def require_matplotlib() -> None:
    """Check, before anything is computed, that matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingPackageError(
            "matplotlib", needed_for="drawing a figure", extra="plot"
        ) from None


@contextmanager
def styled_figure(
    width: float = COLUMN_WIDTH, height: float = COLUMN_WIDTH
) -> Iterator[tuple[Figure, Axes]]:
    """Open a figure of this size in inches, with one pair of axes in this package's style, for a
    ``with`` block.

    It needs no window and no display, and pyplot does not know it. In the block, the user's
    matplotlib settings are ignored, so that a figure is the same on every machine.
    :func:`figure_bytes` turns it into a file, there or later.
    """
    require_matplotlib()
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style.context(["default", _STYLE]):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        # A notebook shows by itself only pyplot's figures, and others if they know how.
        figure._repr_png_ = partial(figure_bytes, figure, "png")  # type: ignore[attr-defined]
        yield figure, figure.add_subplot()


def figure_bytes(figure: Figure, form: str) -> bytes:
    """Return the content of a figure's file, in one of `FIGURE_FORMATS`.

    It has no date, so it is the same each time. A PDF embeds its fonts; an SVG has text as
    outlines.
    """
    from matplotlib import style

    if form not in FIGURE_FORMATS:
        raise unknown_name("figure format", form, FIGURE_FORMATS)
    content = io.BytesIO()
    # Matplotlib reads the date of the build even for a figure without a date, and fails if it is no
    # number.
    date = os.environ.pop(_BUILD_DATE, None)
    try:
        with style.context(["default", _STYLE]):
            figure.savefig(content, format=form, metadata=_NO_DATE[form])
    finally:
        if date is not None:
            os.environ[_BUILD_DATE] = date
    return content.getvalue()


def add_legend(
    figure: Figure, drawn: Sequence[Artist], names: Sequence[str], **look: Any
) -> Legend:
    """Add a legend below the axes."""
    legend = figure.legend(
        drawn, ["?"] * len(names), loc="outside lower center", frameon=False, **look
    )
    # Set afterwards: matplotlib would leave out names that begin with "_" and read "$" as
    # mathematics.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=name, parse_math=False)
    return legend


def precision_recall_figure(curves: Sequence[PrecisionRecallCurve]) -> Figure:
    """Draw curves and points with a legend below: see :func:`classic_rc.plots.precision_recall`."""
    labels = [textwrap.fill(_legend_label(curve), _COLUMN_LETTERS) for curve in curves]
    with styled_figure() as (figure, axes):
        lines = draw_precision_recall(curves, axes)
        n_columns = 2 if len(labels) > 1 and max(map(len, labels)) <= _HALF_COLUMN_LETTERS else 1
        legend = add_legend(figure, lines, labels, ncols=n_columns, handlelength=3)
        figure.set_figheight(_SQUARE_AXES + legend.get_window_extent().height / figure.dpi)
    return figure


def draw_precision_recall(curves: Sequence[PrecisionRecallCurve], axes: Axes) -> list[Line2D]:
    """Draw curves and points on the given axes, without a legend; return one line per curve.

    Grey lines join points of equal F1; the axis on the right has its values. A curve has steps,
    because no threshold gives a precision between two cut points. Macro and micro averages in one
    figure are a UsageError.
    """
    averages = {curve.average for curve in curves}
    if len(averages) != 1:
        problem = (
            "cannot mix macro and micro averages in one figure" if averages else "no curves to draw"
        )
        raise UsageError(
            problem, field="curves", found=" and ".join(sorted(averages)) or "no curves"
        )
    average = averages.pop()
    scope = {"macro": "mean over questions", "micro": "all options"}[average]
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=f"recall ({scope})", ylabel=f"precision ({scope})")
    axes.set_box_aspect(1)
    _draw_equal_f1(axes, AVERAGES[average].label)
    lines = []
    for i, curve in enumerate(curves):
        colour, marker = COLOURS[i % len(COLOURS)], _MARKERS[i % len(_MARKERS)]
        look: dict[str, Any] = {"color": colour, "marker": marker}
        if curve.is_point:
            look |= {
                "linestyle": "none",
                "markersize": 7,
                "markeredgecolor": "black",
                "markeredgewidth": 0.6,
            }
        else:
            # Seven markers a curve, shifted by a fifth of their distance so that curves' markers do
            # not overlap.
            shift = (i % 5 + 0.5) / 5
            marked = np.searchsorted(curve.recall, (np.arange(7) + shift) / 7)
            marked = np.unique(np.minimum(marked, len(curve.recall) - 1)).tolist()
            look |= {
                "linestyle": _LINES[i % len(_LINES)],
                "drawstyle": "steps-pre",
                "markevery": marked,
            }
        lines += axes.plot(
            curve.recall, curve.precision, clip_on=False, zorder=3 + curve.is_point, **look
        )
    return lines


def _draw_equal_f1(axes: Axes, label: str) -> None:
    # F1 = 2PR / (P + R), so on the line of a level P = level * R / (2R - level).
    levels = np.arange(1, 11) / 10
    for level in levels:
        # from the recall at which the precision is 1
        recall = np.linspace(level / (2 - level), 1, 200)
        axes.plot(
            recall, level * recall / (2 * recall - level), color="0.82", linewidth=0.6, zorder=0.5
        )
    right = axes.secondary_yaxis("right")
    labels = [f"{level:.1f}" for level in levels[:-1]]
    right.set_yticks(levels / (2 - levels), [*labels, label])
    right.tick_params(length=0, pad=5, labelcolor="0.4", labelsize="small")


def _legend_label(curve: PrecisionRecallCurve) -> str:
    area = curve.average_precision
    return printable(curve.name) + ("" if area is None else f" (AP {area:.2f})")


def curves_csv(curves: Sequence[PrecisionRecallCurve]) -> str:
    """Return every point of every curve as CSV, in full precision; a point made from decisions
    has no threshold.
    """
    records = []
    for curve in curves:
        thresholds = [None] if curve.thresholds is None else curve.thresholds.tolist()
        rates = curve.precision.tolist(), curve.recall.tolist(), curve.f1.tolist()
        for threshold, precision, recall, f1 in zip(thresholds, *rates, strict=True):
            record = {
                "system": curve.name,
                "average": curve.average,
                "threshold": threshold,
                "precision": precision,
                "recall": recall,
                "f1": f1,
            }
            records.append(record)
    return records_csv(records)


_BARS_WIDTH = 5.0
_BAR, _GAP, _AXIS = 0.14, 0.12, 0.55
"""Inches: the height of a bar, the gap between two groups, and the height of an axis with its
label.
"""
_NAME_LETTERS = 40
_PALE = 0.3
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo", "||||", "****", "OOOO")


def breakdown_figure(breakdowns: Sequence[Breakdown]) -> Figure:
    """Draw bars with intervals, or without systems the groups' shares: see
    :func:`classic_rc.plots.breakdown`.
    """
    if not breakdowns:
        raise UsageError("no breakdowns to draw", field="breakdowns")
    systems = breakdowns[0].systems
    n_bars = max(len(systems), 1)
    step = n_bars * _BAR + _GAP
    heights = [_AXIS + len(breakdown.lines) * step for breakdown in breakdowns]
    legend_height = 0.17 * len(systems) + 0.1 if len(systems) > 1 else 0
    with styled_figure(_BARS_WIDTH, sum(heights) + legend_height) as (figure, axes):
        axes.remove()
        panels = figure.subplots(len(breakdowns), squeeze=False, height_ratios=heights)[:, 0]
        for panel, breakdown in zip(panels, breakdowns, strict=True):
            _draw_bars(breakdown, panel)
        if len(systems) > 1:
            patches = [axes.barh(0, 0, **_bar_style(i))[0] for i in range(len(systems))]
            add_legend(figure, patches, [printable(name) for name in systems])
    return figure


def _bar_style(i: int) -> dict[str, Any]:
    """Return the look of bar `i`: a colour, and after the last colour a hatch too."""
    hatch = _HATCHES[i // len(COLOURS) % len(_HATCHES)]
    return {
        "color": COLOURS[i % len(COLOURS)],
        "hatch": hatch,
        "edgecolor": "white",
        "linewidth": 0,
    }


def _draw_bars(breakdown: Breakdown, axes: Axes) -> None:
    groups, systems = breakdown.lines, breakdown.systems
    n_bars = max(len(systems), 1)
    step = n_bars * _BAR + _GAP
    middles = np.arange(len(groups)) * step
    for i in range(n_bars):
        places = middles + (i - (n_bars - 1) / 2) * _BAR
        for place, group in zip(places, groups, strict=True):
            _draw_bar(axes, float(place), breakdown, group, i)
    axes.set_yticks(middles, [_group_label(group) for group in groups], parse_math=False)
    for text, group in zip(axes.get_yticklabels(), groups, strict=True):
        text.set_color("0.55" if group.is_small else "black")
    half = step / 2
    axes.set_ylim(middles[-1] + half, middles[0] - half)  # from the top down, as a table
    axes.axhline(half, color="0.7", linewidth=0.6)  # below the total
    label = f"{breakdown.metric.label} (%)" if systems else "% of the questions"
    axes.set(xlim=(0, 100), xlabel=label)
    small = f" (pale: n < {MIN_GROUP_QUESTIONS})" if any(group.is_small for group in groups) else ""
    title = f"{breakdown.results.dataset} by {breakdown.grouping.key}{small}"
    axes.set_title(printable(title), loc="left", fontsize="medium", parse_math=False)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_bar(axes: Axes, place: float, breakdown: Breakdown, group: Group, i: int) -> None:
    pale = _PALE if group.is_small else 1.0
    if not breakdown.systems:
        share = group.questions / max(breakdown.total.questions, 1)
        axes.barh(place, 100 * share, _BAR, alpha=pale, **_bar_style(0))
        return
    cell = group.cells[i]
    if cell.value is None:
        return
    axes.barh(place, 100 * cell.value, _BAR, alpha=pale, **_bar_style(i))
    if cell.interval is not None:
        low, high = (100 * bound for bound in cell.interval)
        axes.plot([low, high], [place, place], color="black", linewidth=0.6, alpha=max(pale, 0.5))


def _group_label(group: Group) -> str:
    name = printable(group.name)
    short = name if len(name) <= _NAME_LETTERS else name[: _NAME_LETTERS - 1] + "…"
    return f"{short} ({group.questions:,})"
