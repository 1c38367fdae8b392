"""Requests to a cluster, body by body; addresses, secrets, retries and errors with a scripted server."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import ClassicRCError, DataError, MissingPackageError, UsageError
from classic_rc.retrieval.engines import opensearch_cluster
from classic_rc.retrieval.engines.opensearch_cluster import (
    INDEX_MARK,
    Access,
    Cluster,
    bulk_batches,
    constrained_search,
    index_body,
    is_temporary,
    msearch_body,
    query_search,
    run_in_order,
    similarity_of,
    term_search,
)
from classic_rc.retrieval.similarity import BM25
from tests.errors import raises

SECRET = "correct-horse-battery"
INFO = {"version": {"distribution": "opensearch", "number": "9.8.7"}}


EXAMPLE = "https://localhost:9200"


def variable(name: str) -> str:
    return f"CLASSIC_RC_OPENSEARCH_{name}"


def variables(**values: str) -> dict[str, str]:
    return {variable(name): value for name, value in values.items()}


# The environment variables


def test_the_environment_names_nodes_user_and_files(tmp_path):
    (file := tmp_path / "authority.pem").write_text("x", encoding="utf-8")
    access = Access.from_environment(
        variables(
            URL="https://a:9200, https://b:9200/prefix,",
            USER="u",
            PASSWORD=SECRET,
            CA_CERTS=str(file),
            CLIENT_KEY="",
        )
    )
    assert access.urls == ("https://a:9200", "https://b:9200/prefix")
    assert (access.user, access.password, access.ca_certs) == ("u", SECRET, str(file))
    assert access.client_cert is access.client_key is None


def test_a_secret_is_not_shown():
    assert SECRET not in repr(Access(("http://a",), user="u", password=SECRET))


@pytest.mark.parametrize(
    ("environment", "field", "found", "facts"),
    [
        ({}, "URL", None, [EXAMPLE]),
        ({"URL": "localhost:9200"}, "URL", None, [EXAMPLE]),
        ({"URL": "ftp://localhost"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://host:port"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://host:99999"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://host/?pretty"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://a,b"}, "URL", None, [EXAMPLE, "address 2 of 2"]),
        ({"URL": f"https://u:{SECRET}@host"}, "URL", None, [*map(variable, ("URL", "USER", "PASSWORD"))]),
        ({"URL": "http://a", "USER": "u"}, "PASSWORD", None, [variable("USER"), variable("PASSWORD")]),
        ({"URL": "http://a", "PASSWORD": SECRET}, "USER", None, [variable("PASSWORD"), variable("USER")]),
        ({"URL": "https://a", "CLIENT_KEY": "k"}, "CLIENT_CERT", None, [variable("CLIENT_KEY")]),
        ({"URL": "https://a", "CA_CERTS": "no/such.pem"}, "CA_CERTS", "no/such.pem", ["no/such.pem"]),
    ],
)
def test_what_cannot_be_used_is_one_error_without_secrets(environment, field, found, facts):
    with raises(UsageError, field=variable(field), found=found) as caught:
        Access.from_environment(variables(**environment))
    for fact in facts:
        assert fact in str(caught.value)
    assert SECRET not in str(caught.value)


def test_the_page_names_every_variable():
    page = (Path(__file__).parents[2] / "docs" / "opensearch.md").read_text(encoding="utf-8")
    names = {"URL"} | {field.name.upper() for field in fields(Access)} - {"URLS"}
    assert set(re.findall(r"`CLASSIC_RC_OPENSEARCH_(\w+)`", page)) == names


# Order and limits of parallel requests


def test_results_come_in_order_whatever_ends_first():
    gates = [threading.Event() for _ in range(3)]

    def work(i: int) -> int:
        if i < 2:
            assert gates[i + 1].wait(10)  # the later one ends first
        gates[i].set()
        return i

    assert list(run_in_order(work, range(3), threads=3)) == [0, 1, 2]


def test_items_are_read_only_a_little_ahead():
    taken = []
    results = run_in_order(lambda i: i, (taken.append(i) or i for i in range(100)), threads=2)
    assert next(results) == 0
    assert len(taken) == 5
    results.close()


def test_an_error_in_the_middle_ends_it():
    with pytest.raises(ZeroDivisionError):
        list(run_in_order(lambda i: 1 // i, [1, 0, 1], threads=2))


def test_overload_and_server_faults_are_temporary():
    assert [status for status in (200, 400, 404, 409, 429, 500, 503, "N/A", None) if is_temporary(status)] == [
        429,
        500,
        503,
    ]


# A server with scripted answers


class Script(ThreadingHTTPServer):
    """Answers with one entry of `answers` after the other: (status, body), or None to hang up."""

    daemon_threads = True

    def __init__(self, answers: Iterable[tuple[int, dict | str] | None]) -> None:
        self.answers = list(answers)
        self.seen: list[tuple[str, str | None]] = []
        super().__init__(("127.0.0.1", 0), Scripted)

    @property
    def port(self) -> int:
        return self.server_address[1]


class Scripted(BaseHTTPRequestHandler):
    server: Script

    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.path, self.headers.get("authorization")))
        answer = self.server.answers.pop(0)
        if answer is None:
            self.close_connection = True
            return
        status, body = answer
        content = json.dumps(body) if isinstance(body, dict) else body
        self.send_response(status)
        self.send_header("content-type", "application/json" if isinstance(body, dict) else "text/html")
        self.send_header("content-length", str(len(content.encode())))
        self.end_headers()
        self.wfile.write(content.encode())

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def log_message(self, *arguments):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(*answers, tls: ssl.SSLContext | None = None) -> Script:
        server = Script(answers)
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
            # A client that hangs up during the handshake; only this server is silent, not its class.
            server.handle_error = lambda *arguments: None  # type: ignore[method-assign]
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def waits(monkeypatch):
    """The waits in seconds, which are not slept; skips without the client's package."""
    pytest.importorskip(
        "opensearchpy", reason="opensearch-py is not installed: pip install 'classic_rc[opensearch]'"
    )
    seconds = []
    monkeypatch.setattr(opensearch_cluster.time, "sleep", seconds.append)
    return seconds


