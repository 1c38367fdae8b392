"""Explanations: what produced the scores of one question's candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from classic_rc.predictions import Scores
from classic_rc.questions import Question


@dataclass(frozen=True)
class Mark:
    """A part of the passage that contributed to a score."""

    # Character offsets in the passage's text; `end` is exclusive.
    start: int
    end: int
    # "window", "sentence", "question" (a question word) or "candidate" (a candidate's word); for the nearest pair
    # "pair-question" and "pair-candidate".
    kind: str
    # What the part added to the score, if known.
    weight: float | None = None


@dataclass(frozen=True)
class CandidateExplanation:
    """One candidate's score and its parts."""

    text: str  # the candidate's text
    score: float
    evidence: bool
    marks: tuple[Mark, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)  # the terms of the score, by name
    quote: str | None = None  # the text that the score comes from, if it is not in the passage
    source: str | None = None  # where `quote` comes from


@dataclass(frozen=True)
class Explanation:
    """The explanation of the scores of one question's candidates.

    Parameters
    ----------
    solver : str
        The solver's name.
    question : Question
    candidates : tuple of CandidateExplanation
        In the question's order.
    """

    solver: str
    question: Question
    candidates: tuple[CandidateExplanation, ...]

    @classmethod
    def from_scores(cls, solver: str, question: Question, scores: Scores) -> Explanation:
        """Return an explanation that has only the scores."""
        rows = zip(question.candidates, scores[0].tolist(), scores.evidence.tolist(), strict=True)
        return cls(solver, question, tuple(CandidateExplanation(c.text, s, e) for c, s, e in rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data, ready for JSON."""
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
