"""Which sentences can be among the best at all, told from bounds in small whole numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.search_blocks import SearchBlock
from classic_rc.kernels.sentence_postings import ChosenPostings, PostingLists, SentencePostings, TermScores

_UNITS_A_TERM = 20
"""Bounds are whole numbers of units. Rounding costs up to one for each term of a query; there are many more."""


class ScoreBounds:
    """Finds the cells that are worth scoring exactly.

    What the terms of a query add to a sentence is summed up in units that each query chooses as small as its terms
    allow; each is rounded up, so that the sum is never too small, and at most a unit a term too large.

    Parameters
    ----------
    postings : SentencePostings
    term_scores : callable
        Never negative, and proportional to the weights but for rounding.
    n_cells : int
        How many cells there may be.
    """

    def __init__(self, postings: SentencePostings, term_scores: TermScores, n_cells: int) -> None:
        self._postings, self._n_cells = postings, n_cells
        ones = np.ones_like(postings.counts)
        self._saturation = term_scores(ones, postings.counts, postings.factors)
        self._most = float(self._saturation.max(initial=0))
        self._memory: dict[np.dtype[Any], NDArray[Any]] = {}

    def possible_top(
        self,
        lists: PostingLists,
        n_terms: NDArray[np.int64],
        weights: NDArray[np.float64],
        bounds: NDArray[np.int64],
        n_cells: int,
        k: int,
    ) -> NDArray[np.int64]:
        """The postings that are in sentences that can be among the `k` best of their query: all of their postings.

        Parameters
        ----------
        lists : PostingLists
        n_terms, weights : ndarray, shape (n_queries,)
            How many terms each query has, and the sums of their weights.
        bounds : ndarray of int64, shape (n_queries + 1,)
            Query i's postings are ``bounds[i]:bounds[i + 1]``.
        n_cells, k : int
        """
        found, _, units = self._sums(lists, lists, n_terms, weights, n_cells)
        enough = np.zeros(len(n_terms))
        for query, (start, stop) in enumerate(itertools.pairwise(bounds.tolist())):
            n = int(n_terms[query])
            # A sentence has up to n postings: k * n of them are in k sentences or more.
            if stop - start > k * n:
                own = found[start:stop].astype(np.uint32)
                enough[query] = np.partition(own, len(own) - k * n)[len(own) - k * n]
        enough = np.maximum(np.floor(enough - n_terms - 1e-6 * units), 0).astype(found.dtype)
        return (found >= enough.repeat(np.diff(bounds))).nonzero()[0]

    def possible(self, block: SearchBlock) -> tuple[ChosenPostings, NDArray[np.int64]]:
        """The postings of offered terms in sentences that have an asked term too, and the cells worth scoring.

        These can be the best for some option; some are there more than once. A sentence that has an offered
        term is worth, for an option, at most what the asked terms add, what the offered term adds, and what all
        lighter terms of the option can add: this bound holds for the heaviest of the option's terms that the
        sentence has. And the best sentence is worth at least the largest of these sums without the lighter terms.
        """
        offered, entry_offered, entry_option = block.offered, block.entry_offered, block.entry_option
        found, scale, units = self._sums(block.asked, offered, block.n_asked, block.asked_weights, block.n_cells)
        places = (found > 0).nonzero()[0]  # a term adds a unit at least
        qualifying, found = offered.choose(places), found[places]
        weights = ((offered.terms.weights - block.question_weights) * scale[offered.terms.texts]).astype(np.float32)

        def worth(which: NDArray[np.int64]) -> NDArray[np.float32]:
            saturation = self._saturation[self._postings.codes[qualifying.at[which]]]
            return found[which] + weights[qualifying.lists[which]] * saturation

        # For each offered term: what the sentences are worth, with it, to which the asked terms add most.
        n_found = np.bincount(qualifying.lists, minlength=len(weights))
        some = n_found.nonzero()[0]
        largest = np.maximum.reduceat(found, offsets_of(n_found[some])[:-1]) if len(some) else found
        which = (found == largest.repeat(n_found[some])).nonzero()[0]
        term_worth = np.zeros(len(weights), dtype=np.float32)
        np.maximum.at(term_worth, qualifying.lists[which], worth(which))

        # Hence for each option: what its best sentence is worth at least, and what that demands of each term.
        least = np.zeros(len(block.option_question), dtype=np.float32)
        np.maximum.at(least, entry_option, term_worth[entry_offered])
        question = block.option_question[entry_option]
        rounding = block.n_asked + (0.1 + 1e-6 * units)
        demands = least[entry_option] - block.lighter_weights * self._most * scale[question] - rounding[question]
        demand = np.full(len(weights), np.inf)
        np.minimum.at(demand, entry_offered, demands)

        # First without a look at what the offered terms themselves add, then with it.
        enough = np.clip(np.floor(demand - weights * self._most), 0, units).astype(found.dtype)
        which = (found >= enough.repeat(n_found)).nonzero()[0]
        which = which[worth(which) >= demand[qualifying.lists[which]]]
        return qualifying, qualifying.cells[which]

    def _sums(
        self,
        lists: PostingLists,
        others: PostingLists,
        n_terms: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_cells: int,
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.float64], int]:
        """What some lists add, in the cells of others; how many units a weight of 1 is; and how many there are."""
        dtype = np.min_scalar_type(_UNITS_A_TERM * int(n_terms.max()))
        units = int(np.iinfo(dtype).max)
        if dtype not in self._memory:
            self._memory[dtype] = np.zeros(self._n_cells, dtype=dtype)
        sums = self._memory[dtype]
        heaviest = weights * self._most
        scale = (units - n_terms - 1) / np.where(heaviest > 0, heaviest, 1)
        added = self._saturation.take(lists.all_codes(self._postings))
        added *= (lists.terms.weights * scale[lists.terms.texts]).astype(np.float32).repeat(lists.terms.lengths)
        added += 1
        np.add.at(sums, lists.cells, added.astype(dtype))
        found = sums.take(others.cells)
        sums[:n_cells] = 0
        return found, scale, units
