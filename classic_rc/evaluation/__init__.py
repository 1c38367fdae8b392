"""Running solvers on datasets and measuring what they answer."""

from classic_rc.evaluation.breakdown import break_down, cross_tabulate
from classic_rc.evaluation.compare import compare
from classic_rc.evaluation.contest import Contest
from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.given import evaluate_predictions
from classic_rc.evaluation.grouping import group_questions
from classic_rc.evaluation.intervals import with_intervals
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.evaluation.significance import with_significance

__all__ = [
    "Contest",
    "Evaluation",
    "Row",
    "break_down",
    "compare",
    "cross_tabulate",
    "evaluate",
    "evaluate_predictions",
    "group_questions",
    "with_intervals",
    "with_significance",
]
