"""The engine for Apache Lucene in Java: it writes indexes in the order of the sentences and
reads existing ones.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels.bm25 import byte4_lengths
from classic_rc.retrieval.base import (
    Best,
    BuildReport,
    Engine,
    Hits,
    QueryFacts,
    check_depth,
    check_sentences,
    read_explanations,
)
from classic_rc.retrieval.engines.jvm import (
    java_cast,
    java_class,
    java_errors,
    start_java,
    to_java_text,
)
from classic_rc.retrieval.similarity import BM25, Similarity

FIELD = "contents"
"""The field in which Anserini stores the terms."""

_RAW = "raw"
"""The field in which Anserini stores the original document, if configured to: mostly JSON."""

_BUFFER_MB = 64.0


def english_analyzer() -> Any:
    """Return Lucene's EnglishAnalyzer."""
    return java_class("org.apache.lucene.analysis.en.EnglishAnalyzer")()


def open_directory(folder: str | None) -> Any:
    """Return Lucene's directory for a folder, which is created if missing, or a directory in
    memory.
    """
    if folder is None:
        return java_class("org.apache.lucene.store.ByteBuffersDirectory")()
    path = java_class("java.io.File")(folder).toPath()
    return java_class("org.apache.lucene.store.FSDirectory").open(path)


def write_index(directory: Any, sentences: Iterable[str]) -> None:
    """Write an index in which a sentence's number is its document's number; on any error nothing
    is written.
    """
    config = java_class("org.apache.lucene.index.IndexWriterConfig")(english_analyzer())
    config.setOpenMode(java_class("org.apache.lucene.index.IndexWriterConfig$OpenMode").CREATE)
    config.setRAMBufferSizeMB(_BUFFER_MB)
    # Lucene's default policy merges segments that are not adjacent, which would change the order of
    # documents.
    config.setMergePolicy(java_class("org.apache.lucene.index.LogDocMergePolicy")())
    writer = java_class("org.apache.lucene.index.IndexWriter")(directory, config)
    try:
        stored = java_class("org.apache.lucene.document.Field$Store").YES
        field = java_class("org.apache.lucene.document.TextField")(FIELD, "", stored)
        document = java_class("org.apache.lucene.document.Document")()
        document.add(field)
        for sentence in sentences:
            field.setStringValue(to_java_text(sentence))
            writer.addDocument(document)
        writer.forceMerge(1)
    except BaseException:
        writer.rollback()
        raise
    writer.close()


def open_reader(directory: Any, field: str, source: str | None) -> Any:
    """Open an index, which must have the field. Nothing is written or locked."""
    reader = java_class("org.apache.lucene.index.DirectoryReader")
    if not reader.indexExists(directory):
        raise DataError("no Lucene index in this folder", source=source)
    opened = reader.open(directory)
    names = sorted(
        java_class("org.apache.lucene.index.FieldInfos").getIndexedFields(opened).toArray()
    )
    if field not in names and opened.maxDoc():
        opened.close()
        raise DataError(
            "not indexed", source=source, field=field, expected=" or ".join(map(repr, names))
        )
    return opened


class TextSource(NamedTuple):
    """Where an index has the texts of its documents."""

    field: str  # a stored field
    # If it has JSON, the members whose texts are joined; all but the last one may be missing.
    members: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.field}[{', '.join(self.members)}]" if self.members else self.field

    def read(self, stored: str) -> str | None:
        """Return the text in what the field has, or None."""
        if not self.members:
            return stored
        try:
            document = json.loads(stored)
        except ValueError:
            return None
        if not isinstance(document, dict) or not isinstance(document.get(self.members[-1]), str):
            return None
        texts = (document.get(name) for name in self.members)
        return "\n".join(text for text in texts if isinstance(text, str) and text)


_HEAD = ("url", "title", "headings")
_MEMBERS = (
    *((), ("contents",), ("text",), ("title", "text"), ("passage",)),
    *((*_HEAD, "passage"), (*_HEAD, "body"), (*_HEAD, "segment")),
)
"""The members of the JSON in ``raw`` that Anserini indexes (JsonCollection, BEIR, MS MARCO)."""

_N_EXAMINED, _N_PROVEN = 1_000, 20
"""Among how many documents some that are not deleted are chosen, and how many at most have to show
that their terms are those of their texts.
"""

_NO_TEXTS = "Searches do not need them; Anserini stores them with -storeRaw"
_OTHER_TERMS = (
    "Either it has another analyzer than lucene-english, and searches find little, or it has the "
    "terms of other parts of its documents"
)

_BATCH = 1_000


