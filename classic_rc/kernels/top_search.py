"""The best sentences for queries, many queries at once."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.score_bounds import ScoreBounds
from classic_rc.kernels.sentence_postings import (
    BLOCK,
    Combine,
    PostingLists,
    QueryTerms,
    SentencePostings,
    TermLists,
    TermScores,
    runs_of,
)

TopSentences = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]


def top_sentences(
    postings: SentencePostings,
    queries: QueryTerms,
    n_queries: int,
    n_sentences: int,
    k: int,
    term_scores: TermScores,
    combine: Combine | None = None,
) -> TopSentences:
    """The `k` best sentences of each query among those that have one of its terms.

    This is :func:`classic_rc.kernels.reference_bm25.top` for all queries at once.

    Parameters
    ----------
    postings : SentencePostings
    queries : QueryTerms
    n_queries, n_sentences, k : int
    term_scores : callable
    combine : callable, optional
        Makes scores of the sums of term scores; without it scores are the sums, in single precision.

    Returns
    -------
    sentences : ndarray of int64, shape (n_hits,)
        By falling score, equals by rising number.
    scores : ndarray of float32, shape (n_hits,)
    offsets : ndarray of int64, shape (n_queries + 1,)
        Query i's hits are ``offsets[i]:offsets[i + 1]``.
    """
    terms = TermLists.of(queries, postings)
    n_terms, weights = np.bincount(terms.texts, minlength=n_queries), terms.sums(terms.weights, n_queries)
    n_postings = terms.sums(terms.lengths, n_queries).astype(np.int64)
    entries = np.searchsorted(terms.texts, np.arange(n_queries + 1))
    n_cells = max(BLOCK, n_sentences)
    slots = np.empty(n_cells, dtype=np.int32)
    bounds = ScoreBounds(postings, term_scores, n_cells)
    parts = []
    for first, last in runs_of(n_sentences + n_postings, BLOCK):
        part = slice(first, last)
        own = terms.part(slice(entries[first], entries[last]), first)
        lists = PostingLists.read(postings, own, np.arange(last - first) * n_sentences)
        if combine is None:
            of_query = offsets_of(n_postings[part])
            block_cells = (last - first) * n_sentences
            places = bounds.possible_top(lists, n_terms[part], weights[part], of_query, block_cells, k)
        else:
            places = np.arange(len(lists.cells))
        of, cells, at = lists.choose(places)
        # Of the postings in a cell the last one stands for it.
        numbers = np.arange(len(cells), dtype=np.int32)
        slots[cells] = numbers
        slot = slots[cells]
        each = np.flatnonzero(slot == numbers)
        added = postings.scores(own.weights[of], postings.codes[at], term_scores)
        sums = np.bincount(slot, added, len(cells))[each].astype(np.float64, copy=False)
        query, sentence = np.divmod(cells[each], n_sentences)
        query += first
        if combine is None:
            scores = sums.astype(np.float32)
        else:
            matched = np.bincount(slot, own.boosts[of], len(cells))[each].astype(np.float64, copy=False)
            scores = combine(sums, matched, query)
        parts.append(best_of_each(query, sentence, scores, k))
    return _joined(parts, n_queries)


def best_of_each(
    queries: NDArray[np.int64], sentences: NDArray[np.int64], scores: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Of hits in any order the `k` best of each query: queries, sentences and scores, in their order."""
    order = np.argsort(queries, kind="stable")
    kept = []
    for start, stop in itertools.pairwise(
        [*np.flatnonzero(np.diff(queries[order], prepend=-1)).tolist(), len(order)]
    ):
        own = order[start:stop]
        if len(own) > k:
            least = np.partition(scores[own], len(own) - k)[len(own) - k]
            own = own[scores[own] >= least]
        kept.append(own[np.lexsort((sentences[own], -scores[own]))][:k])
    best = np.concatenate(kept) if kept else order
    return queries[best], sentences[best], scores[best]


def _joined(
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]], n_queries: int
) -> TopSentences:
    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
    queries, sentences, scores = (np.concatenate(column) for column in zip(none, *parts, strict=True))
    return sentences, scores, offsets_of(np.bincount(queries, minlength=n_queries))
