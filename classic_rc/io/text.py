"""Text and tables: decoding, lines, records, text that is safe to print, and atomic writing."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import math
import os
import re
import time
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Literal

from classic_rc.errors import DataError
from classic_rc.io.files import (
    START_BYTES,
    Advance,
    archive_format,
    open_unpacked,
    read_unpacked,
    unwritable_error,
)

LONGEST_LINE = 2**28
"""The most characters of a line that is read line by line."""

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_ESCAPED = re.compile("[\udc80-\udcff]")
_DAMAGE = re.compile("[\0\udc80-\udcff]")
_READ_AS = "bytes that are not text, read as U+FFFD"
_BUFFER = 2**18
_MOST_DAMAGED = 3  # No text has more than a third of bytes that are not UTF-8.
_MOST_AGAIN = 100
"""How often a table is read again from the line after a malformed one; each time may take as
long as the rest.
"""
_RETRY_DELAYS = (0.0, 0.05, 0.2, 1.0)

_TEXT_BYTES = bytes({*range(256)} - {*range(9), *range(14, 27), *range(28, 32), 127})
_FEW_CONTROLS, _CONTROL_SHARE = 32, 0.05
"""A file is binary if more of its first bytes than these are control characters."""

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI_CONTROLS = frozenset({"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"})

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
"""The start of a cell that a spreadsheet may run; some accept the full-width forms of the signs
too.
"""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_text(path: str | Path) -> str:
    r"""Return the text of a file, unpacked and decoded (:func:`decode_text`), with every line
    end as ``"\n"``.
    """
    return decode_text(read_unpacked(path), str(path))


def read_line_blocks(
    path: str, advance: Advance, *, longest: float = LONGEST_LINE
) -> Iterator[list[str]]:
    """Yield the lines of a file without their ends, some hundreds at a time.

    The file is text as in :func:`decode_blocks`, plain or compressed with gzip, bzip2 or xz; the
    path ``"-"`` is standard input, whose lines come as soon as they are there. `advance` gets the
    number of bytes just read, as the file stores them. Damaged characters become U+FFFD. A file
    whose start is not text is an error, and so is a line of `longest` characters.
    """
    with open_unpacked(path, advance) as stream:
        _check_is_text(stream.peek(START_BYTES)[:START_BYTES], path)
        for block in decode_blocks(stream, path, errors="replace", longest=longest):
            lines = split_lines(block)
            if max(map(len, lines)) >= longest:
                raise _long_line_error(path, longest)
            yield lines


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text without their ends.

    Examples
    --------
    >>> split_lines("one\n\ntwo\n"), split_lines("one"), split_lines("")
    (['one', '', 'two'], ['one'], [])
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _check_is_text(head: bytes, path: str) -> None:
    """Refuse archives, and files that are mostly no text, as other compressed files are."""
    archive = archive_format(head)
    n_damaged = n_controls = 0
    if head[:2] not in _UTF16:
        n_damaged = len(_ESCAPED.findall(head.decode("utf-8", "surrogateescape")))
        n_controls = len(head.translate(None, _TEXT_BYTES))
    is_binary = n_controls > max(_FEW_CONTROLS, _CONTROL_SHARE * len(head))
    if not (archive or is_binary or n_damaged * _MOST_DAMAGED > len(head)):
        return
    actual = "bytes that are not UTF-8"
    if archive:
        actual = f"a {archive} archive"
    elif n_controls > n_damaged:
        actual = f"binary data ({n_controls} control characters at its start)"
    raise DataError(
        "not a text file",
        source=path,
        found=actual,
        expected="UTF-8 text, plain or compressed with gzip, bzip2 or xz",
        hint="Convert or unpack it",
    )


def _long_line_error(path: str, longest: float) -> DataError:
    actual, expected = f"at least {longest:,} characters", f"fewer than {longest:,}"
    return DataError("a line is too long", source=path, found=actual, expected=expected)


def table_records(
    table: str | Iterable[str], source: str, guard: AbstractContextManager[object] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a table, each with the line at which it starts; a blank line has no
    cells.

    The table is a text, or its lines without their ends. Tabs separate cells if the first line has
    one, else commas; semicolons if it has neither. A malformed record raises its error in `guard`;
    if that suppresses it, the record's first line is left out, and the next line begins another
    record: a quote that is never closed must not swallow the rest of the table.
    """
    rest = iter(split_lines(table) if isinstance(table, str) else table)
    to_reread = deque(itertools.islice(rest, 1))  # the lines to read before the others
    record_lines: list[str] = []  # the lines of the record
    delimiter = next((mark for mark in "\t,;" if to_reread and mark in to_reread[0]), ",")

    def lines() -> Iterator[str]:
        while (line := to_reread.popleft() if to_reread else next(rest, None)) is not None:
            record_lines.append(line)
            yield f"{line}\n"

    records = csv.reader(lines(), delimiter=delimiter, strict=True)
    # The default limit is shorter than some passages. It is global to the process, so it is never
    # lowered again.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    start, n_reread = 1, 0
    guard = nullcontext() if guard is None else guard
    while True:
        record_lines.clear()
        try:
            if (cells := next(records, None)) is None:
                return
            yield start, cells
        except csv.Error as error:
            with guard:
                raise DataError(
                    f"malformed table ({error})",
                    source=source,
                    where=f"line {start}",
                    hint="End a quoted field with a quote, and double the quotes inside it",
                ) from None
            if len(record_lines) > 1 and n_reread < _MOST_AGAIN:
                n_reread += 1
                to_reread.extendleft(reversed(record_lines[1:]))
                del record_lines[1:]
                records = csv.reader(lines(), delimiter=delimiter, strict=True)
        start += len(record_lines)


