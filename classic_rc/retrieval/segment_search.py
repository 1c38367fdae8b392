"""Searching one segment with the statistics of a whole index, and putting segments' results together.

The parts of a search, which may run on different machines: every segment's :meth:`Segment.statistics` are summed,
every segment is searched with the sums, and the results are merged. They are the same to the bit as those of one
segment with all the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.search import best_constrained, best_of_each, top_sentences
from classic_rc.kernels.sentence_postings import SentencePostings
from classic_rc.retrieval.base import Best, Hits
from classic_rc.retrieval.queries import (
    EncodedQueries,
    TermFacts,
    combine,
    combine_constrained,
    weigh,
    weigh_constrained,
)
from classic_rc.retrieval.segment import Segment, Statistics
from classic_rc.retrieval.similarity import LuceneSimilarity


def postings_of(segment: Segment, statistics: Statistics, similarity: LuceneSimilarity) -> SentencePostings:
    """The segment's postings with length factors that hold for the whole index."""
    totals = np.int64(statistics.n_sentences), np.int64(statistics.n_tokens)
    return SentencePostings(
        segment.posting_offsets,
        segment.posting_sentences,
        segment.posting_codes,
        segment.code_counts.astype(np.float32),
        similarity.length_factors(segment.code_lengths, *totals),
    )


def term_facts(
    segment: Segment, terms: Sequence[str], statistics: Statistics, similarity: LuceneSimilarity
) -> TermFacts:
    """Where the segment has the terms, and their idf in the whole index."""
    n_sentences = np.int64(statistics.n_sentences)
    return TermFacts(segment.find(terms), similarity.idfs(n_sentences, statistics.frequencies))


def search_top(
    segment: Segment, statistics: Statistics, similarity: LuceneSimilarity, queries: EncodedQueries, k: int
) -> Hits:
    """The `k` best sentences of each query in one segment, numbered from 0."""
    facts = term_facts(segment, queries.terms, statistics, similarity).of_words(queries.texts)
    hits = top_sentences(
        postings_of(segment, statistics, similarity),
        weigh(queries.texts, facts, similarity),
        len(queries.texts.offsets) - 1,
        segment.n_sentences,
        k,
        similarity.term_scores,
        combine(queries.texts, facts, similarity),
    )
    return Hits(*hits)


def search_constrained(
    segment: Segment, statistics: Statistics, similarity: LuceneSimilarity, queries: EncodedQueries
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """For each option the best sentence in one segment, numbered from 0, and its score."""
    facts = term_facts(segment, queries.terms, statistics, similarity)
    of_entries = facts.of_words(queries.texts), facts.of_words(queries.options)
    n_questions = len(queries.texts.offsets) - 1
    firsts, sizes = np.zeros(n_questions, dtype=np.int64), np.full(n_questions, segment.n_sentences)
    return best_constrained(
        postings_of(segment, statistics, similarity),
        weigh_constrained(queries[1:], *of_entries, similarity, firsts, sizes),
        similarity.term_scores,
        combine_constrained(queries[1:], *of_entries, similarity),
    )


def merge_hits(parts: Sequence[Hits], firsts: Sequence[int], k: int) -> Hits:
    """The `k` best of each query, of the results of segments whose first sentences have these numbers."""
    if len(parts) == 1:
        return Hits(parts[0].sentences + firsts[0], parts[0].scores, parts[0].offsets)
    n_queries = len(parts[0])
    query = np.concatenate([np.repeat(np.arange(n_queries), np.diff(part.offsets)) for part in parts])
    numbers = np.concatenate([part.sentences + first for part, first in zip(parts, firsts, strict=True)])
    best, sentences, scores = best_of_each(query, numbers, np.concatenate([part.scores for part in parts]), k)
    return Hits(sentences, scores, offsets_of(np.bincount(best, minlength=n_queries)))


def merge_best(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]],
    firsts: Sequence[int],
    offsets: NDArray[np.int64],
) -> Best:
    """The best sentence of each option, of the results of segments whose first sentences have these numbers.

    Parameters
    ----------
    parts : sequence of tuple
        From :func:`search_constrained`, in the order of the segments.
    firsts : sequence of int
    offsets : ndarray of int64, shape (n_questions + 1,)
        Where each question's options start.
    """
    sentences = np.full(offsets[-1], -1, dtype=np.int64)
    scores = np.zeros(offsets[-1], dtype=np.float32)
    for (numbers, values), first in zip(parts, firsts, strict=True):
        better = (numbers >= 0) & ((sentences < 0) | (values > scores))
        sentences[better], scores[better] = numbers[better] + first, values[better]
    return Best(sentences, scores, offsets)
