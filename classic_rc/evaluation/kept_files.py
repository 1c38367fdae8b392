"""Files as a run record keeps them, by place and content, and how they are found again."""

from __future__ import annotations

import glob
import hashlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError

_BLOCK = 2**20
_WITHOUT_MEANING = frozenset({"lock", ".DS_Store"})
"""What a folder may gain by being looked at."""


def kept_path(path: str, folder: Path | None = None) -> str:
    """A path as a record in `folder` keeps it: a relative one relative to the record, with forward slashes.

    An absolute path stays as it is, and so does one on another drive than the record.
    """
    if folder is None or os.path.isabs(path):
        return path
    try:
        return Path(os.path.relpath(os.path.abspath(path), os.path.realpath(folder))).as_posix()
    except ValueError:  # there is no way from one drive to another
        return os.path.abspath(path)


def kept_file(path: str, folder: Path | None = None, *, sha256: str | None = None) -> dict[str, Any]:
    """A file, or a folder with all that is in it, as a record in `folder` keeps it.

    Parameters
    ----------
    path : str
    folder : Path, optional
        Where the record will lie.
    sha256 : str, optional
        Where it is known.

    Returns
    -------
    dict
        ``path``, ``sha256`` and ``bytes``, the size of a file, None for a folder.
    """
    size = os.path.getsize(path) if os.path.isfile(path) else None
    return {"path": kept_path(path, folder), "sha256": sha256 or sha256_of(path), "bytes": size}


def sha256_of(path: str | Path) -> str:
    """The hex sha256 of a file; of a folder, that of the lines ``"<sha256>  <path>"`` of its files, sorted by path.

    Raises
    ------
    DataError
        It cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        files = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
        lines = [f"{sha256_of(files[n])}  {n}\n" for n in sorted(files) if files[n].name not in _WITHOUT_MEANING]
        return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or error})", source=str(path)) from None
    return digest.hexdigest()


class Finder:
    """Finds what a record names: in its place, or by its content below other folders.

    Parameters
    ----------
    base : Path
        The record's folder, from which its relative paths start.
    places : sequence of str
        Folders to look in, at any depth, for what is not in its place or not as it was.

    Raises
    ------
    DataError
        One of the places is no folder.
    """

    def __init__(self, base: Path, places: Sequence[str] = ()) -> None:
        self._base = Path(os.path.realpath(base))
        self._places = [Path(place) for place in places]
        for place in self._places:
            if not place.is_dir():
                raise DataError("no such folder", source=str(place), hint="Name a folder that holds the data")

    def place(self, path: str) -> Path:
        """Where the record says that something is."""
        return Path(os.path.normpath(self._base / path))

    def candidates(self, path: str) -> Iterator[Path]:
        """Where a folder may be: in its place, or as one of the other folders, or below them by its name."""
        own = self.place(path)
        for place in (own, *self._places):
            if place.is_dir():
                yield place
        for place in self._places:
            yield from (folder for folder in sorted(place.rglob(glob.escape(own.name))) if folder.is_dir())

    def find(self, kept: Mapping[str, Any]) -> str:
        """The path of a file or folder with the content that the record tells.

        Raises
        ------
        DataError
            It is missing, or has changed.
        """
        own = self.place(kept["path"])
        candidates = self.candidates(kept["path"]) if kept["bytes"] is None else self._files(own, kept["bytes"])
        for path in candidates:
            if sha256_of(path) == kept["sha256"]:
                return str(path)
        raise self.problem(kept)

    def _files(self, own: Path, size: int) -> Iterator[Path]:
        """Files of a size: the one in its place, and then all that lie below the other folders."""
        below = (path for place in self._places for path in sorted(place.rglob("*")))
        return (path for path in itertools.chain([own], below) if path.is_file() and path.stat().st_size == size)

    def problem(self, kept: Mapping[str, Any]) -> DataError:
        """What to say of a file or folder that is not as the record has it."""
        own = self.place(kept["path"])
        hint = None if self._places else "Name a folder that has it: --data DIR"
        if not own.exists():
            where = ", and nothing below --data is the same" if self._places else ""
            return DataError(f"missing{where}", source=str(own), hint=hint)
        return DataError(
            "changed since the record was made",
            source=str(own),
            found=f"sha256 {sha256_of(own)}",
            expected=kept["sha256"],
            hint=hint,
        )
