"""Block-wise lookups for questions with options, and upper bounds that limit exact scoring to
few sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, runs_of
from classic_rc.kernels.sentence_postings import (
    BLOCK_CELLS,
    ChosenPostings,
    PostingLists,
    QueryTerms,
    SentencePostings,
    TermLists,
    TermScores,
)

_UNITS_PER_TERM = 20
"""Bounds are counted in units. Rounding costs up to one unit per query term, so a sum must have
many more.
"""


class ConstrainedQueries(NamedTuple):
    """Questions and their options."""

    questions: QueryTerms  # the questions' terms, with their weights in the question alone
    options: QueryTerms  # the options' terms, with their weights in question and option together
    # weight of each option term in the question alone; 0 if it is not in the question
    question_weights: NDArray[np.float32]
    option_question: NDArray[np.int64]  # (n_options,): each option's question, ascending
    # (n_questions,): the search covers the sentences `first:first + size`, which include all
    # postings of the question's terms
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int64]  # (n_questions,)


class SearchPlan(NamedTuple):
    """The lookups for questions and options, prepared for all of them at once.

    An *asked* term is a term of a question. An *offered* term is a term of some options of a
    question that has the same weight in all of them. An *entry* is an offered term of one option.
    """

    postings: SentencePostings
    queries: ConstrainedQueries
    asked: TermLists  # texts are questions
    offered: TermLists  # texts are questions
    n_asked: NDArray[np.int64]  # (n_questions,): how many asked terms each question has
    asked_weights: NDArray[np.float64]  # (n_questions,): the sums of their weights
    # (n_offered,): the weight of each offered term in the question alone
    question_weights: NDArray[np.float32]
    # (n_entries,): the offered term of each entry, in the order of the options' terms
    entry_offered: NDArray[np.int64]
    # (n_entries,): the sum of what the option's lighter terms add to their weights in the question
    lighter_weights: NDArray[np.float64]

    @classmethod
    def of(cls, postings: SentencePostings, queries: ConstrainedQueries) -> SearchPlan:
        """Make the plan for some questions."""
        options, n_questions = queries.options, len(queries.sizes)
        offered, question_weights, entry_offered = _collect_offered_terms(
            queries, len(postings.offsets)
        )
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
            _sum_lighter_weights(options.texts, options.weights - queries.question_weights),
        )

    def blocks(self) -> Iterator[SearchBlock]:
        """Yield the questions that have both asked and offered terms, a few at a time."""
        queries, asked, offered = self.queries, self.asked, self.offered
        n_questions = len(queries.sizes)
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
        loads = queries.sizes.copy()
        for terms in (asked, offered):
            loads += terms.sums(terms.lengths, n_questions).astype(np.int64)
        for first, last in runs_of(loads, BLOCK_CELLS):
            a, o, x, e = map(slice, bounds[first], bounds[last])
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
    """Some questions with their terms and options, as in :class:`SearchPlan` but numbered from 0.

    A *cell* is a sentence that is searched for one of the questions.
    """

    first_asked: int  # the first asked term among all
    first_offered: int  # the first offered term among all
    options: slice  # the options among all
    n_cells: int
    asked: PostingLists
    offered: PostingLists
    n_asked: NDArray[np.int64]  # (n_questions,)
    asked_weights: NDArray[np.float64]  # (n_questions,)
    question_weights: NDArray[np.float32]  # (n_offered,)
    entry_option: NDArray[np.int64]  # (n_entries,): the option of each entry, ascending
    entry_offered: NDArray[np.int64]  # (n_entries,): its offered term
    lighter_weights: NDArray[np.float64]  # (n_entries,)
    option_question: NDArray[np.int64]  # (n_options,)


def _collect_offered_terms(
    queries: ConstrainedQueries, n_terms: int
) -> tuple[QueryTerms, NDArray[np.float32], NDArray[np.int64]]:
    """Return the offered terms, their weights in the question alone, and the offered term of
    each option term.
    """
    options = queries.options
    question = queries.option_question[options.texts]
    # Within a question, a term's weight depends only on its boost in the option: equal boosts, one
    # offered term.
    keys = question * n_terms + options.terms
    keys *= int(options.boosts.max(initial=0)) + 1
    keys += options.boosts
    _, entry, offered = np.unique(keys, return_index=True, return_inverse=True)
    terms = QueryTerms(
        question[entry], options.terms[entry], options.boosts[entry], options.weights[entry]
    )
    return terms, queries.question_weights[entry], offered


def _sum_lighter_weights(
    options: NDArray[np.int64], weights: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Sum, for each entry, the weights of its option's lighter entries; among equals the earlier
    is lighter.
    """
    order = np.lexsort((weights, options))
    total = np.concatenate(([0.0], np.cumsum(weights[order], dtype=np.float64)))
    # The sort keeps the options, which ascend, where they are.
    first_entries = np.searchsorted(options, options)
    sums = np.empty(len(weights))
    sums[order] = total[:-1] - total[first_entries]
    return sums


