"""The wiring of the engine `opensearch`, on an in-memory server with other scores, which are not
tested.
"""

from __future__ import annotations

import http.client
import itertools
import json
import pickle
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np
import pytest

from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.questions import Passage
from classic_rc.retrieval.corpus import passage_corpus
from classic_rc.retrieval.engines.opensearch import OpenSearch
from classic_rc.retrieval.similarity import BM25
from classic_rc.testing import check_engine
from tests.errors import raises

SENTENCES = [
    "A fox dug a den under the old oak.",
    "The oak lost its leaves in autumn.",
    "Foxes sleep by day.",
    "The and of.",
    "",
    "A fox dug a den under the old oak.",
    "Leaves, leaves, leaves!",
]


@pytest.fixture
def client(url):
    from opensearchpy import OpenSearch as Client

    return Client([url])


# What is indexed


def test_it_keeps_the_contract(url):
    numbers = itertools.count()
    check_engine(OpenSearch, lambda: f"place-{next(numbers)}")


@pytest.mark.parametrize("shards", [1, 3])
def test_every_sentence_is_indexed_under_its_number(url, client, shards):
    engine = OpenSearch("fox", shards=shards).index(iter(SENTENCES))
    assert engine.n_sentences == len(SENTENCES)
    assert [engine.sentence(i) for i in range(len(SENTENCES))] == SENTENCES
    assert client.count(index="fox")["count"] == len(SENTENCES)
    assert client.indices.get_settings(index="fox")["fox"]["settings"]["index"][
        "number_of_shards"
    ] == str(shards)


def test_several_requests_lose_nothing(proxy):
    engine = OpenSearch("many").index(f"Sentence {i} is about thing{i}." for i in range(5_100))
    hits = engine.top([f"thing{i}" for i in range(0, 5_100, 17)])
    assert hits.sentences.tolist() == list(range(0, 5_100, 17))
    assert [proxy.seen.count(f"/{endpoint}") for endpoint in ("many/_bulk", "many/_msearch")] == [
        2,
        2,
    ]


def test_a_finished_index_is_write_protected_and_has_its_replicas(url, client):
    OpenSearch("fox", replicas=2).index(SENTENCES)
    settings = client.indices.get_settings(index="fox")["fox"]["settings"]["index"]
    assert settings["blocks"]["write"] == "true"
    assert settings["number_of_replicas"] == "2"
    assert settings.get("refresh_interval") != "-1"


@pytest.mark.parametrize(
    "text",
    ["nul\0nul", "two\nlines", "日本 🦊 ß", "word " * 100_000],
    ids=["nul", "n", "u", "long"],
)
def test_any_sentence_is_returned_unchanged(url, text):
    assert OpenSearch("any").index(["first", text]).sentence(1) == text


def test_half_a_surrogate_pair_does_not_stop_a_build(url):
    assert OpenSearch("half").index(["a \ud800 b", "cat"]).top(["b"]).sentences.tolist() == [0]


def test_the_fingerprint_is_that_of_a_corpus(url):
    engine = OpenSearch("corpus")
    corpus = passage_corpus([Passage(id="p", text="A fox sleeps. It dreams of ße \ud800.")], engine)
    assert engine.fingerprint == corpus.fingerprint
    assert engine.n_sentences == 2


# What is found


@pytest.mark.parametrize("k", [0, 10_001, 2.0, True])
def test_k_is_limited(url, k):
    with raises(UsageError, field="k", found=str(k), expected="a whole number from 1 to 10,000"):
        OpenSearch("fox").index(SENTENCES).top(["fox"], k=k)


def test_batches_keep_the_order_of_questions_and_options(url):
    engine = OpenSearch("many").index(f"subject{i} likes object{i}." for i in range(100))
    questions = [f"subject{i}" for i in range(100)]
    options = [[f"object{i}", "object1", "nothing"] for i in range(100)]
    best_sentences = engine.best_constrained(questions, options).sentences.reshape(100, 3)
    assert best_sentences[:, 0].tolist() == list(range(100))
    assert best_sentences[1, 1] == 1
    assert (np.delete(best_sentences[:, 1], 1) == -1).all()
    assert (best_sentences[:, 2] == -1).all()


def test_texts_of_the_top_are_not_fetched_one_by_one(proxy):
    engine = OpenSearch("fox").index(SENTENCES)
    proxy.seen.clear()
    best = engine.best_among_top(
        ["Who dug under the oak?"], [["the fox", "the bear"]], 200, "word+stop=lucene"
    )
    assert best.sentences.tolist() == [0, -1]
    assert proxy.seen == ["/fox/_msearch"]


