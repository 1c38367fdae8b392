"""The paper's table in LaTeX, in a size that fits a column or the page; widths are estimated in Times."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from classic_rc.errors import UsageError
from classic_rc.io.printable import printable
from classic_rc.reports.paper_formats import (
    IntervalStyle,
    block_headings,
    bound_text,
    caption,
    column_headings,
    dataset_spans,
    half_width,
    marks,
    row_name,
    shown_interval,
)
from classic_rc.reports.paper_table import Cell, PaperRow, PaperTable
from classic_rc.reports.tables import latex_escape, latex_preamble

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
    place, layout = _choose_layout(table, intervals, width)
    stacked = _is_stacked(table, intervals)
    body = [line.replace(r"\scriptsize", rf"\{layout.small}") for line in _body(table, intervals, stacked)]
    floating = "table*" if place == "text" else "table"
    lines = [
        rf"\begin{{{floating}}}[t]",
        r"\centering",
        rf"\{layout.size}",
        rf"\setlength{{\tabcolsep}}{{{layout.space}pt}}",
        *body,
        rf"\caption{{{_caption(caption(table, title, intervals, stacked=stacked))}}}",
        rf"\label{{{label}}}",
        rf"\end{{{floating}}}",
    ]
    needs = latex_preamble(lines)
    if any(row.cites for row in table.rows):
        needs.append(r"\usepackage{natbib}, which the style may load already")
    widths = {style.name: _table_width(table, intervals, style, layout) for style in STYLES}
    return LatexTable("\n".join([*(f"% {remark}" for remark in needs), *lines]) + "\n", place, widths)


def _choose_layout(table: PaperTable, intervals: IntervalStyle, width: Width | None) -> tuple[Width, _Layout]:
    """Return the place and the first layout that fits it in all styles, or in any, or else the narrowest layout."""
    fits: list[tuple[Width, _Layout]] = []
    layouts = [
        layout._replace(space=max(layout.space, _space_for_marks(table, intervals, layout.size)))
        for layout in _LAYOUTS
    ]
    for place in ("column", "text") if width is None else (width,):
        for layout in layouts:
            if place == "column" and width is None and (layout.space < 3 or layout.small == "tiny"):
                continue  # the whole width is better than so little space
            limits = [style.column if place == "column" else style.text for style in STYLES]
            fitting = sum(
                _table_width(table, intervals, style, layout) <= limit
                for style, limit in zip(STYLES, limits, strict=True)
            )
            if fitting == len(STYLES):
                return place, layout
            if fitting and place == (width or "text"):
                fits.append((place, layout))
    return fits[0] if fits else (width or "text", layouts[-1])


def _space_for_marks(table: PaperTable, intervals: IntervalStyle, size: str) -> int:
    """Return the space on each side of a column that keeps protruding marks off the next number."""
    if intervals == "pm" or _is_stacked(table, intervals):
        return 0  # ± comes after the mark; a second line is wider than the number with its marks
    overhang = _overhang(table, max(style.sizes[size] for style in STYLES))
    return math.ceil((overhang + 0.5) / 2) if overhang else 0


def _is_stacked(table: PaperTable, intervals: IntervalStyle) -> bool:
    return intervals == "lines" and any(shown_interval(cell, table.decimals) for cell in table.cells)


# ------------------------------------------------------------------------------------------------------------------
# Widths


def _table_width(table: PaperTable, intervals: IntervalStyle, style: PaperStyle, layout: _Layout) -> float:
    """Return the estimated width of the whole table in points."""
    full, small, space = style.sizes[layout.size], style.sizes[layout.small], layout.space
    names = max((text_width(row_name(row), full) for row in table.rows), default=0)
    names = max(names, text_width("System", full))
    headings = column_headings(table)
    columns = [
        max(
            [text_width(headings[j], full)]
            + [_cell_width(table, j, row.cells[j], intervals, full, small) for row in table.rows]
        )
        for j in range(len(table.columns))
    ]
    start = 0
    for label, n in dataset_spans(table):
        # A header wider than its columns widens the last of them.
        missing = text_width(label, full) - sum(columns[start : start + n]) - 2 * space * (n - 1)
        columns[start + n - 1] += max(missing, 0)
        start += n
    total = names + sum(columns) + 2 * space * len(columns) + (space if _overhang(table, full) else 0)
    blocks = max((text_width(text, full) for text in block_headings(table).values()), default=0)
    return max(total, blocks) * _SLACK


def _cell_width(
    table: PaperTable, j: int, cell: Cell, intervals: IntervalStyle, full: float, small: float
) -> float:
    number = cell.number(table.decimals) or "–"
    width = text_width(f"({number})" if table.columns[j].is_small else number, full)
    if intervals == "pm" and (half := half_width(cell, table.decimals)) is not None:
        return (
            width + _overhang(table, full) + text_width(f"±{bound_text(half, table.decimals)}", small) + 0.17 * full
        )
    if intervals == "lines" and (interval := shown_interval(cell, table.decimals)) is not None:
        return max(width, text_width("–".join(bound_text(b, table.decimals) for b in interval), small))
    return width


def _overhang(table: PaperTable, full: float) -> float:
    """Return the width of the longest mark, in the size of superscripts."""
    longest = max((len(marks(cell)) for cell in table.cells), default=0)
    return longest * 0.5 * 0.75 * full


# ------------------------------------------------------------------------------------------------------------------
# Lines


def _body(table: PaperTable, intervals: IntervalStyle, stacked: bool) -> list[str]:
    n = len(table.columns)
    # Below each other: numbers and their small figures, the digits of numbers before ±, or the ends of numbers.
    align = "c" if stacked else "l" if intervals == "pm" else "r"
    # Marks stick out of the last column: leave room for them before the end of the rules.
    end = r"@{}" if not _overhang(table, 1) else r"@{\hspace{\tabcolsep}}"
    spans, second = dataset_spans(table), column_headings(table)
    first = ["" if any(second) else "System"]
    first += [_header_cell(name, span, align) for name, span in spans]
    lines = [rf"\begin{{tabular}}{{@{{}}l*{{{n}}}{{{align}}}{end}}}", r"\toprule", _line(first)]
    if any(second):
        starts = [2 + sum(span for _, span in spans[:i]) for i in range(len(spans))]
        rules = (
            rf"\cmidrule(lr){{{start}-{start + span - 1}}}"
            for start, (_, span) in zip(starts, spans, strict=True)
            if second[start - 2]
        )
        lines += ["".join(rules), _line(["System", *(_header_cell(text, 1, align) for text in second)])]
    lines.append(r"\midrule")
    headings = block_headings(table)
    for i, row in enumerate(table.rows):
        if i in headings:
            lines += [r"\addlinespace"] if i else []
            lines.append(_line([rf"\multicolumn{{{n + 1}}}{{@{{}}l}}{{\textit{{{_escape(headings[i])}}}}}"]))
        lines += _row_lines(table, row, intervals, stacked)
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _header_cell(text: str, span: int, align: str) -> str:
    if span == 1 and align == "c":
        return _escape(text)
    return rf"\multicolumn{{{span}}}{{c}}{{{_escape(text)}}}" if text else ""


def _line(cells: Sequence[str], end: str = "") -> str:
    return " & ".join(cells) + rf" \\{end}"


def _row_lines(table: PaperTable, row: PaperRow, intervals: IntervalStyle, stacked: bool) -> list[str]:
    name = _escape(row.name) + (rf" \citep{{{row.cites}}}" if row.cites else "")
    tops = [name, *(_number(table, j, cell, intervals) for j, cell in enumerate(row.cells))]
    below = [_interval_line(table, cell) if stacked else "" for cell in row.cells]
    if not any(below):
        return [_line(tops)]
    return [_line(tops), _line(["", *below], "[1pt]")]


def _number(table: PaperTable, j: int, cell: Cell, intervals: IntervalStyle) -> str:
    number = cell.number(table.decimals)
    if number is None:
        return r"\multicolumn{1}{c}{--}" if intervals == "pm" else "--"
    shown = rf"\textbf{{{number}}}" if cell.is_best else number
    shown = f"({shown})" if table.columns[j].is_small else shown
    signs = _signs(marks(cell))
    half = half_width(cell, table.decimals)
    if intervals == "pm":
        longest = max(len(row.cells[j].number(table.decimals) or "") for row in table.rows)
        shown = rf"\phantom{{{'0' * (longest - len(number))}}}{shown}" if len(number) < longest else shown
    if half is None or intervals != "pm":
        return shown + (rf"\rlap{{$^{{{signs}}}$}}" if signs else "")
    # Here ± follows the mark: cells without a mark get its width, so that numbers are below each other.
    wide = _signs(max((marks(row.cells[j]) for row in table.rows), key=len))
    mark = rf"$^{{{signs}}}$" if signs else rf"\phantom{{$^{{{wide}}}$}}" if wide else ""
    return rf"{shown}{mark}\,{{\scriptsize$\pm$}}{{\scriptsize {bound_text(half, table.decimals)}}}"


def _signs(text: str) -> str:
    return text.replace("†", r"\dagger").replace("‡", r"\ddagger")


def _interval_line(table: PaperTable, cell: Cell) -> str:
    interval = shown_interval(cell, table.decimals)
    if interval is None:
        return ""
    return rf"{{\scriptsize {'--'.join(bound_text(bound, table.decimals) for bound in interval)}}}"


def _escape(text: str) -> str:
    """Escape text for LaTeX; signs of mathematics become commands."""
    return (
        latex_escape(printable(text))
        .replace("†", r"$^{\dagger}$")
        .replace("‡", r"$^{\ddagger}$")
        .replace("±", r"$\pm$")
        .replace("–", "--")
    )


def _caption(text: str) -> str:
    """Escape a caption, with marks and p-values as in the table."""
    return re.sub(r"\bp \\textless\{\} ([\d.]+)", r"$p < \1$", _escape(text)).replace(" {*}:", " $^{*}$:")
