"""Regions of neighbouring sentences: how much of the question and of a candidate is in each of
them.

A region of r sentences begins at each sentence of a passage; at the passage's end it is shorter. A
*cell* is one region for one candidate, or for one question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    MatchedBlock,
    Matches,
    Places,
    Postings,
    TokenArrays,
    offsets_of,
    places_of,
    ragged_indices,
    sums_by,
)
from classic_rc.kernels.distance import has_both, nearest_distances, pack_places, row_stride
from classic_rc.kernels.weights import DECAY_SCALE, decay_weights
from classic_rc.kernels.window import row_chunks
from classic_rc.kernels.word_sets import ContentWords, WordSets, share

ATTENTION = 6.0
"""The factor of cov(Q) in the exponent of a region's weight."""

_CELLS = 2**18
"""How many cells are processed at a time."""


class Regions(NamedTuple):
    """The regions that have the word of each run: run r has ``regions[offsets[r]:offsets[r +
    1]]``.
    """

    offsets: NDArray[np.int64]  # (n_runs + 1,)
    regions: NDArray[np.int64]  # the first sentence of each region, ascending within a run


def word_regions(
    arrays: TokenArrays, postings: Postings, token_sentences: NDArray[np.int64], size: int
) -> Regions:
    """Return the regions of `size` sentences that have each word of each passage, given the
    passages' postings.

    `token_sentences`, shape (n_passage_tokens,), is the index of each token's sentence in its
    passage.
    """
    n_places = np.diff(postings.offsets)
    run = np.repeat(np.arange(len(n_places)), n_places)
    starts = arrays.passage_offsets[postings.keys // arrays.n_words]
    sentence = token_sentences[np.repeat(starts, n_places) + postings.positions]
    # One entry for each sentence of a run. The regions that reach it and not the sentence before it
    # are new.
    is_new_run = np.diff(run, prepend=-1) != 0
    is_new_sentence = is_new_run | (np.diff(sentence, prepend=-1) != 0)
    run, sentence = run[is_new_sentence], sentence[is_new_sentence]
    before = np.roll(sentence, 1)
    before[is_new_run[is_new_sentence]] = -1
    n_new = np.minimum(size, sentence - before)
    regions = ragged_indices(sentence - n_new + 1, n_new)
    counts = sums_by(run, n_new, len(n_places)).astype(np.int64)
    return Regions(offsets_of(counts), regions)


class Cells(NamedTuple):
    """Some candidates of a block with the sentences of their passages, as ragged rows."""

    rows: NDArray[np.int64]  # (n_rows,): the candidates; each has at least one sentence
    starts: NDArray[np.int64]  # (n_rows + 1,): the cells of row i are `starts[i]:starts[i + 1]`
    questions: NDArray[np.int64]  # (n_questions,): the questions of these candidates
    question_starts: NDArray[np.int64]  # (n_questions + 1,): their cells
    row_question: NDArray[np.int64]  # (n_rows,): the index of each row's question in `questions`
    from_question: NDArray[np.int64]  # (n_cells,): the question's cell with the same sentence

    @property
    def row(self) -> NDArray[np.int64]:
        """The row of each cell."""
        return np.repeat(np.arange(len(self.rows)), np.diff(self.starts))


def cell_chunks(arrays: TokenArrays, n_sentences: NDArray[np.int64]) -> Iterator[Cells]:
    """Yield the candidates with sentences in their passages, in chunks of at least one row."""
    question = arrays.candidate_question
    sizes = n_sentences[arrays.question_passage]
    for rows in row_chunks(np.flatnonzero(sizes[question] > 0), sizes[question], _CELLS):
        questions, row_question = np.unique(question[rows], return_inverse=True)
        question_starts, counts = offsets_of(sizes[questions]), sizes[question[rows]]
        yield Cells(
            rows,
            offsets_of(counts),
            questions,
            question_starts,
            row_question,
            ragged_indices(question_starts[row_question], counts),
        )


def cell_sums(sets: WordSets, starts: NDArray[np.int64], regions: Regions) -> NDArray[np.float64]:
    """Sum the weights of the words of each text in each of its cells: shape (starts[-1],).

    The sums are integers that doubles hold exactly.
    """
    matched = sets.select(sets.matched)
    cells, counts = _matched_cells(matched, starts, regions)
    return sums_by(cells, np.repeat(matched.weights, counts), starts[-1])


def _matched_cells(
    matched: WordSets, starts: NDArray[np.int64], regions: Regions
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells that have the word of each entry, entry by entry, and how many each entry
    has.
    """
    firsts = regions.offsets[matched.runs]
    counts = regions.offsets[matched.runs + 1] - firsts
    cells = np.repeat(starts[matched.texts], counts)
    cells += regions.regions[ragged_indices(firsts, counts)]
    return cells, counts


class QuestionCells(NamedTuple):
    """How much of each question its regions have."""

    sums: NDArray[np.float64]  # (n_question_cells,): of the weights of Q
    covered: NDArray[np.float64]  # cov(Q)
    attention: NDArray[np.float64]  # exp(6 cov(Q))
    attention_sums: NDArray[np.float64]  # (n_questions,)
    totals: NDArray[np.float64]  # (n_questions,): the weight of Q


def question_cells(words: ContentWords, cells: Cells, regions: Regions) -> QuestionCells:
    """Return how much of each question of a chunk each region has."""
    question_sets = words.questions.take(cells.questions)
    sums, totals = cell_sums(question_sets, cells.question_starts, regions), question_sets.totals()
    owner = np.repeat(np.arange(len(cells.questions)), np.diff(cells.question_starts))
    covered = share(sums, totals[owner])
    attention = np.exp(ATTENTION * covered)
    # Sums of doubles: `sums_by` adds them one by one, in the order of the sentences, whatever the
    # chunk.
    return QuestionCells(
        sums, covered, attention, sums_by(owner, attention, len(cells.questions)), totals
    )


class Evidence(NamedTuple):
    """How well the regions match a set of words of each candidate together with the question's
    words.
    """

    best_product: NDArray[np.float64]  # (n_rows,): max cov(Q) * cov(set)
    attention: NDArray[np.float64]  # (n_rows,): the mean of cov(set), weighted by exp(6 cov(Q))


def evidence(
    sums: NDArray[np.float64], totals: NDArray[np.float64], q: QuestionCells, cells: Cells
) -> Evidence:
    """Return the product and the attention of sets with these sums in cells and these totals."""
    at, of_row = cells.from_question, cells.row_question
    best_products = np.maximum.reduceat(sums * q.sums[at], cells.starts[:-1])
    attended = sums_by(cells.row, sums * q.attention[at], len(cells.rows))
    return Evidence(
        share(best_products, totals * q.totals[of_row]),
        share(attended, totals * q.attention_sums[of_row]),
    )


def first_maxima(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of the first largest value of each row; rows are not empty."""
    largest = np.maximum.reduceat(values, starts[:-1])
    hits = np.flatnonzero(values == np.repeat(largest, np.diff(starts)))
    return hits[np.searchsorted(hits, starts[:-1])]


class RegionScores(NamedTuple):
    """The scores of regions of one size, each of shape (n_rows,)."""

    candidate: NDArray[np.float64]  # max cov(A)
    union: NDArray[np.float64]  # max cov(A u Q)
    product: NDArray[np.float64]  # max cov(Q) * cov(N)
    attention: NDArray[np.float64]  # the mean of cov(N), weighted by exp(6 cov(Q))
    # cov(N) in the first region with the largest cov(Q), 0 if that is 0
    at_question: NDArray[np.float64]
    sum: NDArray[np.float64]  # max cov(Q) + cov(N)


class SentenceScores(NamedTuple):
    """Scores of single sentences, each of shape (n_rows,)."""

    two_products: NDArray[np.float64]  # the sum of the two largest cov(Q) * cov(N)
    # the larger cov(N) of the sentences after the two with the largest cov(Q) > 0
    after: NDArray[np.float64]
    before: NDArray[np.float64]  # the same of the sentences before them
    evidence: NDArray[np.int64]  # the first sentence with the largest product, -1 if that is 0
    # the evidence, else the first sentence with the largest cov(A u Q), -1 if that is 0
    best: NDArray[np.int64]


class CandidateCells(NamedTuple):
    """The sums of the weights of each candidate's words in its cells, and the sums over all its
    words.
    """

    candidate: NDArray[np.float64]  # (n_cells,): of A
    added: NDArray[np.float64]  # (n_cells,): of A without Q
    new: NDArray[np.float64]  # (n_cells,): of N
    candidate_totals: NDArray[np.float64]  # (n_rows,)
    added_totals: NDArray[np.float64]
    new_totals: NDArray[np.float64]


def candidate_cells(words: ContentWords, cells: Cells, regions: Regions) -> CandidateCells:
    """Return how much of each candidate of a chunk each region has."""
    added = words.candidates.select(~words.shared).take(cells.rows)
    shared = words.candidates.select(words.shared).take(cells.rows)
    added_sums, shared_sums = (cell_sums(sets, cells.starts, regions) for sets in (added, shared))
    added_totals, shared_totals = added.totals(), shared.totals()
    # N is A without Q, or A if nothing is left: then all words of A are shared.
    has_added = np.diff(added.offsets) > 0
    new_sums = np.where(has_added[cells.row], added_sums, shared_sums)
    new_totals = np.where(has_added, added_totals, shared_totals)
    return CandidateCells(
        added_sums + shared_sums,
        added_sums,
        new_sums,
        added_totals + shared_totals,
        added_totals,
        new_totals,
    )


def region_scores(q: QuestionCells, c: CandidateCells, cells: Cells) -> RegionScores:
    """Return the scores of one chunk of candidates for regions of one size."""
    first, at, of_row = cells.starts[:-1], cells.from_question, cells.row_question
    new = evidence(c.new, c.new_totals, q, cells)
    best = first_maxima(q.sums, cells.question_starts)
    # A row's cells and its question's are the same sentences.
    best_places = best - cells.question_starts[:-1]
    at_question = c.new[first + best_places[of_row]]
    at_question *= (q.sums[best] > 0)[of_row]
    best_candidate = np.maximum.reduceat(c.candidate, first)
    best_union = np.maximum.reduceat(c.added + q.sums[at], first)
    coverage_sums = share(c.new, c.new_totals[cells.row])
    coverage_sums += q.covered[at]
    return RegionScores(
        candidate=share(best_candidate, c.candidate_totals),
        union=share(best_union, c.added_totals + q.totals[of_row]),
        product=new.best_product,
        attention=new.attention,
        at_question=share(at_question, c.new_totals),
        sum=np.maximum.reduceat(coverage_sums, first),
    )


def sentence_scores(q: QuestionCells, c: CandidateCells, cells: Cells) -> SentenceScores:
    """Return the scores of one chunk of candidates that single sentences alone have."""
    first, at, of_row = cells.starts[:-1], cells.from_question, cells.row_question
    last = cells.starts[1:] - 1
    products = c.new * q.sums[at]
    evidence_cells = first_maxima(products, cells.starts)
    largest = products[evidence_cells]
    products[evidence_cells] = 0
    second = np.maximum.reduceat(products, first)

    after, before = np.zeros(len(first)), np.zeros(len(first))
    sums = q.sums.copy()
    for _ in range(2):
        best = first_maxima(sums, cells.question_starts)
        place = first + (best - cells.question_starts[:-1])[of_row]
        has_match = (sums[best] > 0)[of_row]
        # The indices are clipped to the row; what is beyond its ends counts 0.
        next_sums = c.new[np.minimum(place + 1, last)]
        next_sums *= has_match & (place < last)
        previous_sums = c.new[np.maximum(place - 1, first)]
        previous_sums *= has_match & (place > first)
        after = np.maximum(after, next_sums)
        before = np.maximum(before, previous_sums)
        sums[best] = 0

    union = c.added + q.sums[at]
    best_union = first_maxima(union, cells.starts)
    with_evidence = largest > 0
    best = np.where(union[best_union] > 0, best_union - first, -1)
    best[with_evidence] = (evidence_cells - first)[with_evidence]
    return SentenceScores(
        share(largest + second, c.new_totals * q.totals[of_row]),
        share(after, c.new_totals),
        share(before, c.new_totals),
        np.where(with_evidence, evidence_cells - first, -1),
        best,
    )


class TurnCoverage(NamedTuple):
    """The coverage of words in the turns of a speaker; 0 where the question names none. Each of
    shape (n_rows,).
    """

    own: NDArray[np.float64]  # in the turns of the speaker that the question names
    last: NDArray[np.float64]  # in the last two of them
    others: NDArray[np.float64]  # in the turns of other speakers


def turn_coverage(
    sets: WordSets,  # over the candidates of the chunk
    cells: Cells,
    sentences: Regions,  # of single sentences
    # (n_question_cells,): the speaker of each sentence, -1 outside turns
    speakers: NDArray[np.int64],
    turns: NDArray[np.int64],  # (n_question_cells,): its turn; later turns have larger numbers
    # (n_questions of the chunk,): the speaker that each question names, or -1
    named_speakers: NDArray[np.int64],
) -> TurnCoverage:
    """Return how much of the sets of one chunk's candidates the turns of a dialogue have."""
    starts = cells.question_starts
    speaker_named = np.repeat(named_speakers, np.diff(starts))
    is_turn = (speakers >= 0) & (speaker_named >= 0)
    is_of_speaker = is_turn & (speakers == speaker_named)
    # The last turn of the speaker, and the last one before it.
    last = np.maximum.reduceat(np.where(is_of_speaker, turns, -1), starts[:-1])
    before = is_of_speaker & (turns < np.repeat(last, np.diff(starts)))
    second = np.maximum.reduceat(np.where(before, turns, -1), starts[:-1])
    first_of_last = np.where(second < 0, last, second)
    is_last = is_of_speaker & (turns >= np.repeat(first_of_last, np.diff(starts)))

    matched = sets.select(sets.matched)
    at, counts = _matched_cells(matched, cells.starts, sentences)
    at, first = cells.from_question[at], offsets_of(counts)[:-1]
    totals = sets.totals()

    def coverage(flags: NDArray[np.bool_]) -> NDArray[np.float64]:
        covered = np.logical_or.reduceat(flags[at], first)
        return share(matched.sums(matched.weights * covered), totals)

    return TurnCoverage(
        coverage(is_of_speaker), coverage(is_last), coverage(is_turn & ~is_of_speaker)
    )


QUESTION_REACH = 5
CANDIDATE_REACH = 6
"""A distance of d tokens counts exp(-d / reach)."""

CLOSE = 3
"""A word of the candidate is close to one of the question within this many tokens."""

_CHUNK_PLACES = 2**18
"""How many places of matched words are measured at a time; it bounds memory."""


class Proximity(NamedTuple):
    """Distances between the words of question and candidate, each of shape (n_candidates,).

    Distances in passages are shares of |P| - 1, and 1 where there is nothing to measure.
    """

    # over Q's words in P: the distance of the nearest occurrence to any word of N
    mean: NDArray[np.float64]
    weighted_mean: NDArray[np.float64]  # the same, weighted by rarity
    least: NDArray[np.float64]  # the least of these distances
    decay: NDArray[np.float64]  # sum over Q of g(q) exp(-d / 5) / sum over Q of g
    # sum over N of g(w) exp(-d / 6) of w's best occurrence / sum over N of g
    best_decay: NDArray[np.float64]
    all_decay: NDArray[np.float64]  # the same, summed over all occurrences
    close: NDArray[np.int64]  # how many occurrences of N's words are within 3 tokens of a word of Q


def proximity(block: MatchedBlock, questions: WordSets, candidates: WordSets) -> Proximity:
    """Measure the distances between the words N of each of a block's candidates and the words Q
    of its question.
    """
    arrays, postings = block.arrays, block.postings
    question, n = arrays.candidate_question, len(arrays.candidate_question)
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[question]]
    q_set, n_set = questions.select(questions.matched), candidates.select(candidates.matched)
    of_question, of_candidate = q_set.matches(), n_set.matches()
    mean, weighted_mean, least = (np.ones(n) for _ in range(3))
    decay, best_decay, all_decay = (np.zeros(n) for _ in range(3))
    close = np.zeros(n, dtype=np.int64)
    q_totals = questions.totals()[question] * DECAY_SCALE
    n_totals = candidates.totals() * DECAY_SCALE
    # Sums of weights times decays stay below 2**63 for fewer than 2**18 occurrences of the rarest
    # words.
    to_decay, from_decay = decay_weights(QUESTION_REACH), decay_weights(CANDIDATE_REACH)
    for rows in _row_chunks(block, of_question, of_candidate):
        texts = question[rows]
        q_places = places_of(postings, of_question, texts)
        n_places = places_of(postings, of_candidate, rows)
        to_new, to_question = nearest_steps(q_places, n_places)
        spans = np.maximum(lengths[rows] - 1, 1).astype(np.float64)

        # one number for each word
        steps = np.minimum.reduceat(to_new, offsets_of(q_places.counts)[:-1])
        row_sets = q_set.take(texts)
        starts = row_sets.offsets[:-1]
        mean[rows] = np.add.reduceat(steps, starts) / (np.diff(row_sets.offsets) * spans)
        weighted_steps = np.add.reduceat(row_sets.weights * steps, starts)
        weighted_mean[rows] = weighted_steps / (row_sets.totals() * spans)
        least[rows] = np.minimum.reduceat(steps, starts) / spans
        decays = row_sets.weights * _look_up(to_decay, steps)
        decay[rows] = share(np.add.reduceat(decays, starts), q_totals[rows])

        row_sets = n_set.take(rows)
        starts, word_starts = row_sets.offsets[:-1], offsets_of(n_places.counts)[:-1]
        decays = _look_up(from_decay, to_question)
        best_decays = row_sets.weights * np.maximum.reduceat(decays, word_starts)
        best_decay[rows] = share(np.add.reduceat(best_decays, starts), n_totals[rows])
        all_decays = row_sets.weights * np.add.reduceat(decays, word_starts)
        all_decay[rows] = share(np.add.reduceat(all_decays, starts), n_totals[rows])
        n_close = np.add.reduceat(to_question <= CLOSE, word_starts, dtype=np.int64)
        close[rows] = np.add.reduceat(n_close, starts)
    return Proximity(mean, weighted_mean, least, decay, best_decay, all_decay, close)


def _look_up(table: NDArray[np.int64], distances: NDArray[np.int64]) -> NDArray[np.int64]:
    return table[np.minimum(distances, len(table) - 1)]


def _row_chunks(
    block: MatchedBlock, questions: Matches, candidates: Matches
) -> Iterator[NDArray[np.int64]]:
    """Yield the candidates for which both sides have matches, some at a time."""
    question = block.arrays.candidate_question
    rows = np.flatnonzero(has_both(questions, question, candidates))
    counts = np.diff(block.postings.offsets)
    n_places = []
    for matches in (questions, candidates):
        places_before = offsets_of(counts[matches.runs])
        n_places.append(np.diff(places_before[matches.offsets]))
    return row_chunks(rows, n_places[0][question] + n_places[1], _CHUNK_PLACES)


def nearest_steps(first: Places, second: Places) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distance of each place of either side to the nearest place of the other side in
    the same row.

    Every row has places on both sides.
    """
    stride = row_stride(first, second)
    first_keys, second_keys = pack_places(first, stride), pack_places(second, stride)
    to_second = nearest_distances(first_keys, np.sort(second_keys))
    return to_second, nearest_distances(second_keys, np.sort(first_keys))
