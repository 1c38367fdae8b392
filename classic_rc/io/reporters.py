"""The share of a piece of work that other processes have done: each writes its own into a file."""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, TypeVar

from classic_rc.work import CURRENT_WORK, Work

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Reporter:
    """Calls a function in another process, and writes the share of it that is done into a file."""

    path: str | None
    place: int

    def __call__(self, function: Callable[..., _Result], *args: Any) -> _Result:
        """Return the function's result. Where there is no such file, nothing is reported."""
        if self.path is None or not os.path.exists(self.path):
            return function(*args)
        CURRENT_WORK.set(None)
        with open(self.path, "r+b", buffering=0) as file, _ReportedWork(file, self.place).run():
            return function(*args)

    def forget(self) -> None:
        """Report nothing from now on: the result is counted otherwise."""
        if self.path is not None:
            with open(self.path, "r+b", buffering=0) as file:
                _ReportedWork(file, self.place).report()


class _ReportedWork(Work):
    def __init__(self, file: BinaryIO, place: int) -> None:
        super().__init__()
        self._file, self._place = file, place

    def report(self) -> None:
        self._file.seek(8 * self._place)
        self._file.write(struct.pack("d", self.share))


class _ProcessesWork(Work):
    def __init__(self, path: str, n: int) -> None:
        super().__init__(n)
        self._path = path

    @property
    def share(self) -> float:
        with open(self._path, "rb") as file:
            return sum(array("d", file.read())) / self.total


@contextmanager
def reporters(n: int, steps: float = 0.0) -> Iterator[list[Reporter]]:
    """Yield the reporters of `n` equal parts of the present step (or of `steps`), each for
    another process.
    """
    if CURRENT_WORK.get() is None:
        yield [Reporter(None, place) for place in range(n)]
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "shares")
        with open(path, "wb") as file:
            file.write(bytes(8 * n))
        with _ProcessesWork(path, n).run(steps=steps):
            yield [Reporter(path, place) for place in range(n)]
