"""A table of strings, and its renderings; records as CSV."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from classic_rc.printable import printable

__all__ = ["FORMATS", "Table", "records_csv", "render"]


@dataclass(frozen=True)
class Table:
    """Cells as they are to be shown; control characters in them are spelled out.

    Parameters
    ----------
    title : str
    header : sequence of str
    rows : sequence of sequence of str
    left : frozenset of int
        The columns that are aligned to the left; the others are numbers, aligned to the right.
    notes : sequence of str
        Lines for below the table.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: frozenset[int] = frozenset({0})
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        object.__setattr__(self, "header", [printable(cell) for cell in self.header])
        object.__setattr__(self, "rows", [[printable(cell) for cell in row] for row in self.rows])
        object.__setattr__(self, "notes", [printable(note) for note in self.notes])


def render(table: Table, form: str) -> str:
    """The table in a form of :data:`FORMATS`, ending with a line break."""
    return FORMATS[form](table)


def records_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV with all their columns, in the order of their first use; control characters escaped."""
    safe = [
        {printable(key): printable(value) if isinstance(value, str) else value for key, value in record.items()}
        for record in records
    ]
    out = io.StringIO()
    fields = list(dict.fromkeys(key for record in safe for key in record))
    writer = csv.DictWriter(out, fields, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(safe)
    return out.getvalue()


def _text(table: Table) -> str:
    grid = [list(table.header), *map(list, table.rows)]
    widths = [max(map(_width, column)) for column in zip(*grid, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            _pad(cell, width, i in table.left) for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    lines = [table.title, line(table.header), rule, *map(line, table.rows)]
    return "\n".join([*lines, *([""] if table.notes else []), *table.notes]) + "\n"


def _markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(_markdown_escape, cells)) + " |"

    marks = ["---" if i in table.left else "---:" for i in range(len(table.header))]
    title = f"**{_markdown_escape(table.title)}**"
    lines = [title, "", line(table.header), "|" + "|".join(marks) + "|", *map(line, table.rows)]
    return "\n".join([*lines, *(f"\n{_markdown_escape(note)}" for note in table.notes)]) + "\n"


def _latex(table: Table) -> str:
    columns = "".join("l" if i in table.left else "r" for i in range(len(table.header)))

    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(_latex_escape, cells)) + r" \\"

    lines = [
        *(f"% {note}" for note in table.notes),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex_escape(table.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        line(table.header),
        r"\midrule",
        *map(line, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


FORMATS: Mapping[str, Callable[[Table], str]] = {"table": _text, "markdown": _markdown, "latex": _latex}


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after a line's end it would be taken for that line's option
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def _latex_escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown_escape(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\|*`<" else character for character in text)


_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})


def _width(text: str) -> int:
    """Columns on a terminal: wide characters take two, marks and joiners none."""
    return sum(
        0 if unicodedata.category(c) in _NO_WIDTH else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _pad(text: str, width: int, left: bool) -> str:
    blanks = " " * (width - _width(text))
    return text + blanks if left else blanks + text
