"""From texts to programs: chunks of texts, their entailment, and each candidate's program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.questions import Passage, Question
from classic_rc.solvers.alignment.program import Constants, Program, option_edges, positive_edges
from classic_rc.text.analyzers import Analyzer
from classic_rc.text.annotated import TextChunk, content_runs
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.wordnet import Synset, WordNet


class RunChunker(NamedTuple):
    """A chunker: runs of content words (:func:`~classic_rc.text.annotated.content_runs`), or
    words.
    """

    analyzer: Analyzer
    stop_words: frozenset[str]
    single: bool = False

    def passage(self, question: Question) -> list[TextChunk]:
        """Return the runs within the passage's sentences."""
        return self._chunk_runs(question.passage.text, passage_sentences(question.passage))

    def question(self, question: Question) -> list[TextChunk]:
        """Return the runs within the question."""
        return self._chunk_runs(question.query, [(0, len(question.query))])

    def candidates(self, question: Question) -> list[list[TextChunk]]:
        """Return the runs within each candidate."""
        return [self._chunk_runs(c.text, [(0, len(c.text))]) for c in question.candidates]

    def _chunk_runs(self, text: str, sentences: Sequence[tuple[int, int]]) -> list[TextChunk]:
        return content_runs(text, sentences, self.analyzer, self.stop_words, single=self.single)


IGNORED = frozenset({"object", "measure", "part"})
"""Words so general that almost anything in WordNet entails them. As a one-word hypothesis, only
equal words do.
"""


class Keywords(NamedTuple):
    """The distinct keywords of chunks: chunk i has ``words[offsets[i]:offsets[i + 1]]``."""

    words: list[str]  # in lower case
    # shape (n_words,): numbers that an Entailment gives to the words' stems
    stems: NDArray[np.int64]
    offsets: NDArray[np.int64]  # shape (n_chunks + 1,)
    # The words that each synonym set contains or is above in WordNet, as (word, support); empty
    # without WordNet.
    above: dict[Synset, list[tuple[int, float]]]


class Entailment:
    """The entailment of hypothesis chunks by text chunks: the mean over hypothesis keywords of
    their best support.

    A text word supports a hypothesis word with an equal stem by 1, and a hypothesis word d steps
    above it in WordNet by 1 / (1 + d). This follows `WordOverlap` of the released SemanticILP
    (AlignmentFunction.scala), and its `Entailment` to the extent that the description of its
    service allows.
    """

    def __init__(self, stem: Callable[[str], str], wordnet: WordNet | None = None) -> None:
        self._stem, self._wordnet = stem, wordnet
        self._stems: dict[str, int] = {}

    def keywords(self, chunks: Sequence[TextChunk]) -> Keywords:
        """Return the chunks' keywords; of a chunk's words with the same stem, only the first
        counts.
        """
        words: list[str] = []
        stems: list[int] = []
        lengths: list[int] = []
        above: dict[Synset, list[tuple[int, float]]] = {}
        for chunk in chunks:
            word_of_stem: dict[int, str] = {}
            for word in chunk.words:
                stem = self._stem(word.lower())
                word_of_stem.setdefault(
                    self._stems.setdefault(stem, len(self._stems)), word.lower()
                )
            for number, word in word_of_stem.items():
                if self._wordnet is not None:
                    for synset, steps in self._wordnet.above(word).items():
                        above.setdefault(synset, []).append((len(words), 1 / (1 + steps)))
                words.append(word)
                stems.append(number)
            lengths.append(len(word_of_stem))
        return Keywords(words, np.array(stems, dtype=np.int64), offsets_of(lengths), above)

    def directed(self, texts: Keywords, hypotheses: Keywords) -> NDArray[np.float64]:
        """Return how much each text entails each hypothesis: shape (n_texts, n_hypotheses), in
        0..1.
        """
        n_texts, n_hypotheses = len(texts.offsets) - 1, len(hypotheses.offsets) - 1
        if not n_texts or not n_hypotheses:
            return np.zeros((n_texts, n_hypotheses))
        support = (texts.stems[:, None] == hypotheses.stems).astype(np.float64)
        if self._wordnet is not None:
            self._add_more_general(support, texts, hypotheses)
        # `reduceat` is right because every chunk has at least one keyword.
        best = np.maximum.reduceat(support, texts.offsets[:-1], axis=0)
        total = np.add.reduceat(best, hypotheses.offsets[:-1], axis=1)
        return total / np.diff(hypotheses.offsets)

    def symmetric(self, first: Keywords, second: Keywords) -> NDArray[np.float64]:
        """Return the mean of both directions: shape (n_one, n_other), in 0..1."""
        return (self.directed(first, second) + self.directed(second, first).T) / 2

    def _add_more_general(
        self, support: NDArray[np.float64], texts: Keywords, hypotheses: Keywords
    ) -> None:
        """Raise the support of hypothesis words that are synonyms of the texts' words or more
        general.
        """
        assert self._wordnet is not None
        lengths = np.diff(hypotheses.offsets)
        is_single = np.repeat(lengths == 1, lengths).tolist()
        for column, word in enumerate(hypotheses.words):
            if is_single[column] and word in IGNORED:
                continue
            for synset in self._wordnet.synsets(word):
                for row, value in texts.above.get(synset, ()):
                    support[row, column] = max(support[row, column], value)


