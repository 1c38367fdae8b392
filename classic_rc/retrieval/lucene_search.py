"""Lucene's queries: built, run and explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from classic_rc.retrieval.jvm import java_class, java_text
from classic_rc.retrieval.lucene_index import english_analyzer
from classic_rc.retrieval.similarity import BM25

_NOTHING = (-1, 0.0)


class LuceneSearcher:
    """Searches one field of an open index.

    Parameters
    ----------
    reader : Java object
        The index.
    field : str
    similarity : BM25
    """

    def __init__(self, reader: Any, field: str, similarity: BM25) -> None:
        self._field = field
        searcher = java_class("org.apache.lucene.search.IndexSearcher")
        self._searcher = searcher(reader, signature="(Lorg/apache/lucene/index/IndexReader;)V")
        bm25 = java_class("org.apache.lucene.search.similarities.BM25Similarity")
        self._searcher.setSimilarity(bm25(similarity.k1, similarity.b))
        self._parser = java_class("org.apache.lucene.util.QueryBuilder")(english_analyzer())
        self._builder = java_class("org.apache.lucene.search.BooleanQuery$Builder")
        occur = java_class("org.apache.lucene.search.BooleanClause$Occur")
        self._must, self._filter = occur.MUST, occur.FILTER
        # A query may be as long as a passage. The limit moved in Lucene 9.
        limited = searcher
        if not hasattr(searcher, "setMaxClauseCount"):
            limited = java_class("org.apache.lucene.search.BooleanQuery")
        limited.setMaxClauseCount(2**31 - 1)

    def best(self, text: str, k: int) -> list[tuple[int, float]]:
        """The `k` best documents that share a term with `text`, and their scores."""
        query = self._parse(text)
        return [] if query is None else self._run(query, k)

    def best_of_both(self, question: str, options: Sequence[str]) -> Iterator[tuple[int, float]]:
        """For each option the best document with a term of both sides, and its score; -1 and 0 for none."""
        of_question = self._parse(question)
        for option in options:
            of_option = None if of_question is None else self._parse(option)
            if of_option is None:
                yield _NOTHING
                continue
            # Both sides filter and one query scores: would each side score, their sums were rounded apart.
            query = self._builder()
            query.add(self._parse(f"{question} {option}"), self._must)
            query.add(of_question, self._filter)
            query.add(of_option, self._filter)
            yield next(iter(self._run(query.build(), 1)), _NOTHING)

    def shares(self, text: str, document: int) -> list[tuple[str, float]]:
        """The terms of `text` that the document has, and what each adds to its score."""
        term = java_class("org.apache.lucene.index.Term")
        term_query = java_class("org.apache.lucene.search.TermQuery")
        boosted = java_class("org.apache.lucene.search.BoostQuery")
        query = self._parse(text)
        # No term has a blank in it.
        words = [] if query is None else query.toString(self._field).split(" ")
        shares = []
        for word in dict.fromkeys(words):
            weighted = boosted(term_query(term(self._field, word)), float(words.count(word)))
            explanation = self._searcher.explain(weighted, document)
            if explanation.isMatch():
                shares.append((word, explanation.getValue().floatValue()))
        return shares

    def _parse(self, text: str) -> Any:
        """The query that any term of `text` satisfies; None where it has no term."""
        return self._parser.createBooleanQuery(self._field, java_text(text))

    def _run(self, query: Any, k: int) -> list[tuple[int, float]]:
        return [(hit.doc, hit.score) for hit in self._searcher.search(query, k).scoreDocs]
