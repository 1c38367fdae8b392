"""Decisions on spans: those near the best one, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.base import Decision
from classic_rc.errors import UsageError
from classic_rc.parameters import number, whole_number
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Question, Task


class RelativeThreshold(Decision):
    """The rule that selects the best span and all spans within a margin of its score that overlap
    no better one.

    Spans are tried from the best score down, and in passage order for equal scores. Each text is
    answered once. So a margin of 0 selects only the best span, or all spans that tie for the best
    score and do not overlap.
    """

    margin: float = number(
        0.0,
        "the largest distance from the best score, in the solver's units (log-odds for "
        "``span-ranker``). It is fixed, never tuned, because the scores of generated spans are "
        "dropped after every few passages",
        least=0,
    )
    max_spans: int | None = whole_number(
        None, "the most spans in an answer; None for any number", allowed=(None,)
    )

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with one span or several.

        Raises
        ------
        UsageError
            A parameter is invalid, or the questions are not multi-span questions.
        """
        self.check_parameters()
        if len(questions) and questions[0].task is not Task.MULTI_SPAN:
            task = questions[0].task
            message = f"a relative threshold needs multi-span questions, got {task} questions"
            raise UsageError(message, field="questions", found=task.value, expected="multi-span")
        return [self._prediction(q, row) for q, row in zip(questions, scores, strict=True)]

    def _prediction(self, question: Question, row: NDArray[np.float64]) -> Prediction:
        if not len(row):
            return Prediction(question.id, ())
        near = np.flatnonzero(row >= row.max() - self.margin).tolist()
        spans = {i: question.candidates[i] for i in near}
        texts: dict[str, None] = {}
        selected: list[Candidate] = []
        for i in sorted(near, key=lambda i: (-row[i], spans[i].start or 0, spans[i].end or 0)):
            if self.max_spans is not None and len(texts) == self.max_spans:
                break
            if not any(_overlap(spans[i], chosen_span) for chosen_span in selected):
                selected.append(spans[i])
                texts[spans[i].text] = None
        return Prediction(question.id, (tuple(texts),), n_candidates=len(row))


def _overlap(first: Candidate, second: Candidate) -> bool:
    if first.start is None or first.end is None or second.start is None or second.end is None:
        return False
    return first.start < second.end and second.start < first.end


class Abstain(Decision):
    """The rule that answers every span question with the empty text: that the passage has no
    answer.
    """

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the empty text."""
        sizes = np.diff(scores.offsets).tolist()
        return [
            Prediction(q.id, (("",),), n_candidates=size)
            for q, size in zip(questions, sizes, strict=True)
        ]
