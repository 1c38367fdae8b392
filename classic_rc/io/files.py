"""Files: opening and unpacking, one limit on what memory holds, formats by first bytes, and the
sha256.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from classic_rc.errors import DataError, UsageError

Advance: TypeAlias = "Callable[[int], object]"
"""A function that gets a number of steps, or bytes, that are done."""

STDIN = "-"
"""The path that means standard input where lines are read."""

MAX_INPUT = 1 << 30
"""The largest input that is read into memory, stored or unpacked: 1 GiB. Sizes in headers are
not trusted.
"""

MAX_FILES = 100_000
"""The largest number of files in a folder, and of members in an archive (RACE has 28 thousand)."""

START_BYTES = 512
"""How many of the first bytes tell the format of a file: the mark of tar is at 257."""

_BLOCK = 2**20
_BUFFER = 2**18
_POLL_SECONDS = 0.2
_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
"""The functions that unpack, by the first bytes of what they unpack."""

_SUFFIXES = ("gz", "bz2", "xz")
# the first member, or the end of an archive without members
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_COLUMN_STARTS = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}
_READ_ERRORS = (EOFError, OSError, ValueError, OverflowError, zlib.error, lzma.LZMAError)
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
}

_IGNORED_NAMES = frozenset({"lock", "verified.json", ".DS_Store"})
"""Files that reading or viewing a folder can create. They do not change its hash."""


def check_is_regular(path: str | Path, hint: str = "Write its content to a file") -> None:
    """Raise DataError if a path is a device, pipe or socket: reading it may block or never end.

    A folder, or a path that cannot be looked at, is left to the function that opens it.
    """
    if not os.path.exists(path):
        return
    kind = _KINDS.get(stat.S_IFMT(os.stat(path).st_mode))
    if kind is not None:
        raise DataError(
            "not a regular file",
            source=str(path),
            found=kind,
            expected="a regular file or standard input",
            hint=hint,
        )


@contextmanager
def open_regular(path: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file, or standard input under its own path (``/dev/stdin``), to read its
    bytes.
    """
    if _is_piped_stdin(path):
        yield io.BytesIO(_stdin_bytes())
        return
    check_is_regular(path)
    with open(path, "rb") as file:
        yield file


@contextmanager
def open_unpacked(path: str | Path, advance: Advance = lambda n_bytes: None) -> Iterator[Any]:
    """Open a file, or standard input (``"-"``), to read its bytes; what gzip, bzip2 or xz packed is
    unpacked.

    `advance` gets the number of bytes just read, as the file stores them. The unpacked size has no
    limit: callers that read line by line limit the length of lines. No buffer is around the
    unpacker: of a truncated file, everything in it would be lost. A damaged file is a DataError,
    also while it is read.
    """
    opened: AbstractContextManager[Any] = (
        nullcontext(sys.stdin.buffer) if path == STDIN else open_regular(path)
    )
    with _naming_errors(str(path)), opened as file:
        stored = io.BufferedReader(_CountingReader(file, advance), _BUFFER)
        with stored, _unpacker(stored) as stream:
            yield stream


class _CountingReader(io.RawIOBase):
    """A file's bytes, with a callback for every read."""

    def __init__(self, file: Any, advance: Advance) -> None:
        # read1 returns what a pipe has now, instead of waiting for a full buffer.
        self._read, self._advance = getattr(file, "read1", file.read), advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        self._advance(len(data))
        return len(data)


def _unpacker(stored: Any) -> Any:
    head = stored.peek()
    return next(
        (opener(stored) for start, opener in _OPENERS.items() if head.startswith(start)), stored
    )


def unpack(data: bytes, source: str) -> bytes:
    """Return data that gzip, bzip2 or xz packed, unpacked up to :data:`MAX_INPUT` bytes; other
    data as they are.
    """
    if not data.startswith(tuple(_OPENERS)):
        return data
    with _naming_errors(source), _unpacker(io.BufferedReader(io.BytesIO(data))) as stream:
        return _read_limited(stream, source, unpacked=True)