class ScoreBounds:
    """Finds the few cells, of at most `n_cells`, that need an exact score.

    A sum of what a query's terms add to a sentence is kept in whole units, one or two bytes per
    sentence, so that many sentences fit into a core's cache. Each query has its own unit, as small
    as its terms allow. Every addend is rounded up, so the sum is never too small and at most one
    unit per term too large. Term scores are never negative, and proportional to the weights except
    for rounding.
    """

    def __init__(self, postings: SentencePostings, term_scores: TermScores, n_cells: int) -> None:
        self._postings, self._n_cells = postings, n_cells
        ones = np.ones_like(postings.counts)
        self._saturation = term_scores(ones, postings.counts, postings.factors)
        self._max_saturation = float(self._saturation.max(initial=0))
        self._memory: dict[np.dtype[Any], NDArray[Any]] = {}

    def possible(self, block: SearchBlock) -> tuple[ChosenPostings, NDArray[np.int64]]:
        """Return the postings of offered terms in sentences with an asked term, and the cells to
        score exactly.

        These cells can be the best for some option; some occur more than once. For an option, the
        score of a sentence with an offered term is at most the sum of three parts: what the asked
        terms add, what the offered term adds, and what all lighter terms of the option can add.
        This bound holds for the heaviest of the option's terms that the sentence has. The best
        score is at least the largest of these sums without the lighter terms.
        """
        offered, entry_offered = block.offered, block.entry_offered
        asked_sums, scale, units = self._sum_in_cells(block)
        places = (asked_sums > 0).nonzero()[0]  # every matched term adds at least one unit
        qualifying, asked_sums = offered.choose(places), asked_sums[places]
        added_weights = offered.terms.weights - block.question_weights
        weights = (added_weights * scale[offered.terms.texts]).astype(np.float32)

        def sum_with_offered(which: NDArray[np.int64]) -> NDArray[np.float32]:
            saturation = self._saturation[self._postings.codes[qualifying.at[which]]]
            return asked_sums[which] + weights[qualifying.lists[which]] * saturation

        # For each offered term: the best sum with it, among the sentences to which the asked terms
        # add most.
        n_qualifying = np.bincount(qualifying.lists, minlength=len(weights))
        counts = n_qualifying[n_qualifying > 0]  # `reduceat` has no maximum of an empty list
        largest = np.maximum.reduceat(asked_sums, offsets_of(counts)[:-1])
        which = (asked_sums == largest.repeat(counts)).nonzero()[0]
        term_sums = np.zeros(len(weights), dtype=np.float32)
        np.maximum.at(term_sums, qualifying.lists[which], sum_with_offered(which))

        # For each option: a lower bound of its best score, and what a sentence needs with each of
        # its terms.
        lower_bounds = np.zeros(len(block.option_question), dtype=np.float32)
        np.maximum.at(lower_bounds, block.entry_option, term_sums[entry_offered])
        question = block.option_question[block.entry_option]
        # The sums found may be a unit per asked term too large; the rest covers single precision.
        rounding = block.n_asked + (0.1 + 1e-6 * units)
        lighter_sums = block.lighter_weights * self._max_saturation * scale[question]
        demands = lower_bounds[block.entry_option] - lighter_sums - rounding[question]
        demand = np.full(len(weights), np.inf)
        np.minimum.at(demand, entry_offered, demands)

        # First a cheap test on the asked sums, with the most that an offered term can add; then
        # with what it adds.
        enough = np.clip(np.floor(demand - weights * self._max_saturation), 0, units)
        enough = enough.astype(asked_sums.dtype)
        which = (asked_sums >= enough.repeat(n_qualifying)).nonzero()[0]
        which = which[sum_with_offered(which) >= demand[qualifying.lists[which]]]
        return qualifying, qualifying.cells[which]

    def _sum_in_cells(
        self, block: SearchBlock
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.float64], int]:
        """Return what the asked terms add in the cells of the offered ones, the units per weight
        of 1, and the largest sum.
        """
        lists, n_terms = block.asked, block.n_asked
        # Usually one byte: 255 units are enough for 12 terms. A smaller type brings more cells into
        # the cache.
        dtype = np.min_scalar_type(_UNITS_PER_TERM * int(n_terms.max()))
        units = 256**dtype.itemsize - 1
        if dtype not in self._memory:
            self._memory[dtype] = np.zeros(self._n_cells, dtype=dtype)
        sums = self._memory[dtype]
        heaviest = block.asked_weights * self._max_saturation
        # Even if a sentence has all terms at their most, rounding up by one unit per term stays
        # within the type.
        scale = (units - n_terms - 1) / np.where(heaviest > 0, heaviest, 1)
        weights = (lists.terms.weights * scale[lists.terms.texts]).astype(np.float32)
        added = self._saturation.take(lists.all_codes(self._postings))
        added *= weights.repeat(lists.terms.lengths)
        added += 1  # the conversion to integers truncates: together they round up
        np.add.at(sums, lists.cells, added.astype(dtype))
        cell_sums = sums.take(block.offered.cells)
        sums[: block.n_cells] = 0  # the array is reused: clearing is cheaper than allocating
        return cell_sums, scale, units
