"""Any system's scores as a solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from classic_rc.decisions import Decision
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.formats import read_scores
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver

__all__ = ["ScoreFile"]


class ScoreFile(Solver):
    """The scores that a file gives each candidate.

    Parameters
    ----------
    path : str
        A file in one of the formats of :mod:`classic_rc.formats` that hold scores.
    format : str, optional
        The format's name; by default found from the content.
    decision : Decision, optional

    Attributes
    ----------
    scores_ : dict of str to (ndarray, ndarray)
        By question id, the scores and the evidence flags.
    """

    name = "score-file"
    description = "the scores that a file gives each candidate (path=FILE)"

    def __init__(self, *, path: str = "", format: str | None = None, decision: Decision | None = None) -> None:
        self.path = path
        self.format = format
        self.decision = decision

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Read the file, which must hold scores for exactly these questions."""
        if not self.path:
            raise UsageError("score-file needs a file: path=FILE")
        scores = read_scores(self.path, questions, self.format)
        self.scores_ = {
            q.id: (row, scores.evidence[start : start + len(row)])
            for q, row, start in zip(questions, scores, scores.offsets[:-1], strict=True)
        }
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The file's scores of these questions."""
        if not hasattr(self, "scores_"):
            raise NotFittedError("score-file has not read its file: call fit(questions) first")
        missing = [q.id for q in questions if q.id not in self.scores_]
        if missing:
            raise UsageError(f"{self.path} has no scores for {len(missing)} questions, such as {missing[0]}")
        rows = Scores.from_lists(self.scores_[q.id][0] for q in questions)
        flags = [flag for q in questions for flag in self.scores_[q.id][1]]
        return Scores(rows.values, rows.offsets, flags)  # type: ignore[arg-type]
