"""Explanations: what produced the scores of one question's candidates, and the formulas with
their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from classic_rc.plugins import Viewed
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question


@dataclass(frozen=True)
class Mark:
    """A part of the passage that contributed to a score."""

    # Character offsets in the passage's text; `end` is exclusive.
    start: int
    end: int
    # "window", "sentence", "question" (a question word) or "candidate" (a candidate's word); for
    # the nearest pair "pair-question" and "pair-candidate".
    kind: str
    # What the part added to the score, if known.
    weight: float | None = None


def _divide(values: Sequence[float]) -> float:
    numerator, denominator = values
    return numerator / denominator


OPERATIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "product": math.prod,
    "quotient": _divide,
    "negative": lambda values: -values[0],
    "minimum": min,
    "logarithm": lambda values: math.log(values[0]),
    "root": lambda values: math.sqrt(values[0]),
}
"""What a term makes of its parts: ``quotient`` has two parts; those after ``minimum`` have one."""


@dataclass(frozen=True)
class Term:
    """A number of a formula: given, or made of other terms by an operation.

    Parameters
    ----------
    name : str
        What the number is. A term without a name is written inside the expression of the term that
        it is part of.
    value : float
        The solver's own number. Recomputed from its parts, it may differ in the last bits.
    operation : str, optional
        One of :data:`OPERATIONS`; None if the number is given.
    parts : tuple of Term
        What the operation applies to, in this order.
    note : str
        Where the number comes from, in words.

    Examples
    --------
    >>> weight = logarithm("fox", plus("", 1, divided("", 1, 2)))
    >>> round(weight.value, 5), round(weight.recompute(), 5)
    (0.40547, 0.40547)
    """

    name: str
    value: float
    operation: str | None = None
    parts: tuple[Term, ...] = ()
    note: str = ""

    def recompute(self) -> float:
        """Return the value that the operations give for the given numbers, at any depth."""
        if self.operation is None:
            return self.value
        return OPERATIONS[self.operation]([operand.recompute() for operand in self.parts])

    def renamed(self, name: str, note: str | None = None) -> Term:
        """Return the same term under another name."""
        return replace(self, name=name, note=self.note if note is None else note)

    def to_dict(self) -> dict[str, Any]:
        """Return the term as plain data; what is empty is left out."""
        plain = {
            "name": self.name,
            "value": self.value,
            "operation": self.operation,
            "note": self.note,
        }
        document = {key: value for key, value in plain.items() if value not in (None, "")}
        return (
            {**document, "parts": [operand.to_dict() for operand in self.parts]}
            if self.parts
            else document
        )


def given(name: str, value: float, note: str = "") -> Term:
    """Return a number that is made of no others."""
    return Term(name, float(value), note=note)


def _make(
    operation: str,
    name: str,
    operands: Sequence[Term | float],
    value: float | None = None,
    note: str = "",
) -> Term:
    terms = tuple(
        operand if isinstance(operand, Term) else given("", operand) for operand in operands
    )
    computed = (
        OPERATIONS[operation]([term.value for term in terms]) if value is None else float(value)
    )
    return Term(name, computed, operation, terms, note)


def plus(name: str, *parts: Term | float, value: float | None = None, note: str = "") -> Term:
    """Return a sum; `value` is the solver's own number, by default what the parts give."""
    return _make("sum", name, parts, value, note)


def times(name: str, *parts: Term | float, value: float | None = None, note: str = "") -> Term:
    """Return a product."""
    return _make("product", name, parts, value, note)


def divided(
    name: str,
    numerator: Term | float,
    denominator: Term | float,
    value: float | None = None,
    note: str = "",
) -> Term:
    """Return a quotient."""
    return _make("quotient", name, (numerator, denominator), value, note)


def minus(name: str, operand: Term | float, note: str = "") -> Term:
    """Return a number with the other sign."""
    return _make("negative", name, (operand,), note=note)


def least(name: str, *parts: Term | float, note: str = "") -> Term:
    """Return the minimum."""
    return _make("minimum", name, parts, note=note)


def logarithm(name: str, operand: Term | float, value: float | None = None, note: str = "") -> Term:
    """Return a natural logarithm."""
    return _make("logarithm", name, (operand,), value, note)


def root(name: str, operand: Term | float) -> Term:
    """Return a square root."""
    return _make("root", name, (operand,))


