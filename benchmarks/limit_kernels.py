"""The kernels that :mod:`benchmarks.limit` measures, with generated data and what an ideal pass
over it must do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.generate import token_arrays, zipf_words
from benchmarks.growth import one_question
from benchmarks.limit_machine import Limit, n_comparisons
from classic_rc.kernels.arrays import (
    TokenArrays,
    longest_runs,
    matched_blocks,
    offsets_of,
    passage_postings,
)
from classic_rc.kernels.cloze import (
    cloze_distance,
    cloze_window,
    phrase_counts,
    phrase_places,
    query_words,
)
from classic_rc.kernels.distance import window_and_distance, word_distance
from classic_rc.kernels.draws import uniform_draws
from classic_rc.kernels.kneser_ney import (
    END,
    MARKS,
    START,
    count_ngrams,
    kneser_ney,
    token_probabilities,
)
from classic_rc.kernels.lexical import bag_of_words, best_sentences, occurrence_distance
from classic_rc.kernels.pairs import word_counts, word_pairs
from classic_rc.kernels.search import best_constrained, top_sentences
from classic_rc.kernels.sentence_postings import SentencePostings
from classic_rc.kernels.spans import score_spans, span_overlap
from classic_rc.kernels.window import sliding_window, window_sweep
from classic_rc.retrieval.queries import TermStatistics, combine, weigh, weigh_constrained
from classic_rc.retrieval.similarity import BM25, Classic, CollectionStatistics, LuceneSimilarity

SWEEP = range(2, 31)
N_STOP_WORDS = 100
"""As in real text, the most frequent words do not count in distances and searches."""


class Kernel(NamedTuple):
    """A function to measure."""

    name: str
    unit: str
    n_units: int
    run: Callable[..., Any]
    arrays: tuple[Any, ...]  # the arguments of `run`
    limit: Limit  # of an ideal pass over all units


def kernels(quick: bool = False) -> Iterator[Kernel]:
    """Yield all kernels with generated data; those of one kind of data follow each other."""
    yield from _choices(200 if quick else 1000)
    yield from _spans()
    yield from _clozes(40 if quick else 200)
    yield from _pairs(200 if quick else 1000)
    yield from _ngrams(100_000 if quick else 2_000_000)
    yield from _searches(*(10_000, 100) if quick else (1_000_000, 500))
    n = 10**5 if quick else 10**6
    keys, counts = np.arange(n // 4, dtype=np.uint64), np.full(n // 4, 4)
    # SplitMix64 has three shifts, three exclusive ors and two products; then the state, a shift and
    # a product.
    yield Kernel(
        "random draws",
        "draw",
        n,
        uniform_draws,
        (keys, counts, 1),
        Limit(8 * n + 16 * len(keys), 11 * n),
    )


def _n_bytes(*arrays: Any) -> int:
    return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))


class Matched(NamedTuple):
    """How much of the passages the questions and candidates match."""

    places: int  # matched passage tokens, summed over candidates
    content_places: int  # those of words that are not stop words
    measured_places: int  # those of candidates that have a distance

    @classmethod
    def of(cls, arrays: TokenArrays, stop: np.ndarray) -> Matched:
        """Count matches."""
        total = np.zeros(3, dtype=np.int64)
        for block in matched_blocks(arrays):
            question = block.arrays.candidate_question
            sizes = np.diff(block.postings.offsets)
            content = sizes * ~stop[block.postings.keys % arrays.n_words]
            places, of_question, of_addition = (
                np.diff(offsets_of(of_run[matches.runs])[matches.offsets])
                for of_run, matches in (
                    (sizes, block.questions),
                    (content, block.questions),
                    (content, block.additions),
                )
            )
            added = sizes[block.additions.runs].sum()
            both = of_question[question] + of_addition
            found = (of_question[question] > 0) & (of_addition > 0)
            total += (places[question].sum() + added, both.sum(), both[found].sum())
        return cls(*total.tolist())


def _match_limit(arrays: TokenArrays) -> Limit:
    """Sort each passage's tokens, and find each word of questions and candidates in its passage."""
    n_found = len(arrays.question_tokens) + len(arrays.candidate_tokens)
    return Limit(
        _n_bytes(*arrays), gathers=n_found, comparisons=n_comparisons(len(arrays.passage_tokens))
    )


