"""A table of results: columns say how their numbers are written, and cells have plain values.

A format of :data:`TABLE_FORMATS` writes it. Records, rows of plain data with names, are CSV and
pandas frames.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from classic_rc.errors import MissingPackageError, UsageError
from classic_rc.io.text import csv_cell, printable
from classic_rc.plugins import Registry

if TYPE_CHECKING:
    import pandas

EMPTY_CELL = "–"
"""What a cell without a value shows."""

Value: TypeAlias = "float | int | str | Decimal | None"
Bounds: TypeAlias = tuple[float, float]
Kind = Literal["text", "note", "percent", "points", "count", "number", "p"]
LETTERS = dict(zip("ᵃᵇᶜᵈᵉᶠᵍʰ", "abcdefgh", strict=True))
"""Superscripts that are marks, one for each of several baselines, with the letters that LaTeX
raises.
"""


def baseline_letter(number: int) -> str:
    """Return the superscript of a baseline: ᵃ for the first of several."""
    return list(LETTERS)[number % len(LETTERS)]


IntervalStyle = Literal["lines", "pm", "none"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a table, with what belongs to it."""

    # a share of 1 if the column is in percent or points; text is shown as it is; None: a dash
    value: Value = None
    interval: Bounds | None = None
    mark: str = ""  # after the number, such as an asterisk
    bold: bool = False  # among the best of its column
    faint: bool = False  # little evidence, as in small groups: in parentheses

    @property
    def is_missing(self) -> bool:
        """Whether there is no value."""
        return self.value is None or self.value != self.value


class CellParts(NamedTuple):
    """What a cell shows, in the order in which it is read."""

    number: str  # or text, or a dash; in parentheses if the cell is faint
    mark: str
    interval: str  # with a space in front

    def __str__(self) -> str:
        return "".join(self)


class _NumberFormat(NamedTuple):
    """How the numbers of a kind of column are written."""

    decimals: int
    write: Callable[[Any, int], str]
    interval_decimals: int = 1


def format_p_value(p: float, decimals: int = 4) -> str:
    """Format a p-value with four decimals, or with two significant digits if it is below 0.00005.

    Examples
    --------
    >>> format_p_value(0.04321), format_p_value(0.0000321)
    ('0.0432', '3.2e-05')
    """
    return f"{p:.{decimals}f}" if p >= 0.00005 else f"{p:.1e}"


def format_points(value: float | None, decimals: int = 2) -> str:
    """Format a difference of shares in points (hundredths), with its sign; a dash for None.

    Examples
    --------
    >>> format_points(0.05), format_points(-0.00001), format_points(None)
    ('+5.00', '+0.00', '–')
    """
    if value is None:
        return EMPTY_CELL
    # adding 0.0 turns -0.0 into 0.0, as below
    return f"{round(100 * value, decimals) + 0.0:+.{decimals}f}"


