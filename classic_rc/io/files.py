"""Opening files to read: regular files and standard input, and one limit on the size of every input."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from classic_rc.errors import DataError

MAX_INPUT = 1 << 30
"""The largest input that is read into memory, stored or unpacked: 1 GiB. Sizes in headers are not trusted."""

MAX_FILES = 100_000
"""The largest number of files in a folder, and of members in an archive (RACE has 28 thousand)."""

_BLOCK = 2**20
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
}


def check_is_regular(path: str | Path, hint: str = "Write its content to a file") -> None:
    """Check that a path is no device, pipe or socket: reading it may block or never end.

    A folder, or a path that cannot be looked at, is left to the function that opens it.

    Raises
    ------
    DataError
    """
    kind = _KINDS.get(stat.S_IFMT(os.stat(path).st_mode)) if os.path.exists(path) else None
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
    """Open a regular file, or standard input under its own path (``/dev/stdin``), to read its bytes.

    Raises
    ------
    DataError
        The path is a device, a pipe or a socket, or standard input has more than :data:`MAX_INPUT` bytes.
    OSError
        The file cannot be opened or read.
    """
    if _is_piped_stdin(path):
        yield io.BytesIO(_stdin_bytes())
        return
    check_is_regular(path)
    with open(path, "rb") as file:
        yield file


def read_input(path: str | Path) -> bytes:
    """Return the bytes of a file as they are stored.

    Raises
    ------
    DataError
        The path is a device, a pipe or a socket, or has more than :data:`MAX_INPUT` bytes.
    OSError
        The file cannot be read.
    """
    with open_regular(path) as file:
        size = os.stat(path).st_size
        if size > MAX_INPUT:
            raise too_large_error(str(path), f"{size:,} bytes")
        # The size is exact for most files. For a pipe it is 0, and a file may grow while it is read.
        data = file.read(size + 1)
        return data if len(data) <= size else data + read_limited(file, str(path), len(data))


def read_limited(stream: Any, source: str, n_before: int = 0, *, unpacked: bool = False) -> bytes:
    """Return the rest of a stream.

    Parameters
    ----------
    stream : file object
    source : str
        The name of the file in error messages.
    n_before : int
        The number of bytes that were read before.
    unpacked : bool
        Whether the stream unpacks a file, for the error message.

    Raises
    ------
    DataError
        There are more than :data:`MAX_INPUT` bytes.
    """
    blocks, size = [], n_before
    while block := stream.read(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > MAX_INPUT:
            raise too_large_error(source, f"more than {MAX_INPUT:,} bytes", unpacked=unpacked)
    return b"".join(blocks)


def too_large_error(source: str, found: str, *, unpacked: bool = False) -> DataError:
    """Return the error for an input that is larger than :data:`MAX_INPUT`."""
    problem = "too large when unpacked" if unpacked else "too large"
    return DataError(problem, source=source, found=found, expected=f"at most {MAX_INPUT:,} bytes")


def check_count(count: int, source: str, unit: str) -> None:
    """Check that a folder or an archive has at most :data:`MAX_FILES` files or members.

    Raises
    ------
    DataError
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
    """Return all of standard input. A pipe can be read once, but inputs are read again, for their hashes."""
    with open(0, "rb", closefd=False) as file:
        return read_limited(file, "stdin")
