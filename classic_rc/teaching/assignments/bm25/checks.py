"""BM25, compared with the reference on random sentences."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from math import log
from typing import Any

from numpy import float32 as Float  # noqa: N812

from classic_rc.kernels.reference import bm25 as reference
from classic_rc.teaching.assignment import Submission, check
from classic_rc.teaching.feedback import compare_function

TITLE = "BM25"
MAIN = TEMPLATE = "my_bm25.py"

_WORDS = "fox eat grape sour sleep high run".split()
_TOLERANCE = 1e-5
"""The reference computes in single precision, as Lucene does."""

_Words = list[str]
_Case = tuple[_Words, list[_Words], float, float]
"""A query, sentences, k1 and b."""


@check(points=3)
def check_rarity(submission: Submission) -> None:
    """idf is right."""
    rng = random.Random(f"idf {submission.seed}")
    cases = [(rng.choice(_WORDS), sentences) for _, sentences, _, _ in _cases(submission.seed)]
    compare_function(submission, "idf", cases, _right_idf, mistakes=_IDF_MISTAKES, tolerance=_TOLERANCE)


@check(points=3)
def check_scores(submission: Submission) -> None:
    """score is right for queries that have each term once."""
    _compare_scores(submission, where=_is_plain)


@check(points=2, needs="scores")
def check_all_scores(submission: Submission) -> None:
    """score is right for repeated terms, empty sentences and extreme parameters."""
    _compare_scores(submission)


@check(points=2)
def check_best_sentences(submission: Submission) -> None:
    """best_sentence is right, with ties and without matches."""
    cases = _cases(submission.seed)
    compare_function(submission, "best_sentence", cases, _right_best, mistakes=_BEST_MISTAKES)


def _compare_scores(submission: Submission, where: Callable[..., bool] | None = None) -> None:
    cases, mistakes = _score_cases(submission.seed), _SCORE_MISTAKES
    compare_function(submission, "score", cases, _right_score, where=where, mistakes=mistakes, tolerance=_TOLERANCE)


def _cases(seed: int) -> list[_Case]:
    rng = random.Random(f"bm25 {seed}")
    cases: list[_Case] = [(["high"], [["fox"]], 0.9, 0.4), ([], [["fox"]], 0.9, 0.4)]
    for number in range(100):
        plain = number % 2 == 0
        sentences = [rng.choices(_WORDS, k=rng.randint(plain, 6)) for _ in range(rng.randint(2, 5))]
        sentences[0] = sentences[0] or ["fox"]
        sentences += [[] for _ in range(0 if plain else rng.randint(0, 6))]
        query = rng.sample(_WORDS, rng.randint(1, 3)) if plain else rng.choices(_WORDS, k=rng.randint(0, 4))
        k1, b = (0.9, 0.4) if plain else (rng.choice((0.0, 0.9, 1.2)), rng.choice((0.0, 0.4, 1.0)))
        if number % 5 == 0:  # a tie
            sentences.insert(rng.randrange(len(sentences)), list(rng.choice(sentences)))
        cases.append((query, sentences, k1, b))
    return cases


def _score_cases(seed: int) -> list[tuple[Any, ...]]:
    """Return each query with a sentence, the weights of the terms, and the mean length."""
    rng = random.Random(f"sentences {seed}")
    found = []
    for query, sentences, k1, b in _cases(seed):
        matching = [own for own in sentences if set(query) & set(own)]
        weights = {term: round(_right_idf(term, sentences), 2) for term in sorted(set(query))}
        mean_length = round(_mean_length(sentences), 2)
        found.append((query, rng.choice(matching or sentences), weights, mean_length, k1, b))
    return found


def _is_plain(
    query: _Words, sentence: _Words, weights: dict[str, float], mean_length: float, k1: float, b: float
) -> bool:
    return len(set(query)) == len(query) and bool(sentence) and k1 > 0 and 0 < b < 1


def _mean_length(sentences: list[_Words], *, counts_empty: bool = False) -> float:
    lengths = [len(own) for own in sentences if own or counts_empty]
    return sum(lengths) / len(lengths)


def _check_inputs(sentences: list[_Words], k1: float = 1.0, b: float = 0.0) -> None:
    if not any(sentences) or k1 < 0 or not 0 <= b <= 1:
        raise ValueError("no sentences, or no such parameters")


def _right_idf(term: str, sentences: list[_Words]) -> float:
    _check_inputs(sentences)
    own = [sentence for sentence in sentences if sentence]
    return float(reference.idf(len(own), sum(term in sentence for sentence in own)))


def _right_score(
    query: _Words, sentence: _Words, weights: dict[str, float], mean_length: float, k1: float, b: float
) -> float:
    """Return the sum of the reference's term scores, with given weights."""
    if k1 < 0 or not 0 <= b <= 1 or mean_length < 1 or min(weights.values(), default=1) < 0:
        raise ValueError("no such parameters")
    total = 0.0
    for term in query:
        weight, count = Float(weights[term]), sentence.count(term)
        if count:
            total += float(reference.term_score(weight, count, len(sentence), Float(mean_length), k1, b))
    return total