_WITHOUT = re.compile(r"\swithout\s", re.IGNORECASE)
_LONG = 3
"""An option with more chunks than this is long."""


class AlignedQuestion(NamedTuple):
    """A question's chunks and programs."""

    question: list[TextChunk]
    passage: list[TextChunk]
    candidates: list[list[TextChunk]]
    programs: list[Program]  # one for each candidate; they share the question's edges


class _PassageArrays(NamedTuple):
    """A passage's chunks, their keywords, and the arrays of a Program; all of shape (n_chunks,)."""

    chunks: list[TextChunk]
    keywords: Keywords
    sentences: NDArray[np.int64]
    copies: NDArray[np.int64]


def align_questions(
    questions: Sequence[Question], chunker: RunChunker, entailment: Entailment, constants: Constants
) -> Iterator[AlignedQuestion]:
    """Yield each question with its programs; consecutive questions about one passage share its
    chunks.
    """
    passage: Passage | None = None
    for question in questions:
        if question.passage is not passage:
            passage = question.passage
            arrays = _make_passage_arrays(chunker.passage(question), entailment)
        yield _align_question(question, arrays, chunker, entailment, constants)


def _make_passage_arrays(chunks: list[TextChunk], entailment: Entailment) -> _PassageArrays:
    sentences = np.array([chunk.sentence for chunk in chunks], dtype=np.int64)
    _, sentences = np.unique(sentences, return_inverse=True)
    numbers: dict[tuple[str, ...], int] = {}
    texts = [tuple(word.lower() for word in chunk.words) for chunk in chunks]
    copies = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
    return _PassageArrays(chunks, entailment.keywords(chunks), sentences, copies)


def _align_question(
    question: Question,
    passage: _PassageArrays,
    chunker: RunChunker,
    entailment: Entailment,
    constants: Constants,
) -> AlignedQuestion:
    question_chunks = chunker.question(question)
    required = _find_chunk_after_without(question, question_chunks)
    entailed = entailment.directed(entailment.keywords(question_chunks), passage.keywords)
    question_edges = positive_edges(entailed - constants.offset)
    candidates = chunker.candidates(question)
    programs: dict[str, Program] = {}  # candidates with the same text share a program
    for candidate, chunks in zip(question.candidates, candidates, strict=True):
        if candidate.text not in programs:
            bonus = constants.long_option_weight if len(chunks) > _LONG else 0.0
            entailed = entailment.symmetric(entailment.keywords(chunks), passage.keywords)
            weights = entailed - constants.offset
            edges = option_edges(weights, passage.sentences, passage.copies, constants)
            sides = question_edges, edges, passage.sentences, passage.copies
            programs[candidate.text] = Program(*sides, len(question_chunks), required, bonus)
    of_candidates = [programs[candidate.text] for candidate in question.candidates]
    return AlignedQuestion(question_chunks, passage.chunks, candidates, of_candidates)


def _find_chunk_after_without(question: Question, chunks: Sequence[TextChunk]) -> tuple[int, ...]:
    """Return the chunk after the question's first "without", if both exist."""
    match = _WITHOUT.search(question.query)
    if match:
        for i, chunk in enumerate(chunks):
            if chunk.start >= match.end():
                return (i,)
    return ()
