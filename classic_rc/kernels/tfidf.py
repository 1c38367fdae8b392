"""TF-IDF as Lucene 5 and earlier compute it (``ClassicSimilarity``), in single precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import Counts

# The 256 floats that one byte can represent: three mantissa bits, and an exponent whose zero point
# is 15.
_BYTE315 = ((np.arange(256, dtype=np.int32) << 21) + (48 << 24)).view(np.float32)
_BYTE315[0] = 0


def byte315_norms(norms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round positive numbers as Lucene 6 and earlier store them: to three significant bits.

    This is ``SmallFloat.floatToByte315`` and back; both round down, but never to zero.

    Examples
    --------
    >>> byte315_norms(np.array([1.0, 0.577, 0.1], dtype=np.float32)).tolist()
    [1.0, 0.5, 0.09375]
    """
    codes = np.searchsorted(_BYTE315, norms, side="right") - 1
    return _BYTE315[np.maximum(codes, 1)]


def idf(n_sentences: Counts, frequencies: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return ``1 + ln(N / (df + 1))``: Lucene 5, ``ClassicSimilarity.idf``.

    N is the number of all sentences, including those without a token: Lucene 5,
    ``TFIDFSimilarity.idfExplain``, takes ``maxDoc``. Lucene 6 and later, like BM25, count only the
    sentences that have a token.
    """
    return (np.log(np.maximum(n_sentences, 1) / (frequencies + 1)) + 1).astype(np.float32)


def length_factors(lengths: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return ``1 / sqrt(length)`` in one byte: Lucene 5, ``ClassicSimilarity.lengthNorm``,
    ``encodeNormValue``.
    """
    return byte315_norms((1 / np.sqrt(np.maximum(lengths, 1))).astype(np.float32))


def term_weights(boosts: NDArray[np.integer], idfs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``boost idf^2``: the term's weight without the query norm."""
    return boosts.astype(np.float32) * idfs * idfs


def term_scores(
    weights: NDArray[np.float32], counts: NDArray[np.float32], factors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return ``sqrt(tf) w norm``: Lucene 5, ``TFIDFSimilarity.TFIDFSimScorer.score``."""
    return np.sqrt(counts) * weights * factors


def query_norms(squares: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return ``1 / sqrt(sum of squared weights)``, 1 for a sum of 0: Lucene 5,
    ``ClassicSimilarity.queryNorm``.
    """
    norms = 1 / np.sqrt(np.where(squares > 0, squares, 1))
    return norms.astype(np.float32)


def apply_coordination(
    n_terms: NDArray[np.integer],
    norms: NDArray[np.float32],
    sums: NDArray[np.float64],
    matched: NDArray[np.float64],
    queries: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return ``sum norm matched / terms``: Lucene 5, ``ClassicSimilarity.coord``; repeated terms
    count again.

    Lucene multiplies the norm into the term weights instead, so the last bits may differ. `queries`
    is the query of each sum, whose norm is from :func:`query_norms`; `matched` says how many of its
    terms the sentence has.
    """
    normed_sums = (sums * norms[queries]).astype(np.float32)
    return normed_sums * (matched / n_terms[queries]).astype(np.float32)