# Ownership of indexes


def test_an_index_is_opened_with_its_own_similarity(url):
    built = OpenSearch("fox", similarity="bm25-lucene", shards=2).index(SENTENCES)
    opened = OpenSearch.open("fox")
    assert opened.similarity == BM25(k1=1.2, b=0.75)
    assert (opened.shards, opened.n_sentences) == (2, 7)
    assert opened.signature == built.signature
    assert opened.fingerprint == built.fingerprint
    assert opened.top(["fox"]).sentences.tolist() == built.top(["fox"]).sentences.tolist()


def test_the_signature_has_the_release_and_no_address(url, client):
    engine = OpenSearch("fox", similarity="bm25-lucene")
    assert engine.signature == "opensearch:bm25+k1=1.2+b=0.75:lucene-english"
    unconnected = engine.signature
    assert (
        engine.index(SENTENCES).signature
        == f"{unconnected}:opensearch-{client.info()['version']['number']}"
    )


def test_an_opened_index_is_read_only(url):
    OpenSearch("fox").index(SENTENCES)
    with raises(UsageError, field="place", found="fox"):
        OpenSearch.open("fox").index(["other"])
    assert OpenSearch.open("fox").n_sentences == 7


def test_another_process_connects_by_itself(url, monkeypatch):
    engine = OpenSearch("fox").index(SENTENCES)
    state = pickle.dumps(engine)
    assert url.encode() not in state
    copy = pickle.loads(state)
    assert np.array_equal(copy.top(["leaves"]).sentences, engine.top(["leaves"]).sentences)
    assert copy.signature == engine.signature


def test_a_missing_index_is_an_error(url):
    with raises(DataError, source=f"{url}/fox", problem="no such index"):
        OpenSearch.open("fox")


def test_an_index_of_others_is_neither_opened_nor_replaced(url, client):
    client.index(index="theirs", id="1", body={"title": "important"}, refresh=True)
    with raises(DataError, source=f"{url}/theirs", problem=re.compile("not made by classic_rc")):
        OpenSearch.open("theirs")
    with raises(UsageError, field="place", found="theirs"):
        OpenSearch("theirs", overwrite=True).index(SENTENCES)
    assert client.count(index="theirs")["count"] == 1


def test_a_finished_index_is_replaced_only_with_overwrite_or_by_its_maker(url):
    engine = OpenSearch("fox").index(SENTENCES)
    with raises(UsageError, field="overwrite", found="False", expected="True") as caught:
        OpenSearch("fox").index(["other"])
    assert "'fox'" in str(caught.value)
    assert "7 sentences" in str(caught.value)
    assert OpenSearch.open("fox").n_sentences == 7
    assert engine.index(["other"]).n_sentences == 1
    assert OpenSearch("fox", overwrite=True).index(["one", "two"]).n_sentences == 2
    with raises(UsageError, field="overwrite", found="False", expected="True") as caught:
        engine.index(["mine no more"])
    assert "2 sentences" in str(caught.value)


def test_an_interrupted_build_is_refused_and_replaced(url):
    def interrupted():
        yield from SENTENCES
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        OpenSearch("fox").index(interrupted())
    with raises(
        DataError,
        source=re.compile("/fox$"),
        problem=re.compile("unfinished"),
        hint="Build it again",
    ):
        OpenSearch.open("fox")
    assert OpenSearch("fox").index(SENTENCES).top(["den"]).sentences.tolist() == [0, 5]


def test_lost_sentences_are_noticed(url, client):
    OpenSearch("fox").index(SENTENCES)
    client.indices.put_settings(index="fox", body={"index": {"blocks.write": False}})
    client.delete(index="fox", id="2", refresh=True)
    with raises(DataError, source=f"{url}/fox", found="6", expected="7"):
        OpenSearch.open("fox")


def test_a_sentence_deleted_after_opening_is_an_error(url, client):
    engine = OpenSearch("fox").index(SENTENCES)
    client.indices.put_settings(index="fox", body={"index": {"blocks.write": False}})
    client.delete(index="fox", id="2", refresh=True)
    with raises(DataError, source=f"{url}/fox", problem=re.compile("^sentence 2 ")):
        engine.sentence(2)
    with raises(DataError, source=f"{url}/fox", problem=re.compile("^sentence 2 ")):
        list(engine.sentences())


