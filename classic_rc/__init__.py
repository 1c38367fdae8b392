"""Classical, non-neural baselines for reading comprehension.

Public names load on first use, so ``import classic_rc`` costs almost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc._version import __version__
from classic_rc.plugins import VIEWS, names_on_use

if TYPE_CHECKING:
    from classic_rc import decisions, errors, plots
    from classic_rc.datasets.memory import from_rows
    from classic_rc.datasets.registry import load
    from classic_rc.decisions import (
        Argmax,
        ExpectedF1,
        RelativeThreshold,
        Threshold,
        TunedThreshold,
    )
    from classic_rc.parameters import parameter
    from classic_rc.predictions import Prediction, Scores
    from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
    from classic_rc.results.floors import floor
    from classic_rc.running.evaluate import evaluate
    from classic_rc.solvers.base import Solver
    from classic_rc.solvers.specs import parse_solver
    from classic_rc.text.encode import encode

_VIEWED = ("Dataset", "Explanation", "Question")
VIEWS |= {name: f"classic_rc.reports.explanations:{name.lower()}_view" for name in _VIEWED}

__all__ = [
    "Argmax",
    "Candidate",
    "Dataset",
    "ExpectedF1",
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

__getattr__, __dir__ = names_on_use(__name__)