def archive_format(data: bytes) -> str | None:
    """Return ``"tar"`` or ``"zip"`` if these (unpacked) bytes are the start of such an archive,
    else None.
    """
    if data[257:262] == b"ustar":
        return "tar"
    return "zip" if data.startswith(_ZIP_STARTS) else None


def column_format(start: bytes) -> str | None:
    """Return the format of a file of columns by its first bytes: ``Parquet``, ``Arrow``, ``Arrow
    stream`` or None.

    Examples
    --------
    >>> column_format(b"PAR1...."), column_format(b"{}")
    ('Parquet', None)
    """
    return next((kind for magic, kind in _COLUMN_STARTS.items() if start.startswith(magic)), None)


def strip_compression_suffix(name: str) -> str:
    """Return the name of a file without the suffix of its compression.

    Examples
    --------
    >>> strip_compression_suffix("Corpus.jsonl.gz")
    'Corpus.jsonl'
    """
    stem, _, suffix = name.rpartition(".")
    return stem if stem and suffix.lower() in _SUFFIXES else name


def gzip_bytes(data: bytes) -> bytes:
    """Return the bytes compressed with gzip, without a time stamp: equal bytes give equal
    results.
    """
    return gzip.compress(data, mtime=0)


@contextmanager
def _naming_errors(source: str) -> Iterator[None]:
    try:
        yield
    except _READ_ERRORS as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise DataError(f"the file cannot be read ({error.strerror})", source=source) from None
        raise DataError(
            f"the file is damaged or incomplete ({error or type(error).__name__})",
            source=source,
            hint="Get the complete file",
        ) from None


def read_input(path: str | Path) -> bytes:
    """Return the bytes of a file as they are stored: at most :data:`MAX_INPUT`. Errors stay
    those of the system.
    """
    with open_regular(path) as file:
        size = os.stat(path).st_size
        if size > MAX_INPUT:
            raise too_large_error(str(path), f"{size:,} bytes")
        # The size is exact for most files. For a pipe it is 0, and a file may grow while it is
        # read.
        data = file.read(size + 1)
        if len(data) <= size:
            return data
        return data + _read_limited(file, str(path), len(data))


