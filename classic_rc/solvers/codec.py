"""Parameters as plain data that JSON can hold, and back: for files of solvers and for run records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from classic_rc.decisions import Decision
from classic_rc.errors import UsageError
from classic_rc.solvers.base import Solver
from classic_rc.solvers.registry import SOLVERS
from classic_rc.text.analyzers import Analyzer


def value_to_plain(solver: Solver, name: str, value: Any) -> Any:
    """A parameter as plain data, from which :func:`value_from_plain` makes it again.

    Parameters
    ----------
    solver : Solver
        Whose parameter it is.
    name : str
        The parameter's name.
    value : object

    Raises
    ------
    UsageError
        It cannot be put like this.
    """
    from sklearn.linear_model import LogisticRegression

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}  # JSON has no number for these
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return {"sequence": type(value).__name__, "items": [value_to_plain(solver, name, item) for item in value]}
    if isinstance(value, Analyzer):
        return value.spec
    if isinstance(value, Solver) and SOLVERS.get(type(value).name) is type(value):
        params = {key: value_to_plain(value, key, v) for key, v in value.get_params(deep=False).items()}
        return {"solver": type(value).name, "params": params}
    if type(value) in _decisions().values():
        params = {key: value_to_plain(solver, name, v) for key, v in value.get_params(deep=False).items()}
        fitted = {key: value_to_plain(solver, name, v) for key, v in vars(value).items() if key.endswith("_")}
        return {"decision": type(value).__name__, "params": params, "fitted": fitted}
    if type(value) is LogisticRegression:
        defaults = LogisticRegression().get_params()
        params = {key: v for key, v in value.get_params(deep=False).items() if v != defaults[key]}
        return {"classifier": "LogisticRegression", "params": params}
    raise UsageError(f"{solver.name} cannot be saved: its {name} is {value!r}, which only pickle could keep")


def value_from_plain(value: Any) -> Any:
    """The value that :func:`value_to_plain` put as plain data.

    Raises
    ------
    AttributeError, KeyError, TypeError or ValueError
        There is no such solver, decision or parameter.
    """
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "sequence" in value:
        items = [value_from_plain(item) for item in value["items"]]
        return tuple(items) if value["sequence"] == "tuple" else items
    if "solver" in value:
        return SOLVERS[value["solver"]].from_params(_params(value["params"]))
    if "classifier" in value:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(**value["params"])
    decision = _decisions()[value["decision"]](**_params(value["params"]))
    for name, fitted in _params(value["fitted"]).items():
        setattr(decision, name, fitted)
    return decision


def _params(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: value_from_plain(value) for name, value in plain.items()}


def _decisions() -> dict[str, type[Decision]]:
    """The package's own decisions by name."""
    known: list[Any] = [Decision]
    for cls in known:
        known += cls.__subclasses__()
    return {cls.__name__: cls for cls in known if cls.__module__.startswith("classic_rc.")}
