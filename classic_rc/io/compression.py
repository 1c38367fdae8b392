"""Compressed data: whole gzip files within a size limit; gzip, bzip2 and xz streams; members of zip archives."""

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
"""The largest unpacked size of one compressed file: 1 GiB. The size in the file's headers is not trusted."""

STREAM_ERRORS = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""The errors of reading from :func:`unpack_stream`: the file is broken, truncated or unreadable."""

ZIP_ERRORS = (OSError, zipfile.BadZipFile)
"""The errors of :func:`read_zip_member`: the archive is broken or unreadable."""

_GZIP = b"\x1f\x8b"
_GZIP_ERRORS = (zlib.error, EOFError, OSError, ValueError, OverflowError)
_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    _GZIP: gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


def is_gzip(data: bytes) -> bool:
    """Return whether the bytes are compressed with gzip."""
    return data.startswith(_GZIP)


def gunzip(data: bytes, source: str, problem: str = "the archive is damaged or incomplete") -> bytes:
    """Return the unpacked gzip data, at most :data:`MAX_UNPACKED` bytes.

    Parameters
    ----------
    data : bytes
    source : str
        The name of the file in error messages.
    problem : str
        The error message for broken data.

    Raises
    ------
    DataError
        The data are broken, or larger than the limit when unpacked.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(MAX_UNPACKED + 1)
    except _GZIP_ERRORS as error:
        raise DataError(f"{problem} ({error})", source=source) from None
    if len(unpacked) > MAX_UNPACKED:
        raise too_large_error(source, f"more than {MAX_UNPACKED:,} bytes", MAX_UNPACKED)
    return unpacked


def too_large_error(source: str, found: str, limit: int) -> DataError:
    """Return the error for data that is larger than `limit` bytes when unpacked."""
    return DataError("too large when unpacked", source=source, found=found, expected=f"at most {limit:,} bytes")


def gzip_bytes(data: bytes) -> bytes:
    """Return the bytes compressed with gzip, without a time stamp: equal bytes give equal results."""
    return gzip.compress(data, mtime=0)


def unpack_stream(file: io.BufferedReader) -> Any:
    """Return a stream that unpacks a file, or the file itself if it is not compressed.

    The first bytes of the file show its format. The unpacked size has no limit: a caller that reads line by line
    limits the length of lines.
    """
    # No larger buffer around the unpacker: when the file is truncated, everything in that buffer would be lost.
    head = file.peek()
    return next((opener(file) for magic, opener in _OPENERS.items() if head.startswith(magic)), file)


def read_zip_member(path: str | Path, name: str, size: int = -1) -> bytes:
    """Return the content of one member of a zip archive, or its first `size` bytes.

    Raises
    ------
    KeyError
        There is no such member.
    OSError, zipfile.BadZipFile
        The archive is broken or unreadable; see :data:`ZIP_ERRORS`.
    """
    with zipfile.ZipFile(path) as archive, archive.open(name) as content:
        return content.read(size)
