"""Lesson 9: BM25 as Lucene computes it, in plain Python.

Sentences and queries are lists of index terms; a term can be any hashable value. Lucene computes in
single precision (``Float``), except for idf and the sum over terms. This lesson does the same, so
its scores have the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from numpy import errstate
from numpy import float32 as Float  # noqa: N812

Terms: TypeAlias = Sequence[Hashable]
Sentences: TypeAlias = Sequence[Terms]
Score: TypeAlias = Callable[[Terms, Terms, Sentences], Float]
"""From a query, a sentence and all sentences, the sentence's score."""


def score(
    query: Terms, sentence: Terms, sentences: Sentences, k1: float = 0.9, b: float = 0.4
) -> Float:
    """Return how well a sentence matches a query: the sum of :func:`term_score` over the query's
    distinct terms.

    Robertson et al. 1994, Okapi at TREC-3, as in Lucene 8, ``BM25Similarity``. Lucene 8 drops the
    factor k1 + 1, which is the same for all scores. A term that the query repeats counts that many
    times.

    Parameters
    ----------
    query, sentence : sequence of terms
    sentences : sequence of sequences of terms
        All sentences that are searched; they determine idf and mean length.
    k1 : float
        How slowly a term's count in the sentence saturates.
    b : float
        How much the sentence's length matters, from 0 to 1.

    Examples
    --------
    >>> sentences = [["fox", "sleep"], ["fox", "eat", "grape"], ["grape", "sour"], []]
    >>> round(float(score(["fox", "grape"], sentences[1], sentences)), 4)
    0.4693
    """
    with_terms = [
        searched for searched in sentences if searched
    ]  # empty sentences count in no statistic
    mean_length = Float(sum(map(len, with_terms)) / len(with_terms))
    total = 0.0
    for term in dict.fromkeys(query):
        if term in sentence:
            frequency = sum(term in searched for searched in with_terms)
            weight = Float(query.count(term)) * idf(len(with_terms), frequency)
            total += float(
                term_score(weight, sentence.count(term), len(sentence), mean_length, k1, b)
            )
    return Float(total)


def idf(n_sentences: int, frequency: int) -> Float:
    """Return the weight of a term that `frequency` of the sentences have; never negative."""
    return Float(math.log(1 + (n_sentences - frequency + 0.5) / (frequency + 0.5)))


def term_score(
    weight: Float, count: int, length: int, mean_length: Float, k1: float, b: float
) -> Float:
    """Return what a term adds that occurs `count` times in a sentence of this length.

    Each further occurrence adds less, and an occurrence in a long sentence adds less than one in a
    short sentence.
    """
    relative_length = Float(b) * Float(remembered_length(length)) / mean_length
    with errstate(divide="ignore"):  # k1 = 0: the factor is infinite, so only presence counts
        factor = Float(1) / (Float(k1) * ((Float(1) - Float(b)) + relative_length))
    return weight - weight / (Float(1) + Float(count) * factor)


def remembered_length(length: int) -> int:
    """Return a length as Lucene recovers it from one byte: of what exceeds 24, only the first four
    bits are kept.

    Examples
    --------
    >>> [remembered_length(n) for n in (7, 39, 41, 100)]
    [7, 39, 40, 96]
    """
    rest = length - 24
    lost = max(rest.bit_length() - 4, 0)
    return length if rest < 0 else 24 + (rest >> lost << lost)


def top(
    query: Terms, sentences: Sentences, k: int, score: Score = score
) -> list[tuple[int, Float]]:
    """Return the indices and scores of the `k` best sentences with a term of the query, ties by the
    lowest index.

    Examples
    --------
    >>> [number for number, _ in top(["fox"], [["grape"], ["fox"], ["fox", "fox"], ["fox"]], k=2)]
    [2, 1]
    """
    hits = [i for i, sentence in enumerate(sentences) if not set(query).isdisjoint(sentence)]
    scored = [(i, score(query, sentences[i], sentences)) for i in hits]
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]


def best_constrained(
    question: Terms, option: Terms, sentences: Sentences, score: Score = score
) -> tuple[int, Float]:
    """Return the best sentence for question and option together that has a term of each, and its
    score.

    Clark et al. 2016, section "IR". The result is (-1, 0) if no sentence has both.

    Examples
    --------
    >>> best_constrained(
    ...     ["fox", "eat"], ["grape"], [["fox", "sleep"], ["fox", "eat", "grape"], ["grape"]]
    ... )[0]
    1
    """
    query = [*question, *option]
    for i, value in top(query, sentences, len(sentences), score):
        if not set(question).isdisjoint(sentences[i]) and not set(option).isdisjoint(sentences[i]):
            return i, value
    return -1, Float(0)