def connect(port: int, *, scheme: str = "http", retries: int = 3, **access: str | None) -> Cluster:
    where = Access((f"{scheme}://localhost:{port}",), **access)
    return Cluster(where, timeout=5, retries=retries, connections=2)


def test_without_the_client_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opensearchpy", None)
    with raises(MissingPackageError, package="opensearch-py", extra="opensearch"):
        connect(1)


def test_the_release_is_asked_for_with_the_credentials(serve, waits):
    server = serve((200, INFO))
    assert connect(server.port, user="u", password=SECRET).release == "opensearch-9.8.7"
    assert server.seen == [("/", "Basic dTpjb3JyZWN0LWhvcnNlLWJhdHRlcnk=")]


def test_a_user_who_may_not_know_the_release_may_still_search(serve, waits):
    server = serve(
        (403, {"error": {"type": "security_exception", "reason": "no"}, "status": 403}), (200, {"ok": 1})
    )
    cluster = connect(server.port)
    assert cluster.release is None
    assert cluster.ask(lambda client: client.cat.health(format="json")) == {"ok": 1}


@pytest.mark.parametrize("refusal", [(429, {"error": "busy"}), (503, "<html>"), (500, {"error": {}}), None])
def test_temporary_refusals_are_repeated_with_growing_waits(serve, waits, refusal):
    server = serve((200, INFO), refusal, refusal, refusal, (200, {"count": 3}))
    cluster = connect(server.port)
    assert cluster.ask(lambda client: client.count()) == {"count": 3}
    assert [0.5 * longest <= wait <= longest for wait, longest in zip(waits, (0.5, 1, 2), strict=True)] == [
        True
    ] * 3


def test_a_refusal_after_the_last_attempt_is_an_error(serve, waits):
    server = serve((200, INFO), *[(503, {"error": {"type": "busy", "reason": "not now"}})] * 3, (200, {}))
    cluster = connect(server.port, retries=2)
    with raises(DataError, problem="status 503", found="busy: not now"):
        cluster.ask(lambda client: client.count())
    assert len(server.answers) == 1


def test_a_permanent_refusal_is_not_repeated(serve, waits):
    server = serve((200, INFO), (400, {"error": {"type": "parsing", "reason": "unknown query"}, "status": 400}))
    cluster = connect(server.port)
    facts = {"problem": "status 400", "found": "parsing: unknown query"}
    with raises(DataError, source=f"http://localhost:{server.port}", **facts):
        cluster.ask(lambda client: client.count())
    assert waits == []


def test_only_unfinished_items_are_sent_again_and_answers_keep_their_places(serve, waits):
    cluster = connect(serve((200, INFO)).port)
    sent = []

    def send(items: list[str]) -> list[dict]:
        sent.append("".join(items))
        return [{"item": item, "done": len(sent) >= "abcd".index(item) % 3 + 1} for item in items]

    answers = cluster.ask_for_each("abcd", send, lambda answer: not answer["done"])
    assert sent == ["abcd", "bc", "c"]
    assert [answer["item"] for answer in answers] == ["a", "b", "c", "d"]


def test_an_item_that_stays_unfinished_is_returned_unchanged(serve, waits):
    cluster = connect(serve((200, INFO)).port, retries=2)
    answers = cluster.ask_for_each(["a"], lambda items: [{"status": 429}] * len(items), lambda answer: True)
    assert answers == [{"status": 429}]
    assert len(waits) == 2


