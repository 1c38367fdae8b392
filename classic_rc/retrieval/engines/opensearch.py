"""The engine for OpenSearch clusters: an index is created, filled, checked and searched, request by request."""

from __future__ import annotations

import hashlib
import math
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels.arrays import offsets_of
from classic_rc.retrieval.base import Best, Engine, Hits, QueryFacts, read_explanations
from classic_rc.retrieval.corpus import update_fingerprint
from classic_rc.retrieval.engines.opensearch_cluster import (
    INDEX_MARK,
    Access,
    Body,
    Cluster,
    bulk_batches,
    constrained_search,
    error_reason,
    index_body,
    is_temporary,
    msearch_body,
    query_search,
    run_in_order,
    similarity_of,
    term_search,
)
from classic_rc.retrieval.similarity import BM25, Similarity
from classic_rc.text.analyzers import Analyzer


class ClusterIndex:
    """One index of a cluster, by its name.

    If the cluster refuses a request, a method raises :class:`~classic_rc.errors.DataError` or
    :class:`~classic_rc.errors.UsageError`.

    Parameters
    ----------
    cluster : Cluster
    name : str
    """

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name = cluster, name

    def look(self) -> tuple[Body | None, Body] | None:
        """Return this package's note on the index and the index's settings, or None if there is no such index.

        The note is None if this package did not make the index.
        """
        answer = self.cluster.ask(lambda client: client.indices.get(index=self.name, ignore=404))
        if "error" in answer:
            return None
        (index,) = answer.values()
        return index["mappings"].get("_meta", {}).get(INDEX_MARK), index["settings"]["index"]

    def create(self, similarity: BM25, shards: int, note: Body) -> None:
        """Create the index, with a note that has the id of this build."""
        body = index_body(similarity, shards, note)
        try:
            self.cluster.ask(lambda client: client.indices.create(index=self.name, body=body))
        except DataError as error:
            # If the answer to the first attempt was lost, the second one finds the index of the first.
            if "resource_already_exists" not in str(error):
                raise
            self._check_build(note)

    def delete(self) -> None:
        """Delete the index and its content."""
        self.cluster.ask(lambda client: client.indices.delete(index=self.name, ignore=404))

    def add(self, first: int, documents: list[bytes]) -> int:
        """Index a batch of sentences, numbered from `first`, and return how many they are."""

        def send(some: list[bytes]) -> list[Body]:
            body, wanted = b"".join(some), "items.*.status,items.*.error"
            answer = self.cluster.ask(lambda client: client.bulk(index=self.name, body=body, filter_path=wanted))
            return [item["create"] for item in answer["items"]]

        answers = self.cluster.ask_for_each(documents, send, lambda answer: is_temporary(answer["status"]))
        for number, answer in enumerate(answers, first):
            # 409, a conflict: the sentence had arrived, but the answer was lost.
            if answer["status"] not in (201, 409):
                self.refuse(f"sentence {number} was rejected", found=error_reason(answer))
        return len(documents)

    def finish(self, count: int, replicas: int, note: Body) -> None:
        """Make the added sentences searchable and close the index to writes."""
        self.cluster.ask(lambda client: client.indices.refresh(index=self.name))
        self.check_count(count)
        self._check_build(note)
        settings = {"index": {"refresh_interval": None, "number_of_replicas": replicas, "blocks.write": True}}
        self.cluster.ask(lambda client: client.indices.put_settings(index=self.name, body=settings))
        mapping = {"_meta": {INDEX_MARK: note}}
        self.cluster.ask(lambda client: client.indices.put_mapping(index=self.name, body=mapping))

    def check_count(self, expected: int) -> None:
        """Raise an error unless the index has this many sentences."""
        answer = self.cluster.ask(lambda client: client.count(index=self.name))
        failed = answer["_shards"]["failed"]
        if failed or answer["count"] != expected:
            found = f"{answer['count']:,}" + (f", and {failed} failed shards" if failed else "")
            self.refuse("the index does not have all of its sentences", found=found, expected=f"{expected:,}")

    def _check_build(self, note: Body) -> None:
        found = self.look()
        if found is None or (found[0] or {}).get("build") != note["build"]:
            self.refuse("another client has created an index of this name in the meantime")

    def search(self, searches: list[Body]) -> list[list[Body]]:
        """Return the hits of each search, scored with the statistics of all shards together."""

        def send(some: list[Body]) -> list[Body]:
            body, how = msearch_body(some), "dfs_query_then_fetch"
            answer = self.cluster.ask(lambda client: client.msearch(index=self.name, body=body, search_type=how))
            return list(answer["responses"])

        answers = self.cluster.ask_for_each(searches, send, _is_unfinished)
        for answer in answers:
            if "error" in answer:
                self.refuse("a search failed", found=error_reason(answer))
            if _is_unfinished(answer):
                shards = answer["_shards"]
                failed = f"{shards['failed']} of {shards['total']} shards failed"
                found = "a timeout on the cluster" if answer["timed_out"] else failed
                self.refuse("a search returned a partial result, which is not used", found=found)
        return [answer["hits"]["hits"] for answer in answers]

    def text(self, number: int) -> str:
        """Return the text of a sentence."""
        answer = self.cluster.ask(lambda client: client.get(index=self.name, id=str(number), ignore=404))
        if not answer.get("found"):
            self.refuse(f"sentence {number} is missing")
        return str(answer["_source"]["text"])

    def terms(self, text: str) -> list[str]:
        """Return the index terms of a text, in order."""
        body = {"field": "text", "text": text}
        answer = self.cluster.ask(lambda client: client.indices.analyze(index=self.name, body=body))
        return [token["token"] for token in answer["tokens"]]

    def refuse(self, problem: str, **facts: str) -> NoReturn:
        """Raise a :class:`~classic_rc.errors.DataError` that names this index."""
        raise DataError(problem, source=f"{self.cluster.name}/{self.name}", **facts)


