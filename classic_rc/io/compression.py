"""Compressed data: gzip as a whole, within a limit; gzip, bzip2 and xz as streams; the members of zip archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError

MAX_UNPACKED = 1 << 30
"""The most that is unpacked of one compressed file: 1 GiB. What its headers claim is not trusted."""

STREAM_ERRORS = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What reading from :func:`unpacked_stream` may raise where the file is broken, cut short or cannot be read."""

ZIP_ERRORS = (OSError, zipfile.BadZipFile)
"""What :func:`zip_member` may raise where the archive is broken or cannot be read."""

_GZIP = b"\x1f\x8b"
_GZIP_ERRORS = (zlib.error, EOFError, OSError, ValueError, OverflowError)
_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    _GZIP: gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


def is_gzip(data: bytes) -> bool:
    """Whether these bytes are compressed with gzip."""
    return data.startswith(_GZIP)


def gunzip(data: bytes, source: str, problem: str = "the archive is broken or cut short") -> bytes:
    """What gzip compressed, at most :data:`MAX_UNPACKED` bytes of it.

    Parameters
    ----------
    data : bytes
    source : str
        What messages call the file.
    problem : str
        What messages say of broken data.

    Raises
    ------
    DataError
        The data are broken, or unpack to more.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(MAX_UNPACKED + 1)
    except _GZIP_ERRORS as error:
        raise DataError(f"{problem} ({error})", source=source) from None
    if len(unpacked) > MAX_UNPACKED:
        raise too_large(source, f"more than {MAX_UNPACKED:,} bytes unpacked", MAX_UNPACKED)
    return unpacked


def too_large(source: str, found: str, limit: int) -> DataError:
    """The error for what is larger than we unpack."""
    return DataError("too large once unpacked", source=source, found=found, expected=f"at most {limit:,} bytes")


def gzipped(data: bytes) -> bytes:
    """The bytes compressed with gzip; equal bytes give equal results, whatever the time."""
    return gzip.compress(data, mtime=0)


def unpacked_stream(file: io.BufferedReader) -> Any:
    """The stream that unpacks a file, as its first bytes tell; the file itself where it is not compressed.

    There is no limit: who reads it line by line bounds the lines.
    """
    # No larger buffer around what unpacks: it would lose all that it holds where the file is cut short.
    head = file.peek()
    return next((opener(file) for magic, opener in _OPENERS.items() if head.startswith(magic)), file)


def zip_member(path: str | Path, name: str, size: int = -1) -> bytes:
    """The content of a member of a zip archive, or its first `size` bytes.

    Raises
    ------
    KeyError
        There is no such member.
    OSError, zipfile.BadZipFile
        As :data:`ZIP_ERRORS`.
    """
    with zipfile.ZipFile(path) as archive, archive.open(name) as content:
        return content.read(size)
