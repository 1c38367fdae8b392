"""Search engines by name, and indexes opened as corpora."""

from __future__ import annotations

import os
from typing import Any

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.plugins import Registry, accept_classes
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.corpus import Corpus

ENGINES: Registry[type[Engine]] = Registry(
    "engine",
    {
        "sparse": "classic_rc.retrieval.sparse:Sparse",
        "lucene": "classic_rc.retrieval.engines.lucene:Lucene",
        "rank-bm25": "classic_rc.retrieval.engines.rank_bm25:RankBM25",
        "opensearch": "classic_rc.retrieval.engines.opensearch:OpenSearch",
    },
    accept_classes("classic_rc.retrieval:Engine"),
)
"""All engines: the package's own, then plug-ins of the entry point group ``classic_rc.engines``."""

DEFAULT_ENGINE = "sparse"


def engine_class(name: str) -> type[Engine]:
    """Return the class of an engine.

    Raises
    ------
    UsageError
        No engine has this name, or a plug-in cannot be used.
    """
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    return ENGINES[name]


def recognise_index(place: str) -> str | None:
    """Return the name of the engine that has a stored index in this place, or None."""
    return next((name for name, engine in ENGINES.items() if engine.recognises(place)), None)


def get_engine(name: str, **parameters: Any) -> Engine:
    """Return a new engine of this name, without any sentences.

    Parameters
    ----------
    name : str
        A name in :data:`ENGINES`.
    **parameters
        The parameters of its class; all classes have `similarity`, `analyzer` and `place`.

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


def open_corpus(
    place: str | os.PathLike[str], *, engine: str = DEFAULT_ENGINE, similarity: Any = None
) -> Corpus:
    """Open an existing index as a corpus.

    Parameters
    ----------
    place : str or path
        What the engine opens (``stored_as`` of its class): for ``sparse`` a folder built by
        ``classic-rc index``.
    engine : str
    similarity : str or Similarity, optional
        How sentences are scored. An index may have its own, and refuse others.

    Returns
    -------
    Corpus
        It has the last part of the place as its name.

    Raises
    ------
    UsageError
        No engine has this name, or it has no indexes that can be opened.
    DataError
        The index does not exist or cannot be used.
    """
    engine_type = engine_class(engine)
    if not engine_type.stored_as:
        expected = " or ".join(
            repr(name) for name, actual_engine in ENGINES.items() if actual_engine.stored_as
        )
        problem = (
            f"engine {engine!r} opens no indexes, got corpus={os.fspath(place)!r}: use {expected}"
        )
        raise UsageError(problem, field="engine", found=engine, expected=expected)
    try:
        opened = engine_type.open(os.fspath(place), similarity=similarity)
    except DataError:
        if (actual_engine := recognise_index(os.fspath(place))) in (None, engine):
            raise
        problem = (
            f"{os.fspath(place)} is an index of engine {actual_engine}: add engine={actual_engine}"
        )
        raise UsageError(problem, field="engine", found=engine, expected=actual_engine) from None
    name = os.path.basename(os.path.abspath(place))
    return Corpus(name, opened, opened.fingerprint, opened.source)
