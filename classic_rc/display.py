"""Results for people: tables as plain text and for notebooks, and pandas frames when pandas is installed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from classic_rc.errors import MissingPackageError
from classic_rc.io.printable import printable

if TYPE_CHECKING:
    import pandas


EMPTY_CELL = "–"
"""The content of a cell without a number."""

CellPlace = tuple[int, int]


@dataclass(frozen=True)
class Table:
    """A table of formatted cells; control characters in its texts become visible escapes.

    Parameters
    ----------
    title : str
    header : sequence of str
        The names of the columns.
    rows : sequence of sequence of str
        The cells, one sequence per row.
    left : frozenset of int
        The indices of the columns that are aligned to the left. The others are numbers, aligned to the right.
    notes : sequence of str
        Lines below the table; in LaTeX, comments above it.
    caption : str, optional
        The caption in LaTeX, for a reader who sees only the table; by default the title.
    bold : set of (int, int)
        The (row, column) places of bold cells. Plain text ignores them.
    faint : set of (int, int)
        The places of cells with little evidence, such as those of small groups. They are in parentheses, and grey
        in LaTeX.
    headings : mapping of int to str
        The heading above a row, by the row's index. It begins a block of rows.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: frozenset[int] = frozenset({0})
    notes: Sequence[str] = ()
    caption: str | None = None
    bold: AbstractSet[CellPlace] = frozenset()
    faint: AbstractSet[CellPlace] = frozenset()
    headings: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        object.__setattr__(self, "header", [printable(cell) for cell in self.header])
        object.__setattr__(self, "rows", [[printable(cell) for cell in row] for row in self.rows])
        object.__setattr__(self, "notes", [printable(note) for note in self.notes])
        object.__setattr__(self, "caption", printable(self.caption or self.title))
        object.__setattr__(self, "headings", {i: printable(text) for i, text in self.headings.items()})

    @property
    def faint_columns(self) -> AbstractSet[int]:
        """The columns whose cells are all faint."""
        return {j for _, j in self.faint if all((i, j) in self.faint for i in range(len(self.rows)))}

    def grid(self, shown: Callable[[str, bool, bool], str]) -> list[list[str]]:
        """Return the rows of cells, each made by ``shown(text, is_bold, is_faint)``."""
        return [
            [shown(cell, (i, j) in self.bold, (i, j) in self.faint) for j, cell in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]

    def lines(
        self,
        shown: Callable[[str, bool, bool], str],
        line: Callable[[Sequence[str]], str],
        head: Callable[[str], str],
    ) -> Iterator[str]:
        """Yield the rows and their headings: `shown` makes a cell, `line` joins cells, `head` makes a heading."""
        for i, cells in enumerate(self.grid(shown)):
            if i in self.headings:
                yield head(self.headings[i])
            yield line(cells)


def render_text(table: Table) -> str:
    """Return the table as plain text that ends with a line break."""

    def cell(text: str, bold: bool, faint: bool) -> str:
        return isolate_direction(f"({text})" if faint else text)

    header = [isolate_direction(name) for name in table.header]
    widths = [max(map(column_width, column)) for column in zip(header, *table.grid(cell), strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            _pad(cell, width, i in table.left) for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    lines = [table.title, line(header), rule, *table.lines(cell, line, lambda text: f"[{text}]")]
    return "\n".join([*lines, *([""] if table.notes else []), *table.notes]) + "\n"


_RIGHT_TO_LEFT = frozenset({"R", "AL", "RLE", "RLO", "RLI"})
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})


def isolate_direction(text: str) -> str:
    """Return the text, protected so that its right-to-left letters do not reorder the numbers next to it.

    If it has such letters, Unicode isolates (Unicode Standard Annex 9) enclose it. Isolates have no width.
    """
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}"
    return text


def column_width(text: str) -> int:
    """Return the number of terminal columns: two for wide characters, none for marks and joiners."""
    return sum(
        0 if unicodedata.category(c) in _NO_WIDTH else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _pad(text: str, width: int, left: bool) -> str:
    padding = " " * (width - column_width(text))
    return text + padding if left else padding + text


def format_count(n: int, noun: str) -> str:
    """Format a number of things.

    Examples
    --------
    >>> format_count(2418, "question"), format_count(1, "passage"), format_count(0, "passage")
    ('2,418 questions', '1 passage', 'no passages')
    """
    return f"{f'{n:,}' if n else 'no'} {noun}{'' if n == 1 else 's'}"


def format_percent(
    value: float | None, decimals: int = 2, interval: tuple[float, float] | None = None, mark: str = ""
) -> str:
    """Format a fraction in percent, followed by a mark and an interval if given; a dash for None or NaN.

    Examples
    --------
    >>> format_percent(0.57994, interval=(0.5512, 0.6061))
    '57.99 [55.1, 60.6]'
    """
    if value is None or value != value:
        return EMPTY_CELL
    shown = f"{100 * value:.{decimals}f}{mark}"
    return shown if interval is None else f"{shown} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def html_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], headings: Mapping[int, str] | None = None
) -> str:
    """Return an HTML table with every cell escaped. The first column is the row header.

    `headings` has the heading above a row, by the row's index.

    Examples
    --------
    >>> print(html_table("1 < 2", ["system"], [["<b>"]]))
    <table><caption>1 &lt; 2</caption><thead><tr><th scope="col">system</th></tr></thead><tbody>
    <tr><th scope="row" style="text-align: left">&lt;b&gt;</th></tr>
    </tbody></table>
    """
    head = "".join(f'<th scope="col">{_escape(cell)}</th>' for cell in header)
    lines = []
    for i, (first, *others) in enumerate(rows):
        if headings and i in headings:
            style = "text-align: left; font-style: italic; font-weight: normal"
            lines.append(
                f'<tr><th scope="rowgroup" colspan="{len(header)}" style="{style}">{_escape(headings[i])}</th></tr>'
            )
        cells = "".join(f"<td>{_escape(cell)}</td>" for cell in others)
        lines.append(f'<tr><th scope="row" style="text-align: left">{_escape(first)}</th>{cells}</tr>')
    start = f"<table><caption>{_escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>"
    return "\n".join([start, *lines, "</tbody></table>"])


def frame_of_records(records: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return a pandas frame with one row per record. Keys of nested mappings are joined by a dot.

    Raises
    ------
    MissingPackageError
        pandas is not installed.
    """
    return _pandas().json_normalize(list(records))


def frame_of_columns(columns: Mapping[str, Any]) -> pandas.DataFrame:
    """Return a pandas frame of columns of equal length.

    Raises
    ------
    MissingPackageError
        pandas is not installed.
    """
    return _pandas().DataFrame(columns)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError("pandas", needed_for="to_frame()", extra="pandas") from error
    return pandas


def _escape(cell: str) -> str:
    return escape(printable(cell))
