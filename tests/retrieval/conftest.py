"""Lucene and a cluster, for the tests that need them."""

from __future__ import annotations

import time

import pytest

from classic_rc.errors import ClassicRCError
from classic_rc.retrieval.engines.jvm import start_java


@pytest.fixture(scope="module")
def needs_lucene() -> None:
    # Of the module, so that it runs before fixtures of a test that hide the jars.
    try:
        start_java()
    except ClassicRCError as error:
        pytest.skip(f"Lucene cannot run here: {error}")


@pytest.fixture(scope="session")
def server():
    pytest.importorskip(
        "opensearchpy",
        reason="opensearch-py is not installed: pip install 'classic_rc[opensearch]'",
    )
    osmem = pytest.importorskip(
        "osmem_server", reason="the test server is not installed: pip install osmem-server"
    )
    try:
        started = osmem.OsmemServer.start(japanese=False)
    except (OSError, osmem.OsmemError) as error:
        pytest.skip(f"the test server does not start: {error}")
    with started:
        yield started


@pytest.fixture
def url(server, monkeypatch):
    """A new empty cluster, named by the environment; repeated requests do not wait."""
    with server.clone() as clone:
        monkeypatch.setenv("CLASSIC_RC_OPENSEARCH_URL", clone.url)
        for name in ("USER", "PASSWORD", "CA_CERTS", "CLIENT_CERT", "CLIENT_KEY"):
            monkeypatch.delenv(f"CLASSIC_RC_OPENSEARCH_{name}", raising=False)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        yield clone.url
