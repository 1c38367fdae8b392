"""Compressed data: whole gzip files; gzip, bzip2 and xz streams; members of zip archives."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError
from classic_rc.io import files
from classic_rc.io.files import check_count, check_is_regular, read_limited

STREAM_ERRORS = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""The errors of reading from :func:`unpack_stream`: the file is broken, truncated or unreadable."""

ZIP_ERRORS = (OSError, zipfile.BadZipFile)
"""The errors of :func:`read_zip_member`: the archive is broken or unreadable."""

_ZIP_ENTRY = b"PK\x01\x02"
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib: the largest window, with the header and the checksum of gzip
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
    """Return the unpacked gzip data, at most :data:`~classic_rc.io.files.MAX_INPUT` bytes.

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
    # One call unpacks nearly all files. The stream below unpacks those of several parts, and names errors.
    with contextlib.suppress(zlib.error):
        unpacker = zlib.decompressobj(wbits=_GZIP_WINDOW)
        unpacked = unpacker.decompress(data, files.MAX_INPUT + 1)
        if unpacker.eof and len(unpacked) <= files.MAX_INPUT and not unpacker.unused_data.strip(b"\0"):
            return unpacked
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return read_limited(stream, source, unpacked=True)
    except _GZIP_ERRORS as error:
        raise DataError(f"{problem} ({error})", source=source) from None


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
    check_is_regular(path)
    with zipfile.ZipFile(path) as archive, archive.open(name) as content:
        return content.read(size) if size >= 0 else read_limited(content, f"{path}/{name}", unpacked=True)


def read_stored_members(data: bytes, source: str) -> dict[str, bytes]:
    """Return the members of a zip archive that compresses none of them, by name.

    A member that is compressed, encrypted or larger than the archive is refused before it is read.

    Raises
    ------
    DataError
        The archive has too many members.
    ValueError, OSError, zipfile.BadZipFile or other errors of :mod:`zipfile`
        The archive is broken, or a member is not stored as it is.
    """
    # zipfile makes an object of every entry of the table, so entries are counted before it reads the table.
    check_count(data.count(_ZIP_ENTRY), source, "members")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("compressed members")
        # The entries of a crafted table can have one name, or share their bytes.
        if len({entry.filename for entry in entries}) < len(entries):
            raise ValueError("two members of one name")
        if sum(entry.file_size for entry in entries) > len(data):
            raise ValueError("members larger than the archive")
        return {entry.filename: archive.read(entry) for entry in entries}
