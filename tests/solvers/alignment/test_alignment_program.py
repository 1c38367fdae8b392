"""The integer program: its optimum against exhaustive search, and each constraint when it binds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from classic_rc.kernels.reference.alignment import Edge, best_support_graph
from classic_rc.solvers import AlignmentILP
from classic_rc.solvers.alignment.bounds import sentence_bounds, solve
from classic_rc.solvers.alignment.program import (
    Constants,
    Edges,
    Program,
    Variables,
    constraint_rows,
    option_edges,
    positive_edges,
    solve_by_highs,
)
from tests.depth import examples, thinned

PUBLISHED = AlignmentILP().constants
SIMILARITIES = (0.0, 0.0, 1 / 3, 0.4, 0.5, 0.75, 1.0)
MAX_EDGES = 11
"""The limit of exhaustive search: 2,048 graphs."""


def program(
    question, option, sentences, copies=None, constants=PUBLISHED, *, reduced=True, **others
) -> Program:
    """Make a program from similarities: a row per question or option chunk, a column per passage
    chunk.
    """
    sentences = np.array(sentences, dtype=np.int64)
    copies = np.arange(len(sentences)) if copies is None else np.array(copies, dtype=np.int64)
    question_weights = np.array(question, dtype=np.float64) - constants.offset
    option_weights = np.array(option, dtype=np.float64) - constants.offset
    ends, chunks = np.indices(option_weights.shape).reshape(2, -1)
    edges = Edges(ends, chunks, option_weights.ravel())
    if reduced:
        edges = option_edges(option_weights, sentences, copies, constants)
    sides = positive_edges(question_weights), edges
    return Program(*sides, sentences, copies, len(question_weights), **others)


def value(instance_program: Program, constants: Constants = PUBLISHED) -> float | None:
    graph = solve(instance_program, constants).graph
    return None if graph is None else graph.value


def exhaustive(full: Program, c: Constants) -> float | None:
    """Return the value of the best of all graphs, directly from the definitions."""
    return best_support_graph(
        plain_edges(full.question),
        plain_edges(full.option),
        full.sentences.tolist(),
        full.copies.tolist(),
        question_chunks=c.question_chunk_bounds(full.n_question_chunks),
        required=full.required if c.align_without else (),
        max_sentences=c.max_sentences,
        max_edges=c.max_edges,
        max_copies=c.max_copies,
        align_option=c.align_option,
        question_weight=c.question_weight,
        sentence_weight=c.sentence_weight,
        bonus=full.bonus,
    )


def plain_edges(edges: Edges) -> list[Edge]:
    columns = edges.ends.tolist(), edges.chunks.tolist(), edges.weights.tolist()
    return [Edge(*edge) for edge in zip(*columns, strict=True)]


LIMITS = st.sampled_from([None, 1, 2, 3])
CONSTANTS = st.builds(
    PUBLISHED._replace,
    question_weight=st.sampled_from([0.0, 0.33]),
    sentence_weight=st.sampled_from([0.0, -0.3, -1.0, -2.5]),
    max_sentences=LIMITS,
    max_edges=LIMITS,
    max_copies=LIMITS,
    min_question_chunks=st.sampled_from([None, 1, 2]),
    max_question_chunks=LIMITS,
    min_question_share=st.sampled_from([None, 0.1]),
    max_question_share=st.sampled_from([None, 0.65]),
    align_without=st.booleans(),
    align_option=st.booleans(),
)


@st.composite
def instances(draw):
    """Draw arguments of :func:`program` with few enough edges for exhaustive search."""

    def numbers(strategy, n):
        return draw(st.lists(strategy, min_size=n, max_size=n))

    n_chunks = draw(st.integers(0, 5))
    n_question, n_option = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    similarity = st.sampled_from(SIMILARITIES)
    question = numbers(similarity, n_question * n_chunks)
    option = numbers(similarity, n_option * n_chunks)
    while len(option) + sum(s > 0.41 for s in question) > MAX_EDGES:
        question[question.index(max(question))] = 0.0
    return {
        "question": np.reshape(question, (n_question, n_chunks)),
        "option": np.reshape(option, (n_option, n_chunks)),
        "sentences": sorted(numbers(st.integers(0, 2), n_chunks)),
        "copies": numbers(st.integers(0, 2), n_chunks),
        "required": draw(st.sampled_from([(), (0,)])) if n_question else (),
        "bonus": draw(st.sampled_from([0.0, 0.02])),
    }


@settings(max_examples=examples(25, 150))
@given(instances(), CONSTANTS)
def test_the_optimum_equals_exhaustive_search(instance, c):
    full = program(**instance, constants=c, reduced=False)
    best = exhaustive(full, c)
    for solution in (solve(program(**instance, constants=c), c), solve_by_highs(full, c)):
        assert (solution.graph is None) == (best is None)
        if solution.graph is not None:
            assert solution.graph.value == pytest.approx(best, abs=1e-8)
            assert solution.complete


@settings(max_examples=examples(16, 100))
@given(instances(), CONSTANTS)
def test_no_graph_of_a_sentence_exceeds_its_bound_and_exact_bounds_are_reached(instance, c):
    reduced_program = program(**instance, constants=c)
    if not reduced_program.option.n or not reduced_program.question.n or not c.align_option:
        return
    bounds = sentence_bounds(reduced_program, c)
    for sentence in set(reduced_program.sentences.tolist()):
        sentence_graph = solve_by_highs(reduced_program.within(np.array([sentence])), c).graph
        if sentence_graph is not None:
            assert sentence_graph.value <= bounds.values[sentence] + 1e-9
        if bounds.exact[sentence]:
            assert sentence_graph is not None
            assert sentence_graph.value == bounds.graph(sentence).value
            assert sentence_graph.value == pytest.approx(bounds.values[sentence], abs=1e-8)


@settings(max_examples=examples(10, 60))
@given(instances(), st.randoms(use_true_random=False))
def test_the_order_of_sentences_changes_nothing(instance, random):
    sentences = list(range(3))
    random.shuffle(sentences)
    renamed = {**instance, "sentences": [sentences[s] for s in instance["sentences"]]}
    assert value(program(**renamed)) == value(program(**instance))


@settings(max_examples=examples(10, 60))
@given(instances(), CONSTANTS)
def test_every_graph_has_a_greater_value_than_no_graph(instance, c):
    reduced_program = program(**instance, constants=c)
    graph = solve(reduced_program, c).graph
    if graph is not None:
        assert graph.value > c.infeasible_value(reduced_program.n_question_chunks)


def joint_optima(question, options, sentences, c: Constants) -> tuple[float, set[int]]:
    """The released program of a question, all options in one and one of them active, as HiGHS
    solves it.

    Written out variable by variable, apart from the package's matrices. Returns the optimum and
    which options reach it.
    """
    costs: list[float] = []
    rows: list[tuple[dict[int, float], float, float | None]] = []

    def variable(weight: float) -> int:
        costs.append(-1000 * weight)
        return len(costs) - 1

    def active_by(node: int, edges: list[int]) -> None:
        rows.append(({node: 1.0, **dict.fromkeys(edges, -1.0)}, -np.inf, 0))
        rows.extend(({edge: 1.0, node: -1.0}, -np.inf, 0) for edge in edges)

    into: dict[int, list[int]] = {s: [] for s in set(sentences)}
    question_edges: list[list[int]] = []
    for row in question:
        question_edges.append([])
        for chunk, similarity in enumerate(row):
            if similarity > c.offset + 1e-9:
                question_edges[-1].append(variable(similarity - c.offset))
                into[sentences[chunk]].append(question_edges[-1][-1])
    active_options = []
    for option in options:
        edges = []
        for row in option:
            for chunk, similarity in enumerate(row):
                edges.append(variable(similarity - c.offset))
                into[sentences[chunk]].append(edges[-1])
        active_options.append(variable(c.long_option_weight if len(option) > 3 else 0.0))
        active_by(active_options[-1], edges)
    nodes = [variable(c.question_weight) for _ in question_edges]
    for node, edges in zip(nodes, question_edges, strict=True):
        active_by(node, edges)
    used = [variable(c.sentence_weight) for _ in into]
    for node, edges in zip(used, into.values(), strict=True):
        active_by(node, edges)
        rows.append((dict.fromkeys(edges, 1.0), -np.inf, c.max_edges))
    rows.append((dict.fromkeys(used, 1.0), -np.inf, c.max_sentences))
    rows.append((dict.fromkeys(nodes, 1.0), *c.question_chunk_bounds(len(question))))
    rows.append((dict.fromkeys(active_options, 1.0), 1, 1))

    matrix = np.zeros((len(rows), len(costs)))
    for i, (entries, _, _) in enumerate(rows):
        matrix[i, list(entries)] = list(entries.values())

    def best(forced: int | None) -> float:
        lower = np.zeros(len(costs))
        if forced is not None:
            lower[active_options[forced]] = 1
        optimum = milp(
            np.array(costs),
            integrality=np.ones(len(costs)),
            bounds=Bounds(lower, 1),
            constraints=LinearConstraint(matrix, [r[1] for r in rows], [r[2] for r in rows]),
            options={"mip_rel_gap": 0.0},
        )
        return -np.inf if optimum.x is None else -optimum.fun / 1000

    optimum = best(None)
    return optimum, {k for k in range(len(options)) if best(k) > optimum - 1e-7}


@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_a_program_per_option_chooses_like_the_joint_program(seed):
    rng = np.random.default_rng(seed)
    n_chunks, n_question_chunks = 8, int(rng.integers(2, 6))
    sentences = np.sort(rng.integers(0, 4, n_chunks))
    question = rng.choice(SIMILARITIES, (n_question_chunks, n_chunks))
    options, scores = [], []
    for _ in range(4):
        n_option_chunks = int(rng.integers(1, 5))
        option = rng.choice(SIMILARITIES, (n_option_chunks, n_chunks))
        bonus = PUBLISHED.long_option_weight if n_option_chunks > 3 else 0.0
        options.append(option)
        scores.append(value(program(question, option, sentences, bonus=bonus)))
    optimum, winners = joint_optima(question.tolist(), options, sentences.tolist(), PUBLISHED)
    assert None not in scores
    best = max(scores)
    assert best == pytest.approx(optimum, abs=1e-7)
    assert {k for k, score in enumerate(scores) if score > best - 1e-7} == winners


def test_the_defaults_are_the_released_constants():
    assert PUBLISHED == (0.4, 0.33, -2.5, 0.02, 2, 8, 3, 1, 3, 0.1, 0.65, True, True)
    bounds = [PUBLISHED.question_chunk_bounds(n) for n in (1, 2, 4, 12)]
    assert bounds == [(1, 1), (1, 1), (1, 2), (2, 3)]
    assert PUBLISHED.infeasible_value(5) == pytest.approx(-6.4)


FREE = PUBLISHED._replace(max_question_share=None)
BINDING = {
    # what binds: similarities of the question's and the option's chunks, sentences, copies; with,
    # and without
    "max_sentences": (
        {
            "question": [[1, 0, 0]],
            "option": [[0, 1, 1]],
            "sentences": [0, 1, 2],
            "copies": [0, 1, 2],
        },
        FREE._replace(sentence_weight=-0.1),
        0.6 + 0.33 + 0.6 - 0.2,
        0.6 + 0.33 + 1.2 - 0.3,
    ),
    "max_edges": (
        {
            "question": [[1] + 9 * [0]],
            "option": [10 * [1]],
            "sentences": 10 * [0],
            "copies": range(10),
        },
        FREE,
        8 * 0.6 + 0.33 - 2.5,
        11 * 0.6 + 0.33 - 2.5,
    ),
    "max_copies": (
        {
            "question": [[1, 1, 1, 1, 1]],
            "option": [[0, 0, 0, 0, 1]],
            "sentences": 5 * [0],
            "copies": 5 * [0],
        },
        FREE,
        3 * 0.6 + 0.6 + 0.33 - 2.5,
        5 * 0.6 + 0.6 + 0.33 - 2.5,
    ),
    "min_question_chunks": (
        {"question": [[1, 0]], "option": [[0, 1]], "sentences": [0, 1], "copies": [0, 1]},
        FREE._replace(min_question_share=None),
        0.93 - 0.4 - 2.5,
        0.6 - 2.5,
    ),
    "max_question_chunks": (
        {
            "question": np.eye(4, 5),
            "option": [[0, 0, 0, 0, 1]],
            "sentences": 5 * [0],
            "copies": range(5),
        },
        FREE,
        3 * 0.93 + 0.6 - 2.5,
        4 * 0.93 + 0.6 - 2.5,
    ),
    "min_question_share": (
        {
            "question": np.eye(11, 3),
            "option": [[0, 0, 1]],
            "sentences": [0, 1, 2],
            "copies": range(3),
        },
        FREE._replace(max_sentences=None),
        0.93 + 0.93 + 0.6 - 5.0,
        0.93 + 0.6 - 2.5,
    ),
    "max_question_share": (
        {
            "question": np.eye(3, 4),
            "option": [[0, 0, 0, 1]],
            "sentences": 4 * [0],
            "copies": range(4),
        },
        PUBLISHED,
        1 * 0.93 + 0.6 - 2.5,
        3 * 0.93 + 0.6 - 2.5,
    ),
    "align_without": (
        {
            "question": [[1, 0], [0, 1]],
            "option": [[0, 1]],
            "sentences": [0, 1],
            "copies": [0, 1],
            "required": (0,),
        },
        PUBLISHED,
        0.93 - 0.4 - 2.5,
        0.93 + 0.6 - 2.5,
    ),
    "align_option": (
        {"question": [[1, 0]], "option": [[0, 0]], "sentences": [0, 1], "copies": [0, 1]},
        FREE,
        0.93 - 0.4 - 2.5,
        0.93 - 2.5,
    ),
}


def test_every_limit_has_a_case():
    assert set(BINDING) == {
        name for name in Constants._fields if name.startswith(("max_", "min_", "align_"))
    }


@pytest.mark.parametrize("limit", BINDING)
def test_each_limit_binds(limit):
    instance, c, bound, unbound = BINDING[limit]
    off = c._replace(**{limit: False if limit.startswith("align_") else None})
    for constants, expected in ((c, bound), (off, unbound)):
        full = program(**instance, constants=constants, reduced=False)
        assert exhaustive_or_highs(full, constants) == pytest.approx(expected, abs=1e-8)
        reduced_program = program(**instance, constants=constants)
        assert value(reduced_program, constants) == pytest.approx(expected, abs=1e-8)


def exhaustive_or_highs(full, c):
    small = full.question.n + full.option.n <= MAX_EDGES
    return exhaustive(full, c) if small else solve_by_highs(full, c).graph.value


def test_a_disabled_constraint_has_no_rows():
    similarities = [[1, 1, 1, 1]]
    small_program = program(similarities, similarities, [0, 0, 1, 1], 4 * [0], required=(0,))

    def numbers_of_rows(c):
        constraints = constraint_rows(Variables.of(small_program, c), c)
        return [len(constraint.lower) for constraint in constraints][3:]

    limits = dict.fromkeys(Constants._fields[4:11])
    off = PUBLISHED._replace(**limits, align_without=False, align_option=False)
    assert numbers_of_rows(PUBLISHED) == [1, 2, 1, 1, 1, 1]
    assert numbers_of_rows(off) == [1]
    assert off.question_chunk_bounds(7) == (0, 7)


def test_without_an_edge_after_without_there_is_no_graph():
    small_program = program([[1, 0], [0, 0]], [[0, 1]], [0, 0], required=(1,))
    assert solve(small_program, PUBLISHED).graph is None
    assert solve_by_highs(small_program, PUBLISHED).graph is None
    assert solve(small_program, PUBLISHED._replace(align_without=False)).graph is not None


@pytest.mark.parametrize(
    ("question", "option", "expected"),
    [
        ([[0.3, 0]], [[1, 1]], None),  # no question edge
        ([[1, 0]], np.zeros((0, 2)), None),  # an option without chunks
        ([[1, 0]], [[1, 1]], 0.93 + 0.6 - 2.5),  # bounds prove it
    ],
)
def test_trivial_programs_are_solved_without_a_search(question, option, expected):
    assert value(program(question, option, [0, 1])) == pytest.approx(expected)


def test_equal_sums_are_equal_scores():
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point."""
    orders = itertools.permutations([0.5, 0.6, 0.7])
    programs = [program([[1, 0, 0, 0]], [[0, *order]], [0, 0, 0, 0]) for order in orders]
    assert len(set(map(value, programs))) == 1


def test_the_search_ends_at_the_node_limit():
    rng = np.random.default_rng(0)
    c = PUBLISHED._replace(
        max_edges=3, sentence_weight=-0.9, max_copies=1, max_sentences=4, max_question_chunks=6
    )
    sentences, copies = np.sort(rng.integers(0, 15, 90)), rng.integers(0, 30, 90)
    question = rng.random((14, 90)) * (rng.random((14, 90)) < 0.4)
    hard = program(question, rng.random((5, 90)), sentences, copies, constants=c)
    stopped = solve(hard, c, node_limit=1)
    assert not stopped.complete
    assert stopped.graph is not None
