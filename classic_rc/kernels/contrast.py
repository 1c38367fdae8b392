"""What the candidates of a question share with each other, and what only one of them has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices, sums_by
from classic_rc.kernels.window import row_chunks
from classic_rc.kernels.word_sets import WordSets, share

CHUNK_PAIRS = 2**18
"""How many pairs of equal words are processed at a time; it bounds memory."""


def words_of_others(sets: WordSets, question: NDArray[np.int64], n_words: int) -> NDArray[np.bool_]:
    """Return whether another candidate of the question has the word of each entry: shape (n_entries,).

    `question` is each candidate's question, ascending; all candidates of a question are there. `n_words` is the
    size of the vocabulary.
    """
    _, holders, number = _holders(sets, question, n_words)
    return (np.diff(holders) > 1)[number]


def _holders(
    sets: WordSets, question: NDArray[np.int64], n_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Group entries by question and word: the entries in order, the groups' offsets, each entry's group."""
    keys = question[sets.texts] * n_words + sets.words
    order = np.argsort(keys, kind="stable")
    is_first = np.diff(keys[order], prepend=-1) != 0
    group = np.empty(len(keys), dtype=np.int64)
    group[order] = np.cumsum(is_first) - 1
    return order, np.append(np.flatnonzero(is_first), len(keys)), group


def mean_jaccard(
    sets: WordSets, question: NDArray[np.int64], n_words: int, pairs: int = CHUNK_PAIRS
) -> NDArray[np.float64]:
    """Return each candidate's mean Jaccard similarity with the other candidates of its question.

    The Jaccard similarity of sets X and Y is ``|X n Y| / |X u Y|``, 0 for two empty ones.

    Parameters
    ----------
    sets, question, n_words
        As in :func:`words_of_others`.
    pairs : int
        How many pairs of equal words are processed at a time. It bounds memory and does not change the result.

    Returns
    -------
    ndarray of float64, shape (n_candidates,)
        0 for the only candidate of a question.
    """
    order, holders, group = _holders(sets, question, n_words)
    sizes, n_texts = np.diff(sets.offsets), len(question)
    n_pairs = np.diff(holders)[group]
    summed = offsets_of(n_pairs)
    per_text = summed[sets.offsets[1:]] - summed[sets.offsets[:-1]]
    totals = np.zeros(n_texts)
    for rows in row_chunks(np.flatnonzero(sizes), per_text, pairs):
        # The rows of a chunk are adjacent but for empty sets, so their entries are adjacent.
        entries = np.arange(sets.offsets[rows[0]], sets.offsets[rows[-1] + 1])
        others = sets.texts[order[ragged_indices(holders[group[entries]], n_pairs[entries])]]
        own = np.repeat(sets.texts[entries], n_pairs[entries])
        pair, common = np.unique(own[own != others] * n_texts + others[own != others], return_counts=True)
        left, right = pair // n_texts, pair % n_texts
        similarity = common / (sizes[left] + sizes[right] - common)
        # `sums_by` adds one by one, in the order of the other candidates.
        totals += sums_by(left, similarity, n_texts)
    n_others = (np.bincount(question)[question] - 1).astype(np.float64)
    return share(totals, n_others)
