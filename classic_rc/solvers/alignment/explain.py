"""Explanations of alignment: the support graph, and what its value is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from classic_rc.solvers.alignment.program import Constants, Edges, Graph, Program
from classic_rc.solvers.alignment.solve import Solution
from classic_rc.solvers.alignment.texts import AlignedQuestion
from classic_rc.solvers.explanation import Explanation, Mark
from classic_rc.text.encode import TextChunk


def explain_graphs(
    found: AlignedQuestion, solutions: Sequence[Solution], constants: Constants, plain: Explanation
) -> Explanation:
    """Each candidate's graph, drawn in words and marked in the passage; the terms add up to the score."""
    explained = list(plain.candidates)
    for i, (solution, program) in enumerate(zip(solutions, found.programs, strict=True)):
        if solution.graph is not None:
            explained[i] = replace(
                explained[i],
                marks=_marks(found, solution.graph, program),
                numbers=solution.graph.terms(program, constants),
                quote=_drawn(found, found.candidates[i], solution.graph),
                source="support graph",
            )
    return replace(plain, candidates=tuple(explained))


def _marks(found: AlignedQuestion, graph: Graph, program: Program) -> tuple[Mark, ...]:
    """The active sentences, from their first chunk to their last, and the aligned chunks."""
    marks = []
    for sentence in graph.active_sentences(program):
        chunks = [c for c, own in zip(found.passage, program.sentences.tolist(), strict=True) if own == sentence]
        marks.append(Mark(chunks[0].start, chunks[-1].end, "sentence"))
    for edges, kind in ((graph.question, "question"), (graph.option, "candidate")):
        weights: dict[int, float] = {}
        for chunk, weight in zip(edges.chunks.tolist(), edges.weights.tolist(), strict=True):
            weights[chunk] = weights.get(chunk, 0.0) + weight
        marks += [Mark(found.passage[c].start, found.passage[c].end, kind, w) for c, w in sorted(weights.items())]
    return tuple(marks)


def _drawn(found: AlignedQuestion, option: Sequence[TextChunk], graph: Graph) -> str:
    """An edge after the other: ``question "his shoes" -> "the shoes" (sentence 2) 0.600``."""
    drawn = [
        f'{side} "{" ".join(ends[end].words)}" -> "{" ".join(found.passage[chunk].words)}" '
        f"(sentence {found.passage[chunk].sentence + 1}) {weight:.3f}"
        for side, ends, edges in (("question", found.question, graph.question), ("option", option, graph.option))
        for end, chunk, weight in sorted(_rows(edges), key=lambda row: (row[1], row[0]))
    ]
    return "; ".join(drawn) or "empty"


def _rows(edges: Edges) -> list[tuple[int, int, float]]:
    return list(zip(edges.ends.tolist(), edges.chunks.tolist(), edges.weights.tolist(), strict=True))
