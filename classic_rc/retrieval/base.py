"""The interface of search engines: sentences are indexed once, queries are searched in batches."""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, wrong_value
from classic_rc.kernels.arrays import offsets_of
from classic_rc.parameters import is_integer
from classic_rc.questions import Question
from classic_rc.retrieval.reading import ProgressCallback, TextInput
from classic_rc.retrieval.similarity import Similarity, get_similarity
from classic_rc.retrieval.texts import fingerprint
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import TextEncoder
from classic_rc.text.sentences import passage_sentences

_QUERY_BATCH = 2**12


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Sentences with scores, ragged over queries or questions."""

    sentences: NDArray[np.int64]
    scores: NDArray[np.float32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, groups: Iterable[Sequence[tuple[int, float]]]) -> Self:
        """Return the pairs of sentence and score of each query or question as arrays."""
        groups = list(groups)
        pairs = [pair for group in groups for pair in group]
        sentences, scores = zip(*pairs, strict=True) if pairs else ((), ())
        offsets = offsets_of(list(map(len, groups)))
        return cls(np.array(sentences, dtype=np.int64), np.array(scores, dtype=np.float32), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the sentences and the scores of one query or question."""
        number = range(len(self))[number]
        where = slice(self.offsets[number], self.offsets[number + 1])
        return self.sentences[where], self.scores[where]

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        bounds = itertools.pairwise(self.offsets.tolist())
        return ((self.sentences[i:j], self.scores[i:j]) for i, j in bounds)


class Hits(_Found):
    """The sentences found for each query, ragged: by descending score, ties by ascending number.

    Parameters
    ----------
    sentences : ndarray of int64, shape (n_hits,)
        Numbers of sentences, from 0 in the order in which they were indexed.
    scores : ndarray of float32, shape (n_hits,)
    offsets : ndarray of int64, shape (n_queries + 1,)
        The hits of query i are ``sentences[offsets[i]:offsets[i + 1]]``.
    """

    __slots__ = ()


class Best(_Found):
    """The best sentence for each option, ragged over questions.

    Parameters
    ----------
    sentences : ndarray of int64, shape (n_options,)
        -1 if no sentence qualifies.
    scores : ndarray of float32, shape (n_options,)
        0 if no sentence qualifies.
    offsets : ndarray of int64, shape (n_questions + 1,)
        The options of question i are ``sentences[offsets[i]:offsets[i + 1]]``.
    """

    __slots__ = ()

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether any sentence qualifies: shape (n_options,)."""
        return self.sentences >= 0


class TermFacts(NamedTuple):
    """An index term of a query that a sentence has, and the counts that its score is made of."""

    term: str
    boost: int  # how often the query has it
    share: float  # what the term adds to the score
    # Unknown if the engine does not report them.
    frequency: int | None = None  # how often the sentence has it: tf
    n_sentences: int | None = None  # how many sentences of the index have it: df
    idf: float | None = None  # as the engine rounds it


class QueryFacts(NamedTuple):
    """A query and one sentence."""

    terms: list[TermFacts]  # in the order of the query
    n_sentences: int  # of the index
    n_with_terms: int  # those that have an index term
    n_tokens: int  # of the index
    length: int  # the sentence's number of index terms, as the index stores it
    # For the similarity "classic" alone.
    n_query_terms: int = 0  # repetitions counted, even of terms that no sentence has
    sum_of_squares: float = 0.0  # of the idfs of all query terms


def check_sentences(sentences: Iterable[str]) -> Iterator[str]:
    """Yield sentences, and refuse what is not a string."""
    if isinstance(sentences, str):
        raise UsageError(
            "sentences must be a sequence of strings, got a single string",
            field="sentences",
            found="str",
        )
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            kind = type(sentence).__name__
            problem = f"sentence {number} must be a string, got {kind}"
            raise UsageError(problem, field=f"sentences[{number}]", found=kind)
        yield sentence


def check_depth(k: Any, maximum: int | None = None) -> None:
    """Check the number of hits that a search should return."""
    if not is_integer(k, 1, inf if maximum is None else maximum + 1):
        expected = (
            "a positive whole number"
            if maximum is None
            else f"a whole number from 1 to {maximum:,}"
        )
        raise wrong_value("k", k, expected)


class BuildReport(NamedTuple):
    """What a build says of an index."""

    summary: str  # one line
    notes: Sequence[str] = ()


def read_explanations(
    terms: Iterable[tuple[str, int, Mapping[str, Any]]], n_sentences: int
) -> QueryFacts:
    """Return the facts in Lucene's explanations, which Elasticsearch and OpenSearch give too.

    `terms` has, of each term, how often the query has it, and the explanation of what it adds:
    ``description``, ``value`` and ``details``, which are explanations.
    """
    facts, numbers = [], {}
    for term, boost, explanation in terms:
        numbers = _numbers_in(explanation)
        share = float(explanation["value"])
        # Releases before Lucene 8 multiply by k1 + 1, as a part of the boost.
        has_counts = {"freq", "n", "N", "idf", "dl", "avgdl"} <= {*numbers}
        is_known = has_counts and numbers.get("boost", boost) == boost
        counts = (int(numbers["freq"]), int(numbers["n"]), numbers["idf"]) if is_known else ()
        facts.append(TermFacts(term, boost, share, *counts))
    with_terms, length = int(numbers.get("N", 0)), int(numbers.get("dl", 0))
    n_tokens = round(numbers.get("avgdl", 0) * with_terms)
    return QueryFacts(facts, n_sentences, with_terms, n_tokens, length)


def _numbers_in(explanation: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of an explanation by the words before the first comma: ``freq``,
    ``idf``, ``avgdl``, …
    """
    numbers = {explanation.get("description", "").partition(",")[0]: float(explanation["value"])}
    for detail in explanation.get("details", ()):
        numbers |= _numbers_in(detail)
    return numbers


