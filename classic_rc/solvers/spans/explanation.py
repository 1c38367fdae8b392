"""Explanations of span scores: formulas and marks of the best spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import DECISION, Solver
from classic_rc.solvers.explanation import Explanation, Mark, Term, given, plus
from classic_rc.solvers.spans.columns import Asked, Block, ColumnMaker, Part
from classic_rc.solvers.spans.texts import Lexicon
from classic_rc.text.spans import EncodedSpans

SPAN_DECISION = DECISION.but(
    help="the rule that turns scores into answers; None selects the best span, and ties get partial credit"
)

_EXPLAINED_CANDIDATES = 100


def explain_spans(
    solver: Solver,
    question: Question,
    spans: EncodedSpans,
    explain_score: Callable[[int, float], tuple[Mapping[str, float], Callable[[], Term]]],
) -> Explanation:
    """Explain the 100 best spans by their formulas and marks; the other spans get only their scores.

    `spans` are those of this question only. `explain_score` returns the numbers of the candidate with an index and
    a score, and what makes its formula.
    """
    scores = solver.score_candidates([question])
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    in_question = np.isin(spans.tokens, spans.question_tokens)
    # A question has thousands of spans, too many to read.
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        plain = explained[i]
        numbers, make_formula = explain_score(i, plain.score)
        marks = tuple(_mark_span(spans, i, in_question))
        explained[i] = replace(plain, marks=marks, numbers=numbers, make_formula=make_formula)
    return Explanation(solver.name, question, tuple(explained))


def _mark_span(spans: EncodedSpans, i: int, in_question: NDArray[np.bool_]) -> list[Mark]:
    """Mark the span, and the question's words in the rest of its sentence."""
    first, last = spans.first[i], spans.last[i]
    begin, end = spans.sentence_offsets[spans.sentence[i] : spans.sentence[i] + 2]
    around = [*range(begin, first), *range(last, end)]
    places = [(spans.token_starts[j], spans.token_ends[j], "question") for j in around if in_question[j]]
    if first < last:
        places.append((spans.token_starts[first], spans.token_ends[last - 1], "candidate"))
    return [Mark(int(start), int(end), kind) for start, end, kind in sorted(places)]


def explain_columns(
    solver: str,
    question: Question,
    scores: Scores,
    maker: ColumnMaker,
    asked: Asked,
    lexicon: Lexicon,
    weights: NDArray[np.float32],
    right: Sequence[int],
) -> Explanation:
    """Explain the best spans of the span ranker, and the right ones: what each group adds, and each feature.

    Parameters
    ----------
    solver : str
        The solver's name.
    scores : Scores
        Of this question only.
    asked : Asked
        The question as the solver read it.
    lexicon : Lexicon
        That of its texts.
    right : sequence of int
        The right candidates.
    """
    block = Block([asked], lexicon)
    parts = list(maker.parts(block))
    columns = [part.columns() for part in parts]
    names = lexicon.names | block.path_names(lexicon)
    explained = list(Explanation.from_scores(solver, question, scores).candidates)
    best = np.argsort(-scores.values, kind="stable")[:_EXPLAINED_CANDIDATES].tolist()
    for i in dict.fromkeys([*best, *right]):
        terms = []
        for part, own in zip(parts, columns, strict=True):
            row = i if part.rows is None else int(part.rows[i])
            terms += _part_terms(part, row, own[:, row], weights, names)
        score = explained[i].score
        explained[i] = replace(
            explained[i],
            marks=tuple(_mark_ends(block, asked, i)),
            numbers={term.name: term.value for term in terms},
            make_formula=partial(plus, "score", *terms, value=score),
        )
    return Explanation(solver, question, tuple(explained))


def _part_terms(
    part: Part, row: int, columns: NDArray[np.int32], weights: NDArray[np.float32], names: Mapping[int, str]
) -> list[Term]:
    """Return what each group of one part adds to a score, with its features, the largest first."""
    groups: dict[str, list[Term]] = {}
    for (group, template), weight in zip(part.templates, weights[columns].tolist(), strict=True):
        values = (int(part.values(name)[row]) for name in template)
        label = ", ".join(f"{name} {names.get(v, str(v))!r}" for name, v in zip(template, values, strict=True))
        groups.setdefault(group, []).append(given(label, weight))
    return [
        plus(f"{part.name}: {group}" if part.name != group else group, *sorted(own, key=lambda t: -abs(t.value)))
        for group, own in groups.items()
    ]


def _mark_ends(block: Block, asked: Asked, i: int) -> list[Mark]:
    """Mark the span, and the question's words in the rest of its sentence."""
    first, last, passage = int(block.first[i]), int(block.last[i]), asked.passage
    around = [*range(int(block.begin[first]), first), *range(last + 1, int(block.end[first]))]
    places = [(passage.starts[j], passage.ends[j], "question") for j in around if block.matched[j]]
    places.append((passage.starts[first], passage.ends[last], "candidate"))
    return [Mark(int(start), int(end), kind) for start, end, kind in sorted(places)]
