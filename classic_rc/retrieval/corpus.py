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
from classic_rc.kernels.byte_pieces import character_places
from classic_rc.questions import Passage, Question, normalised_text
from classic_rc.retrieval.base import Engine
from classic_rc.text.sentences import passage_sentences

_BLOCK = 2**12
"""How many texts are encoded, decoded or hashed together: few enough to fit into a core's cache."""

_PREFIX = 8
"""The bytes of a text's length in a fingerprint."""


class StoredTexts(Sequence[str]):
    """Texts that are stored as UTF-8 and decoded on access.

    Parameters
    ----------
    data : ndarray of uint8
        The texts' bytes, one text after the other.
    offsets : ndarray of integers, shape (n_texts + 1,)
        Text i is ``data[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> texts = StoredTexts.of(["Zoë", "", "Nora"])
    >>> texts[0], len(texts), list(texts[1:])
    ('Zoë', 3, ['', 'Nora'])
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.integer[Any]]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Encode texts in memory, with offsets of the smallest type that holds them."""
        texts = texts if isinstance(texts, list) else list(texts)
        parts, lengths = [], np.fromiter(map(len, texts), np.int64, len(texts))  # in characters
        for start in range(0, len(texts), _BLOCK):
            block = slice(start, start + _BLOCK)
            parts.append(_encode("".join(texts[block])))
            if len(parts[-1]) > lengths[block].sum():  # not only ASCII
                lengths[block] = [len(_encode(text)) for text in texts[block]]
        offsets = offsets_of(lengths)
        return cls(np.frombuffer(b"".join(parts), np.uint8), offsets.astype(np.min_scalar_type(offsets[-1])))

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
    def __getitem__(self, index: slice) -> StoredTexts: ...
    def __getitem__(self, index: int | slice) -> str | StoredTexts:
        position = range(len(self))[index]
        if isinstance(position, int):
            return self._bytes(position).decode("utf-8", "surrogatepass")
        if position.step != 1:
            return StoredTexts.of(self[i] for i in position)
        return StoredTexts(self.data, self.offsets[position.start : max(position.start, position.stop) + 1])

    def __iter__(self) -> Iterator[str]:
        for block, bounds in self._blocks():
            text = block.decode("utf-8", "surrogatepass")
            if len(text) < len(block):
                bounds = np.append(character_places(block), len(text))[bounds]
            for first, last in pairwise(bounds.tolist()):
                yield text[first:last]

    def coded(self) -> Iterator[bytes]:
        """Yield the UTF-8 bytes of each text."""
        for block, bounds in self._blocks():
            for first, last in pairwise(bounds.tolist()):
                yield block[first:last]

    def count_with(self, character: str) -> int:
        """Return how many texts have a character."""
        first, *rest = _encode(character)
        start, end = int(self.offsets[0]), int(self.offsets[-1]) - len(rest)
        places = start + np.flatnonzero(self.data[start : max(end, start)] == first)
        for number, byte in enumerate(rest, start=1):
            places = places[self.data[places + number] == byte]
        return len(np.unique(np.searchsorted(self.offsets, places, side="right")))

    def hash_into(self, digest: hashlib._Hash) -> None:
        """Update a sha256 with the UTF-8 bytes of each text, after its length in eight bytes, little-endian."""
        for block, bounds in self._blocks():
            starts = bounds[:-1] + np.arange(0, _PREFIX * (len(bounds) - 1), _PREFIX)
            prefixes = starts[:, None] + np.arange(_PREFIX)
            hashed = np.empty(len(block) + prefixes.size, dtype=np.uint8)
            is_text = np.ones(len(hashed), dtype=np.bool_)
            is_text[prefixes] = False
            hashed[prefixes] = np.diff(bounds).astype("<u8").view(np.uint8).reshape(-1, _PREFIX)
            hashed[is_text] = np.frombuffer(block, np.uint8)
            digest.update(hashed.data)

    def _blocks(self) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
        """Yield the bytes of some texts, and the offset of each in them."""
        for start in range(0, len(self), _BLOCK):
            bounds = self.offsets[start : start + _BLOCK + 1].astype(np.int64)
            yield self.data[bounds[0] : bounds[-1]].tobytes(), bounds - bounds[0]

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
    StoredTexts.of(texts).hash_into(digest)
    return digest.hexdigest()


