"""Digests of what a solver can read and a dataset's fingerprint does not cover.

These are sentence marks and the fields in ``meta``. Cells, signatures, records and saved solvers
take their digests from here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from classic_rc.io.files import sha256_of_text
from classic_rc.questions import Dataset, Question

_RELEASED = frozenset(
    {
        "c43b76e8381bf7371ed8c41362f52361a2ed87500a61266b5f4da4ec45fe6a31",  # MultiRC, dev
        "73803b0ba8fb9b7830775d80af92916ea5a72c2b7a28b5868e034533782600f3",  # MultiRC, train
    }
)
"""Digests of the sentence marks of releases, whose fingerprints say which marks they have."""


_Digest = TypeVar("_Digest")


def _computed_once(digest: Callable[[Dataset], _Digest]) -> Callable[[Dataset], _Digest]:
    """Keep the digest of each dataset: every row's signature and every saved record has it."""
    digests: WeakKeyDictionary[Dataset, _Digest] = WeakKeyDictionary()

    @wraps(digest)
    def look_up(dataset: Dataset) -> _Digest:
        if dataset not in digests:
            digests[dataset] = digest(dataset)
        return digests[dataset]

    return look_up


def digest_of(plain: Any) -> str:
    """Return the sha256 of plain data, in which the order of keys has no meaning."""
    return sha256_of_text(json.dumps(plain, sort_keys=True, separators=(",", ":"), default=str))


@_computed_once
def sentences_digest(dataset: Dataset) -> str | None:
    """Return the digest of the passages' sentence marks; None if there are none, or those of a
    release.
    """
    marks = [passage.sentences for passage in dataset.passages]
    digest = digest_of(marks) if any(marks) else None
    return None if digest in _RELEASED else digest


def values_digest(questions: Iterable[Question], key: str) -> str:
    """Return the digest of the values of a key of ``meta``, question by question."""
    return digest_of([question.meta_value(key) for question in questions])


@_computed_once
def facts_digest(dataset: Dataset) -> str:
    """Return the digest of all facts."""
    passages = [[passage.sentences, dict(passage.meta)] for passage in dataset.passages]
    scorers = [list(dataset.scorers)] if dataset.scorers else []
    return digest_of([passages, [dict(question.meta) for question in dataset], *scorers])
