"""A table of strings, and its renderings; records as CSV."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from classic_rc.io.printable import printable
from classic_rc.reports.escaping import isolated, latex_escape, latex_preamble, markdown_block, markdown_escape

Place = tuple[int, int]


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
        Lines for below the table; in LaTeX, comments above it.
    caption : str, optional
        What a reader of the LaTeX table alone must know; the title if not given.
    bold : set of (int, int)
        The rows and columns of cells that stand out, where the form has bold letters: Markdown and LaTeX.
    faint : set of (int, int)
        Those of cells that say little: in parentheses, in LaTeX grey too.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: frozenset[int] = frozenset({0})
    notes: Sequence[str] = ()
    caption: str | None = None
    bold: AbstractSet[Place] = frozenset()
    faint: AbstractSet[Place] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        object.__setattr__(self, "header", [printable(cell) for cell in self.header])
        object.__setattr__(self, "rows", [[printable(cell) for cell in row] for row in self.rows])
        object.__setattr__(self, "notes", [printable(note) for note in self.notes])
        object.__setattr__(self, "caption", printable(self.caption or self.title))

    def grid(self, shown: Callable[[str, bool, bool], str]) -> list[list[str]]:
        """The rows of cells as `shown` makes them from a text, whether it is bold and whether it is faint."""
        return [
            [shown(cell, (i, j) in self.bold, (i, j) in self.faint) for j, cell in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]


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
    cells = table.grid(lambda text, bold, faint: isolated(f"({text})" if faint else text))
    grid = [[isolated(cell) for cell in table.header], *cells]
    widths = [max(map(_width, column)) for column in zip(*grid, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            _pad(cell, width, i in table.left) for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    lines = [table.title, line(grid[0]), rule, *map(line, cells)]
    return "\n".join([*lines, *([""] if table.notes else []), *table.notes]) + "\n"


def _markdown(table: Table) -> str:
    def cell(text: str, bold: bool, faint: bool) -> str:
        escaped = isolated(markdown_escape(f"({text})" if faint else text))
        return f"**{escaped}**" if bold else escaped

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    marks = ["---" if i in table.left else "---:" for i in range(len(table.header))]
    head = line([isolated(markdown_escape(name)) for name in table.header])
    title = f"**{markdown_escape(table.title)}**"
    lines = [title, "", head, "|" + "|".join(marks) + "|", *map(line, table.grid(cell))]
    return "\n".join([*lines, *(f"\n{markdown_block(note)}" for note in table.notes)]) + "\n"


def _latex(table: Table) -> str:
    columns = "".join("l" if i in table.left else "r" for i in range(len(table.header)))

    def cell(text: str, bold: bool, faint: bool) -> str:
        escaped = latex_escape(f"({text})" if faint else text)
        grey = rf"\textcolor{{gray}}{{{escaped}}}" if faint else escaped
        return rf"\textbf{{{grey}}}" if bold else grey

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    assert table.caption is not None  # as set after it was made
    body = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_escape(table.caption)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        line([latex_escape(name) for name in table.header]),
        r"\midrule",
        *map(line, table.grid(cell)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    notes = [f"% {note}" for note in (*table.notes, *latex_preamble(body))]
    return "\n".join([*notes, *body]) + "\n"


FORMATS: Mapping[str, Callable[[Table], str]] = {"table": _text, "markdown": _markdown, "latex": _latex}


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
