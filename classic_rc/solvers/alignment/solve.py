"""What graphs of one sentence are worth, and what no graph can exceed: most programs are solved by that alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.solvers.alignment.program import CONSTRAINTS, Constants, Graph, Program, Variables

_SLACK = 1e-9
"""Bounds are sums in another order than objectives: what is within this of the best may be as good."""


class SentenceBounds(NamedTuple):
    """Of each sentence, the best graph that uses it alone, and what the graphs that use it can reach.

    The best graph of one sentence takes the question's chunks whose edges weigh most, as many as may be active, all
    their edges, and all the option's edges of positive weight, or else its best one. That may break the limits on
    edges and copies; then its value is no more than a bound.

    Parameters
    ----------
    program : Program
    constants : Constants
    values : ndarray of float64, shape (n_sentences,)
        What the best graph of the sentence alone is worth; -inf where there is none.
    exact : ndarray of bool, shape (n_sentences,)
        Whether that graph breaks no limit.
    several : ndarray of float64, shape (n_sentences,)
        What no graph exceeds that uses the sentence and others.
    chosen : ndarray of bool, shape (n_sentences, n_question_chunks)
        The question's chunks that the sentence's best graph takes.
    """

    program: Program
    constants: Constants
    values: NDArray[np.float64]
    exact: NDArray[np.bool_]
    several: NDArray[np.float64]
    chosen: NDArray[np.bool_]

    def best_single(self) -> int | None:
        """The sentence with the best graph that breaks no limit; None where all do."""
        values = np.where(self.exact, self.values, -np.inf)
        best = int(values.argmax()) if len(values) else 0
        return best if len(values) and np.isfinite(values[best]) else None

    def proves(self, best: int) -> bool:
        """Whether no other graph is better than the best of this sentence alone."""
        rest = max(self.values.max(), self.several.max())
        return bool(rest <= self.values[best])

    def reaching(self, best: int) -> NDArray[np.int64]:
        """The sentences that a graph may use that is not worse than the best of this one."""
        reach = np.maximum(self.values, self.several)
        return np.flatnonzero(reach >= self.values[best] - _SLACK)

    def graph(self, sentence: int) -> Graph:
        """The best graph of a sentence alone."""
        program = self.program
        question, option = program.question, program.option
        asked = (program.question_sentences == sentence) & self.chosen[sentence][question.ends]
        own = program.option_sentences == sentence
        answered = own & (option.weights > 0)
        if self.constants.align_option and not answered.any():
            answered[np.flatnonzero(own)[option.weights[own].argmax()]] = True
        return Graph.of(program, question.only(asked), option.only(answered), self.constants)


def sentence_bounds(program: Program, constants: Constants) -> SentenceBounds:
    """The bounds of a program in which a graph needs an edge."""
    n = int(program.sentences.max(initial=-1)) + 1
    least, most = constants.question_chunk_bounds(program.n_question_chunks)
    question, option = program.question, program.option
    shape = n, program.n_question_chunks
    cells = program.question_sentences * shape[1] + question.ends
    counts = np.bincount(cells, minlength=n * shape[1]).reshape(shape)
    sums = np.bincount(cells, question.weights, minlength=n * shape[1]).reshape(shape).astype(np.float64)
    chosen = _greatest(sums, counts > 0, program.required if constants.align_without else (), most)

    positive = option.weights > 0
    of_option = np.bincount(program.option_sentences[positive], option.weights[positive], minlength=n)
    n_option = np.bincount(program.option_sentences[positive], minlength=n)
    alone = of_option
    if constants.align_option:
        fallback = np.full(n, -np.inf)
        np.maximum.at(fallback, program.option_sentences, option.weights)
        alone = np.where(n_option > 0, of_option, fallback)

    possible = chosen.sum(axis=1) >= least
    if constants.align_without:
        possible &= chosen[:, list(program.required)].all(axis=1)
    of_question = (sums * chosen).sum(axis=1)
    values = of_question + constants.question_weight * chosen.sum(axis=1) + alone + constants.sentence_weight
    values = np.where(possible, values, -np.inf) + program.bonus
    n_edges = (counts * chosen).sum(axis=1) + np.maximum(n_option, constants.align_option)
    exact = np.isfinite(values) & _fits(n_edges, program, constants)
    most_of_question = np.sort(sums, axis=1)[:, max(shape[1] - most, 0) :].sum(axis=1)
    bonuses = constants.question_weight * min(most, int(counts.any(axis=0).sum())) + program.bonus
    several = _several(most_of_question + of_option + constants.sentence_weight, constants) + bonuses
    return SentenceBounds(program, constants, values, exact, several, chosen)


def _greatest(
    sums: NDArray[np.float64], present: NDArray[np.bool_], required: tuple[int, ...], most: int
) -> NDArray[np.bool_]:
    """Of each row the required and then the greatest elements, `most` of them, among those that are present."""
    keys = sums.copy()
    keys[:, list(required)] = np.inf
    ranks = np.argsort(np.argsort(-keys, axis=1, kind="stable"), axis=1)
    return present & (ranks < most)


def _fits(n_edges: NDArray[np.int64], program: Program, constants: Constants) -> NDArray[np.bool_]:
    """Which sentences keep the limits on edges and, whatever is active in them, on copies."""
    fits = np.ones(len(n_edges), dtype=np.bool_)
    n_texts = int(program.copies.max(initial=0)) + 1
    if constants.max_edges is not None:
        fits &= n_edges <= constants.max_edges
    if constants.max_copies is not None:
        pairs = program.sentences * n_texts + program.copies
        crowded, counts = np.unique(pairs, return_counts=True)
        fits[crowded[counts > constants.max_copies] // n_texts] = False
    return fits


def _several(nets: NDArray[np.float64], constants: Constants) -> NDArray[np.float64]:
    """What each sentence's share and the greatest shares of others add up to, as many as may be active."""
    most = len(nets) if constants.max_sentences is None else min(constants.max_sentences, len(nets))
    if most < 2:
        return np.full(len(nets), -np.inf)
    ordered = np.sort(nets)[::-1]
    partner = np.where(np.arange(len(nets)) == nets.argmax(), ordered[1], ordered[0])
    return nets + partner + np.maximum(ordered[1 : most - 1], 0).sum()


