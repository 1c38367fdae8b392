"""What a decision rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator

from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question


class Decision(BaseEstimator, ABC):
    """A rule that turns scores into predictions."""

    @abstractmethod
    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question from its candidates' scores."""

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Learn the rule's constants, if it has any that are not given."""
        return self

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`decide` has to wait for :meth:`fit`."""
        return False


def describe(decision: Decision) -> dict[str, Any]:
    """A decision's parameters as plain data, its kind included."""
    return {"rule": type(decision).__name__, **decision.get_params(deep=False)}
