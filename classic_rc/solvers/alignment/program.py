"""The integer program of one option: its nodes and edges, its constants, and what a set of edges is worth."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_DIGITS = 9
"""Objectives are rounded to so many decimals: sums of the same weights in another order are the same score."""
_NOISE = 1e-9
"""Weights within this of 0 are 0: 2/5 - 0.4 is, whatever the floating-point numbers make of it."""


class Constants(NamedTuple):
    """The weights and limits of the program; a limit of None is off.

    Source of all: SemanticILP's SimpleMatching solver (allenai/semanticilp, TextILPSolver.scala, Khashabi et al.
    2018, AAAI), whose own names are in :mod:`classic_rc.solvers.alignment.program`.

    Parameters
    ----------
    offset : float
        Taken off every similarity to make an edge's weight.
    question_weight : float
        For each active chunk of the question; not negative.
    sentence_weight : float
        For each active sentence; not positive.
    long_option_weight : float
        For an option of more than three chunks.
    max_sentences, max_edges, max_copies, min_question_chunks, max_question_chunks : int, optional
    min_question_share, max_question_share : float, optional
    align_without, align_option : bool
    """

    offset: float = 0.4
    question_weight: float = 0.33
    sentence_weight: float = -2.5
    long_option_weight: float = 0.02
    max_sentences: int | None = 2
    max_edges: int | None = 8
    max_copies: int | None = 3
    min_question_chunks: int | None = 1
    max_question_chunks: int | None = 3
    min_question_share: float | None = 0.1
    max_question_share: float | None = 0.65
    align_without: bool = True
    align_option: bool = True

    def question_chunk_bounds(self, n_chunks: int) -> tuple[int, int]:
        """How few and how many chunks of a question of `n_chunks` may be active.

        A question of one chunk may use it: no share of one is both at least one chunk and at most 65 %.

        Examples
        --------
        >>> [PUBLISHED.question_chunk_bounds(n) for n in (1, 2, 4, 12)]
        [(1, 1), (1, 1), (1, 2), (2, 3)]
        """
        least, most = [0], [n_chunks]
        if self.min_question_chunks is not None:
            least.append(self.min_question_chunks)
        if self.max_question_chunks is not None:
            most.append(self.max_question_chunks)
        if self.min_question_share is not None:
            least.append(ceil(self.min_question_share * n_chunks - _NOISE))
        if self.max_question_share is not None:
            most.append(max(1, floor(self.max_question_share * n_chunks + _NOISE)))
        return max(least), min(most)

    def infeasible_value(self, n_chunks: int) -> float:
        """The score of an option without a graph, to a question of `n_chunks`: 1 below what any graph is worth.

        A graph needs no more edges than active chunks of the question and one of the option, each in a sentence of
        its own at worst, and none weighs less than minus the offset.

        Examples
        --------
        >>> PUBLISHED.infeasible_value(5)
        -6.4
        """
        n_sentences = max(self.question_chunk_bounds(n_chunks)[0], 1) + 1
        if self.max_sentences is not None:
            n_sentences = min(n_sentences, self.max_sentences)
        return self.sentence_weight * n_sentences - self.offset - 1 + min(self.long_option_weight, 0.0)


PUBLISHED = Constants()


class Edges(NamedTuple):
    """Alignments of one side, the question's or the option's, with the passage.

    Parameters
    ----------
    ends : ndarray of int64, shape (n_edges,)
        The chunk of the question or the option.
    chunks : ndarray of int64, shape (n_edges,)
        The chunk of the passage.
    weights : ndarray of float64, shape (n_edges,)
    """

    ends: NDArray[np.int64]
    chunks: NDArray[np.int64]
    weights: NDArray[np.float64]

    def only(self, kept: NDArray[np.bool_]) -> Edges:
        """Those for which `kept` is true."""
        return Edges(self.ends[kept], self.chunks[kept], self.weights[kept])

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.ends)


class Program(NamedTuple):
    """One option's program.

    Parameters
    ----------
    question, option : Edges
        The possible alignments of the question's chunks and of the option's.
    sentences : ndarray of int64, shape (n_passage_chunks,)
        The sentence of each of the passage's chunks.
    copies : ndarray of int64, shape (n_passage_chunks,)
        Equal numbers for chunks of equal words.
    n_question_chunks : int
        Those that have no edge included.
    required : tuple of int
        The question's chunks that must be active: what "without" stands before.
    bonus : float
        Part of every objective.
    """

    question: Edges
    option: Edges
    sentences: NDArray[np.int64]
    copies: NDArray[np.int64]
    n_question_chunks: int
    required: tuple[int, ...] = ()
    bonus: float = 0.0

    @property
    def question_sentences(self) -> NDArray[np.int64]:
        """The sentence of each of the question's edges."""
        return self.sentences[self.question.chunks]

    @property
    def option_sentences(self) -> NDArray[np.int64]:
        """The sentence of each of the option's edges."""
        return self.sentences[self.option.chunks]

    def within(self, sentences: NDArray[np.int64]) -> Program:
        """The same without the edges into other sentences."""
        return self._replace(
            question=self.question.only(np.isin(self.question_sentences, sentences)),
            option=self.option.only(np.isin(self.option_sentences, sentences)),
        )