def stored_texts(reader: Any, numbers: Sequence[int], field: str) -> list[str | None]:
    """Return what a field of documents stores: the first value of each, or None."""
    # Lucene 9.5 introduced storedFields(); Lucene 10 removed document() from the reader.
    documents = reader.storedFields() if hasattr(reader, "storedFields") else reader
    return [documents.document(number).get(field) for number in numbers]


def read_field(reader: Any, field: str) -> Iterator[tuple[int, str | None]]:
    """Yield the number of each document that is not deleted, and what a field of it stores.

    It decompresses each block of documents once, as Lucene's merges do, and returns many texts
    from one call of Java: 7 microseconds a document instead of 55.
    """
    visitor_class = java_class("org.apache.lucene.document.DocumentStoredFieldVisitor")
    names = java_class("java.util.Collections").singleton(field)
    for leaf in reader.leaves().toArray():
        segment = java_cast("org.apache.lucene.index.CodecReader", leaf.reader())
        first = leaf.docBase
        merging_reader = segment.getFieldsReader().getMergeInstance()
        fields = java_cast("org.apache.lucene.codecs.StoredFieldsReader", merging_reader)
        visit = fields.document if hasattr(fields, "document") else fields.visitDocument
        live = segment.getLiveDocs()
        for start in range(0, segment.maxDoc(), _BATCH):
            stop = min(start + _BATCH, segment.maxDoc())
            batch = [number for number in range(start, stop) if live is None or live.get(number)]
            visitor = visitor_class(names)
            for number in batch:
                visit(number, visitor)
            numbers = [first + number for number in batch]
            texts = visitor.getDocument().getValues(field)
            if len(texts) != len(numbers):  # a document has none, or several
                texts = stored_texts(reader, numbers, field)
            yield from zip(numbers, texts, strict=True)


_NO_HIT = (-1, 0.0)


class LuceneSearcher:
    """Searches one field of an open index."""

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
        # A query may be as long as a passage, beyond Lucene's default limit. Lucene 9 moved the
        # setter.
        limited = searcher
        if not hasattr(searcher, "setMaxClauseCount"):
            limited = java_class("org.apache.lucene.search.BooleanQuery")
        limited.setMaxClauseCount(2**31 - 1)

    def best(self, text: str, k: int) -> list[tuple[int, float]]:
        """Return up to `k` best documents that share a term with `text`, and their scores."""
        query = self._parse(text)
        return [] if query is None else self._run(query, k)

    def search_constrained_queries(
        self, question: str, options: Sequence[str]
    ) -> Iterator[tuple[int, float]]:
        """Yield for each option the best document with a term of both sides, and its score, or
        (-1, 0).
        """
        of_question = self._parse(question)
        for option in options:
            of_option = None if of_question is None else self._parse(option)
            if of_option is None:
                yield _NO_HIT
                continue
            # Both sides are filters and one joint query scores. Two scoring sides would be rounded
            # separately.
            query = self._builder()
            query.add(self._parse(f"{question} {option}"), self._must)
            query.add(of_question, self._filter)
            query.add(of_option, self._filter)
            yield next(iter(self._run(query.build(), 1)), _NO_HIT)

    def count_terms(self, text: str) -> Counter[str]:
        """Return how often `text` has each of its terms."""
        query = self._parse(text)
        # The query's string is its terms, separated by blanks; no term has a blank.
        return Counter([] if query is None else query.toString(self._field).split(" "))

    def explanations(self, text: str, document: int) -> list[tuple[str, int, dict[str, Any]]]:
        """Return the terms of `text` that the document has, their counts in `text`, and what
        each adds.
        """
        term = java_class("org.apache.lucene.index.Term")
        term_query = java_class("org.apache.lucene.search.TermQuery")
        boosted = java_class("org.apache.lucene.search.BoostQuery")
        explanations = []
        for word, count in self.count_terms(text).items():
            weighted = boosted(term_query(term(self._field, word)), float(count))
            explanation = self._searcher.explain(weighted, document)
            if explanation.isMatch():
                explanations.append((word, count, _to_plain(explanation)))
        return explanations

    def _parse(self, text: str) -> Any:
        """The query that any term of `text` satisfies; None if the text has no term."""
        return self._parser.createBooleanQuery(self._field, to_java_text(text))

    def _run(self, query: Any, k: int) -> list[tuple[int, float]]:
        return [(hit.doc, hit.score) for hit in self._searcher.search(query, k).scoreDocs]


_READABLE_RELEASES = "Lucene reads indexes of its own release and of the one before"


