"""The explanation of the lexical matcher's scores: every component's formula, the best window and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    given,
    inverse_count,
    minus,
    plus,
    times,
)
from classic_rc.solvers.lexical.components import COMPONENTS, SMOOTHING, WIDTHS, Components, assign_sentences
from classic_rc.solvers.lexical.texts import Token
from classic_rc.solvers.match_formulas import distance_term

_MARKED_CANDIDATES = 100


def explain_components(
    solver: str,
    question: Question,
    scores: Scores,
    components: Components,
    weights: Sequence[float],
    tokens: Sequence[Token],
    bugs: frozenset[str],
) -> Explanation:
    """Explain each score by its components, the best window of the greatest width, and the best sentences.

    The components' weighted shares add up to the score. If the rule for negated questions decides a component, the
    component's name says so. The window and the sentences are those of the original passage, in which no mention is
    replaced.
    """
    sentences, counts = assign_sentences(components.texts, bugs)
    token_weights = inverse_count_weights(components.texts.stem_counts + SMOOTHING).tolist()
    rows = components.texts.encoded.candidate_rows
    explained = list(Explanation.from_scores(solver, question, scores).candidates)
    for i in np.argsort(-scores[0], kind="stable")[:_MARKED_CANDIDATES].tolist():
        row = i if rows is None else int(rows[i])
        kinds = _match_kinds(components.texts.stems, row)
        matched = [weight if kind else 0 for weight, kind in zip(token_weights, kinds, strict=True)]
        in_sentences = [weight if counted else 0 for weight, counted in zip(matched, counts.tolist(), strict=True)]
        explained[i] = CandidateExplanation(
            explained[i].text,
            explained[i].score,
            explained[i].evidence,
            _mark_window(tokens, matched, kinds),
            {
                f"{name} (negation)" if ruled else name: weight * score
                for name, weight, score, ruled in zip(
                    COMPONENTS,
                    weights,
                    components.scores[row].tolist(),
                    components.ruled[row].tolist(),
                    strict=True,
                )
            },
            quote := _quote_sentences(question.passage.text, tokens, in_sentences, sentences.tolist()),
            "best sentences" if quote else None,
            partial(
                _explain_score,
                _Matched(components, row, tokens, bugs),
                weights,
                explained[i].score,
                matched,
                in_sentences,
                sentences.tolist(),
            ),
        )
    return Explanation(solver, question, tuple(explained))


class _Matched(NamedTuple):
    """One candidate of the question, and the passage's tokens."""

    components: Components
    row: int  # the candidate's row in the arrays
    tokens: Sequence[Token]
    bugs: frozenset[str]

    def word(self, i: int, count: int, weight: int) -> Term:
        """Return the weight of the passage's token i."""
        return inverse_count(f'"{self.tokens[i].word}"', count + SMOOTHING, weight / SCALE)


def _explain_score(
    matched: _Matched,
    weights: Sequence[float],
    score: float,
    in_window: Sequence[int],
    in_sentences: Sequence[int],
    sentences: Sequence[int],
) -> Term:
    """Return the score as the weighted sum of its components, each with its own numbers."""
    values = matched.components.scores[matched.row].tolist()
    ruled = matched.components.ruled[matched.row].tolist()
    own = (
        lambda value: _explain_windows(matched, in_window, value),
        lambda value: minus("", _explain_distance(matched, -value)),
        lambda value: _explain_bag(matched, value),
        lambda value: _explain_sentences(matched, in_sentences, sentences, value),
    )
    parts = []
    for name, weight, value, by_rule, explain in zip(COMPONENTS, weights, values, ruled, own, strict=True):
        if by_rule:
            rule = "by the rule for negated questions: 1 for the only candidate that is not in the passage"
            component = given(name, value, rule)
        else:
            component = explain(value)
        parts.append(times("", given(f"weight of {name}", weight), component))
    return plus("score", *parts, value=score)


