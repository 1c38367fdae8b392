"""The rule by which partial inputs answer where several options may be right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import TIE_TOLERANCE, Decision
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question


class AboveMean(Decision):
    """Every candidate whose score is above the mean of its question's candidates.

    A check asks whether right options can be told from wrong ones of the same question, and this rule asks for
    nothing else. A threshold tuned for F1a would select nearly everything, and then nothing is better than chance:
    on MultiRC, whose right options are clearly the longer ones, length would seem to tell nothing. And tuned out
    of fold, on scores of solvers that learned from the very fold it is for, it is a little better than it ought.
    """

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with its candidates above the mean; with none where all score the same."""
        return [
            Prediction(q.id, (frozenset(_above_mean(row)),), n_candidates=len(row))
            for q, row in zip(questions, scores, strict=True)
        ]


def _above_mean(scores: NDArray[np.float64]) -> list[int]:
    return np.flatnonzero(scores > scores.mean() + TIE_TOLERANCE).tolist() if len(scores) else []
