"""The ranker's dense features: a table of them, and their values for whole datasets in one pass.

P is the passage, Q and A are the sets of content words of question and candidate, and N is A
without Q (A if that is empty). cov(X) of a region of the passage is the share of the rarity of X
that the region has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    MatchedBlock,
    matched_blocks,
    offsets_of,
    ragged_indices,
    sums_by,
)
from classic_rc.kernels.ngrams import (
    Texts,
    common_subsequences,
    longest_found,
    ngram_counts,
    token_runs,
)
from classic_rc.kernels.pairs import mean_jaccard, words_of_others
from classic_rc.kernels.regions import (
    Cells,
    Regions,
    TurnCoverage,
    candidate_cells,
    cell_chunks,
    cell_sums,
    evidence,
    proximity,
    question_cells,
    region_scores,
    sentence_scores,
    turn_coverage,
    word_regions,
)
from classic_rc.kernels.weights import SCALE as WINDOW_SCALE
from classic_rc.kernels.window import best_of_sizes, best_windows, pair_windows
from classic_rc.kernels.word_sets import ContentWords, WordSets, content_words, share, spread
from classic_rc.solvers.feature_ranker.texts import (
    FACTS,
    NEGATIONS,
    RARITY_BITS,
    SURFACE,
    PassageSentences,
    RankerTexts,
    word_flags,
)

RARITY_SCALE = 2**RARITY_BITS
"""A rarity of 1 as an integer."""

STOP_RARITY = round(0.02 * RARITY_SCALE)
"""The rarity of every stop word."""

SWEEP = range(2, 30)
WINDOWS = (6, 12, 20, 30)
LONG_WINDOW = 60
CONTENT_WINDOWS = (10, 20, 40)
PAIR_WINDOWS = (12, 25, 50)
REGIONS = (1, 2, 3)
LONGEST_RUN = 5


class Feature(NamedTuple):
    """A column of the matrix of features."""

    group: str
    name: str
    formula: str  # one line
    main: bool = False  # is crossed with the types of questions


def _windows() -> Iterator[Feature]:
    unit = "inverse counts ln(1 + 1 / count in P) of the words of A u Q"
    yield Feature(
        "windows",
        "window set",
        f"best window of |A u Q| tokens, all words: sum of the {unit}",
        True,
    )
    for size in (*WINDOWS, LONG_WINDOW):
        yield Feature(
            "windows", f"window {size}", f"the same for windows of {size} tokens", size in (12, 30)
        )
    yield Feature(
        "windows", "window sweep", "the same, summed over windows of 2 to 29 tokens", True
    )
    for size in CONTENT_WINDOWS:
        yield Feature(
            "windows", f"content window {size}", f"the same for {size} tokens, content words only"
        )
    for size in PAIR_WINDOWS:
        name = (
            f"best window of {size} tokens: sqrt(min(n, 3) min(q, 3)), n and q the sums over words "
            "of N and of Q"
        )
        yield Feature("windows", f"pair window {size}", name, size == PAIR_WINDOWS[1])
        yield Feature("windows", f"least window {size}", f"best window of {size} tokens: min(n, q)")


def _sentences() -> Iterator[Feature]:
    for size in REGIONS:
        s, kind = f"sentences {size}", f"regions of {size} sentence{'s' * (size > 1)}"
        yield Feature("sentences", f"{s}: candidate", f"{kind}: max cov(A)", size == 1)
        yield Feature("sentences", f"{s}: union", f"{kind}: max cov(A u Q)", size == 1)
        yield Feature("sentences", f"{s}: product", f"{kind}: max cov(Q) cov(N)", size < 3)
        yield Feature(
            "sentences",
            f"{s}: attention",
            f"{kind}: mean of cov(N), weighted by exp(6 cov(Q))",
            size < 3,
        )
        yield Feature(
            "sentences", f"{s}: at question", f"{kind}: cov(N) where cov(Q) is largest", size == 2
        )
        yield Feature("sentences", f"{s}: sum", f"{kind}: max cov(Q) + cov(N)", size == 1)
    yield Feature("sentences", "two products", "sum of the two largest cov(Q) cov(N) of sentences")
    yield Feature(
        "sentences",
        "after question",
        "max cov(N) of the sentences after the two with the best cov(Q)",
        True,
    )
    yield Feature("sentences", "before question", "the same for the sentences before them")


def _ngrams() -> Iterator[Feature]:
    for text, sizes in (("candidate", (2, 3)), ("statement", (2, 3, 4))):
        for n in sizes:
            yield Feature(
                "ngrams",
                f"{text} {n}-grams",
                f"share of the rarity of the {text}'s {n}-grams in P",
                True,
            )
            yield Feature(
                "ngrams", f"{text} {n}-grams found", f"number of the {text}'s {n}-grams in P"
            )
    yield Feature("ngrams", "longest run", "tokens of the longest run of A in P, up to 5", True)
    yield Feature(
        "ngrams", "longest run share", "the same as a share of A's tokens (of 5 if A has more)"
    )
    yield Feature(
        "ngrams",
        "subsequence",
        "longest common subsequence of statement and best sentence, tokens",
        True,
    )
    yield Feature(
        "ngrams", "subsequence share", "the same as a share of the statement's tokens", True
    )
    yield Feature(
        "ngrams",
        "negation agrees",
        "1 if (A or Q) and the best sentence both have negation, or neither",
    )


_OTHERS = (
    Feature(
        "distance",
        "distance mean",
        "mean over Q in P of the distance d to the nearest word of N, / (|P| - 1)",
        True,
    ),
    Feature("distance", "distance weighted", "the same, weighted by rarity"),
    Feature(
        "distance",
        "distance least",
        "the least of these distances; like them 1 where there is none",
        True,
    ),
    Feature(
        "distance",
        "question decay",
        "mean over Q of exp(-d / 5), weighted by rarity, 0 for words not in P",
        True,
    ),
    Feature(
        "distance",
        "candidate decay",
        "mean over N of exp(-d / 6), d from the word's best occurrence to Q",
        True,
    ),
    Feature(
        "distance", "candidate decay of all", "the same, summed over all occurrences of each word"
    ),
    Feature(
        "distance",
        "close words",
        "ln(1 + number of occurrences of N within 3 tokens of a word of Q)",
        True,
    ),
    Feature("coverage", "coverage of candidate", "cov(A) of P", True),
    Feature("coverage", "coverage of new words", "cov(N) of P", True),
    Feature("coverage", "coverage of tokens", "share of all of A's tokens that P has"),
    Feature("coverage", "tokens found", "how many of A's tokens P has"),
    Feature("coverage", "tokens missing", "how many of A's tokens P does not have", True),
    Feature("coverage", "frequency", "ln(1 + number of occurrences of N in P)", True),
    Feature("coverage", "rarity", "sum of the rarity of A", True),
    Feature("coverage", "share in question", "share of the rarity of A that is in Q"),
    Feature("coverage", "coverage of first third", "cov(N) of the first third of P"),
    Feature("coverage", "coverage of last third", "cov(N) of the last third of P"),
    Feature("coverage", "coverage of first sentence", "cov(N) of the first sentence"),
    Feature("coverage", "coverage of last sentence", "cov(N) of the last sentence"),
    Feature("contrast", "jaccard", "mean Jaccard similarity of A with the other candidates", True),
    Feature(
        "contrast", "shared words", "share of the rarity of A that other candidates have too", True
    ),
    Feature(
        "contrast", "own words", "cov(U) of P; U: the words of N that no other candidate has", True
    ),
    Feature("contrast", "own product", "max cov(Q) cov(U) of a sentence", True),
    Feature(
        "contrast",
        "own attention",
        "mean of cov(U) of the sentences, weighted by exp(6 cov(Q))",
        True,
    ),
    *(
        Feature("surface", name, "a fact of the candidate's text", name == "log words")
        for name in SURFACE
    ),
    Feature("position", "position", "how many candidates come before A"),
    Feature("position", "is last", "1 if no candidate comes after A"),
    Feature(
        "speakers", "own turns", "cov(N) of the turns of the speaker that the question names", True
    ),
    Feature("speakers", "own last turns", "cov(N) of the last two of them", True),
    Feature("speakers", "turns of others", "cov(N) of the turns of other speakers", True),
)

TABLE: tuple[Feature, ...] = (*_windows(), *_sentences(), *_ngrams(), *_OTHERS)
"""All dense features."""

GROUPS = (
    "windows",
    "distance",
    "sentences",
    "coverage",
    "ngrams",
    "contrast",
    "surface",
    "position",
    "speakers",
)


def names_by_group(
    table: Sequence[Feature], groups: Sequence[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return the names of each group's features, in the order of the table."""
    names: dict[str, tuple[str, ...]] = dict.fromkeys(groups, ())
    for feature in table:
        names[feature.group] += (feature.name,)
    return names


