"""Lucene's ways of keeping a text's length in one byte."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def _byte4(code: int) -> int:
    """The length that a byte stands for: ``SmallFloat.byte4ToInt``."""
    if code < 24:
        return code
    mantissa, exponent = (code - 24) & 7, ((code - 24) >> 3) - 1
    return 24 + (mantissa if exponent < 0 else (mantissa | 8) << exponent)


_BYTE4 = np.array([_byte4(code) for code in range(256)], dtype=np.int64)

_BYTE315 = ((np.arange(256, dtype=np.int32) << 21) + (48 << 24)).view(np.float32)
_BYTE315[0] = 0


def byte4_lengths(lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Lengths as Lucene 7 and later remember them: exact up to 40, from there with four significant bits.

    ``SmallFloat.intToByte4`` and back; both round down.

    Examples
    --------
    >>> byte4_lengths(np.array([3, 40, 41, 100]))
    array([ 3, 40, 40, 96])
    """
    return _BYTE4[np.searchsorted(_BYTE4, lengths, side="right") - 1]


def byte315_norms(norms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Positive numbers as Lucene until 6 remembers them: with three significant bits.

    ``SmallFloat.floatToByte315`` and back; both round down, but never to zero.

    Examples
    --------
    >>> byte315_norms(np.array([1.0, 0.577, 0.1], dtype=np.float32)).tolist()
    [1.0, 0.5, 0.09375]
    """
    codes = np.searchsorted(_BYTE315, norms, side="right") - 1
    return _BYTE315[np.maximum(codes, 1)]
