"""A corpus: sentences in an engine with their sources; and a search for questions that occur in
it verbatim.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from classic_rc.equality import normalised_text
from classic_rc.kernels.arrays import offsets_of
from classic_rc.questions import Passage, Question
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.texts import fingerprint
from classic_rc.text.sentences import passage_sentences


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
    sentences = [[p.text[start:end] for start, end in passage_sentences(p)] for p in distinct]
    firsts = offsets_of(list(map(len, sentences)))
    texts = [sentence for own in sentences for sentence in own]
    engine.index(texts)
    return Corpus(
        "passages",
        engine,
        fingerprint(texts),
        partial(_passage_source, [p.id for p in distinct], firsts),
    )


def _passage_source(ids: Sequence[str], firsts: NDArray[np.int64], number: int) -> str:
    return f"passage {ids[int(np.searchsorted(firsts, number, side='right')) - 1]}"


@dataclass(frozen=True, slots=True)
class VerbatimPassages:
    """What a corpus contains word for word, ignoring case and blanks."""

    questions: int  # questions that some sentence contains
    pairs: int  # of these, questions with a right answer in that sentence or the next one
    # passages whose sentences are all in the corpus; None if passages were not searched
    passages: int | None
    # numbers of the sentences that contain the questions and the passages
    sentences: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.sentences)

    def __str__(self) -> str:
        questions = f"{self.questions} questions, {self.pairs} of them with a right answer"
        return questions if self.passages is None else f"{questions}, and {self.passages} passages"


def find_verbatim(
    corpus: Corpus, questions: Sequence[Question], *, passages: bool = True
) -> VerbatimPassages:
    """Search a corpus for questions, questions with their right answers if known, and their
    passages.
    """
    finder = _VerbatimFinder(corpus)
    containing = finder.find_containing([q.query for q in questions])
    n_pairs = sum(
        finder.has_answer_near(q, found) for q, found in zip(questions, containing, strict=True)
    )
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
        near = {
            n for number in numbers for n in (number, number + 1) if n < self._engine.n_sentences
        }
        texts = [normalised_text(text) for text in question.gold_texts]
        return any(self._contains(number, text) for number in near for text in texts)

    def find_passages(self, questions: Sequence[Question]) -> list[set[int]]:
        """Return the sentences of each passage that the corpus contains completely."""
        distinct = list({id(q.passage): q.passage for q in questions}.values())
        texts = [[p.text[start:end] for start, end in passage_sentences(p)] for p in distinct]
        texts = [own for own in texts if own]
        # The longest sentence is the least likely to be there by chance, so one search decides for
        # most passages.
        longest = self.find_containing([max(own, key=len) for own in texts])
        complete = []
        for own, found in zip(texts, longest, strict=True):
            if found and all(containing := self.find_containing(own)):
                complete.append({number for numbers in containing for number in numbers})
        return complete
