"""The words of the training data: their numbers, which do not depend on an encoding, and how rare they are.

The helpers at the end are for texts of any encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.pairs import WordCounts, word_counts
from classic_rc.kernels.word_sets import flagged_or_all
from classic_rc.solvers.feature_ranker.texts import RankerTexts

RARITY_BITS = 20
"""The binary places of a rarity."""
MOST_WORDS = 2**20
"""Up to this many words, a key of three word numbers fits into an int64."""


@dataclass(frozen=True)
class TrainingWords:
    """The words of passages, questions and candidates of the training data."""

    words: list[str]  # ascending
    passages_with: NDArray[np.int64]  # (n_words,): how many training passages have each word
    n_passages: int

    @classmethod
    def learn(cls, texts: RankerTexts) -> TrainingWords:
        """Number the words of some texts, and count the passages that have them.

        Raises
        ------
        UsageError
            There are more than 2**20 words.
        """
        arrays, vocabulary = texts.encoded.arrays, texts.encoded.vocabulary
        if len(vocabulary) > MOST_WORDS:
            raise UsageError(
                f"{len(vocabulary):,} words are too many for the feature ranker, the limit is {MOST_WORDS:,}",
                field="questions",
                found=f"{len(vocabulary):,} words",
                expected=f"at most {MOST_WORDS:,}",
            )
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        counts = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words)
        passages_with = np.bincount(counts.words, minlength=len(vocabulary))[order].astype(np.int64)
        return cls([vocabulary[i] for i in order], passages_with, len(arrays.passage_offsets) - 1)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def numbers_of(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each word of an encoding's vocabulary, or -1: shape (len(vocabulary),)."""
        number = self._numbers
        return np.fromiter((number.get(word, -1) for word in vocabulary), np.int64, len(vocabulary))

    def rarity(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        r"""Return how rare each word is in the training passages, in units of 2**-20: shape (len(vocabulary),).

        .. math:: g(w) = \ln \frac{N + 1}{df(w) + 0.5}

        N is the number of training passages, and df(w) is how many of them have w: 0 for an unknown word.
        """
        numbers = self.numbers_of(vocabulary)
        counts = np.zeros(len(numbers))
        known = numbers >= 0
        counts[known] = self.passages_with[numbers[known]]
        rarity = np.log((self.n_passages + 1) / (counts + 0.5))
        return np.rint(rarity * 2**RARITY_BITS).astype(np.int64)


def content_counts(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], stop: NDArray[np.bool_], n_words: int
) -> WordCounts:
    """Return the distinct content words of texts: those that are no stop words, or all if nothing is left."""
    counts = word_counts(tokens, offsets, n_words)
    texts, n_texts = counts.texts, len(offsets) - 1
    content = flagged_or_all(~stop[counts.words], texts, n_texts)
    sizes = np.bincount(texts[content], minlength=n_texts)
    return WordCounts(counts.keys[content], counts.counts[content], offsets_of(sizes), n_words)


def passage_of_candidates(arrays: TokenArrays) -> NDArray[np.int64]:
    """Return the passage of each candidate of the arrays."""
    return arrays.question_passage[arrays.candidate_question]
