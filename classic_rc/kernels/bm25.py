"""BM25 as Lucene 8 computes it, in single precision: from sentence lengths in one byte to a
term's score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import Counts


def _byte4(code: int) -> int:
    """Decode a length from its byte: ``SmallFloat.byte4ToInt``."""
    if code < 24:
        return code
    mantissa, exponent = (code - 24) & 7, ((code - 24) >> 3) - 1
    return 24 + (mantissa if exponent < 0 else (mantissa | 8) << exponent)


_BYTE4 = np.array([_byte4(code) for code in range(256)], dtype=np.int64)


def byte4_lengths(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Round lengths as Lucene 7 and later store them: exact up to 40, above that four significant
    bits.

    This is ``SmallFloat.intToByte4`` and back; both round down.

    Examples
    --------
    >>> byte4_lengths(np.array([3, 40, 41, 100]))
    array([ 3, 40, 40, 96])
    """
    return _BYTE4[np.searchsorted(_BYTE4, lengths, side="right") - 1]


def idf(n_sentences: Counts, frequencies: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return ``ln(1 + (N - df + 0.5) / (df + 0.5))``: Lucene 8, ``BM25Similarity.idf``.

    N sentences have a token, and df of them have the term.
    """
    return np.log(1 + (n_sentences - frequencies + 0.5) / (frequencies + 0.5)).astype(np.float32)


def mean_length(n_sentences: Counts, n_tokens: Counts) -> NDArray[np.float32] | np.float32:
    """Return the mean length of the sentences that have a token: Lucene 8,
    ``BM25Similarity.avgFieldLength``.
    """
    return (n_tokens / np.maximum(n_sentences, 1)).astype(np.float32)


def length_factors(
    lengths: NDArray[np.integer], mean: NDArray[np.float32] | np.float32, k1: float, b: float
) -> NDArray[np.float32]:
    """Return ``1 / (k1 ((1 - b) + b length / mean))``: the cache in Lucene 8,
    ``BM25Similarity.scorer``.

    Lengths, in tokens, are rounded by :func:`byte4_lengths`. Infinite if k1 is 0: then only
    presence counts.
    """
    one, k1_, b_ = np.float32(1), np.float32(k1), np.float32(b)
    # Each step rounds to single precision as Lucene's do, so their order decides the last bit.
    relative_lengths = b_ * byte4_lengths(lengths).astype(np.float32) / mean
    with np.errstate(divide="ignore"):
        return one / (k1_ * ((one - b_) + relative_lengths))


def term_weights(boosts: NDArray[np.integer], idfs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``boost idf``, where the boost is how often the term occurs in the query."""
    return boosts.astype(np.float32) * idfs


def term_scores(
    weights: NDArray[np.float32], counts: NDArray[np.float32], factors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return ``w - w / (1 + tf factor)``: Lucene 8, ``BM25Similarity.BM25Scorer.score``.

    This equals ``w tf / (tf + 1 / factor)``, in a form whose rounding never lowers the score of a
    larger tf. The weights are from :func:`term_weights`, the factors from :func:`length_factors`.
    """
    return weights - weights / (np.float32(1) + counts * factors)
