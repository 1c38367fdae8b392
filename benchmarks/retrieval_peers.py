"""Search engines behind one interface: each indexes sentences and answers two kinds of queries."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from classic_rc import __version__
from classic_rc.errors import ClassicRCError
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.building import build_index
from classic_rc.retrieval.engines.jvm import lucene_version, start_java
from classic_rc.retrieval.engines.lucene import Lucene
from classic_rc.retrieval.reading import TextFile
from classic_rc.retrieval.registry import open_corpus
from classic_rc.retrieval.sparse import Sparse

K = 10
"""The number of hits per query without the constraint."""

SIMILARITY = "bm25-lucene"
"""BM25 with k1 = 1.2 and b = 0.75, which FTS5 and tantivy do not let us change."""


class Batch(NamedTuple):
    """Questions and their options, as text and as index terms."""

    questions: list[str]
    options: list[list[str]]
    question_terms: list[list[str]]
    option_terms: list[list[list[str]]]

    def first(self, n: int) -> Batch:
        """Return the batch of the first `n` questions."""
        return Batch(
            self.questions[:n], self.options[:n], self.question_terms[:n], self.option_terms[:n]
        )

    @property
    def n_queries(self) -> int:
        return sum(map(len, self.options))

    def queries(self) -> list[str]:
        """Return the text of each query: question and option."""
        return [
            f"{q} {o}" for q, own in zip(self.questions, self.options, strict=True) for o in own
        ]

    def terms(self) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the terms of each query: those of the question and those of the option."""
        return (
            (q, o)
            for q, own in zip(self.question_terms, self.option_terms, strict=True)
            for o in own
        )