def _right_best(query: _Words, sentences: list[_Words], k1: float, b: float) -> int:
    _check_inputs(sentences, k1, b)
    return _best(query, sentences, k1, b)


def _idf(
    term: str,
    sentences: list[_Words],
    *,
    add: float = 1.0,
    counts_words: bool = False,
    counts_empty: bool = False,
    plain: bool = False,
) -> float:
    """Return idf; each argument is a mistake that a student may make."""
    own = [sentence for sentence in sentences if sentence or counts_empty]
    n = sum(sentence.count(term) if counts_words else term in sentence for sentence in own)
    if plain:
        return log(len(own) / n)
    return log(add + (len(own) - n + 0.5) / (n + 0.5))


_IDF_MISTAKES = {
    "the 1 + inside the logarithm is missing": partial(_idf, add=0.0),
    "log(N / n) instead of log(1 + (N - n + 0.5) / (n + 0.5))": partial(_idf, plain=True),
    "n counts occurrences; it must count sentences": partial(_idf, counts_words=True),
    "N counts empty sentences too": partial(_idf, counts_empty=True),
}


def _score(
    query: _Words,
    sentence: _Words,
    weights: dict[str, float],
    mean_length: float,
    k1: float,
    b: float,
    *,
    factor: bool = False,
    turned: bool = False,
    once: bool = False,
    no_length: bool = False,
    no_weight: bool = False,
    present: bool = False,
) -> float:
    """Return BM25; each keyword is a mistake that a student may make."""
    total = 0.0
    for term in dict.fromkeys(query) if once else query:
        if f := sentence.count(term):
            f = 1 if present else f
            ratio = mean_length / len(sentence) if turned else len(sentence) / mean_length
            norm = 1.0 if no_length else 1 - b + b * ratio
            weight = 1.0 if no_weight else weights[term]
            total += weight * f * (k1 + 1 if factor else 1) / (f + k1 * norm)
    return total


_SCORE_MISTAKES = {
    "the factor k1 + 1 must be left out": partial(_score, factor=True),
    "the length ratio is upside down: it must be |s| / L": partial(_score, turned=True),
    "the length of the sentence is not used": partial(_score, no_length=True),
    "the weights of the terms are not used": partial(_score, no_weight=True),
    "f is 1 for each term of the sentence; it must be how often the sentence has it": partial(_score, present=True),
    "a term that the query has twice counts once; it must count twice": partial(_score, once=True),
}


def _best(
    query: _Words,
    sentences: list[_Words],
    k1: float,
    b: float,
    *,
    last: bool = False,
    nothing: int = -1,
    counts_words: bool = False,
    counts_empty: bool = False,
    once: bool = False,
    turned: bool = False,
) -> int:
    """Return the position of the best sentence; each keyword is a mistake that a student may make."""
    weights = {term: _idf(term, sentences, counts_words=counts_words, counts_empty=counts_empty) for term in query}
    mean_length = _mean_length(sentences, counts_empty=counts_empty)
    # Rounded, so that the order of addition breaks no ties.
    scores = [
        round(_score(query, own, weights, mean_length, k1, b, once=once, turned=turned), 9) for own in sentences
    ]
    if not any(set(query) & set(own) for own in sentences):
        return nothing
    return max(i for i, own in enumerate(scores) if own == max(scores)) if last else scores.index(max(scores))


_BEST_MISTAKES = {
    "of several best sentences you take the last; take the first": partial(_best, last=True),
    "where nothing matches, you give a sentence; give -1": partial(_best, nothing=0),
    "n counts occurrences; it must count sentences": partial(_best, counts_words=True),
    "empty sentences count in N and L": partial(_best, counts_empty=True),
    "a term that the query has twice counts once; it must count twice": partial(_best, once=True),
    "the length ratio is upside down: it must be |s| / L": partial(_best, turned=True),
}
