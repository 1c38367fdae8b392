"""The integer program of one option, the edges that it needs, and its solution by HiGHS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, floor, fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_DIGITS = 9
"""Objectives are rounded to this many decimals, so that sums of the same weights in another
order are equal.
"""
_NOISE = 1e-9
"""Weights this close to 0 count as 0: 2/5 - 0.4 must be 0 despite floating-point errors."""


class Constants(NamedTuple):
    """The weights and limits of the program, parameters of
    :class:`~classic_rc.solvers.AlignmentILP`.

    The defaults there are those of SemanticILP's SimpleMatching solver (allenai/semanticilp,
    TextILPSolver.scala, Khashabi et al. 2018, AAAI). The comments in :func:`constraint_rows` have
    the original names of the limits; None turns one off.
    """

    offset: float
    question_weight: float
    sentence_weight: float
    long_option_weight: float
    max_sentences: int | None
    max_edges: int | None
    max_copies: int | None
    min_question_chunks: int | None
    max_question_chunks: int | None
    min_question_share: float | None
    max_question_share: float | None
    align_without: bool
    align_option: bool

    def question_chunk_bounds(self, n_chunks: int) -> tuple[int, int]:
        """Return the least and the greatest number of active chunks in a question of `n_chunks`.

        A question of one chunk may use it: otherwise the limits of at least one chunk and at most
        65 % would exclude each other.
        """
        lower_limits, upper_limits = [0], [n_chunks]
        if self.min_question_chunks is not None:
            lower_limits.append(self.min_question_chunks)
        if self.max_question_chunks is not None:
            upper_limits.append(self.max_question_chunks)
        if self.min_question_share is not None:
            lower_limits.append(ceil(self.min_question_share * n_chunks - _NOISE))
        if self.max_question_share is not None:
            upper_limits.append(max(1, floor(self.max_question_share * n_chunks + _NOISE)))
        return max(lower_limits), min(upper_limits)

    def infeasible_value(self, n_chunks: int) -> float:
        """Return the score of an option without a graph: 1 less than a lower bound for the value of
        a best graph.

        `n_chunks` is the number of the question's chunks. A best graph needs at most one edge for
        each active question chunk and one for the option, at worst each in its own sentence. The
        question's edges have positive weights, and the option's edge weighs at least minus the
        offset.
        """
        n_sentences = max(self.question_chunk_bounds(n_chunks)[0], 1) + 1
        if self.max_sentences is not None:
            n_sentences = min(n_sentences, self.max_sentences)
        return (
            self.sentence_weight * n_sentences - self.offset - 1 + min(self.long_option_weight, 0.0)
        )


class Edges(NamedTuple):
    """Alignments of the question's or the option's chunks with the passage's chunks, of shape
    (n_edges,).
    """

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
    # shape (n_passage_chunks,): chunks with the same words have the same number
    copies: NDArray[np.int64]
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
        question = self.question.only(np.isin(self.question_sentences, sentences))
        option = self.option.only(np.isin(self.option_sentences, sentences))
        return self._replace(question=question, option=option)


class Graph(NamedTuple):
    """A support graph: the active edges and their objective."""

    question: Edges
    option: Edges
    value: float  # the objective, rounded to nine decimals

    @classmethod
    def of(cls, program: Program, question: Edges, option: Edges, constants: Constants) -> Graph:
        """Return the graph with these active edges of `program`."""
        graph = cls(question, option, 0.0)
        # `fsum` makes the sum independent of the edges' order, and adding 0.0 turns a rounded -0.0
        # into 0.0.
        value = fsum(graph.terms(program, constants).values())
        return graph._replace(value=round(value, _DIGITS) + 0.0)

    def active_sentences(self, program: Program) -> list[int]:
        """Return the sentences that the graph uses."""
        chunks = np.concatenate([self.question.chunks, self.option.chunks])
        return np.unique(program.sentences[chunks]).tolist()

    def terms(self, program: Program, constants: Constants) -> dict[str, float]:
        """Return the terms of the objective by name."""
        n_chunks = len(np.unique(self.question.ends))
        n_sentences = len(self.active_sentences(program))
        return {
            "question_edges": fsum(self.question.weights.tolist()),
            "option_edges": fsum(self.option.weights.tolist()),
            "question_chunks": constants.question_weight * n_chunks,
            "sentences": constants.sentence_weight * n_sentences,
            "long_option": program.bonus,
        }


def positive_edges(weights: NDArray[np.float64]) -> Edges:
    """Return the edges with positive weight in a matrix with ends as rows and passage chunks as
    columns.
    """
    ends, chunks = np.nonzero(weights > _NOISE)
    return Edges(ends, chunks, weights[ends, chunks])


def option_edges(
    weights: NDArray[np.float64],  # (n_option_chunks, n_passage_chunks)
    sentences: NDArray[np.int64],
    copies: NDArray[np.int64],
    constants: Constants,
) -> Edges:
    """Return the edges of an option that an optimal graph may need.

    The released code allows option edges of any weight. An edge whose weight is not positive only
    serves to align an option that has no other edge, so this function keeps the best one of each
    sentence. An edge to a passage chunk that the limit on copies may exclude cannot replace it; it
    is kept in addition if it is better.
    """
    positive = positive_edges(weights)
    if not constants.align_option or not weights.size:
        return positive
    # Of each passage chunk only the best end matters, because the option's chunks have no limits.
    best, ends = weights.max(axis=0), weights.argmax(axis=0)
    limited = has_too_many_copies(copies, constants)
    # `floors` has the best weight of each sentence among the chunks that no limit on copies can
    # exclude.
    floors = np.full(int(sentences.max()) + 1, -np.inf)
    np.maximum.at(floors, sentences[~limited], best[~limited])
    free = np.flatnonzero(~limited & (best == floors[sentences]))
    _, first = np.unique(sentences[free], return_index=True)
    better = np.flatnonzero(limited & (best > floors[sentences]))
    chunks = np.concatenate([free[first], better])
    # the edges of positive weight are there already
    chunks = np.sort(chunks[best[chunks] <= _NOISE])
    return Edges(
        np.concatenate([positive.ends, ends[chunks]]),
        np.concatenate([positive.chunks, chunks]),
        np.concatenate([positive.weights, best[chunks]]),
    )


def has_too_many_copies(copies: NDArray[np.int64], constants: Constants) -> NDArray[np.bool_]:
    """Return which passage chunks have more copies than may be active."""
    if constants.max_copies is None:
        return np.zeros(len(copies), dtype=np.bool_)
    return np.bincount(copies)[copies] > constants.max_copies


class Variables(NamedTuple):
    """The columns of the matrix: the question's edges, the option's, then the nodes of what has
    an edge.
    """

    n: int  # the number of columns
    n_question_edges: int
    edges: NDArray[np.int64]  # (n_edges,): the columns of the edges, and of the nodes below
    question_nodes: NDArray[np.int64]
    sentence_nodes: NDArray[np.int64]
    chunk_nodes: NDArray[np.int64]  # of passage chunks with too many copies
    # (n_question_edges,): each edge's question chunk, as an index of `question_nodes`
    questions: NDArray[np.int64]
    # (n_edges,): each edge's sentence, as an index of `sentence_nodes`
    sentences: NDArray[np.int64]
    # (n_edges,): each edge's passage chunk, as an index of `chunk_nodes`, or -1
    chunks: NDArray[np.int64]
    # (n_chunk_nodes,): the number of each chunk's words, as in Program.copies
    copies: NDArray[np.int64]
    # the nodes that must be active; -1 for a required chunk without an edge
    required: NDArray[np.int64]
    n_question_chunks: int

    @classmethod
    def of(cls, program: Program, constants: Constants) -> Variables:
        """Number the variables of a program."""
        used = np.concatenate([program.question.chunks, program.option.chunks])
        ends, questions = np.unique(program.question.ends, return_inverse=True)
        _, sentences = np.unique(program.sentences[used], return_inverse=True)
        distinct, chunks = np.unique(used, return_inverse=True)
        copies = program.copies[distinct]
        limited = has_too_many_copies(copies, constants)
        numbers = np.where(limited, np.cumsum(limited) - 1, -1)
        sizes = [len(used), len(ends), sentences.max(initial=-1) + 1, limited.sum()]
        bounds = np.cumsum([0, *sizes])
        edges, nodes, sentence_nodes, chunk_nodes = map(np.arange, bounds[:-1], bounds[1:])
        node_of = dict(zip(ends.tolist(), nodes.tolist(), strict=True))
        required = [node_of.get(end, -1) for end in program.required]
        return cls(
            int(bounds[-1]),
            program.question.n,
            edges,
            question_nodes=nodes,
            sentence_nodes=sentence_nodes,
            chunk_nodes=chunk_nodes,
            questions=questions,
            sentences=sentences,
            chunks=numbers[chunks],
            copies=copies[limited],
            required=np.array(required, dtype=np.int64),
            n_question_chunks=program.n_question_chunks,
        )


class Rows(NamedTuple):
    """Rows of the constraint matrix as sparse entries, and the bounds of each row's sum."""

    rows: NDArray[np.int64]  # shape (n_entries,), like `columns` and `values`
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    lower: NDArray[np.float64]  # shape (n_rows,), like `upper`
    upper: NDArray[np.float64]


