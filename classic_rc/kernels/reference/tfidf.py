"""Lesson 10: TF-IDF as Lucene 5 and earlier compute it, in plain Python.

As in :mod:`classic_rc.kernels.reference.bm25`, sentences and queries are lists of index terms, and
numbers are in single precision. That module's ``top`` and ``best_constrained`` also accept this
:func:`score`.
"""

from __future__ import annotations

import math
import struct

from numpy import float32 as Float  # noqa: N812

from classic_rc.kernels.reference.bm25 import Sentences, Terms


def score(query: Terms, sentence: Terms, sentences: Sentences) -> Float:
    """Return how well a sentence matches a query: a cosine-like TF-IDF times the share of the
    query's terms it has.

    Lucene 5, ``ClassicSimilarity``, with the query's norm taken out of the sum. A term that the
    query repeats counts that many times everywhere.

    Parameters
    ----------
    query, sentence : sequence of terms
    sentences : sequence of sequences of terms
        All sentences that are searched; they determine idf. Those without a term count too, as in
        Lucene 5.

    Examples
    --------
    >>> sentences = [["fox", "sleep"], ["fox", "eat", "grape"], ["grape", "sour"], []]
    >>> round(float(score(["fox", "grape", "milk"], sentences[1], sentences)), 4)
    0.3683
    """
    frequencies = {term: sum(term in searched for searched in sentences) for term in query}
    idfs = {term: idf(len(sentences), frequency) for term, frequency in frequencies.items()}
    squares = sum(float(idfs[term]) ** 2 for term in query)
    norm = Float(1 / math.sqrt(squares))
    total = 0.0
    for term in dict.fromkeys(query):
        weight = Float(query.count(term)) * idfs[term] * idfs[term]
        count = Float(math.sqrt(sentence.count(term)))
        total += float(count * weight * remembered_norm(len(sentence)))
    matched = sum(term in sentence for term in query)
    return Float(total * float(norm)) * Float(matched / len(query))


def idf(n_sentences: int, frequency: int) -> Float:
    """Return the weight of a term that `frequency` of the sentences have."""
    return Float(math.log(n_sentences / (frequency + 1)) + 1)


def remembered_norm(length: int) -> Float:
    """Return ``1 / sqrt(length)`` as Lucene recovers it from one byte: rounded down to three
    significant bits.

    Examples
    --------
    >>> [remembered_norm(n).item() for n in (1, 3, 10)]
    [1.0, 0.5, 0.3125]
    """
    bits = int.from_bytes(struct.pack(">f", 1 / math.sqrt(length)))
    return Float(struct.unpack(">f", (bits >> 21 << 21).to_bytes(4))[0])
