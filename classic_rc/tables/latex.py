"""Tables in LaTeX with booktabs: intervals are a second line of small figures, or follow the number as ±."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from classic_rc.io.printable import printable
from classic_rc.tables.model import Cell, Column, Table


def render_latex(table: Table) -> str:
    """Return a table as a LaTeX float; notes and signatures are comments above it."""
    body = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_caption(table.caption or table.title)}}}",
        *latex_tabular(table),
        r"\end{table}",
    ]
    notes = [f"% {note}" for note in (*table.note_lines, *table.signature_lines, *latex_preamble(body))]
    return "\n".join([*notes, *body]) + "\n"


def latex_tabular(
    table: Table, *, small: str = "scriptsize", names: Mapping[str, str] | None = None, columns: str | None = None
) -> list[str]:
    """Return the lines of a table's ``tabular``, without caption and notes.

    Parameters
    ----------
    table : Table
    small : str
        The size of the figures of intervals.
    names : mapping of str to str, optional
        Other names of rows, in LaTeX, such as those with a citation.
    columns : str, optional
        The specification of the columns, if not the usual one.
    """
    width = len(table.shown)
    lines = [rf"\begin{{tabular}}{{{columns or ''.join(_column_specifications(table))}}}", r"\toprule"]
    lines += [*_header_lines(table), r"\midrule"]
    for i, (heading, cells) in enumerate(table.lines()):
        if heading is not None:
            lines += [r"\addlinespace"] if i else []
            lines.append(_line([rf"\multicolumn{{{width}}}{{@{{}}l}}{{\textit{{{latex_text(heading)}}}}}"]))
        lines += _row_lines(table, cells, small, names or {})
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def longest_mark(table: Table) -> int:
    """Return the number of characters of the longest mark."""
    return max((len(cell.mark) for _, cells in table.lines() for cell in cells), default=0)


def is_stacked(table: Table) -> bool:
    """Return whether intervals have lines of their own."""
    return any(
        column.intervals == "lines" and column.parts(cell).interval
        for _, cells in table.lines()
        for column, cell in zip(table.shown, cells, strict=True)
    )


def _column_specifications(table: Table) -> Iterator[str]:
    yield "@{}l"
    stacked = is_stacked(table)
    for align, of in groupby(_alignment(column, stacked) for column in table.shown[1:]):
        n = len(list(of))
        yield align if n == 1 else f"*{{{n}}}{{{align}}}"
    # Marks stick out of the last column: leave room for them before the end of the rules.
    yield r"@{\hspace{\tabcolsep}}" if longest_mark(table) else r"@{}"


def _alignment(column: Column, stacked: bool) -> str:
    # Below each other: numbers and their small figures, the digits of numbers before ±, or the ends of numbers.
    if column.is_text or column.intervals == "pm":
        return "l"
    return "c" if stacked and column.kind in ("percent", "points", "number") else "r"


def _header_lines(table: Table) -> Iterator[str]:
    """Yield the line of the names, after that of the groups of columns if there are any."""
    stacked = is_stacked(table)
    first, *others = table.shown
    named = any(column.name for column in others)
    if any(column.group for column in others):
        headers, rules, start = [], [], 1
        for name, n in table.column_groups[1:]:
            headers.append(_header_cell(table.shown[start], name, n, stacked))
            rules += [rf"\cmidrule(lr){{{start + 1}-{start + n}}}"] if table.shown[start].name else []
            start += n
        yield _line(["" if named else latex_text(first.name), *headers])
        if not named:
            return
        yield "".join(rules)
    yield _line([latex_text(first.name), *(_header_cell(column, column.name, 1, stacked) for column in others)])


def _header_cell(column: Column, text: str, span: int, stacked: bool) -> str:
    """Return a centred header; what is centred already, or stands over text, needs no command."""
    if not text or (span == 1 and (column.is_text or _alignment(column, stacked) == "c")):
        return latex_text(text)
    return rf"\multicolumn{{{span}}}{{c}}{{{latex_text(text)}}}"


def _line(cells: Sequence[str], end: str = "") -> str:
    return " & ".join(cells) + rf" \\{end}"


def _row_lines(table: Table, cells: Sequence[Cell], small: str, names: Mapping[str, str]) -> list[str]:
    first, *others = table.shown
    name = first.text(cells[0])
    tops, below = [names.get(name) or latex_text(name)], [""]
    for column, cell in zip(others, cells[1:], strict=True):
        tops.append(_top(table, column, cell, small))
        interval = column.parts(cell).interval if column.intervals == "lines" else ""
        below.append(rf"{{\{small} {_bounds(column, interval)}}}" if interval else "")
    return [_line(tops), _line(below, "[1pt]")] if any(below) else [_line(tops)]


def _bounds(column: Column, interval: str) -> str:
    """Return an interval as it is below a number: a dash between percentages, brackets around signed numbers."""
    if column.kind == "points":
        return latex_escape(interval.strip())
    return interval.strip(" []").replace(", ", "--")


def _top(table: Table, column: Column, cell: Cell, small: str) -> str:
    """Return a cell's number with its marks and, if it is on the same line, its interval."""
    if cell.is_missing and not column.is_text:
        return r"\multicolumn{1}{c}{--}" if column.intervals == "pm" else "--"
    parts = column.parts(cell)
    number = latex_text(parts.number)
    shown = rf"\textbf{{{number}}}" if cell.bold else number
    signs = _signs(parts.mark)
    if column.intervals != "pm" or column.is_text:
        return shown + (rf"\rlap{{$^{{{signs}}}$}}" if signs else "")
    index = list(table.shown).index(column)
    of_column = [cells[index] for _, cells in table.lines()]
    longest = max(len(column.parts(other).number) for other in of_column)
    shown = rf"\phantom{{{'0' * (longest - len(parts.number))}}}{shown}" if len(parts.number) < longest else shown
    if not parts.interval:
        return shown + (rf"\rlap{{$^{{{signs}}}$}}" if signs else "")
    # Here ± follows the mark: cells without a mark get its width, so that numbers are below each other.
    wide = _signs(max((other.mark for other in of_column), key=len))
    mark = rf"$^{{{signs}}}$" if signs else rf"\phantom{{$^{{{wide}}}$}}" if wide else ""
    return rf"{shown}{mark}\,{{\{small}$\pm$}}{{\{small} {parts.interval.strip(' ±')}}}"


def _signs(mark: str) -> str:
    return mark.replace("†", r"\dagger").replace("‡", r"\ddagger")


def latex_text(text: str) -> str:
    """Escape text for LaTeX; control characters become visible, and signs of mathematics become commands."""
    escaped = latex_escape(printable(text))
    for sign, command in (("†", r"$^{\dagger}$"), ("‡", r"$^{\ddagger}$"), ("±", r"$\pm$"), ("–", "--")):
        escaped = escaped.replace(sign, command)
    return escaped


def latex_caption(text: str) -> str:
    """Escape a caption, with marks and p-values as in the table."""
    return re.sub(r"\bp \\textless\{\} ([\d.]+)", r"$p < \1$", latex_text(text)).replace(" {*}:", " $^{*}$:")


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
    """Return remarks on what the LaTeX lines need in a document: packages, and an engine for non-Latin scripts."""
    remarks = [r"\usepackage{booktabs}"]
    if any(not _is_latin(character) for line in lines for character in line):
        remarks.append("has non-Latin characters: compile with XeLaTeX or LuaLaTeX, and with a font that has them")
    return remarks


def _is_latin(character: str) -> bool:
    return character < "\u0250" or "\u2010" <= character <= "\u2044"
