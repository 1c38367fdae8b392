"""Writing to consoles, pipes and files: UTF-8 where one may choose, ASCII where nothing else can be shown."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import unicodedata
from pathlib import Path
from typing import TextIO

from classic_rc.errors import DataError, UsageError

__all__ = ["check_writable", "emit", "message", "prepare_streams", "use_colour", "write_file"]

_ASCII = {
    "–": "-", "—": "-", "·": "|", "…": "...", "×": "x", "→": "->", "‘": "'", "’": "'", "“": '"', "”": '"',
}  # fmt: skip


def prepare_streams() -> None:
    """Make piped output UTF-8 with LF, unless the user asked for another encoding."""
    asked = os.environ.get("PYTHONIOENCODING")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(newline="\n", **({} if asked else {"encoding": "utf-8"}))


def showable(text: str, stream: TextIO) -> str:
    """The text as the stream can show it: as it is, or with ASCII in place of what it cannot show."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_fallback(character, encoding) for character in text)
    return text


def _fallback(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        plain = _ASCII.get(character) or unicodedata.normalize("NFKD", character)
        return plain.encode("ascii", "ignore").decode("ascii") or "?"
    return character


def message(text: str) -> None:
    """Say something on stderr, behind the program's name."""
    sys.stderr.write(showable(f"classic-rc: {text}\n", sys.stderr))
    sys.stderr.flush()


def emit(text: str, output: str | None) -> None:
    """Put results on stdout, or into a file; what cannot be written to the file is not lost but printed."""
    if output is None:
        sys.stdout.write(showable(text, sys.stdout))
        return
    try:
        write_file(Path(output), text)
    except UsageError:
        sys.stdout.write(showable(text, sys.stdout))
        raise


def check_writable(output: str | None) -> None:
    """Refuse an output file whose folder does not exist before anything is computed."""
    if output is None:
        return
    path = Path(output)
    if path.is_dir():
        raise UsageError(f"{output} is a folder: give a file to write to")
    if not path.parent.is_dir():
        raise DataError("the folder to write to does not exist", source=str(path.parent), hint="Make it first")


def write_file(path: Path, text: str) -> None:
    """Write a file as a whole or not at all, UTF-8 with LF.

    Raises
    ------
    UsageError
        The system does not allow it.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="surrogatepass", newline="\n",
            dir=path.parent, prefix=f".{path.name}.", delete=False,
        ) as file:  # fmt: skip
            temporary = Path(file.name)
            file.write(text)
        # NamedTemporaryFile lets only the owner read; a result is as readable as any other new file.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def use_colour(stream: TextIO) -> bool:
    """Whether to write colours: to a terminal, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")
