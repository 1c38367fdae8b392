"""One writer at a time, on every system, without locks that outlive their process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from classic_rc.errors import UsageError


@contextmanager
def exclusive(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Let no one else, here or in another process, into this block for the same folder.

    A file ``lock`` stays behind; it is empty, and means nothing by itself.

    Parameters
    ----------
    folder : str or path
        An existing folder.

    Raises
    ------
    UsageError
        Someone else is in it, or the folder cannot be written.
    """
    # SQLite locks files on every system by the means that it has, and systems let go of what the dead held: unlike
    # a file with a process' number, whose owner one has to guess at.
    import sqlite3

    try:
        with closing(sqlite3.connect(Path(folder) / "lock", timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.Error as error:
        if "locked" not in str(error):
            raise UsageError(f"cannot write in {folder}: {error}") from None
        raise UsageError(
            f"another build is at work in {folder}: wait until it has ended (where none is, the file system has no "
            "locks: build on a local disk and move the folder)"
        ) from None
