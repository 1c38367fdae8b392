"""TF-IDF as Lucene scored it until release 5, in plain Python.

Sentences and queries are lists of index terms, and numbers are in single precision, as in
:mod:`classic_rc.kernels.reference.bm25`, whose ``top`` and ``best_constrained`` take this :func:`score` too.
"""

from __future__ import annotations

import math
import struct

from numpy import float32 as Float  # noqa: N812

from classic_rc.kernels.reference.bm25 import Sentences, Terms


def score(query: Terms, sentence: Terms, sentences: Sentences) -> Float:
    """What a sentence says about a query: cosine-like TF-IDF times the share of the query's terms that it has.

    Lucene 5, ``ClassicSimilarity``, with the query's norm taken out of the sum. A term that is repeated in the
    query counts as often, in all places.

    Parameters
    ----------
    query, sentence : sequence of terms
    sentences : sequence of sequences of terms
        All that are searched.

    Examples
    --------
    >>> sentences = [["fox", "sleep"], ["fox", "eat", "grape"], ["grape", "sour"], []]
    >>> round(float(score(["fox", "grape", "milk"], sentences[1], sentences)), 4)
    0.2634
    """
    with_terms = [other for other in sentences if other]
    idfs = {term: idf(len(with_terms), sum(term in other for other in with_terms)) for term in query}
    norm = Float(1 / math.sqrt(sum(float(idfs[term]) ** 2 for term in query)))
    total = 0.0
    for term in dict.fromkeys(query):
        weight = Float(query.count(term)) * idfs[term] * idfs[term]
        count = Float(math.sqrt(sentence.count(term)))
        total += float(count * weight * remembered_norm(len(sentence)))
    matched = sum(term in sentence for term in query)
    return Float(total * float(norm)) * Float(matched / len(query))


def idf(n_sentences: int, frequency: int) -> Float:
    """How much a term tells that stands in so many of the sentences."""
    return Float(math.log(n_sentences / (frequency + 1)) + 1)


def remembered_norm(length: int) -> Float:
    """``1 / sqrt(length)`` as it comes back from one byte: rounded down to two bits after the first.

    Examples
    --------
    >>> [remembered_norm(n).item() for n in (1, 3, 10)]
    [1.0, 0.5, 0.3125]
    """
    bits = int.from_bytes(struct.pack(">f", 1 / math.sqrt(length)))
    return Float(struct.unpack(">f", (bits >> 21 << 21).to_bytes(4))[0])
