"""The members of tar archives.

Nearly every archive has plain members only: files and folders with short names and octal numbers. Those are read
here, by the definition of the ustar format. Any other archive is read by :mod:`tarfile`, which knows all formats
and finds out what is wrong with a broken archive. For a plain archive both give the same members.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator

import numpy as np

from classic_rc.errors import DataError
from classic_rc.io import files
from classic_rc.io.compression import gunzip, is_gzip
from classic_rc.io.files import check_count, too_large_error

_Path = tuple[str, ...]

_BLOCK = tarfile.BLOCKSIZE
_CHECKED_HEADERS = 4096  # at a time: 2 MB
# RecursionError: tarfile reads a chain of extension headers by recursion.
_TAR_ERRORS = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, RecursionError)
# What follows the name in a plain header (POSIX.1-1988, section 10.1.1): mode, uid, gid; size; time; checksum; type
# (file or folder); link name; magic; version, user and group; two device numbers; an empty prefix of the name.
_PLAIN_HEADER = re.compile(
    rb"(?:[0-7]{7}[ \0]){3}([0-7]{11})[ \0][0-7]{11}[ \0]([0-7]{6})\0 ([05]).{100}ustar.{67}"
    rb"(?:\0{8}|[0-7]{7}[ \0]){2}\0{155}",
    re.DOTALL,
)


def is_tar(data: bytes) -> bool:
    """Return whether these (uncompressed) bytes are the start of a tar archive."""
    return data[257:262] == b"ustar"


def tar_members(data: bytes, source: str) -> Iterator[tuple[_Path, memoryview]]:
    """Yield the path and the content of every file in a tar archive, in the archive's order.

    Parameters
    ----------
    data : bytes
        The archive, compressed with gzip or not.
    source : str
        The name of the archive in error messages.

    Yields
    ------
    path : tuple of str
    content : memoryview
        A part of the unpacked archive, which stays in memory as long as one of its parts.

    Raises
    ------
    DataError
        The archive is broken or truncated; has a member with an absolute path or a path with ``..``; has two
        members of one name; has links or devices; or has too many or too large members.
    """
    if is_gzip(data):
        data = gunzip(data, source)
    members = _find_plain_members(data)
    view = memoryview(data)
    for path, start, end in members if members is not None else _find_members(data, source):
        yield path, view[start:end]


def _find_plain_members(data: bytes) -> list[tuple[_Path, int, int]] | None:
    """Return each file's path, start and end; None unless all members are plain and the archive is complete."""
    members: list[tuple[_Path, int, int]] = []
    blocks: list[int] = []
    checksums: list[int] = []
    folders: dict[bytes, _Path | None] = {}
    position = 0
    while header := _PLAIN_HEADER.match(data, position + 100):
        size, checksum, kind = header.groups()
        name = data[position : position + 100].partition(b"\0")[0]
        folder, _, base = name.rpartition(b"/")
        if folder not in folders:
            folders[folder] = _plain_path(folder)
        parents = folders[folder]
        start = position + _BLOCK
        end = start + int(size, 8)
        if parents is None or name.startswith(b"/") or end > start + files.MAX_INPUT:
            return None
        blocks.append(position // _BLOCK)
        checksums.append(int(checksum, 8))
        if kind == b"5":
            if _plain_path(base) is None:
                return None
            position = start
            continue
        own = _plain_path(base)
        if not own:
            return None
        members.append(((*parents, *own), start, end))
        position = start + -(-int(size, 8) // _BLOCK) * _BLOCK
    is_complete = data[position : position + _BLOCK] == bytes(_BLOCK)
    is_unique = len({path for path, _, _ in members}) == len(members)
    if is_complete and is_unique and len(blocks) <= files.MAX_FILES and _are_checksums(data, blocks, checksums):
        return members
    return None


def _plain_path(path: bytes) -> _Path | None:
    """Return the parts of a path; None if it has characters or parts that need a closer look."""
    if not path.isascii() or b"\\" in path or b":" in path:
        return None
    parts = tuple(part for part in path.decode("ascii").split("/") if part not in ("", "."))
    return None if ".." in parts else parts


def _are_checksums(data: bytes, blocks: list[int], checksums: list[int]) -> bool:
    """Return whether the bytes of each header, with blanks for the checksum itself, add up to its checksum."""
    table = np.frombuffer(data, np.uint8, len(data) // _BLOCK * _BLOCK).reshape(-1, _BLOCK)
    for first in range(0, len(blocks), _CHECKED_HEADERS):
        headers = table[blocks[first : first + _CHECKED_HEADERS]]
        headers[:, 148:156] = ord(" ")
        if not np.array_equal(headers.sum(axis=1), checksums[first : first + _CHECKED_HEADERS]):
            return False
    return True


def _find_members(data: bytes, source: str) -> Iterator[tuple[_Path, int, int]]:
    """Yield the path, the start and the end of every file, as :mod:`tarfile` finds them."""
    seen: set[_Path] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", tarinfo=_Member) as tar:
            for number, member in enumerate(tar, start=1):
                check_count(number, source, "members")
                parts = _check_path(member, f"{source}/{member.name}")
                if member.isdir():
                    continue
                if parts in seen:
                    raise DataError(
                        "duplicate member of the archive", source=f"{source}/{member.name}", expected="unique names"
                    )
                seen.add(parts)
                end = member.offset_data + member.size
                if end > len(data):
                    raise EOFError(f"{member.name} ends after the archive does")
                yield parts, member.offset_data, end
    except _TAR_ERRORS as error:
        raise _damaged_archive_error(source, error) from None


class _Member(tarfile.TarInfo):
    """An archive member that raises an error for a broken header.

    Without it, tarfile takes a broken header in mid-archive for the end of the archive, and loops forever on a
    negative size.
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


def _check_path(member: tarfile.TarInfo, name: str) -> _Path:
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise DataError(
            "the member of the archive is not a file or folder",
            source=name,
            found="a link, a device or a sparse file",
            expected="plain files",
        )
    # Windows also separates folders by backslashes, and starts absolute paths with a drive ("C:").
    path = member.name.replace("\\", "/")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or path[1:2] == ":" or not (parts or member.isdir()):
        raise DataError(
            "the member of the archive has an unsafe path",
            source=name,
            found=repr(member.name[:80]),
            expected="a relative path without '..'",
        )
    if member.size > files.MAX_INPUT:
        raise too_large_error(name, f"{member.size:,} bytes", unpacked=True)
    return parts


def _damaged_archive_error(source: str, error: BaseException) -> DataError:
    return DataError(f"the archive is damaged or incomplete ({error or type(error).__name__})", source=source)
