"""Random numbers that depend on the question and the seed, not on the order of the questions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio: the increment of SplitMix64


def text_keys(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a 64-bit key of each text (its blake2b digest), the same on every machine and in every run."""
    digests = [hashlib.blake2b(t.encode("utf-8", "surrogatepass"), digest_size=8).digest() for t in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def uniform_draws(keys: NDArray[np.uint64], counts: NDArray[np.integer], seed: int) -> NDArray[np.float64]:
    """Draw uniform numbers in [0, 1): ``counts[i]`` of them for key i.

    Draw j of a key depends only on (key, seed, j), by the finaliser of SplitMix64 (Steele, Lea and Flood 2014). So
    shuffling or splitting the keys changes no draw.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n,)
    counts : ndarray of int, shape (n,)
    seed : int

    Returns
    -------
    ndarray of float64, shape (counts.sum(),)
    """
    offsets = offsets_of(counts)
    index = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    start = mix(keys ^ mix(np.array([seed % 2**64], dtype=np.uint64) + _GOLDEN))
    state = np.repeat(start, counts) + _GOLDEN * (index + 1).astype(np.uint64)
    # The upper 53 of 64 bits: a double holds them exactly.
    return (mix(state) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finaliser of SplitMix64: a bijection of 64-bit integers whose results look random."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
