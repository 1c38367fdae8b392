"""Explanations of spans: what their scores are made of, and the question's words around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from classic_rc.questions import Question
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.text.encode_spans import EncodedSpans

if TYPE_CHECKING:
    from classic_rc.solvers.base import Solver


_EXPLAINED_CANDIDATES = 100


def explain_spans(
    solver: Solver, question: Question, spans: EncodedSpans, numbers: Callable[[int], Mapping[str, float]]
) -> Explanation:
    """The best spans' terms, the others' scores.

    Parameters
    ----------
    solver : Solver
    question : Question
    spans : EncodedSpans
        Of this question alone.
    numbers : callable
        Gives the terms of the candidate of an index.
    """
    scores = solver.score_candidates([question])
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    asked = np.isin(spans.tokens, spans.question_tokens)
    # Of thousands of spans nobody reads all.
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        plain = explained[i]
        explained[i] = CandidateExplanation(
            plain.text, plain.score, plain.evidence, tuple(_marks(spans, i, asked)), numbers(i)
        )
    return Explanation(solver.name, question, tuple(explained))


def _marks(spans: EncodedSpans, i: int, asked: np.ndarray) -> list[Mark]:
    """The span, and the question's words in its sentence outside it."""
    first, last = spans.first[i], spans.last[i]
    begin, end = spans.sentence_offsets[spans.sentence[i] : spans.sentence[i] + 2]
    around = [*range(begin, first), *range(last, end)]
    places = [(spans.token_starts[j], spans.token_ends[j], "question") for j in around if asked[j]]
    if first < last:
        places.append((spans.token_starts[first], spans.token_ends[last - 1], "candidate"))
    return [Mark(int(start), int(end), kind) for start, end, kind in sorted(places)]
