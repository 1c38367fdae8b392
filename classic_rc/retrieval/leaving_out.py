"""Sentences that have all terms of a text, and segments without some of their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from classic_rc.retrieval.segment import Segment


def sentences_with_all(segment: Segment, terms: Sequence[str]) -> NDArray[np.int64]:
    """The sentences of a segment that have every one of these terms, rising; none for no term."""
    found = segment.find(terms)
    if not len(found) or (found < 0).any():
        return np.empty(0, dtype=np.int64)
    starts, stops = segment.posting_offsets[found], segment.posting_offsets[found + 1]
    lists = [segment.posting_sentences[i:j] for i, j in zip(starts.tolist(), stops.tolist(), strict=True)]
    return reduce(_present, sorted(lists, key=len)).astype(np.int64)


def _present(few: NDArray[np.int32], many: NDArray[np.int32]) -> NDArray[np.int32]:
    """Those of `few` that stand among `many`, both rising."""
    place = np.searchsorted(many, few)
    return few[many[np.minimum(place, len(many) - 1)] == few]


def without_sentences(segment: Segment, numbers: NDArray[np.int64]) -> Segment:
    """The segment as if these sentences had no token; the others keep their numbers.

    All that scores depend on follows: frequencies, how many sentences have a token, and their mean length.
    """
    drop = np.zeros(segment.n_sentences, dtype=np.bool_)
    drop[numbers] = True
    dropped = drop[segment.posting_sentences]
    codes = segment.posting_codes[dropped]
    n_sentences, n_filled, n_tokens = segment.totals.tolist()
    n_filled -= len(np.unique(segment.posting_sentences[dropped]))
    n_tokens -= int(segment.code_counts[codes].sum(dtype=np.int64))
    kept_before = np.concatenate(([0], np.cumsum(~dropped)))
    return Segment(
        segment.term_data,
        segment.term_offsets,
        segment.term_keys,
        kept_before[segment.posting_offsets],
        segment.posting_sentences[~dropped],
        segment.posting_codes[~dropped],
        segment.code_counts,
        segment.code_lengths,
        np.array([n_sentences, n_filled, n_tokens], dtype=np.int64),
    )
