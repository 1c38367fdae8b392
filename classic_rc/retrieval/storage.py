"""Arrays in one file, mapped from it; and files that appear whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError

Arrays = Mapping[str, NDArray[Any]]

_ALIGNMENT = 64
_BLOCK = 2**20
_PATIENCE = (0.0, 0.05, 0.2, 1.0)
REBUILD = "Build the index again, with `classic-rc index`"
"""What the user can do about damage."""


class StoredArray(NamedTuple):
    """Where an array lies in a file.

    Parameters
    ----------
    dtype : str
        NumPy's short form, byte order included: ``"<i4"``.
    length : int
        In elements.
    offset : int
        In bytes.
    """

    dtype: str
    length: int
    offset: int


class StoredFile(NamedTuple):
    """What a file of arrays holds.

    Parameters
    ----------
    name : str
    size : int
        In bytes.
    sha256 : str
    arrays : dict of str to StoredArray
    """

    name: str
    size: int
    sha256: str
    arrays: dict[str, StoredArray]


def write_arrays(path: Path, arrays: Arrays) -> StoredFile:
    """Write flat arrays to a file that appears when it is whole.

    They all go into one file because a process may have but few files open: 256 on macOS.

    Raises
    ------
    UsageError
        The system does not allow it.
    """
    temporary, digest, table, size = path.with_name(path.name + ".tmp"), hashlib.sha256(), {}, 0
    try:
        with open(temporary, "wb") as file:
            for name, array in arrays.items():
                data = np.ascontiguousarray(array).view(np.uint8).data
                padding = bytes(-len(data) % _ALIGNMENT)
                table[name] = StoredArray(array.dtype.str, len(array), size)
                for part in (data, padding):
                    file.write(part)
                    digest.update(part)
                    size += len(part)
            file.flush()
            os.fsync(file.fileno())
        _replace(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    return StoredFile(path.name, size, digest.hexdigest(), table)


def map_arrays(folder: Path, stored: StoredFile) -> dict[str, NDArray[Any]]:
    """The arrays of a file, read-only, which the system reads when they are looked at.

    Raises
    ------
    DataError
        The file is not there, cannot be read, or has another size.
    """
    path = folder / stored.name
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size != stored.size:
            raise _damaged(path, f"{size:,} bytes", f"{stored.size:,}")
        # NumPy's own map and not another, because joblib sends it to its workers as a path.
        content = np.asarray(np.memmap(file, mode="r")) if size else np.empty(0, np.uint8)
    try:
        return {name: _part(content, *array) for name, array in stored.arrays.items()}
    except (TypeError, ValueError) as error:
        raise _damaged(path, str(error), "the arrays of the manifest") from None


def check_content(folder: Path, stored: StoredFile) -> None:
    """Read a whole file.

    Raises
    ------
    DataError
        Its content is not what was written.
    """
    path = folder / stored.name
    digest = hashlib.sha256()
    with _open(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    found = digest.hexdigest()
    if found != stored.sha256:
        raise _damaged(path, f"sha256 {found[:16]}", stored.sha256[:16])


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file that appears when it is whole, instead of the one that was there.

    Raises
    ------
    UsageError
        The system does not allow it.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            json.dump(value, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        _replace(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(temporary: Path, path: Path) -> None:
    """Move a file into place; on Windows, as soon as whoever reads the old one (a virus scanner) is done."""
    for seconds in _PATIENCE:
        time.sleep(seconds)
        try:
            return os.replace(temporary, path)
        except PermissionError as error:
            refused = error
    raise refused


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    try:
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=str(path), hint=REBUILD) from None


def _part(content: NDArray[np.uint8], dtype: str, length: int, offset: int) -> NDArray[Any]:
    part = content[offset : offset + length * np.dtype(dtype).itemsize].view(dtype)
    if len(part) != length:
        raise ValueError(f"{len(part)} elements at byte {offset}")
    return part


def _damaged(path: Path, found: str, expected: str) -> DataError:
    return DataError("not as it was written", source=str(path), found=found, expected=expected, hint=REBUILD)
