"""The members of zip archives, unpacked when they are read."""

from __future__ import annotations

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator

from classic_rc.errors import DataError
from classic_rc.io import files
from classic_rc.io.files import check_count, too_large_error

_STARTS = (b"PK\x03\x04", b"PK\x05\x06")  # the first member, or the end of an archive without members
_ENTRY = b"PK\x01\x02"
# Python raises these for a password and for a compression that it does not know, among others.
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, ValueError, RuntimeError, OverflowError),
)


def is_zip(data: bytes) -> bool:
    """Return whether these bytes are the start of a zip archive."""
    return data.startswith(_STARTS)


def zip_members(data: bytes, source: str) -> Iterator[tuple[tuple[str, ...], Callable[[], bytes]]]:
    """Yield the path of every file in a zip archive, and a function that unpacks it, in the archive's order.

    Parameters
    ----------
    data : bytes
        The archive. It stays in memory as long as one of the functions.
    source : str
        The name of the archive in error messages.

    Raises
    ------
    DataError
        The archive is broken; has a member with an absolute path or a path with ``..``, or two members of one name;
        has links or encrypted members; or has too many members, or too large ones when unpacked. What is broken
        inside a member is found when it is unpacked.
    """
    # zipfile makes an object of every entry of the table, so entries are counted before it reads the table.
    check_count(data.count(_ENTRY), source, "members")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except _ZIP_ERRORS as error:
        raise _damaged_archive_error(source, error) from None
    # No more of a member is unpacked than its entry says, so this bounds what is unpacked.
    size = sum(entry.file_size for entry in entries)
    if size > files.MAX_INPUT:
        raise too_large_error(source, f"{size:,} bytes", unpacked=True)
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        path = _check_entry(entry, f"{source}/{entry.filename}")
        if entry.is_dir():
            continue
        if path in seen:
            raise DataError(
                "duplicate member of the archive", source=f"{source}/{entry.filename}", expected="unique names"
            )
        seen.add(path)
        yield path, _unpacker(archive, entry, source)


def _unpacker(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: str) -> Callable[[], bytes]:
    def unpack() -> bytes:
        try:
            # Without a number, zipfile inflates the whole member before it cuts it to the size in its entry.
            with archive.open(entry) as member:
                return member.read(entry.file_size + 1)
        except _ZIP_ERRORS as error:
            raise _damaged_archive_error(f"{source}/{entry.filename}", error) from None

    return unpack


def _check_entry(entry: zipfile.ZipInfo, name: str) -> tuple[str, ...]:
    if entry.flag_bits & 1 or stat.S_ISLNK(entry.external_attr >> 16):
        raise DataError(
            "the member of the archive cannot be read",
            source=name,
            found="an encrypted member" if entry.flag_bits & 1 else "a link",
            expected="plain files",
            hint="Unpack it and load the folder or a file",
        )
    # Windows also separates folders by backslashes, and starts absolute paths with a drive ("C:").
    path = entry.filename.replace("\\", "/")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or path[1:2] == ":" or not (parts or entry.is_dir()):
        raise DataError(
            "the member of the archive has an unsafe path",
            source=name,
            found=repr(entry.filename[:80]),
            expected="a relative path without '..'",
        )
    return parts


def _damaged_archive_error(source: str, error: BaseException) -> DataError:
    return DataError(f"the archive is damaged or incomplete ({error or type(error).__name__})", source=source)
