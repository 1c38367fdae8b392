"""The lexical matcher's scores as formulas, with the best window marked and the best sentences
quoted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.weights import SCALE
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    divided,
    given,
    inverse_count,
    minus,
    plus,
    times,
)
from classic_rc.solvers.lexical.components import (
    COMPONENTS,
    SMOOTHING,
    WIDTHS,
    Components,
    assign_sentences,
    smoothed_weights,
)
from classic_rc.solvers.lexical.texts import LexicalTexts, Token
from classic_rc.solvers.match_formulas import distance_term


def explain_components(
    solver: str,
    question: Question,
    scores: Scores,
    components: Components,
    weights: Sequence[float],
    tokens: Sequence[Token],
    bugs: frozenset[str],
) -> Explanation:
    """Explain each score by its components, the best window of the greatest width, and the best
    sentences.

    The components' weighted shares add up to the score. If the rule for negated questions decides a
    component, the component's name says so. The window and the sentences are those of the original
    passage, in which no mention is replaced.
    """
    sentences, counts = assign_sentences(components.texts, bugs)
    token_weights = smoothed_weights(components.texts.stem_counts).tolist()
    rows = components.texts.encoded.candidate_rows

    def explain(i: int, plain: CandidateExplanation) -> CandidateExplanation:
        row = i if rows is None else int(rows[i])
        kinds = _match_kinds(components.texts.stems, row)
        matched = [weight if kind else 0 for weight, kind in zip(token_weights, kinds, strict=True)]
        in_sentences = (np.array(matched, dtype=np.int64) * counts).tolist()
        quote = _quote_sentences(question.passage.text, tokens, in_sentences, sentences.tolist())
        scores, ruled = components.scores[row].tolist(), components.ruled[row].tolist()
        numbers = {}
        for name, weight, value, by_rule in zip(COMPONENTS, weights, scores, ruled, strict=True):
            label = f"{name} (negation)" if by_rule else name
            numbers[label] = weight * value
        candidate = _Matched(components, row, tokens, bugs)
        return replace(
            plain,
            marks=_mark_window(tokens, matched, kinds),
            numbers=numbers,
            quote=quote,
            source="best sentences" if quote else None,
            make_formula=partial(_explain_score, candidate, weights, plain.score, matched),
        )

    return Explanation.from_scores(solver, question, scores).with_best(explain)


class _Matched(NamedTuple):
    """One candidate of the question, and the passage's tokens."""

    components: Components
    row: int  # the candidate's row in the arrays
    tokens: Sequence[Token]
    bugs: frozenset[str]


def _explain_score(
    matched: _Matched, weights: Sequence[float], score: float, in_window: Sequence[int]
) -> Term:
    """Return the score as the weighted sum of its components, each with its own numbers."""
    values = matched.components.scores[matched.row].tolist()
    ruled = matched.components.ruled[matched.row].tolist()
    parts = []
    for name, weight, value, by_rule in zip(COMPONENTS, weights, values, ruled, strict=True):
        if by_rule:
            rule = (
                "by the rule for negated questions: 1 for the only candidate that is not in the "
                "passage"
            )
            component = given(name, value, rule)
        elif name == "window":
            component = _explain_windows(matched, in_window, value)
        elif name == "distance":
            component = minus("", _explain_distance(matched, -value))
        else:
            terms_of = _bag_terms if name == "bag of words" else _sentence_terms
            component = _explain_texts(name, matched, value, terms_of)
        parts.append(times("", given(f"weight of {name}", weight), component))
    return plus("score", *parts, value=score)


def _explain_windows(matched: _Matched, weights: Sequence[int], value: float) -> Term:
    """Return the sum over widths of the best window's sum."""
    names = [token.word for token in matched.tokens]
    as_released = "last-window" in matched.bugs
    if as_released and len(weights) <= WIDTHS[-1]:
        counts = matched.components.texts.stem_counts.tolist()
        places = [i for i, weight in enumerate(weights) if weight]
        words = _word_terms(names, counts, weights, places)
        return plus("window", *words, value=value, note="a short passage is one window")
    windows = []
    sums_before = np.array([*accumulate(weights, initial=0)], dtype=np.int64)
    for width in WIDTHS:
        n_starts = max(len(weights) - width, 0) + 1
        if as_released and n_starts > 1:
            n_starts -= 1
        starts = np.arange(n_starts)
        ends = np.minimum(starts + width, len(weights))
        best = int((sums_before[ends] - sums_before[starts]).argmax())
        inside = [i for i in range(best, ends[best]) if weights[i]]
        name = f"best {width} tokens"
        if inside:
            summands = [given("", weights[i] / SCALE) for i in inside]
            total = sum(weights[i] for i in inside) / SCALE
            note = ", ".join(f'"{names[i]}"' for i in inside)
            windows.append(plus(name, *summands, value=total, note=note))
        else:
            windows.append(given(name, 0.0))
    note = f"the best windows of {WIDTHS[0]} to {WIDTHS[-1]} tokens"
    return plus("window", *windows, value=value, note=note)


def _explain_distance(matched: _Matched, value: float) -> Term:
    texts = matched.components.texts
    arrays = texts.words
    start, end = arrays.candidate_offsets[matched.row : matched.row + 2].tolist()
    passage = _words_of(texts, arrays.passage_tokens)
    query = _words_of(texts, arrays.question_tokens)
    answer = _words_of(texts, arrays.candidate_tokens[start:end])
    if "distance" in matched.bugs:
        content = list(compress(passage, texts.kept.tolist()))
        return _released_distance(content, set(query), set(answer), value)
    stop = set(compress(passage, (~texts.kept).tolist()))
    return distance_term(passage, query, answer, stop, "mean", value)


