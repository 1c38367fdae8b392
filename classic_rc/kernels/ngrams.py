"""N-grams and subsequences that texts share with passages: their numbers, weights and longest
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    Postings,
    TokenArrays,
    group_equal,
    look_up,
    offsets_of,
    sums_by,
)
from classic_rc.kernels.window import row_chunks

_CELLS = 2**18
"""How many tokens of texts, without padding, are processed at a time."""


class Texts(NamedTuple):
    """Ragged texts, each with a passage."""

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]  # (n_texts + 1,)
    passages: NDArray[np.int64]  # (n_texts,)

    @property
    def owner(self) -> NDArray[np.int64]:
        """The text of each token."""
        return np.repeat(np.arange(len(self.passages)), np.diff(self.offsets))


class NgramCounts(NamedTuple):
    """The n-grams of texts: one for each token that begins one, repeated ones included."""

    found: NDArray[np.int64]  # (n_texts,): how many the passage has
    found_weight: NDArray[np.float64]  # (n_texts,): the sum of their weights, an integer
    weight: NDArray[np.float64]  # (n_texts,): the sum of the weights of all n-grams


def token_runs(texts: Texts, postings: Postings, n_words: int) -> NDArray[np.int64]:
    """Return the run of each token in its text's passage, -1 if the passage does not have it:
    shape (n_tokens,).
    """
    keys = texts.passages[texts.owner] * n_words + texts.tokens
    runs, is_in_passage = look_up(keys, postings.keys)
    return np.where(is_in_passage, runs, -1)


def ngram_counts(
    arrays: TokenArrays, postings: Postings, texts: Texts, weights: NDArray[np.int64], longest: int
) -> list[NgramCounts]:
    """Count the n-grams of texts that their passages have, for n = 1 to `longest`.

    An n-gram's weight is the sum of the weights of its words, which are fixed-point: shape
    (n_words,).
    """
    n_runs, n_texts, owner = len(postings.keys), len(texts.passages), texts.owner
    runs = token_runs(texts, postings, arrays.n_words)
    summed = offsets_of(weights[texts.tokens])
    # tokens from each token to its text's end
    n_left = texts.offsets[1:][owner] - np.arange(len(owner))

    # Passages' n-grams are numbered by sorting pairs: the number of the first n - 1 words, and the
    # last word's.
    in_passage = passage_runs(arrays, postings)
    lengths = np.diff(arrays.passage_offsets)
    passage_at = np.arange(len(in_passage))
    passage_left = np.repeat(arrays.passage_offsets[1:], lengths) - passage_at
    passage_grams = in_passage
    at = np.flatnonzero(runs >= 0)
    grams = runs[at]
    counts = []
    for n in range(1, longest + 1):
        if n > 1:
            is_long_enough = passage_left[passage_at] >= n
            passage_at, passage_grams = passage_at[is_long_enough], passage_grams[is_long_enough]
            table, passage_grams = _number(passage_grams * n_runs + in_passage[passage_at + n - 1])
            is_long_enough = n_left[at] >= n
            at, grams = at[is_long_enough], grams[is_long_enough]
            ends = runs[at + n - 1]
            # An absent last word is left out: a key with -1 could be that of another n-gram.
            is_found = ends >= 0
            at, grams, ends = at[is_found], grams[is_found], ends[is_found]
            grams, is_found = look_up(grams * n_runs + ends, table)
            at, grams = at[is_found], grams[is_found]
        begins = np.flatnonzero(n_left >= n)
        found = np.bincount(owner[at], minlength=n_texts)
        found_weight = sums_by(owner[at], summed[at + n] - summed[at], n_texts)
        weight = sums_by(owner[begins], summed[begins + n] - summed[begins], n_texts)
        counts.append(NgramCounts(found, found_weight, weight))
    return counts


def passage_runs(arrays: TokenArrays, postings: Postings) -> NDArray[np.int64]:
    """Return the run of each passage token: shape (n_passage_tokens,)."""
    n_places = np.diff(postings.offsets)
    starts = arrays.passage_offsets[postings.keys // arrays.n_words]
    tokens = np.repeat(starts, n_places)
    tokens += postings.positions
    runs = np.empty(len(tokens), dtype=np.int64)
    runs[tokens] = np.repeat(np.arange(len(n_places)), n_places)
    return runs


def _number(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys, ascending, and the index of each key among them."""
    order, starts, numbers = group_equal(keys)
    return keys[order[starts]], numbers