def _choices(n_passages: int) -> Iterator[Kernel]:
    """Questions with four options."""
    arrays = token_arrays("RACE", n_passages)
    n, n_tokens = len(arrays.candidate_question), len(arrays.passage_tokens)
    stop = np.arange(arrays.n_words) < N_STOP_WORDS
    matched = Matched.of(arrays, stop)
    match = _match_limit(arrays)
    # An ideal window visits each matched token, in order of position: the weight enters a running
    # sum, leaves it, and the sum is compared with the best one.
    window = Limit(8 * n + 8 * matched.places, 3 * matched.places)
    distance = Limit(9 * n + 4 * matched.measured_places, 3 * matched.measured_places)
    yield Kernel(
        *("postings", "token", n_tokens, passage_postings, (arrays,)),
        Limit(_n_bytes(*arrays[:2]) + 8 * n_tokens, comparisons=n_comparisons(n_tokens)),
    )
    yield Kernel("window", "candidate", n, sliding_window, (arrays,), match + window)
    sweep = Limit(len(SWEEP) * 8 * n + 8 * matched.places, len(SWEEP) * 3 * matched.places)
    yield Kernel("windows of 2..30", "candidate", n, window_sweep, (arrays,), match + sweep)
    yield Kernel("distance", "candidate", n, word_distance, (arrays, stop), match + distance)
    yield Kernel(
        "SW+D", "candidate", n, window_and_distance, (arrays, stop), match + window + distance
    )
    many = one_question(n, 350)
    of_many = Matched.of(many, stop)
    yield Kernel(
        *("SW+D, one question", "candidate", n, window_and_distance, (many, stop)),
        _match_limit(many) + Limit(17 * n, 3 * (of_many.places + of_many.measured_places)),
    )
    # Each candidate token that its passage has, at each of its places, continues a run or starts
    # one.
    yield Kernel(
        *("longest runs", "candidate", n, longest_runs, (arrays,)),
        match + Limit(8 * n, gathers=_run_places(arrays)),
    )
    weights = np.full(n_tokens, 2**20, dtype=np.int32)
    sentences = (
        np.arange(n_tokens)
        - np.repeat(arrays.passage_offsets[:-1], np.diff(arrays.passage_offsets))
    ) // 15
    bag = Limit(8 * n + 4 * matched.places, matched.places)
    yield Kernel(
        "lexical: bag of words", "candidate", n, bag_of_words, (arrays, weights), match + bag
    )
    yield Kernel(
        *("lexical: best sentences", "candidate", n, best_sentences, (arrays, weights, sentences)),
        match + Limit(8 * n + 12 * matched.places, matched.places, gathers=matched.places),
    )
    content = _without_words(arrays, stop)
    measured = Matched.of(content, stop).measured_places
    yield Kernel(
        *("lexical: distance", "candidate", n, occurrence_distance, (content,)),
        _match_limit(content) + Limit(9 * n + 4 * measured, 3 * measured),
    )


def _run_places(arrays: TokenArrays) -> int:
    """Count the places in its passage of each candidate token."""
    alone = arrays._replace(
        question_tokens=arrays.question_tokens[:0], question_offsets=0 * arrays.question_offsets
    )
    return Matched.of(alone, np.zeros(arrays.n_words, dtype=np.bool_)).places


