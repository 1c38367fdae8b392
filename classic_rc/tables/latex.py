"""Tables in LaTeX with booktabs: intervals are a second line of small figures, or follow the
number as ±.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Literal

from classic_rc.io.text import printable
from classic_rc.tables.model import LETTERS, Cell, Column, IntervalStyle, RowGroup, Table

Place = Literal["column", "text"]

_MOST_COLUMNS: Mapping[IntervalStyle, Mapping[Place, int]] = {
    "none": {"column": 3, "text": 8},
    "lines": {"column": 3, "text": 8},
    "pm": {"column": 2, "text": 5},
}
"""How many columns fit next to the names of the rows, in one column of a paper and over its
whole width.
"""
_MOST_LINES, _HEAD_LINES = 44, 4
"""The lines of a page that one float may take, without its caption; and the lines of a panel's
head.
"""
_LONG_CELL, _SHORT_CELL = 40, 20
"""If a column has more characters than the first, all columns with more than the second are
wrapped.
"""
_WRAPPED = r">{\raggedright\arraybackslash}X"
_SMALL = "scriptsize"
"""The size of the figures of intervals."""


def write_latex(tables: Sequence[Table], signatures: bool) -> str:
    """Return tables as LaTeX below each other, with their signatures in comments."""
    return "\n".join(map(render_latex, tables))


def render_latex(
    table: Table,
    *,
    label: str | None = None,
    place: Place | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    r"""Return a table as LaTeX floats; notes and signatures are comments above them.

    A table with more columns than fit has panels below each other, a long one has several floats.
    What is still too wide is scaled down by the package adjustbox. `label` is the key of
    ``\label``; `place` is one column of the paper or its whole width, by default a column if the
    table has few columns; `names` are other names of rows and columns, in LaTeX, such as those with
    a citation.
    """
    most_columns = _MOST_COLUMNS[_interval_style(table)]
    is_wide = len(table.shown) - 1 > most_columns["column"] or any(_is_wrapped(table))
    place = place or ("text" if is_wide else "column")
    environment = "table*" if place == "text" else "table"
    floats: list[list[Table]] = []
    free = 0
    for panel in _parts(table, most_columns[place]):
        n_lines = len(_body_lines(panel, {})) + _HEAD_LINES
        if n_lines > free:
            floats.append([])
            free = _MOST_LINES
        floats[-1].append(panel)
        free -= n_lines
    lines = []
    for i, panels in enumerate(floats):
        if i:  # the floats of a table have one number
            lines.append(r"\addtocounter{table}{-1}")
        lines += [rf"\begin{{{environment}}}[t]", r"\centering", r"\small"]
        for j, panel in enumerate(panels):
            lines += [r"\par\medskip"] if j else []
            lines += latex_tabular(panel, names=names)
        caption = latex_caption(table.title if i else table.caption or table.title)
        lines.append(rf"\caption{{{caption}{' (continued)' if i else ''}}}")
        if label and not i:
            lines.append(rf"\label{{{label}}}")
        lines.append(rf"\end{{{environment}}}")
    notes = (*table.note_lines, *table.signature_lines, *latex_preamble(lines))
    comments = [f"% {note}" for note in notes]
    return "\n".join([*comments, *lines]) + "\n"


def _interval_style(table: Table) -> IntervalStyle:
    """Return how a table shows intervals, if it does."""
    styles = set()
    for _, cells in table.lines():
        for column, cell in zip(table.shown, cells, strict=True):
            if column.parts(cell).interval:
                styles.add(column.intervals)
    return next((style for style in ("pm", "lines") if style in styles), "none")


def is_stacked(table: Table) -> bool:
    """Return whether intervals have lines of their own."""
    return _interval_style(table) == "lines"


def _parts(table: Table, most_columns: int) -> Iterator[Table]:
    """Yield panels of the columns that a float has room for, and of the rows that it can hold."""
    most_rows = (_MOST_LINES - _HEAD_LINES) // (2 if is_stacked(table) else 1)
    row_parts = list(_row_parts(table, most_rows))
    for panel_columns in _column_parts(table, most_columns):
        columns = [table.shown[j] for j in panel_columns]
        for groups in row_parts:
            panel_groups = [group.select(panel_columns) for group in groups]
            yield replace(table, columns=columns, row_groups=panel_groups)


def _column_parts(table: Table, most_columns: int) -> list[list[int]]:
    """Return the columns of each panel; groups of columns stay together if they can."""
    numeric = [j for j, column in enumerate(table.shown) if not column.is_text]
    n_names = numeric[0] if numeric else len(table.shown)
    names, room = list(range(n_names)), max(most_columns + 1 - n_names, 2)
    panels: list[list[int]] = []
    for _, group in groupby(range(n_names, len(table.shown)), key=lambda j: table.shown[j].group):
        columns = list(group)
        n_pieces = math.ceil(len(columns) / room)
        cuts = [i * len(columns) // n_pieces for i in range(n_pieces + 1)]
        for start, end in pairwise(cuts):
            if not panels or len(panels[-1]) + end - start > room:
                panels.append([])
            panels[-1] += columns[start:end]
    return [names + panel_columns for panel_columns in panels or [[]]]


def _row_parts(table: Table, most_rows: int) -> Iterator[list[RowGroup]]:
    """Yield the rows that people see in equal parts; headings are repeated where a group goes
    on.
    """
    visible = list(table.visible_groups)
    n_rows = sum(len(group.rows) for group in visible)
    most_rows = math.ceil(n_rows / max(math.ceil(n_rows / most_rows), 1))
    panel_groups: list[RowGroup] = []
    free = most_rows
    for group in visible:
        rows = list(group.rows)
        while rows:
            if not free:
                yield panel_groups
                panel_groups, free = [], most_rows
            panel_groups.append(RowGroup(rows[:free], group.heading))
            rows, free = rows[free:], free - min(free, len(rows))
    yield panel_groups


def latex_tabular(table: Table, *, names: Mapping[str, str] | None = None) -> list[str]:
    """Return the lines of a table's tabular, without caption and notes; it is never wider than the
    line.

    `names` has other names of rows, in LaTeX, such as those with a citation.
    """
    columns = "".join(_column_specifications(table))
    start, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    if any(_is_wrapped(table)):
        start, end = rf"\begin{{tabularx}}{{\linewidth}}{{{columns}}}", r"\end{tabularx}"
    head = [
        r"\begin{adjustbox}{max width=\linewidth}",
        start,
        r"\toprule",
        *_header_lines(table, names or {}),
        r"\midrule",
    ]
    return [*head, *_body_lines(table, names or {}), r"\bottomrule", end, r"\end{adjustbox}"]


def _body_lines(table: Table, names: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for i, (heading, cells) in enumerate(table.lines()):
        if heading is not None:
            lines += [r"\addlinespace"] if i else []
            written = rf"\textit{{{latex_text(heading)}}}"
            lines.append(_line([rf"\multicolumn{{{len(table.shown)}}}{{@{{}}l}}{{{written}}}"]))
        lines += _row_lines(table, cells, names)
    return lines


def _is_wrapped(table: Table) -> list[bool]:
    """Return which columns wrap their texts."""
    rows = [cells for _, cells in table.lines()]
    lengths = [0] * len(table.shown)
    for j, column in enumerate(table.shown):
        if column.is_text:
            lengths[j] = max((len(column.text(cells[j])) for cells in rows), default=0)
    return [max(lengths) > _LONG_CELL and length > _SHORT_CELL for length in lengths]


def _column_specifications(table: Table) -> Iterator[str]:
    stacked = is_stacked(table)
    alignments = [_alignment(column, stacked) for column in table.shown]
    for j, is_wrapped in enumerate(_is_wrapped(table)):
        alignments[j] = _WRAPPED if is_wrapped else alignments[j]
    yield r"@{}"
    for align, neighbours in groupby(alignments):
        n = len(list(neighbours))
        yield align if n == 1 else f"*{{{n}}}{{{align}}}"
    # Marks stick out of the last column: leave room for them before the end of the rules.
    has_marks = any(cell.mark for _, cells in table.lines() for cell in cells)
    yield r"@{\hspace{\tabcolsep}}" if has_marks else r"@{}"


def _alignment(column: Column, stacked: bool) -> str:
    # Below each other: numbers and their small figures, the digits of numbers before ±, or the ends
    # of numbers.
    if column.is_text or column.intervals == "pm":
        return "l"
    return "c" if stacked and column.kind in ("percent", "points", "number") else "r"


def _header_lines(table: Table, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the line of the names, after that of the groups of columns if there are any."""
    stacked = is_stacked(table)
    first, *others = table.shown
    has_names = any(column.name for column in others)
    if any(column.group for column in others):
        headers, rules, start = [], [], 1
        for name, n in table.column_groups[1:]:
            column = table.shown[start]
            headers.append(_header_cell(column, name, n, stacked))
            if column.name:
                rules.append(rf"\cmidrule(lr){{{start + 1}-{start + n}}}")
            start += n
        yield _line(["" if has_names else latex_text(first.name), *headers])
        if not has_names:
            return
        yield "".join(rules)
    headers = [_header_cell(column, column.name, 1, stacked, names) for column in others]
    yield _line([latex_text(first.name), *headers])


