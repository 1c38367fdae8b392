"""Questions with options as they are searched for: a few at a time, with the posting lists of their terms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.sentence_postings import (
    BLOCK,
    PostingLists,
    QueryTerms,
    SentencePostings,
    TermLists,
    runs_of,
)


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

    def blocks(self) -> Iterator[SearchBlock]:
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
        for first, last in runs_of(loads, BLOCK):
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
