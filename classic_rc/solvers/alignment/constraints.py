"""The constraints of alignment's integer program, each by itself.

Variables are 0 or 1: one an edge, one a node (chunk of the question, sentence, passage chunk that has copies).
Sources are the names in the released SemanticILP (allenai/semanticilp, TextILPSolver.scala, SimpleMatching;
Khashabi, Khot, Sabharwal and Roth 2018, Question Answering as Global Reasoning over Semantic Abstractions, AAAI).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.solvers.alignment.program import Constants, Program


class Variables(NamedTuple):
    """Which column of the matrix is which variable: edges first, the question's before the option's, then nodes.

    Parameters
    ----------
    edges : ndarray of int64, shape (n_edges,)
        The columns of the edges.
    n_question_edges : int
    question_nodes, sentence_nodes, chunk_nodes : ndarray of int64
        The columns of the nodes.
    questions : ndarray of int64, shape (n_question_edges,)
        For each of the question's edges the node of its chunk, counted from the first such node.
    sentences : ndarray of int64, shape (n_edges,)
        For each edge the node of its sentence.
    chunks : ndarray of int64, shape (n_edges,)
        For each edge the node of its passage chunk; -1 where that has too few copies to have one.
    copies : ndarray of int64, shape (n_chunk_nodes,)
        For each node of a passage chunk which words it has.
    required : ndarray of int64
        The columns of the nodes that must be active; -1 where a chunk that must has no edge, and so no node.
    n_question_chunks : int
    """

    edges: NDArray[np.int64]
    n_question_edges: int
    question_nodes: NDArray[np.int64]
    sentence_nodes: NDArray[np.int64]
    chunk_nodes: NDArray[np.int64]
    questions: NDArray[np.int64]
    sentences: NDArray[np.int64]
    chunks: NDArray[np.int64]
    copies: NDArray[np.int64]
    required: NDArray[np.int64]
    n_question_chunks: int

    @classmethod
    def of(cls, program: Program, constants: Constants) -> Variables:
        """The variables of a program."""
        used = np.concatenate([program.question.chunks, program.option.chunks])
        ends, questions = np.unique(program.question.ends, return_inverse=True)
        _, sentences = np.unique(program.sentences[used], return_inverse=True)
        distinct, chunks = np.unique(used, return_inverse=True)
        copies = program.copies[distinct]
        limited = np.zeros(len(distinct), dtype=np.bool_)
        if constants.max_copies is not None:
            limited = np.bincount(copies, minlength=1)[copies] > constants.max_copies
        numbers = np.where(limited, np.cumsum(limited) - 1, -1)
        bounds = np.cumsum([0, len(used), len(ends), sentences.max(initial=-1) + 1, limited.sum()])
        edges, asked, stated, copied = (np.arange(*bound) for bound in zip(bounds[:-1], bounds[1:], strict=True))
        required = [asked[ends == end] for end in program.required]
        return cls(
            edges,
            program.question.n,
            asked,
            stated,
            copied,
            questions,
            sentences,
            numbers[chunks],
            copies[limited],
            np.array([found[0] if len(found) else -1 for found in required], dtype=np.int64),
            program.n_question_chunks,
        )

    @property
    def n(self) -> int:
        """How many columns there are."""
        return len(self.edges) + len(self.question_nodes) + len(self.sentence_nodes) + len(self.chunk_nodes)

    @property
    def question_edges(self) -> NDArray[np.int64]:
        """The columns of the question's edges."""
        return self.edges[: self.n_question_edges]

    @property
    def option_edges(self) -> NDArray[np.int64]:
        """The columns of the option's edges."""
        return self.edges[self.n_question_edges :]


