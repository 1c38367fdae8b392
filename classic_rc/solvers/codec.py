"""Conversion of solvers and their parameters to plain data for JSON and back, for saved solvers and
run records.

Numbers, texts, true, false and null stay as they are. Everything else is an object with a ``kind``,
which says what its other keys are. The names of parameters are keys of ``params`` only, so none can
be mistaken for such a key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import numpy as np

from classic_rc.decisions import Decision
from classic_rc.errors import UsageError, unknown_name
from classic_rc.solvers.base import Solver
from classic_rc.solvers.registry import SOLVERS
from classic_rc.solvers.shared_parameters import STOP_LIST_KEY, STOP_WORDS
from classic_rc.solvers.specs import load_solver_class, own_code, solver_spec
from classic_rc.text.analyzers import Analyzer

StoreFile: TypeAlias = Callable[[str], dict[str, Any]]
"""A function that stores the file or folder at a path, and returns the reference that the record
keeps.
"""
FindFile: TypeAlias = Callable[[Mapping[str, Any]], str]
"""A function that returns the path of the file or folder of a reference from :data:`StoreFile`."""


def value_to_plain(solver: Solver, name: str, value: Any, keep: StoreFile | None = None) -> Any:
    """Convert the value of a solver's parameter to plain data, which :func:`value_from_plain`
    converts back.

    `keep` stores a file that the value names; without it, a path stays a text. A value without a
    plain form is a UsageError.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"kind": "float", "value": repr(value)}  # JSON has no infinity and no NaN
    if isinstance(value, Analyzer):
        value = value.spec
    if isinstance(value, str) and keep is not None:
        return _text_to_plain(type(solver), name, value, keep)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PurePath):
        return {"kind": "path", "value": value_to_plain(solver, name, str(value), keep)}
    if isinstance(value, list | tuple):
        items = [value_to_plain(solver, name, item, keep) for item in value]
        return {"kind": "tuple" if type(value) is tuple else "list", "items": items}
    if isinstance(value, Solver) and not {"solver", "code"}.isdisjoint(_origin(type(value), keep)):
        return {"kind": "solver", **_solver_to_plain(value, keep)}
    if type(value) in _decision_classes().values():
        params = value.get_params(deep=False)
        fitted = {key: v for key, v in vars(value).items() if key.endswith("_")}
        return {
            "kind": "decision",
            "class": type(value).__name__,
            "params": {key: value_to_plain(solver, name, v) for key, v in params.items()},
            "fitted": {key: value_to_plain(solver, name, v) for key, v in fitted.items()},
        }
    problem = (
        f"{solver.name} cannot be saved: its {name} is {value!r}, which cannot be stored without "
        "pickle"
    )
    actual, expected = repr(value), "a plain value, or a solver or decision of this package"
    raise UsageError(problem, field=name, found=actual, expected=expected)


def _text_to_plain(cls: type[Solver], name: str, value: str, keep: StoreFile) -> Any:
    """Return a text, with a reference to the kept file in place of each path in it."""
    if name == "analyzer":  # its stop list is a part of the text: "...stop=PATH+..."
        before, stop, rest = value.partition(STOP_LIST_KEY)
        path, plus, after = rest.partition("+")
        if not (STOP_WORDS.names_file(path) and Path(path).exists()):
            return value
        return {"kind": "file", "before": before + stop, "file": keep(path), "after": plus + after}
    if cls.names_existing_file(name, value):
        return {"kind": "file", "file": keep(value)}
    separator = cls.parameter(name).joined_by
    if separator and separator in value:
        items = [_text_to_plain(cls, name, item, keep) for item in value.split(separator)]
        return (
            {"kind": "list", "items": items}
            if any(isinstance(item, dict) for item in items)
            else value
        )
    return value


