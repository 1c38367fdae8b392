"""Running solvers on datasets and measuring what they answer."""

from classic_rc.evaluation.compare import compare
from classic_rc.evaluation.contest import Contest
from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.given import evaluate_predictions
from classic_rc.evaluation.intervals import with_intervals
from classic_rc.evaluation.results import Evaluation, Row

__all__ = ["Contest", "Evaluation", "Row", "compare", "evaluate", "evaluate_predictions", "with_intervals"]
