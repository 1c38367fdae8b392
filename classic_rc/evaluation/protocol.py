"""Files as a run record keeps them, by place and content, and how they are found again."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from classic_rc.errors import DataError, UsageError
from classic_rc.io.hashing import sha256_of
from classic_rc.solvers.base import STOP_WORDS, Solver
from classic_rc.solvers.codec import value_from_plain, value_to_plain
from classic_rc.solvers.specs import own_solver, solver_spec


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


_STOP = "stop="

Find: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Gives the path of a file that was kept."""


def kept_solver(solver: Solver, folder: Path | None = None) -> dict[str, Any]:
    """A solver as a record in `folder` keeps it.

    Returns
    -------
    dict
        ``spec``, for people; ``params``, with each file that one names as ``{"file": …}``
        (:func:`~classic_rc.evaluation.protocol.kept_file`), or None where they cannot be kept; and ``solver``,
        the registered name, or the ``code`` and the ``class`` of one's own.
    """
    from classic_rc.solvers.registry import SOLVERS

    cls = type(solver)
    origin: dict[str, Any]
    if SOLVERS.get(cls.name) is cls:
        origin = {"solver": cls.name}
    elif cls.source_file is not None:
        origin = {"code": kept_file(cls.source_file, folder), "class": cls.__name__}
    else:
        origin = {"class": f"{cls.__module__}.{cls.__qualname__}"}
    params: dict[str, Any] | None
    try:
        plain = {n: value_to_plain(solver, n, value) for n, value in solver.get_params(deep=False).items()}
        params = _with_files(cls, plain, folder)
    except UsageError:  # something in memory, which no file has
        params = None
    return {"spec": solver_spec(solver), **origin, "params": params}


def made_solver(kept: Mapping[str, Any], find: Find, *, trust: bool = False) -> Solver:
    """The solver that :func:`kept_solver` put as plain data.

    Parameters
    ----------
    kept : mapping
    find : callable
        Gives the path of a file that was kept, such as
        :meth:`~classic_rc.evaluation.protocol.Finder.find`.
    trust : bool
        Whether code that is not of this package may be run to make it.

    Raises
    ------
    UsageError
        It was kept for people alone, or is made by code that is not trusted.
    DataError
        A file is missing or changed.
    """
    spec = kept["spec"]
    if kept["params"] is None or not {"solver", "code"} & kept.keys():
        raise UsageError(
            f"{spec} cannot be made again: it is in no file, or has parameters that were in memory alone. "
            "Run what can be named on the command line"
        )
    if "code" in kept:
        path = find(kept["code"])
        if not trust:
            raise UsageError(f"{spec} is code in {path}: look at it, and say --trust to run it")
        cls = own_solver(Path(path), kept["class"])
    else:
        cls = _registered(kept["solver"])
    params = _resolved(kept["params"], find)
    return cls.from_params({name: value_from_plain(value) for name, value in params.items()})


def _registered(name: str) -> type[Solver]:
    from classic_rc.errors import unknown_name
    from classic_rc.solvers.registry import SOLVERS

    if name not in SOLVERS:
        raise unknown_name("solver", name, SOLVERS)
    return SOLVERS[name]


def _with_files(cls: type[Solver], params: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """The parameters of a solver, those of its members included, with what they name on disk."""
    return {name: _with_file(cls, name, value, folder) for name, value in params.items()}


def _with_file(cls: type[Solver], name: str, value: Any, folder: Path | None) -> Any:
    if isinstance(value, dict):
        if "items" in value:
            return {**value, "items": [_with_file(cls, name, item, folder) for item in value["items"]]}
        if "solver" in value:
            return {**value, "params": _with_files(_registered(value["solver"]), value["params"], folder)}
        return value
    if not isinstance(value, str):
        return value
    if name == "analyzer":
        before, stop, rest = value.partition(_STOP)
        path, plus, after = rest.partition("+")
        if not (STOP_WORDS.names_file(path) and Path(path).exists()):
            return value
        return {"before": before + stop, "file": kept_file(path, folder), "after": plus + after}
    declared = cls.parameter(name)
    if declared.joined_by and declared.joined_by in value and not Path(value).exists():
        parts = value.split(declared.joined_by)
        if any(declared.names_file(part) and Path(part).exists() for part in parts):
            return {"sequence": "list", "items": [_with_file(cls, name, part, folder) for part in parts]}
    return {"file": kept_file(value, folder)} if declared.names_file(value) and Path(value).exists() else value


def _resolved(value: Any, find: Find) -> Any:
    """The same with the paths of files as they are found."""
    if isinstance(value, list):
        return [_resolved(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    if "file" in value:
        return value.get("before", "") + find(value["file"]) + value.get("after", "")
    return {key: _resolved(item, find) for key, item in value.items()}
