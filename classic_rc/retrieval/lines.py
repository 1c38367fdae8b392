"""The lines of a file of any size, plain or compressed, read once and never unpacked to disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from classic_rc.errors import DataError

STDIN = "-"
"""What standard input goes by among paths."""

Advance = Callable[[int], None]
"""Is told how many bytes of input have just been read."""

_LONGEST_LINE = 2**28
_BUFFER = 2**18

_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError)
_REFUSED = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_lines(path: str, advance: Advance) -> Iterator[str]:
    r"""The lines of a file, each with the ``"\n"`` that ended it.

    Parameters
    ----------
    path : str
        Plain text, or compressed with gzip, bzip2 or xz, as its first bytes tell; ``"-"`` is standard input. What
        is not UTF-8 becomes U+FFFD; a byte order mark is left out.
    advance : callable
        Is told how many bytes have just been read, as the file stores them.

    Raises
    ------
    DataError
        There is no such file, it cannot be read, is cut short or broken, is an archive or no UTF-8 text at all, or
        has a line of more than 2**28 characters.
    """
    try:
        with _opened(path, advance) as file, _unpacked(file) as stream:
            _check(stream, path)
            lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace")
            while line := lines.readline(_LONGEST_LINE):
                if len(line) == _LONGEST_LINE:
                    raise DataError(f"a line of more than {_LONGEST_LINE:,} characters", source=path)
                yield line
    except _BROKEN as error:
        raise _unreadable(path, error) from None


class _Raw(io.RawIOBase):
    """A file's bytes, of which someone is told as they are read."""

    def __init__(self, file: Any, advance: Advance) -> None:
        # What comes through a pipe is read as it comes.
        self._read, self._advance = getattr(file, "read1", file.read), advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        self._advance(len(data))
        return len(data)


@contextmanager
def _opened(path: str, advance: Advance) -> Iterator[io.BufferedReader]:
    with nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb", buffering=0) as file:
        yield io.BufferedReader(_Raw(file, advance), _BUFFER)


def _unpacked(file: io.BufferedReader) -> Any:
    # No larger buffer around what unpacks: it would lose all that it holds where the file is cut short.
    head = file.peek()
    return next((opener(file) for magic, opener in _OPENERS.items() if head.startswith(magic)), file)


def _check(stream: Any, path: str) -> None:
    head = stream.peek(512)
    refused = next((what for magic, what in _REFUSED.items() if head.startswith(magic)), None)
    if head[257:262] == b"ustar":
        refused = "a tar archive"
    if refused:
        raise DataError(
            refused,
            source=path,
            expected="UTF-8 text, plain or compressed with gzip, bzip2 or xz",
            hint="Convert or unpack it",
        )


def _unreadable(path: str, error: BaseException) -> DataError:
    if isinstance(error, OSError) and error.errno is not None:
        return DataError(f"the file cannot be read ({error.strerror})", source=path)
    return DataError(f"the file is broken or cut short ({error})", source=path, hint="Get the whole file")
