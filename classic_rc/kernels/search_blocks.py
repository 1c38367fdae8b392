"""What is looked up for queries, a few at a time, and which sentences are worth scoring exactly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.sentence_postings import (
    ChosenPostings,
    PostingLists,
    QueryTerms,
    SentencePostings,
    TermLists,
    TermScores,
    runs_of,
)

_UNITS_A_TERM = 20
"""Bounds are whole numbers of units. Rounding costs up to one for each term of a query; there are many more."""


class ConstrainedQueries(NamedTuple):
    """Questions and their options.

    Parameters
    ----------
    questions : QueryTerms
        The questions' terms, with their weights in the question alone.
    options : QueryTerms
        The options' terms, with their weights in question and option together.
    question_weights : ndarray of float32
        The weight that each of the options' terms has in the question alone; 0 where it does not stand there.
    option_question : ndarray of int64, shape (n_options,)
        Each option's question; never falls.
    firsts, sizes : ndarray of int64, shape (n_questions,)
        The sentences ``first:first + size`` are searched; no posting of a question's terms lies elsewhere.
    """

    questions: QueryTerms
    options: QueryTerms
    question_weights: NDArray[np.float32]
    option_question: NDArray[np.int64]
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int64]


class SearchPlan(NamedTuple):
    """What is to be looked up for questions and options, worked out for all of them at once.

    An *asked* term is one of a question. An *offered* term is one that options of a question have, with one and the
    same weight. An *entry* is an offered term of an option.

    Parameters
    ----------
    postings : SentencePostings
    queries : ConstrainedQueries
    asked, offered : TermLists
        Their texts are questions.
    n_asked : ndarray of int64, shape (n_questions,)
        How many asked terms each question has.
    asked_weights : ndarray of float64, shape (n_questions,)
        The sums of their weights.
    question_weights : ndarray of float32, shape (n_offered,)
        The weight of each offered term in the question alone.
    entry_offered : ndarray of int64, shape (n_entries,)
        The offered term of each entry. The entries are ordered as the options' terms are.
    lighter_weights : ndarray of float64, shape (n_entries,)
        What the weights of an option's lighter terms add to those in the question, in sum.
    """

    postings: SentencePostings
    queries: ConstrainedQueries
    asked: TermLists
    offered: TermLists
    n_asked: NDArray[np.int64]
    asked_weights: NDArray[np.float64]
    question_weights: NDArray[np.float32]
    entry_offered: NDArray[np.int64]
    lighter_weights: NDArray[np.float64]

    @classmethod
    def of(cls, postings: SentencePostings, queries: ConstrainedQueries) -> SearchPlan:
        """The plan for some questions."""
        options, n_questions = queries.options, len(queries.sizes)
        offered, question_weights, entry_offered = _offered_terms(queries, len(postings.offsets))
        asked = TermLists.of(queries.questions, postings)
        return cls(
            postings,
            queries,
            asked,
            TermLists.of(offered, postings),
            np.bincount(asked.texts, minlength=n_questions),
            asked.sums(asked.weights, n_questions),
            question_weights,
            entry_offered,
            _sums_of_lighter(options.texts, options.weights - queries.question_weights),
        )

    def blocks(self, block_size: int) -> Iterator[SearchBlock]:
        """All questions that have both asked and offered terms, a few at a time."""
        queries, asked, offered, n_questions = self.queries, self.asked, self.offered, len(self.queries.sizes)
        questions = np.arange(n_questions + 1)
        option_bounds = queries.option_question.searchsorted(questions)
        entry_bounds = queries.options.texts.searchsorted(option_bounds)
        ordered = (
            asked.texts.searchsorted(questions),
            offered.texts.searchsorted(questions),
            option_bounds,
            entry_bounds,
        )
        bounds = np.column_stack(ordered).tolist()
        loads = queries.sizes + sum(t.sums(t.lengths, n_questions).astype(np.int64) for t in (asked, offered))
        for first, last in runs_of(loads, block_size):
            a, o, x, e = (slice(start, stop) for start, stop in zip(bounds[first], bounds[last], strict=True))
            if a.start == a.stop or o.start == o.stop:
                continue
            cells = offsets_of(queries.sizes[first:last])
            shifts = cells[:-1] - queries.firsts[first:last]
            yield SearchBlock(
                a.start,
                o.start,
                x,
                int(cells[-1]),
                PostingLists.read(self.postings, asked.part(a, first), shifts),
                PostingLists.read(self.postings, offered.part(o, first), shifts),
                self.n_asked[first:last],
                self.asked_weights[first:last],
                self.question_weights[o],
                queries.options.texts[e] - x.start,
                self.entry_offered[e] - o.start,
                self.lighter_weights[e],
                queries.option_question[x] - first,
            )


class SearchBlock(NamedTuple):
    """Some questions with what belongs to them, as in :class:`SearchPlan` but numbered from 0.

    A *cell* is a sentence that is searched for one of the questions.

    Parameters
    ----------
    first_asked, first_offered : int
        The first asked and the first offered term among all.
    options : slice
        The options among all.
    n_cells : int
    asked, offered : PostingLists
    n_asked, asked_weights : ndarray, shape (n_questions,)
    question_weights : ndarray of float32, shape (n_offered,)
    entry_option, entry_offered : ndarray of int64, shape (n_entries,)
        The option and the offered term of each entry; options never fall.
    lighter_weights : ndarray of float64, shape (n_entries,)
    option_question : ndarray of int64, shape (n_options,)
    """

    first_asked: int
    first_offered: int
    options: slice
    n_cells: int
    asked: PostingLists
    offered: PostingLists
    n_asked: NDArray[np.int64]
    asked_weights: NDArray[np.float64]
    question_weights: NDArray[np.float32]
    entry_option: NDArray[np.int64]
    entry_offered: NDArray[np.int64]
    lighter_weights: NDArray[np.float64]
    option_question: NDArray[np.int64]


def _offered_terms(
    queries: ConstrainedQueries, n_terms: int
) -> tuple[QueryTerms, NDArray[np.float32], NDArray[np.int64]]:
    """The offered terms, their weights in the question alone, and which of them each of the options' terms is."""
    options = queries.options
    question = queries.option_question[options.texts]
    keys = (question * n_terms + options.terms) * (int(options.boosts.max(initial=0)) + 1) + options.boosts
    _, entry, offered = np.unique(keys, return_index=True, return_inverse=True)
    terms = QueryTerms(question[entry], options.terms[entry], options.boosts[entry], options.weights[entry])
    return terms, queries.question_weights[entry], offered.reshape(-1)


def _sums_of_lighter(options: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each entry, the sum of the weights of its option's lighter ones; of equals the earlier is lighter."""
    order = np.lexsort((weights, options))
    total = np.concatenate(([0.0], np.cumsum(weights[order], dtype=np.float64)))
    sums = np.empty(len(weights))
    sums[order] = total[:-1] - total[np.searchsorted(options, options[order])]
    return sums


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
