"""A corpus: sentences in an engine, with a name, a fingerprint and a source for each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.questions import Passage
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.texts import fingerprint
from classic_rc.text.sentences import passage_sentences


class Sources(Protocol):
    """Where each sentence of a corpus comes from."""

    def __call__(self, number: int) -> str:
        """The source of one sentence, in a few words."""


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Sentences that can be searched.

    Parameters
    ----------
    name : str
        For people: ``"passages"``, or an index's.
    engine : Engine
        With the sentences indexed.
    fingerprint : str
        Hex sha256 of the sentences, in order.
    source : callable
        Where the sentence of a number comes from: a passage's id, a file and line.
    """

    name: str
    engine: Engine
    fingerprint: str
    source: Sources

    @property
    def signature(self) -> str:
        """Name, content and size: ``passages@1f2e3d4c(8,412 sentences)``."""
        return f"{self.name}@{self.fingerprint[:8]}({self.engine.n_sentences:,} sentences)"

    def without(self, numbers: Sequence[int]) -> Corpus:
        """The corpus as if these sentences had no index term, with a fingerprint that says so.

        Raises
        ------
        UsageError
            The engine cannot leave sentences out.
        """
        if not len(numbers):
            return self
        digest = hashlib.sha256(f"{self.fingerprint} without {sorted(numbers)}".encode())
        return replace(self, engine=self.engine.without(numbers), fingerprint=digest.hexdigest())


def passage_corpus(passages: Iterable[Passage], engine: Engine) -> Corpus:
    """The sentences of passages; a text that several passages have is taken once.

    Parameters
    ----------
    passages : iterable of Passage
    engine : Engine
        Empty; it is filled here.
    """
    distinct = list({p.text: p for p in passages}.values())
    sentences = [[p.text[start:end] for start, end in passage_sentences(p)] for p in distinct]
    first = offsets_of(np.array([len(own) for own in sentences], dtype=np.int64))
    texts = [sentence for own in sentences for sentence in own]
    engine.index(texts)
    return Corpus("passages", engine, fingerprint(texts), _PassageSources(distinct, first))


class _PassageSources:
    def __init__(self, passages: list[Passage], first: NDArray[np.int64]) -> None:
        self._ids, self._first = [p.id for p in passages], first

    def __call__(self, number: int) -> str:
        return f"passage {self._ids[int(np.searchsorted(self._first, number, side='right')) - 1]}"