FEATURES = names_by_group(TABLE, GROUPS)
"""The names of the columns of each group, in order."""

MAIN_FEATURES = frozenset(feature.name for feature in TABLE if feature.main)
"""The features that are crossed with the types of questions."""


def dense_features(
    texts: RankerTexts, rarity: NDArray[np.int64], groups: Collection[str] = GROUPS
) -> NDArray[np.float64]:
    """Return the features of all candidates, equal ones included, in the arrays' order.

    `rarity` has the rarity of each word, fixed-point of scale :data:`RARITY_SCALE`; below 1 counts
    as 1, and stop words have :data:`STOP_RARITY` instead. The columns are those of some groups in
    the order of :data:`FEATURES`.
    """
    chosen_groups = [group for group in GROUPS if group in groups]
    names = [name for group in chosen_groups for name in FEATURES[group]]
    encoded, rows = texts.encoded, texts.encoded.candidate_rows
    matrix = np.zeros((int(encoded.question_offsets[-1]), len(names)))
    for block in _blocks(texts, rarity):
        values, where = _block_features(block, chosen_groups), block.matched.where
        bounds = encoded.question_offsets[[block.questions.start, block.questions.stop]]
        target = slice(*bounds.tolist())
        source: Any = slice(None) if rows is None else rows[target] - where.start
        for column, name in enumerate(names):
            if name in FACTS:
                matrix[target, column] = texts.facts[target, FACTS.index(name)]
            else:
                matrix[target, column] = values[name][source]
    return matrix