def longest_found(counts: Sequence[NgramCounts]) -> NDArray[np.int64]:
    """Return the largest n for which the passage has an n-gram of the text, 0 for none: shape
    (n_texts,).
    """
    # A passage with an n-gram has its parts: the sizes that are found are 1, 2, ..., up to the
    # largest.
    return np.sum([size_counts.found > 0 for size_counts in counts], axis=0)


def common_subsequences(
    tokens: NDArray[np.int32],
    offsets: NDArray[np.int64],
    other_tokens: NDArray[np.int32],
    other_starts: NDArray[np.int64],
    other_counts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the length of the longest common subsequence of each text and its partner, shape
    (n_texts,).

    Text i is ``tokens[offsets[i]:offsets[i + 1]]``, its partner the `other_counts[i]` tokens of
    `other_tokens` from `other_starts[i]` on.
    """
    counts = np.diff(offsets)
    lengths = np.zeros(len(counts), dtype=np.int64)
    rows = np.flatnonzero((counts > 0) & (other_counts > 0))
    # Only texts of about equal lengths are padded together: padding takes no more than three times
    # their cells. No count has 64 digits, so each pair of digits has its own size.
    sizes = 64 * _binary_digits(counts[rows]) + _binary_digits(other_counts[rows])
    order = np.argsort(sizes, kind="stable")
    for alike in np.split(rows[order], np.flatnonzero(np.diff(sizes[order])) + 1):
        for chunk in row_chunks(alike, counts + other_counts, _CELLS):
            text_columns = _columns(tokens, offsets[chunk], counts[chunk], -1)
            partner_columns = _columns(other_tokens, other_starts[chunk], other_counts[chunk], -2)
            lengths[chunk] = _common_lengths(text_columns, partner_columns)
    return lengths


def _binary_digits(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.frexp(counts.astype(np.float64))[1].astype(np.int64)


def _columns(
    tokens: NDArray[np.int32], starts: NDArray[np.int64], counts: NDArray[np.int64], padding: int
) -> NDArray[np.int32]:
    """Return texts as the columns of a matrix, padded below."""
    place = np.arange(counts.max())[:, None]
    # Places behind a text are read too, and replaced.
    columns = tokens[np.minimum(starts + place, len(tokens) - 1)]
    columns[place >= counts] = padding
    return columns


def _common_lengths(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int32]:
    """Fill the table of the classical recurrence by its anti-diagonals, for all columns at once."""
    # L[i, j] = max(L[i - 1, j], L[i, j - 1], L[i - 1, j - 1] + (first[i - 1] == second[j - 1]));
    # diagonal k has the cells with i + j = k, at row i.
    n, m = len(first), len(second)
    reversed_second = np.ascontiguousarray(second[::-1])
    older, old, new = np.zeros((3, n + 1, first.shape[1]), dtype=np.int32)
    for k in range(2, n + m + 1):
        a = max(1, k - m)
        b = min(n, k - 1) + 1
        # Row i meets second[k - i - 1], which is reversed_second[m - k + i].
        shift = m - k
        is_equal = first[a - 1 : b - 1] == reversed_second[shift + a : shift + b]
        cells = new[a:b]
        np.add(older[a - 1 : b - 1], is_equal, out=cells)
        np.maximum(cells, old[a - 1 : b - 1], out=cells)
        np.maximum(cells, old[a:b], out=cells)
        older, old, new = old, new, older
    return old[n]
