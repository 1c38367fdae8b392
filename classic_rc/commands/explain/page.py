"""One question explained, as a document of its own."""

from __future__ import annotations

from classic_rc.reports.explanations import question_values
from classic_rc.reports.formulas import DIGITS
from classic_rc.reports.html import fill_template
from classic_rc.solvers.explanation import Explanation


def explanation_html(*explanations: Explanation, digits: int = DIGITS, every: bool = False) -> str:
    """Return explanations of one question as a self-contained HTML document.

    Parameters
    ----------
    *explanations : Explanation
        By one or several solvers.
    digits : int
    every : bool
        As in :func:`classic_rc.reports.explanation_text`.

    Returns
    -------
    str
        HTML without a script. It has the passage once, with the marks of the candidate that the
        reader chooses.
    """
    solvers = ", ".join(explanation.solver for explanation in explanations)
    view = question_values(*explanations, digits=digits, every=every)
    return fill_template(
        "explanation.html", __package__, view=view, solvers=solvers, several=len(explanations) > 1
    )
