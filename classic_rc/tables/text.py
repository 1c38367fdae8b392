"""Tables as plain text that fits the terminal: nothing is cut.

Where a table is too wide, headers wrap, notes become footnotes, texts wrap, and at last the table
breaks into panels of columns that repeat the names of the rows.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from classic_rc.io.text import printable
from classic_rc.tables.model import EMPTY_CELL, Cell, Column, Table

_WIDTH_WITHOUT_TERMINAL = 100
_GAP = 2
_NOTE_INDENT = 4
_NARROWEST = 24
"""Columns of text wrap to no fewer characters while the table can break into panels instead."""


def terminal_width() -> int:
    """Return the width that tables fit: ``COLUMNS``, else the terminal's width, else 100."""
    return shutil.get_terminal_size((_WIDTH_WITHOUT_TERMINAL, 24)).columns


@dataclass(frozen=True)
class _TextColumn:
    """The texts of a column, and the width that they are to have."""

    header: str
    cells: Sequence[str]
    is_text: bool
    is_note: bool = False
    width: int = 0

    @classmethod
    def of(
        cls, header: str, cells: Sequence[str], is_text: bool, is_note: bool = False
    ) -> _TextColumn:
        return cls(header, cells, is_text, is_note, max(map(column_width, (header, *cells))))

    def pad(self, text: str) -> str:
        padding = " " * (self.width - column_width(text))
        text = isolate_direction(text)
        return text + padding if self.is_text else padding + text


def write_text(tables: Sequence[Table], signatures: bool) -> str:
    """Return tables as plain text below each other."""
    return "\n".join(render_text(table, signatures=signatures) for table in tables)


def render_text(table: Table, *, signatures: bool = False, width: int | None = None) -> str:
    """Return a table as plain text that ends with a line break, by default as wide as
    :func:`terminal_width`.
    """
    width = terminal_width() if width is None else width
    lines = list(table.lines())
    headings = [heading for heading, _ in lines]
    columns = []
    for column, *cells in zip(table.shown, *(cells for _, cells in lines), strict=True):
        texts, is_note = _texts(column, cells), column.kind == "note"
        columns.append(_TextColumn.of(column.heading, texts, column.is_text, is_note))
    footnotes: list[str] = []
    if _total(columns) > width:
        columns, footnotes = _move_notes([_wrap_header(column) for column in columns])
        columns = _narrow(columns, width)
    text = wrap_note(printable(table.title), width)
    for i, panel in enumerate(_panels(columns, width)):
        text += [""] if i else []
        text += _panel_lines(panel, headings)
    notes = [line for note in (*footnotes, *table.note_lines) for line in wrap_note(note, width)]
    if signatures:
        notes += table.signature_lines
    if notes:
        text += ["", *notes]
    return "\n".join(text) + "\n"


def _texts(column: Column, cells: Sequence[Cell]) -> list[str]:
    """Return the texts of a column; marks and intervals have one width, so that the numbers
    before are aligned.
    """
    parts = [column.parts(cell) for cell in cells]
    marks = max((column_width(printed.mark) for printed in parts), default=0)
    intervals = max((len(printed.interval) for printed in parts), default=0)
    texts = []
    for printed in parts:
        space = " " * (marks - column_width(printed.mark))
        texts.append(printed.number + printed.mark + space + printed.interval.ljust(intervals))
    return texts


def _total(columns: Sequence[_TextColumn]) -> int:
    return sum(column.width for column in columns) + _GAP * (len(columns) - 1)


def _wrap_header(column: _TextColumn) -> _TextColumn:
    """Return a column as narrow as its cells and the words of its header."""
    texts = (*column.header.split(), *column.cells)
    return replace(column, width=max(map(column_width, texts), default=0))


def _move_notes(columns: Sequence[_TextColumn]) -> tuple[list[_TextColumn], list[str]]:
    """Return the columns without those of notes, whose texts become footnotes numbered after the
    rows' names.
    """
    notes = [column for column in columns if column.is_note]
    numbers: dict[str, int] = {}
    names = list(columns[0].cells)
    for column in notes:
        for i, text in enumerate(column.cells):
            if text and text != EMPTY_CELL:
                footnote = f"{column.header}: {text}" if len(notes) > 1 else text
                names[i] += f" [{numbers.setdefault(footnote, len(numbers) + 1)}]"
    first = _TextColumn.of(columns[0].header, names, columns[0].is_text)
    remaining = [first, *(column for column in columns[1:] if not column.is_note)]
    return remaining, [f"[{number}] {text}" for text, number in numbers.items()]


