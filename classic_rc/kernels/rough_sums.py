"""The few sentences that can be among a query's best, found by sums of scores in whole units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from classic_rc.kernels.arrays import offsets_of, ragged_indices, run_starts, runs_of
from classic_rc.kernels.sentence_postings import SentencePostings, TermLists, TermScores

_UNITS_PER_TERM = 20
"""Rounding costs up to one unit per term, so a sum must have many more."""

_MOST_CHUNKS, _FEWEST_CHUNKS = 128, 4
"""Into how many chunks for each hit the sentences are divided. With many, two of the best rarely
share one.
"""

_CHUNK_SENTENCES = 16
"""How many sentences a chunk has at least, as long as there are enough chunks."""

_DENSE_SHARE, _DENSE_CALL = 12, 10_000
"""Adding a row of n sentences takes as long as adding at ``(n + _DENSE_CALL) / _DENSE_SHARE``
places.
"""

_MAX_PAIRS = 2**20
"""How many pairs of a sentence and a term are looked up at a time."""


class RoughSums:
    """What the terms of queries add up to in each sentence, in whole units.

    Every addend is rounded up, so a sum is never too small, and at most one unit per term too
    large. An addend is computed once for all queries that share a term. The sums are a product of a
    sparse matrix and a vector. Term scores are never negative, and proportional to the weights
    except for rounding.
    """

    def __init__(
        self,
        postings: SentencePostings,
        terms: TermLists,
        n_queries: int,
        n_sentences: int,
        term_scores: TermScores,
        *,
        has_postings: bool = False,
    ) -> None:
        self._postings, self._terms, self._n_sentences = postings, terms, n_sentences
        self._bounds = np.searchsorted(terms.texts, np.arange(n_queries + 1))
        n_terms = np.diff(self._bounds)
        saturation = term_scores(np.ones_like(postings.counts), postings.counts, postings.factors)
        most = int(n_terms.max(initial=0))
        self._dtype = np.promote_types(np.uint16, np.min_scalar_type(_UNITS_PER_TERM * most))
        # Even if a sentence has all terms at their most, rounding up by one unit per term stays
        # within the type.
        heaviest = float(terms.sums(terms.weights, n_queries).max(initial=0)) * float(
            saturation.max(initial=0)
        )
        units = np.iinfo(self._dtype).max
        scale = (units - most - 1) / (heaviest or 1.0)
        # Sums may be a unit per term too large, and single precision may shift them by a millionth.
        self._slack = n_terms + int(np.ceil(1e-6 * units))
        keys = terms.starts * (int(terms.boosts.max(initial=0)) + 1) + terms.boosts
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        starts, lengths = terms.starts[first], terms.lengths[first]
        weights = (terms.weights[first] * scale).astype(np.float32)
        # Of each different entry: what it adds, and the sentences to which it adds that.
        bounds = list(zip(starts.tolist(), (starts + lengths).tolist(), strict=True))
        self._addends = _round_up(
            [postings.codes[i:j] for i, j in bounds], weights, saturation, self._dtype
        )
        self._sentences = [postings.sentences[i:j] for i, j in bounds]
        self._entries: list[int] = inverse.reshape(-1).tolist()
        self._has_postings, self._lengths = has_postings, terms.lengths
        self._dense: dict[int, NDArray[np.unsignedinteger]] = {}
        self._dense_entries = np.empty(0, dtype=np.int64)
        if not has_postings:
            self._make_dense(lengths, inverse.reshape(-1))
        self._column: csc_array | None = None
        self._one = np.ones(1, dtype=self._dtype)

    def _make_dense(self, lengths: NDArray[np.int64], list_of_entry: NDArray[np.int64]) -> None:
        """Give terms of many sentences a row of addends: adding rows is faster than adding at
        places.
        """
        is_dense = (lengths * _DENSE_SHARE > self._n_sentences + _DENSE_CALL) & (
            np.bincount(list_of_entry) > 1
        )
        for number in is_dense.nonzero()[0].tolist():
            self._dense[number] = np.zeros(self._n_sentences, dtype=self._dtype)
            self._dense[number][self._sentences[number]] = self._addends[number]
            self._sentences[number], self._addends[number] = (
                self._sentences[number][:0],
                self._addends[number][:0],
            )
        self._dense_entries = is_dense[list_of_entry].nonzero()[0]
        self._lengths = np.where(is_dense[list_of_entry], 0, self._lengths)

    def possible_top(self, first: int, last: int, k: int) -> PossibleHits:
        """Return the sentences that can be among the `k` best of the queries ``first:last``."""
        n_queries, n_sentences = last - first, self._n_sentences
        wanted = max(n_sentences // _CHUNK_SENTENCES, _FEWEST_CHUNKS * k)
        n_chunks = min(_MOST_CHUNKS * k, wanted, n_sentences)
        width = -(-n_sentences // n_chunks)
        n_chunks = -(-n_sentences // width)
        # A row of sums for each query, with room for chunks of equal size. Chunk i has the columns
        # i of its lines.
        room = width * n_chunks
        entries = slice(int(self._bounds[first]), int(self._bounds[last]))
        offsets = offsets_of(self._lengths[entries])
        ends = offsets[self._bounds[first : last + 1] - entries.start]
        own = self._entries[entries]
        cells = np.concatenate(
            [np.empty(0, dtype=np.int32), *map(self._sentences.__getitem__, own)]
        )
        for query, (i, j) in enumerate(pairwise(ends.tolist())):
            cells[i:j] += query * room
        sums = self._sum(own, cells, n_queries * room)
        dense = slice(*self._dense_entries.searchsorted((entries.start, entries.stop)).tolist())
        rows = sums.reshape(n_queries, room)[:, :n_sentences]
        for entry in self._dense_entries[dense].tolist():
            rows[self._terms.texts[entry] - first] += self._dense[self._entries[entry]]
        largest = sums.reshape(n_queries, width, n_chunks).max(axis=1)
        enough = np.ones(n_queries, dtype=self._dtype)
        if k <= n_chunks:
            # The k best chunks have k sentences with these sums or more, so the k-th of them is
            # reached k times.
            least = (
                np.partition(largest, n_chunks - k, axis=1)[:, n_chunks - k]
                - self._slack[first:last]
            )
            enough = np.maximum(least, 1).astype(self._dtype)
        # Flat indices: NumPy needs several times as long for indices of two axes.
        query, chunk = np.divmod((largest >= enough[:, None]).ravel().nonzero()[0], n_chunks)
        places = ((query * room + chunk)[:, None] + np.arange(0, room, n_chunks)).ravel()
        found = places[(sums.take(places) >= enough.take(query).repeat(width)).nonzero()[0]]
        queries, sentences = np.divmod(found, room)
        if not self._has_postings:
            return PossibleHits(queries + first, sentences)
        places = (sums.take(cells) >= enough.repeat(np.diff(ends))).nonzero()[0]
        numbers = np.empty(len(sums), dtype=np.int32)
        numbers[found] = np.arange(len(queries), dtype=np.int32)
        entry = np.arange(entries.start, entries.stop).repeat(np.diff(places.searchsorted(offsets)))
        at = places - offsets[entry - entries.start] + self._terms.starts[entry]
        return PossibleHits(
            queries + first, sentences, FoundPostings(numbers[cells[places]], entry, at)
        )

    def _sum(
        self, own: list[int], cells: NDArray[np.int32], n_cells: int
    ) -> NDArray[np.unsignedinteger]:
        """Return the sums in all cells."""
        if self._column is None or self._column.shape[0] < n_cells:
            self._column = csc_array((n_cells, 1), dtype=self._dtype)
        # Making a new matrix would take longer than the product.
        self._column.data = np.concatenate(
            [np.empty(0, dtype=self._dtype), *map(self._addends.__getitem__, own)]
        )
        self._column.indices, self._column.indptr = cells, np.array([0, len(cells)], dtype=np.int32)
        sums: NDArray[np.unsignedinteger] = self._column @ self._one
        return sums[:n_cells]


def _round_up(
    codes: Sequence[NDArray[np.unsignedinteger]],
    weights: NDArray[np.float32],
    saturation: NDArray[np.float32],
    dtype: np.dtype[Any],
) -> list[NDArray[np.unsignedinteger]]:
    """Return what each list adds to its sentences, from the codes of its postings."""
    one, addends = np.float32(1), list(codes)
    short = [number for number, own in enumerate(codes) if len(own) <= len(saturation)]
    # most codes occur several times: each is rounded once
    for number in set(range(len(codes))).difference(short):
        # truncated: together they round up
        of_code = (saturation * weights[number] + one).astype(dtype)
        addends[number] = of_code.take(codes[number], mode="clip")
    of_lists = [np.empty(0, dtype=np.uint8), *map(codes.__getitem__, short)]
    lengths = np.array(list(map(len, of_lists[1:])), dtype=np.int64)
    of_short = saturation.take(np.concatenate(of_lists), mode="clip")
    of_short *= weights[short].repeat(lengths)
    of_short += one
    rounded = of_short.astype(dtype)
    for number, (i, j) in zip(short, pairwise(offsets_of(lengths).tolist()), strict=True):
        addends[number] = rounded[i:j]
    return addends


class FoundPostings(NamedTuple):
    """Postings of queries' terms in some sentences, by entry."""

    hits: NDArray[np.integer]  # the sentence of each, by its place among the sentences
    entries: NDArray[np.int64]  # the entry of the terms
    at: NDArray[np.int64]  # the index of each among all postings


