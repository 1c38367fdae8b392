"""From scores to answers: the best candidate under a tie policy, or all above a threshold or near the best."""

from __future__ import annotations

from classic_rc.decisions.argmax import TIE_POLICIES, TIE_TOLERANCE, Argmax, TiePolicy
from classic_rc.decisions.base import Decision, describe
from classic_rc.decisions.cuts import CUTS, Cuts, cut_points, sweep
from classic_rc.decisions.relative import RelativeThreshold
from classic_rc.decisions.threshold import Threshold, TunedThreshold
from classic_rc.questions import Task

__all__ = [
    "CUTS",
    "TIE_POLICIES",
    "TIE_TOLERANCE",
    "Argmax",
    "Cuts",
    "Decision",
    "RelativeThreshold",
    "Threshold",
    "TiePolicy",
    "TunedThreshold",
    "cut_points",
    "default_decision",
    "describe",
    "sweep",
]


def default_decision(task: Task) -> Decision:
    """The rule for a task: a threshold where several candidates may be right, else the best candidate."""
    return TunedThreshold() if task is Task.MULTIPLE_ANSWER else Argmax()
