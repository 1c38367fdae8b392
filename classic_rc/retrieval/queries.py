"""Queries, and questions with options, as counts of index terms with weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.pairs import WordCounts, occurrences, word_counts
from classic_rc.kernels.search import ConstrainedQueries
from classic_rc.kernels.sentence_postings import Combine, QueryTerms
from classic_rc.retrieval.similarity import LuceneSimilarity
from classic_rc.text.analyzers import Analyzer
from classic_rc.text.encode import TextEncoder


class EncodedQueries(NamedTuple):
    """Texts as counts of index terms."""

    terms: list[str]  # all terms of the texts, in the order of first occurrence
    texts: WordCounts  # queries, or questions
    options: WordCounts
    option_question: NDArray[np.int64]  # (n_options,): each option's question, ascending

    @classmethod
    def of(
        cls,
        analyzer: Analyzer,
        texts: Sequence[str],
        options: Sequence[Sequence[str]] | None = None,
    ) -> EncodedQueries:
        """Encode queries, or questions with their options."""
        if options is None:
            options = [()] * len(texts)
        n_lists, n_texts = len(options), len(texts)
        if n_lists != n_texts:
            problem = (
                f"options must have one list per question, got {n_lists} lists for {n_texts} "
                "questions"
            )
            raise UsageError(problem, field="options", found=str(n_lists), expected=str(n_texts))
        encoder = TextEncoder(analyzer)
        questions = encoder.encode(texts)
        of_options = encoder.encode([text for option_texts in options for text in option_texts])
        terms = encoder.vocabulary
        n_words = max(len(terms), 1)  # of all texts
        question_counts = word_counts(*questions, n_words)
        option_counts = word_counts(*of_options, n_words)
        option_question = np.repeat(np.arange(n_texts), list(map(len, options)))
        return cls(terms, question_counts, option_counts, option_question)


class TermStatistics(NamedTuple):
    """What the index knows about the terms of texts, entry by entry."""

    lists: NDArray[np.int64]  # index of the posting list; -1 if no sentence has the term
    idfs: NDArray[np.float32]

    def of_words(self, counts: WordCounts) -> TermStatistics:
        """Expand facts about words to facts about the entries of texts."""
        return TermStatistics(self.lists[counts.words], self.idfs[counts.words])


def weigh(counts: WordCounts, facts: TermStatistics, similarity: LuceneSimilarity) -> QueryTerms:
    """Return the terms of queries that some sentence has, with their weights."""
    return _keep_known(counts, facts, similarity.weights(counts.counts, facts.idfs))


def weigh_constrained(
    queries: tuple[WordCounts, WordCounts, NDArray[np.int64]],
    question_facts: TermStatistics,
    option_facts: TermStatistics,
    similarity: LuceneSimilarity,
    firsts: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> ConstrainedQueries:
    """Return the terms of questions and options that some sentence has, with their weights.

    `queries` are the questions' terms, the options' terms, and each option's question; the facts
    are about their entries. For `firsts` and `sizes` see
    :class:`~classic_rc.kernels.search.ConstrainedQueries`.
    """
    questions, options, option_question = queries
    # The query is question + option: a term of both occurs as often as in both together.
    shared = occurrences(questions, option_question[options.texts], options.words)
    has_list, idfs = option_facts.lists >= 0, option_facts.idfs
    return ConstrainedQueries(
        weigh(questions, question_facts, similarity),
        _keep_known(options, option_facts, similarity.weights(options.counts + shared, idfs)),
        similarity.weights(shared, idfs)[has_list],
        option_question,
        firsts,
        sizes,
    )


def combine(
    counts: WordCounts, facts: TermStatistics, similarity: LuceneSimilarity
) -> Combine | None:
    """Return the function that turns sums of term scores into scores of queries, or None."""
    return similarity.combine(*_sum_terms(counts, facts))


def combine_constrained(
    queries: tuple[WordCounts, WordCounts, NDArray[np.int64]],
    question_facts: TermStatistics,
    option_facts: TermStatistics,
    similarity: LuceneSimilarity,
) -> Combine | None:
    """Return the function that turns sums of term scores into scores of questions with options,
    or None.
    """
    questions, options, option_question = queries
    question_counts, question_squares = _sum_terms(questions, question_facts)
    option_counts, option_squares = _sum_terms(options, option_facts)
    return similarity.combine(
        question_counts[option_question] + option_counts,
        question_squares[option_question] + option_squares,
    )


def _keep_known(
    counts: WordCounts, facts: TermStatistics, weights: NDArray[np.float32]
) -> QueryTerms:
    has_list = facts.lists >= 0
    return QueryTerms(
        counts.texts[has_list], facts.lists[has_list], counts.counts[has_list], weights[has_list]
    )


def _sum_terms(
    counts: WordCounts, facts: TermStatistics
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the number of terms of each text, and the sum of their squared idfs, both with
    repetitions.
    """
    n_texts, texts = len(counts.offsets) - 1, counts.texts
    squares = counts.counts * facts.idfs.astype(np.float64) ** 2
    n_terms = np.bincount(texts, counts.counts, n_texts).astype(np.int64)
    return n_terms, np.bincount(texts, squares, n_texts).astype(np.float64, copy=False)
