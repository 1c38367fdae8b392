"""The best sentence that has a term of the question and one of the option, for many options at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.score_bounds import ScoreBounds
from classic_rc.kernels.search_blocks import ConstrainedQueries, SearchBlock, search_blocks
from classic_rc.kernels.sentence_postings import BLOCK, Combine, SentencePostings, TermScores, runs_of

__all__ = ["ConstrainedQueries", "best_constrained"]

_NO_SENTENCE = np.iinfo(np.int64).max


def best_constrained(
    postings: SentencePostings,
    queries: ConstrainedQueries,
    term_scores: TermScores,
    combine: Combine | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The best sentence of each option among those that have a term of the question and one of the option.

    This is :func:`classic_rc.kernels.reference_bm25.best_constrained` for all options at once. What the question's
    terms add to a sentence is computed once for all of its options.

    Parameters
    ----------
    postings : SentencePostings
    queries : ConstrainedQueries
    term_scores : callable
        Never negative, and proportional to the weights but for rounding.
    combine : callable, optional
        Makes scores of the sums of term scores; without it scores are the sums, in single precision.

    Returns
    -------
    sentences : ndarray of int64, shape (n_options,)
        The lowest number of equals; -1 where no sentence qualifies.
    scores : ndarray of float32, shape (n_options,)
        0 where no sentence qualifies.
    """
    n_options = len(queries.option_question)
    sentences, scores = np.full(n_options, -1, dtype=np.int64), np.zeros(n_options, dtype=np.float32)
    n_cells = max(BLOCK, int(queries.sizes.max(initial=0)))
    flags, slots = np.zeros(n_cells, dtype=np.bool_), np.empty(n_cells, dtype=np.int32)
    bounds = ScoreBounds(postings, term_scores, n_cells)
    for block in search_blocks(postings, queries):
        cells = bounds.possible(block) if combine is None else _qualifying_cells(block, flags)
        if len(cells):
            hits = _score_hits(block, cells, postings, term_scores, flags, slots)
            _decide(block, hits, combine, sentences[block.options], scores[block.options])
    return sentences, scores


def _qualifying_cells(block: SearchBlock, flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The cells of all sentences that have an asked and an offered term, some of them more than once."""
    flags[block.asked.cells] = True
    cells = block.offered.cells[flags.take(block.offered.cells)]
    flags[: block.n_cells] = False
    return cells


class _Hits(NamedTuple):
    """The postings of offered terms in sentences that are to be scored.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_offered + 1,)
        Offered term i's hits are ``offsets[i]:offsets[i + 1]``.
    sentences : ndarray of int64, shape (n_hits,)
    slots : ndarray of int32, shape (n_hits,)
        One of the hits that are in the same cell, the same for all of them: where the cell's sums stand.
    asked_sums, asked_matches : ndarray of float64, shape (n_hits,)
        By slot, what the asked terms add to the sentence, and how many of them it has.
    sums, matches : ndarray of float64, shape (n_hits,)
        What the offered term adds to that.
    """

    offsets: NDArray[np.int64]
    sentences: NDArray[np.int64]
    slots: NDArray[np.int32]
    asked_sums: NDArray[np.float64]
    asked_matches: NDArray[np.float64]
    sums: NDArray[np.float64]
    matches: NDArray[np.int64]


def _score_hits(
    block: SearchBlock,
    cells: NDArray[np.int64],
    postings: SentencePostings,
    term_scores: TermScores,
    flags: NDArray[np.bool_],
    slots: NDArray[np.int32],
) -> _Hits:
    """Score asked and offered terms exactly, in these cells."""
    asked, offered = block.asked, block.offered
    flags[cells] = True
    asked_at = flags.take(asked.cells).nonzero()[0]
    offered_at = flags.take(offered.cells).nonzero()[0]
    flags[cells] = False
    hit_cells = offered.cells[offered_at]
    slots[hit_cells] = np.arange(len(hit_cells), dtype=np.int32)

    lists = asked.lists_of(asked_at)
    added = postings.scores(asked.terms.weights[lists], asked.codes(postings, asked_at, lists), term_scores)
    asked_slots = slots[asked.cells[asked_at]]
    asked_sums = np.bincount(asked_slots, added, len(hit_cells))
    asked_matches = np.bincount(asked_slots, asked.terms.boosts[lists], len(hit_cells))

    lists = offered.lists_of(offered_at)
    codes = offered.codes(postings, offered_at, lists)
    sums = postings.scores(offered.terms.weights[lists], codes, term_scores).astype(np.float64)
    if block.question_weights.any():
        # What a term adds in the question alone gives way to what it adds in question and option together.
        sums -= postings.scores(block.question_weights[lists], codes, term_scores)
    return _Hits(
        offsets_of(np.bincount(lists, minlength=len(offered.shifts))),
        hit_cells - offered.shifts[lists],
        slots[hit_cells],
        asked_sums,
        asked_matches,
        sums,
        offered.terms.boosts[lists],
    )


def _decide(
    block: SearchBlock,
    hits: _Hits,
    combine: Combine | None,
    sentences: NDArray[np.int64],
    scores: NDArray[np.float32],
) -> None:
    """Write each option's best sentence and score."""
    # Each option has a row of sums, with a cell for each hit of its question.
    n_questions, n_options = len(block.n_asked), len(block.option_question)
    bounds = hits.offsets[block.offered.terms.texts.searchsorted(np.arange(n_questions + 1))]
    row_lengths = (bounds[1:] - bounds[:-1])[block.option_question]
    n_hits = (hits.offsets[1:] - hits.offsets[:-1])[block.entry_offered]
    n_pairs = np.bincount(block.entry_option, n_hits, n_options).astype(np.int64)
    for first, last in runs_of(row_lengths + n_pairs, BLOCK):
        entries = slice(*block.entry_option.searchsorted((first, last)).tolist())
        n = n_hits[entries]
        hit = ragged_indices(hits.offsets[block.entry_offered[entries]], n)
        option = (block.entry_option[entries] - first).repeat(n)
        rows, slot = offsets_of(row_lengths[first:last]), hits.slots[hit]
        cell = slot + (rows[:-1] - bounds[block.option_question[first:last]])[option]
        sums = hits.asked_sums[slot] + np.bincount(cell, hits.sums[hit], rows[-1])[cell]
        if combine is None:
            values = sums.astype(np.float32)
        else:
            matched = hits.asked_matches[slot] + np.bincount(cell, hits.matches[hit], rows[-1])[cell]
            values = combine(sums, matched, option + (first + block.options.start))
        found = n_pairs[first:last].nonzero()[0]
        starts = offsets_of(n_pairs[first:last])[found]
        best = np.zeros(last - first, dtype=np.float32)
        best[found] = np.maximum.reduceat(values, starts)
        scores[first:last] = best
        numbers = np.where(values == best[option], hits.sentences[hit], _NO_SENTENCE)
        sentences[first + found] = np.minimum.reduceat(numbers, starts)
