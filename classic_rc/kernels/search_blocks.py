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

__all__ = ["ConstrainedQueries", "SearchBlock", "search_blocks"]


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


class SearchBlock(NamedTuple):
    """Some questions with what belongs to them, all numbered from 0.

    A *cell* is a sentence that is searched for one of the questions. An *asked* term is one of a question. An
    *offered* term is one that options of a question have, with one and the same weight. An *entry* is an offered
    term of an option.

    Parameters
    ----------
    options : slice
        The block's options among all.
    n_cells : int
    asked, offered : PostingLists
        Their texts are questions.
    n_asked : ndarray of int64, shape (n_questions,)
        How many asked terms each question has.
    asked_weights : ndarray of float64, shape (n_questions,)
        The sums of their weights.
    question_weights : ndarray of float32, shape (n_offered,)
        The weight of each offered term in the question alone.
    entry_option, entry_offered : ndarray of int64, shape (n_entries,)
        The option and the offered term of each entry; options never fall.
    lighter_weights : ndarray of float64, shape (n_entries,)
        What the weights of an option's lighter terms add to those in the question, in sum.
    option_question : ndarray of int64, shape (n_options,)
    """

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


def search_blocks(postings: SentencePostings, queries: ConstrainedQueries) -> Iterator[SearchBlock]:
    """All questions that have both asked and offered terms, a few at a time."""
    # What can be worked out for all questions at once is: with many sentences, blocks are single questions.
    options, n_questions = queries.options, len(queries.sizes)
    offered_terms, question_weights, entry_offered = _offered_terms(queries, len(postings.offsets))
    asked, offered = TermLists.of(queries.questions, postings), TermLists.of(offered_terms, postings)
    n_asked = np.bincount(asked.texts, minlength=n_questions)
    asked_weights = asked.sums(asked.weights, n_questions)
    lighter = _sums_of_lighter(options.texts, options.weights - queries.question_weights)
    numbers = np.arange(n_questions + 1)
    option_bounds = np.searchsorted(queries.option_question, numbers)
    bounds = np.column_stack(
        [
            np.searchsorted(asked.texts, numbers),
            np.searchsorted(offered.texts, numbers),
            np.searchsorted(options.texts, option_bounds),
            option_bounds,
        ]
    ).tolist()
    loads = queries.sizes + sum(t.sums(t.lengths, n_questions).astype(np.int64) for t in (asked, offered))
    for first, last in runs_of(loads, BLOCK):
        a, o, e, x = (slice(start, stop) for start, stop in zip(bounds[first], bounds[last], strict=True))
        if a.start == a.stop or o.start == o.stop:
            continue
        cells = offsets_of(queries.sizes[first:last])
        shifts = cells[:-1] - queries.firsts[first:last]
        yield SearchBlock(
            x,
            int(cells[-1]),
            PostingLists.read(postings, asked.part(a, first), shifts),
            PostingLists.read(postings, offered.part(o, first), shifts),
            n_asked[first:last],
            asked_weights[first:last],
            question_weights[o],
            options.texts[e] - x.start,
            entry_offered[e] - o.start,
            lighter[e],
            queries.option_question[x] - first,
        )


def _offered_terms(
    queries: ConstrainedQueries, n_terms: int
) -> tuple[QueryTerms, NDArray[np.float32], NDArray[np.int64]]:
    """The offered terms, their weights in the question alone, and which of them each of the options' terms is."""
    options = queries.options
    question = queries.option_question[options.texts]
    keys = (question * n_terms + options.terms) * (int(options.boosts.max(initial=0)) + 1) + options.boosts
    _, entry, offered = np.unique(keys, return_index=True, return_inverse=True)
    terms = QueryTerms(question[entry], *(column[entry] for column in options[1:]))
    return terms, queries.question_weights[entry], offered.reshape(-1)


def _sums_of_lighter(options: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each entry, the sum of the weights of its option's lighter ones; of equals the earlier is lighter."""
    order = np.lexsort((weights, options))
    total = np.concatenate(([0.0], np.cumsum(weights[order], dtype=np.float64)))
    sums = np.empty(len(weights))
    sums[order] = total[:-1] - total[np.searchsorted(options, options[order])]
    return sums
