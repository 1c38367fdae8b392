"""Explanations of sliding window and word distance: the window, the words in it, the nearest pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from classic_rc.kernels.reference.sliding_window import word_distance as plain_word_distance
from classic_rc.kernels.weights import SCALE, inverse_count_weight
from classic_rc.questions import Candidate, Question
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.stemmers import stemmer
from classic_rc.text.stop_words import stop_words

if TYPE_CHECKING:
    from classic_rc.solvers.base import Solver


_MARKED_CANDIDATES = 100


class _Text(NamedTuple):
    tokens: list[str]
    places: list[tuple[int, int]]


def explain_match(solver: Solver, question: Question) -> Explanation:
    """What the solver's window and distance, whichever it has, saw for each candidate."""
    params = solver.get_params(deep=False)
    analyzer = get_analyzer(params["analyzer"])
    located = analyzer.locate(question.passage.text)
    passage = _Text([token for token, _, _ in located], [(start, end) for _, start, end in located])
    asked = analyzer.analyze(question.query)
    scores = solver.score_candidates([question])
    window = getattr(solver, "window_", params.get("window"))
    count_of = _counter(solver, passage.tokens)
    stop = _stop_tokens(params["stop_words"], analyzer.stemmer, passage.tokens) if "stop_words" in params else None

    def explained(candidate: Candidate, score: float, evidence: bool) -> CandidateExplanation:
        answer = analyzer.analyze(candidate.text)
        marks: list[Mark] = []
        numbers: dict[str, float] = {}
        if window is not None:
            total, window_marks = _best_window(passage, asked, answer, window, count_of)
            numbers["sliding_window"] = total / SCALE
            marks += window_marks
        if stop is not None:
            numbers["distance"] = plain_word_distance(passage.tokens, asked, answer, stop, params["distance"])
            if "distance_weight" in params:
                numbers["distance_weight"] = float(params["distance_weight"])
            marks += _nearest_pair(passage, asked, answer, stop)
        return CandidateExplanation(candidate.text, score, evidence, tuple(marks), numbers)

    # Of thousands of spans nobody reads all: the best are shown with their marks, the others with their score.
    ranked = np.argsort(-scores[0], kind="stable")[:_MARKED_CANDIDATES]
    plain = list(Explanation.from_scores(solver.name, question, scores).candidates)
    for i in ranked.tolist():
        plain[i] = explained(question.candidates[i], plain[i].score, plain[i].evidence)
    return Explanation(solver.name, question, tuple(plain))


def _counter(solver: Solver, tokens: Sequence[str]) -> Callable[[str], int]:
    if solver.learns_from == "passages":
        return lambda word: solver.word_counts_.get(word, 1)
    return Counter(tokens).__getitem__


def _stop_tokens(name: str, stemmer_name: str, tokens: Sequence[str]) -> set[str]:
    stem = stemmer(stemmer_name)
    listed = {stem(word) for word in stop_words(name)}
    return {token for token in set(tokens) if token.lower() in listed}


def _best_window(
    passage: _Text,
    asked: Sequence[str],
    answer: Sequence[str],
    window: int | str,
    count_of: Callable[[str], int],
) -> tuple[int, list[Mark]]:
    words = {*asked, *answer}
    size = len(words) if window == "set" else len(passage.tokens) if window == "passage" else int(window)
    weights = [inverse_count_weight(count_of(t)) if t in words else 0 for t in passage.tokens]
    starts = range(max(len(weights) - size, 0) + 1)
    best = max(starts, key=lambda start: sum(weights[start : start + size]))
    inside = range(best, min(best + size, len(weights)))
    total = sum(weights[i] for i in inside)
    if not total:
        return 0, []
    marks = [Mark(passage.places[inside[0]][0], passage.places[inside[-1]][1], "window", total / SCALE)]
    for i in inside:
        if weights[i]:
            kind = "question" if passage.tokens[i] in set(asked) else "candidate"
            marks.append(Mark(*passage.places[i], kind, weights[i] / SCALE))
    return total, marks


def _nearest_pair(passage: _Text, asked: Sequence[str], answer: Sequence[str], stop: set[str]) -> list[Mark]:
    question_words, candidate_words = set(asked) - stop, set(answer) - set(asked) - stop
    question_places = [i for i, token in enumerate(passage.tokens) if token in question_words]
    answer_places = [i for i, token in enumerate(passage.tokens) if token in candidate_words]
    if not question_places or not answer_places:
        return []
    i, j = min(((i, j) for i in question_places for j in answer_places), key=lambda p: abs(p[0] - p[1]))
    return [Mark(*passage.places[i], "pair-question"), Mark(*passage.places[j], "pair-candidate")]
