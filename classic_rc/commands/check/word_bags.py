"""Texts as bags of words, and how much the words that two texts share say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.option_arrays import Floats, Integers
from classic_rc.kernels.arrays import distinct, offsets_of, ragged_indices, runs_of
from classic_rc.kernels.bags import shared_weight, shared_words
from classic_rc.kernels.draws import mix
from classic_rc.text.analyzers import stop_words
from classic_rc.text.encode import TextEncoder

_BLOCK_WORDS = 2**20


class WordBags(NamedTuple):
    """Texts as bags of word ids. What needs all words does it in blocks of bags."""

    words: NDArray[np.int32]
    offsets: Integers
    is_content: Floats  # by word id: 0 for a stop word, else 1
    bits: Floats  # by word id: how little likely it is by chance; 0 for a stop word

    @classmethod
    def of(cls, texts: Sequence[str]) -> WordBags:
        """Return the words of each text; characters, in scripts without spaces between words."""
        encoder = TextEncoder("char")
        words, offsets = encoder.encode(texts)
        stops = stop_words("smart")
        content = np.array([word not in stops for word in encoder.vocabulary], dtype=np.float64)
        bags = cls(words, offsets, content, content)
        n_texts = np.zeros(len(content), dtype=np.int64)
        for _, _, has in bags.distinct_words():
            n_texts += np.bincount(has, minlength=len(content))
        others = np.maximum(n_texts - 2, 0)  # texts with the word, without a pair
        rarity = np.log2(2 * len(texts) / (1 + 2 * others))
        return bags._replace(bits=content * rarity)

    @property
    def sizes(self) -> Integers:
        """The number of words of each bag, shape (n_bags,)."""
        return np.diff(self.offsets)

    def larger_sizes(self, first: Integers, second: Integers) -> Integers:
        """Return the size of the larger bag of each pair."""
        sizes = self.sizes
        return np.maximum(sizes[first], sizes[second])

    def shared_sizes(self, first: Integers, second: Integers) -> Integers:
        """Count the words that each pair has in common, with repetitions."""
        return shared_words(self.words, self.offsets, first, second)

    def distinct_words(self) -> Iterator[tuple[slice, Integers, Integers]]:
        """Yield blocks of bags with their different words, ascending: the bag in the block, and
        the word.
        """
        n, sizes = max(len(self.is_content), 1), self.sizes
        for start, stop in runs_of(sizes, _BLOCK_WORDS):
            words = self.words[self.offsets[start] : self.offsets[stop]]
            bag = np.repeat(np.arange(stop - start), sizes[start:stop])
            yield slice(start, stop), *np.divmod(distinct(bag * n + words), n)

    def content(self) -> WordBags:
        """Return the different content words of each bag, in ascending order."""
        sizes = np.zeros(len(self.offsets) - 1, dtype=np.int64)
        words = [self.words[:0]]
        for block, bag, word in self.distinct_words():
            is_content = self.is_content[word] > 0
            words.append(word[is_content].astype(np.int32))
            sizes[block] = np.bincount(bag[is_content], minlength=block.stop - block.start)
        return self._replace(words=np.concatenate(words), offsets=offsets_of(sizes))

    def within(self, groups: Integers) -> WordBags:
        """Return bags that have words in common only within groups; group numbers are of shape
        (n_bags,).
        """
        n, first, sizes = max(len(self.is_content), 1), 0, self.sizes
        words = np.empty_like(self.words)
        order = np.argsort(groups, kind="stable")
        ends = np.flatnonzero(np.diff(groups[order], append=-1)) + 1
        loads = np.diff(offsets_of(sizes[order])[ends], prepend=0)
        ends = np.append(0, ends)
        for start, stop in runs_of(loads, _BLOCK_WORDS):
            bags = order[ends[start] : ends[stop]]
            places = ragged_indices(self.offsets[bags], sizes[bags])
            keys = np.repeat(groups[bags], sizes[bags]) * n + self.words[places]
            distinct_keys, codes = np.unique(keys, return_inverse=True)
            words[places] = codes + first
            first += len(distinct_keys)
        return self._replace(words=words)

    def codes(self) -> NDArray[np.uint64]:
        """Return a hash of each bag; the order of the words does not matter."""
        sums = np.cumsum(mix(mix(self.words.astype(np.uint64))))
        sums = np.concatenate([np.zeros(1, np.uint64), sums])
        return np.diff(sums[self.offsets])

    def shared_content(self, first: Integers, second: Integers) -> Floats:
        """Count the different content words that each pair has in common."""
        return shared_weight(self.words, self.offsets, first, second, self.is_content)

    def shared_bits(self, first: Integers, second: Integers) -> Floats:
        """Return how much the content words that each pair has in common say: minus the log of
        their frequencies.
        """
        return shared_weight(self.words, self.offsets, first, second, self.bits)
