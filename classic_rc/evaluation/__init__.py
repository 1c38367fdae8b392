"""Run solvers on datasets and measure their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.evaluation.evaluate import evaluate
from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.evaluation.breakdown import break_down, cross_tabulate
    from classic_rc.evaluation.comparison import SharedResults, compare
    from classic_rc.evaluation.grouping import group_questions
    from classic_rc.evaluation.outcomes import Row
    from classic_rc.evaluation.results import Evaluation
    from classic_rc.evaluation.significance import with_intervals, with_significance

__all__ = [
    "Evaluation",
    "Row",
    "SharedResults",
    "break_down",
    "compare",
    "cross_tabulate",
    "evaluate",
    "group_questions",
    "with_intervals",
    "with_significance",
]

__getattr__, __dir__ = names_on_use(__name__)
