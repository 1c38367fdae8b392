"""Counting n-grams: sorted tables of packed keys, built in bounded memory from runs of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_CHUNK = 2**20
"""Positions or keys that are worked on at once."""


class NGrams(NamedTuple):
    """The distinct k-grams of some texts, in the order of their words' ids.

    Parameters
    ----------
    keys : ndarray of int64, shape (n_ngrams,)
        The place of the first k - 1 words among the (k - 1)-grams, times the size of the vocabulary, plus the last
        word: rising, and in 63 bits for any k. A word is its own key, whether texts have it or not.
    counts : ndarray of int64, shape (n_ngrams,)
        How often texts have it.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]


def count_ngrams(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int, order: int, *, chunk: int = _CHUNK
) -> list[NGrams]:
    """Count all n-grams within ragged texts: text i is ``tokens[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    tokens : ndarray of int32
        Word ids in ``range(n_words)``.
    offsets : ndarray of int64, shape (n_texts + 1,)
    n_words : int
    order : int
        The largest n, at least 1.
    chunk : int
        How many positions are sorted at once. The memory beyond tokens and tables depends on it, the result does
        not.

    Returns
    -------
    list of NGrams
        Of order 1, 2, … `order`.

    Examples
    --------
    >>> words, pairs = count_ngrams(np.array([2, 0, 2, 0, 1]), np.array([0, 3, 5]), 3, order=2)
    >>> words.counts, pairs.keys, pairs.counts
    (array([2, 1, 2]), array([1, 2, 6]), array([1, 1, 1]))
    """
    counted = [NGrams(np.arange(n_words), np.bincount(tokens, minlength=n_words))]
    room = _room(offsets, order)
    rank: NDArray[Any] = tokens  # of the k-gram that begins at each position, where there is room for one
    for k in range(2, order + 1):
        chunks = [slice(start, start + chunk) for start in range(0, len(tokens), chunk)]
        runs = (_run(_keys_in(part, rank, tokens, room, k, n_words)[1]) for part in chunks)
        counted.append(_sum_of(runs))
        if k < order:
            following = np.zeros(len(tokens), dtype=np.int32 if len(tokens) < 2**31 else np.int64)
            for part in chunks:
                where, keys = _keys_in(part, rank, tokens, room, k, n_words)
                following[where] = find(counted[-1].keys, keys)
            rank = following
    return counted


def find(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where in rising `keys` each of `wanted` stands; -1 where it does not.

    Examples
    --------
    >>> find(np.array([3, 5, 8]), np.array([8, 4, 3]))
    array([ 2, -1,  0])
    """
    places = np.full(len(wanted), -1, dtype=np.int64)
    if not len(keys):
        return places
    for start in range(0, len(wanted), _CHUNK):
        # Sorted and distinct, keys are looked for in the order in which they lie in memory: three times as fast.
        distinct, inverse = np.unique(wanted[start : start + _CHUNK], return_inverse=True)
        place = np.minimum(np.searchsorted(keys, distinct), len(keys) - 1)
        places[start : start + _CHUNK] = np.where(keys[place] == distinct, place, -1)[inverse]
    return places


def suffix_ranks(ngrams: Sequence[NGrams], n_words: int) -> list[NDArray[np.int64]]:
    """For each k-gram, k = 2, 3, …, the place of its last k - 1 words among the (k - 1)-grams.

    Parameters
    ----------
    ngrams : sequence of NGrams
        Of order 1, 2, …
    n_words : int

    Returns
    -------
    list of ndarray of int64
        One fewer than `ngrams`.
    """
    suffixes: list[NDArray[np.int64]] = []
    for shorter, longer in zip(ngrams, ngrams[1:], strict=False):
        prefix, last = np.divmod(longer.keys, n_words)
        suffixes.append(find(shorter.keys, suffixes[-1][prefix] * n_words + last) if suffixes else last)
    return suffixes


def _room(offsets: NDArray[np.int64], order: int) -> NDArray[np.uint8]:
    """How many tokens each position has from itself to the end of its text, at most `order`."""
    room = np.full(offsets[-1], order, dtype=np.uint8)
    lengths = np.diff(offsets)
    for left in range(1, order):
        room[offsets[1:][lengths >= left] - left] = left
    return room


def _keys_in(
    part: slice, rank: NDArray[Any], tokens: NDArray[np.int32], room: NDArray[np.uint8], k: int, n_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where k-grams begin in a part of the tokens, and their keys, from the ranks of the (k - 1)-grams."""
    where = np.flatnonzero(room[part] >= k) + part.start
    return where, rank[where].astype(np.int64) * n_words + tokens[where + k - 1]


def _run(keys: NDArray[np.int64]) -> NGrams:
    keys = np.sort(keys)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return NGrams(keys[starts], np.diff(np.append(starts, len(keys))))


def _sum_of(runs: Iterator[NGrams]) -> NGrams:
    """Runs as one. Merging those of about one size first touches each key no more than log2(n_runs) times."""
    merged: list[NGrams] = []
    for run in runs:
        merged.append(run)
        while len(merged) > 1 and len(merged[-2].keys) <= 2 * len(merged[-1].keys):
            merged[-2:] = [_merged(merged[-2:])]
    return _merged(merged)


def _merged(runs: Iterable[NGrams]) -> NGrams:
    keys = np.concatenate([np.empty(0, dtype=np.int64), *(run.keys for run in runs)])
    counts = np.concatenate([np.empty(0, dtype=np.int64), *(run.counts for run in runs)])
    order = np.argsort(keys, kind="stable")  # a merge sort, for which rising runs are half the work done
    keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return NGrams(keys[starts], np.add.reduceat(counts, starts) if len(starts) else counts)
