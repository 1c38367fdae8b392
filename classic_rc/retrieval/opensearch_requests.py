"""What is asked of an OpenSearch cluster: the bodies of requests, and nothing of how they get there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from classic_rc.retrieval.similarity import BM25

MARK = "classic_rc"
"""Under this key of a mapping's ``_meta`` stands what this package notes about an index that it made."""

_NAME = "sentences"
_SENTENCES_A_REQUEST, _BYTES_A_REQUEST = 5_000, 2**22

_encode = json.JSONEncoder(ensure_ascii=False).encode
_escape = json.JSONEncoder().encode

Body = dict[str, Any]


def index_body(similarity: BM25, shards: int, note: Body) -> Body:
    """Settings and mapping of a new index.

    BM25's constants and the analyzer are set explicitly: the cluster's defaults, or a template's, are not
    taken. Terms are indexed with their counts and without positions, which no query here asks for.
    """
    bm25 = {"type": "BM25", "k1": similarity.k1, "b": similarity.b}
    english = {"type": "english", "stopwords": "_english_"}
    text = {"type": "text", "analyzer": _NAME, "similarity": _NAME, "index_options": "freqs"}
    return {
        "settings": {
            "index": {
                "number_of_shards": shards,
                "number_of_replicas": 0,  # copied once, when complete
                "refresh_interval": "-1",
                "codec": "best_compression",
                "similarity": {_NAME: bm25},
                "analysis": {"analyzer": {_NAME: english}},
            }
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {MARK: note},
            "properties": {"number": {"type": "long", "index": False}, "text": text},
        },
    }


def similarity_of(settings: Body) -> BM25:
    """The similarity of an index that :func:`index_body` made, from its settings as the cluster gives them."""
    constants = settings["similarity"][_NAME]
    return BM25(k1=float(constants["k1"]), b=float(constants["b"]))


def bulk_batches(sentences: Iterable[str]) -> Iterator[tuple[int, list[bytes]]]:
    """The number of the first sentence of each bulk request, and the request's documents.

    A document's id is the sentence's number, and it is created, never replaced: one that is sent again because
    an answer was lost changes nothing, not even the statistics of terms.
    """
    batch: list[bytes] = []
    size = number = 0
    for number, sentence in enumerate(sentences):
        document = _document(number, sentence)
        if batch and (len(batch) == _SENTENCES_A_REQUEST or size + len(document) > _BYTES_A_REQUEST):
            yield number - len(batch), batch
            batch, size = [], 0
        batch.append(document)
        size += len(document)
    if batch:
        yield number + 1 - len(batch), batch


def _document(number: int, sentence: str) -> bytes:
    # The two objects are spelled out: a sixth of the time that encoding them takes.
    return b'{"create":{"_id":"%d"}}\n{"number":%d,"text":%b}\n' % (number, number, _json(sentence))


def _json(value: Any) -> bytes:
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can express and UTF-8 cannot
        return _escape(value).encode()


def query_search(query: str, k: int, *, with_text: bool = False) -> Body:
    """The `k` best sentences of a query."""
    return _search(_match(query), [], k, with_text)


def constrained_search(question: str, option: str) -> Body:
    """The best sentence for ``question + " " + option`` that has a term of each.

    The constraints filter and add nothing to the score, so that a word of both counts twice, as in the plain
    query.
    """
    return _search(_match(f"{question} {option}"), [_match(question), _match(option)], 1)


def term_search(term: str, count: int, number: int) -> Body:
    """What a term that stands `count` times in a query adds to the score of one sentence."""
    scored = {"term": {"text": {"value": term, "boost": count}}}
    return _search(scored, [{"ids": {"values": [str(number)]}}], 1)


def msearch_body(searches: Iterable[Body]) -> bytes:
    """Many searches as one request; its parameters say how and where."""
    return b"".join(b"{}\n%b\n" % _json(body) for body in searches)


def _match(text: str) -> Body:
    return {"match": {"text": {"query": text}}}


def _search(scored: Body, filters: list[Body], k: int, with_text: bool = False) -> Body:
    """A search whose hits hold nothing but the sort values: score and number."""
    shown: Body = {"_source": ["text"]} if with_text else {"_source": False, "stored_fields": "_none_"}
    return {
        "query": {"bool": {"must": [scored], "filter": filters}},
        "sort": ["_score", {"number": "asc"}],
        "size": k,
        "track_total_hits": False,
        **shown,
    }
