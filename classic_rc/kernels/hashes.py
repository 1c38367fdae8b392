"""Hashes of texts and of their n-grams, made of the keys of their tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.draws import mix

Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]


def text_sums(keys: Hashes, lengths: Integers) -> Hashes:
    """Return for each of some texts the sum, modulo 2**64, of its tokens mixed with their places.

    Parameters
    ----------
    keys : ndarray of uint64
        Of the tokens of all texts, text after text.
    lengths : ndarray of int64, shape (n_texts,)
    """
    offsets = offsets_of(lengths)
    places = np.arange(offsets[-1])
    places -= np.repeat(offsets[:-1], lengths)
    return sums_between(mix(keys ^ mix(places.astype(np.uint64))), offsets)


def sums_between(addends: Hashes, offsets: Integers) -> Hashes:
    """Return the sum between each two offsets, modulo 2**64."""
    # Differences of running sums are exact although these overflow.
    sums = np.zeros(len(addends) + 1, dtype=np.uint64)
    np.cumsum(addends, out=sums[1:])
    return sums[offsets[1:]] - sums[offsets[:-1]]


def ngram_hashes(keys: Hashes, lengths: Integers, order: int) -> tuple[Hashes, Integers]:
    """Return the hash of each n-gram of texts as in :func:`text_sums`, and the row of its text."""
    counts = np.maximum(lengths - (order - 1), 0)
    starts = ragged_indices(offsets_of(lengths)[:-1], counts)
    hashes = keys[starts]
    for i in range(1, order):
        hashes += np.uint64(i)
        hashes = mix(hashes)
        starts += 1
        hashes ^= keys[starts]
    return mix(hashes), np.repeat(np.arange(len(lengths)), counts)
