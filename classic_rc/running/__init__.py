"""Running: plan, fit and score systems on datasets, in suites, on perturbed copies, and again
from records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.running.explain import Explainer
    from classic_rc.running.perturbed import PerturbedEvaluation, PerturbedScore, evaluate_perturbed

__all__ = ["Explainer", "PerturbedEvaluation", "PerturbedScore", "evaluate_perturbed"]

__getattr__, __dir__ = names_on_use(__name__)