def decode_text(data: bytes, source: str, damaged: dict[int, str] | None = None) -> str:
    r"""Return the text that the bytes of a file are (:func:`decode_blocks`).

    Examples
    --------
    >>> decode_text(b"\xef\xbb\xbfone\r\ntwo\r", "a.txt")
    'one\ntwo\n'
    """
    # most files are UTF-8 without damage, and have no byte order mark
    with suppress(UnicodeDecodeError):
        text = data.decode()
        if not text.startswith("\ufeff") and "\0" not in text:
            return _with_line_feeds(text)
    return "".join(decode_blocks(io.BufferedReader(io.BytesIO(data)), source, damaged))


_AS_TEXT = "Save its rows as UTF-8 text: JSON lines or CSV, or as Parquet"

_BINARY = {
    b"\x93NUMPY": "a NumPy array",
    b"PK\x03\x04": "a zip archive, such as .npz or .xlsx",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF-": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an Office document",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3\0": "a SQLite database",
    **{bytes((0x80, protocol)): "a Python pickle" for protocol in range(2, 6)},
}
"""What a file is that starts with these bytes."""


def decode_blocks(
    stream: Any,
    source: str,
    damaged: dict[int, str] | None = None,
    *,
    errors: Literal["strict", "replace"] = "strict",
    longest: float = math.inf,
) -> Iterator[str]:
    r"""Yield a text in pieces of whole lines, with every line end as ``"\n"``.

    The bytes of the buffered `stream` are UTF-8, or UTF-16 with a byte order mark. Bad bytes and
    NUL characters are errors, which give the offset (from 0) and the line (from 1) of the first
    one. With `damaged`, bad bytes of UTF-8 are read as U+FFFD, NUL characters are kept, and
    `damaged` gets what each damaged line has, by its number; the error comes at the end if more
    than half of the lines are damaged. With ``errors="replace"`` nothing is an error but an
    unfinished line of `longest` characters.
    """
    head = stream.peek(START_BYTES)
    kind = next((kind for start, kind in _BINARY.items() if head.startswith(start)), None)
    if kind is not None:
        raise DataError(
            "the file is not valid text",
            source=source,
            found=kind,
            expected="UTF-8 text",
            hint=_AS_TEXT,
        )
    encoding = _UTF16.get(head[:2], "utf-8")
    n_read = len(stream.read(2 if encoding != "utf-8" else 3 * head.startswith(codecs.BOM_UTF8)))
    # Escapes tell damaged bytes from a U+FFFD that is in the file.
    escapes = errors == "strict" and encoding == "utf-8"
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape" if escapes else errors)
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    begun: list[str] = []  # the parts of a line whose end was not read yet
    n_lines = 0
    first: DataError | None = None
    is_read = False
    while not is_read:
        data = stream.read1(_BUFFER)
        is_read = not data
        n_decoded = n_read - len(decoder.getstate()[0])
        n_read += len(data)
        try:
            raw = decoder.decode(data, final=is_read)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(encoding)
            raise _decoding_error(
                before, n_decoded, n_lines, error.object[error.start], encoding, source
            ) from None
        if first is None and errors == "strict" and not _is_sound(raw):
            match = _DAMAGE.search(raw)
            assert match is not None
            byte = ord(match[0]) & 0xFF if match[0] != "\0" else None
            first = _decoding_error(
                raw[: match.start()], n_decoded, n_lines, byte, encoding, source
            )
            if damaged is None:
                raise first
        text = newlines.decode(raw, final=is_read)
        end = len(text) if is_read else text.rfind("\n") + 1
        block = "".join([*begun, text[:end]]) if end or is_read else ""
        if block:
            begun.clear()
        begun.append(text[end:])
        if sum(map(len, begun)) >= longest:
            raise _long_line_error(source, longest)
        if block:
            if damaged is not None and not _is_sound(block):
                block = _repair(block, n_lines, damaged)
            n_lines += block.count("\n")
            pieces = [block]
            del block  # a long line is in memory once
            yield pieces.pop()
    if damaged is not None and first is not None and 2 * len(damaged) > n_lines + 1:
        damaged.clear()
        raise first


