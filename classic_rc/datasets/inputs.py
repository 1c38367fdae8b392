"""What a path holds: one file, the files of a folder, or the members of a tar archive, in one sorted order."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from classic_rc.datasets.archive import is_tar, tar_members
from classic_rc.datasets.files import File
from classic_rc.errors import DataError
from classic_rc.questions import Source

MAX_FILES = 100_000
"""The most files that a folder or an archive may hold (RACE has 28 thousand)."""

MAX_DEPTH = 8
"""How deep folders may be nested; links that lead in a circle end here."""

_DIGEST_APART = 64  # with more files than these, provenance is one digest of the folder


@dataclass(frozen=True)
class Input:
    """What a path holds.

    Parameters
    ----------
    path : str
        As the user gave it.
    files : tuple of File
        In one sorted order, numeric where names are numbers.
    archive : Source, optional
        The archive that the files are members of.
    is_folder : bool
    notes : tuple of str
        What was passed over, with counts.
    """

    path: str
    files: tuple[File, ...]
    archive: Source | None = None
    is_folder: bool = False
    notes: tuple[str, ...] = ()

    @property
    def single(self) -> File | None:
        """The file that the path is; None for a folder or an archive."""
        return None if self.is_folder or self.archive else self.files[0]

    @property
    def stem(self) -> str:
        """What people call it: the name of the file or folder without extensions."""
        if self.single:
            return self.single.stem
        name = Path(os.path.abspath(self.path)).name
        return name.removesuffix(".gz").removesuffix(".tar").removesuffix(".tgz") or name

    def sources(self, files: list[File]) -> tuple[Source, ...]:
        """The provenance of these files of it.

        An archive has its own sha256. Of a folder with very many files, it is that of the lines
        ``"<sha256>  <name>"``, as sha256sum prints them.
        """
        if self.archive:
            return (self.archive,)
        if len(files) <= _DIGEST_APART:
            return tuple(Source(file.name, file.sha256) for file in files)
        lines = [f"{file.sha256}  {'/'.join(file.path)}\n" for file in files]
        return (Source(self.path, hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()),)


def open_input(path: str | os.PathLike[str]) -> Input:
    """What a path holds, without reading more of a folder than its names.

    ``._*``, ``.DS_Store`` and ``__MACOSX`` are passed over and counted.

    Raises
    ------
    DataError
        There is no such path, or it cannot be read, is empty, or is an archive that is refused.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise _missing(name)
    if os.path.isdir(name):
        parents = Path(os.path.abspath(name)).parts
        found = list(_walk(name, ()))
        files = [File(os.path.join(name, *parts), parents + parts, len(parts) - 1) for parts in found]
        return _input(name, files, None, is_folder=True)
    single = File(name, Path(os.path.abspath(name)).parts, 0)
    data = single.data
    if not is_tar(data):
        if data.startswith(b"PK\x03\x04"):
            raise DataError("a zip archive", source=name, hint="Unpack it and name the folder or file")
        return Input(name, (single,))
    members: dict[tuple[str, ...], File] = {}
    for parts, content in tar_members(data, name):
        File.member(f"{name}/{'/'.join(parts)}", parts, content, members)
    return _input(name, list(members.values()), Source(name, single.sha256))


def _input(name: str, files: list[File], archive: Source | None, is_folder: bool = False) -> Input:
    kept = [file for file in files if not _is_junk(file)]
    if not kept:
        raise DataError(f"the {'archive' if archive else 'folder'} holds no file", source=name)
    kept.sort(key=lambda file: [_natural(part) for part in file.path])
    junk = len(files) - len(kept)
    notes = (f"files that macOS leaves behind (._*, .DS_Store, __MACOSX) passed over: {junk:,}",) if junk else ()
    return Input(name, tuple(kept), archive, is_folder, notes)


def _walk(folder: str, parts: tuple[str, ...], count: list[int] | None = None) -> Iterator[tuple[str, ...]]:
    count = [0] if count is None else count
    if len(parts) > MAX_DEPTH:
        raise DataError(
            "folders nested too deeply",
            source=folder,
            expected=f"at most {MAX_DEPTH}",
            hint="Name the data's own folder",
        )
    try:
        with os.scandir(folder) as entries:
            listing = [(entry.name, entry.is_dir()) for entry in entries]
    except OSError as error:
        raise DataError(f"the folder cannot be read ({error.strerror})", source=folder) from None
    for name, is_folder in listing:
        if is_folder:
            yield from _walk(os.path.join(folder, name), (*parts, name), count)
            continue
        count[0] += 1
        if count[0] > MAX_FILES:
            raise DataError(f"more than {MAX_FILES:,} files", source=folder, hint="Name the data's own folder")
        yield (*parts, name)


def _is_junk(file: File) -> bool:
    return file.base.startswith("._") or file.base == ".DS_Store" or "__MACOSX" in file.path[:-1]


def _natural(part: str) -> tuple[int, int, str]:
    stem = part.partition(".")[0]
    if stem.isascii() and stem.isdigit() and len(stem) < 19:
        return 0, int(stem), part
    return 1, 0, part


def _missing(name: str) -> DataError:
    path = Path(name)
    folder = path.parent
    try:
        names = os.listdir(folder)
    except OSError:
        return DataError("no such file or folder", source=name, hint=f"There is no folder {str(folder)!r} either")
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(str(folder / n) for n in near)}?" if near else None
    return DataError("no such file or folder", source=name, hint=hint)
