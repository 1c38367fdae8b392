"""Engines by name, and indexes opened by name."""

from __future__ import annotations

import pytest

from classic_rc.errors import UsageError
from classic_rc.retrieval.registry import get_engine, open_corpus
from tests.errors import raises


@pytest.mark.parametrize("name", ["google", "", "Sparse"])
def test_an_unknown_engine_is_called_unknown(name):
    for look in (get_engine, lambda engine: open_corpus("fables", engine=engine)):
        with raises(UsageError, field="engine", found=name) as caught:
            look(name)
        assert "unknown engine" in str(caught.value)


def test_an_engine_without_stored_indexes_opens_none():
    with raises(UsageError, field="engine", found="rank-bm25", expected="sparse, lucene or opensearch"):
        open_corpus("fables", engine="rank-bm25")
