"""The default engine: inverted lists in NumPy arrays, in segments that share their statistics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.specification import quote_argument
from classic_rc.errors import DataError, UsageError
from classic_rc.kernels.arrays import block_size, offsets_of
from classic_rc.kernels.search import best_constrained, best_per_query, top_sentences
from classic_rc.kernels.sentence_postings import SentencePostings
from classic_rc.questions import Question
from classic_rc.retrieval.base import (
    Best,
    BuildReport,
    Engine,
    Hits,
    QueryFacts,
    TermFacts,
    check_depth,
    check_sentences,
)
from classic_rc.retrieval.building import build_index
from classic_rc.retrieval.passages import best_in_passages
from classic_rc.retrieval.queries import (
    EncodedQueries,
    TermStatistics,
    combine,
    combine_constrained,
    weigh,
    weigh_constrained,
)
from classic_rc.retrieval.reading import ProgressCallback, TextInput, sentence_place
from classic_rc.retrieval.segment import (
    MAX_CHARACTERS,
    MAX_SENTENCES,
    Segment,
    SegmentBuilder,
    Statistics,
)
from classic_rc.retrieval.similarity import LuceneSimilarity, Similarity
from classic_rc.retrieval.storage import MANIFEST, Arrays, Manifest, read_folder
from classic_rc.retrieval.texts import StoredTexts

_Result = TypeVar("_Result")


class Sparse(Engine):
    """Inverted lists in arrays, scored by NumPy; scores equal those of Lucene 8 to the bit.

    A folder that ``classic-rc index`` built is mapped read-only: several processes share one copy
    in memory. A file is read as a whole and verified when it is opened for the first time or has
    changed; after that only the pages in use are read. Such an engine is pickled as the path of its
    folder.

    Parameters
    ----------
    similarity : str or Similarity, optional
        ``"bm25"`` (the default), ``"bm25-lucene"`` or ``"classic"``, with any constants.
    analyzer : str or Analyzer

    Examples
    --------
    >>> engine = Sparse().index(["The fox sleeps.", "A fox ate the grapes.", "Grapes are sour."])
    >>> hits = engine.top(["Do foxes eat grapes?"], k=2)
    >>> [engine.sentence(number) for number in hits.sentences]
    ['A fox ate the grapes.', 'The fox sleeps.']
    >>> engine.best_constrained(["What did the fox eat?"], [["grapes", "sour milk"]]).sentences
    array([ 1, -1])
    """

    name = "sparse"
    description = "Lucene's scores to the bit, from NumPy: the default."
    citation = "Robertson et al. 1994, Okapi at TREC-3; Lucene 8, BM25Similarity."
    stored_as = "a folder that `classic-rc index` built"
    build_options = ("append", "jobs", "segment_sentences")
    similarity: LuceneSimilarity

    segments: tuple[Segment, ...] = ()
    texts: tuple[Sequence[str], ...] = ()
    left_out: tuple[int, ...] = ()
    _stored: Sequence[Arrays] = ()  # of the folder's segments
    _fingerprint: str | None = None
    _firsts = np.zeros(1, dtype=np.int64)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        *,
        similarity: str | Similarity | None = None,
        thoroughly: bool = False,
    ) -> Self:
        """Open an index folder; `thoroughly` verifies all files."""
        folder = Path(os.path.abspath(place))
        manifest, analyzer, stored = read_folder(folder, thoroughly=thoroughly)
        engine = cls(similarity=similarity, analyzer=analyzer, place=folder)
        segments = [Segment(*(arrays[name] for name in Segment._fields)) for arrays in stored]
        texts = [StoredTexts.of_arrays(arrays, "sentence") for arrays in stored]
        engine._set_segments(segments, texts)
        engine._stored, engine._fingerprint = stored, manifest.fingerprint
        return engine

    @classmethod
    def recognises(cls, place: str) -> bool:
        """See :meth:`Engine.recognises`."""
        return os.path.exists(os.path.join(place, MANIFEST))

    @classmethod
    def build(
        cls,
        inputs: Sequence[TextInput],
        place: str,
        *,
        advance: ProgressCallback = lambda n: None,
        **options: Any,
    ) -> BuildReport:
        """Build an index folder as :func:`~classic_rc.retrieval.building.build_index` does, with
        its options.
        """
        manifest, n_kept = build_index(inputs, place, advance=advance, **options)
        n_replaced, n_nul = manifest.counts.with_replacement, manifest.counts.with_nul
        replaced = "sentences have invalid UTF-8 bytes, or U+FFFD in their place"
        notes = {
            f"{n_kept:,} of {len(manifest.segments):,} segments already existed": n_kept,
            f"{n_replaced:,} {replaced}": n_replaced,
            f"{n_nul:,} sentences have a NUL character": n_nul,
        }
        return BuildReport(
            manifest.summary(place), [note for note, count in notes.items() if count]
        )

    @classmethod
    def check(cls, place: str) -> str:
        """Read a whole index folder, compare it with its checksums, and return a line about it."""
        cls.open(place, thoroughly=True)
        return Manifest.read(Path(place)).summary(place)

    @property
    def fingerprint(self) -> str:
        """Hex sha256 of the sentences, in order."""
        return super().fingerprint if self._fingerprint is None else self._fingerprint

    def source(self, number: int) -> str:
        """Return where a sentence comes from: ``"a.txt:1234"`` or ``"a.jsonl#id"``.

        The number counts lines; the id belongs to the row or passage.
        """
        segment, place = self._locate(number)
        if not self._stored:
            return super().source(number)
        return sentence_place(self._stored[segment], place)

    def index(self, sentences: Iterable[str]) -> Self:
        """Index sentences, which are iterated once. They replace any that were indexed before."""
        if self.place is not None:
            raise UsageError(
                f"the index in {self.place} is read-only: "
                f"add to it with `classic-rc index CORPUS -o {quote_argument(self.place)} --append`"
            )
        builder = SegmentBuilder(self.analyzer)
        segments, texts = [], []
        for group in _group_sentences(sentences):
            segments.append(builder.build(builder.encode(group)))
            texts.append(StoredTexts.of(group))
        self._set_segments(segments, texts)
        return self

    def __getstate__(self) -> dict[str, Any]:
        if self.place is None:
            return self.__dict__
        attributes = "place", "similarity", "fingerprint", "left_out"
        return {name: getattr(self, name) for name in attributes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["place"] is not None:
            engine = Sparse.open(state["place"], similarity=state["similarity"])
            if engine.fingerprint != state["fingerprint"]:
                raise DataError(
                    "the index has changed since it was opened",
                    source=state["place"],
                    hint="Open it again",
                )
            state = engine.without(state["left_out"]).__dict__
        self.__dict__.update(state)

    @property
    def n_sentences(self) -> int:
        """The number of indexed sentences, including those without an index term."""
        return int(self._firsts[-1])

    def sentence(self, number: int) -> str:
        """Return the text of a sentence."""
        segment, place = self._locate(number)
        return self.texts[segment][place]

    def sentences(self) -> Iterator[str]:
        """See :meth:`Engine.sentences`."""
        texts, left_out = chain.from_iterable(self.texts), set(self.left_out)
        if not left_out:
            return texts
        return ("" if number in left_out else text for number, text in enumerate(texts))

    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Return up to `k` best sentences for each query, among those that share an index term
        with it.
        """
        check_depth(k)
        encoded = EncodedQueries.of(self.analyzer, queries)
        parts = self._search(search_top, encoded, k)
        if not parts:
            return Hits.of([()] * len(queries))
        return merge_hits(parts, self._firsts[:-1].tolist(), k)

    def best_constrained(self, questions: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        """Return the best sentence for each option with an index term of the question and one of
        the option.
        """
        encoded = EncodedQueries.of(self.analyzer, questions, options)
        offsets = offsets_of(list(map(len, options)))
        best_of_segments = self._search(search_constrained, encoded)
        return merge_best(best_of_segments, self._firsts[:-1].tolist(), offsets)

    def term_facts(self, query: str, sentence: int) -> QueryFacts:
        """See :meth:`Engine.term_facts`."""
        number, place = self._locate(sentence)
        segment, encoded = self.segments[number], EncodedQueries.of(self.analyzer, [query])
        term_lists, statistics = self._find(encoded.terms)
        facts_of_words = term_statistics(term_lists[number], statistics, self.similarity)
        facts = facts_of_words.of_words(encoded.texts)
        terms = weigh(encoded.texts, facts, self.similarity)
        starts = segment.posting_offsets[terms.terms]
        stops = segment.posting_offsets[terms.terms + 1]
        bounds = zip(starts.tolist(), stops.tolist(), strict=True)
        lists = [segment.posting_sentences[i:j] for i, j in bounds]
        places = [np.searchsorted(numbers, place) for numbers in lists]
        postings_of_terms = starts + np.array(places, dtype=np.int64)
        has = np.array([place in numbers for numbers in lists], dtype=np.bool_)
        postings = postings_of(segment, statistics, self.similarity)
        codes = postings.codes[postings_of_terms[has]]
        scores = postings.scores(terms.weights[has], codes, self.similarity.term_scores)
        shares = scores.astype(np.float64)
        boosts = terms.boosts[has]
        to_scores = combine(encoded.texts, facts, self.similarity)
        if to_scores is not None:
            matched = np.full(len(shares), boosts.sum(), dtype=np.float64)
            queries = np.zeros(len(shares), dtype=np.int64)
            shares = to_scores(shares, matched, queries).astype(np.float64)
        has_list = facts.lists >= 0
        words = encoded.texts.words[has_list][has]
        of_terms = zip(
            [encoded.terms[word] for word in words],
            boosts.tolist(),
            shares.tolist(),
            segment.code_counts[codes].tolist(),
            statistics.frequencies[words].tolist(),
            facts.idfs[has_list][has].astype(np.float64).tolist(),
            strict=True,
        )
        collection, counts = statistics.collection, encoded.texts.counts
        squares = counts * facts.idfs.astype(np.float64) ** 2
        return QueryFacts(
            [TermFacts(*of_term) for of_term in of_terms],
            int(collection.n_sentences),
            int(collection.n_with_terms),
            int(collection.n_tokens),
            int(segment.code_lengths[codes[0]]) if len(codes) else 0,
            int(counts.sum()),
            float(squares.sum()),
        )

    def best_in_passages(self, questions: Sequence[Question]) -> Best:
        """See :meth:`Engine.best_in_passages`: all passages are searched at once, with the same
        bits.
        """
        return best_in_passages(questions, similarity=self.similarity, analyzer=self.analyzer)

    def without(self, numbers: Sequence[int]) -> Self:
        """See :meth:`Engine.without`: the index is not built again."""
        dropped = np.unique(np.asarray(numbers, dtype=np.int64))
        bounds = np.searchsorted(dropped, self._firsts)
        engine = object.__new__(type(self))
        engine.__dict__.update(self.__dict__)
        engine.left_out = (*self.left_out, *dropped.tolist())
        segments = []
        for segment, (i, j), first in zip(
            self.segments, pairwise(bounds.tolist()), self._firsts[:-1].tolist(), strict=True
        ):
            segments.append(without_sentences(segment, dropped[i:j] - first))
        engine.segments = tuple(segments)
        return engine

    def _set_segments(self, segments: Sequence[Segment], texts: Sequence[Sequence[str]]) -> None:
        self.segments, self.texts = tuple(segments), tuple(texts)
        self._firsts = offsets_of([s.n_sentences for s in segments])

    def _locate(self, number: int) -> tuple[int, int]:
        """The segment of a sentence, and the sentence's number in it."""
        self.check_number(number)
        segment = int(np.searchsorted(self._firsts, number, side="right")) - 1
        return segment, number - int(self._firsts[segment])

    def _find(self, terms: Sequence[str]) -> tuple[list[NDArray[np.int64]], Statistics]:
        """Return where each segment has the terms, and their statistics in the whole index."""
        lists = [segment.find(terms) for segment in self.segments]
        parts = list(map(Segment.statistics, self.segments, lists))
        return lists, Statistics.total(parts, len(terms))

    def _search(
        self, search: Callable[..., _Result], queries: EncodedQueries, *arguments: Any
    ) -> list[_Result]:
        """Search all segments, with their common statistics."""
        lists, statistics = self._find(queries.terms)
        shared = statistics, self.similarity, queries, *arguments
        searched = zip(self.segments, lists, strict=True)
        return [search(segment, term_numbers, *shared) for segment, term_numbers in searched]


def _group_sentences(sentences: Iterable[str]) -> Iterator[list[str]]:
    """Yield the sentences of each segment, which ends with the one that reaches or exceeds a
    limit.
    """
    max_sentences, max_characters = block_size(MAX_SENTENCES), block_size(MAX_CHARACTERS)
    group: list[str] = []
    characters = 0
    for sentence in check_sentences(sentences):
        group.append(sentence)
        characters += len(sentence)
        if len(group) == max_sentences or characters > max_characters:
            yield group
            group, characters = [], 0
    if group:
        yield group


def without_sentences(segment: Segment, numbers: NDArray[np.int64]) -> Segment:
    """Return the segment as if these sentences had no token; the others keep their numbers.

    Everything that scores depend on changes accordingly: frequencies, the number of sentences with
    a token, and their mean length. The number of all sentences, which ``classic`` uses, is the same
    as before.
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


def postings_of(
    segment: Segment, statistics: Statistics, similarity: LuceneSimilarity
) -> SentencePostings:
    """Return the segment's postings with length factors from the statistics of the whole index."""
    return SentencePostings(
        segment.posting_offsets,
        segment.posting_sentences,
        segment.posting_codes,
        segment.code_counts.astype(np.float32),
        similarity.length_factors(segment.code_lengths, statistics.collection),
    )


def term_statistics(
    lists: NDArray[np.int64], statistics: Statistics, similarity: LuceneSimilarity
) -> TermStatistics:
    """Return where a segment has some terms, and their idf in the whole index."""
    return TermStatistics(lists, similarity.idfs(statistics.collection, statistics.frequencies))


def search_top(
    segment: Segment,
    lists: NDArray[np.int64],
    statistics: Statistics,
    similarity: LuceneSimilarity,
    queries: EncodedQueries,
    k: int,
) -> Hits:
    """Return the `k` best sentences of each query in one segment, numbered from 0."""
    facts = term_statistics(lists, statistics, similarity).of_words(queries.texts)
    postings = postings_of(segment, statistics, similarity)
    terms = weigh(queries.texts, facts, similarity)
    to_scores = combine(queries.texts, facts, similarity)
    n_queries, n_sentences = len(queries.texts.offsets) - 1, segment.n_sentences
    term_scores = similarity.term_scores
    return Hits(*top_sentences(postings, terms, n_queries, n_sentences, k, term_scores, to_scores))


def search_constrained(
    segment: Segment,
    lists: NDArray[np.int64],
    statistics: Statistics,
    similarity: LuceneSimilarity,
    queries: EncodedQueries,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the best sentence for each option in one segment, numbered from 0, and its score."""
    facts = term_statistics(lists, statistics, similarity)
    of_entries = facts.of_words(queries.texts), facts.of_words(queries.options)
    n_questions = len(queries.texts.offsets) - 1
    firsts = np.zeros(n_questions, dtype=np.int64)
    sizes = np.full(n_questions, segment.n_sentences)
    postings = postings_of(segment, statistics, similarity)
    weighted = weigh_constrained(queries[1:], *of_entries, similarity, firsts, sizes)
    to_scores = combine_constrained(queries[1:], *of_entries, similarity)
    return best_constrained(postings, weighted, similarity.term_scores, to_scores)


def merge_hits(hits_of_segments: Sequence[Hits], firsts: Sequence[int], k: int) -> Hits:
    """Merge the `k` best of each query from segments that begin at the sentences `firsts`."""
    if len(hits_of_segments) == 1:
        (hits,) = hits_of_segments
        return Hits(hits.sentences + firsts[0], hits.scores, hits.offsets)
    n_queries = len(hits_of_segments[0])
    sizes = [np.diff(hits.offsets) for hits in hits_of_segments]
    query = np.concatenate([np.repeat(np.arange(n_queries), n_hits) for n_hits in sizes])
    pairs = zip(hits_of_segments, firsts, strict=True)
    numbers = np.concatenate([hits.sentences + first for hits, first in pairs])
    scores = np.concatenate([hits.scores for hits in hits_of_segments])
    best, sentences, scores = best_per_query(query, numbers, scores, k)
    return Hits(sentences, scores, offsets_of(np.bincount(best, minlength=n_queries)))


def merge_best(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]],
    firsts: Sequence[int],
    offsets: NDArray[np.int64],
) -> Best:
    """Merge the best sentence of each option from segments, in order, that begin at `firsts`."""
    sentences = np.full(offsets[-1], -1, dtype=np.int64)
    scores = np.zeros(offsets[-1], dtype=np.float32)
    for (numbers, values), first in zip(parts, firsts, strict=True):
        # Strictly larger: among equal scores the earlier segment, and so the lower number, wins.
        better = (numbers >= 0) & ((sentences < 0) | (values > scores))
        sentences[better] = numbers[better] + first
        scores[better] = values[better]
    return Best(sentences, scores, offsets)
