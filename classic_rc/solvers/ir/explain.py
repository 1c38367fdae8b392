"""Explanations of IR: the best sentence of each candidate, its source, and what each term adds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from classic_rc.questions import Question
from classic_rc.retrieval.base import Best, Engine
from classic_rc.retrieval.registry import get_engine
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.sentences import passage_sentences

if TYPE_CHECKING:
    from classic_rc.solvers.ir.solver import IRSolver


_EXPLAINED_CANDIDATES = 100


class _Found(NamedTuple):
    """Where a sentence is."""

    engine: Engine
    number: int
    source: str | None  # None for the own passage


def explain_sentences(solver: IRSolver, question: Question) -> Explanation:
    """The best sentence of each candidate: marked where it is in the passage, else quoted with its source."""
    scores = solver.score_candidates([question])
    bests = solver.best_sentences([question])
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    own = None if solver.searches_corpora else _own_engine(solver, question)
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        found = _best(solver, bests, i, own)
        if found is not None:
            explained[i] = _explained(solver, question, explained[i], found)
    return Explanation(solver.name, question, tuple(explained))


def _best(solver: IRSolver, bests: list[Best], candidate: int, own: Engine | None) -> _Found | None:
    """Where the best sentence of a candidate is, the first of equal ones."""
    best = max(bests, key=lambda b: b.scores[candidate] if b.found[candidate] else -np.inf)
    if not best.found[candidate]:
        return None
    number = int(best.sentences[candidate])
    if own is not None:
        return _Found(own, number, None)
    corpus = solver.corpora_[bests.index(best)]
    return _Found(corpus.engine, number, corpus.source(number))


def _explained(
    solver: IRSolver, question: Question, plain: CandidateExplanation, found: _Found
) -> CandidateExplanation:
    shares = found.engine.term_scores(f"{question.query} {plain.text}", found.number)
    marks: tuple[Mark, ...] = ()
    if found.source is None:
        marks = tuple(_marks(solver, question, plain.text, found.number, dict(shares)))
    quote = None if found.source is None else found.engine.sentence(found.number)
    return CandidateExplanation(
        plain.text, plain.score, plain.evidence, marks, dict(shares), quote=quote, source=found.source
    )


def _marks(
    solver: IRSolver, question: Question, option: str, number: int, shares: dict[str, float]
) -> Iterator[Mark]:
    """The sentence, and in it the words of question and candidate."""
    analyzer = get_analyzer(solver.analyzer)
    asked = set(analyzer.analyze(question.query))
    offered = set(analyzer.analyze(option))
    start, end = passage_sentences(question.passage)[number]
    yield Mark(start, end, "sentence")
    for term, first, last in analyzer.locate(question.passage.text[start:end]):
        if term in asked or term in offered:
            yield Mark(start + first, start + last, "question" if term in asked else "candidate", shares.get(term))


def _own_engine(solver: IRSolver, question: Question) -> Engine:
    passage = question.passage
    engine = get_engine("sparse", similarity=solver.similarity, analyzer=solver.analyzer)
    return engine.index([passage.text[start:end] for start, end in passage_sentences(passage)])
