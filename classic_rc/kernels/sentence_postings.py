"""Sentences by term, the terms of queries, and how posting lists are read in bulk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices

Combine: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]], NDArray[np.float32]]
"""From sums of term scores, how many query terms are matched, and the numbers of queries, the scores."""

BLOCK = 5 * 2**18
"""How many cells and postings are worked on at a time, if one query has not more: what a core's cache holds."""

_SHORT = 32
"""Postings a list, on average, up to which one array of indices is cheaper than a slice a list."""


class TermScores(Protocol):  # not a Callable, which would be a method where a class has it as an attribute
    """From weights, counts and length factors, what terms add to the scores of sentences."""

    def __call__(
        self, weights: NDArray[np.float32], counts: NDArray[np.float32], factors: NDArray[np.float32], /
    ) -> NDArray[np.float32]:
        """Of each posting, its term's weight, its count and its sentence's length factor, what it adds."""
        ...


class SentencePostings(NamedTuple):
    """Which sentences have each term, and what decides how much they say about it.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_terms + 1,)
        Term i's postings are ``offsets[i]:offsets[i + 1]``.
    sentences : ndarray of int32, shape (n_postings,)
        Rising within a term.
    codes : ndarray of unsigned int, shape (n_postings,)
        Which of the pairs of count and length factor a posting has.
    counts : ndarray of float32, shape (n_codes,)
        How often the sentence has the term.
    factors : ndarray of float32, shape (n_codes,)
        What the length of the sentence makes of that.
    """

    offsets: NDArray[np.int64]
    sentences: NDArray[np.int32]
    codes: NDArray[np.unsignedinteger]
    counts: NDArray[np.float32]
    factors: NDArray[np.float32]

    def scores(
        self, weights: NDArray[np.float32], codes: NDArray[np.integer], term_scores: TermScores
    ) -> NDArray[np.float32]:
        """What terms of these weights add to sentences where they have these codes."""
        return term_scores(weights, self.counts[codes], self.factors[codes])


class QueryTerms(NamedTuple):
    """The distinct terms of texts, of those that some sentence has.

    Parameters
    ----------
    texts : ndarray of int64, shape (n_entries,)
        The text of each entry; never falls.
    terms : ndarray of int64, shape (n_entries,)
        Its term, as in the postings.
    boosts : ndarray of int64, shape (n_entries,)
        How often the text has it.
    weights : ndarray of float32, shape (n_entries,)
    """

    texts: NDArray[np.int64]
    terms: NDArray[np.int64]
    boosts: NDArray[np.int64]
    weights: NDArray[np.float32]


class TermLists(NamedTuple):
    """Terms of texts, and where their posting lists are.

    Parameters
    ----------
    texts, boosts, weights
        As of :class:`QueryTerms`.
    starts, lengths : ndarray of int64, shape (n_entries,)
        Of the lists, in the postings.
    """

    texts: NDArray[np.int64]
    boosts: NDArray[np.int64]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, terms: QueryTerms, postings: SentencePostings) -> TermLists:
        """Those of terms."""
        starts = postings.offsets[terms.terms]
        lengths = postings.offsets[terms.terms + 1] - starts
        return cls(terms.texts, terms.boosts, terms.weights, starts, lengths)

    def sums(self, values: NDArray[np.generic], n_texts: int) -> NDArray[np.float64]:
        """Sums, over each text's terms, of a value for each."""
        return np.bincount(self.texts, values, n_texts).astype(np.float64, copy=False)

    def part(self, where: slice, first_text: int) -> TermLists:
        """Those of some texts, numbered from 0."""
        columns = (self.boosts[where], self.weights[where], self.starts[where], self.lengths[where])
        return TermLists(self.texts[where] - first_text, *columns)


class PostingLists(NamedTuple):
    """The postings of some terms, one list after the other.

    Parameters
    ----------
    terms : TermLists
    offsets : ndarray of int64, shape (n_lists + 1,)
        Where each list begins here.
    shifts : ndarray of int64, shape (n_lists,)
        What is added to the numbers of its sentences to make them cells.
    cells : ndarray of int64, shape (offsets[-1],)
        A cell is a sentence for a text.
    """

    terms: TermLists
    offsets: NDArray[np.int64]
    shifts: NDArray[np.int64]
    cells: NDArray[np.int64]

    @classmethod
    def read(cls, postings: SentencePostings, terms: TermLists, shift_of_text: NDArray[np.int64]) -> PostingLists:
        """The lists of these terms."""
        offsets, shifts = offsets_of(terms.lengths), shift_of_text[terms.texts]
        cells = _read_lists(postings.sentences, terms, offsets)
        if len(shift_of_text) > 1 or shift_of_text[0]:
            cells += shifts.repeat(terms.lengths)
        return cls(terms, offsets, shifts, cells)

    def all_codes(self, postings: SentencePostings) -> NDArray[np.int64]:
        """The codes of all postings."""
        return _read_lists(postings.codes, self.terms, self.offsets)

    def choose(self, places: NDArray[np.int64]) -> ChosenPostings:
        """Those at some places here, which rise."""
        bounds = places.searchsorted(self.offsets)
        lists = np.arange(len(self.shifts)).repeat(bounds[1:] - bounds[:-1])
        at = places + (self.terms.starts - self.offsets[:-1])[lists]
        return ChosenPostings(lists, self.cells[places], at)


class ChosenPostings(NamedTuple):
    """Some of the postings of lists, in their order.

    Parameters
    ----------
    lists : ndarray of int64, shape (n_chosen,)
        Which list each is in; never falls.
    cells : ndarray of int64, shape (n_chosen,)
    at : ndarray of int64, shape (n_chosen,)
        Where they are among all postings.
    """

    lists: NDArray[np.int64]
    cells: NDArray[np.int64]
    at: NDArray[np.int64]

    def take(self, which: NDArray[np.int64]) -> ChosenPostings:
        """Some of these."""
        return ChosenPostings(self.lists[which], self.cells[which], self.at[which])


def _read_lists(array: NDArray[np.integer], terms: TermLists, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    # As int64: NumPy copies indices of any other type before it uses them.
    if offsets[-1] <= _SHORT * len(terms.starts):
        return array[ragged_indices(terms.starts, terms.lengths)].astype(np.int64)
    flat = np.empty(offsets[-1], dtype=np.int64)
    bounds = zip(terms.starts.tolist(), (terms.starts + terms.lengths).tolist(), strict=True)
    return np.concatenate([array[start:stop] for start, stop in bounds], out=flat)


def runs_of(loads: NDArray[np.integer], limit: int) -> Iterator[tuple[int, int]]:
    """Cut a sequence into runs of one element, or of several with loads that sum to the limit at most."""
    total = offsets_of(loads)
    first = 0
    while first < len(loads):
        last = len(loads)
        if total[last] - total[first] > limit:
            last = max(first + 1, int(np.searchsorted(total, total[first] + limit, side="right")) - 1)
        yield first, last
        first = last
