"""How much one chunk entails another: by stems, or by WordNet as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.text.chunks import TextChunk
from classic_rc.text.wordnet import WordNet

__all__ = ["Entailment", "Keywords"]

IGNORED = frozenset({"object", "measure", "part"})
"""Hypotheses of one such word are entailed by almost anything in WordNet: only the same word entails them."""


class Keywords(NamedTuple):
    """The distinct keywords of chunks, ragged.

    Parameters
    ----------
    words : ndarray of int64
        Numbers that an :class:`Entailment` has given to words.
    offsets : ndarray of int64, shape (n_chunks + 1,)
    """

    words: NDArray[np.int64]
    offsets: NDArray[np.int64]


class Entailment:
    """How much text chunks entail hypothesis chunks: the mean over hypothesis keywords of their best support.

    A text word supports a hypothesis word of equal stem by 1 and, in WordNet, one that is d steps up from it by
    1 / (1 + d): ``SimilarityType`` ``WordOverlap`` and, as far as its service is described, ``Entailment`` of the
    released SemanticILP (AlignmentFunction.scala).

    Parameters
    ----------
    stem : callable
    wordnet : WordNet, optional
    """

    def __init__(self, stem: Callable[[str], str], wordnet: WordNet | None = None) -> None:
        self._stem, self._wordnet = stem, wordnet
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        self._stems: list[int] = []
        self._first: dict[str, int] = {}
        self._support: dict[tuple[int, int], float] = {}

    def keywords(self, chunks: Sequence[TextChunk]) -> Keywords:
        """The chunks' keywords as numbers; of words with one stem in a chunk the first."""
        numbered = []
        for chunk in chunks:
            numbers = [self._number(word.lower()) for word in chunk.words]
            numbered.append(list({self._stems[number]: number for number in reversed(numbers)}.values())[::-1])
        lengths = np.array([len(words) for words in numbered], dtype=np.int64)
        return Keywords(np.array([w for words in numbered for w in words], dtype=np.int64), offsets_of(lengths))

    def directed(self, texts: Keywords, hypotheses: Keywords) -> NDArray[np.float64]:
        """How much each text entails each hypothesis: shape (n_texts, n_hypotheses), in 0..1."""
        n_texts, n_hypotheses = len(texts.offsets) - 1, len(hypotheses.offsets) - 1
        if not n_texts or not n_hypotheses:
            return np.zeros((n_texts, n_hypotheses))
        support = self._word_support(texts.words, hypotheses)
        best = np.maximum.reduceat(support, texts.offsets[:-1], axis=0)
        return np.add.reduceat(best, hypotheses.offsets[:-1], axis=1) / np.diff(hypotheses.offsets)

    def symmetric(self, one: Keywords, other: Keywords) -> NDArray[np.float64]:
        """The mean of both directions: shape (n_one, n_other), in 0..1."""
        return (self.directed(one, other) + self.directed(other, one).T) / 2

    def _number(self, word: str) -> int:
        number = self._numbers.setdefault(word, len(self._words))
        if number == len(self._words):
            self._words.append(word)
            self._stems.append(self._first.setdefault(self._stem(word), number))
        return number

    def _word_support(self, texts: NDArray[np.int64], hypotheses: Keywords) -> NDArray[np.float64]:
        words, stems = hypotheses.words, np.array(self._stems, dtype=np.int64)
        support = (stems[texts][:, None] == stems[words]).astype(np.float64)
        if self._wordnet is None:
            return support
        alone = np.repeat(np.diff(hypotheses.offsets) == 1, np.diff(hypotheses.offsets))
        for column, (word, single) in enumerate(zip(words.tolist(), alone.tolist(), strict=True)):
            if not (single and self._words[word] in IGNORED):
                own = [self._word_entails(text, word) for text in texts.tolist()]
                support[:, column] = np.maximum(support[:, column], own)
        return support

    def _word_entails(self, text: int, hypothesis: int) -> float:
        key = text, hypothesis
        if key not in self._support:
            assert self._wordnet is not None
            steps = self._wordnet.steps_up(self._words[text], self._words[hypothesis])
            self._support[key] = 0.0 if steps is None else 1 / (1 + steps)
        return self._support[key]
