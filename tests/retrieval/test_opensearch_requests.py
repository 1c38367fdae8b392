"""What is asked of a cluster, body by body; no cluster is needed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.retrieval.engines import opensearch_cluster as opensearch_requests
from classic_rc.retrieval.engines.opensearch_cluster import (
    MARK,
    bulk_batches,
    constrained_search,
    index_body,
    msearch_body,
    query_search,
    similarity_of,
    term_search,
)
from classic_rc.retrieval.similarity import BM25


def lines_of(request: bytes) -> list[dict]:
    return [json.loads(line) for line in request.split(b"\n")[:-1]]


def match(text: str) -> dict:
    return {"match": {"text": {"query": text}}}


def test_an_index_sets_bm25_and_the_english_analyzer_itself():
    body = index_body(BM25(k1=1.2, b=0.75), 3, {"build": "x"})
    settings, mappings = body["settings"]["index"], body["mappings"]
    text = mappings["properties"]["text"]
    assert settings["similarity"][text["similarity"]] == {"type": "BM25", "k1": 1.2, "b": 0.75}
    assert settings["analysis"]["analyzer"][text["analyzer"]] == {"type": "english", "stopwords": "_english_"}
    assert text["index_options"] == "freqs"
    assert (settings["number_of_shards"], settings["number_of_replicas"]) == (3, 0)
    assert mappings["properties"]["number"]["type"] == "long"
    assert mappings["_meta"] == {MARK: {"build": "x"}}
    assert mappings["dynamic"] == "strict"


def test_the_similarity_is_read_from_settings_which_a_cluster_gives_as_text():
    settings = {"similarity": {"sentences": {"type": "BM25", "k1": "0.9", "b": "0.4"}}}
    assert similarity_of(settings) == BM25()


def test_a_query_scores_and_equal_scores_go_by_number():
    body = query_search("cats and cats", 7)
    assert body["query"] == {"bool": {"must": [match("cats and cats")], "filter": []}}
    assert body["sort"] == ["_score", {"number": "asc"}]
    assert body["size"] == 7
    assert body["_source"] is False


def test_texts_come_where_they_are_wanted():
    body = query_search("cats", 7, with_text=True)
    assert body["_source"] == ["text"]
    assert "stored_fields" not in body  # "_none_" and a source exclude each other


def test_a_constraint_filters_while_the_plain_query_scores():
    body = constrained_search("Who sat?", "the cat sat")
    assert body["query"]["bool"] == {
        "must": [match("Who sat? the cat sat")],
        "filter": [match("Who sat?"), match("the cat sat")],
    }
    assert body["size"] == 1


def test_a_term_counts_as_often_as_it_stands_in_the_query():
    query = term_search("cat", 2, 17)["query"]["bool"]
    assert query["must"] == [{"term": {"text": {"value": "cat", "boost": 2}}}]
    assert query["filter"] == [{"ids": {"values": ["17"]}}]


def test_searches_travel_one_a_line_after_an_empty_header():
    searches = [query_search("a\nb", 1), query_search("ß", 2)]
    assert lines_of(msearch_body(searches)) == [{}, searches[0], {}, searches[1]]


def test_documents_are_created_under_their_numbers():
    ((first, documents),) = bulk_batches(["One.", "Two."])
    assert first == 0
    assert [lines_of(document) for document in documents] == [
        [{"create": {"_id": "0"}}, {"number": 0, "text": "One."}],
        [{"create": {"_id": "1"}}, {"number": 1, "text": "Two."}],
    ]


def test_no_sentences_make_no_request():
    assert list(bulk_batches([])) == []


@given(
    sentences=st.lists(st.text(max_size=30), max_size=40),
    most=st.integers(1, 10),
    most_bytes=st.integers(1, 400),
)
def test_requests_are_bounded_and_lose_nothing(sentences, most, most_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opensearch_requests, "_SENTENCES_A_REQUEST", most)
        patch.setattr(opensearch_requests, "_BYTES_A_REQUEST", most_bytes)
        batches = list(bulk_batches(sentences))
    sent = []
    for first, documents in batches:
        assert first == len(sent)
        assert 1 <= len(documents) <= most
        assert len(documents) == 1 or sum(map(len, documents)) <= most_bytes
        sent += [lines_of(document)[1] for document in documents]
    assert sent == [{"number": i, "text": sentence} for i, sentence in enumerate(sentences)]


def test_sentences_are_read_no_further_than_the_request_that_they_fill():
    taken = []

    def sentences():
        for i in range(20_000):
            taken.append(i)
            yield "word"

    next(bulk_batches(sentences()))
    assert len(taken) == 5_001


@pytest.mark.parametrize("sentence", ["nul\0", "two\nlines\r\u2028", "half \ud800 pair", '"\\', "ß 日本 🦊"])
def test_any_text_travels(sentence):
    ((_, (document,)),) = bulk_batches([sentence])
    document.decode("utf-8")
    assert lines_of(document)[1]["text"] == sentence
