"""Results: what systems reached, with intervals and tests; groups of questions, comparisons and
run records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.results.breakdown import break_down, cross_tabulate
    from classic_rc.results.comparison import compare
    from classic_rc.results.curves import PrecisionRecallCurve
    from classic_rc.results.evaluation import Evaluation, with_intervals, with_significance
    from classic_rc.results.grouping import group_questions
    from classic_rc.results.outcomes import Row
    from classic_rc.results.published import results_table
    from classic_rc.results.shared_results import SharedResults

__all__ = [
    "Evaluation",
    "PrecisionRecallCurve",
    "Row",
    "SharedResults",
    "break_down",
    "compare",
    "cross_tabulate",
    "group_questions",
    "results_table",
    "with_intervals",
    "with_significance",
]

__getattr__, __dir__ = names_on_use(__name__)
