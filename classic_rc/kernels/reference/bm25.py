"""BM25 as Lucene scores it, in plain Python.

Sentences and queries are lists of index terms here, of any kind that can be hashed. Lucene computes in single
precision (``Float``) but for idf and the sum over terms, so its bits depend on it.
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


def score(query: Terms, sentence: Terms, sentences: Sentences, k1: float = 0.9, b: float = 0.4) -> Float:
    """What a sentence says about a query: the sum over the query's distinct terms of :func:`term_score`.

    Robertson et al. 1994, Okapi at TREC-3, as in Lucene 8, ``BM25Similarity``, which leaves out a factor k1 + 1
    that all scores have. A term that is repeated in the query counts as often.

    Parameters
    ----------
    query, sentence : sequence of terms
    sentences : sequence of sequences of terms
        All that are searched.
    k1, b : float

    Examples
    --------
    >>> sentences = [["fox", "sleep"], ["fox", "eat", "grape"], ["grape", "sour"], []]
    >>> round(float(score(["fox", "grape"], sentences[1], sentences)), 4)
    0.4693
    """
    with_terms = [other for other in sentences if other]
    mean_length = Float(sum(map(len, with_terms)) / len(with_terms))
    total = 0.0
    for term in dict.fromkeys(query):
        if term in sentence:
            frequency = sum(term in other for other in with_terms)
            weight = Float(query.count(term)) * idf(len(with_terms), frequency)
            total += float(term_score(weight, sentence.count(term), len(sentence), mean_length, k1, b))
    return Float(total)


def idf(n_sentences: int, frequency: int) -> Float:
    """How much a term tells that stands in so many of the sentences; never negative."""
    return Float(math.log(1 + (n_sentences - frequency + 0.5) / (frequency + 0.5)))


def term_score(weight: Float, count: int, length: int, mean_length: Float, k1: float, b: float) -> Float:
    """What a term adds that stands so often in a sentence of that length: less for each more, less in long ones."""
    relative_length = Float(b) * Float(remembered_length(length)) / mean_length
    with errstate(divide="ignore"):  # k1 = 0: how often a term stands makes no difference
        factor = Float(1) / (Float(k1) * ((Float(1) - Float(b)) + relative_length))
    return weight - weight / (Float(1) + Float(count) * factor)


def remembered_length(length: int) -> int:
    """A length as it comes back from one byte: what it exceeds 24 by keeps its first four bits.

    Examples
    --------
    >>> [remembered_length(n) for n in (7, 39, 41, 100)]
    [7, 39, 40, 96]
    """
    rest = length - 24
    lost = max(rest.bit_length() - 4, 0)
    return length if rest < 0 else 24 + (rest >> lost << lost)


def top(query: Terms, sentences: Sentences, k: int, score: Score = score) -> list[tuple[int, Float]]:
    """The numbers and scores of the `k` best sentences that have a term of the query, the lowest number of equals.

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
    """The best sentence for question and option together that has a term of each, and its score.

    Clark et al. 2016, section "IR". (-1, 0) where no sentence has both.

    Examples
    --------
    >>> best_constrained(["fox", "eat"], ["grape"], [["fox", "sleep"], ["fox", "eat", "grape"], ["grape"]])[0]
    1
    """
    query = [*question, *option]
    for i, value in top(query, sentences, len(sentences), score):
        if not set(question).isdisjoint(sentences[i]) and not set(option).isdisjoint(sentences[i]):
            return i, value
    return -1, Float(0)