def _bound_sums(
    groups: NDArray[np.int64],
    n: int,
    columns: NDArray[np.int64],
    lower: float = -np.inf,
    upper: float = np.inf,
) -> Rows:
    """Bound the sum of each of `n` groups of variables; an empty sum is bounded too."""
    return Rows(groups, columns, np.ones(len(columns)), np.full(n, lower), np.full(n, upper))


def _bound_sum(columns: NDArray[np.int64], lower: float = -np.inf, upper: float = np.inf) -> Rows:
    return _bound_sums(np.zeros(len(columns), np.int64), 1, columns, lower, upper)


def _tie_nodes_to_edges(
    edges: NDArray[np.int64], nodes: NDArray[np.int64], node_of_edge: NDArray[np.int64]
) -> Rows:
    """Make a node active if and only if one of its edges is: edge <= node, and node <= sum of
    its edges.
    """
    n, m = len(edges), len(nodes)
    # Each edge has a row, edge - node <= 0, and each node has one: node - sum of edges <= 0.
    edge_rows, node_rows = np.arange(n), n + np.arange(m)
    ones = np.ones(n)
    rows = [edge_rows, edge_rows, node_rows, node_rows[node_of_edge]]
    columns = [edges, nodes[node_of_edge], nodes, edges]
    values = [ones, -ones, np.ones(m), -ones]
    return Rows(
        np.concatenate(rows),
        np.concatenate(columns),
        np.concatenate(values),
        lower=np.full(n + m, -np.inf),
        upper=np.zeros(n + m),
    )


