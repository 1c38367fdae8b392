"""From a question to its programs: chunks, similarities, edges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.questions import Passage, Question
from classic_rc.solvers.alignment.chunks import Chunker
from classic_rc.solvers.alignment.program import Constants, Edges, Program, option_edges, positive_edges
from classic_rc.solvers.alignment.similarity import Entailment, Keywords
from classic_rc.text.encode import TextChunk

_WITHOUT = re.compile(r"\swithout\s", re.IGNORECASE)
_LONG = 3
"""An option of more chunks than this is long."""


class AlignedQuestion(NamedTuple):
    """A question's chunks and its programs.

    Parameters
    ----------
    question, passage : list of TextChunk
    candidates : list of list of TextChunk
    programs : list of Program
        One a candidate; they share the question's edges.
    """

    question: list[TextChunk]
    passage: list[TextChunk]
    candidates: list[list[TextChunk]]
    programs: list[Program]


class _PassageArrays(NamedTuple):
    chunks: list[TextChunk]
    keywords: Keywords
    sentences: NDArray[np.int64]
    copies: NDArray[np.int64]


def aligned(
    questions: Sequence[Question], chunker: Chunker, entailment: Entailment, constants: Constants
) -> Iterator[AlignedQuestion]:
    """The programs of each question; those about one passage share its chunks."""
    passage: Passage | None = None
    for question in questions:
        if question.passage is not passage:
            passage, arrays = question.passage, _passage_arrays(chunker.passage(question), entailment)
        yield _aligned(question, arrays, chunker, entailment, constants)


def _passage_arrays(chunks: list[TextChunk], entailment: Entailment) -> _PassageArrays:
    _, sentences = np.unique(np.array([c.sentence for c in chunks], dtype=np.int64), return_inverse=True)
    numbers: dict[tuple[str, ...], int] = {}
    texts = [tuple(word.lower() for word in chunk.words) for chunk in chunks]
    copies = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
    return _PassageArrays(chunks, entailment.keywords(chunks), sentences, copies)


def _aligned(
    question: Question, passage: _PassageArrays, chunker: Chunker, entailment: Entailment, constants: Constants
) -> AlignedQuestion:
    asked = chunker.question(question)
    required = _after_without(question, asked)
    question_edges = positive_edges(
        entailment.directed(entailment.keywords(asked), passage.keywords) - constants.offset
    )
    made: dict[str, tuple[list[TextChunk], Program]] = {}  # candidates of equal text have one program
    for candidate, chunks in zip(question.candidates, chunker.candidates(question), strict=True):
        if candidate.text not in made:
            bonus = constants.long_option_weight if len(chunks) > _LONG else 0.0
            edges = _option_edges(entailment.keywords(chunks), passage, entailment, constants)
            sides = question_edges, edges, passage.sentences, passage.copies
            made[candidate.text] = chunks, Program(*sides, len(asked), required, bonus)
    found = [made[candidate.text] for candidate in question.candidates]
    return AlignedQuestion(asked, passage.chunks, [c for c, _ in found], [p for _, p in found])


def _option_edges(option: Keywords, passage: _PassageArrays, entailment: Entailment, constants: Constants) -> Edges:
    weights = entailment.symmetric(option, passage.keywords) - constants.offset
    return option_edges(weights, passage.sentences, passage.copies, constants)


def _after_without(question: Question, chunks: Sequence[TextChunk]) -> tuple[int, ...]:
    """The chunk that comes after the question's first "without", if there are both."""
    found = _WITHOUT.search(question.query)
    return next(((i,) for i, chunk in enumerate(chunks) if found and chunk.start >= found.end()), ())