_SCALE = 1000.0
"""HiGHS stops within 1e-6 of the optimum; objectives a thousand times larger make that 1e-9 of ours."""
_FINISHED = (0, 2)
"""SciPy's statuses of a solver that found the optimum, or that there is none; all others are of limits."""


class Solution(NamedTuple):
    """What a program's solver found.

    Parameters
    ----------
    graph : Graph, optional
        The best support graph; None where none meets the constraints, or none was found.
    complete : bool
        False where the solver stopped at its node limit: there may be a better graph.
    """

    graph: Graph | None
    complete: bool = True


def solve(program: Program, constants: Constants, node_limit: int | None = None) -> Solution:
    """The support graph of greatest value.

    Parameters
    ----------
    program : Program
    constants : Constants
    node_limit : int, optional
        How many nodes of its search tree HiGHS may look at.
    """
    if not _is_feasible(program, constants):
        return Solution(None)
    if not _needs_edges(program, constants):
        return solve_by_highs(program, constants, node_limit)
    bounds = sentence_bounds(program, constants)
    best = bounds.best_single()
    if best is None:
        return solve_by_highs(program, constants, node_limit)
    if bounds.proves(best):
        return Solution(bounds.graph(best))
    found = solve_by_highs(program.within(bounds.reaching(best)), constants, node_limit)
    return max(found, Solution(bounds.graph(best), found.complete), key=_value)


def _is_feasible(program: Program, constants: Constants) -> bool:
    """False where there are too few edges for any graph."""
    least, most = constants.question_chunk_bounds(program.n_question_chunks)
    alignable = set(program.question.ends.tolist())
    return (
        least <= min(most, len(alignable))
        and (not constants.align_without or alignable.issuperset(program.required))
        and (not constants.align_option or program.option.n > 0)
    )


def _needs_edges(program: Program, constants: Constants) -> bool:
    """False where the graph without any edge meets the constraints."""
    least, _ = constants.question_chunk_bounds(program.n_question_chunks)
    return least > 0 or constants.align_option or (constants.align_without and bool(program.required))


def _value(solution: Solution) -> float:
    return -np.inf if solution.graph is None else solution.graph.value


def solve_by_highs(program: Program, constants: Constants, node_limit: int | None = None) -> Solution:
    """What :func:`solve` gives, by HiGHS alone."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    variables = Variables.of(program, constants)
    if not variables.n:
        needs = _needs_edges(program, constants)
        return Solution(None if needs else Graph.of(program, program.question, program.option, constants))
    parts = [constraint(variables, constants) for constraint in CONSTRAINTS]
    starts = np.cumsum([0, *(len(part.lower) for part in parts)])
    rows = np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=False)])
    columns, values = (np.concatenate([getattr(p, name) for p in parts]) for name in ("columns", "values"))
    lower, upper = (np.concatenate([getattr(p, name) for p in parts]) for name in ("lower", "upper"))
    matrix = csr_array((values, (rows, columns)), shape=(int(starts[-1]), variables.n))
    options = {"mip_rel_gap": 0.0} | ({} if node_limit is None else {"node_limit": node_limit})
    result = milp(
        -_SCALE * _weights(program, variables, constants),
        integrality=np.ones(variables.n),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, lower, upper),
        options=options,
    )
    complete = result.status in _FINISHED
    if result.x is None:
        return Solution(None, complete)
    active = result.x[variables.edges] > 0.5
    n = variables.n_question_edges
    graph = Graph.of(program, program.question.only(active[:n]), program.option.only(active[n:]), constants)
    return Solution(graph, complete)


def _weights(program: Program, variables: Variables, constants: Constants) -> NDArray[np.float64]:
    weights = np.zeros(variables.n)
    weights[variables.edges] = np.concatenate([program.question.weights, program.option.weights])
    weights[variables.question_nodes] = constants.question_weight
    weights[variables.sentence_nodes] = constants.sentence_weight
    return weights