class Graph(NamedTuple):
    """A support graph: the active edges, and what they are worth.

    Parameters
    ----------
    question, option : Edges
        The active ones.
    value : float
        The objective, rounded to nine decimals.
    """

    question: Edges
    option: Edges
    value: float

    @classmethod
    def of(cls, program: Program, question: Edges, option: Edges, constants: Constants) -> Graph:
        """The graph of these active edges of a program."""
        graph = cls(question, option, 0.0)
        return graph._replace(value=round(fsum(graph.terms(program, constants).values()), _DIGITS) + 0.0)

    def active_sentences(self, program: Program) -> list[int]:
        """The sentences that it uses."""
        return np.unique(program.sentences[np.concatenate([self.question.chunks, self.option.chunks])]).tolist()

    def terms(self, program: Program, constants: Constants) -> dict[str, float]:
        """What the objective is the sum of, by name."""
        return {
            "question_edges": fsum(self.question.weights.tolist()),
            "option_edges": fsum(self.option.weights.tolist()),
            "question_chunks": constants.question_weight * len(np.unique(self.question.ends)),
            "sentences": constants.sentence_weight * len(self.active_sentences(program)),
            "long_option": program.bonus,
        }


def positive_edges(weights: NDArray[np.float64]) -> Edges:
    """The edges of positive weight in a matrix, one row an end and one column a passage chunk."""
    ends, chunks = np.nonzero(weights > _NOISE)
    return Edges(ends, chunks, weights[ends, chunks])


def option_edges(
    weights: NDArray[np.float64],
    sentences: NDArray[np.int64],
    copies: NDArray[np.int64],
    constants: Constants,
) -> Edges:
    """Those of an option's edges that an optimal graph may need.

    Edges of any weight are allowed here (released code), but one that is not positive serves to align an option
    that nothing else aligns, and for that one is enough: of each sentence the best will do. A chunk of which not
    all copies may be active can be barred, though, so that its edge is kept besides, where it is better.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_option_chunks, n_passage_chunks)
    sentences, copies : as in :class:`Program`
    constants : Constants
    """
    wanted = positive_edges(weights)
    if not constants.align_option or not weights.size:
        return wanted
    best, ends = weights.max(axis=0), weights.argmax(axis=0)  # an end has no limit of its own
    limited = _limited(copies, constants)
    floors = np.full(int(sentences.max()) + 1, -np.inf)
    np.maximum.at(floors, sentences[~limited], best[~limited])
    free = np.flatnonzero(~limited & (best == floors[sentences]))
    one = free[np.unique(sentences[free], return_index=True)[1]]
    spare = np.concatenate([one, np.flatnonzero(limited & (best > floors[sentences]))])
    kept = np.sort(spare[best[spare] <= _NOISE])
    return Edges(
        np.concatenate([wanted.ends, ends[kept]]),
        np.concatenate([wanted.chunks, kept]),
        np.concatenate([wanted.weights, best[kept]]),
    )


def _limited(copies: NDArray[np.int64], constants: Constants) -> NDArray[np.bool_]:
    """Which of the passage's chunks have more copies than may be active."""
    if constants.max_copies is None:
        return np.zeros(len(copies), dtype=np.bool_)
    return np.bincount(copies)[copies] > constants.max_copies


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