def _header_cell(
    column: Column, text: str, span: int, stacked: bool, names: Mapping[str, str] | None = None
) -> str:
    """Return a centred header; what is centred already, or is above text, needs no command."""
    header = (names or {}).get(text) or latex_text(text)
    if not text or (span == 1 and (column.is_text or _alignment(column, stacked) == "c")):
        return header
    return rf"\multicolumn{{{span}}}{{c}}{{{header}}}"


def _line(cells: Sequence[str], end: str = "") -> str:
    return " & ".join(cells) + rf" \\{end}"


def _row_lines(table: Table, cells: Sequence[Cell], names: Mapping[str, str]) -> list[str]:
    first, *others = table.shown
    name = first.text(cells[0])
    tops, below = [names.get(name) or latex_text(name)], [""]
    for column, cell in zip(others, cells[1:], strict=True):
        tops.append(_top(table, column, cell))
        interval = column.parts(cell).interval if column.intervals == "lines" else ""
        below.append(rf"{{\{_SMALL} {_bounds(column, interval)}}}" if interval else "")
    return [_line(tops), _line(below, "[1pt]")] if any(below) else [_line(tops)]


def _bounds(column: Column, interval: str) -> str:
    """Return an interval as it is below a number: a dash between percentages, brackets around
    signed numbers.
    """
    if column.kind == "points":
        return latex_escape(interval.strip())
    return interval.strip(" []").replace(", ", "--")


