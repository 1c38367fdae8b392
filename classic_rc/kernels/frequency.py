"""How often candidates stand in their passages, for whole datasets at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.phrases import phrase_places
from classic_rc.kernels.postings import BLOCK_TOKENS, passage_postings


def phrase_counts(arrays: TokenArrays) -> NDArray[np.int64]:
    """How often each candidate's token sequence occurs in its passage.

    This is :func:`classic_rc.kernels.reference.phrase_count` for all candidates at once.

    Parameters
    ----------
    arrays : TokenArrays

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        0 for a candidate without tokens.
    """
    counts = np.zeros(len(arrays.candidate_question), dtype=np.int64)
    for where, block in arrays.blocks(BLOCK_TOKENS):
        candidates, _ = phrase_places(block, passage_postings(block))
        counts[where] = np.bincount(candidates, minlength=len(block.candidate_question))
    return counts