def update_fingerprint(digest: hashlib._Hash, text: str) -> None:
    """Update a sha256 with one more text; :meth:`StoredTexts.hash_into` is faster for many."""
    coded = _encode(text)
    digest.update(len(coded).to_bytes(_PREFIX, "little") + coded)


def _encode(text: str) -> bytes:
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
    firsts = offsets_of(np.array([len(own) for own in sentences], dtype=np.int64))
    texts = [sentence for own in sentences for sentence in own]
    engine.index(texts)
    return Corpus("passages", engine, fingerprint(texts), _PassageSources(distinct, firsts))


class _PassageSources:
    """Returns the id of the passage that has a sentence."""

    def __init__(self, passages: list[Passage], firsts: NDArray[np.int64]) -> None:
        self._ids, self._firsts = [p.id for p in passages], firsts

    def __call__(self, number: int) -> str:
        return f"passage {self._ids[int(np.searchsorted(self._firsts, number, side='right')) - 1]}"


@dataclass(frozen=True, slots=True)
class VerbatimPassages:
    """What a corpus contains word for word, ignoring case and blanks."""

    questions: int  # questions that some sentence contains
    pairs: int  # of these, questions with a right answer in that sentence or the next one
    passages: int | None  # passages whose sentences are all in the corpus; None if passages were not searched
    sentences: frozenset[int]  # numbers of the sentences that contain the questions and the passages

    def __bool__(self) -> bool:
        return bool(self.sentences)

    def __str__(self) -> str:
        questions = f"{self.questions} questions, {self.pairs} of them with a right answer"
        return questions if self.passages is None else f"{questions}, and {self.passages} passages"


def find_verbatim(corpus: Corpus, questions: Sequence[Question], *, passages: bool = True) -> VerbatimPassages:
    """Search a corpus for questions, questions with their right answers, and passages.

    Parameters
    ----------
    corpus : Corpus
    questions : sequence of Question
        If their gold is hidden, only the questions are searched.
    passages : bool
        Whether to search for their passages too.
    """
    finder = _VerbatimFinder(corpus)
    containing = finder.find_containing([q.query for q in questions])
    n_pairs = sum(finder.has_answer_near(q, found) for q, found in zip(questions, containing, strict=True))
    sentences = {number for found in containing for number in found}
    n_passages = None
    if passages:
        complete = finder.find_passages(questions)
        n_passages = len(complete)
        sentences.update(*complete)
    return VerbatimPassages(sum(map(bool, containing)), n_pairs, n_passages, frozenset(sentences))


class _VerbatimFinder:
    def __init__(self, corpus: Corpus) -> None:
        self._engine = corpus.engine

    def find_containing(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the sentences that contain each text."""
        found = self._engine.find_with_all_terms(texts)
        return [
            [number for number in numbers.tolist() if self._contains(number, normalised_text(text))]
            for text, numbers in zip(texts, found, strict=True)
        ]

    def _contains(self, number: int, normalised: str) -> bool:
        """Return whether a sentence contains a normalised text."""
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

    def has_answer_near(self, question: Question, numbers: list[int]) -> bool:
        """Return whether one of these sentences, or the one after it, contains a right answer."""
        near = {n for number in numbers for n in (number, number + 1) if n < self._engine.n_sentences}
        texts = [normalised_text(text) for text in question.gold_texts]
        return any(self._contains(number, text) for number in near for text in texts)

    def find_passages(self, questions: Sequence[Question]) -> list[set[int]]:
        """Return the sentences of each passage that the corpus contains completely."""
        distinct = list({id(q.passage): q.passage for q in questions}.values())
        texts = [[p.text[start:end] for start, end in passage_sentences(p)] for p in distinct]
        texts = [own for own in texts if own]
        # The longest sentence is the least likely to be there by chance, so one search decides for most passages.
        longest = self.find_containing([max(own, key=len) for own in texts])
        complete = []
        for own, found in zip(texts, longest, strict=True):
            if found and all(containing := self.find_containing(own)):
                complete.append({number for numbers in containing for number in numbers})
        return complete
