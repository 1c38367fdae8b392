"""The best sentences for many queries at once: among all sentences, or among those that meet a
constraint.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices, run_starts, runs_of, sums_by
from classic_rc.kernels.rough_sums import RoughSums
from classic_rc.kernels.search_blocks import (
    ConstrainedQueries,
    ScoreBounds,
    SearchBlock,
    SearchPlan,
)
from classic_rc.kernels.sentence_postings import (
    BLOCK_CELLS,
    ChosenPostings,
    Combine,
    PostingLists,
    QueryTerms,
    SentencePostings,
    TermLists,
    TermScores,
)

_MAX_HITS = 2**18
"""How many hits are scored at a time. Few blocks have this many; scoring each block by itself
would be slower.
"""

_SPARE_HITS = 4
"""About how many hits are found for each one that is wanted."""

_MANY_HITS = 16
"""From how many hits for each one that is wanted it pays to drop most of them before they are
sorted.
"""

_NO_SENTENCE = np.iinfo(np.int64).max

_Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]
"""Queries, sentences and scores."""

TopSentences: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]
"""Sentences, scores, and the offsets of each query's sentences."""


def best_constrained(
    postings: SentencePostings,
    queries: ConstrainedQueries,
    term_scores: TermScores,  # never negative, and proportional to the weights except for rounding
    combine: Combine
    | None = None,  # makes scores of sums of term scores; default: the sums, in single precision
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the best sentence for each option among those with a term of the question and a term
    of the option.

    This is :func:`classic_rc.kernels.reference.bm25.best_constrained` for all options at once. The
    sums of the question's terms are computed once for all options of the question. Both results
    have shape (n_options,): the sentences (the lowest index among equal scores, -1 if none
    qualifies), and their scores (0 if none qualifies).
    """
    n_options = len(queries.option_question)
    sentences = np.full(n_options, -1, dtype=np.int64)
    scores = np.zeros(n_options, dtype=np.float32)
    n_cells = max(BLOCK_CELLS, int(queries.sizes.max(initial=0)))
    flags = np.zeros(n_cells, dtype=np.bool_)
    slots = np.empty(n_cells, dtype=np.int32)
    bounds = ScoreBounds(postings, term_scores, n_cells)
    plan = SearchPlan.of(postings, queries)
    gathered: list[_CellHits] = []
    n_hits = 0
    for block in plan.blocks():
        # Bounds hold for plain sums only. With `combine`, every qualifying sentence is scored.
        if combine is None:
            qualifying, cells = bounds.possible(block)
        else:
            qualifying = _find_qualifying(block, flags)
            cells = qualifying.cells
        if len(cells):
            gathered.append(_collect_hits(block, qualifying, cells, postings, flags, slots))
            n_hits += len(gathered[-1].sentences)
        if n_hits > _MAX_HITS:
            _score_hits(plan, gathered, term_scores, combine, sentences, scores)
            gathered, n_hits = [], 0
    if gathered:
        _score_hits(plan, gathered, term_scores, combine, sentences, scores)
    return sentences, scores


def _find_qualifying(block: SearchBlock, flags: NDArray[np.bool_]) -> ChosenPostings:
    """Return the postings of offered terms in sentences that also have an asked term."""
    flags[block.asked.cells] = True
    places = flags.take(block.offered.cells).nonzero()[0]
    flags[: block.n_cells] = False  # the next block uses the same memory
    return block.offered.choose(places)


class _CellHits(NamedTuple):
    """The postings in cells that are scored exactly."""

    options: slice  # the options of the questions that the cells belong to
    sentences: NDArray[np.int64]  # (n_hits,): of the postings of offered terms
    # (n_hits,): where the cell's sums are: the index of one hit of the cell, the same for all its
    # hits
    slots: NDArray[np.int32]
    terms: NDArray[np.int64]  # (n_hits,): the offered term, ascending
    codes: NDArray[np.unsignedinteger]  # (n_hits,): the posting's code
    asked_slots: NDArray[np.int32]  # this and the next two: of the postings of asked terms
    asked_terms: NDArray[np.int64]
    asked_codes: NDArray[np.unsignedinteger]


def _collect_hits(
    block: SearchBlock,
    qualifying: ChosenPostings,
    cells: NDArray[np.int64],
    postings: SentencePostings,
    flags: NDArray[np.bool_],
    slots: NDArray[np.int32],
) -> _CellHits:
    """Return the postings of all asked and offered terms in these cells; the offered ones are in
    `qualifying`.
    """
    flags[cells] = True
    offered = qualifying.take(flags.take(qualifying.cells).nonzero()[0])
    asked = block.asked.choose(flags.take(block.asked.cells).nonzero()[0])
    flags[cells] = False
    # The last hit of a cell overwrites the others and becomes the cell's slot. Older content of
    # `slots` is never read: every chosen cell has an offered term, so it is written here.
    slots[offered.cells] = np.arange(len(offered.cells), dtype=np.int32)
    return _CellHits(
        block.options,
        offered.cells - block.offered.shifts[offered.lists],
        slots[offered.cells],
        offered.lists + block.first_offered,
        postings.codes[offered.at],
        slots[asked.cells],
        asked.lists + block.first_asked,
        postings.codes[asked.at],
    )


def _merge_hits(gathered: list[_CellHits]) -> _CellHits:
    """Join the hits of successive blocks as if they were of one block."""
    before = offsets_of([len(hits.sentences) for hits in gathered]).tolist()
    columns = zip(*(hits[1:] for hits in gathered), strict=True)
    options = slice(gathered[0].options.start, gathered[-1].options.stop)
    hits = _CellHits(options, *(np.concatenate(column) for column in columns))
    for slots, of_block in ((hits.slots, "slots"), (hits.asked_slots, "asked_slots")):
        counts = [len(getattr(block_hits, of_block)) for block_hits in gathered]
        slots += np.repeat(before[:-1], counts).astype(np.int32)
    return hits


def _score_hits(
    plan: SearchPlan,
    gathered: list[_CellHits],
    term_scores: TermScores,
    combine: Combine | None,
    sentences: NDArray[np.int64],
    scores: NDArray[np.float32],
) -> None:
    """Score hits exactly, and write each option's best sentence and score."""
    hits, postings, queries = _merge_hits(gathered), plan.postings, plan.queries
    n_hits = len(hits.sentences)
    asked = postings.scores(plan.asked.weights[hits.asked_terms], hits.asked_codes, term_scores)
    # bincount sums in double precision, as Lucene does.
    asked_sums = np.bincount(hits.asked_slots, asked, n_hits)
    offered_weights = plan.offered.weights[hits.terms]
    offered = postings.scores(offered_weights, hits.codes, term_scores).astype(np.float64)
    # A term of both adds its weight in question and option together; subtract its part of the asked
    # sum.
    offered -= postings.scores(plan.question_weights[hits.terms], hits.codes, term_scores)
    if combine is not None:
        asked_matches = np.bincount(hits.asked_slots, plan.asked.boosts[hits.asked_terms], n_hits)

    # Each option gets a row of sums with one cell for each hit of its question, a few options at a
    # time.
    hit_offsets = offsets_of(np.bincount(hits.terms, minlength=len(plan.offered.texts)))
    question = queries.option_question[hits.options]
    first_hit, end_hit = hit_offsets[plan.offered.texts.searchsorted((question, question + 1))]
    bounds = hits.options.start, hits.options.stop
    entries = slice(*queries.options.texts.searchsorted(bounds).tolist())
    entry_option = queries.options.texts[entries] - hits.options.start
    entry_offered = plan.entry_offered[entries]
    entry_hits = np.diff(hit_offsets)[entry_offered]
    n_pairs = np.bincount(entry_option, entry_hits, len(question)).astype(np.int64)
    row_lengths = np.where(n_pairs > 0, end_hit - first_hit, 0)
    for first, last in runs_of(row_lengths + n_pairs, _MAX_HITS):
        block_entries = slice(*entry_option.searchsorted((first, last)).tolist())
        n = entry_hits[block_entries]
        hit = ragged_indices(hit_offsets[entry_offered[block_entries]], n)
        option = (entry_option[block_entries] - first).repeat(n)
        rows, slot = offsets_of(row_lengths[first:last]), hits.slots[hit]
        cell = slot + (rows[:-1] - first_hit[first:last])[option]
        sums = asked_sums[slot] + np.bincount(cell, offered[hit], rows[-1])[cell]
        if combine is None:
            values = sums.astype(np.float32)
        else:
            matches = plan.offered.boosts[hits.terms[hit]]
            matched = asked_matches[slot] + np.bincount(cell, matches, rows[-1])[cell]
            values = combine(sums, matched, option + (first + hits.options.start))
        with_hits = n_pairs[first:last].nonzero()[0]
        starts = offsets_of(n_pairs[first:last])[with_hits]
        best = np.zeros(last - first, dtype=np.float32)
        best[with_hits] = np.maximum.reduceat(values, starts) if len(with_hits) else 0
        # Among equal scores the lowest sentence wins.
        numbers = np.where(values == best[option], hits.sentences[hit], _NO_SENTENCE)
        where = hits.options.start + first + with_hits
        scores[where] = best[with_hits]
        sentences[where] = np.minimum.reduceat(numbers, starts) if len(with_hits) else -1


def top_sentences(
    postings: SentencePostings,
    queries: QueryTerms,
    n_queries: int,
    n_sentences: int,
    k: int,
    term_scores: TermScores,
    combine: Combine | None = None,
) -> TopSentences:
    """Return the `k` best sentences of each query among those that have one of its terms.

    This is :func:`classic_rc.kernels.reference.bm25.top` for all queries at once; `combine` as in
    :func:`best_constrained`. Sentences are by descending score, equal scores by ascending index;
    those of query i are ``offsets[i]:offsets[i + 1]``.
    """
    terms = TermLists.of(queries, postings)
    n_postings = terms.sums(terms.lengths, n_queries).astype(np.int64)
    find = _find_top_by_bounds if combine is None else partial(_find_top_of_all, combine)
    hits = find(postings, terms, n_queries, n_sentences, k, term_scores, n_postings)
    no_queries = np.empty(0, np.int64)
    parts: list[_Found] = [(no_queries, no_queries, np.empty(0, np.float32))]
    parts += (best_per_query(*block_hits, k) for block_hits in hits)
    hit_queries, sentences, scores = map(np.concatenate, zip(*parts, strict=True))
    return sentences, scores, offsets_of(np.bincount(hit_queries, minlength=n_queries))


def _find_top_by_bounds(
    postings: SentencePostings,
    terms: TermLists,
    n_queries: int,
    n_sentences: int,
    k: int,
    term_scores: TermScores,
    n_postings: NDArray[np.int64],
) -> Iterator[_Found]:
    """Yield the sentences that can be among the best of some queries, with their scores."""
    entries = terms.texts.searchsorted(np.arange(n_queries + 1))
    for first, last in runs_of(np.minimum(n_postings, _SPARE_HITS * k), _MAX_HITS):
        block_terms = terms.part(slice(entries[first], entries[last]), first)
        sums = RoughSums(postings, block_terms, last - first, n_sentences, term_scores)
        queries, sentences, scores = sums.top(k)
        yield queries + first, sentences, scores


def _find_top_of_all(
    combine: Combine,
    postings: SentencePostings,
    terms: TermLists,
    n_queries: int,
    n_sentences: int,
    k: int,
    term_scores: TermScores,
    n_postings: NDArray[np.int64],
) -> Iterator[_Found]:
    """Yield all sentences that have a term of some queries, with their scores: bounds hold for
    plain sums only.
    """
    entries = np.searchsorted(terms.texts, np.arange(n_queries + 1))
    slots = np.empty(max(BLOCK_CELLS, n_sentences), dtype=np.int32)
    for first, last in runs_of(n_sentences + n_postings, BLOCK_CELLS):
        block_terms = terms.part(slice(entries[first], entries[last]), first)
        lists = PostingLists.read(postings, block_terms, np.arange(last - first) * n_sentences)
        cells = lists.cells
        list_of_posting = np.arange(len(lists.shifts)).repeat(block_terms.lengths)
        # The last posting of a cell represents it: its index is where the cell's sum is.
        numbers = np.arange(len(cells), dtype=np.int32)
        slots[cells] = numbers
        slot = slots[cells]
        last_postings = np.flatnonzero(slot == numbers)
        added = postings.scores(
            block_terms.weights[list_of_posting], lists.all_codes(postings), term_scores
        )
        sums = sums_by(slot, added, len(cells))[last_postings]
        matched = sums_by(slot, block_terms.boosts[list_of_posting], len(cells))[last_postings]
        list_of_hit = list_of_posting[last_postings]
        query = block_terms.texts[list_of_hit] + first
        sentences = cells[last_postings] - lists.shifts[list_of_hit]
        yield query, sentences, combine(sums, matched, query)


def best_per_query(
    queries: NDArray[np.int64], sentences: NDArray[np.int64], scores: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the `k` best hits of each query, from hits in any order: queries, sentences and
    scores, sorted.
    """
    if (queries[1:] < queries[:-1]).any():
        order = np.argsort(queries, kind="stable")
        queries, sentences, scores = queries[order], sentences[order], scores[order]
    bounds = np.append(run_starts(queries), len(queries))
    long_queries = (np.diff(bounds) > _MANY_HITS * k).nonzero()[0]
    if len(long_queries):  # sorting all would be slower than finding the k-th score first
        is_candidate = np.ones(len(queries), dtype=np.bool_)
        for i in long_queries.tolist():
            where = slice(bounds[i], bounds[i + 1])
            kth_score = np.partition(scores[where], -k)[-k]
            is_candidate[where] = scores[where] >= kth_score  # with all ties of the k-th
        queries, sentences = queries[is_candidate], sentences[is_candidate]
        scores = scores[is_candidate]
    order = np.lexsort((sentences, -scores, queries))
    starts = run_starts(queries)  # the sort keeps the queries' order
    counts = np.diff(starts, append=len(queries))
    rank = np.arange(len(queries)) - starts.repeat(counts)
    best = order[rank < k]
    return queries[best], sentences[best], scores[best]
