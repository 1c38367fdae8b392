"""The sentences that can be among a query's best, found by sums in whole units, and their
scores.
"""

from __future__ import annotations

from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import block_size, offsets_of, ragged_indices, runs_of
from classic_rc.kernels.sentence_postings import SentencePostings, TermLists, TermScores

if TYPE_CHECKING:
    from scipy.sparse import csc_array

_UNITS_PER_TERM = 20
"""Rounding costs up to one unit per term, so a sum must have many more."""

_CELLS = 2**19
"""How many sums are made at a time: at two bytes each, they fit into a core's cache."""

_CALLS = 2**20
"""The work of n queries that are summed together: n calls for each of their postings, and this
many for all.
"""

_FEWEST_CHUNKS = 4
"""Into how many chunks for each hit sentences are divided at least, so that two of the best rarely
share one.
"""

_MAX_ASKED = 2**18
"""How many pairs of a query and a list are marked at a time."""


class RoughSums:
    """What the terms of queries add up to in each sentence, in whole units.

    Every addend is rounded up, so a sum is never too small, and at most one unit per term too
    large. An addend is computed once for all queries with its term. The sums of some successive
    queries are one product: a sparse matrix with a column for each of their lists, times zeros and
    ones. So a question's terms are read once for all its options. Term scores are never negative,
    and proportional to the weights except for rounding.
    """

    def __init__(
        self,
        postings: SentencePostings,
        terms: TermLists,
        n_queries: int,
        n_sentences: int,
        term_scores: TermScores,
    ) -> None:
        self._postings, self._texts, self._term_scores = postings, terms.texts, term_scores
        self._n_queries, self._n_sentences = n_queries, n_sentences
        # The distinct entries: their lists, by length.
        keys = terms.starts * (int(terms.boosts.max(initial=0)) + 1) + terms.boosts
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        by_length = np.argsort(terms.lengths[first])
        rank = np.empty(len(first), dtype=np.int64)
        rank[by_length] = np.arange(len(first))
        first, self._list_of = first[by_length], rank[inverse]
        self._weights, lengths = terms.weights[first], terms.lengths[first]
        self._offsets = offsets_of(lengths)
        starts = terms.starts[first]
        bounds = list(zip(starts.tolist(), (starts + lengths).tolist(), strict=True))
        empty_list = slice(0, 0)
        lists = [empty_list, *(slice(*bound) for bound in bounds)]
        self._sentences = np.concatenate(
            [postings.sentences[postings_of_list] for postings_of_list in lists]
        )
        self._codes = np.concatenate(
            [postings.codes[postings_of_list] for postings_of_list in lists]
        )
        n_terms = np.bincount(terms.texts, minlength=n_queries)
        self._round_up(n_terms, terms.sums(terms.weights, n_queries).max(initial=0))
        self._group_queries(int(terms.lengths.sum()))

    def _round_up(self, n_terms: NDArray[np.int64], heaviest: float) -> None:
        """Compute what each list adds to its sentences."""
        postings = self._postings
        saturation = self._term_scores(
            np.ones_like(postings.counts), postings.counts, postings.factors
        )
        max_terms = int(n_terms.max(initial=0))
        dtype = np.promote_types(np.uint16, np.min_scalar_type(_UNITS_PER_TERM * max_terms))
        units = np.iinfo(dtype).max
        # Even if a sentence has all terms at their most, rounding up by one unit per term stays
        # within the type.
        scale = (units - max_terms - 1) / (heaviest * float(saturation.max(initial=0)) or 1.0)
        # Sums may be a unit per term too large, and single precision may shift them by a millionth.
        self._slack = n_terms + int(np.ceil(1e-6 * units))
        weights, one = (self._weights * scale).astype(np.float32), np.float32(1)
        self._added = np.empty(len(self._codes), dtype=dtype)
        # Truncated: together they round up. Most codes occur several times in a long list: each is
        # rounded once.
        bounds = self._offsets.tolist()
        n_short = int(np.diff(self._offsets).searchsorted(len(saturation)))
        short = slice(0, bounds[n_short])
        # No code is clipped: in its default mode, NumPy's `take` checks and buffers.
        of_short = saturation.take(self._codes[short], mode="clip")
        of_short *= weights[:n_short].repeat(np.diff(self._offsets[: n_short + 1]))
        of_short += one
        self._added[short] = of_short
        of_codes = (saturation * weights[n_short:, None] + one).astype(dtype)
        for of_code, (i, j) in zip(of_codes, pairwise(bounds[n_short:]), strict=True):
            of_code.take(self._codes[i:j], out=self._added[i:j], mode="clip")

    def _group_queries(self, n_postings: int) -> None:
        """Divide the queries into blocks, and find the distinct lists of each, the last list
        first.
        """
        n_lists, mean = len(self._weights), n_postings // max(self._n_queries, 1) + 1
        max_queries = block_size(_CELLS) // max(self._n_sentences, 1)
        n_together = max(min(isqrt(_CALLS // mean), max_queries, self._n_queries), 1)
        # A power of two, as the vectors that processors add.
        self._n_together = 2 ** (n_together.bit_length() - 1)
        block, self._place = np.divmod(self._texts, self._n_together)
        keys = (block + 1) * n_lists - 1 - self._list_of
        pairs, self._pair = np.unique(keys, return_inverse=True)
        self._lists = n_lists - 1 - pairs % max(n_lists, 1)
        blocks = np.arange(-(-self._n_queries // self._n_together) + 1)
        self._list_bounds = pairs.searchsorted(blocks * n_lists).tolist()
        self._entry_bounds = block.searchsorted(blocks).tolist()

    def top(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Return the sentences that can be among the `k` best of the queries, and their scores:
        queries, sentences, scores.
        """
        from scipy.sparse import csc_array

        n_sentences = max(self._n_sentences, 1)
        n_chunks = min(max(isqrt(k * n_sentences), _FEWEST_CHUNKS * k), n_sentences)
        height = -(-n_sentences // n_chunks)
        n_columns = 2 * max(np.diff(self._list_bounds), default=0)
        matrix = csc_array((height * n_chunks, n_columns), dtype=self._added.dtype)
        matrix.data, matrix.indices = self._added, self._sentences
        no_hits = np.empty(0, np.int64)
        queries, sentences = [no_hits], [no_hits]
        for block, first in enumerate(range(0, self._n_queries, self._n_together)):
            slack = self._slack[first : first + self._n_together]
            places = _find_largest(self._sum(block, matrix), n_chunks, k, slack)
            sentence, query = np.divmod(places, self._n_together)
            queries.append(query + first)
            sentences.append(sentence)
        return self._score(np.concatenate(queries), np.concatenate(sentences))

    def _sum(self, block: int, matrix: csc_array) -> NDArray[np.unsignedinteger]:
        """Return the sums of a block of queries: shape (n_cells, n_queries)."""
        first, last = self._list_bounds[block : block + 2]
        entries = slice(*self._entry_bounds[block : block + 2])
        lists = self._lists[first:last]
        # The lists are in descending order. A column between two of them would end before it
        # begins: it is empty.
        matrix.indptr = np.zeros(matrix.shape[1] + 1, dtype=np.int32)
        matrix.indptr[0 : 2 * len(lists) : 2] = self._offsets[lists]
        matrix.indptr[1 : 2 * len(lists) : 2] = self._offsets[lists + 1]
        has_list = np.zeros((matrix.shape[1], self._n_together), dtype=matrix.dtype)
        has_list[2 * (self._pair[entries] - first), self._place[entries]] = 1
        sums: NDArray[np.unsignedinteger] = matrix @ has_list
        return sums

    def _score(
        self, queries: NDArray[np.int64], sentences: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Return the queries and sentences, which are by query, with their scores."""
        from scipy.sparse import csc_array

        n_lists = len(self._weights)
        is_found = np.zeros(self._n_sentences, dtype=np.bool_)
        is_found[sentences] = True
        places = is_found.take(self._sentences).nonzero()[0]
        entries_by_list = places, self._sentences[places], places.searchsorted(self._offsets)
        lists_of = csc_array(entries_by_list, shape=(self._n_sentences, n_lists)).tocsr()
        del places, entries_by_list
        scores = [np.empty(0, dtype=np.float32)]
        for first, last in runs_of(np.full(self._n_queries, n_lists), _MAX_ASKED):
            entries = slice(*self._texts.searchsorted((first, last)).tolist())
            asks = np.zeros((last - first) * n_lists, dtype=np.bool_)
            query = self._texts[entries] - first
            asks[query * n_lists + self._list_of[entries]] = True
            hits = slice(*queries.searchsorted((first, last)).tolist())
            starts = lists_of.indptr[sentences[hits]]
            n_places = lists_of.indptr[sentences[hits] + 1] - starts
            at = ragged_indices(starts, n_places)
            lists = lists_of.indices[at]
            query = (queries[hits] - first).repeat(n_places)
            which = asks.take(query * n_lists + lists).nonzero()[0]
            del query
            weights = self._weights[lists[which]]
            codes = self._codes[lists_of.data[at[which]]]
            added = self._postings.scores(weights, codes, self._term_scores)
            hit = np.arange(len(starts)).repeat(n_places)[which]
            # bincount sums in double precision, as Lucene does. The order of the terms does not
            # matter: what a term adds is a multiple of half a unit in the last place of its weight,
            # and a double has 29 bits more.
            scores.append(np.bincount(hit, added, len(starts)).astype(np.float32))
        return queries, sentences, np.concatenate(scores)


def _find_largest(
    sums: NDArray[np.unsignedinteger], n_chunks: int, k: int, slack: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the places of the sums that can be among the `k` largest of their column, by column.

    Sums may be too large by `slack`.
    """
    n_queries = sums.shape[1]
    # Chunk i has the cells i, i + n_chunks, ...
    largest = sums.reshape(-1, n_chunks * n_queries).max(axis=0)
    largest = np.ascontiguousarray(largest.reshape(n_chunks, n_queries).T[: len(slack)])
    enough = np.ones(len(slack), dtype=sums.dtype)
    if k <= n_chunks:
        # The k best chunks have k sums as large as the k-th of them.
        kth_largest = np.partition(largest, n_chunks - k, axis=1)[:, n_chunks - k]
        enough = np.maximum(kth_largest - slack, 1).astype(sums.dtype)
    # Flat indices: NumPy needs several times as long for indices of two axes.
    chunks = (largest >= enough[:, None]).ravel().nonzero()[0]
    query, chunk = np.divmod(chunks, n_chunks)
    places = (chunk * n_queries + query)[:, None]
    places = places + np.arange(0, sums.size, n_chunks * n_queries)
    which = sums.ravel().take(places) >= enough.take(query)[:, None]
    return places.ravel()[which.ravel().nonzero()[0]]
