"""The members of tar and zip archives, read without unpacking the archive to disk.

Nearly every tar archive has plain members only: files and folders with short names and octal
numbers. Those are read here, by the definition of the ustar format. Any other archive is read by
:mod:`tarfile`, which knows all formats and finds out what is wrong with a broken archive. For a
plain archive both give the same members.
"""

from __future__ import annotations

import io
import lzma
import math
import re
import stat
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, MissingPackageError
from classic_rc.io import files
from classic_rc.io.files import archive_format, check_count, check_is_regular, too_large_error

Member = tuple[tuple[str, ...], Callable[[], bytes]]
"""The path of a member, and a function that returns its content."""

ZIP_ERRORS = (OSError, zipfile.BadZipFile)
"""The errors of :func:`read_zip_member`: the archive is broken or unreadable."""

_Path = tuple[str, ...]

_BLOCK = tarfile.BLOCKSIZE
_CHECKED_HEADERS = 4096  # at a time: 2 MB
_WINDOW = 2**20
# RecursionError: tarfile reads a chain of extension headers by recursion.
_TAR_ERRORS = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, RecursionError)
# What follows the name in a plain header (POSIX.1-1988, section 10.1.1): mode, uid, gid; size;
# time; checksum; type (file or folder); link name; magic; version, user and group; two device
# numbers; an empty prefix of the name.
_PLAIN_HEADER = re.compile(
    rb"(?:[0-7]{7}[ \0]){3}([0-7]{11})[ \0][0-7]{11}[ \0]([0-7]{6})\0 ([05]).{100}ustar.{67}"
    rb"(?:\0{8}|[0-7]{7}[ \0]){2}\0{155}",
    re.DOTALL,
)
_ZSTANDARD = 93  # a method of compression in zip archives
_ZIP_ENTRY = b"PK\x01\x02"
_ZIP_BLOCK = 2**20
_ARRAY_HEADERS: Mapping[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""The readers of the headers of ``.npy`` files by the format version."""
# Python raises these for a password and for a compression that it does not know, among others.
_UNZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, ValueError, RuntimeError, OverflowError),
)


def archive_members(data: BinaryIO | bytes | str, source: str) -> Iterator[Member]:
    """Yield every file in a tar or zip archive, in the archive's order.

    `data` is the archive, unpacked if it was compressed: its bytes, a file of a tar archive, which
    is closed with the last of its members, or the path of a zip archive. Members in files are
    loaded only when they are read.
    DataError: the archive is broken or truncated, has too many members, two of one name, links,
    devices, encrypted members, or a path that is absolute or has ``..``. What is broken or too
    large inside a zip is found when it is unpacked.
    """
    seen: set[_Path] = set()
    if isinstance(data, bytes) and archive_format(data) == "tar":
        data = io.BytesIO(data)
    if isinstance(data, bytes | str):
        members = _zip_members(data, source)
    else:
        members = _tar_members(_TarContent(data), source)
    for name, path, content in members:
        if path in seen:
            raise DataError(
                "duplicate member of the archive",
                source=f"{source}/{name}",
                expected="unique names",
            )
        seen.add(path)
        yield path, content


class _TarContent:
    """The bytes of a tar archive, in a file."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.size = file, file.seek(0, io.SEEK_END)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes of a member."""
        self.file.seek(start)
        return self.file.read(end - start)

    def headers(self) -> Generator[bytes, int, None]:
        """Yield the block at the position that is sent; the first one is at 0."""
        first, window, position = 0, b"", 0
        while True:
            if position + _BLOCK > first + len(window):
                first, window = position, self.read(position, position + _WINDOW)
            position = yield window[position - first : position - first + _BLOCK]

    def __del__(self) -> None:
        self.file.close()


def _tar_members(
    content: _TarContent, source: str
) -> Iterator[tuple[str, _Path, Callable[[], bytes]]]:
    plain = _find_plain_members(content)
    for name, path, start, end in _find_members(content, source) if plain is None else plain:
        yield name, path, partial(content.read, start, end)


def _find_plain_members(content: _TarContent) -> list[tuple[str, _Path, int, int]] | None:
    """Return each file's name, path, start and end; None unless all are plain and the archive is
    complete.
    """
    members: list[tuple[str, _Path, int, int]] = []
    blocks: list[bytes] = []
    checksums: list[int] = []
    folders: dict[bytes, _Path | None] = {}
    n_members, position, headers = 0, 0, content.headers()
    block = next(headers)
    while header := _PLAIN_HEADER.match(block, 100):
        size, checksum, kind = header.groups()
        name = block[:100].partition(b"\0")[0]
        folder, _, base = name.rpartition(b"/")
        if folder not in folders:
            folders[folder] = _plain_path(folder)
        parents = folders[folder]
        start = position + _BLOCK
        end = start + int(size, 8)
        if parents is None or name.startswith(b"/") or end > start + files.MAX_INPUT:
            return None
        blocks.append(block)
        checksums.append(int(checksum, 8))
        if len(blocks) == _CHECKED_HEADERS:
            if not _are_checksums(blocks, checksums):
                return None
            blocks, checksums = [], []
        if kind == b"5":
            if _plain_path(base) is None:
                return None
            position = start
        else:
            names = _plain_path(base)
            if not names:
                return None
            members.append((name.decode("ascii"), (*parents, *names), start, end))
            position = start + -(-int(size, 8) // _BLOCK) * _BLOCK
        n_members += 1
        block = headers.send(position)
    is_complete = block == bytes(_BLOCK) and _are_checksums(blocks, checksums)
    return members if is_complete and n_members <= files.MAX_FILES else None


def _plain_path(path: bytes) -> _Path | None:
    """Return the parts of a path; None if it has characters or parts that need a closer look."""
    if not path.isascii() or b"\\" in path or b":" in path:
        return None
    parts = tuple(name for name in path.decode("ascii").split("/") if name not in ("", "."))
    return None if ".." in parts else parts


def _are_checksums(blocks: list[bytes], checksums: list[int]) -> bool:
    """Return whether the bytes of each header, with blanks for the checksum itself, add up to
    its checksum.
    """
    headers = np.frombuffer(b"".join(blocks), np.uint8).reshape(-1, _BLOCK).copy()
    headers[:, 148:156] = ord(" ")
    return np.array_equal(headers.sum(axis=1), checksums)


def _find_members(content: _TarContent, source: str) -> Iterator[tuple[str, _Path, int, int]]:
    """Yield the name, the path, the start and the end of every file, as :mod:`tarfile` finds
    them.
    """
    try:
        content.file.seek(0)
        with tarfile.open(fileobj=content.file, mode="r:", tarinfo=_Member) as tar:
            for number, member in enumerate(tar, start=1):
                check_count(number, source, "members")
                name = f"{source}/{member.name}"
                if not (member.isreg() or member.isdir()) or member.issparse():
                    raise DataError(
                        "the member of the archive is not a file or folder",
                        source=name,
                        found="a link, a device or a sparse file",
                        expected="plain files",
                    )
                path = _check_path(member.name, source, is_folder=member.isdir())
                if member.size > files.MAX_INPUT:
                    raise too_large_error(name, f"{member.size:,} bytes", unpacked=True)
                if member.isdir():
                    continue
                end = member.offset_data + member.size
                if end > content.size:
                    raise EOFError(f"{member.name} ends after the archive does")
                yield member.name, path, member.offset_data, end
    except _TAR_ERRORS as error:
        raise _damaged_archive_error(source, error) from None


class _Member(tarfile.TarInfo):
    """An archive member that raises an error for a broken header.

    Without it, tarfile takes a broken header in mid-archive for the end of the archive, and loops
    forever on a negative size.
    """

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> _Member:
        offset = tar.offset
        try:
            member = super().fromtarfile(tar)
        except tarfile.HeaderError as error:
            if isinstance(error, tarfile.EOFHeaderError):  # type: ignore[attr-defined]
                raise
            raise tarfile.ReadError(f"{error} at byte {offset:,}") from None
        if member.size < 0 or tar.offset <= offset:
            raise tarfile.ReadError(f"bad size at byte {offset:,}")
        return member


def _zip_members(
    data: bytes | str, source: str
) -> Iterator[tuple[str, _Path, Callable[[], bytes]]]:
    try:
        content = io.BytesIO(data) if isinstance(data, bytes) else open(data, "rb")  # noqa: SIM115 - its members read it
        _check_entries(content, source)
        archive = zipfile.ZipFile(content)
        entries = archive.infolist()
    except _UNZIP_ERRORS as error:
        raise _damaged_archive_error(source, error) from None
    n_left = [files.MAX_INPUT]  # bytes that may still be unpacked
    for entry in entries:
        if entry.flag_bits & 1 or stat.S_ISLNK(entry.external_attr >> 16):
            raise DataError(
                "the member of the archive cannot be read",
                source=f"{source}/{entry.filename}",
                found="an encrypted member" if entry.flag_bits & 1 else "a link",
                expected="plain files",
                hint="Unpack it and load the folder or a file",
            )
        path = _check_path(entry.filename, source, is_folder=entry.is_dir())
        if not entry.is_dir():
            yield entry.filename, path, _unpacker(archive, entry, source, n_left)


def _check_entries(content: BinaryIO, source: str) -> None:
    """Count the entries of a zip archive before zipfile makes an object of each."""
    count, end = 0, b""
    while block := content.read(_ZIP_BLOCK):
        count += (end + block).count(_ZIP_ENTRY)
        end = block[-len(_ZIP_ENTRY) + 1 :]
    check_count(count, source, "members")


def _unpacker(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: str, n_left: list[int]
) -> Callable[[], bytes]:
    def unpack() -> bytes:
        # No more of a member is unpacked than its entry says, so this bounds what is in memory.
        if entry.file_size > n_left[0]:
            actual = f"{entry.file_size:,} bytes"
            raise too_large_error(f"{source}/{entry.filename}", actual, unpacked=True)
        n_left[0] -= entry.file_size
        try:
            if entry.compress_type == _ZSTANDARD and sys.version_info < (3, 14):
                return _unpack_zstandard(archive, entry, source)
            # Without a number, zipfile inflates the whole member before it cuts it to the size in
            # its entry.
            with archive.open(entry) as member:
                return member.read(entry.file_size + 1)
        except _UNZIP_ERRORS as error:
            raise _damaged_archive_error(f"{source}/{entry.filename}", error) from None

    return unpack


def _unpack_zstandard(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: str) -> bytes:
    """Return the content of a member that is compressed with Zstandard, which Python knows from
    3.14 on.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackageError("pyarrow", needed_for=f"reading {source}", extra="hf") from error
    stored = archive.fp
    assert stored is not None
    stored.seek(entry.header_offset)
    header = stored.read(zipfile.sizeFileHeader)  # type: ignore[attr-defined]
    n_name, n_extra = struct.unpack("<HH", header[-4:])
    stored.seek(n_name + n_extra, io.SEEK_CUR)
    data = stored.read(entry.compress_size)
    content: bytes = pyarrow.decompress(
        data, decompressed_size=entry.file_size, codec="zstd", asbytes=True
    )
    if zlib.crc32(content) != entry.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {entry.filename}")
    return content


def read_zip_member(path: str | Path, name: str, size: int = -1) -> bytes:
    """Return the content of one member of a zip archive, or its first `size` bytes; see
    :data:`ZIP_ERRORS`.
    """
    check_is_regular(path)
    with zipfile.ZipFile(path) as archive, archive.open(name) as content:
        full_size = archive.getinfo(name).file_size
        if size < 0 and full_size > files.MAX_INPUT:
            raise too_large_error(
                f"{path}/{name}", f"more than {files.MAX_INPUT:,} bytes", unpacked=True
            )
        return content.read(size if size >= 0 else full_size + 1)


def read_stored_members(data: bytes, source: str) -> dict[str, bytes]:
    """Return the members of a zip archive that compresses none of them, by name.

    A member that is compressed, encrypted or larger than the archive is refused before it is read.
    """
    content = io.BytesIO(data)
    _check_entries(content, source)
    with zipfile.ZipFile(content) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("compressed members")
        # The entries of a crafted table can have one name, or share their bytes.
        if len({entry.filename for entry in entries}) < len(entries):
            raise ValueError("two members of one name")
        if sum(entry.file_size for entry in entries) > len(data):
            raise ValueError("members larger than the archive")
        return {entry.filename: archive.read(entry) for entry in entries}


def read_stored_arrays(data: bytes, source: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of an uncompressed ``.npz`` file, by name, without pickled objects. No more
    is allocated than the file has. Broken content raises errors that have no common base class.
    """
    return {
        name.removesuffix(".npy"): _parse_array(content)
        for name, content in read_stored_members(data, source).items()
    }


def _parse_array(content: bytes) -> NDArray[Any]:
    """Return the array in a ``.npy`` file."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in _ARRAY_HEADERS:
        raise ValueError(f"array format {version}")
    shape, is_fortran, dtype = _ARRAY_HEADERS[version](stream)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array of another size")
    values = np.frombuffer(content, dtype, count=math.prod(shape), offset=stream.tell())
    return values.reshape(shape, order="F" if is_fortran else "C").copy(order="K")


def _check_path(name: str, source: str, *, is_folder: bool) -> _Path:
    """Return the parts of a member's path, which must not lead out of the archive."""
    # Windows also separates folders by backslashes, and starts absolute paths with a drive ("C:").
    path = name.replace("\\", "/")
    parts = tuple(
        folder_or_name for folder_or_name in path.split("/") if folder_or_name not in ("", ".")
    )
    if path.startswith("/") or ".." in parts or path[1:2] == ":" or not (parts or is_folder):
        raise DataError(
            "the member of the archive has an unsafe path",
            source=f"{source}/{name}",
            found=repr(name[:80]),
            expected="a relative path without '..'",
        )
    return parts


def _damaged_archive_error(source: str, error: BaseException) -> DataError:
    return DataError(
        f"the archive is damaged or incomplete ({error or type(error).__name__})", source=source
    )
