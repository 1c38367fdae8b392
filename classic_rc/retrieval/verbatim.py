"""Whether what is asked stands in the corpus word for word: questions, their answers, their passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from classic_rc.questions import Question, normalised_text
from classic_rc.retrieval.corpus import Corpus
from classic_rc.text.sentences import passage_sentences


@dataclass(frozen=True, slots=True)
class Verbatim:
    """What stands in a corpus word for word, case and blanks aside.

    Parameters
    ----------
    questions : int
        Questions that a sentence of the corpus holds.
    pairs : int
        Of these, those of which that sentence or the next one holds a right answer too.
    passages : int or None
        Passages all of whose sentences stand in the corpus; None where they were not looked for.
    sentences : frozenset of int
        The numbers of the sentences that hold the questions and the passages.
    """

    questions: int
    pairs: int
    passages: int | None
    sentences: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.sentences)

    def __str__(self) -> str:
        asked = f"{self.questions} questions, {self.pairs} of them with a right answer"
        return asked if self.passages is None else f"{asked}, and {self.passages} passages"


def find_verbatim(corpus: Corpus, questions: Sequence[Question], *, passages: bool = True) -> Verbatim:
    """Look for questions, questions with their right answers, and passages in a corpus.

    Parameters
    ----------
    corpus : Corpus
    questions : sequence of Question
        Where gold is hidden, only the question is looked for.
    passages : bool
        Whether to look for their passages.
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
        """The sentences that hold each text."""
        found = self._engine.having_all_terms(texts)
        return [
            [number for number in numbers.tolist() if self._holds(number, normalised_text(text))]
            for text, numbers in zip(texts, found, strict=True)
        ]

    def _holds(self, number: int, normalised: str) -> bool:
        within = f" {normalised_text(self._engine.sentence(number))} "
        at = within.find(normalised)
        while normalised and at >= 0:  # whole words: "his" does not stand in "this"
            before, after = within[at - 1], within[at + len(normalised)]
            if not (before.isalnum() and normalised[0].isalnum()) and not (
                after.isalnum() and normalised[-1].isalnum()
            ):
                return True
            at = within.find(normalised, at + 1)
        return False

    def answered(self, question: Question, holders: list[int]) -> bool:
        """Whether one of these sentences, or the one after it, holds a right answer to the question."""
        near = {n for number in holders for n in (number, number + 1) if n < self._engine.n_sentences}
        texts = [normalised_text(text) for text in question.gold_texts]
        return any(self._holds(number, text) for number in near for text in texts)

    def passages(self, questions: Sequence[Question]) -> list[set[int]]:
        """For each passage that stands in the corpus as a whole, its sentences there."""
        distinct = list({id(q.passage): q.passage for q in questions}.values())
        texts = [[p.text[start:end] for start, end in passage_sentences(p)] for p in distinct]
        texts = [own for own in texts if own]
        # The longest sentence is the least likely to be there by chance: most passages need no other look.
        longest = self.holders([max(own, key=len) for own in texts])
        whole = []
        for own, found in zip(texts, longest, strict=True):
            if found and all(held := self.holders(own)):
                whole.append({number for numbers in held for number in numbers})
        return whole