class PossibleHits(NamedTuple):
    """Sentences that can be among the best of their queries."""

    queries: NDArray[np.int64]  # (n_found,)
    sentences: NDArray[np.int64]  # (n_found,): each sentence of a query once
    postings: FoundPostings | None = None  # of the queries' terms in these sentences


def sum_terms(
    postings: SentencePostings,
    terms: TermLists,
    found: FoundPostings,
    n_hits: int,
    term_scores: TermScores,
) -> NDArray[np.float32]:
    """Return the scores of sentences: the sums of what each term adds, in single precision."""
    added = postings.scores(terms.weights[found.entries], postings.codes[found.at], term_scores)
    # bincount sums in double precision, as Lucene does, in the order of the terms.
    return np.bincount(found.hits, added, n_hits).astype(np.float32)


def find_postings(
    postings: SentencePostings,
    terms: TermLists,
    queries: NDArray[np.int64],
    sentences: NDArray[np.int64],
) -> Iterator[tuple[slice, FoundPostings]]:
    """Search the posting lists of queries' terms for sentences; both arrays have shape (n_hits,),
    by query.

    Yields some of the sentences, as a slice, and their postings, in which they are numbered from
    the slice's start.
    """
    texts = terms.texts
    # Each list is searched once for all queries that share its term.
    by_list = np.argsort(terms.starts, kind="stable")
    starts, lengths = terms.starts[by_list], terms.lengths[by_list]
    firsts = run_starts(starts)
    ends = np.append(firsts, len(starts))
    n_terms = np.searchsorted(texts, queries, side="right") - np.searchsorted(texts, queries)
    for first, last in runs_of(n_terms, _MAX_PAIRS):
        own = queries[first:last]
        begins, n_pairs = own.searchsorted(texts), own.searchsorted(texts, side="right")
        n_pairs -= begins
        n_pairs = n_pairs[by_list]
        bounds = offsets_of(n_pairs)
        hits = ragged_indices(begins[by_list], n_pairs)
        wanted = sentences[first:last].astype(postings.sentences.dtype)[hits]
        at = np.empty(len(hits), dtype=np.int64)
        lists = zip(
            starts[firsts].tolist(),
            lengths[firsts].tolist(),
            pairwise(bounds[ends].tolist()),
            strict=True,
        )
        for start, length, (i, j) in lists:
            at[i:j] = postings.sentences[start : start + length].searchsorted(wanted[i:j])
        is_in = at < lengths.repeat(n_pairs)
        at += starts.repeat(n_pairs)
        is_in &= postings.sentences.take(at, mode="clip") == wanted
        found = is_in.nonzero()[0]
        entries = by_list.repeat(n_pairs)[found]
        in_order = np.argsort(entries, kind="stable")
        found = found[in_order]
        yield slice(first, last), FoundPostings(hits[found], entries[in_order], at[found])
