"""A corpus: sentences in an engine with their sources."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.questions import Passage
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.texts import fingerprint
from classic_rc.text.sentence_arrays import iter_sentence_texts


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Sentences that can be searched.

    Parameters
    ----------
    name : str
        A name for people: ``"passages"``, or the name of an index.
    engine : Engine
        The engine, with the sentences indexed.
    fingerprint : str
        Hex sha256 of the sentences, in order.
    source : callable
        Returns where the sentence with a number comes from: a passage's id, or a file and line.
    """

    name: str
    engine: Engine
    fingerprint: str
    source: Callable[[int], str]

    @property
    def signature(self) -> str:
        """The name, content and size: ``passages@1f2e3d4c(8,412 sentences)``."""
        return f"{self.name}@{self.fingerprint[:8]}({self.engine.n_sentences:,} sentences)"

    def without(self, numbers: Sequence[int]) -> Corpus:
        """Return the corpus as if these sentences had no index term, with a fingerprint of its
        own.
        """
        if not len(numbers):
            return self
        digest = hashlib.sha256(f"{self.fingerprint} without {sorted(numbers)}".encode())
        return replace(self, engine=self.engine.without(numbers), fingerprint=digest.hexdigest())


def passage_corpus(passages: Iterable[Passage], engine: Engine) -> Corpus:
    """Index the sentences of passages; a text that several passages have is indexed once.

    Parameters
    ----------
    passages : iterable of Passage
    engine : Engine
        An empty engine; this function fills it.
    """
    distinct = list({p.text: p for p in passages}.values())
    sentences = list(iter_sentence_texts(distinct))
    firsts = offsets_of(list(map(len, sentences)))
    texts = [sentence for passage_sentences in sentences for sentence in passage_sentences]
    engine.index(texts)
    return Corpus(
        "passages",
        engine,
        fingerprint(texts),
        partial(_passage_source, [p.id for p in distinct], firsts),
    )


def _passage_source(ids: Sequence[str], firsts: NDArray[np.int64], number: int) -> str:
    return f"passage {ids[int(np.searchsorted(firsts, number, side='right')) - 1]}"
