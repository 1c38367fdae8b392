"""Writing files as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from classic_rc.errors import UsageError


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file as a whole or not at all; text as UTF-8 with LF.

    Raises
    ------
    UsageError
        The system does not allow it.
    """
    if isinstance(content, str):
        content = content.encode("utf-8")
    try:
        path = Path(os.path.realpath(path))
        if path.exists() and not path.is_file():  # a device or a pipe, which nothing may take the place of
            path.write_bytes(content)
            return
        temporary = path.with_name(f".classic-rc-{os.getpid()}.tmp")
        try:
            with open(temporary, "xb") as file:
                file.write(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