def constraint_rows(v: Variables, constants: Constants) -> Iterator[Rows]:
    """Yield the constraints: three that define the nodes, then the limits, which a constant can
    turn off.
    """
    c = constants
    # activeQuestionIneq1, activeQuestionIneq2
    yield _tie_nodes_to_edges(v.edges[: v.n_question_edges], v.question_nodes, v.questions)
    # activeOptionVar, activeParagraphConsVar; a passage chunk without too many copies has no limit,
    # and so no node
    yield _tie_nodes_to_edges(v.edges, v.sentence_nodes, v.sentences)
    limited = v.chunks >= 0
    yield _tie_nodes_to_edges(v.edges[limited], v.chunk_nodes, v.chunks[limited])
    if c.max_sentences is not None:  # maxActiveSentences
        yield _bound_sum(v.sentence_nodes, upper=c.max_sentences)
    if c.max_edges is not None:  # maxNumberOfWordsAlignedPerSentence
        yield _bound_sums(v.sentences, len(v.sentence_nodes), v.edges, upper=c.max_edges)
    if c.max_copies is not None:  # maxAlignmentToRepeatedWordsInParagraph
        texts, groups = np.unique(v.copies, return_inverse=True)
        yield _bound_sums(groups, len(texts), v.chunk_nodes, upper=c.max_copies)
    # minQuestionTermsAligned, maxQuestionTermsAligned, and both with Ratio
    yield _bound_sum(v.question_nodes, *c.question_chunk_bounds(v.n_question_chunks))
    if c.align_without and len(v.required):  # termAfterWithoutMustBeAligned
        # An empty sum that must be 1 makes the program infeasible: a required chunk has no edge.
        nodes = v.required if v.required.min() >= 0 else v.required[:0]
        n = max(len(nodes), 1)
        yield _bound_sums(np.arange(len(nodes)), n, nodes, lower=1)
    if c.align_option:  # activeOptionVarImplesOneActiveConnectedEdge, onlyOneActiveOption
        yield _bound_sum(v.edges[v.n_question_edges :], lower=1)


