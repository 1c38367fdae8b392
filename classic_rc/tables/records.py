"""Records: rows of plain data with names, as CSV and as pandas frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from classic_rc.errors import MissingPackageError
from classic_rc.io.text import csv_cell

if TYPE_CHECKING:
    import pandas


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
    """Return a pandas frame with one row per record. Keys of nested mappings are joined by a dot."""
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
