"""Text and tables: decoding, lines, records, text that is safe to print, and atomic writing."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError, UsageError
from classic_rc.io.files import START_BYTES, archive_format, open_unpacked, read_unpacked

LONGEST_LINE = 2**28
"""The most characters of a line that is read line by line."""

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_ESCAPED = re.compile("[\udc80-\udcff]")
_BUFFER = 2**18
_MOST_DAMAGED = 3  # No text has more than a third of bytes that are not UTF-8.
_MOST_AGAIN = 100
"""How often a table is read again from the line after a malformed one; each time may take as long as the rest."""
_RETRY_DELAYS = (0.0, 0.05, 0.2, 1.0)

_TEXT_BYTES = bytes({*range(256)} - {*range(9), *range(14, 27), *range(28, 32), 127})
_FEW_CONTROLS, _CONTROL_SHARE = 32, 0.05
"""A file is binary if more of its first bytes than these are control characters."""

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI_CONTROLS = frozenset({"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"})

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
"""The start of a cell that a spreadsheet may run; some accept the full-width forms of the signs too."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_text(path: str | Path) -> str:
    r"""Return the text of a file, unpacked and decoded (:func:`decode_text`), with every line end as ``"\n"``."""
    return decode_text(read_unpacked(path), str(path))


def read_line_blocks(
    path: str, advance: Callable[[int], object], *, longest: float = LONGEST_LINE, strict: bool = False
) -> Iterator[list[str]]:
    r"""Yield the lines of a file, each with its final ``"\n"``, some hundreds at a time.

    The file is text in UTF-8, or in UTF-16 with a byte order mark, plain or compressed with gzip, bzip2 or xz; the
    path ``"-"`` is standard input, whose lines come as soon as they are there. `advance` gets the number of bytes
    just read, as the file stores them. A line of `longest` characters is an error. Damaged characters become
    U+FFFD; with `strict` they are errors. Otherwise, a start that is no text is one.
    """
    with open_unpacked(path, advance) as stream:
        head = stream.peek(START_BYTES)[:START_BYTES]
        encoding = _UTF16.get(head[:2], "utf-8")
        if not strict:
            _check_is_text(head, encoding, path)
        make_decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else "utf-16")
        bytes_decoder = make_decoder("strict" if strict else "replace")
        decoder = io.IncrementalNewlineDecoder(bytes_decoder, translate=True)
        begun: list[str] = []  # the parts of a line whose end was not read yet
        is_read = False
        while not is_read:
            data = stream.read1(_BUFFER)
            is_read = not data
            text = decoder.decode(data, final=is_read)
            end = len(text) if is_read else text.rfind("\n") + 1
            if end or is_read:
                lines = list(io.StringIO("".join([*begun, text[:end]]), newline="\n"))
                begun = []
                _check_lengths(lines, path, longest)
                if lines:
                    yield lines
            begun.append(text[end:])
            if sum(map(len, begun)) >= longest:
                _check_lengths(["".join(begun)], path, longest)


def _check_is_text(head: bytes, encoding: str, path: str) -> None:
    """Refuse archives, and files that are mostly no text, as other compressed files are."""
    archive = archive_format(head)
    n_damaged = n_controls = 0
    if encoding == "utf-8":
        n_damaged = len(_ESCAPED.findall(head.decode("utf-8", "surrogateescape")))
        n_controls = len(head.translate(None, _TEXT_BYTES))
    if (
        archive
        or n_damaged * _MOST_DAMAGED > len(head)
        or n_controls > max(_FEW_CONTROLS, _CONTROL_SHARE * len(head))
    ):
        raise DataError(
            "not a text file",
            source=path,
            found=f"a {archive} archive" if archive else _describe_bytes(n_damaged, n_controls),
            expected="UTF-8 text, plain or compressed with gzip, bzip2 or xz",
            hint="Convert or unpack it",
        )


def _describe_bytes(n_damaged: int, n_controls: int) -> str:
    if n_controls > n_damaged:
        return f"binary data ({n_controls} control characters at its start)"
    return "bytes that are not UTF-8"


def _check_lengths(lines: list[str], path: str, longest: float) -> None:
    if max(map(len, lines), default=0) >= longest:
        raise DataError(
            "a line is too long",
            source=path,
            found=f"at least {longest:,} characters",
            expected=f"fewer than {longest:,}",
        )


def iter_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield each line of a text with its number from 1, up to the last that is not blank.

    No list of all lines is made, and no copy of the text: it may be large.

    Examples
    --------
    >>> list(iter_lines("one\n\ntwo\n \n"))
    [(1, 'one'), (2, ''), (3, 'two')]
    """
    last = len(text)
    while last and text[last - 1] in " \t\n":
        last -= 1
    start, number = 0, 1
    while (end := text.find("\n", start, last)) >= 0:
        yield number, text[start:end]
        start, number = end + 1, number + 1
    yield number, text[start:last]


def table_records(
    text: str | Iterator[str], source: str, guard: AbstractContextManager[object] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a table, each with the line at which it starts; a blank line has no cells.

    The table is a text, or its lines with their ends; then all malformed records are errors.

    Tabs separate cells if the first line has one, else commas; semicolons if it has neither. A malformed record
    raises its error in `guard`; if that suppresses it, the record's first line is left out, and the next line
    begins another record: a quote that is never closed must not swallow the rest of the table.
    """
    header = text.partition("\n")[0] if isinstance(text, str) else next(text, "")
    delimiter = next((mark for mark in "\t,;" if mark in header), ",")
    content = io.StringIO(text, newline="") if isinstance(text, str) else itertools.chain([header], text)
    records = csv.reader(content, delimiter=delimiter, strict=True)
    lines: list[str] | None = None  # all lines, once one is malformed
    before = n_again = 0
    # The default limit is shorter than some passages. It is global to the process, so it is never lowered again.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) if isinstance(text, str) else LONGEST_LINE))
    start = 1
    guard = nullcontext() if guard is None else guard
    while True:
        try:
            cells = next(records, None)
        except csv.Error as error:
            with guard if isinstance(text, str) else nullcontext():
                raise DataError(
                    f"malformed table ({error})",
                    source=source,
                    where=f"line {start}",
                    hint="End a quoted field with a quote, and double the quotes inside it",
                ) from None
            if before + records.line_num > start and n_again < _MOST_AGAIN:
                assert isinstance(text, str)
                lines = io.StringIO(text, newline="").readlines() if lines is None else lines
                before, n_again = start, n_again + 1
                records = csv.reader(lines[start:], delimiter=delimiter, strict=True)
            # Else the parser continues with the line after those that it read.
        else:
            if cells is None:
                return
            yield start, cells
        start = before + records.line_num + 1