def _narrow(columns: Sequence[_TextColumn], width: int) -> list[_TextColumn]:
    """Return the columns with texts as narrow as needed, the widest first.

    Where that is not enough, panels are needed anyway, and no text takes more than half of the
    width.
    """
    narrowed = list(columns)
    of_text = [j for j, column in enumerate(columns) if column.is_text]
    for _ in range(_total(columns) - width):
        widest = max(of_text, key=lambda j: narrowed[j].width)
        if narrowed[widest].width <= _NARROWEST:
            narrowed = list(columns)
            for j in of_text:
                half = min(columns[j].width, width // 2)
                narrowed[j] = replace(columns[j], width=half)
            return narrowed
        narrowed[widest] = replace(narrowed[widest], width=narrowed[widest].width - 1)
    return narrowed


def _panels(columns: Sequence[_TextColumn], width: int) -> list[list[_TextColumn]]:
    """Return groups of columns that fit, each after those that name the rows.

    The groups are as few as possible, and about equally wide.
    """
    numeric = [i for i, column in enumerate(columns) if not column.is_text]
    n = numeric[0] if numeric else len(columns)
    while n > 1 and _total(columns[:n]) > width // 2:
        n -= 1
    names, others = columns[:n], columns[n:]
    panels = list(_fill_panels(names, others, width))
    while len(panels) > 1 and (width := min(width, max(map(_total, panels))) - 1) > _total(names):
        if len(balanced := list(_fill_panels(names, others, width))) > len(panels):
            break
        panels = balanced
    return panels


def _fill_panels(
    names: Sequence[_TextColumn], others: Sequence[_TextColumn], width: int
) -> Iterator[list[_TextColumn]]:
    panel = list(names)
    for column in others:
        if len(panel) > len(names) and _total([*panel, column]) > width:
            yield panel
            panel = list(names)
        panel.append(column)
    yield panel


def _panel_lines(columns: Sequence[_TextColumn], headings: Sequence[str | None]) -> Iterator[str]:
    names = [wrap(column.header, column.width) for column in columns]
    height = max(map(len, names))
    yield from _lines_of_row(columns, [[""] * (height - len(lines)) + lines for lines in names])
    yield "-" * _total(columns)
    for i, heading in enumerate(headings):
        if heading is not None:
            yield f"[{heading}]"
        yield from _lines_of_row(
            columns, [wrap(column.cells[i], column.width) for column in columns]
        )


def _lines_of_row(columns: Sequence[_TextColumn], texts: Sequence[Sequence[str]]) -> Iterator[str]:
    for line in zip_longest(*texts, fillvalue=""):
        padded = (column.pad(text) for column, text in zip(columns, line, strict=True))
        yield (" " * _GAP).join(padded).rstrip()


_PIECE = re.compile(r"\s*(?:[^\s;,|/]+[;,|/]*|[;,|/]+)")
"""A word, or a part of one that ends in punctuation, with the space before it."""


def wrap(text: str, width: int, *, break_words: bool = True) -> list[str]:
    """Return the lines of a text, at least one, each up to `width` terminal columns wide; no
    character is lost.

    Lines break at spaces, then after punctuation. Without `break_words`, longer words stick out.
    """
    if column_width(text) <= width:
        return [text]
    lines = [""]
    for piece in _PIECE.findall(text) if break_words else re.findall(r"\s*\S+", text):
        if column_width(lines[-1] + piece) <= width:
            lines[-1] += piece
            continue
        lines += [""] if lines[-1] else []
        for character in piece.lstrip():
            if break_words and lines[-1] and column_width(lines[-1] + character) > width:
                lines.append("")
            lines[-1] += character
    return lines


def wrap_note(text: str, width: int) -> list[str]:
    """Return the lines of a note; those after the first are indented, and no word is broken."""
    indent = " " * (len(text) - len(text.lstrip()))
    room = width - len(indent) - _NOTE_INDENT
    first, *others = wrap(text.lstrip(), room, break_words=False)
    deeper = indent + " " * _NOTE_INDENT
    return [indent + isolate_direction(first), *(deeper + line for line in others)]


_RIGHT_TO_LEFT = frozenset({"R", "AL", "RLE", "RLO", "RLI"})
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})


def isolate_direction(text: str) -> str:
    """Return the text, protected so that its right-to-left letters do not reorder the numbers next
    to it.

    If it has such letters, Unicode isolates (Unicode Standard Annex 9) enclose it. Isolates have no
    width.
    """
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}"
    return text


def column_width(text: str) -> int:
    """Return the number of terminal columns: two for wide characters, none for marks and
    joiners.
    """
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.category(character) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