def _repair(block: str, n_lines: int, damaged: dict[int, str]) -> str:
    """Return a block that comes after some lines with U+FFFD for bad bytes, and note its damaged
    lines.
    """
    lines = block.split("\n")
    for i, line in enumerate(lines):
        if not _is_sound(line):
            damaged[n_lines + i + 1] = "a NUL character" if "\0" in line else _READ_AS
            lines[i] = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "\n".join(lines)


def is_encodable(text: str) -> bool:
    """Return whether a text has no lone surrogate, which JSON can spell and UTF-8 cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_sound(text: str) -> bool:
    return "\0" not in text and is_encodable(text)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def line_and_column(text: str, offset: int) -> str:
    r"""Return the line and the column of a character, both from 1, in words for messages.

    Examples
    --------
    >>> line_and_column("one\ntwo", 5)
    'line 2 column 2'
    """
    start = text.rfind("\n", 0, offset) + 1
    return f"line {text.count(chr(10), 0, offset) + 1} column {offset - start + 1}"


def write_file(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file atomically, or raise UsageError; text is written as UTF-8 with LF line ends."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise unwritable_error(os.path.realpath(path), error) from error


def write_atomically(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file as :func:`write_file` does, but raise the system's own error."""
    pieces = [content] if isinstance(content, str | bytes) else content
    blocks = (piece if isinstance(piece, bytes) else piece.encode("utf-8") for piece in pieces)
    if path.exists() and not path.is_file():  # A device or a pipe must not be replaced by a file.
        with open(path, "wb") as device:
            device.writelines(blocks)
        return
    # Behind a symbolic link, replace the target and keep the link.
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".classic-rc-{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.writelines(blocks)
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(temporary: Path, path: Path) -> None:
    """Move a file into place.

    On Windows another program (a virus scanner) can hold the old file open, so the move is tried
    several times.
    """
    for seconds in _RETRY_DELAYS:
        time.sleep(seconds)
        try:
            return os.replace(temporary, path)
        except PermissionError as error:
            refused = error
    raise refused


def _decoding_error(
    before: str, offset: int, n_lines: int, byte: int | None, encoding: str, source: str
) -> DataError:
    """Return the error for a byte, or a NUL character, after a text that begins at an offset."""
    offset += len(before.encode(encoding))
    line = n_lines + _with_line_feeds(before).count("\n") + 1
    if byte is None:
        actual, expected = "a NUL character", "text (UTF-16 needs its byte order mark)"
    else:
        actual, expected = f"the byte 0x{byte:02x}", f"{encoding.upper()} text"
    return DataError(
        "the file is not valid text",
        source=source,
        where=f"byte offset {offset} (line {line})",
        found=actual,
        expected=expected,
        hint=_AS_TEXT,
    )


def printable(text: str, keep: str = "") -> str:
    r"""Return the text with control characters escaped, so that a file's content cannot control a
    terminal.

    Escaped are control characters but those of `keep`, lone surrogates, line and paragraph
    separators, and the bidirectional controls that reorder text. Joiners stay, because emoji and
    many scripts need them.

    Examples
    --------
    >>> print(printable("red: \x1b[31m, new line: \n"))
    red: \x1b[31m, new line: \n
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not _is_unsafe(c) else _escape(c) for c in text)


def csv_cell(value: Any) -> Any:
    """Return a value as a cell of a CSV file that no spreadsheet runs as a formula.

    A text that begins like a formula gets an apostrophe in front, so it is shown as text. Numbers
    stay as they are, also in text. Control characters are escaped.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("-2.5"), csv_cell(-2.5), csv_cell("a-b")
    ("'=1+1", '-2.5', -2.5, 'a-b')
    """
    if not isinstance(value, str):
        return value
    escaped = printable(value)
    return f"'{escaped}" if _FORMULA.match(value) and not _NUMBER.fullmatch(value) else escaped


def _is_unsafe(character: str) -> bool:
    return (
        unicodedata.category(character) in _UNSAFE_CATEGORIES
        or unicodedata.bidirectional(character) in _BIDI_CONTROLS
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
