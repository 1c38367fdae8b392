"""Decisions turn scores into answers: the best candidate with a tie policy, thresholds, spans
near the best, and the text with the greatest expected F1.
"""

from classic_rc.decisions.argmax import TIE_POLICIES, TIE_TOLERANCE, Argmax
from classic_rc.decisions.base import Decision
from classic_rc.decisions.expected_f1 import ExpectedF1
from classic_rc.decisions.given_answers import GivenAnswers
from classic_rc.decisions.rules import (
    RULES,
    changed_decision,
    cross_fit,
    default_decision,
    describe_decision,
    make_decision,
)
from classic_rc.decisions.spans import Abstain, RelativeThreshold
from classic_rc.decisions.thresholds import (
    CUTS,
    Threshold,
    TunedThreshold,
    cut_points,
    sweep_thresholds,
)

__all__ = [
    "CUTS",
    "RULES",
    "TIE_POLICIES",
    "TIE_TOLERANCE",
    "Abstain",
    "Argmax",
    "Decision",
    "ExpectedF1",
    "GivenAnswers",
    "RelativeThreshold",
    "Threshold",
    "TunedThreshold",
    "changed_decision",
    "cross_fit",
    "cut_points",
    "default_decision",
    "describe_decision",
    "make_decision",
    "sweep_thresholds",
]