def _join_rows(constraints: Iterable[Rows]) -> Rows:
    """Stack constraints into one matrix; each numbers its own rows from 0."""
    n_rows, parts = 0, []
    for constraint in constraints:
        parts.append(constraint._replace(rows=constraint.rows + n_rows))
        n_rows += len(constraint.lower)
    return Rows(*map(np.concatenate, zip(*parts, strict=True)))


_SCALE = 1000.0
"""HiGHS stops within 1e-6 of the optimum. Objectives a thousand times larger make that 1e-9 of
ours.
"""
_FINISHED = (0, 2)
"""SciPy's statuses for an optimum (0) and for an infeasible program (2). All others are about
limits.
"""


class SolvedProgram(NamedTuple):
    """The result of solving a program."""

    # the best support graph; None if no graph meets the constraints or none was found
    graph: Graph | None
    complete: bool = (
        True  # False if the search stopped at its node limit, so that a better graph may exist
    )


def needs_edges(program: Program, constants: Constants) -> bool:
    """Return False if the graph without edges meets the constraints."""
    min_chunks, _ = constants.question_chunk_bounds(program.n_question_chunks)
    return (
        min_chunks > 0
        or constants.align_option
        or (constants.align_without and bool(program.required))
    )


def solve_by_highs(
    program: Program, constants: Constants, node_limit: int | None = None
) -> SolvedProgram:
    """Find the support graph with the greatest value with HiGHS, which visits up to `node_limit`
    nodes.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    variables = Variables.of(program, constants)
    if not variables.n:
        if needs_edges(program, constants):
            return SolvedProgram(None)
        return SolvedProgram(Graph.of(program, program.question, program.option, constants))
    weights = np.zeros(variables.n)
    weights[variables.edges] = np.concatenate([program.question.weights, program.option.weights])
    weights[variables.question_nodes] = constants.question_weight
    weights[variables.sentence_nodes] = constants.sentence_weight
    rows = _join_rows(constraint_rows(variables, constants))
    # HiGHS in SciPy before 1.12 needs 32-bit indices.
    places = rows.rows.astype(np.int32), rows.columns.astype(np.int32)
    matrix = csr_array((rows.values, places), shape=(len(rows.lower), variables.n))
    options = {"mip_rel_gap": 0.0}
    if node_limit is not None:
        options["node_limit"] = node_limit
    # `milp` minimises, so the weights are negated.
    result = milp(
        -_SCALE * weights,
        integrality=np.ones(variables.n),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, rows.lower, rows.upper),
        options=options,
    )
    complete = result.status in _FINISHED
    if result.x is None:
        return SolvedProgram(None, complete)
    active = result.x[variables.edges] > 0.5  # integers, up to the solver's tolerance
    n = variables.n_question_edges
    question, option = program.question.only(active[:n]), program.option.only(active[n:])
    return SolvedProgram(Graph.of(program, question, option, constants), complete)
