"""A temporary file for data that are cheaper to read again than to compute again."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from typing import Self


class ScratchFile:
    """A temporary file without a name: it is gone when it is closed, or when the process ends.

    Parameters
    ----------
    most : int
        The most bytes that it takes. It never takes more than half of what is free on its disk.
    """

    def __init__(self, max_bytes: int) -> None:
        self._size, self._most, self._file = 0, 0, None
        with suppress(OSError):  # there may be no folder for temporary files
            self._most = min(max_bytes, shutil.disk_usage(tempfile.gettempdir()).free // 2)
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - __exit__ closes it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, data: bytes) -> int | None:
        """Write bytes and return the place of the first one; None if there is no room."""
        start = self._size
        if self._file is None or start + len(data) > self._most:
            return None
        try:
            self._file.seek(start)
            n_written = self._file.write(data)
        except OSError:  # the disk is full
            return None
        if n_written < len(data):
            return None
        self._size += len(data)
        return start

    def read(self, start: int, size: int) -> bytes:
        """Return bytes that were written."""
        assert self._file is not None
        self._file.seek(start)
        return self._file.read(size)
