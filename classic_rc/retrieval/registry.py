"""Search engines by name, and corpora opened by the name of their index."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from classic_rc.errors import UsageError, unknown_name
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.corpus import Corpus

ENGINES: Mapping[str, str] = {
    "sparse": "classic_rc.retrieval.sparse:Sparse",
    "lucene": "classic_rc.retrieval.engines.lucene:Lucene",
    "rank-bm25": "classic_rc.retrieval.engines.rank_bm25:RankBM25",
    "opensearch": "classic_rc.retrieval.engines.opensearch:OpenSearch",
}
"""The class of each engine as ``module:Class``; it is imported on first use."""


def engine_class(name: str) -> type[Engine]:
    """Return the class of an engine.

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
    """Return a new engine of this name, without any sentences.

    Parameters
    ----------
    name : str
        A name in :data:`ENGINES`.
    **parameters
        The parameters of its class; all classes have `similarity` and `analyzer`.

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


def open_corpus(name: str, *, engine: str = "sparse", similarity: Any = None) -> Corpus:
    """Open an existing index as a corpus.

    Parameters
    ----------
    name : str
        For ``sparse`` a folder built by ``classic-rc index``, for ``lucene`` a folder built by Lucene or Anserini,
        for ``opensearch`` the name of an index on the cluster.
    engine : str
    similarity : str or Similarity, optional
        How sentences are scored. An index of a cluster has its own.

    Returns
    -------
    Corpus

    Raises
    ------
    UsageError
        No engine has this name, or it has no indexes that can be opened.
    DataError
        The index does not exist or cannot be used.
    """
    if engine == "sparse":
        from classic_rc.retrieval.index import open_index

        return open_index(name, similarity=similarity)
    if engine == "lucene":
        from classic_rc.retrieval.engines.lucene import Lucene

        lucene = Lucene.open(name, similarity=similarity)
        return Corpus(Path(name).name, lucene, _hash_commit(Path(name)), _sentence_source)
    if engine == "opensearch":
        from classic_rc.retrieval.engines.opensearch import OpenSearch

        cluster = OpenSearch.open(name)
        return Corpus(name, cluster, cluster.fingerprint, _sentence_source)
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    raise UsageError(
        f"engine {engine!r} cannot open the index corpus={name!r}: use engine='sparse'",
        field="engine",
        found=engine,
        expected="sparse, lucene or opensearch",
    )


def _sentence_source(number: int) -> str:
    return f"sentence {number}"


def _hash_commit(folder: Path) -> str:
    """Hash the commit file of a Lucene index, which lists all other files with their ids."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("segments_*")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
