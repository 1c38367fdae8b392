"""The engines by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from classic_rc.errors import UsageError, unknown_name
from classic_rc.retrieval.base import Engine

ENGINES: Mapping[str, str] = {
    "sparse": "classic_rc.retrieval.sparse:Sparse",
    "lucene": "classic_rc.retrieval.lucene:Lucene",
    "rank-bm25": "classic_rc.retrieval.rank_bm25:RankBM25",
    "opensearch": "classic_rc.retrieval.opensearch:OpenSearch",
}
"""Where the class of each engine is; it is imported when it is asked for."""


def engine_class(name: str) -> type[Engine]:
    """The class of an engine.

    Raises
    ------
    UsageError
        No engine has this name.
    """
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    module, _, class_name = ENGINES[name].partition(":")
    found: type[Engine] = getattr(import_module(module), class_name)
    return found


def get_engine(name: str, **parameters: Any) -> Engine:
    """A new engine, in which nothing is indexed.

    Parameters
    ----------
    name : str
        In :data:`ENGINES`.
    **parameters
        As of its class: `similarity` and `analyzer` for all of them.

    Raises
    ------
    UsageError
        No engine has this name, or a parameter is wrong.

    Examples
    --------
    >>> get_engine("sparse", similarity="classic")
    <engine sparse:classic:lucene-english>
    """
    try:
        return engine_class(name)(**parameters)
    except TypeError as error:
        raise UsageError(f"engine {name}: {error}") from None
