"""The integer program of one option: its edges, nodes, constants and constraints, and the value of a graph."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_DIGITS = 9
"""Objectives are rounded to this many decimals, so that sums of the same weights in another order are equal."""
_NOISE = 1e-9
"""Weights this close to 0 count as 0. For example, 2/5 - 0.4 must be 0 despite floating-point errors."""


class Constants(NamedTuple):
    """The weights and limits of the program; None turns a limit off.

    All values are those of SemanticILP's SimpleMatching solver (allenai/semanticilp, TextILPSolver.scala, Khashabi
    et al. 2018, AAAI). The docstrings of the constraints in :mod:`classic_rc.solvers.alignment.program` have the
    original names.
    """

    offset: float = 0.4  # subtracted from a similarity to make an edge's weight
    question_weight: float = 0.33  # for each active chunk of the question; not negative
    sentence_weight: float = -2.5  # for each active sentence; not positive
    long_option_weight: float = 0.02  # for an option of more than three chunks
    max_sentences: int | None = 2  # active sentences
    max_edges: int | None = 8  # edges into one sentence
    max_copies: int | None = 3  # active passage chunks with the same words
    min_question_chunks: int | None = 1
    max_question_chunks: int | None = 3
    min_question_share: float | None = 0.1  # of the question's chunks
    max_question_share: float | None = 0.65
    align_without: bool = True  # the chunk after "without" must be active
    align_option: bool = True  # the option must have an edge

    def question_chunk_bounds(self, n_chunks: int) -> tuple[int, int]:
        """Return the least and the greatest number of active chunks in a question of `n_chunks`.

        A question of one chunk may use it: otherwise the limits of at least one chunk and at most 65 % would
        exclude each other.

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
        """Return the score of an option without a graph: 1 less than a lower bound for the value of a best graph.

        `n_chunks` is the number of the question's chunks. A best graph needs at most one edge for each active
        question chunk and one for the option, at worst each in its own sentence. The question's edges have positive
        weights, and the option's edge weighs at least minus the offset.

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
    """Alignments of the question's or the option's chunks with the passage's chunks, of shape (n_edges,)."""

    ends: NDArray[np.int64]  # the chunk of the question or the option
    chunks: NDArray[np.int64]  # the chunk of the passage
    weights: NDArray[np.float64]

    def only(self, mask: NDArray[np.bool_]) -> Edges:
        """Return the edges for which `mask` is true."""
        return Edges(self.ends[mask], self.chunks[mask], self.weights[mask])

    @property
    def n(self) -> int:
        """The number of edges."""
        return len(self.ends)


class Program(NamedTuple):
    """The program of one option."""

    question: Edges  # the possible alignments of the question's chunks
    option: Edges  # the possible alignments of the option's chunks
    sentences: NDArray[np.int64]  # shape (n_passage_chunks,): each passage chunk's sentence
    copies: NDArray[np.int64]  # shape (n_passage_chunks,): chunks with the same words have the same number
    n_question_chunks: int  # includes chunks without edges
    required: tuple[int, ...] = ()  # question chunks that must be active: the one after "without"
    bonus: float = 0.0  # a constant part of the objective

    @property
    def question_sentences(self) -> NDArray[np.int64]:
        """The sentence of each question edge."""
        return self.sentences[self.question.chunks]

    @property
    def option_sentences(self) -> NDArray[np.int64]:
        """The sentence of each option edge."""
        return self.sentences[self.option.chunks]

    def within(self, sentences: NDArray[np.int64]) -> Program:
        """Return the program with only the edges into `sentences`."""
        return self._replace(
            question=self.question.only(np.isin(self.question_sentences, sentences)),
            option=self.option.only(np.isin(self.option_sentences, sentences)),
        )


class Graph(NamedTuple):
    """A support graph: the active edges and their objective."""

    question: Edges
    option: Edges
    value: float  # the objective, rounded to nine decimals

    @classmethod
    def of(cls, program: Program, question: Edges, option: Edges, constants: Constants) -> Graph:
        """Return the graph with these active edges of `program`."""
        graph = cls(question, option, 0.0)
        # `fsum` makes the sum independent of the edges' order, and adding 0.0 turns a rounded -0.0 into 0.0.
        return graph._replace(value=round(fsum(graph.terms(program, constants).values()), _DIGITS) + 0.0)

    def active_sentences(self, program: Program) -> list[int]:
        """Return the sentences that the graph uses."""
        return np.unique(program.sentences[np.concatenate([self.question.chunks, self.option.chunks])]).tolist()

    def terms(self, program: Program, constants: Constants) -> dict[str, float]:
        """Return the terms of the objective by name."""
        return {
            "question_edges": fsum(self.question.weights.tolist()),
            "option_edges": fsum(self.option.weights.tolist()),
            "question_chunks": constants.question_weight * len(np.unique(self.question.ends)),
            "sentences": constants.sentence_weight * len(self.active_sentences(program)),
            "long_option": program.bonus,
        }


def positive_edges(weights: NDArray[np.float64]) -> Edges:
    """Return the edges with positive weight in a matrix with ends as rows and passage chunks as columns."""
    ends, chunks = np.nonzero(weights > _NOISE)
    return Edges(ends, chunks, weights[ends, chunks])