@contextmanager
def exclusive_lock(path: Path, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold the lock file `path`; if another process or thread holds it, call `on_wait` and wait.

    The operating system releases the lock when its process ends, however it ends. Errors stay those
    of the system.
    """
    with open(path, "ab") as file:
        if not _try_lock(file):
            on_wait()
            while not _try_lock(file):
                time.sleep(_POLL_SECONDS)
        yield


def _try_lock(file: BinaryIO) -> bool:
    """Take the lock of an open file, if it is free."""
    with suppress(BlockingIOError, PermissionError):
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def unwritable_error(path: str | Path, error: OSError, advice: str = "") -> UsageError:
    """Return the error for a file that the system does not write."""
    return UsageError(
        f"cannot write {path}: {error.strerror or error}{advice}",
        field="path",
        found=str(path),
        expected="a file that can be written",
    )


def check_folder(folder: str) -> None:
    """Raise OSError if no file can be created in a folder."""
    import tempfile

    tempfile.TemporaryFile(dir=folder or os.curdir).close()


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file as :func:`read_input` does; errors of the system are
    DataErrors.
    """
    with _naming_errors(str(path)):
        return read_input(path)


def read_unpacked(path: str | Path) -> bytes:
    """Return the bytes of a file, unpacked; errors are as in :func:`read_bytes` and
    :func:`unpack`.
    """
    return unpack(read_bytes(path), str(path))


def unpack_to_file(path: str | Path) -> BinaryIO:
    """Return the bytes of a file, unpacked, as a temporary file; one in memory where none can be
    written. Limits and errors are as in :func:`read_unpacked`.
    """
    import tempfile

    if os.path.getsize(path) > MAX_INPUT:
        raise too_large_error(str(path), f"{os.path.getsize(path):,} bytes")
    unpacked: BinaryIO = io.BytesIO()
    with suppress(OSError):
        unpacked = cast("BinaryIO", tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 - it is returned
    size = 0
    with open_unpacked(path) as stream:
        while block := stream.read1(_BLOCK):
            n_written = 0
            with suppress(OSError):
                n_written = unpacked.write(block)
            if n_written < len(block):  # no space left
                unpacked.seek(0)
                unpacked, full = io.BytesIO(), unpacked
                with full:
                    unpacked.write(full.read(size))
                unpacked.write(block)
            size += len(block)
            if size > MAX_INPUT:
                actual = f"more than {MAX_INPUT:,} bytes"
                raise too_large_error(str(path), actual, unpacked=True)
    return unpacked


def _read_limited(stream: Any, source: str, n_before: int = 0, *, unpacked: bool = False) -> bytes:
    """Return the rest of a stream, of which some bytes were read before."""
    content = io.BytesIO()  # Joining a list of blocks would need twice the memory.
    while block := stream.read1(_BLOCK):
        content.write(block)
        if n_before + content.tell() > MAX_INPUT:
            raise too_large_error(source, f"more than {MAX_INPUT:,} bytes", unpacked=unpacked)
    return content.getvalue()


def too_large_error(source: str, actual: str, *, unpacked: bool = False) -> DataError:
    """Return the error for an input that is larger than :data:`MAX_INPUT`."""
    problem = "too large when unpacked" if unpacked else "too large"
    return DataError(problem, source=source, found=actual, expected=f"at most {MAX_INPUT:,} bytes")


def check_count(count: int, source: str, unit: str) -> None:
    """Raise DataError for a folder or an archive of more than :data:`MAX_FILES` files or
    members.
    """
    if count > MAX_FILES:
        raise DataError(
            f"too many {unit}",
            source=source,
            found=f"more than {MAX_FILES:,}",
            expected=f"at most {MAX_FILES:,}",
            hint="Use only the folder or the files of the data",
        )


def _is_piped_stdin(path: str | Path) -> bool:
    try:
        status = os.stat(path)
        return not stat.S_ISREG(status.st_mode) and os.path.samestat(status, os.fstat(0))
    except (OSError, ValueError):  # no such path, or standard input is closed
        return False


@cache
def _stdin_bytes() -> bytes:
    """Return all of standard input. A pipe can be read once, but inputs are read again, for
    their hashes.
    """
    with open(0, "rb", closefd=False) as file:
        return _read_limited(file, "stdin")


def sha256_of_bytes(data: bytes) -> str:
    """Return the hex sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_text(text: str) -> str:
    """Return the hex sha256 of a text in UTF-8, with lone surrogates, which JSON can spell,
    encoded as they are.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_of_listing(files: Iterable[tuple[str, str]]) -> str:
    """Return the hex sha256 of the lines ``"<sha256>  <path>"`` of files, the output format of
    sha256sum.
    """
    return sha256_of_text("".join(f"{sha256}  {path}\n" for path, sha256 in files))


def sha256_of(path: str | Path) -> str:
    """Return the hex sha256 of a file or a folder.

    For a folder it is the sha256 of the lines ``"<sha256>  <path>"`` of its files, sorted by path.
    """
    path = Path(path)
    if path.is_dir():
        files: dict[str, Path] = {}
        for member in path.rglob("*"):
            if member.is_file() and member.name not in _IGNORED_NAMES:
                files[member.relative_to(path).as_posix()] = member
        return sha256_of_listing((name, sha256_of(files[name])) for name in sorted(files))
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except OSError as error:
        raise DataError(
            f"the file cannot be read ({error.strerror or error})", source=str(path)
        ) from None