def _released_distance(
    passage: Sequence[str], query: set[str], answer: set[str], value: float
) -> Term:
    """Return the distance of the released code: one step more from each occurrence of a question
    word.
    """
    answer_places = [i for i, word in enumerate(passage) if word in answer]
    steps = []
    for i, word in enumerate(passage):
        if word in query and answer_places:
            j = min(answer_places, key=lambda place: abs(place - i))
            label = f'"{word}" to "{passage[j]}"'
            note = f"tokens {i + 1} and {j + 1} of the content words, and one step"
            steps.append(given(label, abs(i - j) + 1, note))
    if not steps:
        return given(
            "distance", value, "no pair of a question word and a candidate word in the passage"
        )
    length = given("", max(len(passage) - 1, 1))
    occurrences = given("occurrences of question words", len(steps))
    return divided("distance", plus("", *steps), times("", occurrences, length), value)


def _explain_texts(
    name: str,
    matched: _Matched,
    value: float,
    terms_of: Callable[[_Matched, LexicalTexts], tuple[list[Term], int]],
) -> Term:
    """Return the sum of the terms of the passage and, if it counts too, of the passage with
    mentions replaced.
    """
    terms, total = terms_of(matched, matched.components.texts)
    linked, rest = matched.components.linked, value - total / SCALE
    if rest and linked is not None:
        terms.append(plus("with mentions replaced", *terms_of(matched, linked)[0], value=rest))
    return plus(name, *terms, value=value) if terms else given(name, value, "no word matches")


def _bag_terms(matched: _Matched, texts: LexicalTexts) -> tuple[list[Term], int]:
    counts, is_content = texts.word_counts.tolist(), texts.kept.tolist()
    weights = smoothed_weights(texts.word_counts).tolist()
    kinds = _match_kinds(texts.words, matched.row)
    places = [i for i, kind in enumerate(kinds) if kind and is_content[i]]
    words = _word_terms(_words_of(texts, texts.words.passage_tokens), counts, weights, places)
    return words, sum(weights[i] for i in places)


def _sentence_terms(matched: _Matched, texts: LexicalTexts) -> tuple[list[Term], int]:
    sentences, counted = (flags.tolist() for flags in assign_sentences(texts, matched.bugs))
    counts, names = texts.stem_counts.tolist(), _words_of(texts, texts.words.passage_tokens)
    weights = smoothed_weights(texts.stem_counts).tolist()
    kinds = _match_kinds(texts.stems, matched.row)
    places = [i for i, kind in enumerate(kinds) if kind and counted[i]]
    best = _best_sentences((sentences[i], weights[i]) for i in places)
    terms = []
    for number, total in best.items():
        in_sentence = [i for i in places if sentences[i] == number]
        words = _word_terms(names, counts, weights, in_sentence)
        terms.append(plus(f"sentence {number + 1}", *words, value=total / SCALE))
    return terms, sum(best.values())


def _best_sentences(weights: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the sums of the two best sentences, from the sentence and the weight of each
    matched token.
    """
    sums: Counter[int] = Counter()
    for sentence, weight in weights:
        sums[sentence] += weight
    # Of equal sums the first sentence counts.
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return dict(sorted(ranked[:2]))


def _words_of(texts: LexicalTexts, tokens: NDArray[np.int32]) -> list[str]:
    return [texts.encoded.vocabulary[token] for token in tokens.tolist()]


def _word_terms(
    words: Sequence[str], counts: Sequence[int], weights: Sequence[int], places: Sequence[int]
) -> list[Term]:
    """Return the weights of the words at some places, each as a formula of the word's count."""
    return [
        inverse_count(f'"{words[i]}"', counts[i] + SMOOTHING, weights[i] / SCALE) for i in places
    ]


def _match_kinds(arrays: TokenArrays, candidate: int) -> list[str | None]:
    """Return for each passage token whether it is a word of the question, of the candidate, or
    of neither.
    """
    start, end = arrays.candidate_offsets[candidate : candidate + 2]
    query = set(arrays.question_tokens.tolist())
    answer = set(arrays.candidate_tokens[start:end].tolist())
    return [
        "question" if token in query else "candidate" if token in answer else None
        for token in arrays.passage_tokens.tolist()
    ]


def _mark_window(
    tokens: Sequence[Token], matched: Sequence[int], kinds: Sequence[str | None]
) -> tuple[Mark, ...]:
    width = WIDTHS[-1]
    starts = range(max(len(matched) - width, 0) + 1)
    best = max(starts, key=lambda start: sum(matched[start : start + width]))
    inside = range(best, min(best + width, len(matched)))
    total = sum(matched[i] for i in inside)
    places = {i: place for i in inside if (place := tokens[i].place) is not None}
    if not total or not places:
        return ()
    first, last = places[inside[0]], places[inside[-1]]
    marks = [Mark(first[0], last[1], "window", total / SCALE)]
    for i, place in places.items():
        kind = kinds[i]
        if kind:
            marks.append(Mark(*place, kind, matched[i] / SCALE))
    return tuple(marks)


def _quote_sentences(
    text: str, tokens: Sequence[Token], matched: Sequence[int], sentences: Sequence[int]
) -> str | None:
    """Return the text of the best sentences, in the order of the passage."""
    pieces = []
    weighted = (pair for pair in zip(sentences, matched, strict=True) if pair[1])
    for number in _best_sentences(weighted):
        in_sentence = [i for i, sentence in enumerate(sentences) if sentence == number]
        places = [place for i in in_sentence if (place := tokens[i].place)]
        if places:
            sentence_text = text[places[0][0] : places[-1][1]]
            pieces.append(" ".join(sentence_text.split()))
    return " / ".join(pieces) or None
