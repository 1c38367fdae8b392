"""The best support graph: by HiGHS, or without it where bounds prove what it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.solvers.alignment.bounds import sentence_bounds
from classic_rc.solvers.alignment.constraints import CONSTRAINTS, Variables
from classic_rc.solvers.alignment.program import Constants, Graph, Program

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