def _is_unfinished(answer: dict[str, Any]) -> bool:
    """Whether a search should be repeated: its answer is incomplete or a temporary error."""
    if "error" in answer:
        return is_temporary(answer["status"])
    return bool(answer["timed_out"] or answer["_shards"]["failed"])


_FORMAT = 1
_SEARCHES_PER_REQUEST, _HITS_PER_REQUEST = 256, 10_000
_WORK_PER_REQUEST = 10**9
"""Searches times sentences per request: a few seconds of one processor, well before a timeout."""

_MAX_HITS = 10_000
"""The most hits that a cluster returns: the default of ``index.max_result_window``."""


class OpenSearch(Engine):
    """Sentences in an index of an OpenSearch cluster, which searches and scores them.

    Scores are the cluster's own, from the statistics of all shards together (``dfs_query_then_fetch``). From
    release 3 on they equal Lucene's. Earlier releases give ``k1 + 1`` times as much: the order is the same, but
    thresholds are not. The address and the credentials come from environment variables: see
    :class:`~classic_rc.retrieval.engines.opensearch_cluster.Access`. The engine connects on first use.

    Parameters
    ----------
    index_name : str
        The index on the cluster: lower-case letters, digits, ``-``, ``_`` and ``.``.
    similarity : str or Similarity, default="bm25"
    analyzer : str or Analyzer, default="lucene-english"
        The only value: it is the cluster's ``english`` analyzer.
    shards : int, default=1
        The number of parts of the index.
    replicas : int, default=0
        The number of copies of each shard, made when all sentences are indexed.
    overwrite : bool, default=False
        Whether to replace a finished index of this name. An index that this package did not make is never replaced.
    timeout : float, default=60
        Timeout of one request, in seconds.
    retries : int, default=6
        How often a request is repeated that the cluster refused for the moment or whose connection was lost.
    threads : int, default=4
        How many requests run in parallel.

    Raises
    ------
    UsageError
        A parameter has a wrong type or value.
    """

    name = "opensearch"
    description = "An index on an OpenSearch cluster, for corpora that outgrow one machine."
    citation = "OpenSearch (opensearch.org), on Lucene's BM25Similarity and EnglishAnalyzer."
    similarities: ClassVar[tuple[str, ...]] = ("bm25",)

    def __init__(
        self,
        index_name: str,
        *,
        similarity: str | Similarity | None = None,
        analyzer: str | Analyzer = "lucene-english",
        shards: int = 1,
        replicas: int = 0,
        overwrite: bool = False,
        timeout: float = 60.0,
        retries: int = 6,
        threads: int = 4,
    ) -> None:
        super().__init__(similarity=similarity, analyzer=analyzer)
        if self.analyzer.signature != "lucene-english":
            raise UsageError(
                f"engine opensearch has only the analyzer 'lucene-english', got {str(self.analyzer)!r}",
                field="analyzer",
                found=str(self.analyzer),
                expected="lucene-english",
            )
        # A pattern, or names with commas, could mean several indexes, other people's included.
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,254}", index_name):
            allowed = "lower-case letters, digits, '-', '_' and '.'"
            raise UsageError(
                f"index_name must consist of {allowed}, got {index_name!r}",
                field="index_name",
                found=index_name,
                expected=allowed,
            )
        least = {"shards": (shards, 1), "replicas": (replicas, 0), "retries": (retries, 0), "threads": (threads, 1)}
        for parameter, (value, minimum) in least.items():
            _check_integer(parameter, value, minimum)
        if not (isinstance(timeout, int | float) and 0 < timeout < math.inf):
            raise UsageError(
                f"timeout must be a positive number of seconds, got {timeout!r}",
                field="timeout",
                found=str(timeout),
                expected="a positive number of seconds",
            )
        self.index_name, self.shards, self.replicas, self.overwrite = index_name, shards, replicas, overwrite
        self.timeout, self.retries, self.threads = timeout, retries, threads
        self._is_read_only = False
        self._connected: ClusterIndex | None = None
        self._release: str | None = None
        self._note: Body | None = None  # this package's note on the finished index
        self._texts: dict[int, str] | None = None  # texts of hits, while best_among_top needs them

    @classmethod
    def open(cls, index_name: str, *, timeout: float = 60.0, retries: int = 6, threads: int = 4) -> Self:
        """Return a read-only engine over an index that this package made.

        Raises
        ------
        DataError
            The index does not exist, was not made by this package, is unfinished, or has lost sentences.
        """
        engine = cls(index_name, timeout=timeout, retries=retries, threads=threads)
        index = engine._index
        note, settings = index.look() or index.refuse("no such index")
        if note is None:
            index.refuse("the index was not made by classic_rc")
        if note["format"] != _FORMAT or "sentences" not in note:
            index.refuse("the index is unfinished or from another release", hint="Build it again")
        index.check_count(note["sentences"])
        engine.similarity = similarity_of(settings)
        engine.shards, engine.replicas = int(settings["number_of_shards"]), int(settings["number_of_replicas"])
        engine._note, engine._is_read_only = note, True
        return engine

    def __getstate__(self) -> dict[str, Any]:
        # Another process makes its own connection, so no password is pickled.
        return {**self.__dict__, "_connected": None}

    @property
    def _index(self) -> ClusterIndex:
        if self._connected is None:
            access = Access.from_environment()
            cluster = Cluster(access, timeout=self.timeout, retries=self.retries, connections=self.threads)
            self._connected, self._release = ClusterIndex(cluster, self.index_name), cluster.release
        return self._connected

    @property
    def signature(self) -> str:
        """The signature of every engine, plus the cluster's release once it is known: scores differ by release."""
        return ":".join(filter(None, (super().signature, self._release)))

    @property
    def fingerprint(self) -> str:
        """Hex sha256 of the sentences, as in :class:`~classic_rc.retrieval.corpus.Corpus`."""
        return str(self._read_note("fingerprint"))

    @property
    def n_sentences(self) -> int:
        """The number of indexed sentences, including those without an index term."""
        return int(self._read_note("sentences"))

    def _read_note(self, key: str) -> Any:
        if self._note is None:
            raise NotFittedError(
                "engine opensearch has no sentences: call index(sentences) or OpenSearch.open(index_name)"
            )
        return self._note[key]

    def index(self, sentences: Iterable[str]) -> Self:
        """Send the sentences to a new index, about 4 MB per request.

        At most ``2 * threads + 1`` requests are in memory. An interrupted build stays unfinished on the cluster: it
        cannot be opened, and the next build replaces it. A finished index is write-protected.

        Raises
        ------
        UsageError
            The engine was opened read-only, or an index of this name exists and may not be replaced.
        DataError
            The cluster refuses a sentence, or does not have all sentences in the end.
        """
        if self._is_read_only:
            raise UsageError(
                f"index {self.index_name!r} was opened read-only", field="index_name", found=self.index_name
            )
        assert isinstance(self.similarity, BM25)
        self._delete_replaceable()
        note: Body = {"format": _FORMAT, "build": uuid.uuid4().hex}
        self._index.create(self.similarity, self.shards, note)
        digest = hashlib.sha256()
        batches = bulk_batches(_hash_while_reading(sentences, digest))
        count = sum(run_in_order(lambda batch: self._index.add(*batch), batches, self.threads))
        note |= {"sentences": count, "fingerprint": digest.hexdigest()}
        self._index.finish(count, self.replicas, note)
        self._note = note
        return self

    def _delete_replaceable(self) -> None:
        """Delete an index of the same name, if that is allowed."""
        found = self._index.look()
        if found is None:
            return
        note, _ = found
        if note is None:
            raise UsageError(
                f"index {self.index_name!r} exists and was not made by classic_rc: choose another name",
                field="index_name",
                found=self.index_name,
            )
        is_own = self._note is not None and self._note["build"] == note["build"]
        if "sentences" in note and not (is_own or self.overwrite):
            raise UsageError(
                f"index {self.index_name!r} already exists, with {note['sentences']:,} sentences: open it, choose "
                "another name, or set overwrite=True",
                field="overwrite",
                found=str(self.overwrite),
                expected="True",
            )
        self._note = None
        self._index.delete()

    def sentence(self, number: int) -> str:
        """Return the text of a sentence; each call is one request."""
        self._check_number(number)
        if self._texts is not None and number in self._texts:
            return self._texts[number]
        return self._index.text(number)

    def _check_number(self, number: int) -> None:
        if not 0 <= number < self.n_sentences:
            raise IndexError(f"there are {self.n_sentences} sentences, numbered from 0: got {number}")

    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Return for each query up to `k` best sentences (k <= 10,000) that share an index term with it."""
        _check_integer("k", k, 1, _MAX_HITS)
        with_text = self._texts is not None
        found = list(self._search((query_search(query, k, with_text=with_text) for query in queries), k))
        hits = [hit for own in found for hit in own]
        return Hits(
            np.array([number for number, _ in hits], dtype=np.int64),
            np.array([score for _, score in hits], dtype=np.float32),
            offsets_of(np.array([len(own) for own in found], dtype=np.int64)),
        )

    def best_constrained(self, questions: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        """Return the best sentence for each option with an index term of the question and one of the option."""
        pairs = [(q, option) for q, own in zip(questions, options, strict=True) for option in own]
        sentences = np.full(len(pairs), -1, dtype=np.int64)
        scores = np.zeros(len(pairs), dtype=np.float32)
        searches = (constrained_search(question, option) for question, option in pairs)
        for row, hits in enumerate(self._search(searches)):
            if hits:
                sentences[row], scores[row] = hits[0]
        return Best(sentences, scores, offsets_of(np.array([len(own) for own in options], dtype=np.int64)))

    def best_among_top(
        self, questions: Sequence[str], options: Sequence[Sequence[str]], depth: int, overlap: str | Analyzer
    ) -> Best:
        """See :meth:`Engine.best_among_top`; the hits come with their texts, which saves a request per sentence."""
        self._texts = {}
        try:
            return super().best_among_top(questions, options, depth, overlap)
        finally:
            self._texts = None

    def term_facts(self, query: str, sentence: int) -> QueryFacts:
        """See :meth:`Engine.term_facts`. Each term is one search; a server without explanations tells no counts."""
        self._check_number(sentence)
        counts = Counter(self._index.terms(query))
        searches = [term_search(term, count, sentence) for term, count in counts.items()]
        found = zip(counts.items(), self._index.search(searches) if searches else (), strict=True)
        explained = [
            (*of_query, hit.get("_explanation", {}) | {"value": hit["sort"][0]})
            for of_query, hits in found
            for hit in hits
        ]
        return read_explanations(explained, self.n_sentences)

    def _search(self, searches: Iterable[Body], k: int = 1) -> Iterator[list[tuple[int, float]]]:
        """Yield the hits of each search, as pairs of number and score, in the order of the searches."""
        waiting, work = iter(searches), max(1, self.n_sentences)
        size = max(1, min(_SEARCHES_PER_REQUEST, _HITS_PER_REQUEST // k, _WORK_PER_REQUEST // work))
        batches = iter(lambda: list(islice(waiting, size)), [])
        for found in run_in_order(self._index.search, batches, self.threads):
            yield from ([self._parse_hit(hit) for hit in hits] for hits in found)

    def _parse_hit(self, hit: Body) -> tuple[int, float]:
        score, number = hit["sort"]
        if self._texts is not None and "_source" in hit:
            self._texts[number] = hit["_source"]["text"]
        return number, score


def _check_integer(parameter: str, value: Any, minimum: int, maximum: int | None = None) -> None:
    fits = isinstance(value, int) and not isinstance(value, bool)
    if not (fits and minimum <= value and (maximum is None or value <= maximum)):
        bounds = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum:,}"
        expected = f"an integer {bounds}"
        raise UsageError(
            f"{parameter} must be {expected}, got {value!r}", field=parameter, found=str(value), expected=expected
        )


def _hash_while_reading(sentences: Iterable[str], digest: hashlib._Hash) -> Iterator[str]:
    for sentence in sentences:
        update_fingerprint(digest, sentence)
        yield sentence