def evidence_sentences(texts: RankerTexts, rarity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sentence with the largest cov(Q) cov(N) for each candidate, as an index in its
    passage.

    The first of equal ones; -1 if no sentence has words of both.
    """
    best = np.full(len(texts.encoded.arrays.candidate_question), -1, dtype=np.int64)
    for block in _blocks(texts, rarity):
        matched, words = block.matched, block.words
        regions = word_regions(matched.arrays, matched.postings, block.token_sentences, 1)
        for cells in cell_chunks(matched.arrays, block.n_sentences):
            q = question_cells(words, cells, regions)
            c = candidate_cells(words, cells, regions)
            rows = matched.where.start + cells.rows
            best[rows] = sentence_scores(q, c, cells).evidence
    return best


class _RankerBlock(NamedTuple):
    """A block of questions with what all groups read."""

    matched: MatchedBlock
    words: ContentWords
    texts: RankerTexts  # of the whole dataset
    rarity: NDArray[np.int64]
    negations: NDArray[np.bool_]  # (n_words,)
    questions: slice  # the block's questions among all
    # (n_sentences + 1,): of the block's passages, numbered from 0
    sentence_offsets: NDArray[np.int64]
    n_sentences: NDArray[np.int64]  # (n_passages,)
    first_sentence: int  # the block's first sentence among all
    passage_sentences: NDArray[np.int64]  # (n_passages + 1,)
    # (n_passage_tokens,): the index of each token's sentence in its passage
    token_sentences: NDArray[np.int64]


_Columns = dict[str, NDArray[Any]]
"""Columns by name, a row for each distinct candidate of a block."""


def _blocks(texts: RankerTexts, rarity: NDArray[np.int64]) -> Iterator[_RankerBlock]:
    """Yield the questions in blocks, their words matched."""
    arrays = texts.encoded.arrays
    weights = np.where(texts.stop, STOP_RARITY, np.maximum(rarity, 1))
    negations = word_flags(texts.encoded.vocabulary, NEGATIONS)
    for matched in matched_blocks(arrays, whole_questions=True):
        ends = [matched.where.start, matched.where.stop - 1]
        first, last = arrays.candidate_question[ends].tolist()
        passage = int(arrays.question_passage[first])
        next_passage = passage + len(matched.arrays.passage_offsets) - 1
        sentences = PassageSentences.of(
            texts.sentence_offsets, texts.passage_sentences, passage, next_passage
        )
        n_sentences = np.diff(sentences.of_passage)
        within = ragged_indices(np.zeros_like(n_sentences), n_sentences)
        yield _RankerBlock(
            matched,
            content_words(matched, texts.stop, weights),
            texts,
            weights,
            negations,
            questions=slice(first, last + 1),
            sentence_offsets=sentences.offsets,
            n_sentences=n_sentences,
            first_sentence=sentences.first,
            passage_sentences=sentences.of_passage,
            token_sentences=np.repeat(within, np.diff(sentences.offsets)),
        )


def _block_features(block: _RankerBlock, groups: Collection[str]) -> _Columns:
    """Return the features of some groups for the distinct candidates of a block; none for
    :data:`FACTS`.
    """
    columns: _Columns = {}
    if "windows" in groups:
        columns |= _window_columns(block)
    if "distance" in groups:
        columns |= _distance_columns(block)
    if "coverage" in groups:
        columns |= _coverage_columns(block)
    unique_words = None
    if "contrast" in groups:
        of_others, unique_words = _contrast_columns(block)
        columns |= of_others
    if not {"sentences", "ngrams", "contrast", "speakers"}.isdisjoint(groups):
        of_regions, best = _region_columns(block, groups, unique_words)
        columns |= of_regions
        if "ngrams" in groups:
            columns |= _ngram_columns(block, best)
    return columns


def _window_columns(block: _RankerBlock) -> _Columns:
    matched, words = block.matched, block.words
    sweep = best_of_sizes(matched, range(SWEEP.start, max(WINDOWS) + 1))
    pairs = pair_windows(
        matched, words.questions.matches(), words.new.matches(), CONTENT_WINDOWS, PAIR_WINDOWS
    )
    columns: _Columns = {}
    columns["window set"] = best_windows(matched, "set") / WINDOW_SCALE
    columns[f"window {LONG_WINDOW}"] = best_windows(matched, LONG_WINDOW) / WINDOW_SCALE
    columns["window sweep"] = sweep[:, : len(SWEEP)].sum(axis=1) / WINDOW_SCALE
    for size in WINDOWS:
        columns[f"window {size}"] = sweep[:, size - SWEEP.start] / WINDOW_SCALE
    for column, size in enumerate(CONTENT_WINDOWS):
        columns[f"content window {size}"] = pairs.both[:, column] / WINDOW_SCALE
    for column, size in enumerate(PAIR_WINDOWS):
        product = pairs.product[:, column].astype(np.float64)
        columns[f"pair window {size}"] = np.sqrt(product) / WINDOW_SCALE
        columns[f"least window {size}"] = pairs.least[:, column] / WINDOW_SCALE
    return columns


def _distance_columns(block: _RankerBlock) -> _Columns:
    measured = proximity(block.matched, block.words.questions, block.words.new)
    return {
        "distance mean": measured.mean,
        "distance weighted": measured.weighted_mean,
        "distance least": measured.least,
        "question decay": measured.decay,
        "candidate decay": measured.best_decay,
        "candidate decay of all": measured.all_decay,
        "close words": np.log1p(measured.close),
    }


def _coverage_columns(block: _RankerBlock) -> _Columns:
    matched, words, arrays = block.matched, block.words, block.matched.arrays
    passages = arrays.question_passage[arrays.candidate_question]
    owner = np.repeat(np.arange(len(passages)), np.diff(arrays.candidate_offsets))
    tokens = Texts(arrays.candidate_tokens, arrays.candidate_offsets, passages)
    n_in_passage = sums_by(
        owner, token_runs(tokens, matched.postings, arrays.n_words) >= 0, len(passages)
    )
    lengths = np.diff(arrays.candidate_offsets).astype(np.float64)
    places = spread(matched.postings)
    of_passage = matched.postings.keys // arrays.n_words
    size = np.diff(arrays.passage_offsets)[of_passage]
    starts = arrays.passage_offsets[of_passage]
    first_sentence = block.token_sentences[starts + places.first]
    last_sentence = block.token_sentences[starts + places.last]
    regions = {  # which of the passages' words each one has
        "coverage of first third": 3 * places.first < size,
        "coverage of last third": 3 * places.last >= 2 * size,
        "coverage of first sentence": first_sentence == 0,
        "coverage of last sentence": last_sentence == block.n_sentences[of_passage] - 1,
    }
    new, a = words.new, words.candidates
    frequency = new.sums(_of_runs(places.counts, new.runs))
    columns: _Columns = {
        "coverage of candidate": a.coverage(a.matched),
        "coverage of new words": new.coverage(new.matched),
        "coverage of tokens": share(n_in_passage, lengths),
        "tokens found": n_in_passage,
        "tokens missing": lengths - n_in_passage,
        "frequency": np.log1p(frequency),
        "rarity": a.totals() / RARITY_SCALE,
        "share in question": a.coverage(words.shared),
    }
    for name, has_word in regions.items():
        columns[name] = new.coverage(_of_runs(has_word, new.runs))
    return columns


def _of_runs(values: NDArray[Any], runs: NDArray[np.int64]) -> NDArray[Any]:
    """Return the value of each entry's run, 0 without one."""
    return np.append(values, np.zeros(1, dtype=values.dtype))[runs]  # run -1 is that 0


def _contrast_columns(block: _RankerBlock) -> tuple[_Columns, WordSets]:
    """Return the columns that need no sentences, and the words U of each candidate."""
    arrays, words = block.matched.arrays, block.words
    of_others = words_of_others(words.candidates, arrays.candidate_question, arrays.n_words)
    unique_words = words.new.select(~of_others[words.is_new])
    jaccard = mean_jaccard(words.candidates, arrays.candidate_question, arrays.n_words)
    columns: _Columns = {
        "jaccard": jaccard,
        "shared words": words.candidates.coverage(of_others),
        "own words": unique_words.coverage(unique_words.matched),
    }
    return columns, unique_words


def _region_columns(
    block: _RankerBlock, groups: Collection[str], unique_words: WordSets | None
) -> tuple[_Columns, NDArray[np.int64]]:
    """Return the features of sentences and speakers' turns, and each candidate's best sentence;
    `unique_words` has U.
    """
    arrays, words = block.matched.arrays, block.words
    n = len(arrays.candidate_question)
    names = {
        "sentences": FEATURES["sentences"],
        "contrast": ("own product", "own attention"),
        "speakers": FEATURES["speakers"],
    }
    columns: _Columns = {}
    for group in names:
        if group in groups:
            columns |= {name: np.zeros(n) for name in names[group]}
    best = np.full(n, -1, dtype=np.int64)
    sizes = REGIONS if "sentences" in groups else REGIONS[:1]
    regions = {
        size: word_regions(arrays, block.matched.postings, block.token_sentences, size)
        for size in sizes
    }
    for cells in cell_chunks(arrays, block.n_sentences):
        for size, size_regions in regions.items():
            q = question_cells(words, cells, size_regions)
            c = candidate_cells(words, cells, size_regions)
            if "sentences" in groups:
                for name, values in region_scores(q, c, cells)._asdict().items():
                    columns[f"sentences {size}: {name.replace('_', ' ')}"][cells.rows] = values
            if size == 1:
                of_sentences = sentence_scores(q, c, cells)
                best[cells.rows] = of_sentences.best
                if "sentences" in groups:
                    columns["two products"][cells.rows] = of_sentences.two_products
                    columns["after question"][cells.rows] = of_sentences.after
                    columns["before question"][cells.rows] = of_sentences.before
                if unique_words is not None:
                    chunk = unique_words.take(cells.rows)
                    sums = cell_sums(chunk, cells.starts, size_regions)
                    scores = evidence(sums, chunk.totals(), q, cells)
                    columns["own product"][cells.rows] = scores.best_product
                    columns["own attention"][cells.rows] = scores.attention
                if "speakers" in groups:
                    of_turns = _turn_coverage(block, cells, size_regions)
                    columns["own turns"][cells.rows] = of_turns.own
                    columns["own last turns"][cells.rows] = of_turns.last
                    columns["turns of others"][cells.rows] = of_turns.others
    return columns, best


def _turn_coverage(block: _RankerBlock, cells: Cells, sentences: Regions) -> TurnCoverage:
    texts = block.texts
    new_words = block.words.new.take(cells.rows)
    named_speakers = texts.asked_speaker[block.questions][cells.questions]
    passages = block.matched.arrays.question_passage[cells.questions]
    sentence_numbers = block.first_sentence + ragged_indices(
        block.passage_sentences[passages], block.n_sentences[passages]
    )
    speakers, turns = texts.speakers[sentence_numbers], texts.turns[sentence_numbers]
    return turn_coverage(new_words, cells, sentences, speakers, turns, named_speakers)


def _ngram_columns(block: _RankerBlock, best: NDArray[np.int64]) -> _Columns:
    arrays, where = block.matched.arrays, block.matched.where
    n = len(best)
    passages = arrays.question_passage[arrays.candidate_question]
    starts = block.texts.statement_offsets[where.start : where.stop + 1]
    statements = block.texts.statements[starts[0] : starts[-1]]
    starts = starts - starts[0]
    lengths, statement_lengths = np.diff(arrays.candidate_offsets), np.diff(starts)
    tokens = np.concatenate((arrays.candidate_tokens, statements))
    offsets = offsets_of(np.concatenate((lengths, statement_lengths)))
    texts = Texts(tokens, offsets, np.concatenate((passages, passages)))
    counts = ngram_counts(arrays, block.matched.postings, texts, block.rarity, LONGEST_RUN)
    columns: _Columns = {}
    for text, sizes, rows in (
        ("candidate", (2, 3), slice(0, n)),
        ("statement", (2, 3, 4), slice(n, None)),
    ):
        for size in sizes:
            size_counts = counts[size - 1]
            weight = size_counts.weight[rows]
            columns[f"{text} {size}-grams"] = share(size_counts.found_weight[rows], weight)
            columns[f"{text} {size}-grams found"] = size_counts.found[rows].astype(np.float64)
    runs = longest_found(counts)[:n].astype(np.float64)
    columns["longest run"] = runs
    columns["longest run share"] = share(runs, np.minimum(lengths, LONGEST_RUN).astype(np.float64))

    # Rows without a best sentence have a partner of no tokens.
    sentence = block.passage_sentences[passages] + np.maximum(best, 0)
    n_sentences = len(block.sentence_offsets) - 1
    first = block.sentence_offsets[np.minimum(sentence, n_sentences)]
    last = block.sentence_offsets[np.minimum(sentence + 1, n_sentences)]
    sizes_of_best = np.where(best >= 0, last - first, 0)
    lengths = common_subsequences(statements, starts, arrays.passage_tokens, first, sizes_of_best)
    common = lengths.astype(np.float64)
    columns["subsequence"] = common
    columns["subsequence share"] = share(common, statement_lengths.astype(np.float64))

    # How many negations precede each token; the difference of two places is those between them.
    negations = block.negations.astype(np.int64)
    in_passage = offsets_of(negations[arrays.passage_tokens])
    in_question = offsets_of(negations[arrays.question_tokens])[arrays.question_offsets]
    in_candidate = offsets_of(negations[arrays.candidate_tokens])[arrays.candidate_offsets]
    is_negated = (np.diff(in_question) > 0)[arrays.candidate_question]
    is_negated |= np.diff(in_candidate) > 0
    in_sentence = (best >= 0) & (in_passage[first + sizes_of_best] > in_passage[first])
    columns["negation agrees"] = is_negated == in_sentence
    return columns
