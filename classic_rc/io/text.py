"""Bytes and text in files: reading, decoding, and writing as a whole or not at all."""

from __future__ import annotations

import codecs
import os
import time
from pathlib import Path

from classic_rc.errors import DataError, UsageError

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_PATIENCE = (0.0, 0.05, 0.2, 1.0)


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, as it is stored.

    Raises
    ------
    DataError
        The file cannot be opened.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or error})", source=str(path)) from None


def read_text(path: str | Path) -> str:
    r"""The text of a file, its line ends made ``"\n"``.

    Raises
    ------
    DataError
        The file cannot be opened, or is not UTF-8 or (with a byte order mark) UTF-16.
    """
    return decode(read_bytes(path), str(path))


def decode(data: bytes, source: str) -> str:
    r"""The text of a file, its line ends made ``"\n"``.

    Parameters
    ----------
    data : bytes
        UTF-8 with or without a byte order mark, or UTF-16 with one.
    source : str
        What messages call the file.

    Raises
    ------
    DataError
        Other bytes, with the offset (from 0) and the line (from 1) of the first that cannot be read.

    Examples
    --------
    >>> decode(b"\xef\xbb\xbfone\r\ntwo\r", "a.txt")
    'one\ntwo\n'
    """
    encoding, mark = _UTF16.get(data[:2], "utf-8"), 2
    if encoding == "utf-8":
        mark = 3 if data.startswith(codecs.BOM_UTF8) else 0
    try:
        text = data[mark:].decode(encoding) if mark else data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[mark : mark + error.start].decode(encoding, "replace")
        raise _unreadable(
            mark + error.start,
            before,
            source,
            f"the byte 0x{data[mark + error.start]:02x}",
            f"{encoding.upper()} text",
        ) from None
    if "\0" in text:
        before = text[: text.index("\0")]
        offset = mark + len(before.encode(encoding))
        raise _unreadable(offset, before, source, "a NUL character", "text (UTF-16 needs its byte order mark)")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def line_and_column(text: str, offset: int) -> str:
    r"""Where a character stands, for people.

    Examples
    --------
    >>> line_and_column("one\ntwo", 5)
    'line 2 column 2'
    """
    start = text.rfind("\n", 0, offset) + 1
    return f"line {text.count(chr(10), 0, offset) + 1} column {offset - start + 1}"


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file as a whole or not at all; text as UTF-8 with LF.

    Raises
    ------
    UsageError
        The system does not allow it.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        raise UsageError(f"cannot write {os.path.realpath(path)}: {error.strerror or error}") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """As :func:`write_file`, with the system's own error.

    Raises
    ------
    OSError
        The system does not allow it.
    """
    if isinstance(content, str):
        content = content.encode("utf-8")
    if path.exists() and not path.is_file():  # a device or a pipe, which nothing may take the place of
        path.write_bytes(content)
        return
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".classic-rc-{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(temporary: Path, path: Path) -> None:
    """Move a file into place; on Windows, as soon as whoever reads the old one (a virus scanner) is done.

    Raises
    ------
    OSError
        The system does not allow it.
    """
    for seconds in _PATIENCE:
        time.sleep(seconds)
        try:
            return os.replace(temporary, path)
        except PermissionError as error:
            refused = error
    raise refused


def _unreadable(offset: int, before: str, source: str, found: str, expected: str) -> DataError:
    line = before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    return DataError(
        "the file is not text that can be read",
        source=source,
        where=f"byte offset {offset} (line {line})",
        found=found,
        expected=expected,
        hint="Convert it to UTF-8",
    )
