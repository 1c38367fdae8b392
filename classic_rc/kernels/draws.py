"""Random numbers that depend on the question and the seed, not on the order of the questions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of

# 2**64 divided by the golden ratio: the increment of SplitMix64
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def text_keys(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a 64-bit key of each text (its blake2b digest), the same on every machine and in
    every run.
    """
    digests = [
        hashlib.blake2b(t.encode("utf-8", "surrogatepass"), digest_size=8).digest() for t in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def uniform_draws(
    keys: NDArray[np.uint64], counts: NDArray[np.integer], seed: int
) -> NDArray[np.float64]:
    """Draw uniform numbers in [0, 1): ``counts[i]`` of them for key i.

    Draw j of a key depends only on (key, seed, j), by the finaliser of SplitMix64 (Steele, Lea and
    Flood 2014). So shuffling or splitting the keys changes no draw.

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
    # An array, because NumPy warns where the product of two single numbers overflows.
    seed_state = np.array([seed % 2**64], dtype=np.uint64)
    start = mix(keys ^ mix(seed_state + _GOLDEN))
    # Draw j has the state start + (j + 1) golden; as j counts from the first draw of all, start is
    # moved back.
    start -= _GOLDEN * offsets[:-1].astype(np.uint64)
    state = np.arange(1, offsets[-1] + 1, dtype=np.uint64)
    state *= _GOLDEN
    state += start.repeat(counts)
    # The upper 53 of 64 bits: a double holds them exactly.
    bits = mix(state)
    bits >>= np.uint64(11)
    draws = bits.astype(np.float64)
    draws *= 2.0**-53
    return draws


def mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finaliser of SplitMix64: a bijection of 64-bit integers whose results look
    random.
    """
    mixed = state >> np.uint64(30)
    mixed ^= state
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    shifted = mixed >> np.uint64(27)
    mixed ^= shifted
    mixed *= np.uint64(0x94D049BB133111EB)
    np.right_shift(mixed, np.uint64(31), out=shifted)
    mixed ^= shifted
    return mixed
