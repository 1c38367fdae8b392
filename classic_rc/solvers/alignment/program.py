"""The integer program of one option, and its solution.

Bounds from the best graph of each sentence solve most programs, and HiGHS solves the rest.
"""

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


_SLACK = 1e-9
"""Bounds add up in another order than objectives, so a bound this far below the best value may still be as good."""


class SentenceBounds(NamedTuple):
    """For each sentence, the best graph that uses only this sentence, and upper bounds for all graphs that use it.

    The best graph of one sentence has the question chunks whose edges weigh the most (as many as may be active),
    all their edges, and all option edges of positive weight or, if there are none, the best option edge. This graph
    may break the limits on edges and copies. Then its value is only an upper bound.
    """

    program: Program
    constants: Constants
    values: NDArray[np.float64]  # shape (n_sentences,): the best graph's value; -inf if there is no graph
    exact: NDArray[np.bool_]  # shape (n_sentences,): whether that graph breaks no limit
    several: NDArray[np.float64]  # shape (n_sentences,): a bound for graphs that use the sentence and others
    chosen: NDArray[np.bool_]  # shape (n_sentences, n_question_chunks): the best graph's question chunks

    def best_single(self) -> int | None:
        """Return the sentence with the best graph that breaks no limit, or None if all graphs break one."""
        values = np.where(self.exact, self.values, -np.inf)
        best = int(values.argmax()) if len(values) else 0
        return best if len(values) and np.isfinite(values[best]) else None

    def proves(self, best: int) -> bool:
        """Return whether no graph is better than the best graph that uses only sentence `best`."""
        rest = max(self.values.max(), self.several.max())
        return bool(rest <= self.values[best])

    def reaching(self, best: int) -> NDArray[np.int64]:
        """Return the sentences that a graph may use if it is at least as good as the best one of `best`."""
        reach = np.maximum(self.values, self.several)
        return np.flatnonzero(reach >= self.values[best] - _SLACK)

    def graph(self, sentence: int) -> Graph:
        """Return the best graph that uses only this sentence."""
        program = self.program
        question, option = program.question, program.option
        question_mask = (program.question_sentences == sentence) & self.chosen[sentence][question.ends]
        in_sentence = program.option_sentences == sentence
        option_mask = in_sentence & (option.weights > 0)
        if self.constants.align_option and not option_mask.any():
            option_mask[np.flatnonzero(in_sentence)[option.weights[in_sentence].argmax()]] = True
        return Graph.of(program, question.only(question_mask), option.only(option_mask), self.constants)


def sentence_bounds(program: Program, constants: Constants) -> SentenceBounds:
    """Compute the bounds of a program in which every graph needs an edge."""
    n = int(program.sentences.max(initial=-1)) + 1
    least, most = constants.question_chunk_bounds(program.n_question_chunks)
    question, option = program.question, program.option
    shape = n, program.n_question_chunks
    # (sentence, question chunk) as one number: how many edges connect the two, and what they weigh.
    cells = program.question_sentences * shape[1] + question.ends
    counts = np.bincount(cells, minlength=n * shape[1]).reshape(shape)
    sums = np.bincount(cells, question.weights, minlength=n * shape[1]).reshape(shape).astype(np.float64)
    chosen = _choose_greatest(sums, counts > 0, program.required if constants.align_without else (), most)

    positive = option.weights > 0
    of_option = np.bincount(program.option_sentences[positive], option.weights[positive], minlength=n)
    n_option = np.bincount(program.option_sentences[positive], minlength=n)
    single_option = of_option
    if constants.align_option:
        fallback = np.full(n, -np.inf)
        np.maximum.at(fallback, program.option_sentences, option.weights)
        single_option = np.where(n_option > 0, of_option, fallback)

    possible = chosen.sum(axis=1) >= least
    if constants.align_without:
        possible &= chosen[:, list(program.required)].all(axis=1)
    of_question = (sums * chosen).sum(axis=1)
    values = (
        of_question + constants.question_weight * chosen.sum(axis=1) + single_option + constants.sentence_weight
    )
    values = np.where(possible, values, -np.inf) + program.bonus
    n_edges = (counts * chosen).sum(axis=1) + np.maximum(n_option, constants.align_option)
    exact = np.isfinite(values) & _keeps_limits(n_edges, program, constants)
    # For graphs of several sentences, each sentence gets its best question chunks and all its positive option
    # edges. The bonus for active question chunks counts once, because a chunk may be aligned in several sentences.
    most_of_question = np.sort(sums, axis=1)[:, max(shape[1] - most, 0) :].sum(axis=1)
    bonuses = constants.question_weight * min(most, int(counts.any(axis=0).sum())) + program.bonus
    several = _bound_several(most_of_question + of_option + constants.sentence_weight, constants) + bonuses
    return SentenceBounds(program, constants, values, exact, several, chosen)


def _choose_greatest(
    sums: NDArray[np.float64], present: NDArray[np.bool_], required: tuple[int, ...], most: int
) -> NDArray[np.bool_]:
    """Choose `most` elements of each row, the required ones first, then the greatest; only present ones count."""
    keys = sums.copy()
    keys[:, list(required)] = np.inf
    ranks = np.argsort(np.argsort(-keys, axis=1, kind="stable"), axis=1)
    return present & (ranks < most)


