"""What produced the scores of one question's candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from classic_rc.predictions import Scores
from classic_rc.questions import Question


@dataclass(frozen=True)
class Mark:
    """A stretch of the passage that mattered.

    Parameters
    ----------
    start, end : int
        Character offsets in the passage's text; `end` is exclusive.
    kind : str
        ``"window"``, ``"sentence"``, ``"question"`` (a question word), ``"candidate"`` (a candidate's word), or of
        the nearest pair ``"pair-question"`` and ``"pair-candidate"``.
    weight : float, optional
        What it added to the score.
    """

    start: int
    end: int
    kind: str
    weight: float | None = None


@dataclass(frozen=True)
class CandidateExplanation:
    """One candidate's score, and where it comes from.

    Parameters
    ----------
    text : str
    score : float
    evidence : bool
    marks : tuple of Mark
    numbers : mapping of str to float
        The terms that the score is made of, by name.
    quote : str, optional
        The text that the score comes from, where it is not the passage's.
    source : str, optional
        Where that text stands.
    """

    text: str
    score: float
    evidence: bool
    marks: tuple[Mark, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    quote: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class Explanation:
    """What produced each score of a question's candidates.

    Parameters
    ----------
    solver : str
    question : Question
    candidates : tuple of CandidateExplanation
        In the question's order.
    """

    solver: str
    question: Question
    candidates: tuple[CandidateExplanation, ...]

    @classmethod
    def from_scores(cls, solver: str, question: Question, scores: Scores) -> Explanation:
        """An explanation that has nothing but the scores."""
        rows = zip(question.candidates, scores[0].tolist(), scores.evidence.tolist(), strict=True)
        return cls(solver, question, tuple(CandidateExplanation(c.text, s, e) for c, s, e in rows))

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {
            "solver": self.solver,
            "question_id": self.question.id,
            "question": self.question.text,
            "passage": self.question.passage.text,
            "candidates": [
                {
                    "text": c.text,
                    "score": c.score,
                    "evidence": c.evidence,
                    "numbers": dict(c.numbers),
                    **({} if c.quote is None else {"quote": c.quote, "source": c.source}),
                    "marks": [
                        {"start": m.start, "end": m.end, "kind": m.kind, "weight": m.weight} for m in c.marks
                    ],
                }
                for c in self.candidates
            ],
        }
