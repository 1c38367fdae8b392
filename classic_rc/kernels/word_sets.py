"""The content words of questions and candidates as sets: rarity weights, and where they are in
the passage.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    MatchedBlock,
    Matches,
    Postings,
    distinct_words,
    is_in,
    look_up,
    offsets_of,
    ragged_indices,
    sums_by,
)


class WordSets(NamedTuple):
    """A set of words for each of some texts. An *entry* is one word of one text."""

    # (n_texts + 1,): the entries of text i are `offsets[i]:offsets[i + 1]`
    offsets: NDArray[np.int64]
    texts: NDArray[np.int64]  # (n_entries,): ascending
    words: NDArray[np.int64]  # (n_entries,): ascending within a text
    weights: NDArray[np.int64]  # (n_entries,): fixed-point
    # (n_entries,): the word's run of the postings; -1 if the passage does not have it
    runs: NDArray[np.int64]

    @property
    def matched(self) -> NDArray[np.bool_]:
        """Whether the passage has the word of each entry."""
        return self.runs >= 0

    def select(self, selected: NDArray[np.bool_]) -> WordSets:
        """Return the sets with only some of the entries."""
        texts = self.texts[selected]
        offsets = offsets_of(np.bincount(texts, minlength=len(self.offsets) - 1))
        return WordSets(offsets, texts, *(column[selected] for column in self[2:]))

    def take(self, texts: NDArray[np.int64]) -> WordSets:
        """Return the sets of some texts, numbered from 0."""
        counts = np.diff(self.offsets)[texts]
        entries = ragged_indices(self.offsets[texts], counts)
        numbers = np.repeat(np.arange(len(texts)), counts)
        return WordSets(offsets_of(counts), numbers, *(column[entries] for column in self[2:]))

    def sums(self, values: NDArray[np.integer] | NDArray[np.bool_]) -> NDArray[np.float64]:
        """Sum integers over the entries of each text: shape (n_texts,).

        The sums are integers below 2**53, which doubles hold exactly in any order of addition.
        """
        return sums_by(self.texts, values, len(self.offsets) - 1)

    def totals(self) -> NDArray[np.float64]:
        """Return the sum of the weights of each set: shape (n_texts,)."""
        return self.sums(self.weights)

    def coverage(self, covered: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the share of each set's weight that these entries have, 0 for no weight: shape
        (n_texts,).
        """
        return share(self.sums(self.weights * covered), self.totals())

    def matches(self) -> Matches:
        """Return the entries that the passage has."""
        matched_sets = self.select(self.matched)
        return Matches(np.diff(self.offsets), matched_sets.offsets, matched_sets.runs)


class ContentWords(NamedTuple):
    """The content words of a block's questions and candidates.

    The content words of a text are its words without stop words, or all of them if nothing is left.
    """

    questions: WordSets  # Q
    candidates: WordSets  # A
    shared: NDArray[np.bool_]  # whether each entry of A is in Q
    new: WordSets  # N: A without Q, or A if nothing is left
    is_new: NDArray[np.bool_]  # whether each entry of A is in N


def content_words(
    block: MatchedBlock, stop_words: NDArray[np.bool_], weights: NDArray[np.int64]
) -> ContentWords:
    """Return the content words of a block; the words' flags and fixed-point weights have shape
    (n_words,).
    """
    arrays, n_words = block.arrays, block.arrays.n_words
    question = arrays.candidate_question
    sides = []
    for tokens, offsets, passages in (
        (arrays.question_tokens, arrays.question_offsets, arrays.question_passage),
        (arrays.candidate_tokens, arrays.candidate_offsets, arrays.question_passage[question]),
    ):
        keys = distinct_words(tokens, offsets, n_words)
        texts, words = keys // n_words, keys % n_words
        n_texts = len(passages)
        is_content = flagged_or_all(~stop_words[words], texts, n_texts)
        texts, words = texts[is_content], words[is_content]
        runs, is_in_passage = look_up(passages[texts] * n_words + words, block.postings.keys)
        runs = np.where(is_in_passage, runs, -1)
        offsets = offsets_of(np.bincount(texts, minlength=n_texts))
        sides.append(WordSets(offsets, texts, words, weights[words], runs))
    questions, candidates = sides
    question_keys = questions.texts * n_words + questions.words
    shared = is_in(question[candidates.texts] * n_words + candidates.words, question_keys)
    is_new = flagged_or_all(~shared, candidates.texts, len(question))
    return ContentWords(questions, candidates, shared, candidates.select(is_new), is_new)


def flagged_or_all(
    flags: NDArray[np.bool_], texts: NDArray[np.int64], n_texts: int
) -> NDArray[np.bool_]:
    """Return the flags of the texts' entries, but True for all entries of a text without a flag.

    `texts` is the text of each entry, below `n_texts`.
    """
    return flags | (np.bincount(texts[flags], minlength=n_texts) == 0)[texts]


class Spread(NamedTuple):
    """Where each run of the postings begins and ends in its passage."""

    first: NDArray[np.int64]  # (n_runs,): its first position
    last: NDArray[np.int64]  # (n_runs,): its last position
    counts: NDArray[np.int64]  # (n_runs,): how many it has


def spread(postings: Postings) -> Spread:
    """Return the first and the last position of each run, and how many it has."""
    first = postings.positions[postings.offsets[:-1]]
    last = postings.positions[postings.offsets[1:] - 1]
    return Spread(first, last, np.diff(postings.offsets))


def share(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide, with 0 where the whole is 0."""
    shares = np.zeros(np.broadcast(parts, wholes).shape)
    return np.divide(parts, wholes, out=shares, where=wholes != 0)
