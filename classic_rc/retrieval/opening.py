"""Opening what a name stands for: an index folder of ours or of Lucene's, or an index of a cluster."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from classic_rc.errors import UsageError
from classic_rc.retrieval.corpus import Corpus


def open_corpus(name: str, *, engine: str = "sparse", similarity: Any = None) -> Corpus:
    """A corpus that stands outside of this process.

    Parameters
    ----------
    name : str
        For ``sparse`` a folder that ``classic-rc index`` built, for ``lucene`` one that Lucene or Anserini built,
        for ``opensearch`` the name of an index.
    engine : str
    similarity : str or Similarity, optional
        How sentences are scored; an index of a cluster brings its own.

    Returns
    -------
    Corpus

    Raises
    ------
    UsageError
        The engine keeps no index.
    DataError
        There is no such index, or it cannot be used.
    """
    if engine == "sparse":
        from classic_rc.retrieval.directory import open_index

        return open_index(name, similarity=similarity)
    if engine == "lucene":
        from classic_rc.retrieval.lucene import Lucene

        lucene = Lucene.open(name, similarity=similarity)
        return Corpus(Path(name).name, lucene, _commit_of(Path(name)), _number)
    if engine == "opensearch":
        from classic_rc.retrieval.opensearch import OpenSearch

        cluster = OpenSearch.open(name)
        return Corpus(name, cluster, cluster.fingerprint, _number)
    raise UsageError(f"engine {engine!r} keeps no index that could be opened: corpus={name!r} needs 'sparse'")


def _number(number: int) -> str:
    return f"sentence {number}"


def _commit_of(folder: Path) -> str:
    """What tells one state of a Lucene index from another: the file that lists all others and carries their ids."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("segments_*")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