class Rows(NamedTuple):
    """Rows of the matrix, as entries, and the bounds of their sums.

    Parameters
    ----------
    rows, columns : ndarray of int64, shape (n_entries,)
    values : ndarray of float64, shape (n_entries,)
    lower, upper : ndarray of float64, shape (n_rows,)
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def _sums(
    groups: NDArray[np.int64], columns: NDArray[np.int64], lower: float = -np.inf, upper: float = np.inf
) -> Rows:
    """Of each group of variables, the sum has bounds."""
    n = int(groups.max(initial=-1)) + 1
    return Rows(groups, columns, np.ones(len(columns)), np.full(n, lower), np.full(n, upper))


def _sum(columns: NDArray[np.int64], lower: float = -np.inf, upper: float = np.inf) -> Rows:
    """The sum of all these variables has bounds, even if there are none."""
    return Rows(
        np.zeros(len(columns), np.int64), columns, np.ones(len(columns)), np.array([lower]), np.array([upper])
    )


_NONE = _sums(np.empty(0, np.int64), np.empty(0, np.int64))


def _active_by_edges(edges: NDArray[np.int64], nodes: NDArray[np.int64], own: NDArray[np.int64]) -> Rows:
    """A node is active if and only if one of its edges is: no edge exceeds its node, no node its edges' sum."""
    n, m = len(edges), len(nodes)
    return Rows(
        np.concatenate([np.arange(n), np.arange(n), n + np.arange(m), n + own]),
        np.concatenate([edges, nodes[own], nodes, edges]),
        np.concatenate([np.ones(n), -np.ones(n), np.ones(m), -np.ones(n)]),
        np.full(n + m, -np.inf),
        np.zeros(n + m),
    )


def question_chunks_are_active_by_edges(v: Variables, constants: Constants) -> Rows:
    """``activeQuestionIneq1`` and ``activeQuestionIneq2``."""
    return _active_by_edges(v.question_edges, v.question_nodes, v.questions)


def sentences_are_active_by_edges(v: Variables, constants: Constants) -> Rows:
    """``activeOptionVar`` and ``activeParagraphConsVar``, of sentences."""
    return _active_by_edges(v.edges, v.sentence_nodes, v.sentences)


def passage_chunks_are_active_by_edges(v: Variables, constants: Constants) -> Rows:
    """``activeOptionVar`` and ``activeParagraphConsVar``, of the chunks of which not all copies may be active."""
    limited = v.chunks >= 0
    return _active_by_edges(v.edges[limited], v.chunk_nodes, v.chunks[limited])


def few_sentences(v: Variables, constants: Constants) -> Rows:
    """At most `max_sentences` are active (``maxActiveSentences``, 2)."""
    return _NONE if constants.max_sentences is None else _sum(v.sentence_nodes, upper=constants.max_sentences)


def few_edges_a_sentence(v: Variables, constants: Constants) -> Rows:
    """At most `max_edges` into one sentence (``maxNumberOfWordsAlignedPerSentence``, 8)."""
    return _NONE if constants.max_edges is None else _sums(v.sentences, v.edges, upper=constants.max_edges)


def few_copies(v: Variables, constants: Constants) -> Rows:
    """At most `max_copies` chunks of equal words are active (``maxAlignmentToRepeatedWordsInParagraph``, 3)."""
    if constants.max_copies is None:
        return _NONE
    _, groups = np.unique(v.copies, return_inverse=True)
    return _sums(groups, v.chunk_nodes, upper=constants.max_copies)


def some_question_chunks(v: Variables, constants: Constants) -> Rows:
    """1 to 3 chunks of the question, and 10 to 65 % of them.

    ``minQuestionTermsAligned``, ``maxQuestionTermsAligned``, and both with ``Ratio``.
    """
    lower, upper = constants.question_chunk_bounds(v.n_question_chunks)
    return _sum(v.question_nodes, lower, upper)


def what_follows_without(v: Variables, constants: Constants) -> Rows:
    """The chunk after the question's "without" is active (``termAfterWithoutMustBeAligned``)."""
    if not constants.align_without or not len(v.required):
        return _NONE
    if v.required.min() < 0:  # it has no edge: an empty sum that must be 1 cannot be met
        return _sum(np.empty(0, np.int64), lower=1)
    return _sums(np.arange(len(v.required)), v.required, lower=1)


def option_is_aligned(v: Variables, constants: Constants) -> Rows:
    """The option has an edge (``activeOptionVarImplesOneActiveConnectedEdge`` with ``onlyOneActiveOption``)."""
    return _sum(v.option_edges, lower=1) if constants.align_option else _NONE


CONSTRAINTS: tuple[Callable[[Variables, Constants], Rows], ...] = (
    question_chunks_are_active_by_edges,
    sentences_are_active_by_edges,
    passage_chunks_are_active_by_edges,
    few_sentences,
    few_edges_a_sentence,
    few_copies,
    some_question_chunks,
    what_follows_without,
    option_is_aligned,
)
"""All of them; the first three say what a node is, the others are limits that a constant turns off."""
