"""The best graph of a program. Bounds from each sentence's best graph solve most programs, and
HiGHS the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.solvers.alignment.program import (
    Constants,
    Graph,
    Program,
    SolvedProgram,
    needs_edges,
    solve_by_highs,
)

_SLACK = 1e-9
"""Bounds add up in another order than objectives, so a bound this far below the best value may
still be as good.
"""


class SentenceBounds(NamedTuple):
    """For each sentence, the best graph that uses only this sentence, and upper bounds for all
    graphs that use it.

    The best graph of one sentence has the question chunks whose edges weigh the most (as many as
    may be active), all their edges, and all option edges of positive weight or, if there are none,
    the best option edge. This graph may break the limits on edges and copies. Then its value is
    only an upper bound.
    """

    program: Program
    constants: Constants
    # shape (n_sentences,): the best graph's value; -inf if there is no graph
    values: NDArray[np.float64]
    exact: NDArray[np.bool_]  # shape (n_sentences,): whether that graph breaks no limit
    # shape (n_sentences,): a bound for graphs that use the sentence and others
    several: NDArray[np.float64]
    # shape (n_sentences, n_question_chunks): the best graph's question chunks
    chosen: NDArray[np.bool_]

    def best_single(self) -> int | None:
        """Return the sentence with the best graph that breaks no limit, or None if all graphs
        break one.
        """
        values = np.where(self.exact, self.values, -np.inf)
        best = int(values.argmax()) if len(values) else 0
        return best if len(values) and np.isfinite(values[best]) else None

    def proves(self, best: int) -> bool:
        """Return whether no graph is better than the best graph that uses only sentence `best`."""
        rest = max(self.values.max(), self.several.max())
        return bool(rest <= self.values[best])

    def reaching(self, best: int) -> NDArray[np.int64]:
        """Return the sentences that a graph may use if it is at least as good as the best one of
        `best`.
        """
        reach = np.maximum(self.values, self.several)
        return np.flatnonzero(reach >= self.values[best] - _SLACK)

    def graph(self, sentence: int) -> Graph:
        """Return the best graph that uses only this sentence."""
        program = self.program
        question, option = program.question, program.option
        question_mask = program.question_sentences == sentence
        question_mask &= self.chosen[sentence][question.ends]
        in_sentence = program.option_sentences == sentence
        option_mask = in_sentence & (option.weights > 0)
        if self.constants.align_option and not option_mask.any():
            edges = np.flatnonzero(in_sentence)
            option_mask[edges[option.weights[edges].argmax()]] = True
        return Graph.of(
            program, question.only(question_mask), option.only(option_mask), self.constants
        )


def sentence_bounds(program: Program, constants: Constants) -> SentenceBounds:
    """Compute the bounds of a program in which every graph needs an edge."""
    n = int(program.sentences.max(initial=-1)) + 1
    n_chunks = program.n_question_chunks
    min_chunks, max_chunks = constants.question_chunk_bounds(n_chunks)
    question, option = program.question, program.option
    # (sentence, question chunk) as one number: how many edges connect the two, and what they weigh.
    cells = program.question_sentences * n_chunks + question.ends
    counts = np.bincount(cells, minlength=n * n_chunks).reshape(n, n_chunks)
    # Without edges, `bincount` returns integers.
    sums = np.bincount(cells, question.weights, minlength=n * n_chunks).astype(np.float64)
    sums = sums.reshape(n, n_chunks)
    required = program.required if constants.align_without else ()
    is_best = _choose_greatest(sums, counts > 0, required, max_chunks)

    positive = option.weights > 0
    positive_sentences = program.option_sentences[positive]
    of_option = np.bincount(positive_sentences, option.weights[positive], minlength=n)
    n_option = np.bincount(positive_sentences, minlength=n)
    single_option = of_option
    if constants.align_option:
        fallback = np.full(n, -np.inf)
        np.maximum.at(fallback, program.option_sentences, option.weights)
        single_option = np.where(n_option > 0, of_option, fallback)

    n_best = is_best.sum(axis=1)
    possible = (n_best >= min_chunks) & is_best[:, list(required)].all(axis=1)
    of_question = (sums * is_best).sum(axis=1)
    values = of_question + constants.question_weight * n_best
    values = values + single_option + constants.sentence_weight
    values = np.where(possible, values, -np.inf) + program.bonus
    n_edges = (counts * is_best).sum(axis=1) + np.maximum(n_option, constants.align_option)
    exact = np.isfinite(values) & _keeps_limits(n_edges, program, constants)
    # For graphs of several sentences, each sentence gets its best question chunks and all its
    # positive option edges. The bonus for active question chunks counts once, because a chunk may
    # be aligned in several sentences.
    n_inactive = max(n_chunks - max_chunks, 0)
    best_of_question = np.sort(sums, axis=1)[:, n_inactive:].sum(axis=1)
    nets = best_of_question + of_option + constants.sentence_weight
    n_alignable = int(counts.any(axis=0).sum())
    bonuses = constants.question_weight * min(max_chunks, n_alignable) + program.bonus
    bounds = _bound_several(nets, constants) + bonuses
    return SentenceBounds(program, constants, values, exact, bounds, is_best)


def _choose_greatest(
    sums: NDArray[np.float64], present: NDArray[np.bool_], required: tuple[int, ...], n_chosen: int
) -> NDArray[np.bool_]:
    """Choose `n_chosen` elements of each row, the required ones first, then the greatest; only
    present ones count.
    """
    keys = sums.copy()
    keys[:, list(required)] = np.inf
    order = np.argsort(-keys, axis=1, kind="stable")  # of equal ones, the first
    ranks = np.argsort(order, axis=1)
    return present & (ranks < n_chosen)


def _keeps_limits(
    n_edges: NDArray[np.int64], program: Program, constants: Constants
) -> NDArray[np.bool_]:
    """Return which sentences keep the limit on edges and, even if all chunks are active, the
    limit on copies.
    """
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
    """Bound graphs of several sentences: each sentence's own net value plus the greatest ones of
    the others.
    """
    # At least one other sentence is added, whatever its value; further ones, up to the limit, if
    # they add to it.
    max_sentences = (
        len(nets) if constants.max_sentences is None else min(constants.max_sentences, len(nets))
    )
    if max_sentences < 2:
        return np.full(len(nets), -np.inf)
    ordered = np.sort(nets)[::-1]
    is_greatest = np.arange(len(nets)) == nets.argmax()
    partner = np.where(is_greatest, ordered[1], ordered[0])
    return nets + partner + np.maximum(ordered[1 : max_sentences - 1], 0).sum()


def solve(program: Program, constants: Constants, node_limit: int | None = None) -> SolvedProgram:
    """Find the support graph with the greatest value; HiGHS visits up to `node_limit` nodes of
    its search tree.
    """
    if not _is_feasible(program, constants):
        return SolvedProgram(None)
    if not needs_edges(program, constants):
        return solve_by_highs(program, constants, node_limit)
    bounds = sentence_bounds(program, constants)
    best = bounds.best_single()
    if best is None:
        return solve_by_highs(program, constants, node_limit)
    if bounds.proves(best):
        return SolvedProgram(bounds.graph(best))
    # A better graph can use only sentences that reach the best value so far, so HiGHS gets a
    # smaller program.
    solution = solve_by_highs(program.within(bounds.reaching(best)), constants, node_limit)
    return max(solution, SolvedProgram(bounds.graph(best), solution.complete), key=_value)


def _is_feasible(program: Program, constants: Constants) -> bool:
    """Return False if there are too few edges for any graph."""
    min_chunks, max_chunks = constants.question_chunk_bounds(program.n_question_chunks)
    alignable = set(program.question.ends.tolist())
    if min_chunks > min(max_chunks, len(alignable)):
        return False
    if constants.align_without and not alignable.issuperset(program.required):
        return False
    return not constants.align_option or program.option.n > 0


def _value(solution: SolvedProgram) -> float:
    return -np.inf if solution.graph is None else solution.graph.value