def _without_words(arrays: TokenArrays, dropped: np.ndarray) -> TokenArrays:
    """Return the texts without some words."""

    def drop(tokens: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keep = ~dropped[tokens]
        return tokens[keep], offsets_of(keep.astype(np.int64))[offsets]

    return TokenArrays(
        *drop(arrays.passage_tokens, arrays.passage_offsets),
        *drop(arrays.question_tokens, arrays.question_offsets),
        *drop(arrays.candidate_tokens, arrays.candidate_offsets),
        arrays.question_passage,
        arrays.candidate_question,
        arrays.n_words,
    )


def _spans() -> Iterator[Kernel]:
    rng = np.random.default_rng(0)
    passage, question, longest = zipf_words(rng, 350), zipf_words(rng, 9), 10
    n = int((score_spans(passage, question, longest) >= 0).sum())
    yield Kernel(
        *("spans: window", "span", n, score_spans, (passage, question, longest)),
        _spans_limit(passage, question, longest),
    )
    first = np.repeat(np.arange(len(passage)), longest)
    last = first + np.tile(np.arange(1, longest + 1), len(passage))
    first, last = first[last <= len(passage)], last[last <= len(passage)]
    n_passages = 50
    texts = zipf_words(rng, n_passages * len(passage)), zipf_words(rng, n_passages * len(question))
    question_of = np.repeat(np.arange(n_passages), len(first))
    first, last = np.tile(first, n_passages), np.tile(last, n_passages)
    arrays = TokenArrays(
        texts[0],
        np.arange(n_passages + 1) * len(passage),
        texts[1],
        np.arange(n_passages + 1) * len(question),
        np.empty(0, dtype=np.int32),
        np.zeros(len(first) + 1, dtype=np.int64),
        np.arange(n_passages),
        question_of,
        30_000,
    )
    pairs = zip(*(text.reshape(n_passages, -1) for text in texts), strict=True)
    shared = sum(len(np.intersect1d(*pair)) for pair in pairs)
    # Two comparisons decide whether a word is outside; a bigram takes as many, but few are shared.
    yield Kernel(
        *("spans: overlap", "span", len(first), span_overlap, (arrays, first, last)),
        Limit(24 * len(first), 2 * shared * n, comparisons=n_comparisons(len(texts[0]))),
    )


def _spans_limit(passage: np.ndarray, question: np.ndarray, longest: int) -> Limit:
    """Slide the window over the matched tokens of each span that adds a word to its set."""
    words = passage.tolist()
    counts = dict(zip(*(a.tolist() for a in np.unique(passage, return_counts=True)), strict=True))
    asked = set(question.tolist())
    of_question = sum(counts.get(word, 0) for word in asked)
    places = 0
    for start in range(len(words)):
        own: set[int] = set()
        n = of_question
        for word in words[start : start + longest]:
            if word not in asked and word not in own:
                own.add(word)
                n += counts[word]
                places += n
    n_spans = sum(min(longest, len(words) - start) for start in range(len(words)))
    return Limit(
        8 * n_spans + _n_bytes(passage, question), 3 * places, comparisons=n_comparisons(len(words))
    )


def _clozes(n_passages: int) -> Iterator[Kernel]:
    """Clozes as in CNN: long passages, candidates that the passage mentions."""
    rng = np.random.default_rng(0)
    length, query, per_passage, n_words = 750, 12, 25, 30_000
    passage = zipf_words(rng, n_passages * length)
    entity = rng.random(len(passage)) < 0.12
    passage[entity] = n_words + rng.integers(0, per_passage, int(entity.sum()))
    candidates = np.tile(np.arange(n_words, n_words + per_passage, dtype=np.int32), n_passages)
    arrays = TokenArrays(
        passage,
        np.arange(n_passages + 1) * length,
        zipf_words(rng, n_passages * query),
        np.arange(n_passages + 1) * query,
        candidates,
        np.arange(len(candidates) + 1),
        np.arange(n_passages),
        np.repeat(np.arange(n_passages), per_passage),
        n_words + per_passage,
    )
    placeholders = np.full(n_passages, 5)
    n = len(candidates)
    postings = passage_postings(arrays)
    mentions, _ = phrase_places(arrays, postings)
    words = query_words(arrays, postings, placeholders)
    sizes = np.diff(postings.offsets)
    match = Limit(
        _n_bytes(*arrays),
        gathers=len(arrays.question_tokens) + n,
        comparisons=n_comparisons(len(passage)),
    )
    # Each mention looks up the nearest place of each query word that its passage has.
    lookups = int(np.diff(words.offsets)[arrays.candidate_question[mentions]].sum())
    yield Kernel(
        "cloze: mentions",
        "candidate",
        n,
        phrase_counts,
        (arrays,),
        match + Limit(8 * n, len(mentions)),
    )
    yield Kernel(
        *("cloze: distance", "candidate", n, cloze_distance, (arrays, placeholders)),
        match + Limit(9 * n, 4 * lookups, gathers=lookups),
    )
    # Each matching pair of tokens votes for a shift; a query's votes are the same for all of its
    # candidates.
    votes = int(sizes[words.runs].sum()) + len(mentions)
    cells = n * (length + query)
    yield Kernel(
        *("cloze: window", "candidate", n, cloze_window, (arrays, placeholders)),
        match + Limit(8 * n, cells, gathers=votes),
    )


def _pairs(n_passages: int) -> Iterator[Kernel]:
    """The pairs of a question's and a candidate's words, as the surface-feature learner makes
    them.
    """
    arrays = token_arrays("RACE", n_passages)
    options = word_counts(arrays.candidate_tokens, arrays.candidate_offsets, arrays.n_words)
    questions = word_counts(arrays.question_tokens, arrays.question_offsets, arrays.n_words)
    partner = arrays.candidate_question
    n = len(word_pairs(options, questions, partner)[0])
    limit = Limit(24 * n + _n_bytes(*options, *questions, partner))
    yield Kernel("surface pairs", "pair", n, word_pairs, (options, questions, partner), limit)


def _ngrams(n_tokens: int) -> Iterator[Kernel]:
    """An n-gram model, and the probabilities of other text."""
    order, sentence, n_words = 5, 20, 100_000
    offsets = np.arange(n_tokens // sentence + 1) * (sentence + 2)

    def marked(seed: int) -> np.ndarray:
        words = zipf_words(np.random.default_rng(seed), n_tokens, n_words).reshape(
            -1, sentence
        ) + len(MARKS)
        words = np.pad(words, ((0, 0), (1, 1)))
        words[:, 0], words[:, -1] = START, END
        return words.ravel()

    tokens = marked(0)
    n = len(tokens)
    counts = count_ngrams(tokens, offsets, n_words + len(MARKS), order)
    tables = sum(_n_bytes(*table) for table in counts)
    yield Kernel(
        *(
            "n-grams: counting",
            "token",
            n,
            partial(count_ngrams, n_words=n_words + len(MARKS), order=order),
        ),
        (tokens, offsets),
        Limit(_n_bytes(tokens, offsets) + tables, comparisons=(order - 1) * n_comparisons(n)),
    )
    n_ngrams = sum(len(table.keys) for table in counts)
    # An entry finds its suffix's rank, adds to the suffix's count, and reads the suffix's
    # probability. Its context is the one of the entry before or the next one; it adds to the
    # context's total and mass.
    yield Kernel(
        *("n-grams: estimating", "n-gram", n_ngrams, kneser_ney, (counts,)),
        Limit(tables + 16 * n_ngrams, 6 * n_ngrams, far_gathers=3 * n_ngrams),
    )
    model = kneser_ney(counts)
    other = marked(1)[: n // 10 // (sentence + 2) * (sentence + 2)]
    places = offsets[: len(other) // (sentence + 2) + 1]
    found = token_probabilities(model, other, places).orders
    # Each known context asks for one longer n-gram, and reads its back-off or its probability.
    # These tables are larger than the cache.
    lookups = int(np.minimum(found, order - 1).sum())
    yield Kernel(
        *("n-grams: scoring", "token", len(other), token_probabilities, (model, other, places)),
        Limit(20 * len(other), lookups, far_gathers=2 * lookups),
    )


def _searches(n_sentences: int, n_questions: int) -> Iterator[Kernel]:
    """Questions with four options against sentences without stop words."""
    rng = np.random.default_rng(0)
    n_words = 60_000

    def texts(n: int, mean: int) -> Any:
        lengths = np.maximum(rng.poisson(mean, n), 1)
        tokens = zipf_words(rng, int(lengths.sum()), n_words)
        keep = tokens >= N_STOP_WORDS
        return word_counts(
            tokens[keep], offsets_of(keep.astype(np.int64))[offsets_of(lengths)], n_words
        )

    sentences, asked, offered = (
        texts(n_sentences, 16),
        texts(n_questions, 10),
        texts(4 * n_questions, 6),
    )
    lengths = np.bincount(sentences.texts, sentences.counts, n_sentences).astype(np.int64)
    frequencies = np.bincount(sentences.words, minlength=n_words)
    order = np.argsort(sentences.words, kind="stable")
    pair = sentences.counts * (int(lengths.max()) + 1) + lengths[sentences.texts]
    pairs, codes = np.unique(pair[order], return_inverse=True)
    code_counts, code_lengths = np.divmod(pairs, int(lengths.max()) + 1)
    collection = CollectionStatistics(
        np.int64(n_sentences), np.int64((lengths > 0).sum()), np.int64(lengths.sum())
    )
    option_question = np.repeat(np.arange(n_questions), 4)
    lists = np.where(frequencies > 0, np.arange(n_words), -1)
    narrow = codes.reshape(-1).astype(np.min_scalar_type(len(pairs)))
    n = len(option_question)
    similarity: LuceneSimilarity
    for similarity in (BM25(), Classic()):
        postings = SentencePostings(
            offsets_of(frequencies),
            sentences.texts[order].astype(np.int32),
            narrow,
            code_counts.astype(np.float32),
            similarity.length_factors(code_lengths, collection),
        )
        facts = TermStatistics(lists, similarity.idfs(collection, frequencies))
        of_questions, of_options = facts.of_words(asked), facts.of_words(offered)
        queries = weigh_constrained(
            (asked, offered, option_question),
            *(of_questions, of_options, similarity),
            np.zeros(n_questions, dtype=np.int64),
            np.full(n_questions, n_sentences),
        )
        terms = weigh(asked, of_questions, similarity)
        to_scores = combine(asked, of_questions, similarity)
        n_asked = int(frequencies[terms.terms].sum())
        distinct = np.unique(
            queries.option_question[queries.options.texts] * n_words + queries.options.terms
        )
        n_offered = int(frequencies[distinct % n_words].sum())
        # A posting is a sentence's number and a code. Those of the question add to a sum in their
        # sentence's cell, those of options look it up.
        posting = postings.sentences.itemsize + postings.codes.itemsize
        if to_scores is None:
            yield Kernel(
                *(
                    "BM25 with a constraint",
                    "option",
                    n,
                    partial(best_constrained, term_scores=similarity.term_scores),
                ),
                (postings, queries),
                Limit(12 * n + posting * (n_asked + n_offered), gathers=n_asked + n_offered),
            )
        yield Kernel(
            f"{'BM25' if to_scores is None else 'TF-IDF'} of all sentences, 10 best",
            *("query", n_questions),
            partial(
                top_sentences,
                n_queries=n_questions,
                n_sentences=n_sentences,
                k=10,
                term_scores=similarity.term_scores,
                combine=to_scores,
            ),
            (postings, terms),
            Limit(120 * n_questions + posting * n_asked, n_asked, gathers=n_asked),
        )
