"""All spans that score nearly as high as the best one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.base import Decision
from classic_rc.errors import UsageError
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Question, Task


class RelativeThreshold(Decision):
    """The best span, and every other whose score is within a margin of it and that overlaps no better one.

    Spans are gone through from the best down, of equal scores the first in the passage first; a text is answered
    once. So a margin of 0 answers with the best span alone, or with all that tie for it apart from each other.

    Parameters
    ----------
    margin : float
        How far below the best a score may lie, in the solver's units (log-odds for ``span-lr``); not negative.
        It is given, never tuned: generated spans are scored and dropped some passages at a time.
    max_spans : int, optional
        How many spans an answer has at the most; any number by default.
    """

    def __init__(self, *, margin: float = 0.0, max_spans: int | None = None) -> None:
        self.margin = margin
        self.max_spans = max_spans

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with one span or several.

        Raises
        ------
        UsageError
            A parameter cannot be used, or an answer to the questions is not several spans.
        """
        self._check()
        if len(questions) and questions[0].task is not Task.MULTI_SPAN:
            raise UsageError(
                f"a relative threshold selects several spans, and {questions[0].task} questions have another answer"
            )
        return [self._prediction(q, row) for q, row in zip(questions, scores, strict=True)]

    def _prediction(self, question: Question, row: NDArray[np.float64]) -> Prediction:
        if not len(row):
            return Prediction(question.id, ())
        near = np.flatnonzero(row >= row.max() - self.margin).tolist()
        places = {i: question.candidates[i] for i in near}
        kept: dict[str, None] = {}
        taken: list[Candidate] = []
        for i in sorted(near, key=lambda i: (-row[i], places[i].start or 0, places[i].end or 0)):
            if self.max_spans is not None and len(kept) == self.max_spans:
                break
            if not any(_overlap(places[i], other) for other in taken):
                taken.append(places[i])
                kept[places[i].text] = None
        return Prediction(question.id, (tuple(kept),), n_candidates=len(row))

    def _check(self) -> None:
        margin, most = self.margin, self.max_spans
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 <= margin < math.inf:
            raise UsageError(f"the margin of a relative threshold must be a number from 0, got {margin!r}")
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise UsageError(f"max_spans must be a whole number of at least 1 or None, got {most!r}")


def _overlap(one: Candidate, other: Candidate) -> bool:
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end