def _keeps_limits(n_edges: NDArray[np.int64], program: Program, constants: Constants) -> NDArray[np.bool_]:
    """Return which sentences keep the limit on edges and, even if all chunks are active, the limit on copies."""
    fits = np.ones(len(n_edges), dtype=np.bool_)
    n_texts = int(program.copies.max(initial=0)) + 1
    if constants.max_edges is not None:
        fits &= n_edges <= constants.max_edges
    if constants.max_copies is not None:
        pairs = program.sentences * n_texts + program.copies
        crowded, counts = np.unique(pairs, return_counts=True)
        fits[crowded[counts > constants.max_copies] // n_texts] = False
    return fits


def _bound_several(nets: NDArray[np.float64], constants: Constants) -> NDArray[np.float64]:
    """Bound graphs of several sentences: each sentence's own net value plus the greatest ones of the others."""
    # At least one other sentence is added, whatever its value; further ones, up to the limit, if they add to it.
    most = len(nets) if constants.max_sentences is None else min(constants.max_sentences, len(nets))
    if most < 2:
        return np.full(len(nets), -np.inf)
    ordered = np.sort(nets)[::-1]
    partner = np.where(np.arange(len(nets)) == nets.argmax(), ordered[1], ordered[0])
    return nets + partner + np.maximum(ordered[1 : most - 1], 0).sum()


_SCALE = 1000.0
"""HiGHS stops within 1e-6 of the optimum. Objectives a thousand times larger make that 1e-9 of ours."""
_FINISHED = (0, 2)
"""SciPy's statuses for an optimum (0) and for an infeasible program (2). All others are about limits."""


class SolvedProgram(NamedTuple):
    """The result of solving a program."""

    graph: Graph | None  # the best support graph; None if no graph meets the constraints or none was found
    complete: bool = True  # False if the search stopped at its node limit, so that a better graph may exist


def solve(program: Program, constants: Constants, node_limit: int | None = None) -> SolvedProgram:
    """Find the support graph with the greatest value.

    Parameters
    ----------
    node_limit : int, optional
        The number of nodes of its search tree that HiGHS may visit.
    """
    if not _is_feasible(program, constants):
        return SolvedProgram(None)
    if not _needs_edges(program, constants):
        return solve_by_highs(program, constants, node_limit)
    bounds = sentence_bounds(program, constants)
    best = bounds.best_single()
    if best is None:
        return solve_by_highs(program, constants, node_limit)
    if bounds.proves(best):
        return SolvedProgram(bounds.graph(best))
    # A better graph can use only sentences that reach the best value so far, so HiGHS gets a smaller program.
    solution = solve_by_highs(program.within(bounds.reaching(best)), constants, node_limit)
    return max(solution, SolvedProgram(bounds.graph(best), solution.complete), key=_value)


def _is_feasible(program: Program, constants: Constants) -> bool:
    """Return False if there are too few edges for any graph."""
    least, most = constants.question_chunk_bounds(program.n_question_chunks)
    alignable = set(program.question.ends.tolist())
    return (
        least <= min(most, len(alignable))
        and (not constants.align_without or alignable.issuperset(program.required))
        and (not constants.align_option or program.option.n > 0)
    )


def _needs_edges(program: Program, constants: Constants) -> bool:
    """Return False if the graph without edges meets the constraints."""
    least, _ = constants.question_chunk_bounds(program.n_question_chunks)
    return least > 0 or constants.align_option or (constants.align_without and bool(program.required))


def _value(solution: SolvedProgram) -> float:
    return -np.inf if solution.graph is None else solution.graph.value


def solve_by_highs(program: Program, constants: Constants, node_limit: int | None = None) -> SolvedProgram:
    """Find the graph like :func:`solve`, but only with HiGHS."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    variables = Variables.of(program, constants)
    if not variables.n:
        infeasible = _needs_edges(program, constants)
        return SolvedProgram(None if infeasible else Graph.of(program, program.question, program.option, constants))
    # Each constraint numbers its rows from 0: `starts` puts them below each other in one matrix.
    parts = [constraint(variables, constants) for constraint in CONSTRAINTS]
    starts = np.cumsum([0, *(len(part.lower) for part in parts)])
    rows = np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=False)])
    columns, values = (np.concatenate([getattr(p, name) for p in parts]) for name in ("columns", "values"))
    lower, upper = (np.concatenate([getattr(p, name) for p in parts]) for name in ("lower", "upper"))
    # HiGHS in SciPy before 1.12 needs 32-bit indices.
    places = (rows.astype(np.int32), columns.astype(np.int32))
    matrix = csr_array((values, places), shape=(int(starts[-1]), variables.n))
    options = {"mip_rel_gap": 0.0} | ({} if node_limit is None else {"node_limit": node_limit})
    # `milp` minimises, so the weights are negated.
    result = milp(
        -_SCALE * _objective_weights(program, variables, constants),
        integrality=np.ones(variables.n),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, lower, upper),
        options=options,
    )
    complete = result.status in _FINISHED
    if result.x is None:
        return SolvedProgram(None, complete)
    active = result.x[variables.edges] > 0.5  # integers, up to the solver's tolerance
    n = variables.n_question_edges
    graph = Graph.of(program, program.question.only(active[:n]), program.option.only(active[n:]), constants)
    return SolvedProgram(graph, complete)


def _objective_weights(program: Program, variables: Variables, constants: Constants) -> NDArray[np.float64]:
    weights = np.zeros(variables.n)
    weights[variables.edges] = np.concatenate([program.question.weights, program.option.weights])
    weights[variables.question_nodes] = constants.question_weight
    weights[variables.sentence_nodes] = constants.sentence_weight
    return weights
