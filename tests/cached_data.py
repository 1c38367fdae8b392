"""The datasets' own files out of the cache of ``classic-rc fetch``, in the folders that the
tests read.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from classic_rc.datasets.fetch import cached_path, is_cached, named_datasets
from classic_rc.io.archives import open_input

if sys.platform == "win32":
    from pathlib import WindowsPath as SystemPath
else:
    from pathlib import PosixPath as SystemPath

FETCHED = "mctest race dream mcscript multirc superglue-multirc quoref"
"""The datasets that the tests read."""

_TEST = ".test."
"""In the names of files that no test reads."""


class FetchedFile(SystemPath):
    """A path below the folder of fetched files: a test that asks for one that is missing is
    skipped.
    """

    def __truediv__(self, name: str | os.PathLike[str]) -> FetchedFile:
        path = super().__truediv__(name)
        if not path.exists():
            pytest.skip(
                f"{path.name} is not here; for what can be downloaded: classic-rc fetch --all "
                f"{FETCHED}"
            )
        return path


def lay_out(folder: Path) -> FetchedFile:
    """Put what the cache has into a folder: files under their names, members of archives where
    the tests look.
    """
    for name in FETCHED.split():
        for file in named_datasets()[name].files.values():
            if not is_cached(file):
                continue
            path = cached_path(file)
            if file.key == "race/RACE.tar.gz":
                _copy(path, folder / "race" / "RACE-train-dev.tar.gz")
            elif path.suffix != ".zip":
                _copy(path, folder / name / file.name)
            elif file.name == "MCTest.zip":
                _unpack(path, folder / "mctest", (".tsv", ".ans"))
            elif file.name == "Statements.zip":
                _unpack(path, folder / "mctest" / "statements", ("",))
            elif file.name.endswith(".scores.zip"):
                system = file.name.removesuffix(".scores.zip")
                _unpack(path, folder / "mctest" / "scores" / system, (".scores",))
            elif name == "superglue-multirc":
                _unpack(path, folder / "multirc" / "superglue", ("val.jsonl",))
    return FetchedFile(folder)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _unpack(archive: Path, folder: Path, endings: tuple[str, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in open_input(archive).files:
        if file.base.endswith(endings) and _TEST not in file.base:
            (folder / file.base).write_bytes(file.data)