def inverse_count(name: str, count: int, value: float, total: int = 1) -> Term:
    """Return a word's weight ``ln(1 + total / count)``; `value` is the weight as rounded by the
    kernels.
    """
    return logarithm(name, plus("", 1, divided("", total, count)), value)


_MOST_EXPLAINED = 100


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
    # Makes the score's formula with its numbers, which may take longer than all of the above.
    make_formula: Callable[[], Term | None] | None = None

    @cached_property
    def formula(self) -> Term | None:
        """The score as a formula with its numbers, made on first use."""
        return None if self.make_formula is None else self.make_formula()


def _plain_candidate(candidate: CandidateExplanation) -> dict[str, Any]:
    """Return a candidate's explanation as plain data."""
    plain: dict[str, Any] = {
        "text": candidate.text,
        "score": candidate.score,
        "evidence": candidate.evidence,
        "numbers": dict(candidate.numbers),
    }
    if candidate.formula is not None:
        plain["formula"] = candidate.formula.to_dict()
    if candidate.quote is not None:
        plain |= {"quote": candidate.quote, "source": candidate.source}
    plain["marks"] = [
        {"start": mark.start, "end": mark.end, "kind": mark.kind, "weight": mark.weight}
        for mark in candidate.marks
    ]
    return plain


@dataclass(frozen=True)
class Explanation(Viewed):
    """The explanation of the scores of one question's candidates.

    Parameters
    ----------
    solver : str
        The solver's name.
    question : Question
    candidates : tuple of CandidateExplanation
        In the question's order.
    note : str
        What a reader must know about all numbers.
    decide : callable, optional
        Makes the answer that follows from the scores; it returns None if no threshold is tuned.
    relative_ties : bool
        Whether the scores are a file's (:class:`~classic_rc.predictions.Scores`).
    are_answers : bool
        Whether a file has answers and no scores; a score is the share of them with the candidate.
    """

    solver: str
    question: Question
    candidates: tuple[CandidateExplanation, ...]
    note: str = ""
    decide: Callable[[Explanation], Prediction | None] | None = None
    relative_ties: bool = False
    are_answers: bool = False

    @cached_property
    def prediction(self) -> Prediction | None:
        """The answer that the system gives, made on first use; None if none is decided."""
        return None if self.decide is None else self.decide(self)

    @property
    def scores(self) -> Scores:
        """The scores of the question's candidates."""
        values = np.array([c.score for c in self.candidates], dtype=np.float64)
        offsets = np.array([0, len(values)], dtype=np.int64)
        evidence = np.array([c.evidence for c in self.candidates], dtype=np.bool_)
        return Scores(values, offsets, evidence, self.relative_ties)

    @classmethod
    def from_scores(
        cls,
        solver: str,
        question: Question,
        scores: Scores,
        formula: Callable[[int, float], Term] | None = None,
    ) -> Explanation:
        """Return an explanation that has only the scores and, if given, the formula of each
        candidate.

        Parameters
        ----------
        solver : str
        question : Question
        scores : Scores
            Of this question only.
        formula : callable, optional
            Returns the formula of the candidate with an index and a score.
        """
        rows = zip(question.candidates, scores[0].tolist(), scores.evidence.tolist(), strict=True)
        candidates = []
        for i, (candidate, score, evidence) in enumerate(rows):
            make_formula = formula and partial(formula, i, score)
            candidates.append(
                CandidateExplanation(candidate.text, score, evidence, make_formula=make_formula)
            )
        return cls(solver, question, tuple(candidates), relative_ties=scores.relative_ties)

    def with_best(
        self,
        explain: Callable[[int, CandidateExplanation], CandidateExplanation],
        others: Sequence[int] = (),
    ) -> Explanation:
        """Return the explanation with the 100 best candidates, and the ones at `others`, as
        `explain` returns them.

        A span question has thousands of candidates, too many to read.
        """
        candidates = list(self.candidates)
        best = np.argsort([-c.score for c in candidates], kind="stable")[:_MOST_EXPLAINED].tolist()
        for i in dict.fromkeys([*best, *others]):
            candidates[i] = explain(i, candidates[i])
        return replace(self, candidates=tuple(candidates))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data, ready for JSON."""
        plain: dict[str, Any] = {"solver": self.solver}
        if self.note:
            plain["note"] = self.note
        plain |= {
            "question_id": self.question.id,
            "question": self.question.text,
            "passage": self.question.passage.text,
            "candidates": [_plain_candidate(candidate) for candidate in self.candidates],
        }
        return plain