def test_nothing_is_searched_before_it_is_indexed():
    engine = OpenSearch("fox")
    for use in (
        lambda: engine.n_sentences,
        lambda: engine.top(["fox"]),
        lambda: engine.sentence(0),
    ):
        with raises(NotFittedError, field=None) as caught:
            use()
        for fact in ("opensearch", "index(sentences)", "OpenSearch.open"):
            assert fact in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "*",
        "a*",
        "a,b",
        "_all",
        "-a",
        "Fox",
        "a b",
        "a/b",
        "..",
        "a#",
        "a:b",
        "é",
        "a" * 256,
        "a\n",
    ],
)
def test_a_name_that_could_mean_other_indexes_is_refused(name):
    with raises(UsageError, field="place", found=name):
        OpenSearch(name)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("similarity", "classic", "'bm25'"),
        ("analyzer", "word", "'lucene-english'"),
        ("analyzer", "lucene-english+unstemmed", "'lucene-english'"),
        ("shards", 0, "a whole number of at least 1"),
        ("replicas", -1, "a whole number of at least 0"),
        ("retries", 1.5, "a whole number of at least 0"),
        ("shards", True, "a whole number of at least 1"),
        ("timeout", 0, "a positive number of seconds"),
        ("timeout", float("inf"), "a positive number of seconds"),
    ],
)
def test_parameters_are_checked(field, value, expected):
    with raises(UsageError, field=field, found=str(value), expected=expected):
        OpenSearch("fox", **{field: value})


# Failing requests


class Proxy(ThreadingHTTPServer):
    """A server between engine and cluster; each of its `faults` (part of a path, what happens)
    happens once.
    """

    daemon_threads = True

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.faults: list[tuple[str, int | str | Callable]] = []
        self.seen: list[str] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Forwarding)

    def fault_for(self, method: str, path: str) -> int | str | Callable | None:
        """A status; "lose" the request, or "cut" the connection before the answer; or a change
        of the answer.
        """
        with self.lock:
            self.seen.append(urlsplit(path).path)
            for place, (url_part, what) in enumerate(self.faults):
                if url_part in f"{method} {path}":
                    del self.faults[place]
                    return what
        return None


class Forwarding(BaseHTTPRequestHandler):
    server: Proxy

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        fault = self.server.fault_for(self.command, self.path)
        self.close_connection = fault in ("lose", "cut")
        if fault == "lose":
            return
        if isinstance(fault, int):
            self.answer(
                fault,
                json.dumps({"error": {"type": "trouble", "reason": "made up"}, "status": fault}),
            )
            return
        upstream = http.client.HTTPConnection(self.server.upstream)
        upstream.request(
            self.command, self.path, body, {"content-type": self.headers.get("content-type", "")}
        )
        reply = upstream.getresponse()
        content = reply.read().decode()
        upstream.close()
        if callable(fault):
            content = json.dumps(fault(json.loads(content)))
        if fault != "cut":
            self.answer(reply.status, content)

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def answer(self, status: int, content: str) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content.encode())))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *arguments):
        pass