def _top(table: Table, column: Column, cell: Cell) -> str:
    """Return a cell's number with its marks and, if it is on the same line, its interval."""
    if cell.is_missing and not column.is_text:
        return r"\multicolumn{1}{c}{--}" if column.intervals == "pm" else "--"
    parts = column.parts(cell)
    number = latex_text(parts.number)
    content = rf"\textbf{{{number}}}" if cell.bold else number
    signs = _signs(parts.mark)
    if column.intervals != "pm" or column.is_text:
        return content + (rf"\rlap{{$^{{{signs}}}$}}" if signs else "")
    index = list(table.shown).index(column)
    of_column = [cells[index] for _, cells in table.lines()]
    longest = max(len(column.parts(column_cell).number) for column_cell in of_column)
    n_missing = longest - len(parts.number)
    if n_missing > 0:
        content = rf"\phantom{{{'0' * n_missing}}}{content}"
    if not parts.interval:
        return content + (rf"\rlap{{$^{{{signs}}}$}}" if signs else "")
    # Here ± follows the mark: cells without a mark get its width, so that numbers are below each
    # other.
    widest = _signs(max((column_cell.mark for column_cell in of_column), key=len))
    mark = rf"$^{{{signs}}}$" if signs else rf"\phantom{{$^{{{widest}}}$}}" if widest else ""
    return rf"{content}{mark}\,{{\{_SMALL}$\pm$}}{{\{_SMALL} {parts.interval.strip(' ±')}}}"


def _signs(mark: str) -> str:
    letters = "".join(LETTERS.get(sign, sign) for sign in mark)
    return letters.replace("†", r"\dagger").replace("‡", r"\ddagger").replace("§", r"\S")


def latex_text(text: str) -> str:
    """Escape text for LaTeX; control characters become visible, and signs of mathematics become
    commands.
    """
    escaped = latex_escape(printable(text))
    for sign, letter in LETTERS.items():
        escaped = escaped.replace(f" {sign}", sign).replace(sign, rf"$^{{{letter}}}$")
    for sign, command in (
        ("†", r"$^{\dagger}$"),
        ("‡", r"$^{\ddagger}$"),
        ("§", r"$^{\S}$"),
        ("±", r"$\pm$"),
        ("–", "--"),
    ):
        escaped = escaped.replace(sign, command)
    return escaped


def latex_caption(text: str) -> str:
    """Escape a caption, with marks and p-values as in the table."""
    caption = re.sub(r"\bp \\textless\{\} ([\d.]+)", r"$p < \1$", latex_text(text))
    return caption.replace(" {*}:", " $^{*}$:")


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after ``\\`` LaTeX reads "[" as the start of an option
    "*": "{*}",  # and ``\\*`` as a line end without a page break
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_LIGATURE = re.compile(r"([-,'])(?=\1)")


def latex_escape(text: str) -> str:
    r"""Escape text for LaTeX: nothing in it is a command, and no two characters become a ligature.

    Examples
    --------
    >>> print(latex_escape(r"50 % of \input{x} -- [a]"))
    50 \% of \textbackslash{}input\{x\} -{}- {[}a]
    """
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return _LIGATURE.sub(r"\1{}", escaped)


def latex_preamble(lines: Iterable[str]) -> list[str]:
    """Return remarks on what the LaTeX lines need in a document: packages, and an engine for
    non-Latin scripts.
    """
    lines = [line for line in lines if not line.startswith("%")]
    packages = ["booktabs", "adjustbox"]
    if any("{tabularx}" in line for line in lines):
        packages.append("tabularx")
    remarks = [rf"\usepackage{{{','.join(packages)}}}"]
    if any(r"\citep{" in line for line in lines):
        remarks.append(r"\usepackage{natbib}, which the style may load already")
    if any(not _is_latin(character) for line in lines for character in line):
        remarks.append(
            "has non-Latin characters: compile with XeLaTeX or LuaLaTeX, and with a font that has "
            "them"
        )
    return remarks


def _is_latin(character: str) -> bool:
    return character < "\u0250" or "\u2010" <= character <= "\u2044"
