"""From files to text and JSON values, and back: what readers and writers share."""

from __future__ import annotations

from pathlib import Path

from classic_rc.errors import DataError
from classic_rc.io.json import Node, describe, parse_json
from classic_rc.io.text import decode, write_file

__all__ = ["Node", "decode", "describe", "parse_json", "read_text", "write_file"]


def read_text(path: str | Path) -> str:
    r"""The text of a file, its line ends made ``"\n"``.

    Raises
    ------
    DataError
        The file cannot be opened, or is not UTF-8 or (with a byte order mark) UTF-16.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or error})", source=str(path)) from None
    return decode(data, str(path))
