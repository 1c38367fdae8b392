"""The engine for OpenSearch clusters: an index is created, filled, checked and searched, request
by request.
"""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar, NoReturn, Self

from classic_rc.errors import DataError, NotFittedError, UsageError, wrong_value
from classic_rc.parameters import is_integer, is_number
from classic_rc.retrieval.base import (
    Best,
    Engine,
    Hits,
    QueryFacts,
    check_depth,
    check_sentences,
    read_explanations,
)
from classic_rc.retrieval.engines.opensearch_cluster import (
    INDEX_MARK,
    TEMPORARY,
    Access,
    Body,
    Cluster,
    constrained_search,
    create_action,
    error_reason,
    index_body,
    msearch_body,
    query_search,
    similarity_of,
    term_search,
    texts_search,
)
from classic_rc.retrieval.similarity import BM25, Similarity, get_similarity
from classic_rc.retrieval.texts import update_fingerprint
from classic_rc.text.analyzers import Analyzer

_FORMAT = 1
_SENTENCES_PER_REQUEST, _BYTES_PER_REQUEST = 5_000, 2**22
_SEARCHES_PER_REQUEST, _HITS_PER_REQUEST = 256, 10_000
_WORK_PER_REQUEST = 10**9
"""Searches times sentences per request: a few seconds of one processor, well before a timeout."""

_TEXTS_PER_REQUEST = 1_000

_MAX_HITS = 10_000
"""The most hits that a cluster returns: the default of ``index.max_result_window``."""

_FIRST_WAIT, _LONGEST_WAIT = 1, 30
"""Seconds before a part of a request is repeated; each further wait is twice as long."""