def fail_to_connect(
    kind: type[ClassicRCError], port: int, *, scheme: str = "http", ca_certs: str | None = None, **facts: object
) -> None:
    """Expect an error of one line, in which there is no secret and behind which no traceback hides one."""
    with raises(kind, **facts) as caught:
        connect(port, scheme=scheme, user="someone", password=SECRET, ca_certs=ca_certs)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert f"{scheme}://localhost:{port}: " in str(caught.value)


def test_no_server_at_the_address(waits, caplog, capfd):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    facts = {"problem": "no connection", "found": re.compile("."), "hint": re.compile(variable("URL"))}
    fail_to_connect(DataError, port, source=f"http://localhost:{port}", **facts)
    assert waits == []
    assert capfd.readouterr().err == ""
    assert SECRET not in caplog.text


def test_wrong_credentials(serve, waits):
    server = serve((401, "Unauthorized"))
    fail_to_connect(UsageError, server.port, field=variable("USER"), found="this user and password")


def test_no_credentials_where_they_are_needed(serve, waits):
    with raises(UsageError, field=variable("USER"), found="requests without a user"):
        connect(serve((401, "Unauthorized")).port)


def test_too_few_rights(serve, waits):
    denial = {"error": {"type": "security_exception", "reason": "no permissions for [indices:data/read]"}}
    cluster = connect(serve((200, INFO), (403, denial)).port)
    denied = "security_exception: no permissions for [indices:data/read]"
    with raises(UsageError, field=variable("USER"), found=denied):
        cluster.ask(lambda client: client.count())


@pytest.mark.parametrize(
    "answer", [(200, "<html>"), (404, "<html>"), (404, {"detail": "?"}), (200, {"detail": "?"})], ids=str
)
def test_another_kind_of_server(serve, waits, answer):
    fail_to_connect(DataError, serve(answer).port, problem=re.compile("not OpenSearch"))


def test_an_answer_that_takes_too_long(waits):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with raises(DataError, source=url, problem=re.compile(r"0\.1 seconds")):
            Cluster(Access((url,)), timeout=0.1, retries=3, connections=1)


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate that is its own authority."""
    if not shutil.which("openssl"):
        pytest.skip("the openssl command, which makes the certificate, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture
def tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def test_a_private_authority_is_trusted_when_it_is_named(serve, waits, tls, certificate):
    server = serve((200, INFO), tls=tls)
    cluster = connect(server.port, scheme="https", ca_certs=str(certificate[0]), user="u", password=SECRET)
    assert cluster.release == "opensearch-9.8.7"


def test_an_unknown_authority_is_refused_before_the_password_is_sent(serve, waits, tls):
    server = serve((200, INFO), tls=tls)
    fail_to_connect(UsageError, server.port, scheme="https", field=variable("CA_CERTS"))
    assert server.seen == []


def test_a_file_that_is_no_certificate(serve, waits, tls, tmp_path):
    (file := tmp_path / "text.pem").write_text("no certificate", encoding="utf-8")
    certificates = {"ca_certs": str(file), "field": variable("CA_CERTS")}
    fail_to_connect(UsageError, serve(tls=tls).port, scheme="https", **certificates)


def test_a_certificate_is_shown_to_a_cluster_that_asks_for_it(serve, waits, tls, certificate):
    certificate, key = map(str, certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(certificate)
    server = serve((200, INFO), tls=tls)
    assert connect(
        server.port, scheme="https", ca_certs=certificate, client_cert=certificate, client_key=key
    ).release
    with pytest.raises((UsageError, DataError)):
        connect(server.port, scheme="https", ca_certs=certificate)


def test_https_to_a_server_without_tls(serve, waits):
    fail_to_connect(UsageError, serve().port, scheme="https", field=variable("CA_CERTS"))


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
    assert mappings["_meta"] == {INDEX_MARK: {"build": "x"}}
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


def test_texts_are_returned_on_request():
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


def test_a_term_counts_as_often_as_it_occurs_in_the_query():
    query = term_search("cat", 2, 17)["query"]["bool"]
    assert query["must"] == [{"term": {"text": {"value": "cat", "boost": 2}}}]
    assert query["filter"] == [{"ids": {"values": ["17"]}}]


def test_each_search_is_a_line_after_an_empty_header():
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
        patch.setattr(opensearch_cluster, "_SENTENCES_PER_REQUEST", most)
        patch.setattr(opensearch_cluster, "_BYTES_PER_REQUEST", most_bytes)
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
def test_any_text_can_be_sent(sentence):
    ((_, (document,)),) = bulk_batches([sentence])
    document.decode("utf-8")
    assert lines_of(document)[1]["text"] == sentence