_FORMATS: Mapping[str, _NumberFormat] = {
    "percent": _NumberFormat(
        2, lambda value, decimals: f"{round(100 * value, decimals) + 0.0:.{decimals}f}"
    ),
    "points": _NumberFormat(2, format_points),
    "count": _NumberFormat(0, lambda value, decimals: f"{value:,}", 0),
    "number": _NumberFormat(3, lambda value, decimals: f"{value:,.{decimals}f}", 2),
    "p": _NumberFormat(4, format_p_value),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its kind decides how its values are written and aligned."""

    name: str  # the header
    # "text"; "note", text that may be long, which is below a table that would be too wide; numbers:
    # "percent" and "points" (of shares of 1), "count", "number", "p".
    kind: Kind = "text"
    decimals: int | None = None  # digits after the decimal point; by default those of the kind
    key: str = ""  # the name in CSV and frames; by default the header
    group: str = ""  # the heading over this column and its neighbours of the same group
    hidden: bool = False  # whether only CSV and frames have the column
    # Intervals as a second line (in brackets where a cell has one line), as ± with the longer side,
    # or not.
    intervals: IntervalStyle = "lines"

    @property
    def is_text(self) -> bool:
        """Whether it is aligned to the left."""
        return self.kind in ("text", "note")

    @property
    def heading(self) -> str:
        """The header on one line: the group, then the name."""
        return printable(f"{self.group} {self.name}".strip())

    def parts(self, cell: Cell) -> CellParts:
        """Return what a cell of this column shows; control characters in texts become visible
        escapes.
        """
        number = self._write(cell.value)
        if cell.faint and number:
            number = f"({number})"
        mark = "" if cell.is_missing else printable(cell.mark)
        return CellParts(number, mark, self._write_interval(cell))

    def text(self, cell: Cell) -> str:
        """Return what a cell of this column shows as one text."""
        return str(self.parts(cell))

    def _write(self, value: Value) -> str:
        if value is None or value != value:
            return EMPTY_CELL
        if isinstance(value, str) or self.is_text:
            return printable(str(value))
        if isinstance(value, Decimal):  # a published figure: all of its digits, and no others
            return f"{value.scaleb(2):f}"
        written = _FORMATS[self.kind]
        return written.write(value, written.decimals if self.decimals is None else self.decimals)

    def _write_interval(self, cell: Cell) -> str:
        if cell.interval is None or cell.is_missing or self.intervals == "none":
            return ""
        written = _FORMATS[self.kind]
        decimals = written.interval_decimals
        if self.decimals is not None:
            decimals = min(decimals, self.decimals)
        low, high = cell.interval
        if self.intervals == "pm":
            assert isinstance(cell.value, float | int)
            longer = max(cell.value - low, high - cell.value)  # so that ± never claims too much
            return f" ± {written.write(longer, decimals)}"
        return f" [{written.write(low, decimals)}, {written.write(high, decimals)}]"


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that belong together, under a heading if they have one. A plain value is a cell
    without marks.
    """

    rows: Sequence[Sequence[Any]]  # of cells and values
    heading: str | None = None

    def select(self, columns: Sequence[int]) -> RowGroup:
        """Return the rows with the cells of these columns only."""
        return RowGroup([[row[j] for j in columns] for row in self.rows], self.heading)


def fill_rows(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """Return rows whose cells are named by the keys or headers of the columns; others are empty."""
    return [[row.get(column.key or column.name) for column in columns] for row in rows]


@dataclass(frozen=True)
class Table:
    """A table, for any format of :data:`~classic_rc.tables.TABLE_FORMATS`."""

    title: str
    columns: Sequence[Column]  # the first has the names of the rows
    row_groups: Sequence[RowGroup]
    notes: Sequence[str] = ()  # lines below the table; in LaTeX, comments above it
    caption: str | None = (
        None  # in LaTeX, for a reader who sees only the table; by default the title
    )
    # of systems; plain text has them if asked to
    signatures: Mapping[str, str] = field(default_factory=dict)
    # what is the same for all rows, for CSV and frames
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def shown(self) -> Sequence[Column]:
        """The columns that people see."""
        return [column for column in self.columns if not column.hidden]

    @property
    def column_groups(self) -> list[tuple[str, int]]:
        """The groups of neighbouring columns that people see, each with its number of columns."""
        groups = groupby(column.group for column in self.shown)
        return [(name, len(list(neighbours))) for name, neighbours in groups]

    @property
    def visible_groups(self) -> Iterator[RowGroup]:
        """The groups of rows with the cells of the columns that people see."""
        visible = [j for j, column in enumerate(self.columns) if not column.hidden]
        return (group.select(visible) for group in self.row_groups)

    def lines(self, *, hidden: bool = False) -> Iterator[tuple[str | None, list[Cell]]]:
        """Yield each row, after the heading of its group if it is the first of one that has a
        heading, else None.

        Parameters
        ----------
        hidden : bool
            Whether rows have the cells of hidden columns too.
        """
        for group in self.row_groups if hidden else self.visible_groups:
            for i, row in enumerate(group.rows):
                cells = [value if isinstance(value, Cell) else Cell(value) for value in row]
                yield (None if i or group.heading is None else printable(group.heading)), cells

    def __getitem__(self, column: str) -> dict[str, Cell]:
        """Return the cells of a column, found by its name or key, by the names of their rows."""
        index = self._index(column)
        rows = [cells for _, cells in self.lines(hidden=True)]
        return {str(cells[0].value): cells[index] for cells in rows}

    def select(self, *columns: str) -> Table:
        """Return the table with only these columns, found by their names or keys, and none of
        them hidden.
        """
        indices = [self._index(column) for column in columns]
        selected = [replace(self.columns[j], hidden=False) for j in indices]
        groups = [group.select(indices) for group in self.row_groups]
        return replace(self, columns=selected, row_groups=groups)

    def _index(self, column: str) -> int:
        for j, candidate in enumerate(self.columns):
            if column in (candidate.heading, candidate.key):
                return j
        raise KeyError(column)

    @property
    def note_lines(self) -> list[str]:
        """The notes, ready to print."""
        return [printable(note) for note in self.notes]

    @property
    def signature_lines(self) -> list[str]:
        """A heading and the signatures, or nothing."""
        lines = [printable(f"{name} = {signature}") for name, signature in self.signatures.items()]
        return ["Signatures", *lines] if lines else []

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as plain data in full precision, for CSV and frames.

        Bounds of intervals have keys that end in ``_low`` and ``_high``, marks ``_mark``, where a
        column has any.
        """
        rows = [cells for _, cells in self.lines(hidden=True)]
        headings = [group.heading for group in self.row_groups for _ in group.rows]
        keys: list[str] = []
        for column in self.columns:
            key = column.key or column.heading
            keys.append(f"{key} ({len(keys) + 1})" if key in keys else key)
        bounded, marked = set(), set()
        for key, *column_cells in zip(keys, *rows, strict=True):
            if any(cell.interval for cell in column_cells):
                bounded.add(key)
            if any(cell.mark for cell in column_cells):
                marked.add(key)
        records = []
        for heading, cells in zip(headings, rows, strict=True):
            record: dict[str, Any] = dict(self.facts)
            if any(headings) and "block" not in keys:
                record["block"] = heading
            for key, cell in zip(keys, cells, strict=True):
                record[key] = float(cell.value) if isinstance(cell.value, Decimal) else cell.value
                if key in bounded:
                    record[f"{key}_low"], record[f"{key}_high"] = cell.interval or (None, None)
                if key in marked:
                    record[f"{key}_mark"] = cell.mark
            records.append(record)
        return records


def format_count(n: int, noun: str) -> str:
    """Format a number of things.

    Examples
    --------
    >>> format_count(2418, "question"), format_count(1, "passage"), format_count(0, "passage")
    ('2,418 questions', '1 passage', 'no passages')
    """
    return f"{f'{n:,}' if n else 'no'} {noun}{'' if n == 1 else 's'}"


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def format_percent(value: float | None, decimals: int = 2) -> str:
    """Format a fraction in percent for a sentence; a dash for None or NaN.

    Examples
    --------
    >>> format_percent(0.57994), format_percent(None)
    ('57.99', '–')
    """
    return EMPTY_CELL if value is None or value != value else f"{100 * value:.{decimals}f}"


def records_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Return records as CSV. Columns are in the order of their first use.

    No text is run by a spreadsheet, and control characters are escaped; see
    :func:`~classic_rc.io.text.csv_cell`.
    """
    out = io.StringIO()
    fields = list(dict.fromkeys(key for record in records for key in record))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(csv_cell, fields))
    writer.writerows([csv_cell(record.get(field, "")) for field in fields] for record in records)
    return out.getvalue()


def frame_of_records(records: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return a pandas frame with one row per record. Keys of nested mappings are joined by a
    dot.
    """
    return _pandas().json_normalize(list(records))


def frame_of_columns(columns: Mapping[str, Any]) -> pandas.DataFrame:
    """Return a pandas frame of columns of equal length."""
    return _pandas().DataFrame(columns)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError("pandas", needed_for="to_frame()", extra="pandas") from error
    return pandas


TableFormat = Callable[[Sequence[Table], bool], str]
"""Writes tables as one text; the flag says whether plain text shows signatures."""


def write_csv(tables: Sequence[Table], signatures: bool) -> str:
    """Return the records of all tables as one CSV; signatures are among them."""
    return records_csv([record for table in tables for record in table.records()])


def _accept(name: str, offered: Any) -> TableFormat:
    if not callable(offered):
        raise UsageError(
            f"the table format {name} is {offered!r}, expected a function of tables and a flag"
        )
    return offered


TABLE_FORMATS: Registry[TableFormat] = Registry(
    "table_format",
    {
        "table": "classic_rc.tables.text:write_text",
        "markdown": "classic_rc.tables.markup:write_markdown",
        "latex": "classic_rc.tables.latex:write_latex",
        "csv": "classic_rc.tables.model:write_csv",
        "html": "classic_rc.tables.markup:write_html",
    },
    _accept,
)
"""The formats of tables by name. Another package adds one by an entry point, as for the other
registries.
"""


def render(tables: Table | Sequence[Table], form: str, *, signatures: bool = False) -> str:
    """Return tables in a format of :data:`TABLE_FORMATS`.

    Parameters
    ----------
    tables : Table or sequence of Table
    form : str
        ``"table"`` (plain text), ``"markdown"``, ``"latex"``, ``"csv"`` or ``"html"``.
    signatures : bool
        Whether plain text shows signatures; the other formats always have them.

    Returns
    -------
    str
        Ends with a line break.

    Raises
    ------
    KeyError
        The format is unknown.
    """
    return TABLE_FORMATS[form]([tables] if isinstance(tables, Table) else tables, signatures)
