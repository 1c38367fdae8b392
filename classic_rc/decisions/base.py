"""The base class of decisions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self, dataclass_transform

from classic_rc.parameters import Estimator
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question


@dataclass_transform(kw_only_default=True, eq_default=False)
class Decision(Estimator, ABC):
    """A rule that turns scores into predictions."""

    @abstractmethod
    def decide(self, scores: Scores, questions: Sequence[Question]) -> Sequence[Prediction]:
        """Answer each question from its candidates' scores."""

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Tune the rule's constants, if it has any."""
        return self

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`fit` must be called before :meth:`decide`."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether a solver that learns has something to choose inside its training data."""
        return False


def distinct_answers(question: Question, indices: list[int]) -> list[Answer]:
    """Return the answers of some candidates; equal texts are one answer."""
    if question.task.has_choices:
        return [frozenset((i,)) for i in indices]
    return [(text,) for text in dict.fromkeys(question.candidates[i].text for i in indices)]