class Lucene(Engine):
    """Apache Lucene, release 8 or later: its analyzer, its index, its scores.

    It scores with ``bm25`` only: since release 7 Lucene's ClassicSimilarity has neither
    coordination nor query norm, so it no longer gives the scores of ``classic``. Java starts on
    first use, in the process that uses it, and does not survive a fork; worker processes must be
    spawned.

    The jars may be pyserini's, but its searcher is not used: it rounds scores to 1e-4 and then
    changes equal ones to make them differ. This engine returns Lucene's own scores.

    Parameters
    ----------
    similarity : str or Similarity, default="bm25"
    analyzer : str or Analyzer
        ``"lucene-english"``, Lucene's own EnglishAnalyzer, is the only value.
    place : str or path, optional
        A new or empty folder for the index; None keeps the index in memory.
    """

    name = "lucene"
    description = "Apache Lucene itself, in Java."
    citation = "Apache Lucene 8 and 9: EnglishAnalyzer, BM25Similarity."
    similarities: ClassVar[tuple[str, ...]] = ("bm25",)
    analyzers: ClassVar[tuple[str, ...]] = ("lucene-english",)
    stored_as = "a folder that Lucene or Anserini built"
    similarity: BM25
    _field = FIELD
    _is_read_only = False
    _reader: Any = None
    _text_source: TextSource | None = None

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        *,
        similarity: str | Similarity | None = None,
        field: str = FIELD,
    ) -> Self:
        """Open an index of Lucene or Anserini. Nothing is written or locked.

        Each document counts as a sentence, whatever it contains. Its text is what `field` stores,
        else what the field ``raw`` stores, or the members of the JSON there that Anserini indexes:
        the first of these whose terms are the indexed ones in 20 documents. Otherwise the index
        counts as one without texts. Queries are analyzed by the EnglishAnalyzer, as Anserini's
        indexes usually are; in an index with other terms they find little.
        """
        engine = cls(similarity=similarity, place=place)
        engine._field, engine._is_read_only = field, True
        if not os.path.isdir(place):  # Lucene would create it
            raise DataError("no such folder", source=str(place))
        with java_errors("read this index", engine.place, hint=_READABLE_RELEASES):
            engine._read(open_directory(engine.place))
        return engine

    @classmethod
    def recognises(cls, place: str) -> bool:
        """See :meth:`Engine.recognises`."""
        return os.path.isdir(place) and any(Path(place).glob("segments_*"))

    def index(self, sentences: Iterable[str]) -> Self:
        """Index sentences, which are iterated once. They replace any that were indexed before.

        After an interruption the old content is still there.
        """
        if self._is_read_only or (self._reader is None and _has_content(self.place)):
            problem = (
                f"{self.place} is not empty: open it with Lucene.open, or choose a new folder for "
                "the index"
            )
            raise UsageError(
                problem, field="place", found=str(self.place), expected="a new or empty folder"
            )
        with java_errors("write the index", self.place):
            directory = open_directory(self.place)
            write_index(directory, check_sentences(sentences))
            self.close()
            self._read(directory)
            self._text_source = TextSource(self._field)
        return self

    def close(self) -> None:
        """Close the index and its files."""
        if self._reader is not None:
            start_java()
            self._reader.close()
            self._reader = None

    @classmethod
    def check(cls, place: str) -> str:
        """Compare the files of an index with their checksums, and return a line about it."""
        engine = cls.open(place)
        with java_errors("verify this index", engine.place):
            for leaf in engine._reader.leaves().toArray():
                leaf.reader().checkIntegrity()
        return engine._report().summary

    def _report(self) -> BuildReport:
        try:
            texts = f"texts in {self._find_texts()}"
        except DataError as error:
            texts = f"no texts ({error.problem})"
        return BuildReport(f"{super()._report().summary}; {texts}")

    @property
    def fingerprint(self) -> str:
        """A hash of the commit file of the folder, which lists all other files with their ids."""
        if self.place is None:
            return super().fingerprint
        digest = hashlib.sha256()
        for file in sorted(Path(self.place).glob("segments_*")):
            digest.update(file.read_bytes())
        return digest.hexdigest()

    @property
    def n_sentences(self) -> int:
        """The number of indexed sentences, including those without an index term.

        For an opened index it is the number of documents ever numbered, deleted ones included.
        """
        return self._ready().maxDoc()

    def sentence(self, number: int) -> str:
        """Return the text of a sentence."""
        self.check_number(number)
        source = self._find_texts()
        with java_errors("read a document", self.place):
            (stored,) = stored_texts(self._reader, [int(number)], source.field)
        return self._read_text(source, number, stored)

    def sentences(self) -> Iterator[str]:
        """See :meth:`Engine.sentences`; deleted documents have an empty text."""
        source, expected = self._find_texts(), 0
        with java_errors("read the documents", self.place):
            for number, stored in read_field(self._reader, source.field):
                yield from [""] * (number - expected)
                yield self._read_text(source, number, stored)
                expected = number + 1
        yield from [""] * (self.n_sentences - expected)

    def _read_text(self, source: TextSource, number: int, stored: str | None) -> str:
        text = None if stored is None else source.read(stored)
        if text is None:
            raise DataError(
                "the index does not store the text",
                source=self.place,
                where=f"document {number}",
                expected=f"a text in {source}",
            )
        return text

    def _find_texts(self) -> TextSource:
        """Return where the texts are, after a comparison of some of them with the indexed terms."""
        self._ready()
        if self._text_source is None:
            n_documents = self.n_sentences
            spread = np.linspace(0, n_documents - 1, min(n_documents, _N_EXAMINED)).astype(int)
            live = java_class("org.apache.lucene.index.MultiBits").getLiveDocs(self._reader)
            numbers = [number for number in spread.tolist() if live is None or live.get(number)]
            self._text_source = self._prove_texts(numbers[:: -(-len(numbers) // _N_PROVEN) or 1])
        return self._text_source

    def _prove_texts(self, numbers: Sequence[int]) -> TextSource:
        """Return the first source whose texts have the terms of documents."""
        problem, hint = "the index does not store its texts", _NO_TEXTS
        for field in (self._field, _RAW):
            with java_errors("read documents", self.place):
                texts = stored_texts(self._reader, numbers, field)
            stored = {n: text for n, text in zip(numbers, texts, strict=True) if text is not None}
            for members in _MEMBERS if stored else ():
                source = TextSource(field, members)
                read = {number: source.read(text) for number, text in stored.items()}
                if any(read.values()) and all(map(self._has_terms_of, read, read.values())):
                    return source
                problem = f"what the index stores in {field!r} has other terms than {self._field!r}"
                hint = _OTHER_TERMS
        raise DataError(problem, source=self.place, hint=hint)

    def _has_terms_of(self, number: int, text: str | None) -> bool:
        """Return whether a document has the terms of a text, each as often, and no others."""
        if text is None:
            return False
        counts = self._searcher.count_terms(text)
        facts = self.term_facts(text, number)
        if counts != {fact.term: fact.frequency for fact in facts.terms}:
            return False
        # Lucene rounds lengths to what one byte holds.
        length = int(byte4_lengths(np.array([counts.total()]))[0])
        return not counts or facts.length == length

    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Return up to `k` best sentences for each query, among those that share an index term
        with it.
        """
        check_depth(k)
        self._ready()
        with java_errors("search", self.place):
            return Hits.of(self._searcher.best(query, k) for query in queries)

    def best_constrained(self, questions: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        """Return the best sentence for each option with an index term of the question and one of
        the option.
        """
        self._ready()
        search = self._searcher.search_constrained_queries
        pairs = zip(questions, options, strict=True)
        with java_errors("search", self.place):
            return Best.of(list(search(question, texts)) for question, texts in pairs)

    def term_facts(self, query: str, sentence: int) -> QueryFacts:
        """See :meth:`Engine.term_facts`."""
        self.check_number(sentence)
        with java_errors("search", self.place):
            return read_explanations(
                self._searcher.explanations(query, int(sentence)), self.n_sentences
            )

    def __reduce__(self) -> tuple[Any, ...]:
        if self._reader is not None and self.place is None:
            problem = (
                "a Lucene index in memory cannot be pickled: create engine lucene with a folder"
            )
            raise UsageError(problem, field="place", found="None")
        return _restore, (
            type(self),
            self.place,
            self._field,
            self.similarity,
            self._reader is not None,
        )

    def _read(self, directory: Any) -> None:
        self._text_source = None
        self._reader = open_reader(directory, self._field, self.place)
        self._searcher = LuceneSearcher(self._reader, self._field, self.similarity)

    def _ready(self) -> Any:
        """The reader of the index that is open in this process."""
        if self._reader is None:
            raise NotFittedError(
                "engine lucene has no index: call index(sentences) or Lucene.open(folder)"
            )
        start_java()
        return self._reader


def _to_plain(explanation: Any) -> dict[str, Any]:
    """Return an explanation of Lucene in the form of OpenSearch's JSON."""
    details = [_to_plain(detail) for detail in explanation.getDetails()]
    value = explanation.getValue().doubleValue()
    return {"description": str(explanation.getDescription()), "value": value, "details": details}


def _has_content(folder: str | None) -> bool:
    """Whether the folder has more than the lock file that an interrupted writer leaves."""
    if folder is None or not os.path.exists(folder):
        return False
    if not os.path.isdir(folder):
        return True
    return any(name != "write.lock" for name in os.listdir(folder))


def _restore(
    engine: type[Lucene], folder: str | None, field: str, similarity: Similarity, opened: bool
) -> Lucene:
    """Unpickle an engine in another process."""
    if opened and folder is not None:
        return engine.open(folder, field=field, similarity=similarity)
    return engine(similarity=similarity, place=folder)
