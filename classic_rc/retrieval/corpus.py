"""A corpus: sentences in an engine with their sources; and a search for questions that occur in it verbatim."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, Self, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.questions import Passage, Question, normalised_text
from classic_rc.retrieval.base import Engine
from classic_rc.text.sentences import passage_sentences

_BLOCK = 2**10


class Texts(Sequence[str]):
    """Texts that are stored as UTF-8 and decoded on access.

    Parameters
    ----------
    data : ndarray of uint8
        The texts' bytes, one text after the other.
    offsets : ndarray of integers, shape (n_texts + 1,)
        Text i is ``data[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> texts = Texts.of(["Zoë", "", "Nora"])
    >>> texts[0], len(texts), list(texts[1:])
    ('Zoë', 3, ['', 'Nora'])
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.integer[Any]]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Encode texts in memory, with offsets of the smallest type that holds them."""
        coded = [_coded(text) for text in texts]
        offsets = offsets_of(np.fromiter(map(len, coded), np.int64, len(coded)))
        return cls(np.frombuffer(b"".join(coded), np.uint8), offsets.astype(np.min_scalar_type(offsets[-1])))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], name: str) -> Self:
        """Return the texts of the arrays that :meth:`arrays` gave."""
        return cls(arrays[f"{name}_data"], arrays[f"{name}_offsets"])

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the two arrays under the names ``name_data`` and ``name_offsets``."""
        return {f"{name}_data": self.data, f"{name}_offsets": self.offsets}

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Texts: ...
    def __getitem__(self, index: int | slice) -> str | Texts:
        which = range(len(self))[index]
        if isinstance(which, int):
            return self._bytes(which).decode("utf-8", "surrogatepass")
        if which.step != 1:
            return Texts.of(self[i] for i in which)
        return Texts(self.data, self.offsets[which.start : max(which.start, which.stop) + 1])

    def coded(self) -> Iterator[bytes]:
        """Yield the UTF-8 bytes of each text."""
        for start in range(0, len(self), _BLOCK):
            bounds = self.offsets[start : start + _BLOCK + 1].tolist()
            block = self.data[bounds[0] : bounds[-1]].tobytes()
            for first, last in pairwise(bounds):
                yield block[first - bounds[0] : last - bounds[0]]

    def _bytes(self, index: int) -> bytes:
        start, end = self.offsets[index : index + 2].tolist()
        return self.data[start:end].tobytes()


def fingerprint(texts: Iterable[str]) -> str:
    """Return the hex sha256 of texts, in order.

    Examples
    --------
    >>> fingerprint(["ab", "c"]) == fingerprint(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    add_to_fingerprint(digest, map(_coded, texts))
    return digest.hexdigest()


def add_to_fingerprint(digest: hashlib._Hash, coded: Iterable[bytes]) -> None:
    """Update a sha256 with the UTF-8 bytes of more texts, each after its length."""
    for text in coded:
        digest.update(len(text).to_bytes(8, "little") + text)


def _coded(text: str) -> bytes:
    # JSON can contain unpaired surrogates; they must survive encoding and decoding.
    return text.encode("utf-8", "surrogatepass")


class Sources(Protocol):
    """Returns where each sentence of a corpus comes from."""

    def __call__(self, number: int) -> str:
        """Return the source of one sentence, in a few words."""


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Sentences that can be searched.

    Parameters
    ----------
    name : str
        A name for people: ``"passages"``, or that of an index.
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
    source: Sources

    @property
    def signature(self) -> str:
        """The name, content and size: ``passages@1f2e3d4c(8,412 sentences)``."""
        return f"{self.name}@{self.fingerprint[:8]}({self.engine.n_sentences:,} sentences)"

    def without(self, numbers: Sequence[int]) -> Corpus:
        """Return the corpus as if these sentences had no index term, with a fingerprint of its own.

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
    """Index the sentences of passages; a text that several passages have is indexed once.

    Parameters
    ----------
    passages : iterable of Passage
    engine : Engine
        An empty engine; this function fills it.
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


@dataclass(frozen=True, slots=True)
class Verbatim:
    """What a corpus contains word for word, ignoring case and blanks."""

    questions: int  # questions that some sentence contains
    pairs: int  # of these, questions with a right answer in that sentence or the next one
    passages: int | None  # passages whose sentences are all in the corpus; None if passages were not searched
    sentences: frozenset[int]  # numbers of the sentences that contain the questions and the passages

    def __bool__(self) -> bool:
        return bool(self.sentences)

    def __str__(self) -> str:
        asked = f"{self.questions} questions, {self.pairs} of them with a right answer"
        return asked if self.passages is None else f"{asked}, and {self.passages} passages"


def find_verbatim(corpus: Corpus, questions: Sequence[Question], *, passages: bool = True) -> Verbatim:
    """Search a corpus for questions, questions with their right answers, and passages.

    Parameters
    ----------
    corpus : Corpus
    questions : sequence of Question
        If their gold is hidden, only the questions are searched.
    passages : bool
        Whether to search for their passages too.
    """
    finder = _Finder(corpus)
    asked = finder.holders([q.query for q in questions])
    n_pairs = sum(finder.answered(q, found) for q, found in zip(questions, asked, strict=True))
    sentences = {number for found in asked for number in found}
    n_passages = None
    if passages:
        whole = finder.passages(questions)
        n_passages = len(whole)
        sentences.update(*whole)
    return Verbatim(sum(map(bool, asked)), n_pairs, n_passages, frozenset(sentences))


class _Finder:
    def __init__(self, corpus: Corpus) -> None:
        self._engine = corpus.engine

    def holders(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the sentences that contain each text."""
        found = self._engine.having_all_terms(texts)
        return [
            [number for number in numbers.tolist() if self._holds(number, normalised_text(text))]
            for text, numbers in zip(texts, found, strict=True)
        ]

    def _holds(self, number: int, normalised: str) -> bool:
        within = f" {normalised_text(self._engine.sentence(number))} "
        at = within.find(normalised)
        while normalised and at >= 0:  # whole words only: "this" does not contain "his"
            before, after = within[at - 1], within[at + len(normalised)]
            if not (before.isalnum() and normalised[0].isalnum()) and not (
                after.isalnum() and normalised[-1].isalnum()
            ):
                return True
            at = within.find(normalised, at + 1)
        return False

    def answered(self, question: Question, holders: list[int]) -> bool:
        """Return whether one of these sentences, or the one after it, contains a right answer."""
        near = {n for number in holders for n in (number, number + 1) if n < self._engine.n_sentences}
        texts = [normalised_text(text) for text in question.gold_texts]
        return any(self._holds(number, text) for number in near for text in texts)

    def passages(self, questions: Sequence[Question]) -> list[set[int]]:
        """Return the sentences of each passage that the corpus contains as a whole."""
        distinct = list({id(q.passage): q.passage for q in questions}.values())
        texts = [[p.text[start:end] for start, end in passage_sentences(p)] for p in distinct]
        texts = [own for own in texts if own]
        # The longest sentence is the least likely to be there by chance, so one search decides for most passages.
        longest = self.holders([max(own, key=len) for own in texts])
        whole = []
        for own, found in zip(texts, longest, strict=True):
            if found and all(held := self.holders(own)):
                whole.append({number for numbers in held for number in numbers})
        return whole