def value_from_plain(value: Any, find: FindFile | None = None) -> Any:
    """Return the value that :func:`value_to_plain` converted.

    Raises
    ------
    AttributeError, KeyError, TypeError or ValueError
        The solver, the decision or a parameter is unknown.
    """
    if not isinstance(value, dict):
        return value
    match value["kind"]:
        case "float":
            return float(value["value"])
        case "path":
            return Path(value_from_plain(value["value"], find))
        case "list" | "tuple" as kind:
            items = [value_from_plain(item, find) for item in value["items"]]
            return tuple(items) if kind == "tuple" else items
        case "file" if find is not None:
            return value.get("before", "") + find(value["file"]) + value.get("after", "")
        case "solver":
            return _solver_from_plain(value, find)
        case "decision":
            decision = _decision_classes()[value["class"]](**_params_from_plain(value["params"]))
            for name, fitted in _params_from_plain(value["fitted"]).items():
                setattr(decision, name, fitted)
            return decision
        case kind:
            raise ValueError(f"unknown kind {kind!r}")


def _params_from_plain(plain: dict[str, Any], find: FindFile | None = None) -> dict[str, Any]:
    return {name: value_from_plain(value, find) for name, value in plain.items()}


def _decision_classes() -> dict[str, type[Decision]]:
    """Return the package's own decision classes by name."""
    classes: list[Any] = [Decision]
    for cls in classes:  # the list grows in the loop, so subclasses of subclasses are found too
        classes += cls.__subclasses__()
    return {cls.__name__: cls for cls in classes if cls.__module__.startswith("classic_rc.")}


def _solver_to_plain(solver: Solver, keep: StoreFile | None) -> dict[str, Any]:
    """Return the origin of a solver's class, and its parameters."""
    params = solver.get_params(deep=False)
    plain_params = {key: value_to_plain(solver, key, v, keep) for key, v in params.items()}
    plain = {**_origin(type(solver), keep), "params": plain_params}
    names = () if keep is None else solver.runs_solvers()
    if names:
        plain["runs"] = list(names)
    return plain


def _origin(cls: type[Solver], keep: StoreFile | None) -> dict[str, Any]:
    if SOLVERS.get(cls.name) is cls:
        return {"solver": cls.name}
    if cls.source_file is not None and keep is not None:
        return {
            "code": {**keep(cls.source_file), "sha256": cls.source_sha256},
            "class": cls.__name__,
        }
    return {"class": f"{cls.__module__}.{cls.__qualname__}"}


def _solver_from_plain(plain: Mapping[str, Any], find: FindFile | None) -> Solver:
    if "code" in plain and find is not None:
        cls = load_solver_class(Path(find(plain["code"])), plain["class"])
    elif plain["solver"] in SOLVERS:
        cls = SOLVERS[plain["solver"]]
    else:
        raise unknown_name("solver", plain["solver"], SOLVERS)
    return cls.from_recorded(_params_from_plain(plain["params"], find))


def solver_to_record(solver: Solver, keep: StoreFile) -> dict[str, Any]:
    """Convert an unfitted solver to plain data, and `keep` the files that its parameters name.

    ``spec`` is for people; ``params`` is None if a parameter has no plain form; ``solver`` is the
    registered name, and ``runs`` what :meth:`Solver.runs_solvers` says. A user's class has ``code``
    and ``class`` instead of ``solver``, and a class that is in no known file has only ``class``.
    """
    spec = solver_spec(solver)
    try:
        return {"spec": spec, **_solver_to_plain(solver, keep)}
    except UsageError:  # a value that exists only in memory
        return {"spec": spec, **_origin(type(solver), keep), "params": None}


def solver_from_record(entry: Mapping[str, Any], find: FindFile, *, trust: bool = False) -> Solver:
    """Return the unfitted solver that :func:`solver_to_record` converted; `find` returns the path
    of a kept file.

    A user's own code is a UsageError without `trust`.
    """
    spec = entry["spec"]
    if entry["params"] is None or not {"solver", "code"} & entry.keys():
        raise UsageError(
            f"{spec} cannot be created from its record: its class is in no file, or a parameter "
            "was an object in memory. Run a solver that can be named on the command line",
            field="solver",
            found=spec,
            expected="a solver that can be named on the command line",
        )
    with own_code(trusted=trust):
        return _solver_from_plain(entry, find)
