"""Lucene's indexes: written in the order of the sentences, and read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels.arrays import offsets_of
from classic_rc.retrieval.base import Best, Engine, Hits
from classic_rc.retrieval.engines.jvm import java_class, java_errors, java_text, start_java
from classic_rc.retrieval.similarity import BM25, Similarity, get_similarity
from classic_rc.text.analyzers import Analyzer, get_analyzer

FIELD = "contents"
"""Where Anserini has the terms."""

_RAW = "raw"
"""Where Anserini keeps a document as it came, if it was told to."""

_BUFFER_MB = 64.0


def english_analyzer() -> Any:
    """Lucene's EnglishAnalyzer."""
    return java_class("org.apache.lucene.analysis.en.EnglishAnalyzer")()


def open_directory(folder: Path | None) -> Any:
    """Lucene's directory of a folder, which is made where there is none, or one in memory."""
    if folder is None:
        return java_class("org.apache.lucene.store.ByteBuffersDirectory")()
    path = java_class("java.io.File")(str(folder)).toPath()
    return java_class("org.apache.lucene.store.FSDirectory").open(path)


def write_index(directory: Any, sentences: Iterable[str]) -> None:
    """Write an index in which a sentence's number is its document's; on any error nothing is kept."""
    config = java_class("org.apache.lucene.index.IndexWriterConfig")(english_analyzer())
    config.setOpenMode(java_class("org.apache.lucene.index.IndexWriterConfig$OpenMode").CREATE)
    config.setRAMBufferSizeMB(_BUFFER_MB)
    # Lucene's usual policy merges segments that are not neighbours, which changes the order of documents.
    config.setMergePolicy(java_class("org.apache.lucene.index.LogDocMergePolicy")())
    writer = java_class("org.apache.lucene.index.IndexWriter")(directory, config)
    try:
        stored = java_class("org.apache.lucene.document.Field$Store").YES
        field = java_class("org.apache.lucene.document.TextField")(FIELD, "", stored)
        document = java_class("org.apache.lucene.document.Document")()
        document.add(field)
        for sentence in sentences:
            field.setStringValue(java_text(sentence))
            writer.addDocument(document)
        writer.forceMerge(1)
    except BaseException:
        writer.rollback()
        raise
    writer.close()


def open_reader(directory: Any, field: str, source: str | None) -> Any:
    """Open an index, which must have the field; neither writes nor locks.

    Raises
    ------
    DataError
        The directory holds no index, or no document has the field.
    """
    reader = java_class("org.apache.lucene.index.DirectoryReader")
    if not reader.indexExists(directory):
        raise DataError("no index of Lucene in this folder", source=source)
    opened = reader.open(directory)
    names = sorted(java_class("org.apache.lucene.index.FieldInfos").getIndexedFields(opened).toArray())
    if field not in names and opened.maxDoc():
        opened.close()
        raise DataError(
            "no such field is indexed", source=source, field=field, expected=" or ".join(map(repr, names))
        )
    return opened


def stored_text(reader: Any, number: int, field: str) -> str | None:
    """The text of a document: what `field` keeps, else what ``raw`` does; None where neither is kept."""
    # Lucene 9.5 gave stored fields an object of their own, Lucene 10 took them from the reader.
    document = (reader.storedFields() if hasattr(reader, "storedFields") else reader).document(number)
    return next((text for text in (document.get(name) for name in (field, _RAW)) if text is not None), None)


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


_READABLE = "Lucene reads indexes of its own release and of the one before"


