"""Conversion of solvers and their parameters to plain data for JSON and back, for saved solvers and run records."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from classic_rc.decisions import Decision
from classic_rc.errors import UsageError, unknown_name
from classic_rc.solvers.base import STOP_LIST_KEY, STOP_WORDS, Solver
from classic_rc.solvers.registry import SOLVERS
from classic_rc.solvers.specs import load_solver_class, solver_spec
from classic_rc.text.analyzers import Analyzer


def value_to_plain(solver: Solver, name: str, value: Any) -> Any:
    """Convert a parameter's value to plain data, which :func:`value_from_plain` converts back.

    Parameters
    ----------
    solver : Solver
        The solver that has the parameter, for error messages.
    name : str
        The parameter's name.
    value : object

    Raises
    ------
    UsageError
        The value has no plain form.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}  # JSON has no infinity and no NaN
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return {"sequence": type(value).__name__, "items": [value_to_plain(solver, name, item) for item in value]}
    if isinstance(value, Analyzer):
        return value.spec
    if isinstance(value, Solver) and SOLVERS.get(type(value).name) is type(value):
        params = {key: value_to_plain(value, key, v) for key, v in value.get_params(deep=False).items()}
        return {"solver": type(value).name, "params": params}
    if type(value) in _decision_classes().values():
        params = {key: value_to_plain(solver, name, v) for key, v in value.get_params(deep=False).items()}
        fitted = {key: value_to_plain(solver, name, v) for key, v in vars(value).items() if key.endswith("_")}
        return {"decision": type(value).__name__, "params": params, "fitted": fitted}
    if type(value).__module__.startswith("sklearn.") and type(value).__name__ == "LogisticRegression":
        defaults = type(value)().get_params()
        params = {key: v for key, v in value.get_params(deep=False).items() if v != defaults[key]}
        return {"classifier": "LogisticRegression", "params": params}
    raise UsageError(
        f"{solver.name} cannot be saved: its {name} is {value!r}, which cannot be stored without pickle",
        field=name,
        found=repr(value),
        expected="a plain value, or a solver or decision of this package",
    )


def value_from_plain(value: Any) -> Any:
    """Return the value that :func:`value_to_plain` converted.

    Raises
    ------
    AttributeError, KeyError, TypeError or ValueError
        The solver, the decision or a parameter is unknown.
    """
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "sequence" in value:
        items = [value_from_plain(item) for item in value["items"]]
        return tuple(items) if value["sequence"] == "tuple" else items
    if "solver" in value:
        return SOLVERS[value["solver"]].from_params(_params_from_plain(value["params"]))
    if "classifier" in value:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(**value["params"])
    decision = _decision_classes()[value["decision"]](**_params_from_plain(value["params"]))
    for name, fitted in _params_from_plain(value["fitted"]).items():
        setattr(decision, name, fitted)
    return decision


def _params_from_plain(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: value_from_plain(value) for name, value in plain.items()}


def _decision_classes() -> dict[str, type[Decision]]:
    """Return the package's own decision classes by name."""
    known: list[Any] = [Decision]
    for cls in known:  # the list grows in the loop, so subclasses of subclasses are found too
        known += cls.__subclasses__()
    return {cls.__name__: cls for cls in known if cls.__module__.startswith("classic_rc.")}


StoreFile: TypeAlias = Callable[[str], dict[str, Any]]
"""A function that stores the file or folder at a path, and returns the reference that the record keeps."""
FindFile: TypeAlias = Callable[[Mapping[str, Any]], str]
"""A function that returns the path of the file or folder of a reference from :data:`StoreFile`."""


