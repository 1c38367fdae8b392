"""Explanations of the lexical matcher: what each component adds, the best window, the best sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.questions import Question
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.solvers.lexical.components import (
    COMPONENTS,
    SMOOTHING,
    WIDTHS,
    counted_sentences,
    named_bugs,
)
from classic_rc.solvers.lexical.texts import Token, raw_tokens

if TYPE_CHECKING:
    from classic_rc.solvers.lexical.solver import LexicalMatcher


_MARKED_CANDIDATES = 100


def explain_components(solver: LexicalMatcher, question: Question) -> Explanation:
    """The components' weighted shares of each score, the best window of the greatest width, the best sentences.

    The shares add up to the score. Where the rule for negated questions has decided, a component's name says so.
    The window and the sentences are those of the passage as it stands, mentions not replaced.
    """
    scores, found = solver.score_candidates([question]), solver.components([question])
    weights, reader = solver.component_weights(), solver.annotated_reader()
    if reader is None:
        tokens = raw_tokens(question.passage, solver.analyzer, solver.normaliser, solver.stop_words)
    else:
        tokens = reader.tokens(question)
    sentences, counts = counted_sentences(found.texts, named_bugs(solver.bugs))
    token_weights = inverse_count_weights(found.texts.stem_counts + SMOOTHING).tolist()
    rows = found.texts.encoded.candidate_rows
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    for i in np.argsort(-scores[0], kind="stable")[:_MARKED_CANDIDATES].tolist():
        row = i if rows is None else int(rows[i])
        kinds = _matches(found.texts.stems, row)
        matched = [weight if kind else 0 for weight, kind in zip(token_weights, kinds, strict=True)]
        in_sentences = [weight if counted else 0 for weight, counted in zip(matched, counts.tolist(), strict=True)]
        explained[i] = CandidateExplanation(
            explained[i].text,
            explained[i].score,
            explained[i].evidence,
            _window(tokens, matched, kinds),
            {
                f"{name} (negation)" if ruled else name: weight * score
                for name, weight, score, ruled in zip(
                    COMPONENTS, weights.tolist(), found.scores[row].tolist(), found.ruled[row].tolist(), strict=True
                )
            },
            quote := _sentences(question.passage.text, tokens, in_sentences, sentences.tolist()),
            "best sentences" if quote else None,
        )
    return Explanation(solver.name, question, tuple(explained))


def _matches(arrays: TokenArrays, candidate: int) -> list[str | None]:
    """For each token of the passage, what it is a word of, the question or the candidate."""
    start, end = arrays.candidate_offsets[candidate : candidate + 2]
    asked, answer = set(arrays.question_tokens.tolist()), set(arrays.candidate_tokens[start:end].tolist())
    return [
        "question" if token in asked else "candidate" if token in answer else None
        for token in arrays.passage_tokens.tolist()
    ]


def _window(tokens: Sequence[Token], matched: Sequence[int], kinds: Sequence[str | None]) -> tuple[Mark, ...]:
    width = WIDTHS[-1]
    starts = range(max(len(matched) - width, 0) + 1)
    best = max(starts, key=lambda start: sum(matched[start : start + width]))
    inside = range(best, min(best + width, len(matched)))
    total = sum(matched[i] for i in inside)
    places = {i: place for i in inside if (place := tokens[i].place) is not None}
    if not total or not places:
        return ()
    window = Mark(places[inside[0]][0], places[inside[-1]][1], "window", total / SCALE)
    words = [Mark(*place, kind, matched[i] / SCALE) for i, place in places.items() if (kind := kinds[i])]
    return window, *words


def _sentences(
    text: str, tokens: Sequence[Token], matched: Sequence[int], sentences: Sequence[int], n_best: int = 2
) -> str | None:
    """The text of the sentences that match best, in the order of the passage."""
    sums: Counter[int] = Counter()
    for weight, sentence in zip(matched, sentences, strict=True):
        sums[sentence] += weight
    best = sorted(sentence for sentence, total in sums.most_common(n_best) if total)
    pieces = []
    for number in best:
        places = [t.place for t, sentence in zip(tokens, sentences, strict=True) if sentence == number and t.place]
        if places:
            pieces.append(" ".join(text[places[0][0] : places[-1][1]].split()))
    return " / ".join(pieces) or None