class Peer(ABC):
    """A search engine.

    Parameters
    ----------
    sentences : Path
        A file with one sentence per line: its text, or its index terms separated by blanks, as
        :attr:`reads` says.
    folder : Path
        An empty folder for the index.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    reads: ClassVar[str] = "terms"

    @abstractmethod
    def __init__(self, sentences: Path, folder: Path) -> None: ...

    @classmethod
    def missing(cls) -> str | None:
        """Return why the engine cannot run here, or None if it can."""
        return None if find_spec(cls.package) else f"the package {cls.package} is not installed"

    @classmethod
    def release(cls) -> str:
        """Return the name and version of the measured package."""
        return f"{cls.package} {version(cls.package)}"

    @abstractmethod
    def top(self, batch: Batch) -> Sequence[Sequence[int]]:
        """Return the indices of the :data:`K` best sentences of each query."""

    @abstractmethod
    def constrained(self, batch: Batch) -> Sequence[int]:
        """Return the index of each query's best sentence that has a term of question and option,
        or -1.
        """

    def prepare(self, batch: Batch) -> None:  # noqa: B027  most have nothing to do
        """Prepare for a batch; this is not timed."""


class _Own(Peer):
    """An engine of this package; it gets plain text."""

    reads = "text"
    package = "classic_rc"
    engine: Engine

    @classmethod
    def release(cls) -> str:
        return f"classic_rc {__version__}"  # of this checkout, not of what is installed

    def top(self, batch: Batch) -> Sequence[Sequence[int]]:
        return [sentences.tolist() for sentences, _ in self.engine.top(batch.queries(), K)]

    def constrained(self, batch: Batch) -> Sequence[int]:
        return self.engine.best_constrained(batch.questions, batch.options).sentences.tolist()


class SparsePeer(_Own):
    """The default engine with its index in memory."""

    name = "sparse"

    def __init__(self, sentences: Path, folder: Path) -> None:
        self.engine = Sparse(similarity=SIMILARITY).index(_lines(sentences))


class IndexFolder(_Own):
    """The default engine over an index folder."""

    name = "sparse (index folder)"

    def __init__(self, sentences: Path, folder: Path) -> None:
        self.folder = folder
        build_index([TextFile(str(sentences))], folder)
        self.engine = open_corpus(folder, similarity=SIMILARITY).engine


class LucenePeer(_Own):
    """Lucene in this process with its index in a folder."""

    name = "Lucene (pyjnius)"

    def __init__(self, sentences: Path, folder: Path) -> None:
        self.engine = Lucene(similarity=SIMILARITY, place=folder).index(_lines(sentences))

    def prepare(self, batch: Batch) -> None:
        for _ in range(5):  # the JVM compiles code that has run often
            self.constrained(batch)
            self.top(batch)

    @classmethod
    def missing(cls) -> str | None:
        try:
            start_java()
        except ClassicRCError as error:
            return str(error)
        return None

    @classmethod
    def release(cls) -> str:
        return f"Lucene {lucene_version()}"


class Tantivy(Peer):
    """tantivy with its index in memory and in one segment, as fast as its Python package allows."""

    name = package = "tantivy"

    tokenizer = "blanks"

    def __init__(self, sentences: Path, folder: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("terms", tokenizer_name=self.tokenizer, index_option="freq")
        self._schema = builder.build()
        index = tantivy.Index(self._schema)
        blanks = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        index.register_tokenizer("blanks", blanks)
        writer = index.writer(heap_size=2**30, num_threads=1)
        for line in _lines(sentences):
            document = tantivy.Document()
            document.add_text("terms", line)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()
        assert self._searcher.num_segments == 1  # so that document numbers are sentence numbers

    def _any(self, terms: Iterable[str]) -> Any:
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        return query.boolean_query(
            [(should, query.term_query(self._schema, "terms", t, "freq")) for t in terms]
        )

    def _run(self, query: Any, k: int) -> list[int]:
        # Counting all hits, the default, would visit every hit.
        return [address.doc for _, address in self._searcher.search(query, k, count=False).hits]

    def top(self, batch: Batch) -> Sequence[Sequence[int]]:
        return [self._run(self._any(question + option), K) for question, option in batch.terms()]

    def constrained(self, batch: Batch) -> Sequence[int]:
        query, must = self._tantivy.Query, self._tantivy.Occur.Must
        found = (
            self._run(
                query.boolean_query([(must, self._any(question)), (must, self._any(option))]), 1
            )
            for question, option in batch.terms()
        )
        return [next(iter(hits), -1) for hits in found]


class FTS5(Peer):
    """SQLite's full-text search with its index, without the texts, in a file."""

    name = "SQLite FTS5"
    package = "sqlite3"

    def __init__(self, sentences: Path, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "fts5.db")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA cache_size = -1000000")
        self._database.execute(
            "CREATE VIRTUAL TABLE sentences USING fts5(terms, content='', "
            f"tokenize={_quoted(self.tokenizer(), chr(34))})"
        )
        rows = ((i, line) for i, line in enumerate(_lines(sentences)))
        self._database.executemany("INSERT INTO sentences(rowid, terms) VALUES (?, ?)", rows)
        self._database.execute("INSERT INTO sentences(sentences) VALUES ('optimize')")
        self._database.commit()

    @classmethod
    def release(cls) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    @staticmethod
    def tokenizer() -> str:
        # Terms have no blanks, so every other character in them is part of a word.
        kept = "".join(
            chr(i) for i in (*range(33, 127), *range(160, 0x3000)) if not chr(i).isalnum()
        )
        return f"unicode61 remove_diacritics 0 tokenchars {_quoted(kept, chr(39))}"

    def _run(self, query: str, k: int) -> list[int]:
        found = self._database.execute(
            "SELECT rowid FROM sentences WHERE sentences MATCH ? ORDER BY rank LIMIT ?", (query, k)
        )
        return [number for (number,) in found]

    @staticmethod
    def _any(terms: Iterable[str]) -> str:
        return " OR ".join(_quoted(term, '"') for term in terms)

    def top(self, batch: Batch) -> Sequence[Sequence[int]]:
        return [self._run(self._any(question + option), K) for question, option in batch.terms()]

    def constrained(self, batch: Batch) -> Sequence[int]:
        found = (self._run(f"({self._any(q)}) AND ({self._any(o)})", 1) for q, o in batch.terms())
        return [next(iter(hits), -1) for hits in found]


