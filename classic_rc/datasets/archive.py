"""The members of a tar archive, read in one pass and never unpacked."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator

from classic_rc.errors import DataError

MAX_MEMBER = 1 << 28
"""The largest member of an archive that is read: 256 MiB."""

MAX_UNPACKED = 1 << 30
"""The most that is unpacked of one compressed file: 1 GiB. What its headers claim is not trusted."""

# A chain of extension headers is read by recursion.
_BROKEN = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError, RecursionError)


def is_gzip(data: bytes) -> bool:
    """Whether these bytes are compressed with gzip."""
    return data.startswith(b"\x1f\x8b")


def is_tar(data: bytes) -> bool:
    """Whether these (uncompressed) bytes begin a tar archive."""
    return data[257:262] == b"ustar"


def gunzip(data: bytes, source: str) -> bytes:
    """What gzip compressed, at most :data:`MAX_UNPACKED` bytes of it.

    Raises
    ------
    DataError
        The data are broken, or unpack to more.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(MAX_UNPACKED + 1)
    except _BROKEN as error:
        raise _broken(source, error) from None
    if len(unpacked) > MAX_UNPACKED:
        raise _too_large(source, f"more than {MAX_UNPACKED:,} bytes unpacked", MAX_UNPACKED)
    return unpacked


def tar_members(data: bytes, source: str) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """The path and the content of every file in a tar archive, in the archive's order.

    Parameters
    ----------
    data : bytes
        The archive, compressed with gzip or not.
    source : str
        What messages call it.

    Raises
    ------
    DataError
        It is broken or cut short, names a member by an absolute path or one with ``..``, names one twice, holds
        links or devices, or members too large.
    """
    if is_gzip(data):
        data = gunzip(data, source)
    seen: set[tuple[str, ...]] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", tarinfo=_Member) as tar:
            for member in tar:
                parts = _checked_path(member, f"{source}/{member.name}")
                if member.isdir():
                    continue
                if parts in seen:
                    raise DataError("two members of the archive have this name", source=f"{source}/{member.name}")
                seen.add(parts)
                end = member.offset_data + member.size
                if end > len(data):
                    raise EOFError(f"{member.name} ends after the archive does")
                yield parts, data[member.offset_data : end]
    except _BROKEN as error:
        raise _broken(source, error) from None


class _Member(tarfile.TarInfo):
    """A member whose broken header is an error.

    tarfile takes one in mid-archive for the archive's end, and goes back and forth for ever on a negative size.
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


def _checked_path(member: tarfile.TarInfo, name: str) -> tuple[str, ...]:
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise DataError(
            "the archive holds more than files and folders",
            source=name,
            found="a link, a device or a sparse file",
            expected="plain files",
        )
    path = member.name.replace("\\", "/")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or path[1:2] == ":" or not (parts or member.isdir()):
        raise DataError(
            "a member of the archive has an unsafe path",
            source=name,
            found=repr(member.name[:80]),
            expected="a relative path without '..'",
        )
    if member.size > MAX_MEMBER:
        raise _too_large(name, f"{member.size:,} bytes", MAX_MEMBER)
    return parts


def _broken(source: str, error: BaseException) -> DataError:
    return DataError(f"the archive is broken or cut short ({error or type(error).__name__})", source=source)


def _too_large(source: str, found: str, limit: int) -> DataError:
    return DataError("too large once unpacked", source=source, found=found, expected=f"at most {limit:,} bytes")