class OpenSearch(Engine):
    """Sentences in an index of an OpenSearch cluster, which searches and scores them.

    Scores are the cluster's own, from the statistics of all shards together
    (``dfs_query_then_fetch``). From release 3 on they equal Lucene's. Earlier releases give ``k1 +
    1`` times as much: the order is the same, but thresholds are not. The address and the
    credentials come from environment variables: see
    :class:`~classic_rc.retrieval.engines.opensearch_cluster.Access`. The engine connects on first
    use.

    Parameters
    ----------
    place : str
        The index on the cluster: lower-case letters, digits, ``-``, ``_`` and ``.``.
    similarity : str or Similarity, default="bm25"
    analyzer : str or Analyzer, default="lucene-english"
        The only value: it is the cluster's ``english`` analyzer.
    shards : int, default=1
        The number of parts of the index.
    replicas : int, default=0
        The number of copies of each shard, made when all sentences are indexed.
    overwrite : bool, default=False
        Whether to replace a finished index of this name. An index that this package did not make is
        never replaced.
    timeout : float, default=60
        Timeout of one request, in seconds.
    retries : int, default=6
        How often a request is repeated after a temporary refusal or a lost connection.
    """

    name = "opensearch"
    description = "An index on an OpenSearch cluster, for corpora that outgrow one machine."
    citation = "OpenSearch (opensearch.org), on Lucene's BM25Similarity and EnglishAnalyzer."
    similarities: ClassVar[tuple[str, ...]] = ("bm25",)
    analyzers: ClassVar[tuple[str, ...]] = ("lucene-english",)
    stored_as = "the name of an index on the cluster"
    needs_place = True
    similarity: BM25
    place: str

    def __init__(
        self,
        place: str,
        *,
        similarity: str | Similarity | None = None,
        analyzer: str | Analyzer = "lucene-english",
        shards: int = 1,
        replicas: int = 0,
        overwrite: bool = False,
        timeout: float = 60.0,
        retries: int = 6,
    ) -> None:
        super().__init__(similarity=similarity, analyzer=analyzer, place=place)
        # A pattern, or names with commas, could mean several indexes, other people's included.
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,254}", place):
            allowed = "lower-case letters, digits, '-', '_' and '.'"
            raise wrong_value("place", place, f"a name of {allowed}")
        for parameter, value, minimum in (
            ("shards", shards, 1),
            ("replicas", replicas, 0),
            ("retries", retries, 0),
        ):
            if not is_integer(value, minimum):
                raise wrong_value(parameter, value, f"a whole number of at least {minimum}")
        if not is_number(timeout, 0) or not timeout:
            raise wrong_value("timeout", timeout, "a positive number of seconds")
        self.shards, self.replicas, self.overwrite = shards, replicas, overwrite
        self.timeout, self.retries = timeout, retries
        self._is_read_only = False
        self._connected: Cluster | None = None
        self._release: str | None = None
        self._note: Body | None = None  # this package's note on the finished index
        self._texts: dict[int, str] | None = None  # texts of hits, while best_among_top needs them

    @classmethod
    def open(
        cls, place: str, *, similarity: str | Similarity | None = None, timeout: float = 60.0
    ) -> Self:
        """Return a read-only engine over an index that this package made; it has its own
        similarity.
        """
        engine = cls(place, timeout=timeout)
        note, settings = engine._look() or engine._refuse("no such index")
        if note is None:
            engine._refuse("the index was not made by classic_rc")
        if note["format"] != _FORMAT or "sentences" not in note:
            engine._refuse("the index is unfinished or from another release", hint="Build it again")
        engine._check_count(note["sentences"])
        engine.similarity = similarity_of(settings)
        if similarity is not None and get_similarity(similarity) != engine.similarity:
            raise UsageError(
                f"index {place!r} was built with similarity {engine.similarity.spec!r}: use "
                f"similarity={engine.similarity.spec}",
                field="similarity",
                found=get_similarity(similarity).spec,
                expected=engine.similarity.spec,
            )
        engine.shards = int(settings["number_of_shards"])
        engine.replicas = int(settings["number_of_replicas"])
        engine._note, engine._is_read_only = note, True
        return engine

    def __getstate__(self) -> dict[str, Any]:
        # Another process makes its own connection, so no password is pickled.
        return {**self.__dict__, "_connected": None}

    @property
    def _cluster(self) -> Cluster:
        if self._connected is None:
            self._connected = Cluster(
                Access.from_environment(), timeout=self.timeout, retries=self.retries
            )
            self._release = self._connected.release
        return self._connected

    @property
    def signature(self) -> str:
        """The signature of every engine, plus the cluster's release once it is known: scores
        differ by release.
        """
        return ":".join(filter(None, (super().signature, self._release)))

    @property
    def fingerprint(self) -> str:
        """Hex sha256 of the sentences, in order."""
        return str(self._read_note("fingerprint"))

    @property
    def n_sentences(self) -> int:
        """The number of indexed sentences, including those without an index term."""
        return int(self._read_note("sentences"))

    def _read_note(self, key: str) -> Any:
        if self._note is None:
            raise NotFittedError(
                "engine opensearch has no sentences: call index(sentences) or "
                "OpenSearch.open(index_name)"
            )
        return self._note[key]

    def index(self, sentences: Iterable[str]) -> Self:
        """Send the sentences to a new index, about 4 MB per request.

        An interrupted build stays unfinished on the cluster: it cannot be opened, and the next
        build replaces it. A finished index is write-protected.
        """
        if self._is_read_only:
            raise UsageError(
                f"index {self.place!r} was opened read-only", field="place", found=self.place
            )
        self._delete_replaceable()
        note: Body = {"format": _FORMAT, "build": uuid.uuid4().hex}
        self._create(note)
        digest = hashlib.sha256()
        note["sentences"] = self._send(check_sentences(sentences), digest)
        note["fingerprint"] = digest.hexdigest()
        indices = self._cluster.client.indices
        with self._cluster.errors():
            indices.refresh(index=self.place)
        self._check_count(note["sentences"])
        self._check_build(note)
        settings = {
            "refresh_interval": None,
            "number_of_replicas": self.replicas,
            "blocks.write": True,
        }
        with self._cluster.errors():
            indices.put_settings(index=self.place, body={"index": settings})
            indices.put_mapping(index=self.place, body={"_meta": {INDEX_MARK: note}})
        self._note = note
        return self

    def _create(self, note: Body) -> None:
        body = index_body(self.similarity, self.shards, note)
        try:
            with self._cluster.errors():
                self._cluster.client.indices.create(index=self.place, body=body)
        except DataError as error:
            # If the answer to the first attempt was lost, the second one finds the index of the
            # first.
            if "resource_already_exists" not in str(error):
                raise
            self._check_build(note)

    def _send(self, sentences: Iterable[str], digest: hashlib._Hash) -> int:
        """Index sentences, and return how many they are."""
        from opensearchpy.helpers import streaming_bulk

        def numbered() -> Iterator[tuple[int, str]]:
            for number, sentence in enumerate(sentences):
                update_fingerprint(digest, sentence)
                yield number, sentence

        count = 0
        with self._cluster.errors():
            for is_ok, answer in streaming_bulk(
                self._cluster.client,
                numbered(),
                index=self.place,
                expand_action_callback=create_action,
                chunk_size=_SENTENCES_PER_REQUEST,
                max_chunk_bytes=_BYTES_PER_REQUEST,
                raise_on_error=False,
                max_retries=self.retries,
                initial_backoff=_FIRST_WAIT,
                max_backoff=_LONGEST_WAIT,
            ):
                (item,) = answer.values()
                # 409, a conflict: the sentence had arrived, but the answer was lost.
                if not is_ok and item["status"] != 409:
                    self._refuse(
                        f"sentence {item.get('_id', count)} was rejected", found=error_reason(item)
                    )
                count += 1
        return count

    def _delete_replaceable(self) -> None:
        """Delete an index of the same name, if that is allowed."""
        existing = self._look()
        if existing is None:
            return
        note, _ = existing
        if note is None:
            problem = (
                f"index {self.place!r} exists and was not made by classic_rc: choose another name"
            )
            raise UsageError(problem, field="place", found=self.place)
        is_own = self._note is not None and self._note["build"] == note["build"]
        if "sentences" in note and not (is_own or self.overwrite):
            problem = (
                f"index {self.place!r} already exists, with {note['sentences']:,} sentences: open "
                "it, choose another name, or set overwrite=True"
            )
            raise UsageError(problem, field="overwrite", found=str(self.overwrite), expected="True")
        self._note = None
        with self._cluster.errors():
            self._cluster.client.indices.delete(index=self.place, ignore=404)

    def _look(self) -> tuple[Body | None, Body] | None:
        """Return this package's note on the index and the index's settings, or None if there is no
        such index.

        The note is None if this package did not make the index.
        """
        with self._cluster.errors():
            answer = self._cluster.client.indices.get(index=self.place, ignore=404)
        if "error" in answer:
            return None
        (index,) = answer.values()
        return index["mappings"].get("_meta", {}).get(INDEX_MARK), index["settings"]["index"]

    def _check_count(self, expected: int) -> None:
        """Raise an error unless the index has this many sentences."""
        with self._cluster.errors():
            answer = self._cluster.client.count(index=self.place)
        failed = answer["_shards"]["failed"]
        if failed or answer["count"] != expected:
            actual = f"{answer['count']:,}"
            if failed:
                actual += f", and {failed} failed shards"
            self._refuse(
                "the index does not have all of its sentences",
                found=actual,
                expected=f"{expected:,}",
            )

    def _check_build(self, note: Body) -> None:
        existing = self._look()
        if existing is None or (existing[0] or {}).get("build") != note["build"]:
            self._refuse("another client has created an index of this name in the meantime")

    def _refuse(self, problem: str, **facts: str) -> NoReturn:
        raise DataError(problem, source=f"{self._cluster.name}/{self.place}", **facts)

    def sentence(self, number: int) -> str:
        """Return the text of a sentence; each call is one request."""
        self.check_number(number)
        if self._texts is not None and number in self._texts:
            return self._texts[number]
        with self._cluster.errors():
            answer = self._cluster.client.get(index=self.place, id=str(number), ignore=404)
        if not answer.get("found"):
            self._refuse(f"sentence {number} is missing")
        return str(answer["_source"]["text"])

    def sentences(self) -> Iterator[str]:
        """See :meth:`Engine.sentences`; a request returns 1,000 texts."""
        for first in range(0, self.n_sentences, _TEXTS_PER_REQUEST):
            numbers = range(first, min(first + _TEXTS_PER_REQUEST, self.n_sentences))
            (hits,) = self._ask([texts_search(numbers)])
            texts = {hit["sort"][0]: str(hit["_source"]["text"]) for hit in hits}
            for number in numbers:
                if number not in texts:
                    self._refuse(f"sentence {number} is missing")
                yield texts[number]

    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Return for each query up to `k` best sentences (k <= 10,000) that share an index term
        with it.
        """
        check_depth(k, _MAX_HITS)
        with_text = self._texts is not None
        searches = (query_search(query, k, with_text=with_text) for query in queries)
        return Hits.of(self._search(searches, k))

    def best_constrained(self, questions: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        """Return the best sentence for each option with an index term of the question and one of
        the option.
        """
        pairs = zip(questions, options, strict=True)
        answers = self._search(
            constrained_search(question, option)
            for question, question_options in pairs
            for option in question_options
        )
        best = (hits[0] if hits else (-1, 0.0) for hits in answers)
        return Best.of(list(islice(best, len(question_options))) for question_options in options)

    def best_among_top(
        self,
        questions: Sequence[str],
        options: Sequence[Sequence[str]],
        depth: int,
        overlap: str | Analyzer,
    ) -> Best:
        """See :meth:`Engine.best_among_top`; the hits come with their texts, which saves a
        request per sentence.
        """
        self._texts = {}
        try:
            return super().best_among_top(questions, options, depth, overlap)
        finally:
            self._texts = None

    def term_facts(self, query: str, sentence: int) -> QueryFacts:
        """See :meth:`Engine.term_facts`. Each term is one search; a server without explanations
        has no counts.
        """
        self.check_number(sentence)
        with self._cluster.errors():
            body = {"field": "text", "text": query}
            answer = self._cluster.client.indices.analyze(index=self.place, body=body)
        counts = Counter(token["token"] for token in answer["tokens"])
        searches = [term_search(term, count, sentence) for term, count in counts.items()]
        hits_of_terms = self._ask(searches) if searches else []
        explained = []
        for (term, count), hits in zip(counts.items(), hits_of_terms, strict=True):
            for hit in hits:
                explanation = hit.get("_explanation", {}) | {"value": hit["sort"][0]}
                explained.append((term, count, explanation))
        return read_explanations(explained, self.n_sentences)

    def _search(self, searches: Iterable[Body], k: int = 1) -> Iterator[list[tuple[int, float]]]:
        """Yield the hits of each search, as pairs of number and score, in the order of the
        searches.
        """
        waiting, work = iter(searches), max(1, self.n_sentences)
        size = max(1, min(_SEARCHES_PER_REQUEST, _HITS_PER_REQUEST // k, _WORK_PER_REQUEST // work))
        while batch := list(islice(waiting, size)):
            for hits in self._ask(batch):
                pairs = [tuple(hit["sort"]) for hit in hits]
                if self._texts is not None:
                    for (_, number), hit in zip(pairs, hits, strict=True):
                        if "_source" in hit:
                            self._texts[number] = hit["_source"]["text"]
                yield [(number, score) for score, number in pairs]

    def _ask(self, searches: list[Body]) -> list[list[Body]]:
        """Return the hits of each search, scored with the statistics of all shards together.

        The cluster runs the searches of a request in parallel. Those without a complete answer are
        repeated.
        """
        answers: list[Body] = [{}] * len(searches)
        ahead = list(range(len(searches)))
        for attempt in range(self.retries + 1):
            body = msearch_body(searches[i] for i in ahead)
            with self._cluster.errors():
                answer = self._cluster.client.msearch(
                    index=self.place, body=body, search_type="dfs_query_then_fetch"
                )
            for i, response in zip(ahead, answer["responses"], strict=True):
                answers[i] = response
            ahead = [i for i in ahead if _is_unfinished(answers[i])]
            if not ahead or attempt == self.retries:
                break
            time.sleep(min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt))
        for answer in answers:
            if "error" in answer:
                self._refuse("a search failed", found=error_reason(answer))
            if _is_unfinished(answer):
                shards = answer["_shards"]
                failed = f"{shards['failed']} of {shards['total']} shards failed"
                fault = "a timeout on the cluster" if answer["timed_out"] else failed
                self._refuse("a search returned a partial result, which is not used", found=fault)
        return [answer["hits"]["hits"] for answer in answers]


def _is_unfinished(answer: Body) -> bool:
    """Whether a search should be repeated: its answer is incomplete or a temporary error."""
    if "error" in answer:
        return answer["status"] in TEMPORARY
    return bool(answer["timed_out"] or answer["_shards"]["failed"])