def _lines(path: Path) -> Iterator[str]:
    with open(path, encoding="utf-8", newline="\n") as file:
        yield from (line.rstrip("\n") for line in file)


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace(quote, quote + quote) + quote


class RankBM25(Peer):
    """rank_bm25, which scores every sentence in Python."""

    name, package = "rank-bm25", "rank_bm25"

    def __init__(self, sentences: Path, folder: Path) -> None:
        from rank_bm25 import BM25Okapi

        self._index = BM25Okapi([line.split() for line in _lines(sentences)], k1=1.2, b=0.75)

    def top(self, batch: Batch) -> Sequence[Sequence[int]]:
        scores = (self._index.get_scores(question + option) for question, option in batch.terms())
        return [np.argpartition(-own, K)[:K].tolist() for own in scores]

    def constrained(self, batch: Batch) -> Sequence[int]:
        best, sentences = [], self._index.doc_freqs
        for question, option in batch.terms():
            met = [
                not (s.keys().isdisjoint(question) or s.keys().isdisjoint(option))
                for s in sentences
            ]
            scores = np.where(met, self._index.get_scores(question + option), -np.inf)
            best.append(int(scores.argmax()) if any(met) else -1)
        return best


class BM25S(Peer):
    """bm25s, which adds up scores that it computed for all postings when it indexed."""

    name, package = "bm25s (numpy)", "bm25s"
    backend = "numpy"

    def __init__(self, sentences: Path, folder: Path) -> None:
        import bm25s

        self._index = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend=self.backend)
        self._index.index(self.tokens(_lines(sentences)), show_progress=False)
        self._weights = np.zeros(self._index.scores["num_docs"], dtype=np.float32)

    @staticmethod
    def tokens(lines: Iterable[str]) -> Any:
        return [line.split() for line in lines]

    def _having(self, terms: list[str]) -> np.ndarray:
        """Return which sentences have one of the terms."""
        scores = self._index.scores
        found = np.zeros(len(self._weights), dtype=bool)
        for i in self._index.get_tokens_ids(terms):
            found[scores["indices"][slice(*scores["indptr"][i : i + 2])]] = True
        return found

    def _retrieve(
        self, queries: list[list[str]], k: int, weights: np.ndarray | None = None
    ) -> np.ndarray:
        k = min(k, len(self._weights))
        return self._index.retrieve(
            queries, k=k, show_progress=False, weight_mask=weights
        ).documents

    def top(self, batch: Batch) -> Sequence[Sequence[int]]:
        return self._retrieve([question + option for question, option in batch.terms()], K).tolist()

    def constrained(self, batch: Batch) -> Sequence[int]:
        best = []
        for question, option in batch.terms():
            sentences = np.flatnonzero(self._having(question) & self._having(option))
            self._weights[sentences] = 1
            found = self._retrieve([question + option], 1, self._weights)
            self._weights[sentences] = 0
            best.append(int(found[0, 0]) if len(sentences) else -1)
        return best


class BM25SNumba(BM25S):
    """bm25s with its compiled Numba backend."""

    name, backend = "bm25s (numba)", "numba"

    @classmethod
    def missing(cls) -> str | None:
        return super().missing() or (
            None if find_spec("numba") else "the package numba is not installed"
        )

    @classmethod
    def release(cls) -> str:
        return f"numba {version('numba')}"


PEERS: tuple[type[Peer], ...] = (
    SparsePeer,
    IndexFolder,
    Tantivy,
    LucenePeer,
    BM25SNumba,
    BM25S,
    FTS5,
    RankBM25,
)
