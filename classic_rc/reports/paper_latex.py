"""The paper's table in LaTeX, in a size that fits a column or the page; widths are estimated in Times."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, NamedTuple

from classic_rc.errors import UsageError
from classic_rc.reports.paper_formats import as_table, row_name, shown_interval
from classic_rc.reports.paper_table import PaperTable
from classic_rc.tables import Cell, Column, Table
from classic_rc.tables.latex import (
    is_stacked,
    latex_caption,
    latex_preamble,
    latex_tabular,
    latex_text,
    longest_mark,
)
from classic_rc.tables.model import IntervalStyle

Width = Literal["column", "text"]

_EM: dict[str, int] = {
    letter: width
    for width, letters in {
        200: "|", 250: " ,.", 278: "/:;\\ijlt", 333: "!'()-I[]`fr", 389: "Js", 408: '"', 444: "?acez", 469: "^",
        480: "{}", 541: "~", 556: "FPS", 564: "+<=>±", 611: "ELTZ", 667: "BCR", 722: "ADGHKNOQUVXYw", 778: "&m",
        833: "%", 889: "M", 921: "@", 944: "W", 1000: "—…",
    }.items()
    for letter in letters
}  # fmt: skip
"""Widths of Times-Roman in thousandths of an em, from Adobe's metrics; digits and all other letters have 500.

Bold digits are as wide as others.
"""


@dataclass(frozen=True)
class PaperStyle:
    """The measures of a style for papers, in points."""

    name: str
    column: float
    text: float
    sizes: dict[str, float]  # of the font, by LaTeX's command


STYLES = (
    PaperStyle("ACL", 219.08, 455.24, {"small": 10, "footnotesize": 9, "scriptsize": 8, "tiny": 6}),
    PaperStyle("NeurIPS", 397.48, 397.48, {"small": 9, "footnotesize": 9, "scriptsize": 7, "tiny": 5}),
)
"""The styles that a table is made to fit; NeurIPS has one column."""


class _Layout(NamedTuple):
    """The sizes of a table."""

    size: str  # of the font
    space: int  # on each side of a column, in points
    small: str = "scriptsize"  # of the font of intervals


_LAYOUTS = (
    *(_Layout("small", space) for space in (6, 4, 3)),
    *(_Layout("footnotesize", space) for space in (4, 3, 2)),
    *(_Layout("footnotesize", space, "tiny") for space in (3, 2)),
)
"""The layouts to try, the most readable first."""
_SLACK = 1.01  # rounding of widths, and rules that stick out


@dataclass(frozen=True)
class LatexTable:
    """A table in LaTeX and how wide it is."""

    text: str
    place: Width  # that it was made for
    widths: dict[str, float]  # in points, by style

    @property
    def fit(self) -> str:
        """A sentence on what the table fits."""
        fits: dict[str, list[str]] = {}
        too_wide = []
        for style in STYLES:
            width = self.widths[style.name]
            places = {"text width": style.text}
            if style.column < style.text:
                places = {"column": style.column, **places}
            fitting = [place for place, limit in places.items() if width <= limit]
            if fitting:
                fits.setdefault(fitting[0], []).append(style.name)
            too_wide += [
                f"{style.name}'s {place} by {width - limit:.0f} pt"
                for place, limit in places.items()
                if place not in fitting
            ]
        places_of = [f"the {place} of {' and '.join(names)}" for place, names in fits.items()]
        parts = ([f"fits {' and '.join(places_of)}"] if fits else []) + (
            [f"is too wide for {' and '.join(too_wide)}"] if too_wide else []
        )
        widest = ", ".join(f"{width:.0f} pt in {name}" for name, width in self.widths.items())
        return f"the table ({widest}) {'; it '.join(parts)}"

    def advice(self, intervals: IntervalStyle) -> str:
        """Return what to do about a table that is too wide; nothing for one that fits."""
        if not self.is_too_wide:
            return ""
        ways = ["leave out columns (--columns)", "shorten names (--rename)"]
        ways += ["leave out intervals (--intervals-as none)"] if intervals != "none" else []
        return f": {', or '.join(ways)}"

    @property
    def is_too_wide(self) -> bool:
        """Whether it is wider in one of the styles than the place that it was made for."""
        limits = {style.name: style.column if self.place == "column" else style.text for style in STYLES}
        return any(width > limits[name] for name, width in self.widths.items())


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text in Times, in the unit of `size`.

    Examples
    --------
    >>> text_width("57.9", 10)
    17.5
    """
    return sum(_letter_width(letter) for letter in text) * size / 1000


def _letter_width(letter: str) -> int:
    if letter in _EM:
        return _EM[letter]
    if unicodedata.combining(letter):
        return 0
    base = unicodedata.normalize("NFD", letter)[0]
    return _EM.get(base, 1000 if unicodedata.east_asian_width(letter) in "WF" else 500 if base < "\u0250" else 700)


