"""Pairs of words of two texts, and the words of a candidate that another candidate of the
question has too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    TokenArrays,
    binary_search,
    group_equal,
    offsets_of,
    ragged_indices,
    run_starts,
    runs_of,
    sums_by,
)
from classic_rc.kernels.window import row_chunks
from classic_rc.kernels.word_sets import WordSets, share

_LEAST_PAIRS = 2**4
"""The smallest load of a candidate: it bounds the number of candidates in a block."""


class WordCounts(NamedTuple):
    """The distinct words of some texts, and how often each text has them."""

    # (n_entries,): `text * n_words + word`, ascending: one per distinct word of a text
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]  # (n_entries,): how often the text has the word, at least once
    # (n_texts + 1,): the words of text i are the entries `offsets[i]:offsets[i + 1]`
    offsets: NDArray[np.int64]
    n_words: int  # the size of the vocabulary

    @property
    def texts(self) -> NDArray[np.int64]:
        """The text of each entry."""
        return self.keys // self.n_words

    @property
    def words(self) -> NDArray[np.int64]:
        """The word of each entry."""
        return self.keys % self.n_words


def word_counts(tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int) -> WordCounts:
    """Count the words of ragged texts; text i is ``tokens[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> word_counts(np.array([7, 2, 7, 5]), np.array([0, 3, 4]), 10).words
    array([2, 7, 5])
    """
    n_texts = len(offsets) - 1
    keys = np.repeat(np.arange(n_texts), np.diff(offsets)) * n_words + tokens
    keys.sort()
    starts = run_starts(keys)
    distinct = keys[starts]
    n_distinct = np.bincount(distinct // n_words, minlength=n_texts)
    return WordCounts(
        distinct, np.diff(np.append(starts, len(keys))), offsets_of(n_distinct), n_words
    )


def occurrences(
    counts: WordCounts, texts: NDArray[np.integer], words: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return how often ``texts[i]`` has ``words[i]``, 0 if never, shape (n,)."""
    if not len(counts.keys):
        return np.zeros(len(words), dtype=np.int64)
    place, has_word = binary_search(texts * counts.n_words + words, counts.keys)
    return np.where(has_word, counts.counts[place], 0)


def word_pairs(
    counts: WordCounts, others: WordCounts, other_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pair every distinct word of each text with every distinct word of the text's partner,
    `other_of` in `others`.

    Returns the text of each pair, its word, and the partner's word, each of shape (n_pairs,).
    """
    texts = counts.texts
    n_others = np.diff(others.offsets)[other_of[texts]]
    entry = ragged_indices(others.offsets[other_of[texts]], n_others)
    return np.repeat(texts, n_others), np.repeat(counts.words, n_others), others.words[entry]


def pair_blocks(
    arrays: TokenArrays, tokens: int, pairs: int
) -> Iterator[tuple[slice, TokenArrays]]:
    """Cut the candidates into blocks for :func:`word_pairs` with their questions, so that memory is
    bounded.

    A block has about `tokens` tokens and `pairs` pairs of a candidate's token with a question's; at
    least one candidate, and about ``pairs / 16`` at most.
    """
    for where, block in arrays.blocks(tokens):
        question_lengths = np.diff(block.question_offsets)[block.candidate_question]
        n_pairs = np.diff(block.candidate_offsets) * question_lengths
        for start, stop in runs_of(np.maximum(n_pairs, _LEAST_PAIRS), pairs):
            candidates = slice(where.start + start, where.start + stop)
            yield candidates, block.slice_candidates(start, stop)


# --------------------------------------------------------------------------------------------------
# Words of the other candidates.


_CHUNK_PAIRS = 2**18
"""How many pairs of equal words are processed at a time; it bounds memory."""


def words_of_others(sets: WordSets, question: NDArray[np.int64], n_words: int) -> NDArray[np.bool_]:
    """Return whether another candidate of the question has the word of each entry: shape
    (n_entries,).

    `question` is each candidate's question, ascending; all candidates of a question are there.
    `n_words` is the size of the vocabulary.
    """
    _, holders, number = _holders(sets, question, n_words)
    return (np.diff(holders) > 1)[number]


def _holders(
    sets: WordSets, question: NDArray[np.int64], n_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group entries by question and word: the entries in order, the groups' offsets, each
    entry's group.

    Within a group entries stay in the order of the candidates.
    """
    order, starts, group = group_equal(question[sets.texts] * n_words + sets.words)
    return order, np.append(starts, len(order)), group


def mean_jaccard(sets: WordSets, question: NDArray[np.int64], n_words: int) -> NDArray[np.float64]:
    """Return each candidate's mean Jaccard similarity with the other candidates of its question:
    (n_candidates,).

    The Jaccard similarity of sets X and Y is ``|X n Y| / |X u Y|``, 0 for two empty ones; the only
    candidate of a question gets 0. The parameters are as in :func:`words_of_others`.
    """
    order, holders, group = _holders(sets, question, n_words)
    sizes, n_texts = np.diff(sets.offsets), len(question)
    n_pairs = np.diff(holders)[group]
    summed = offsets_of(n_pairs)
    per_text = summed[sets.offsets[1:]] - summed[sets.offsets[:-1]]
    totals = np.zeros(n_texts)
    for rows in row_chunks(np.flatnonzero(sizes), per_text, _CHUNK_PAIRS):
        # The rows of a chunk are adjacent except for empty sets, so their entries are adjacent.
        entries = slice(sets.offsets[rows[0]], sets.offsets[rows[-1] + 1])
        counts = n_pairs[entries]
        others = sets.texts[order[ragged_indices(holders[group[entries]], counts)]]
        candidates = np.repeat(sets.texts[entries], counts)
        is_other = candidates != others
        pairs_of_words = candidates[is_other] * n_texts + others[is_other]
        pair, common = np.unique(pairs_of_words, return_counts=True)
        first, second = pair // n_texts, pair % n_texts
        similarity = common / (sizes[first] + sizes[second] - common)
        # `sums_by` adds one by one, in the order of the other candidates.
        totals += sums_by(first, similarity, n_texts)
    n_others = (np.bincount(question)[question] - 1).astype(np.float64)
    return share(totals, n_others)