class Engine(ABC):
    """A search engine over sentences.

    Sentences are numbered from 0 in the order in which they were indexed. The query of an option is
    ``question + " " + option``. Scores are in single precision, as the engine computes them. A
    subclass writes :meth:`index`, :attr:`n_sentences`, :meth:`sentence` and :meth:`top`; the other
    methods work with these, and an engine that can do better replaces them. To add an engine, name
    its class in the entry point group ``classic_rc.engines``.

    Parameters
    ----------
    similarity : str or Similarity, optional
        How a sentence is scored: one of :attr:`similarities`; None is the first of them.
    analyzer : str or Analyzer
        How text becomes index terms; words that it drops are not index terms.
    place : str, optional
        Where the sentences are stored, for an engine that stores indexes (:attr:`stored_as`); None
        is memory.

    Attributes
    ----------
    name, description, citation : str
    similarities : tuple of str
        The names of the similarities that the engine can score with.
    analyzers : tuple of str
        The specifications of the analyzers that the engine can use; empty if it can use all.
    stored_as : str
        What a `place` is, in words: ``"a folder"``. Empty if the engine has indexes in memory only.
    build_options : tuple of str
        The options of ``classic-rc index`` that :meth:`build` takes apart from the analyzer.
    needs_place : bool
        Whether the sentences are always in a `place`, outside of this process.
    similarity : Similarity
    analyzer : Analyzer

    Raises
    ------
    UsageError
        The similarity or the analyzer is unknown or not one of this engine's, or a place is given
        or missing.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    similarities: ClassVar[tuple[str, ...]] = ("bm25", "classic")
    analyzers: ClassVar[tuple[str, ...]] = ()
    stored_as: ClassVar[str] = ""
    build_options: ClassVar[tuple[str, ...]] = ()
    needs_place: ClassVar[bool] = False

    def __init__(
        self,
        *,
        similarity: str | Similarity | None = None,
        analyzer: str | Analyzer = "lucene-english",
        place: str | os.PathLike[str] | None = None,
    ) -> None:
        self.similarity = get_similarity(self.similarities[0] if similarity is None else similarity)
        self.analyzer = get_analyzer(analyzer)
        self.place = None if place is None else os.fspath(place)
        self._check_is_one_of(
            "similarity", self.similarity.name, self.similarity.spec, self.similarities
        )
        if self.analyzers:
            self._check_is_one_of(
                "analyzer", self.analyzer.signature, self.analyzer.spec, self.analyzers
            )
        if self.place is not None and not self.stored_as:
            raise self._no_place(self.place)

    @classmethod
    def _no_place(cls, place: str) -> UsageError:
        return UsageError(
            f"engine {cls.name} has no stored indexes, got {place!r}", field="place", found=place
        )

    def _check_is_one_of(
        self, field: str, name: str, setting: str, possible: Sequence[str]
    ) -> None:
        if name not in possible:
            expected = " or ".join(map(repr, possible))
            problem = f"engine {self.name} has only {field} {expected}, got {setting!r}"
            raise UsageError(problem, field=field, found=setting, expected=expected)

    @property
    def signature(self) -> str:
        """The engine, similarity and analyzer that determine scores:
        ``"sparse:bm25:lucene-english"``.
        """
        return ":".join((self.name, self.similarity.spec, self.analyzer.signature))

    def __repr__(self) -> str:
        return f"<engine {self.signature}>"

    @classmethod
    def open(cls, place: str, *, similarity: str | Similarity | None = None) -> Self:
        """Open a stored index for searches only. An engine with :attr:`stored_as` defines this
        method.

        Raises
        ------
        DataError
            There is no such index, or it cannot be used.
        UsageError
            The index cannot be scored this way, or the engine has no stored indexes.
        """
        raise cls._no_place(place)

    @classmethod
    def recognises(cls, place: str) -> bool:
        """Return whether a place looks like one of this engine's stored indexes, for messages."""
        return False

    @classmethod
    def build(
        cls,
        inputs: Sequence[TextInput],
        place: str,
        *,
        analyzer: str | Analyzer = "lucene-english",
        advance: ProgressCallback = lambda n_bytes: None,
    ) -> BuildReport:
        """Build a stored index of the sentences of inputs."""
        blocks = (block for source in inputs for block in source.blocks(advance))
        sentences = (text for block in blocks for text in block.sentences)
        return cls(analyzer=analyzer, place=place).index(sentences)._report()

    @classmethod
    def check(cls, place: str) -> str:
        """Open a stored index, check what the engine can check, and return a line about it."""
        return cls.open(place)._report().summary

    def _report(self) -> BuildReport:
        return BuildReport(
            f"{self.place}: {self.n_sentences:,} sentences; {self.signature}; fingerprint "
            f"{self.fingerprint[:8]}"
        )

    @property
    def fingerprint(self) -> str:
        """What identifies the content of an opened index: by default the hex sha256 of the
        sentences, in order.
        """
        return fingerprint(self.sentences())

    def source(self, number: int) -> str:
        """Return where a sentence of an opened index comes from, in a few words."""
        return f"sentence {number}"

    @abstractmethod
    def index(self, sentences: Iterable[str]) -> Self:
        """Index sentences, which are iterated once. They replace any that were indexed before."""

    @property
    @abstractmethod
    def n_sentences(self) -> int:
        """The number of indexed sentences, including those without an index term."""

    @abstractmethod
    def sentence(self, number: int) -> str:
        """Return the text of a sentence.

        Raises
        ------
        IndexError
            No sentence has this number.
        DataError
            The index does not store the text, or has another one than the text that it indexed.
        """

    def sentences(self) -> Iterator[str]:
        """Yield the text of each sentence, in order; of one that no search finds, an empty text.

        An engine that can read all texts faster than one by one replaces this.
        """
        return map(self.sentence, range(self.n_sentences))

    def check_number(self, number: int) -> None:
        """Raise IndexError if no sentence has this number."""
        if not 0 <= number < self.n_sentences:
            raise IndexError(
                f"there are {self.n_sentences} sentences, numbered from 0: got {number}"
            )

    @abstractmethod
    def top(self, queries: Sequence[str], k: int = 10) -> Hits:
        """Return up to `k` best sentences for each query, among those that share an index term with
        it.

        Raises
        ------
        UsageError
            `k` is not a positive number (:func:`check_depth`).
        """

    def best_constrained(self, questions: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        """Return the best sentence for each option with an index term of the question and one of
        the option.

        Parameters
        ----------
        questions : sequence of str
        options : sequence of sequence of str
            The options of each question.

        Returns
        -------
        Best
            Scores are for the query ``question + " " + option``.
        """
        return self.best_among_top(questions, options, max(1, self.n_sentences), self.analyzer)

    def best_in_passages(self, questions: Sequence[Question]) -> Best:
        """Return for each candidate the best sentence of its passage with a term of it and one of
        the question.

        The passage's sentences are a collection of their own, and are numbered from 0. This
        engine's own sentences do not matter.
        """
        engine = type(self)(similarity=self.similarity, analyzer=self.analyzer)
        best_of_passages = [Best.of([])]  # NumPy refuses to join no arrays
        for passage, passage_questions in itertools.groupby(questions, key=lambda q: q.passage):
            engine.index([passage.text[start:end] for start, end in passage_sentences(passage)])
            queries: list[str] = []
            options: list[list[str]] = []
            for question in passage_questions:
                queries.append(question.query)
                options.append([candidate.text for candidate in question.candidates])
            best_of_passages.append(engine.best_constrained(queries, options))
        n_options = np.concatenate([np.diff(best.offsets) for best in best_of_passages])
        sentences = np.concatenate([best.sentences for best in best_of_passages])
        scores = np.concatenate([best.scores for best in best_of_passages])
        return Best(sentences.astype(np.int64), scores.astype(np.float32), offsets_of(n_options))

    def term_facts(self, query: str, sentence: int) -> QueryFacts:
        """Return what each index term of the query adds to the score of one sentence, and the
        counts behind it.

        Terms that the sentence does not have are left out. What they add sums to the score, except
        for rounding. The terms are in the order of the query. An engine that does not know returns
        no terms.
        """
        self.check_number(sentence)
        return QueryFacts([], self.n_sentences, 0, 0, 0)

    def without(self, numbers: Sequence[int]) -> Engine:
        """Return an engine in memory in which these sentences have no index term; all others keep
        their numbers.

        This engine does not change.
        """
        dropped = set(numbers)
        texts = ("" if number in dropped else text for number, text in enumerate(self.sentences()))
        return type(self)(similarity=self.similarity, analyzer=self.analyzer).index(texts)

    def best_among_top(
        self,
        questions: Sequence[str],
        options: Sequence[Sequence[str]],
        depth: int,
        overlap: str | Analyzer,
    ) -> Best:
        """Return for each option its first hit that shares a word with the question and a word with
        the option.

        The released scores of MultiRC (Khashabi et al. 2018) are made this way: the constraint is
        not part of the query, and it compares the words of an analyzer other than the index's.

        Parameters
        ----------
        questions : sequence of str
        options : sequence of sequence of str
            The options of each question.
        depth : int
            How many hits of ``question + " " + option`` are examined.
        overlap : str or Analyzer
            The analyzer whose words must be shared: ``"word+porter+stop=smart"``.

        Returns
        -------
        Best
        """
        n_options = np.array(list(map(len, options)), dtype=np.int64)
        question_texts: list[str] = []
        option_texts: list[str] = []
        for question, question_options in zip(questions, options, strict=True):
            question_texts += [question] * len(question_options)
            option_texts += question_options
        n_queries = len(option_texts)
        words = TextWords(overlap)
        sentences = np.full(n_queries, -1, dtype=np.int64)
        scores = np.zeros(n_queries, dtype=np.float32)
        for start in range(0, n_queries, _QUERY_BATCH):
            block_questions = question_texts[start : start + _QUERY_BATCH]
            block_options = option_texts[start : start + _QUERY_BATCH]
            hits = self.top(list(map(_join_query, block_questions, block_options)), depth)
            question_words, option_words = words.of(block_questions), words.of(block_options)
            word_sets = list(zip(question_words, option_words, strict=True))
            places = self._find_first_sharing(hits, word_sets, words)
            rows = np.flatnonzero(places >= 0)
            sentences[start + rows] = hits.sentences[places[rows]]
            scores[start + rows] = hits.scores[places[rows]]
        return Best(sentences, scores, offsets_of(n_options))

    def _find_first_sharing(
        self,
        hits: Hits,
        text_words: Sequence[tuple[frozenset[int], frozenset[int]]],
        words: TextWords,
    ) -> NDArray[np.int64]:
        """Return the index of each query's first hit that shares a word with both texts; -1 if
        there is none.
        """
        places = np.full(len(hits), -1, dtype=np.int64)
        sets: dict[int, frozenset[int]] = {}
        start, ends = hits.offsets[:-1].copy(), hits.offsets[1:]
        unresolved, width = np.arange(len(hits)), 1
        # Most queries end with their first hits. Doubling the width each round keeps analysed
        # sentences few.
        while len(unresolved):
            stop = np.minimum(start + width, ends)
            seen = np.concatenate(
                [hits.sentences[start[row] : stop[row]] for row in unresolved.tolist()]
            )
            new = [number for number in np.unique(seen).tolist() if number not in sets]
            sets.update(zip(new, words.of([self.sentence(number) for number in new]), strict=True))
            for row in unresolved.tolist():
                for place in range(start[row], stop[row]):
                    sentence_words = sets[int(hits.sentences[place])]
                    if not any(sentence_words.isdisjoint(text) for text in text_words[row]):
                        places[row] = place
                        break
            start, width = stop, 2 * width
            has_more = stop[unresolved] < ends[unresolved]
            unresolved = unresolved[(places[unresolved] < 0) & has_more]
        return places


def _join_query(question: str, option: str) -> str:
    return f"{question} {option}"


class TextWords:
    """Texts as sets of the words that an analyzer finds."""

    def __init__(self, analyzer: str | Analyzer) -> None:
        self._encoder = TextEncoder(analyzer)

    def of(self, texts: Sequence[str]) -> list[frozenset[int]]:
        """Return one set per text."""
        tokens, offsets = self._encoder.encode(texts)
        words = tokens.tolist()
        bounds = itertools.pairwise(offsets.tolist())
        return [frozenset(words[start:stop]) for start, stop in bounds]
