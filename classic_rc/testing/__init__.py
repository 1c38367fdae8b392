"""Tools for tests: synthetic questions, and the checks that all solvers, readers, metrics and engines pass."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from classic_rc.testing.engine_check import check_engine
    from classic_rc.testing.metric_check import check_metric
    from classic_rc.testing.reader_check import check_reader
    from classic_rc.testing.solver_check import check_solver
    from classic_rc.testing.synthetic import synthetic_dataset

__all__ = ["check_engine", "check_metric", "check_reader", "check_solver", "synthetic_dataset"]

# Names load on first use, so that the import starts without scikit-learn.
_HOMES = {
    "check_engine": "classic_rc.testing.engine_check",
    "check_metric": "classic_rc.testing.metric_check",
    "check_reader": "classic_rc.testing.reader_check",
    "check_solver": "classic_rc.testing.solver_check",
    "synthetic_dataset": "classic_rc.testing.synthetic",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