def option_edges(
    weights: NDArray[np.float64],
    sentences: NDArray[np.int64],
    copies: NDArray[np.int64],
    constants: Constants,
) -> Edges:
    """Return the edges of an option that an optimal graph may need.

    The released code allows option edges of any weight. An edge whose weight is not positive is useful only to
    align an option that has no other edge. One edge is enough for that, so this function keeps the best
    one of each sentence. But the limit on copies may exclude a passage chunk that has too many copies. So an edge
    to such a chunk cannot replace the best other edge; it is kept in addition if it is better.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_option_chunks, n_passage_chunks)
    """
    positive = positive_edges(weights)
    if not constants.align_option or not weights.size:
        return positive
    # Of each passage chunk only the best end matters, because the option's chunks have no limits.
    best, ends = weights.max(axis=0), weights.argmax(axis=0)
    limited = _has_too_many_copies(copies, constants)
    # `floors` has the best weight of each sentence among the chunks that no limit on copies can exclude.
    floors = np.full(int(sentences.max()) + 1, -np.inf)
    np.maximum.at(floors, sentences[~limited], best[~limited])
    free = np.flatnonzero(~limited & (best == floors[sentences]))
    one_per_sentence = free[np.unique(sentences[free], return_index=True)[1]]
    chunks = np.concatenate([one_per_sentence, np.flatnonzero(limited & (best > floors[sentences]))])
    chunks = np.sort(chunks[best[chunks] <= _NOISE])  # the edges of positive weight are there already
    return Edges(
        np.concatenate([positive.ends, ends[chunks]]),
        np.concatenate([positive.chunks, chunks]),
        np.concatenate([positive.weights, best[chunks]]),
    )


def _has_too_many_copies(copies: NDArray[np.int64], constants: Constants) -> NDArray[np.bool_]:
    """Return which passage chunks have more copies than may be active."""
    if constants.max_copies is None:
        return np.zeros(len(copies), dtype=np.bool_)
    return np.bincount(copies)[copies] > constants.max_copies


class Variables(NamedTuple):
    """The column of each variable in the matrix: the question's edges, the option's edges, then the nodes."""

    # Shape (n_edges,): the columns of the edges.
    edges: NDArray[np.int64]
    n_question_edges: int
    # The columns of the nodes.
    question_nodes: NDArray[np.int64]
    sentence_nodes: NDArray[np.int64]
    chunk_nodes: NDArray[np.int64]
    # Shape (n_question_edges,): each question edge's chunk, as an index of `question_nodes`.
    questions: NDArray[np.int64]
    # Shape (n_edges,): each edge's sentence, as an index of `sentence_nodes`.
    sentences: NDArray[np.int64]
    # Shape (n_edges,): each edge's passage chunk, as an index of `chunk_nodes`; -1 if the chunk has so few copies
    # that it needs no node.
    chunks: NDArray[np.int64]
    # Shape (n_chunk_nodes,): the number of each chunk's words, as in Program.copies.
    copies: NDArray[np.int64]
    # The columns of the nodes that must be active; -1 for a required chunk that has no edge, and so no node.
    required: NDArray[np.int64]
    n_question_chunks: int

    @classmethod
    def of(cls, program: Program, constants: Constants) -> Variables:
        """Number the variables of a program."""
        # Only chunks and sentences that have an edge get nodes.
        used = np.concatenate([program.question.chunks, program.option.chunks])
        ends, questions = np.unique(program.question.ends, return_inverse=True)
        _, sentences = np.unique(program.sentences[used], return_inverse=True)
        distinct, chunks = np.unique(used, return_inverse=True)
        copies = program.copies[distinct]
        limited = _has_too_many_copies(copies, constants)
        numbers = np.where(limited, np.cumsum(limited) - 1, -1)
        bounds = np.cumsum([0, len(used), len(ends), sentences.max(initial=-1) + 1, limited.sum()])
        edges, question_nodes, sentence_nodes, chunk_nodes = (
            np.arange(*bound) for bound in zip(bounds[:-1], bounds[1:], strict=True)
        )
        required = [question_nodes[ends == end] for end in program.required]
        return cls(
            edges,
            program.question.n,
            question_nodes,
            sentence_nodes,
            chunk_nodes,
            questions,
            sentences,
            numbers[chunks],
            copies[limited],
            np.array([nodes[0] if len(nodes) else -1 for nodes in required], dtype=np.int64),
            program.n_question_chunks,
        )

    @property
    def n(self) -> int:
        """The number of columns."""
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
    """Rows of the constraint matrix as sparse entries, and the bounds of each row's sum."""

    rows: NDArray[np.int64]  # shape (n_entries,), like `columns` and `values`
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    lower: NDArray[np.float64]  # shape (n_rows,), like `upper`
    upper: NDArray[np.float64]


def _bound_group_sums(
    groups: NDArray[np.int64], columns: NDArray[np.int64], lower: float = -np.inf, upper: float = np.inf
) -> Rows:
    """Bound the sum of each group of variables."""
    n = int(groups.max(initial=-1)) + 1
    return Rows(groups, columns, np.ones(len(columns)), np.full(n, lower), np.full(n, upper))


