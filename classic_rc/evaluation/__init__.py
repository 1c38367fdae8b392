"""Running solvers on datasets and measuring what they answer."""

from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.given import evaluate_predictions
from classic_rc.evaluation.results import Evaluation, Row

__all__ = ["Evaluation", "Row", "evaluate", "evaluate_predictions"]
