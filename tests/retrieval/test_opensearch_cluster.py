"""Addresses of a cluster, secrets, retries and errors, with a scripted server."""

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

from classic_rc.errors import ClassicRCError, DataError, MissingPackageError, UsageError
from classic_rc.retrieval.engines.opensearch_cluster import (
    Access,
    Cluster,
)
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
    ("environment", "field", "found_text", "facts"),
    [
        ({}, "URL", None, [EXAMPLE]),
        ({"URL": "localhost:9200"}, "URL", None, [EXAMPLE]),
        ({"URL": "ftp://localhost"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://host:99999"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://host/?pretty"}, "URL", None, [EXAMPLE]),
        ({"URL": "http://a,b"}, "URL", None, [EXAMPLE, "address 2 of 2"]),
        (
            {"URL": f"https://u:{SECRET}@host"},
            "URL",
            None,
            [*map(variable, ("URL", "USER", "PASSWORD"))],
        ),
        (
            {"URL": "http://a", "USER": "u"},
            "PASSWORD",
            None,
            [variable("USER"), variable("PASSWORD")],
        ),
        (
            {"URL": "http://a", "PASSWORD": SECRET},
            "USER",
            None,
            [variable("PASSWORD"), variable("USER")],
        ),
        ({"URL": "https://a", "CLIENT_KEY": "k"}, "CLIENT_CERT", None, [variable("CLIENT_KEY")]),
        (
            {"URL": "https://a", "CA_CERTS": "no/such.pem"},
            "CA_CERTS",
            "no/such.pem",
            ["no/such.pem"],
        ),
    ],
)
def test_what_cannot_be_used_is_one_error_without_secrets(environment, field, found_text, facts):
    with raises(UsageError, field=variable(field), found=found_text) as caught:
        Access.from_environment(variables(**environment))
    for fact in facts:
        assert fact in str(caught.value)
    assert SECRET not in str(caught.value)


def test_the_page_names_every_variable():
    page = (Path(__file__).parents[2] / "docs" / "opensearch.md").read_text(encoding="utf-8")
    names = {"URL"} | {field.name.upper() for field in fields(Access)} - {"URLS"}
    assert set(re.findall(r"`CLASSIC_RC_OPENSEARCH_(\w+)`", page)) == names


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
        self.send_header(
            "content-type", "application/json" if isinstance(body, dict) else "text/html"
        )
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
            # A client that hangs up during the handshake; only this server is silent, not its
            # class.
            server.handle_error = lambda *arguments: None  # type: ignore[method-assign]
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def client_package():
    """Skips without the client's package."""
    pytest.importorskip(
        "opensearchpy",
        reason="opensearch-py is not installed: pip install 'classic_rc[opensearch]'",
    )


def connect(port: int, *, scheme: str = "http", retries: int = 3, **access: str | None) -> Cluster:
    where = Access((f"{scheme}://localhost:{port}",), **access)
    return Cluster(where, timeout=5, retries=retries)


def test_without_the_client_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opensearchpy", None)
    with raises(MissingPackageError, package="opensearch-py", extra="opensearch"):
        connect(1)


def test_the_release_is_asked_for_with_the_credentials(serve, client_package):
    server = serve((200, INFO))
    assert connect(server.port, user="u", password=SECRET).release == "opensearch-9.8.7"
    assert server.seen == [("/", "Basic dTpjb3JyZWN0LWhvcnNlLWJhdHRlcnk=")]


def test_a_user_who_may_not_know_the_release_may_still_search(serve, client_package):
    server = serve(
        (403, {"error": {"type": "security_exception", "reason": "no"}, "status": 403}),
        (200, {"ok": 1}),
    )
    cluster = connect(server.port)
    assert cluster.release is None
    assert ask(cluster, lambda client: client.cat.health(format="json")) == {"ok": 1}


@pytest.mark.parametrize(
    "refusal", [(429, {"error": "busy"}), (503, "<html>"), (500, {"error": {}}), None]
)
def test_temporary_refusals_are_repeated(serve, client_package, refusal):
    server = serve((200, INFO), refusal, refusal, refusal, (200, {"count": 3}))
    assert ask(connect(server.port), lambda client: client.count()) == {"count": 3}


def test_a_refusal_after_the_last_attempt_is_an_error(serve, client_package):
    busy = (503, {"error": {"type": "busy", "reason": "not now"}})
    server = serve((200, INFO), busy, busy, busy, (200, {}))
    cluster = connect(server.port, retries=2)
    with raises(DataError, problem="status 503", found="busy: not now"):
        ask(cluster, lambda client: client.count())
    assert len(server.answers) == 1


def test_a_permanent_refusal_is_not_repeated(serve, client_package):
    server = serve(
        (200, INFO), (400, {"error": {"type": "parsing", "reason": "unknown query"}, "status": 400})
    )
    cluster = connect(server.port)
    facts = {"problem": "status 400", "found": "parsing: unknown query"}
    with raises(DataError, source=f"http://localhost:{server.port}", **facts):
        ask(cluster, lambda client: client.count())


def ask(cluster, request):
    with cluster.errors():
        return request(cluster.client)


def fail_to_connect(
    kind: type[ClassicRCError],
    port: int,
    *,
    scheme: str = "http",
    ca_certs: str | None = None,
    **facts: object,
) -> None:
    """Expect an error of one line, in which there is no secret and behind which no traceback
    hides one.
    """
    with raises(kind, **facts) as caught:
        connect(port, scheme=scheme, user="someone", password=SECRET, ca_certs=ca_certs)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert f"{scheme}://localhost:{port}: " in str(caught.value)


def test_no_server_at_the_address(client_package, caplog, capfd):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    facts = {
        "problem": "no connection",
        "found": re.compile("."),
        "hint": re.compile(variable("URL")),
    }
    fail_to_connect(DataError, port, source=f"http://localhost:{port}", **facts)
    assert capfd.readouterr().err == ""
    assert SECRET not in caplog.text


def test_wrong_credentials(serve, client_package):
    server = serve((401, "Unauthorized"))
    fail_to_connect(UsageError, server.port, field=variable("USER"), found="this user and password")


def test_no_credentials_where_they_are_needed(serve, client_package):
    with raises(UsageError, field=variable("USER"), found="requests without a user"):
        connect(serve((401, "Unauthorized")).port)


def test_too_few_rights(serve, client_package):
    denial = {
        "error": {"type": "security_exception", "reason": "no permissions for [indices:data/read]"}
    }
    cluster = connect(serve((200, INFO), (403, denial)).port)
    denied = "security_exception: no permissions for [indices:data/read]"
    with raises(UsageError, field=variable("USER"), found=denied):
        ask(cluster, lambda client: client.count())


@pytest.mark.parametrize(
    "answer",
    [(200, "<html>"), (404, "<html>"), (404, {"detail": "?"}), (200, {"detail": "?"})],
    ids=str,
)
def test_another_kind_of_server(serve, client_package, answer):
    fail_to_connect(DataError, serve(answer).port, problem=re.compile("not OpenSearch"))


def test_an_answer_that_takes_too_long(client_package):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with raises(DataError, source=url, problem=re.compile(r"0\.1 seconds")):
            Cluster(Access((url,)), timeout=0.1, retries=3)


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate that is its own authority."""
    if not shutil.which("openssl"):
        pytest.skip("the openssl command, which makes the certificate, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj "
        "/CN=localhost"
    )
    names = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture
def tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def test_a_private_authority_is_trusted_when_it_is_named(serve, client_package, tls, certificate):
    server = serve((200, INFO), tls=tls)
    cluster = connect(
        server.port, scheme="https", ca_certs=str(certificate[0]), user="u", password=SECRET
    )
    assert cluster.release == "opensearch-9.8.7"


def test_an_unknown_authority_is_refused_before_the_password_is_sent(serve, client_package, tls):
    server = serve((200, INFO), tls=tls)
    fail_to_connect(UsageError, server.port, scheme="https", field=variable("CA_CERTS"))
    assert server.seen == []


def test_a_file_that_is_no_certificate(serve, client_package, tls, tmp_path):
    (file := tmp_path / "text.pem").write_text("no certificate", encoding="utf-8")
    certificates = {"ca_certs": str(file), "field": variable("CA_CERTS")}
    fail_to_connect(UsageError, serve(tls=tls).port, scheme="https", **certificates)


def test_a_certificate_is_shown_to_a_cluster_that_asks_for_it(
    serve, client_package, tls, certificate
):
    certificate, key = map(str, certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(certificate)
    server = serve((200, INFO), tls=tls)
    assert connect(
        server.port, scheme="https", ca_certs=certificate, client_cert=certificate, client_key=key
    ).release
    with pytest.raises((UsageError, DataError)):
        connect(server.port, scheme="https", ca_certs=certificate)


def test_https_to_a_server_without_tls(serve, client_package):
    fail_to_connect(UsageError, serve().port, scheme="https", field=variable("CA_CERTS"))
