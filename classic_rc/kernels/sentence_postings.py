"""Inverted lists of sentences by term, the terms of queries, and bulk access to posting lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices

Combine: TypeAlias = Callable[
    [NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]], NDArray[np.float32]
]
"""From sums of term scores, numbers of matched query terms, and the indices of the queries, the
scores.
"""

BLOCK_CELLS = 5 * 2**18
"""How many cells and postings are processed at a time, unless a single query has more.

A cell of a score bound is usually one byte, so that the cells of a block fit into a core's cache.
"""

_SHORT_LIST = 32
"""Mean length of posting lists up to which one array of indices is cheaper than one slice per
list.
"""


# not a Callable, which would be a method where a class has it as an attribute
class TermScores(Protocol):
    """A function that returns what terms add to the scores of sentences."""

    def __call__(
        self,
        weights: NDArray[np.float32],
        counts: NDArray[np.float32],
        factors: NDArray[np.float32],
        /,
    ) -> NDArray[np.float32]:
        """Return what each posting adds, from its term's weight, its count and its sentence's
        length factor.
        """
        ...


class SentencePostings(NamedTuple):
    """Which sentences have each term, and the two numbers that decide how much a term adds there.

    Postings have few distinct pairs of count and length factor. A posting stores the small code of
    its pair, which takes less of the cache than the pair.
    """

    # (n_terms + 1,): the postings of term i are `offsets[i]:offsets[i + 1]`
    offsets: NDArray[np.int64]
    sentences: NDArray[np.int32]  # (n_postings,), ascending within a term
    # (n_postings,): each posting's pair of count and length factor
    codes: NDArray[np.unsignedinteger]
    counts: NDArray[np.float32]  # (n_codes,): how often the sentence has the term
    factors: NDArray[np.float32]  # (n_codes,): the similarity's factor for the sentence's length

    def scores(
        self, weights: NDArray[np.float32], codes: NDArray[np.integer], term_scores: TermScores
    ) -> NDArray[np.float32]:
        """Return what terms of these weights add to sentences in which they have these codes."""
        return term_scores(weights, self.counts[codes], self.factors[codes])


class QueryTerms(NamedTuple):
    """The distinct terms of texts, restricted to terms that some sentence has."""

    texts: NDArray[np.int64]  # (n_entries,): the text of each entry, ascending
    terms: NDArray[np.int64]  # (n_entries,): its term, as numbered in the postings
    boosts: NDArray[np.int64]  # (n_entries,): how often the text has the term
    weights: NDArray[np.float32]  # (n_entries,)


class TermLists(NamedTuple):
    """Terms of texts, and where their posting lists are."""

    texts: NDArray[np.int64]  # this and the next two: as in QueryTerms
    boosts: NDArray[np.int64]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]  # (n_entries,): start of each list in the postings
    lengths: NDArray[np.int64]  # (n_entries,): length of each list

    @classmethod
    def of(cls, terms: QueryTerms, postings: SentencePostings) -> TermLists:
        """Look up the lists of terms."""
        starts = postings.offsets[terms.terms]
        lengths = postings.offsets[terms.terms + 1] - starts
        return cls(terms.texts, terms.boosts, terms.weights, starts, lengths)

    def sums(self, values: NDArray[np.generic], n_texts: int) -> NDArray[np.float64]:
        """Sum one value per term over the terms of each text."""
        return np.bincount(self.texts, values, n_texts).astype(np.float64, copy=False)

    def part(self, where: slice, first_text: int) -> TermLists:
        """Return the terms in `where`, with their texts renumbered from `first_text`."""
        columns = (self.boosts[where], self.weights[where], self.starts[where], self.lengths[where])
        return TermLists(self.texts[where] - first_text, *columns)


class PostingLists(NamedTuple):
    """The postings of some terms, list after list.

    A *cell* is one sentence for one text: texts are searched side by side, each with its own range
    of cells.
    """

    terms: TermLists
    offsets: NDArray[np.int64]  # (n_lists + 1,): where each list begins here
    shifts: NDArray[np.int64]  # (n_lists,): added to a list's sentence numbers to make them cells
    cells: NDArray[np.int64]  # (offsets[-1],): the cell of each posting

    @classmethod
    def read(
        cls, postings: SentencePostings, terms: TermLists, shift_of_text: NDArray[np.int64]
    ) -> PostingLists:
        """Read the posting lists of these terms."""
        offsets, shifts = offsets_of(terms.lengths), shift_of_text[terms.texts]
        cells = _read_lists(postings.sentences, terms, offsets)
        if len(shift_of_text) > 1 or shift_of_text[0]:  # else all shifts are 0
            cells += shifts.repeat(terms.lengths)
        return cls(terms, offsets, shifts, cells)

    def all_codes(self, postings: SentencePostings) -> NDArray[np.int64]:
        """Return the codes of all postings."""
        return _read_lists(postings.codes, self.terms, self.offsets)

    def choose(self, places: NDArray[np.int64]) -> ChosenPostings:
        """Return the postings at some positions here, which ascend."""
        counts = np.diff(places.searchsorted(self.offsets))
        lists = np.arange(len(self.shifts)).repeat(counts)
        at = places + (self.terms.starts - self.offsets[:-1])[lists]
        return ChosenPostings(lists, self.cells[places], at)


class ChosenPostings(NamedTuple):
    """Some of the postings of lists, in their order."""

    lists: NDArray[np.int64]  # (n_chosen,): the list of each, ascending
    cells: NDArray[np.int64]  # (n_chosen,)
    at: NDArray[np.int64]  # (n_chosen,): the index of each among all postings

    def take(self, which: NDArray[np.int64]) -> ChosenPostings:
        """Return some of these postings."""
        return ChosenPostings(self.lists[which], self.cells[which], self.at[which])


def _read_lists(
    array: NDArray[np.integer], terms: TermLists, offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    # As int64: NumPy converts indices of any other type before it uses them.
    if offsets[-1] <= _SHORT_LIST * len(terms.starts):
        return array[ragged_indices(terms.starts, terms.lengths)].astype(np.int64)
    flat = np.empty(offsets[-1], dtype=np.int64)
    bounds = zip(terms.starts.tolist(), (terms.starts + terms.lengths).tolist(), strict=True)
    return np.concatenate([array[start:stop] for start, stop in bounds], out=flat)
