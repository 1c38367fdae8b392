"""Results for notebooks: HTML tables, and pandas frames when pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from classic_rc.errors import MissingPackageError
from classic_rc.io.printable import printable

if TYPE_CHECKING:
    import pandas


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table with every cell escaped. The first column is the row header.

    Examples
    --------
    >>> print(html_table("1 < 2", ["system"], [["<b>"]]))
    <table><caption>1 &lt; 2</caption><thead><tr><th scope="col">system</th></tr></thead><tbody>
    <tr><th scope="row" style="text-align: left">&lt;b&gt;</th></tr>
    </tbody></table>
    """
    head = "".join(f'<th scope="col">{_escape(cell)}</th>' for cell in header)
    lines = [
        f'<tr><th scope="row" style="text-align: left">{_escape(first)}</th>'
        + "".join(f"<td>{_escape(cell)}</td>" for cell in others)
        + "</tr>"
        for first, *others in rows
    ]
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
