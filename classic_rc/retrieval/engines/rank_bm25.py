"""Textbook BM25 from the package rank_bm25, for teaching and comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import MissingPackageError, UsageError
from classic_rc.kernels.arrays import offsets_of
from classic_rc.retrieval.base import Best, Engine, Hits, QueryFacts, TermFacts
from classic_rc.retrieval.similarity import Okapi, Similarity
from classic_rc.text.analyzers import Analyzer


class RankBM25(Engine):
    """``rank_bm25.BM25Okapi``: each query is scored against every sentence, in a Python loop over its terms.

    A term in half of the sentences has weight 0. A term in more of them gets a share of the mean idf, which may be
    negative: with few sentences, such as those of a passage, scores can be zero or less. This engine is never a
    default.

    Parameters
    ----------
    similarity : str or Similarity, optional
        ``"okapi"``, with any constants.
    analyzer : str or Analyzer

    Examples
    --------
    >>> engine = RankBM25().index(["The fox sleeps.", "A fox ate grapes.", "Hens run.", "It rains."])
    >>> engine.top(["a fox with grapes"], k=1).sentences
    array([1])
    >>> engine.top(["a fox"]).scores
    array([0., 0.], dtype=float32)
    """

    name = "rank-bm25"
    description = "Textbook BM25 from the package rank_bm25, for teaching: slow, and scores may be negative."
    citation = "Robertson et al. 1994, Okapi at TREC-3; Brown 2020, rank_bm25, BM25Okapi."
    similarities: ClassVar[tuple[str, ...]] = ("okapi",)
    similarity: Okapi

    def __init__(
        self, *, similarity: str | Similarity | None = None, analyzer: str | Analyzer = "lucene-english"
    ) -> None:
        super().__init__(similarity=similarity, analyzer=analyzer)
        self._set_sentences([])

    def index(self, sentences: Iterable[str]) -> Self:
        """Index sentences, which are iterated once. They replace any that were indexed before.

        Raises
        ------
        MissingPackageError
            The package rank_bm25 is not installed.
        """
        self._set_sentences(list(sentences))
        return self

    @property
    def n_sentences(self) -> int:
        """The number of indexed sentences, including those without an index term."""
        return len(self._sentences)

    def sentence(self, number: int) -> str:
        """Return the text of a sentence."""
        if not 0 <= number < self.n_sentences:
            raise IndexError(f"there are {self.n_sentences} sentences, numbered from 0: got {number}")
        return self._sentences[number]

    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Return up to `k` best sentences for each query, among those that share an index term with it."""
        if k < 1:
            raise UsageError(f"k must be a positive number of hits, got {k!r}", field="k", found=str(k))
        found = []
        for query in queries:
            terms = self.analyzer.analyze(query)
            numbers = np.flatnonzero(self._sentences_with_any(terms))
            scores = self._scores(terms)[numbers]
            best = np.lexsort((numbers, -scores))[:k]
            found.append((numbers[best], scores[best]))
        numbers, scores = (np.concatenate(column) for column in zip(_NO_HITS, *found, strict=True))
        return Hits(numbers, scores, offsets_of(np.array([len(own) for own, _ in found], dtype=np.int64)))

    def best_constrained(self, questions: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        """Return the best sentence for each option with an index term of the question and one of the option."""
        best = []
        for question, own in zip(questions, options, strict=True):
            question_terms = self.analyzer.analyze(question)
            for option in own:
                option_terms = self.analyzer.analyze(option)
                numbers = np.flatnonzero(
                    self._sentences_with_any(question_terms) & self._sentences_with_any(option_terms)
                )
                scores = self._scores(question_terms + option_terms)[numbers]
                best.append((numbers[scores.argmax()], scores.max()) if len(numbers) else (-1, 0))
        sentences = np.array([number for number, _ in best], dtype=np.int64)
        scores = np.array([score for _, score in best], dtype=np.float32)
        return Best(sentences, scores, offsets_of(np.array([len(own) for own in options], dtype=np.int64)))

    def term_facts(self, query: str, sentence: int) -> QueryFacts:
        """See :meth:`Engine.term_facts`."""
        self.sentence(sentence)  # raises IndexError for an unknown number
        if self._bm25 is None:
            return QueryFacts([], self.n_sentences, 0, 0, 0)
        counts = self._bm25.doc_freqs  # of each sentence, its terms
        facts = [
            TermFacts(
                term,
                boost,
                float(self._bm25.get_scores([term] * boost)[sentence]),
                counts[sentence][term],
                sum(term in own for own in counts),
                float(self._bm25.idf[term]),
            )
            for term, boost in Counter(self.analyzer.analyze(query)).items()
            if term in counts[sentence]
        ]
        lengths = self._bm25.doc_len
        return QueryFacts(facts, self.n_sentences, sum(map(bool, counts)), sum(lengths), lengths[sentence])

    def _set_sentences(self, sentences: list[str]) -> None:
        self._sentences = sentences
        self._bm25: Any = None
        documents = [self.analyzer.analyze(sentence) for sentence in sentences]
        if any(documents):
            self._bm25 = _import_okapi()(documents, **_constants(self.similarity))

    def _sentences_with_any(self, terms: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the sentences that have one of the terms."""
        wanted = set(terms)
        if self._bm25 is None:
            return np.zeros(self.n_sentences, dtype=np.bool_)
        return np.array([not wanted.isdisjoint(counts) for counts in self._bm25.doc_freqs], dtype=np.bool_)

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float32]:
        if self._bm25 is None:
            return np.zeros(self.n_sentences, dtype=np.float32)
        return np.asarray(self._bm25.get_scores(terms)).astype(np.float32)


_NO_HITS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)


def _constants(similarity: Okapi) -> dict[str, float]:
    return {"k1": similarity.k1, "b": similarity.b, "epsilon": similarity.epsilon}


def _import_okapi() -> Any:
    try:
        from rank_bm25 import BM25Okapi
    except ImportError:
        raise MissingPackageError("rank-bm25", needed_for="the engine rank-bm25") from None
    return BM25Okapi
