"""Searches each passage as a collection of its own: the best of its sentences for each
candidate, dataset-wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.pairs import WordCounts, word_counts
from classic_rc.kernels.search import best_constrained
from classic_rc.kernels.sentence_postings import SentencePostings
from classic_rc.questions import Question
from classic_rc.retrieval.base import Best
from classic_rc.retrieval.queries import TermStatistics, combine_constrained, weigh_constrained
from classic_rc.retrieval.similarity import CollectionStatistics, LuceneSimilarity
from classic_rc.text.analyzers import Analyzer
from classic_rc.text.encode import encode_sentences
from classic_rc.text.encoded import EncodedSentences

_BLOCK_TOKENS = 2**16


def best_in_passages(
    questions: Sequence[Question], similarity: LuceneSimilarity, analyzer: Analyzer
) -> Best:
    """Return for each candidate the best sentence of its passage with an index term of it and one
    of the question.

    The result equals, to the bit, an engine ``sparse`` over only the passage's sentences: the
    number of sentences, frequencies and mean length are the passage's. Sentences are numbered
    within their passage, in the order of :func:`~classic_rc.text.sentences.passage_sentences`.
    """
    encoded = encode_sentences(questions, analyzer)
    sentences, scores = best_of_sentences(encoded, similarity)
    ordered = encoded.dataset.scores(scores.astype(np.float64), sentences >= 0)
    numbers = encoded.dataset.scores(sentences.astype(np.float64), sentences >= 0).values
    return Best(numbers.astype(np.int64), ordered.values.astype(np.float32), ordered.offsets)


def best_of_sentences(
    encoded: EncodedSentences, similarity: LuceneSimilarity
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return for each candidate of the arrays the best sentence of its passage, numbered within it,
    and its score.

    Where no sentence qualifies they are -1 and 0.
    """
    arrays = encoded.dataset.arrays
    n_candidates = len(arrays.candidate_question)
    sentences = np.full(n_candidates, -1, dtype=np.int64)
    scores = np.zeros(n_candidates, dtype=np.float32)
    for where, block in arrays.blocks(_BLOCK_TOKENS):
        passage = int(arrays.question_passage[arrays.candidate_question[where.start]])
        bounds = encoded.passage_offsets[passage : passage + len(block.passage_offsets)]
        lengths = np.diff(encoded.offsets[bounds[0] : bounds[-1] + 1])
        collections = _Collections.of(block, lengths, bounds - bounds[0], similarity)
        sentences[where], scores[where] = collections.search(block, similarity)
    return sentences, scores


class _Collections(NamedTuple):
    """The sentences of some passages, with separate statistics for each passage.

    A *run* is one word of one passage; it plays the role of a term.
    """

    firsts: NDArray[np.int64]  # (n_passages + 1,): where each passage's sentences start
    statistics: CollectionStatistics  # arrays of shape (n_passages,)
    run_keys: NDArray[np.int64]  # (n_runs,): `passage * n_words + word`, ascending
    postings: SentencePostings  # of the runs; every posting has a code of its own

    @classmethod
    def of(
        cls,
        arrays: TokenArrays,
        lengths: NDArray[np.int64],
        firsts: NDArray[np.int64],
        similarity: LuceneSimilarity,
    ) -> _Collections:
        n_passages = len(firsts) - 1
        n_sentences = np.diff(firsts)
        passage = np.repeat(np.arange(n_passages), n_sentences)
        n_with_terms = np.bincount(passage, lengths > 0, n_passages).astype(np.int64)
        n_tokens = np.bincount(passage, lengths, n_passages).astype(np.int64)
        statistics = CollectionStatistics(n_sentences, n_with_terms, n_tokens)

        sentence = np.repeat(np.arange(len(lengths)), lengths)
        # (passage, word, sentence) in one int64: one sort of integers instead of three columns.
        bits = len(lengths).bit_length()
        keys = ((passage[sentence] * arrays.n_words + arrays.passage_tokens) << bits) | sentence
        keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        counts, keys = np.diff(starts, append=len(keys)), keys[starts]
        sentence, runs = keys & ((1 << bits) - 1), keys >> bits
        starts = np.flatnonzero(np.diff(runs, prepend=-1))
        collections = statistics.of(passage[sentence])
        postings = SentencePostings(
            np.append(starts, len(runs)),
            sentence.astype(np.int32),
            np.arange(len(runs), dtype=np.uint32),
            counts.astype(np.float32),
            similarity.length_factors(lengths[sentence], collections),
        )
        return cls(firsts, statistics, runs[starts], postings)

    def search(
        self, arrays: TokenArrays, similarity: LuceneSimilarity
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return for each candidate the best sentence of its passage, numbered within it, and
        its score.
        """
        passage_of_option = arrays.question_passage[arrays.candidate_question]
        questions = word_counts(arrays.question_tokens, arrays.question_offsets, arrays.n_words)
        options = word_counts(arrays.candidate_tokens, arrays.candidate_offsets, arrays.n_words)
        queries = questions, options, arrays.candidate_question
        question_facts = self._term_facts(questions, arrays.question_passage, similarity)
        facts = question_facts, self._term_facts(options, passage_of_option, similarity)
        firsts = self.firsts[:-1][arrays.question_passage]
        sizes = np.diff(self.firsts)[arrays.question_passage]
        weighted = weigh_constrained(queries, *facts, similarity, firsts, sizes)
        to_scores = combine_constrained(queries, *facts, similarity)
        sentences, scores = best_constrained(
            self.postings, weighted, similarity.term_scores, to_scores
        )
        return np.where(sentences >= 0, sentences - self.firsts[passage_of_option], -1), scores

    def _term_facts(
        self, counts: WordCounts, passage_of_text: NDArray[np.int64], similarity: LuceneSimilarity
    ) -> TermStatistics:
        """Return the runs of texts' words in the texts' passages, and their idf there."""
        passage = passage_of_text[counts.texts]
        keys = passage * counts.n_words + counts.words
        n_runs = len(self.run_keys)
        runs = np.minimum(np.searchsorted(self.run_keys, keys), max(n_runs - 1, 0))
        is_indexed = self.run_keys[runs] == keys if n_runs else np.zeros(len(keys), dtype=np.bool_)
        frequencies = np.where(is_indexed, np.diff(self.postings.offsets, append=0)[runs], 0)
        idfs = similarity.idfs(self.statistics.of(passage), frequencies)
        return TermStatistics(np.where(is_indexed, runs, -1), idfs)