def solver_to_record(solver: Solver, keep: StoreFile) -> dict[str, Any]:
    """Convert an unfitted solver to plain data, and keep the files that its parameters name.

    Parameters
    ----------
    solver : Solver
    keep : callable
        Stores a file and returns a reference to it; see :data:`StoreFile`.

    Returns
    -------
    dict
        ``spec``, for people; ``params``, in which each file is ``{"file": …}``, or None if the parameters have no
        plain form; and ``solver``, the registered name. A user's class has ``code`` and ``class`` instead of
        ``solver``, and a class that is in no known file has only ``class``.
    """
    cls = type(solver)
    origin: dict[str, Any]
    if SOLVERS.get(cls.name) is cls:
        origin = {"solver": cls.name}
    elif cls.source_file is not None:
        origin = {"code": keep(cls.source_file), "class": cls.__name__}
    else:
        origin = {"class": f"{cls.__module__}.{cls.__qualname__}"}
    params: dict[str, Any] | None
    try:
        plain = {n: value_to_plain(solver, n, value) for n, value in solver.get_params(deep=False).items()}
        params = _store_files(cls, plain, keep)
    except UsageError:  # a value that exists only in memory
        params = None
    return {"spec": solver_spec(solver), **origin, "params": params}


def solver_from_record(kept: Mapping[str, Any], find: FindFile, *, trust: bool = False) -> Solver:
    """Return the unfitted solver that :func:`solver_to_record` converted.

    Parameters
    ----------
    kept : mapping
    find : callable
        Returns the path of a kept file; see :data:`FindFile`.
    trust : bool
        Whether code from outside this package may be run.

    Raises
    ------
    UsageError
        The record is not complete enough to make the solver, or the solver needs code that is not trusted.
    DataError
        A file is missing or changed.
    """
    spec = kept["spec"]
    if kept["params"] is None or not {"solver", "code"} & kept.keys():
        raise UsageError(
            f"{spec} cannot be created from its record: its class is in no file, or a parameter was an object in "
            "memory. Run a solver that can be named on the command line",
            field="solver",
            found=spec,
            expected="a solver that can be named on the command line",
        )
    if "code" in kept:
        path = find(kept["code"])
        if not trust:
            raise UsageError(
                f"{spec} runs code from {path}: check the file, then add --trust",
                field="--trust",
                found="not set",
                expected=f"--trust, to run {path}",
            )
        cls = load_solver_class(Path(path), kept["class"])
    else:
        cls = _registered_class(kept["solver"])
    params = _resolve_files(kept["params"], find)
    return cls.from_params({name: value_from_plain(value) for name, value in params.items()})


def _registered_class(name: str) -> type[Solver]:
    if name not in SOLVERS:
        raise unknown_name("solver", name, SOLVERS)
    return SOLVERS[name]


def _store_files(cls: type[Solver], params: Mapping[str, Any], keep: StoreFile) -> dict[str, Any]:
    """Replace every path in the parameters, including the members' parameters, by a reference to the kept file."""
    return {name: _store_file(cls, name, value, keep) for name, value in params.items()}


def _store_file(cls: type[Solver], name: str, value: Any, keep: StoreFile) -> Any:
    if isinstance(value, dict):
        if "items" in value:
            return {**value, "items": [_store_file(cls, name, item, keep) for item in value["items"]]}
        if "solver" in value:
            return {**value, "params": _store_files(_registered_class(value["solver"]), value["params"], keep)}
        return value
    if not isinstance(value, str):
        return value
    # An analyzer's stop list is a part of its text: "...stop=PATH+...".
    if name == "analyzer":
        before, stop, rest = value.partition(STOP_LIST_KEY)
        path, plus, after = rest.partition("+")
        if not (STOP_WORDS.names_file(path) and Path(path).exists()):
            return value
        return {"before": before + stop, "file": keep(path), "after": plus + after}
    parameter = cls.parameter(name)
    if parameter.joined_by and parameter.joined_by in value and not Path(value).exists():
        parts = value.split(parameter.joined_by)
        if any(parameter.names_file(part) and Path(part).exists() for part in parts):
            return {"sequence": "list", "items": [_store_file(cls, name, part, keep) for part in parts]}
    return {"file": keep(value)} if parameter.names_file(value) and Path(value).exists() else value


def _resolve_files(value: Any, find: FindFile) -> Any:
    """Replace every reference to a kept file by the path where it is now."""
    if isinstance(value, list):
        return [_resolve_files(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    if "file" in value:
        return value.get("before", "") + find(value["file"]) + value.get("after", "")
    return {key: _resolve_files(item, find) for key, item in value.items()}
