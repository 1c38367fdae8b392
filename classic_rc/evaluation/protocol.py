"""What an evaluation was asked to do, as a run record keeps it and makes it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from classic_rc.errors import UsageError
from classic_rc.evaluation.kept_files import kept_file
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.solvers.codec import value_from_plain, value_to_plain
from classic_rc.solvers.specs import own_solver, solver_spec
from classic_rc.text.spans import SpanGenerator
from classic_rc.text.stop_words import STOP_LISTS

_FILE_PARAMS = frozenset({"path", "corpus", "stop_words", "annotations", "categories", "wordnet"})
"""Parameters whose values may be paths, whatever the solver."""
_NO_PATHS = frozenset({"passage", "paragraphs", "passages", "queries", *STOP_LISTS})
"""Values of theirs that are words, even where a file is called so."""
_STOP = "stop="

Find: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Gives the path of a file that was kept."""


@dataclass(frozen=True)
class Protocol:
    """What :func:`classic_rc.evaluate` was given besides the dataset.

    Parameters
    ----------
    solvers : tuple of Solver
        As they were given, neither fitted nor overridden.
    options : mapping of str to object
        Other keyword arguments that results depend on, all of them plain.
    train, tune : Dataset, optional
    spans : SpanGenerator, optional
    """

    solvers: tuple[Solver, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    train: Dataset | None = None
    tune: Dataset | None = None
    spans: SpanGenerator | None = None

    def to_dict(self, folder: Path | None = None) -> dict[str, Any]:
        """As plain data, the datasets apart; paths are for a record in `folder`."""
        return {
            "solvers": [kept_solver(solver, folder) for solver in self.solvers],
            "options": dict(self.options),
            "spans": self.spans and asdict(self.spans),
        }


def kept_solver(solver: Solver, folder: Path | None = None) -> dict[str, Any]:
    """A solver as a record in `folder` keeps it.

    Returns
    -------
    dict
        ``spec``, for people; ``params``, with each file that one names as ``{"file": …}``
        (:func:`~classic_rc.evaluation.kept_files.kept_file`), or None where they cannot be kept; and ``solver``,
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
        params = _with_files(plain, folder)
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
        :meth:`~classic_rc.evaluation.kept_files.Finder.find`.
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


def _with_files(params: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """The parameters of a solver, those of its members included, with what they name on disk."""
    return {name: _with_file(name, value, folder) for name, value in params.items()}


def _with_file(name: str, value: Any, folder: Path | None) -> Any:
    if isinstance(value, dict):
        if "items" in value:
            return {**value, "items": [_with_file(name, item, folder) for item in value["items"]]}
        return {**value, "params": _with_files(value["params"], folder)} if "solver" in value else value
    if not isinstance(value, str):
        return value
    if name == "analyzer":
        before, stop, rest = value.partition(_STOP)
        path, plus, after = rest.partition("+")
        if not _is_path(path):
            return value
        return {"before": before + stop, "file": kept_file(path, folder), "after": plus + after}
    if name not in _FILE_PARAMS:
        return value
    if name == "corpus" and "+" in value and not Path(value).exists():
        parts = value.split("+")
        if any(map(_is_path, parts)):
            return {"sequence": "list", "items": [_with_file(name, part, folder) for part in parts]}
    return {"file": kept_file(value, folder)} if _is_path(value) else value


def _is_path(value: str) -> bool:
    return bool(value) and value not in _NO_PATHS and Path(value).exists()


def _resolved(value: Any, find: Find) -> Any:
    """The same with the paths of files as they are found."""
    if isinstance(value, list):
        return [_resolved(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    if "file" in value:
        return value.get("before", "") + find(value["file"]) + value.get("after", "")
    return {key: _resolved(item, find) for key, item in value.items()}