def _bound_sum(columns: NDArray[np.int64], lower: float = -np.inf, upper: float = np.inf) -> Rows:
    """Bound the sum of all these variables; an empty sum is bounded too."""
    return Rows(
        np.zeros(len(columns), np.int64), columns, np.ones(len(columns)), np.array([lower]), np.array([upper])
    )


_NO_ROWS = _bound_group_sums(np.empty(0, np.int64), np.empty(0, np.int64))


def _tie_nodes_to_edges(
    edges: NDArray[np.int64], nodes: NDArray[np.int64], node_of_edge: NDArray[np.int64]
) -> Rows:
    """Make a node active if and only if one of its edges is: edge <= node, and node <= sum of its edges."""
    n, m = len(edges), len(nodes)
    return Rows(
        np.concatenate([np.arange(n), np.arange(n), n + np.arange(m), n + node_of_edge]),
        np.concatenate([edges, nodes[node_of_edge], nodes, edges]),
        np.concatenate([np.ones(n), -np.ones(n), np.ones(m), -np.ones(n)]),
        np.full(n + m, -np.inf),
        np.zeros(n + m),
    )


def question_chunks_are_active_by_edges(v: Variables, constants: Constants) -> Rows:
    """Tie the question's chunks to their edges: ``activeQuestionIneq1`` and ``activeQuestionIneq2``."""
    return _tie_nodes_to_edges(v.question_edges, v.question_nodes, v.questions)


def sentences_are_active_by_edges(v: Variables, constants: Constants) -> Rows:
    """Tie the sentences to their edges: ``activeOptionVar`` and ``activeParagraphConsVar``."""
    return _tie_nodes_to_edges(v.edges, v.sentence_nodes, v.sentences)


def passage_chunks_are_active_by_edges(v: Variables, constants: Constants) -> Rows:
    """Tie the passage chunks that have too many copies to their edges, by the same two constraints as sentences.

    ``activeOptionVar`` and ``activeParagraphConsVar``. Other passage chunks have no limit, and so no node.
    """
    limited = v.chunks >= 0
    return _tie_nodes_to_edges(v.edges[limited], v.chunk_nodes, v.chunks[limited])


def limit_sentences(v: Variables, constants: Constants) -> Rows:
    """Allow at most `max_sentences` active sentences (``maxActiveSentences``, 2)."""
    return (
        _NO_ROWS if constants.max_sentences is None else _bound_sum(v.sentence_nodes, upper=constants.max_sentences)
    )


def limit_edges_per_sentence(v: Variables, constants: Constants) -> Rows:
    """Allow at most `max_edges` edges into one sentence (``maxNumberOfWordsAlignedPerSentence``, 8)."""
    return (
        _NO_ROWS
        if constants.max_edges is None
        else _bound_group_sums(v.sentences, v.edges, upper=constants.max_edges)
    )


def limit_copies(v: Variables, constants: Constants) -> Rows:
    """Allow at most `max_copies` active chunks with the same words.

    ``maxAlignmentToRepeatedWordsInParagraph``, 3.
    """
    if constants.max_copies is None:
        return _NO_ROWS
    _, groups = np.unique(v.copies, return_inverse=True)
    return _bound_group_sums(groups, v.chunk_nodes, upper=constants.max_copies)


def bound_question_chunks(v: Variables, constants: Constants) -> Rows:
    """Require 1 to 3 active chunks of the question, and 10 to 65 % of its chunks.

    ``minQuestionTermsAligned``, ``maxQuestionTermsAligned``, and both with ``Ratio``.
    """
    lower, upper = constants.question_chunk_bounds(v.n_question_chunks)
    return _bound_sum(v.question_nodes, lower, upper)


def require_chunk_after_without(v: Variables, constants: Constants) -> Rows:
    """Require the chunk after the question's "without" (``termAfterWithoutMustBeAligned``)."""
    if not constants.align_without or not len(v.required):
        return _NO_ROWS
    if v.required.min() < 0:  # the chunk has no edge: an empty sum that must be 1 makes the program infeasible
        return _bound_sum(np.empty(0, np.int64), lower=1)
    return _bound_group_sums(np.arange(len(v.required)), v.required, lower=1)


def require_option_edge(v: Variables, constants: Constants) -> Rows:
    """Require an edge of the option (``activeOptionVarImplesOneActiveConnectedEdge``, ``onlyOneActiveOption``)."""
    return _bound_sum(v.option_edges, lower=1) if constants.align_option else _NO_ROWS


CONSTRAINTS: tuple[Callable[[Variables, Constants], Rows], ...] = (
    question_chunks_are_active_by_edges,
    sentences_are_active_by_edges,
    passage_chunks_are_active_by_edges,
    limit_sentences,
    limit_edges_per_sentence,
    limit_copies,
    bound_question_chunks,
    require_chunk_after_without,
    require_option_edge,
)
"""All constraints. The first three define the nodes; the others are limits, which a constant can turn off."""
