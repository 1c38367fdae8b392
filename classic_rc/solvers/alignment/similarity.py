"""How much one chunk entails another: by stems, or by WordNet as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.text.encode import TextChunk
from classic_rc.text.wordnet import Synset, WordNet

IGNORED = frozenset({"object", "measure", "part"})
"""Hypotheses of one such word are entailed by almost anything in WordNet: only the same word entails them."""


class Keywords(NamedTuple):
    """The distinct keywords of chunks, ragged.

    Parameters
    ----------
    words : list of str
        In lower case.
    stems : ndarray of int64, shape (n_words,)
        Numbers that an :class:`Entailment` has given to the words' stems.
    offsets : ndarray of int64, shape (n_chunks + 1,)
    above : dict
        Of each synonym set that is above some of the words in WordNet, or has them, which words these are, and how
        much they support it; empty without WordNet.
    """

    words: list[str]
    stems: NDArray[np.int64]
    offsets: NDArray[np.int64]
    above: dict[Synset, list[tuple[int, float]]]


class Entailment:
    """How much text chunks entail hypothesis chunks: the mean over hypothesis keywords of their best support.

    A text word supports a hypothesis word of equal stem by 1 and, in WordNet, one that is d steps up from it by
    1 / (1 + d). After `WordOverlap` and, as far as its service is described, `Entailment` of the released
    SemanticILP (AlignmentFunction.scala).

    Parameters
    ----------
    stem : callable
    wordnet : WordNet, optional
    """

    def __init__(self, stem: Callable[[str], str], wordnet: WordNet | None = None) -> None:
        self._stem, self._wordnet = stem, wordnet
        self._stems: dict[str, int] = {}

    def keywords(self, chunks: Sequence[TextChunk]) -> Keywords:
        """The chunks' keywords; of words with one stem in a chunk the first."""
        words, stems, lengths = list[str](), list[int](), list[int]()
        above: dict[Synset, list[tuple[int, float]]] = {}
        for chunk in chunks:
            own: dict[int, str] = {}
            for word in chunk.words:
                stem = self._stem(word.lower())
                own.setdefault(self._stems.setdefault(stem, len(self._stems)), word.lower())
            for number, word in own.items():
                if self._wordnet is not None:
                    for synset, steps in self._wordnet.above(word).items():
                        above.setdefault(synset, []).append((len(words), 1 / (1 + steps)))
                words.append(word)
                stems.append(number)
            lengths.append(len(own))
        return Keywords(
            words, np.array(stems, dtype=np.int64), offsets_of(np.array(lengths, dtype=np.int64)), above
        )

    def directed(self, texts: Keywords, hypotheses: Keywords) -> NDArray[np.float64]:
        """How much each text entails each hypothesis: shape (n_texts, n_hypotheses), in 0..1."""
        n_texts, n_hypotheses = len(texts.offsets) - 1, len(hypotheses.offsets) - 1
        if not n_texts or not n_hypotheses:
            return np.zeros((n_texts, n_hypotheses))
        support = (texts.stems[:, None] == hypotheses.stems).astype(np.float64)
        if self._wordnet is not None:
            self._add_more_general(support, texts, hypotheses)
        best = np.maximum.reduceat(support, texts.offsets[:-1], axis=0)
        return np.add.reduceat(best, hypotheses.offsets[:-1], axis=1) / np.diff(hypotheses.offsets)

    def symmetric(self, one: Keywords, other: Keywords) -> NDArray[np.float64]:
        """The mean of both directions: shape (n_one, n_other), in 0..1."""
        return (self.directed(one, other) + self.directed(other, one).T) / 2

    def _add_more_general(self, support: NDArray[np.float64], texts: Keywords, hypotheses: Keywords) -> None:
        """Raise the support, by words of the texts, of hypothesis words that mean the same or more."""
        assert self._wordnet is not None
        lengths = np.diff(hypotheses.offsets)
        alone = np.repeat(lengths == 1, lengths).tolist()
        for column, word in enumerate(hypotheses.words):
            if alone[column] and word in IGNORED:
                continue
            for synset in self._wordnet.synsets(word):
                for row, value in texts.above.get(synset, ()):
                    support[row, column] = max(support[row, column], value)