@pytest.fixture
def proxy(url, monkeypatch):
    server = Proxy(url)
    monkeypatch.setenv("CLASSIC_RC_OPENSEARCH_URL", f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def changed(path: str, value: object) -> Callable[[dict], dict]:
    """Return a function that changes one value of an answer: ``"responses.1.timed_out"``."""

    def change(answer: dict) -> dict:
        *ahead, last = path.split(".")
        place = answer
        for key in ahead:
            place = place[int(key) if isinstance(place, list) else key]
        place[int(last) if isinstance(place, list) else last] = value
        return answer

    return change


BUSY = {
    "create": {"status": 429, "error": {"type": "rejected_execution", "reason": "queue is full"}}
}
REQUESTS = [
    "PUT /fox",
    "/_bulk",
    "/_refresh",
    "/_count",
    "/_settings",
    "/_mapping",
    "/_msearch",
    "GET /fox/_doc",
]


@pytest.mark.parametrize("what", [429, 503, "lose", "cut"])
@pytest.mark.parametrize("request_path", REQUESTS)
def test_any_request_may_fail_once(proxy, client, request_path, what):
    proxy.faults.append((request_path, what))
    engine = OpenSearch("fox").index(SENTENCES)
    assert engine.n_sentences == 7
    assert client.count(index="fox")["count"] == 7
    assert engine.best_constrained(["the oak"], [["fox", "autumn"]]).sentences.tolist() == [0, 1]
    assert engine.sentence(6) == SENTENCES[6]
    assert proxy.faults == []


def test_only_rejected_sentences_are_sent_again(proxy):
    sizes = []

    def rejected(answer: dict) -> dict:
        sizes.append(len(answer["items"]))
        return answer

    proxy.faults += [
        ("/_bulk", lambda answer: changed("items.2", BUSY)(rejected(answer))),
        ("/_bulk", rejected),
    ]
    engine = OpenSearch("fox").index(SENTENCES)
    assert sizes == [7, 1]
    assert engine.n_sentences == 7


def test_a_sentence_that_is_refused_ends_the_build(proxy):
    refusal = {
        "create": {"status": 403, "error": {"type": "cluster_block", "reason": "disk is full"}}
    }
    proxy.faults.append(("/_bulk", changed("items.2", refusal)))
    facts = {"problem": re.compile("^sentence 2 "), "found": "cluster_block: disk is full"}
    with raises(DataError, source=re.compile("/fox$"), **facts):
        OpenSearch("fox").index(SENTENCES)
    with raises(
        DataError,
        source=re.compile("/fox$"),
        problem=re.compile("unfinished"),
        hint="Build it again",
    ):
        OpenSearch.open("fox")


def test_a_sentence_that_the_cluster_has_lost_ends_the_build(proxy):
    proxy.faults.append(("/_count", changed("count", 6)))
    with raises(DataError, source=re.compile("/fox$"), found="6", expected="7"):
        OpenSearch("fox").index(SENTENCES)


def test_a_shard_that_does_not_count_ends_the_build(proxy):
    proxy.faults.append(("/_count", changed("_shards.failed", 1)))
    with raises(
        DataError, source=re.compile("/fox$"), found="7, and 1 failed shards", expected="7"
    ):
        OpenSearch("fox").index(SENTENCES)


def test_a_build_that_is_overtaken_fails_and_spoils_nothing(url):
    def overtaken():
        yield "first"
        OpenSearch("fox").index(SENTENCES)

    with raises(DataError, source=f"{url}/fox", problem=re.compile("^sentence 0 ")):
        OpenSearch("fox").index(overtaken())
    assert OpenSearch.open("fox").n_sentences == 7


def test_an_index_that_others_make_at_the_same_moment_is_left_to_them(proxy, client):
    proxy.faults.append(("GET /fox", lambda answer: client.indices.create(index="fox") and answer))
    with raises(
        DataError, source=re.compile("/fox$"), problem=re.compile("another client"), found=None
    ):
        OpenSearch("fox").index(SENTENCES)
    assert client.count(index="fox")["count"] == 0


FULL_QUEUE = {"error": {"type": "rejected", "reason": "queue is full"}, "status": 429}
TROUBLES = {
    "a part of the shards": (changed("responses.1._shards.failed", 1), "1 of 1 shards failed"),
    "a timeout": (changed("responses.1.timed_out", True), "a timeout on the cluster"),
    "too busy": (changed("responses.1", FULL_QUEUE), "rejected: queue is full"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_partial_search_is_repeated(proxy, trouble):
    change, _ = TROUBLES[trouble]
    engine = OpenSearch("fox").index(SENTENCES)
    proxy.faults.append(("/_msearch", change))
    numbers = [hits.tolist() for hits, _ in engine.top(["autumn", "day", "den"])]
    assert numbers == [[1], [2], [0, 5]]
    assert proxy.seen[-2:] == ["/fox/_msearch"] * 2


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_search_that_stays_partial_is_an_error(proxy, trouble):
    change, found_text = TROUBLES[trouble]
    engine = OpenSearch("fox", retries=0).index(SENTENCES)
    proxy.faults.append(("/_msearch", change))
    with raises(DataError, source=re.compile("/fox$"), found=found_text):
        engine.top(["autumn", "day", "den"])


def test_an_invalid_search_is_not_repeated(proxy):
    engine = OpenSearch("fox").index(SENTENCES)
    error = {
        "type": "search_phase",
        "reason": "all",
        "root_cause": [{"type": "too_many_clauses", "reason": "1024"}],
    }
    proxy.faults.append(("/_msearch", changed("responses.0", {"error": error, "status": 400})))
    proxy.seen.clear()
    with raises(DataError, source=re.compile("/fox$"), found="too_many_clauses: 1024"):
        engine.top(["autumn"])
    assert proxy.seen == ["/fox/_msearch"]


def test_a_cluster_that_stays_down_is_an_error_after_the_last_attempt(proxy):
    engine = OpenSearch("fox", retries=2).index(SENTENCES)
    proxy.faults += [("/_msearch", 503)] * 3
    with raises(DataError, problem="status 503", found="trouble: made up"):
        engine.top(["fox"])
    assert proxy.faults == []