def table_latex(
    table: PaperTable,
    title: str | None = None,
    intervals: IntervalStyle = "lines",
    *,
    label: str = "tab:results",
    width: Width | None = None,
    signatures: bool = False,
) -> LatexTable:
    """Return the table in LaTeX with booktabs, in the most readable size that fits.

    Parameters
    ----------
    table : PaperTable
    title : str, optional
        The beginning of the caption, before the notes.
    intervals : {"lines", "pm", "none"}
        Intervals as a second line of small figures, after the number as ±, or not at all.
    label : str
        The key of ``\\label``.
    width : {"column", "text"}, optional
        The place to fit; by default a column if the table fits one, else the text.

    signatures : bool
        Whether the signatures of all systems are comments above the table.

    Raises
    ------
    UsageError
        `label` has characters that LaTeX does not take.
    """
    if not re.fullmatch(r"[A-Za-z0-9][\w:.+/-]*", label, re.ASCII):
        raise UsageError(
            f"invalid label {label!r}: expected letters, digits and any of : . + / - _",
            field="--label",
            found=label,
            expected="tab:results",
        )
    has_lines = intervals == "lines" and any(shown_interval(cell, table.decimals) for cell in table.cells)
    shown = as_table(table, title, intervals, stacked=has_lines, signatures=signatures)
    place, layout = _choose_layout(shown, width)
    floating = "table*" if place == "text" else "table"
    cited = {row_name(row): rf"{latex_text(row.name)} \citep{{{row.cites}}}" for row in table.rows if row.cites}
    lines = [
        rf"\begin{{{floating}}}[t]",
        r"\centering",
        rf"\{layout.size}",
        rf"\setlength{{\tabcolsep}}{{{layout.space}pt}}",
        *latex_tabular(shown, small=layout.small, names=cited),
        rf"\caption{{{latex_caption(shown.caption or '')}}}",
        rf"\label{{{label}}}",
        rf"\end{{{floating}}}",
    ]
    needs = [*shown.signature_lines, *latex_preamble(lines)]
    if cited:
        needs.append(r"\usepackage{natbib}, which the style may load already")
    widths = {style.name: _table_width(shown, style, layout) for style in STYLES}
    return LatexTable("\n".join([*(f"% {remark}" for remark in needs), *lines]) + "\n", place, widths)


def _choose_layout(table: Table, width: Width | None) -> tuple[Width, _Layout]:
    """Return the place and the first layout that fits it in all styles, or in any, or else the narrowest layout."""
    fits: list[tuple[Width, _Layout]] = []
    layouts = [
        layout._replace(space=max(layout.space, _space_for_marks(table, layout.size))) for layout in _LAYOUTS
    ]
    for place in ("column", "text") if width is None else (width,):
        for layout in layouts:
            if place == "column" and width is None and (layout.space < 3 or layout.small == "tiny"):
                continue  # the whole width is better than so little space
            limits = [style.column if place == "column" else style.text for style in STYLES]
            fitting = sum(
                _table_width(table, style, layout) <= limit for style, limit in zip(STYLES, limits, strict=True)
            )
            if fitting == len(STYLES):
                return place, layout
            if fitting and place == (width or "text"):
                fits.append((place, layout))
    return fits[0] if fits else (width or "text", layouts[-1])


def _space_for_marks(table: Table, size: str) -> int:
    """Return the space on each side of a column that keeps protruding marks off the next number."""
    if any(column.intervals == "pm" for column in table.shown) or is_stacked(table):
        return 0  # ± comes after the mark; a second line is wider than the number with its marks
    overhang = _overhang(table, max(style.sizes[size] for style in STYLES))
    return math.ceil((overhang + 0.5) / 2) if overhang else 0


# ------------------------------------------------------------------------------------------------------------------
# Widths


def _table_width(table: Table, style: PaperStyle, layout: _Layout) -> float:
    """Return the estimated width of the whole table in points."""
    full, small, space = style.sizes[layout.size], style.sizes[layout.small], layout.space
    first, *others = table.shown
    rows = [cells for _, cells in table.lines()]
    names = max(text_width(text, full) for text in (first.name, *(first.text(cells[0]) for cells in rows)))
    columns = [
        max([text_width(column.name, full)] + [_cell_width(table, column, cells[j], full, small) for cells in rows])
        for j, column in enumerate(others, 1)
    ]
    start = 0
    for label, n in table.column_groups[1:]:
        # A header wider than its columns widens the last of them.
        missing = text_width(label, full) - sum(columns[start : start + n]) - 2 * space * (n - 1)
        columns[start + n - 1] += max(missing, 0)
        start += n
    total = names + sum(columns) + 2 * space * len(columns) + (space if _overhang(table, full) else 0)
    blocks = max((text_width(heading, full) for heading, _ in table.lines() if heading is not None), default=0)
    return max(total, blocks) * _SLACK


def _cell_width(table: Table, column: Column, cell: Cell, full: float, small: float) -> float:
    parts = column.parts(cell)
    width = text_width(parts.number, full)
    interval = parts.interval.strip(" ±[]").replace(", ", "–")
    if interval and column.intervals == "pm":
        return width + _overhang(table, full) + text_width(f"±{interval}", small) + 0.17 * full
    return max(width, text_width(interval, small))


def _overhang(table: Table, full: float) -> float:
    """Return the width of the longest mark, in the size of superscripts."""
    return longest_mark(table) * 0.5 * 0.75 * full
