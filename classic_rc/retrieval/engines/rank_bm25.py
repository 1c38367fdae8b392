"""Textbook BM25 from the package rank_bm25, for teaching and comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np

from classic_rc.errors import MissingPackageError
from classic_rc.retrieval.base import (
    Engine,
    Hits,
    QueryFacts,
    TermFacts,
    check_depth,
    check_sentences,
)
from classic_rc.retrieval.similarity import Okapi


class RankBM25(Engine):
    """``rank_bm25.BM25Okapi``: each query is scored against every sentence, in a Python loop over
    its terms.

    A term in half of the sentences has weight 0. A term in more of them gets a share of the mean
    idf, which may be negative: with few sentences, such as those of a passage, scores can be zero
    or less. This engine is never a default.

    Parameters
    ----------
    similarity : str or Similarity, optional
        ``"okapi"``, with any constants.
    analyzer : str or Analyzer

    Examples
    --------
    >>> engine = RankBM25().index(
    ...     ["The fox sleeps.", "A fox ate grapes.", "Hens run.", "It rains."]
    ... )
    >>> engine.top(["a fox with grapes"], k=1).sentences
    array([1])
    >>> engine.top(["a fox"]).scores
    array([0., 0.], dtype=float32)
    """

    name = "rank-bm25"
    description = (
        "Textbook BM25 from the package rank_bm25, for teaching: slow, and scores may be negative."
    )
    citation = "Robertson et al. 1994, Okapi at TREC-3; Brown 2020, rank_bm25, BM25Okapi."
    similarities: ClassVar[tuple[str, ...]] = ("okapi",)
    similarity: Okapi

    _sentences: Sequence[str] = ()
    _bm25: Any = None

    def index(self, sentences: Iterable[str]) -> Self:
        """Index sentences, which are iterated once. They replace any that were indexed before."""
        self._sentences, self._bm25 = list(check_sentences(sentences)), None
        documents = [self.analyzer.analyze(sentence) for sentence in self._sentences]
        if any(documents):
            try:
                from rank_bm25 import BM25Okapi
            except ImportError:
                raise MissingPackageError("rank-bm25", needed_for="the engine rank-bm25") from None
            self._bm25 = BM25Okapi(documents, **asdict(self.similarity))
        return self

    @property
    def n_sentences(self) -> int:
        """The number of indexed sentences, including those without an index term."""
        return len(self._sentences)

    def sentence(self, number: int) -> str:
        """Return the text of a sentence."""
        self.check_number(number)
        return self._sentences[number]

    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Return up to `k` best sentences for each query, among those that share an index term
        with it.
        """
        check_depth(k)
        return Hits.of(self._search(query, k) for query in queries)

    def _search(self, query: str, k: int) -> list[tuple[int, float]]:
        terms = self.analyzer.analyze(query)
        if self._bm25 is None:
            return []
        query_terms = set(terms)
        shares_term = [not query_terms.isdisjoint(counts) for counts in self._bm25.doc_freqs]
        numbers = np.flatnonzero(shares_term)
        scores = self._bm25.get_scores(terms)[numbers].astype(np.float32)
        best = np.lexsort((numbers, -scores))[:k]
        return list(zip(numbers[best].tolist(), scores[best].tolist(), strict=True))

    def term_facts(self, query: str, sentence: int) -> QueryFacts:
        """See :meth:`Engine.term_facts`."""
        self.check_number(sentence)
        if self._bm25 is None:
            return QueryFacts([], self.n_sentences, 0, 0, 0)
        counts = self._bm25.doc_freqs  # of each sentence, its terms
        facts = []
        for term, boost in Counter(self.analyzer.analyze(query)).items():
            if term in counts[sentence]:
                share = float(self._bm25.get_scores([term] * boost)[sentence])
                n_with_term = sum(term in sentence_terms for sentence_terms in counts)
                frequency, idf = counts[sentence][term], float(self._bm25.idf[term])
                facts.append(TermFacts(term, boost, share, frequency, n_with_term, idf))
        lengths, n_with_terms = self._bm25.doc_len, sum(map(bool, counts))
        return QueryFacts(facts, self.n_sentences, n_with_terms, sum(lengths), lengths[sentence])
