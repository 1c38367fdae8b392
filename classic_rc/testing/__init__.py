"""Tools for tests, ours and our users': synthetic questions, and the checks that every solver and engine passes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from classic_rc.deprecated import find_deprecated

if TYPE_CHECKING:
    from classic_rc.testing.engine_check import check_engine
    from classic_rc.testing.solver_check import check_solver
    from classic_rc.testing.synthetic import synthetic_dataset

__all__ = ["check_engine", "check_solver", "synthetic_dataset"]

# Names load on first use, so that `python -m classic_rc.testing` starts without scikit-learn.
_HOMES = {
    "check_engine": "classic_rc.testing.engine_check",
    "check_solver": "classic_rc.testing.solver_check",
    "synthetic_dataset": "classic_rc.testing.synthetic",
}
_MOVED = {
    "Checked": "classic_rc.teaching:CheckResult",
    "Grade": "classic_rc.teaching:Grade",
    "grade_file": "classic_rc.teaching:grade_file",
    "grade_folder": "classic_rc.teaching:grade_folder",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        return find_deprecated(__name__, name, _MOVED)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