def _explain_windows(matched: _Matched, weights: Sequence[int], value: float) -> Term:
    """Return the sum over widths of the best window's sum."""
    counts = matched.components.texts.stem_counts.tolist()
    as_released = "last-window" in matched.bugs
    if as_released and len(weights) <= WIDTHS[-1]:
        words = [matched.word(i, counts[i], weight) for i, weight in enumerate(weights) if weight]
        return plus("window", *words, value=value, note="a short passage is one window")
    windows, sums_before = [], list(accumulate(weights, initial=0))
    for width in WIDTHS:
        n_starts = max(len(weights) - width, 0) + 1
        starts = range(n_starts - 1 if as_released and n_starts > 1 else n_starts)
        sums = [sums_before[min(start + width, len(weights))] - sums_before[start] for start in starts]
        best = sums.index(max(sums))
        inside = [i for i in range(best, min(best + width, len(weights))) if weights[i]]
        note = ", ".join(f'"{matched.tokens[i].word}"' for i in inside)
        total = sum(weights[i] for i in inside) / SCALE
        name = f"best {width} tokens"
        if inside:
            windows.append(plus(name, *(given("", weights[i] / SCALE) for i in inside), value=total, note=note))
        else:
            windows.append(given(name, 0.0))
    return plus("window", *windows, value=value, note=f"the best windows of {WIDTHS[0]} to {WIDTHS[-1]} tokens")


def _explain_distance(matched: _Matched, value: float) -> Term:
    texts = matched.components.texts
    if "distance" in matched.bugs:
        return given("distance", value, "measured as in the released code, without stop words")
    names = texts.encoded.vocabulary
    arrays = texts.words
    start, end = arrays.candidate_offsets[matched.row : matched.row + 2].tolist()
    passage, query, answer = (
        [names[token] for token in tokens.tolist()]
        for tokens in (arrays.passage_tokens, arrays.question_tokens, arrays.candidate_tokens[start:end])
    )
    stop = {word for word, kept in zip(passage, texts.kept.tolist(), strict=True) if not kept}
    return distance_term(passage, query, answer, stop, "mean", value)


def _explain_bag(matched: _Matched, value: float) -> Term:
    """Return the sum of the weights of all matched words."""
    texts = matched.components.texts
    counts, kept = texts.word_counts.tolist(), texts.kept.tolist()
    weights = inverse_count_weights(texts.word_counts + SMOOTHING).tolist()
    kinds = _match_kinds(texts.words, matched.row)
    places = [i for i, kind in enumerate(kinds) if kind and kept[i]]
    words = [matched.word(i, counts[i], weights[i]) for i in places]
    return _with_coreference("bag of words", words, sum(weights[i] for i in places), value)


def _explain_sentences(
    matched: _Matched, weights: Sequence[int], sentences: Sequence[int], value: float, n_best: int = 2
) -> Term:
    """Return the sum of the best sentences' sums of matched words."""
    counts = matched.components.texts.stem_counts.tolist()
    sums: Counter[int] = Counter()
    for weight, sentence in zip(weights, sentences, strict=True):
        sums[sentence] += weight
    best = [(number, total) for number, total in sums.most_common(n_best) if total]
    parts = []
    for number, total in sorted(best):
        places = [i for i, own in enumerate(sentences) if own == number and weights[i]]
        words = [matched.word(i, counts[i], weights[i]) for i in places]
        parts.append(plus(f"sentence {number + 1}", *words, value=total / SCALE))
    return _with_coreference("sentences", parts, sum(total for _, total in best), value)


def _with_coreference(name: str, parts: Sequence[Term], total: int, value: float) -> Term:
    """Return a sum; what is left of its value is the score of the passage with mentions replaced."""
    left = value - total / SCALE
    replaced = [given("with mentions replaced", left)] if left else []
    if not parts and not replaced:
        return given(name, value, "no word matches")
    return plus(name, *parts, *replaced, value=value)


def _match_kinds(arrays: TokenArrays, candidate: int) -> list[str | None]:
    """Return for each passage token whether it is a word of the question, of the candidate, or of neither."""
    start, end = arrays.candidate_offsets[candidate : candidate + 2]
    query, answer = set(arrays.question_tokens.tolist()), set(arrays.candidate_tokens[start:end].tolist())
    return [
        "question" if token in query else "candidate" if token in answer else None
        for token in arrays.passage_tokens.tolist()
    ]


def _mark_window(tokens: Sequence[Token], matched: Sequence[int], kinds: Sequence[str | None]) -> tuple[Mark, ...]:
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


def _quote_sentences(
    text: str, tokens: Sequence[Token], matched: Sequence[int], sentences: Sequence[int], n_best: int = 2
) -> str | None:
    """Return the text of the best-matching sentences, in the order of the passage."""
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