def decode_text(data: bytes, source: str, damaged: dict[int, str] | None = None) -> str:
    r"""Decode the bytes of a file, UTF-8 or UTF-16 with a byte order mark, with every line end as ``"\n"``.

    The error gives the offset (from 0) and the line (from 1) of the first bad byte. With `damaged`, if less than
    half of the lines are damaged, bad bytes are read as U+FFFD, NUL characters are kept, and `damaged` gets what
    each damaged line has, by its number.

    Examples
    --------
    >>> decode_text(b"\xef\xbb\xbfone\r\ntwo\r", "a.txt")
    'one\ntwo\n'
    """
    encoding, bom_length = _UTF16.get(data[:2], "utf-8"), 2
    if encoding == "utf-8":
        bom_length = 3 if data.startswith(codecs.BOM_UTF8) else 0
    try:
        text = data[bom_length:].decode(encoding) if bom_length else data.decode(encoding)
    except UnicodeDecodeError as error:
        if damaged is not None and (repaired := _decode_damaged(data[bom_length:], encoding, damaged)):
            return repaired
        before = data[bom_length : bom_length + error.start].decode(encoding, "replace")
        raise _decoding_error(
            bom_length + error.start,
            before,
            source,
            f"the byte 0x{data[bom_length + error.start]:02x}",
            f"{encoding.upper()} text",
        ) from None
    if "\0" in text:
        if damaged is not None and (repaired := _decode_damaged(data[bom_length:], encoding, damaged)):
            return repaired
        before = text[: text.index("\0")]
        offset = bom_length + len(before.encode(encoding))
        raise _decoding_error(offset, before, source, "a NUL character", "text (UTF-16 needs its byte order mark)")
    return _with_line_feeds(text)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decode_damaged(data: bytes, encoding: str, damaged: dict[int, str]) -> str | None:
    """Decode what can be decoded, and note the damage of each line; None if half of the lines are damaged."""
    # Escapes tell damaged bytes from a U+FFFD that is in the file.
    escaped = data.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
    lines = _with_line_feeds(escaped).split("\n")
    found: dict[int, str] = {}
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            found[number] = "a NUL character"
        elif _ESCAPED.search(line):
            found[number] = "bytes that are not text, read as U+FFFD"
    if not found or 2 * len(found) > len(lines):
        return None
    damaged.update(found)
    return _with_line_feeds(data.decode(encoding, "replace"))


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
        target = os.path.realpath(path)
        raise UsageError(
            f"cannot write {target}: {error.strerror or error}",
            field="path",
            found=target,
            expected="a file that can be written",
        ) from error


def write_atomically(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file as :func:`write_file` does, but raise the system's own error."""
    pieces = [content] if isinstance(content, str | bytes) else content
    blocks = (piece if isinstance(piece, bytes) else piece.encode("utf-8") for piece in pieces)
    if path.exists() and not path.is_file():  # A device or a pipe must not be replaced by a file.
        with open(path, "wb") as device:
            device.writelines(blocks)
        return
    path = Path(os.path.realpath(path))  # Behind a symbolic link, replace the target and keep the link.
    temporary = path.with_name(f".classic-rc-{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.writelines(blocks)
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(temporary: Path, path: Path) -> None:
    """Move a file into place.

    On Windows another program (a virus scanner) can hold the old file open, so the move is tried several times.
    """
    for seconds in _RETRY_DELAYS:
        time.sleep(seconds)
        try:
            return os.replace(temporary, path)
        except PermissionError as error:
            refused = error
    raise refused


def _decoding_error(offset: int, before: str, source: str, found: str, expected: str) -> DataError:
    line = before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    return DataError(
        "the file is not valid text",
        source=source,
        where=f"byte offset {offset} (line {line})",
        found=found,
        expected=expected,
        hint="Save it as UTF-8 text: JSON lines or CSV, or as Parquet",
    )


def printable(text: str, keep: str = "") -> str:
    r"""Return the text with control characters escaped, so that a file's content cannot control a terminal.

    Escaped are control characters but those of `keep`, lone surrogates, line and paragraph separators, and the
    bidirectional controls that reorder text. Joiners stay, because emoji and many scripts need them.

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

    A text that begins like a formula gets an apostrophe in front, so it is shown as text. Numbers stay as they are,
    also in text. Control characters are escaped.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("-2.5"), csv_cell(-2.5), csv_cell("a-b")
    ("'=1+1", '-2.5', -2.5, 'a-b')
    """
    if not isinstance(value, str):
        return value
    shown = printable(value)
    return f"'{shown}" if _FORMULA.match(value) and not _NUMBER.fullmatch(value) else shown


def _is_unsafe(character: str) -> bool:
    return (
        unicodedata.category(character) in _UNSAFE_CATEGORIES
        or unicodedata.bidirectional(character) in _BIDI_CONTROLS
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
