"""Retrieval: search engines over sentences with one interface, their similarities, and corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.retrieval.base import Best, Engine, Hits
    from classic_rc.retrieval.corpus import Corpus, passage_corpus
    from classic_rc.retrieval.registry import ENGINES, engine_class, get_engine, open_corpus
    from classic_rc.retrieval.similarity import (
        BM25,
        SIMILARITIES,
        Classic,
        Okapi,
        Similarity,
        get_similarity,
    )

__all__ = [
    "BM25",
    "ENGINES",
    "SIMILARITIES",
    "Best",
    "Classic",
    "Corpus",
    "Engine",
    "Hits",
    "Okapi",
    "Similarity",
    "engine_class",
    "get_engine",
    "get_similarity",
    "open_corpus",
    "passage_corpus",
]

__getattr__, __dir__ = names_on_use(__name__)
