"""The checks that every reader must pass."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from classic_rc.datasets.base import Reader
from classic_rc.datasets.registry import READERS, load
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import describe_difference

_CUTS = 12


def check_reader(reader: Reader, path: str | os.PathLike[str]) -> None:
    """Check that a reader keeps the contract of the Reader interface, on a small file of its
    format.

    The reader gives the same result twice, and ends in an error of the package on damaged copies.
    If it is registered, no reader before it takes the file.

    Parameters
    ----------
    reader : Reader
    path : path-like
        A valid file of a few questions.

    Raises
    ------
    AssertionError
        A check fails. The message describes the problem.
    """
    for name in ("name", "title", "description", "citation"):
        assert getattr(reader, name, None), f"{reader!r}: {name} is missing"
    path = Path(path)
    dataset = load(path, reader)
    if READERS.get(reader.name) is reader:
        detected = load(path).reader
        assert detected == reader.name, (
            f"{path.name} is read by {detected}, which comes before {reader.name}"
        )
    assert len(dataset), f"{reader.name} reads no question from {path.name}"
    difference = describe_difference(dataset, load(path, reader))
    assert difference is None, f"{reader.name} reads a file in two ways: {difference}"
    with tempfile.TemporaryDirectory() as folder:
        for kind, content in _damage(path.read_bytes()):
            copy = Path(folder, path.name)
            copy.write_bytes(content)
            try:
                with suppress(DataError, UsageError):
                    load(copy, reader)
            except Exception as error:
                raise AssertionError(
                    f"{reader.name}, {kind}: {type(error).__name__}: {error}"
                ) from error


def _damage(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield damaged copies of a file, each with what was done to it."""
    yield "an empty file", b""
    for i in range(1, _CUTS):
        end = len(content) * i // _CUTS
        yield f"cut after {end} bytes", content[:end]
        yield f"a NUL byte at {end}", content[:end] + b"\0" + content[end:]
        yield f"an invalid byte at {end}", content[:end] + b"\xff" + content[end:]
        yield f"{_CUTS} bytes missing at {end}", content[:end] + content[end + _CUTS :]