class Lucene(Engine):
    """Apache Lucene, release 8 or later: its analyzer, its index, its scores.

    It scores ``bm25`` alone: since release 7 Lucene's ClassicSimilarity has neither coordination nor query
    norm, and so no longer gives the scores that ``classic`` stands for. Java starts with the first use, in the
    process that uses it, and does not survive a fork; worker processes must be spawned.

    The jars may be pyserini's, but its searcher is not used: that rounds scores to 1e-4 and then sets equal ones
    apart, where this engine gives Lucene's own.

    Parameters
    ----------
    similarity : str or Similarity, default="bm25"
    analyzer : str or Analyzer
        Lucene's own EnglishAnalyzer, which goes by the name ``"lucene-english"``; there is no other.
    folder : str or path, optional
        A folder for the index, empty or new; None keeps it in memory.

    Raises
    ------
    UsageError
        Another similarity or analyzer.

    See Also
    --------
    Lucene.open : reads an index that stands already.
    """

    name = "lucene"
    description = "Apache Lucene itself, in Java."
    citation = "Apache Lucene 8 and 9: EnglishAnalyzer, BM25Similarity."
    similarities: ClassVar[tuple[str, ...]] = ("bm25",)

    def __init__(
        self,
        *,
        similarity: str | Similarity | None = None,
        analyzer: str | Analyzer = "lucene-english",
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if similarity is not None and get_similarity(similarity).name == "classic":
            raise UsageError(
                "engine lucene cannot score with 'classic': Lucene has neither coordination nor query norm "
                "since release 7; engine sparse has both"
            )
        super().__init__(similarity=similarity, analyzer=analyzer)
        if self.analyzer != get_analyzer("lucene-english"):
            raise UsageError(
                f"engine lucene analyzes with Lucene's own 'lucene-english', got analyzer {self.analyzer.spec!r}"
            )
        self.folder = None if folder is None else Path(folder)
        self._field = FIELD
        self._writable = True
        self._reader: Any = None

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        field: str = FIELD,
        similarity: str | Similarity | None = None,
    ) -> Self:
        """Open an index of Lucene or Anserini, of which nothing is written or locked.

        Its sentences are its documents, whatever they hold. The queries are analyzed by the EnglishAnalyzer, as
        Anserini's indexes usually are; an index of other terms finds little.

        Parameters
        ----------
        folder : str or path
        field : str, default="contents"
            The indexed field that is searched. A document's text is what this field stores, else what the
            field ``raw`` does.
        similarity : str or Similarity, default="bm25"

        Raises
        ------
        DataError
            No folder, no index in it, one of a release that these jars do not read, or no such field.
        """
        engine = cls(similarity=similarity, folder=folder)
        engine._field, engine._writable = field, False
        if not os.path.isdir(folder):  # Lucene would make it
            raise DataError("no such folder", source=str(folder))
        with java_errors("read this index", str(folder), hint=_READABLE):
            engine._read(open_directory(engine.folder))
        return engine

    def index(self, sentences: Iterable[str]) -> Self:
        """Index these sentences, which are read once, instead of any that were indexed before.

        An interruption leaves what was there.

        Raises
        ------
        UsageError
            A sentence is not a string; the folder holds something else, the index was opened, or Java's heap is
            full.
        DataError
            Lucene cannot write the folder.
        """
        if not self._writable or (self._reader is None and _holds_anything(self.folder)):
            raise UsageError(
                f"{self.folder} is not empty: Lucene.open reads it; name a new folder to write an index"
            )
        with java_errors("write the index", self._source):
            directory = open_directory(self.folder)
            write_index(directory, _strings(sentences))
            self.close()
            self._read(directory)
        return self

    def close(self) -> None:
        """Let go of the index and its files."""
        if self._reader is not None:
            start_java()
            self._reader.close()
            self._reader = None

    @property
    def n_sentences(self) -> int:
        """How many sentences are indexed; of an index that was opened, how many documents were ever numbered."""
        return self._ready().maxDoc()

    def sentence(self, number: int) -> str:
        """The text of a sentence.

        Raises
        ------
        IndexError
            No sentence has this number.
        DataError
            An index that was opened keeps no text of it.
        """
        self._check_number(number)
        with java_errors("read a document", self._source):
            text = stored_text(self._reader, int(number), self._field)
        if text is None:
            raise DataError("the index keeps no text", source=self._source, where=f"document {number}")
        return text

    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Of the sentences that share an index term with each query, the `k` best, or all if they are fewer."""
        if k < 1:
            raise UsageError(f"k must be a positive number of hits, got {k!r}")
        self._ready()
        with java_errors("search", self._source):
            found = [self._searcher.best(query, k) for query in queries]
        return Hits(*_arrays([hit for hits in found for hit in hits]), _offsets(found))

    def best_constrained(self, questions: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        """For each option the best sentence that has an index term of the question and one of the option."""
        self._ready()
        with java_errors("search", self._source):
            best = [
                hit
                for question, own in zip(questions, options, strict=True)
                for hit in self._searcher.best_of_both(question, own)
            ]
        return Best(*_arrays(best), _offsets(options))

    def term_scores(self, query: str, sentence: int) -> list[tuple[str, float]]:
        """What each index term of the query adds to the score of one sentence, in the order of the query."""
        self._check_number(sentence)
        with java_errors("search", self._source):
            return self._searcher.shares(query, int(sentence))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._reader is not None and self.folder is None:
            raise UsageError("a Lucene index in memory stays in its process: give engine lucene a folder")
        return _restored, (type(self), self.folder, self._field, self.similarity, self._reader is not None)

    @property
    def _source(self) -> str | None:
        return None if self.folder is None else str(self.folder)

    def _read(self, directory: Any) -> None:
        assert isinstance(self.similarity, BM25)
        self._reader = open_reader(directory, self._field, self._source)
        self._searcher = LuceneSearcher(self._reader, self._field, self.similarity)

    def _ready(self) -> Any:
        """The reader, of an index that is open in this process."""
        if self._reader is None:
            raise NotFittedError("engine lucene has no index: call index(sentences), or open one")
        start_java()
        return self._reader

    def _check_number(self, number: int) -> None:
        if not 0 <= number < self.n_sentences:
            raise IndexError(f"there are {self.n_sentences} sentences, numbered from 0: got {number}")


def _strings(sentences: Iterable[str]) -> Iterator[str]:
    if isinstance(sentences, str):
        raise UsageError("sentences must be a sequence of strings, got one string")
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise UsageError(f"sentence {number} must be a string, got {type(sentence).__name__}")
        yield sentence


def _arrays(hits: list[tuple[int, float]]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    sentences, scores = zip(*hits, strict=True) if hits else ((), ())
    return np.array(sentences, dtype=np.int64), np.array(scores, dtype=np.float32)


def _offsets(parts: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    return offsets_of(np.array([len(part) for part in parts], dtype=np.int64))


def _holds_anything(folder: Path | None) -> bool:
    """Whether there is more than the lock that an interrupted writer leaves."""
    if folder is None or not folder.exists():
        return False
    return not folder.is_dir() or any(path.name != "write.lock" for path in folder.iterdir())


def _restored(
    engine: type[Lucene], folder: Path | None, field: str, similarity: Similarity, opened: bool
) -> Lucene:
    """An engine in another process."""
    if opened and folder is not None:
        return engine.open(folder, field=field, similarity=similarity)
    return engine(similarity=similarity, folder=folder)
