"""Classical, non-neural baselines for reading comprehension.

Public names load on first use, so ``import classic_rc`` costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from classic_rc._version import __version__
from classic_rc.plugins import VIEWS

if TYPE_CHECKING:
    from classic_rc import decisions, errors, plots
    from classic_rc.datasets.memory import from_rows
    from classic_rc.datasets.registry import load
    from classic_rc.decisions import Argmax, RelativeThreshold, Threshold, TunedThreshold
    from classic_rc.evaluation.evaluate import evaluate
    from classic_rc.parameters import parameter
    from classic_rc.predictions import Prediction, Scores
    from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
    from classic_rc.reports.floor import floor
    from classic_rc.solvers.base import Solver
    from classic_rc.solvers.specs import parse_solver
    from classic_rc.text.encode import encode

_MODULES = ("decisions", "errors", "plots")
_HOMES = {
    "datasets.memory": ("from_rows",),
    "datasets.registry": ("load",),
    "decisions": ("Argmax", "RelativeThreshold", "Threshold", "TunedThreshold"),
    "evaluation.evaluate": ("evaluate",),
    "parameters": ("parameter",),
    "predictions": ("Prediction", "Scores"),
    "questions": ("Candidate", "Dataset", "Passage", "Question", "Task"),
    "reports.floor": ("floor",),
    "solvers.base": ("Solver",),
    "solvers.specs": ("parse_solver",),
    "text.encode": ("encode",),
}
_VIEWED = ("Dataset", "Explanation", "Question")
VIEWS |= {name: f"classic_rc.reports.explanations:{name.lower()}_view" for name in _VIEWED}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Argmax",
    "Candidate",
    "Dataset",
    "Passage",
    "Prediction",
    "Question",
    "RelativeThreshold",
    "Scores",
    "Solver",
    "Task",
    "Threshold",
    "TunedThreshold",
    "__version__",
    "decisions",
    "encode",
    "errors",
    "evaluate",
    "floor",
    "from_rows",
    "load",
    "parameter",
    "parse_solver",
    "plots",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"classic_rc.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'classic_rc' has no attribute {name!r}")
    return getattr(import_module(f"classic_rc.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
