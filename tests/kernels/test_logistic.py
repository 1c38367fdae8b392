"""The learner core against plain Python, against scikit-learn's optimum, and at its limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse import random as random_sparse
from sklearn.linear_model import LogisticRegression

from classic_rc.kernels.blocked_matrix import BlockedMatrix, Features, renumber_columns
from classic_rc.kernels.logistic import LogisticFit, derivatives, fit_logistic
from classic_rc.kernels.reference import binary_objective, conditional_objective
from tests.depth import examples
from tests.kernels.builders import lists_of, ragged, unragged

NUMBERS = st.sampled_from([0.0, 0.0, 1.0, 1.0, -2.0, 0.5, 30.0])
STRENGTHS = st.sampled_from([1e-6, 0.1, 1.0, 50.0])


@st.composite
def matrices(draw, n_rows=None):
    n_rows = draw(st.integers(1, 12)) if n_rows is None else n_rows
    n_columns = draw(st.integers(1, 6))
    row = st.lists(NUMBERS, min_size=n_columns, max_size=n_columns)
    return np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows)))


@st.composite
def binary_problems(draw):
    x = draw(matrices())
    right = draw(st.lists(st.integers(0, 1), min_size=len(x), max_size=len(x)))
    return x, np.array(right), draw(st.integers(0, x.shape[1]))


@st.composite
def conditional_problems(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    x = draw(matrices(sum(sizes)))
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    right = np.zeros(len(x), dtype=int)
    right[offsets[:-1] + [draw(st.integers(0, size - 1)) for size in sizes]] = 1
    return x, right, offsets, draw(st.integers(0, x.shape[1]))


def questions_of(x, right, offsets):
    """Of each question the rows, and the index of the right one."""
    questions = []
    for start, stop in itertools.pairwise(offsets.tolist()):
        questions.append((x[start:stop].tolist(), int(right[start:stop].argmax())))
    return questions


def blocks(x: np.ndarray, n_dense: int) -> Features:
    return Features(x[:, :n_dense], csr_matrix(x[:, n_dense:]))


def check(fit: LogisticFit, objective: float, gradient: list[float], C: float) -> None:
    """The fit's numbers are those of its weights, and its bound holds."""
    assert fit.converged
    assert fit.objective == pytest.approx(objective, rel=1e-9)
    bound = np.sqrt(2e-12 * fit.objective / C) * 1.01
    assert fit.gradient_norm <= bound
    assert np.linalg.norm(gradient) <= bound + 1e-9 * (1 + objective)


@given(problem=binary_problems(), C=STRENGTHS)
def test_binary_fits_have_the_reference_objective_and_no_gradient(problem, C):
    x, right, n_dense = problem
    fit = fit_logistic(blocks(x, n_dense), right, C, tolerance=1e-12)
    expected = binary_objective(fit.weights.tolist(), x.tolist(), right.tolist(), C)
    check(fit, *expected, C)


@given(problem=conditional_problems(), C=STRENGTHS)
def test_conditional_fits_have_the_reference_objective_and_no_gradient(problem, C):
    x, right, offsets, n_dense = problem
    fit = fit_logistic(blocks(x, n_dense), right, C, offsets=offsets, tolerance=1e-12)
    expected = conditional_objective(fit.weights.tolist(), questions_of(x, right, offsets), C)
    check(fit, *expected, C)


@given(problem=binary_problems(), weights=lists_of(st.floats(-1, 1), 6))
def test_the_reference_gradient_is_that_of_its_objective(problem, weights):
    x, right, _ = problem
    rows = np.minimum(x, 3.0).tolist()
    for objective in (
        lambda w: binary_objective(w.tolist(), rows, right.tolist(), 0.7),
        lambda w: conditional_objective(w.tolist(), [(rows, 0)], 0.7),
    ):
        start = np.array(weights[: x.shape[1]])
        error = check_grad(
            lambda w, f=objective: f(w)[0], lambda w, f=objective: np.array(f(w)[1]), start
        )
        assert error < 1e-4


def sparse_problem(
    n: int = 3000, n_columns: int = 900, seed: int = 0
) -> tuple[csr_matrix, np.ndarray]:
    """Columns from rare to frequent, among them many of one row."""
    rng = np.random.default_rng(seed)
    share = 0.3 / np.arange(1, n_columns + 1)
    x = csr_matrix((rng.random((n, n_columns)) < share).astype(float))
    odds = x @ rng.normal(0, 2, n_columns)
    probabilities = 1 / (1 + np.exp(-odds))
    return x, (rng.random(n) < probabilities).astype(int)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_objective_is_scikit_learns_to_1e_9(C):
    x, right = sparse_problem(1500)
    assert (np.bincount(x.indices, minlength=x.shape[1]) == 1).sum() > 30
    fit = fit_logistic(x, right, C, tolerance=1e-12)
    learner = LogisticRegression(
        C=C, solver="newton-cg", fit_intercept=False, tol=1e-12, max_iter=5000
    )
    weights = learner.fit(x, right).coef_[0]

    def objective(w: np.ndarray) -> float:
        signed = (1 - 2 * right) * (x @ w)
        return np.logaddexp(0, signed).sum() + w @ w / (2 * C)

    assert fit.converged
    assert objective(fit.weights) == pytest.approx(fit.objective, rel=1e-12)
    assert fit.objective == pytest.approx(objective(weights), rel=1e-9)
    assert fit.objective <= objective(weights) * (1 + 1e-12)
    assert np.allclose(fit.weights, weights, atol=1e-4 * (1 + np.abs(weights).max()))


def test_questions_are_scored_as_by_a_general_optimiser():
    rng = np.random.default_rng(1)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 6, 300))))
    x = rng.normal(size=(offsets[-1], 8)) * (1, 10, 100, 0.1, 1, 1, 1, 1)
    x[:, 4] = np.repeat(rng.normal(size=300), np.diff(offsets))  # equal in all rows of a question
    right = np.zeros(len(x), dtype=int)
    right[offsets[:-1] + rng.integers(0, np.diff(offsets))] = 1

    def objective(w: np.ndarray) -> float:
        margins = x @ w
        totals = np.logaddexp.reduceat(margins, offsets[:-1])
        return totals.sum() - margins[right > 0].sum() + w @ w / 4

    fit = fit_logistic(x, right, 2.0, offsets=offsets, tolerance=1e-13)
    minimum = minimize(
        objective, np.zeros(8), method="L-BFGS-B", options={"maxiter": 10_000, "ftol": 1e-15}
    )
    assert fit.objective <= minimum.fun * (1 + 1e-12)
    assert fit.objective == pytest.approx(minimum.fun, rel=1e-7)
    assert fit.weights[4] == pytest.approx(0, abs=1e-6)
    sparse = fit_logistic(blocks(x, 3), right, 2.0, offsets=offsets, tolerance=1e-13)
    assert np.allclose(sparse.weights, fit.weights, atol=1e-7)


@pytest.fixture(scope="module")
def optimum():
    """A problem and its optimum."""
    x, right = sparse_problem(1000, 300, seed=3)
    return x, right, fit_logistic(x, right, 5.0, tolerance=1e-14)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6, 1e-8])
def test_a_converged_fit_is_as_near_to_the_optimum_as_it_says(tolerance, optimum):
    x, right, best = optimum
    fit = fit_logistic(x, right, 5.0, tolerance=tolerance)
    assert fit.converged
    distance = fit.objective - best.objective
    bound = 5.0 * fit.gradient_norm**2 / 2
    assert -1e-12 * best.objective <= distance <= bound <= tolerance * fit.objective
    weight_bound = 5.0 * fit.gradient_norm * 1.1 + 1e-6
    assert np.linalg.norm(fit.weights - best.weights) <= weight_bound


def test_a_fit_starts_where_it_is_told():
    x, right = sparse_problem()
    first = fit_logistic(x, right, 1.0, tolerance=1e-10)
    restarted = fit_logistic(x, right, 1.0, tolerance=1e-8, start=first.weights)
    assert restarted.n_steps == 0
    assert np.allclose(restarted.weights, first.weights, atol=1e-7)


def test_copies_are_equal_columns():
    x, right = sparse_problem(800, 60)
    which = np.repeat(np.arange(60), 1 + np.arange(60) % 4)
    with_copies = fit_logistic(x[:, which], right, 1.0, tolerance=1e-13)
    copies = np.bincount(which)
    merged = fit_logistic(x, right, 1.0, copies=copies, tolerance=1e-13)
    assert merged.objective == pytest.approx(with_copies.objective, rel=1e-11)
    assert np.allclose(merged.weights[which], with_copies.weights, atol=1e-6)


def test_importance_multiplies_the_losses():
    x, right = sparse_problem(500, 80)
    times = np.random.default_rng(0).integers(1, 5, 500)
    repeated = np.repeat(np.arange(500), times)
    repeated_fit = fit_logistic(x[repeated], right[repeated], 1.0, tolerance=1e-13)
    weighted = fit_logistic(x, right, 1.0, importance=times, tolerance=1e-13)
    assert weighted.objective == pytest.approx(repeated_fit.objective, rel=1e-11)
    assert np.allclose(weighted.weights, repeated_fit.weights, atol=1e-6)


@pytest.mark.parametrize("C", [1e-12, 1e12])
@pytest.mark.parametrize("n_dense", [0, 1, 3])
def test_a_fit_of_separable_rows_converges_with_any_strength(C, n_dense):
    x = np.array([[1.0, 2, 0], [1, 3, 0], [1, -1, 1], [1, -2, 0]])
    fit = fit_logistic(blocks(x, n_dense), np.array([1, 1, 0, 0]), C)
    assert fit.converged
    assert np.isfinite(fit.weights).all()
    if C > 1:
        assert (x @ fit.weights > 0).tolist() == [True, True, False, False]
    else:  # the reference cannot take the logarithm of a probability that is rounded to 0
        objective, _ = binary_objective(fit.weights.tolist(), x.tolist(), [1, 1, 0, 0], C)
        assert fit.objective == pytest.approx(objective)


def test_a_constant_column_is_a_bias_and_an_empty_one_has_no_weight():
    x = np.array([[1.0, 0, 5], [1, 0, 5], [1, 0, 5]])
    for features in (x, csr_matrix(x), blocks(x, 1)):
        fit = fit_logistic(features, np.array([1, 1, 0]), 1e6, tolerance=1e-12)
        assert fit.converged
        assert fit.weights[1] == 0
        assert x[0] @ fit.weights == pytest.approx(np.log(2), abs=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, csc_matrix])
def test_a_matrix_of_any_kind_has_the_same_fit(dtype, kind):
    x = np.random.default_rng(0).integers(0, 3, (50, 4))
    right = (x[:, 0] > 1).astype(int)
    fit = fit_logistic(kind(x.astype(dtype)), right, 1.0, tolerance=1e-12)
    expected = fit_logistic(x.astype(float), right, 1.0, tolerance=1e-12)
    assert np.allclose(fit.weights, expected.weights, atol=1e-6)


def test_without_rows_all_weights_are_0():
    assert fit_logistic(np.empty((0, 2)), np.empty(0), 1.0).weights.tolist() == [0, 0]


def test_the_weight_of_one_row_is_where_its_gradient_is_0():
    (weight,) = fit_logistic(csr_matrix([[1.0]]), np.array([1]), 1.0, tolerance=1e-14).weights
    assert weight == pytest.approx(1 / (1 + np.exp(weight)), abs=1e-12)


@settings(max_examples=examples(8, 40))
@given(
    seed=st.integers(0, 999),
    ones=st.booleans(),
    n_dense=st.integers(0, 3),
    n_rows=st.sampled_from([12, 30, 90_000]),  # more entries than a block has
)
def test_blocked_products_are_those_of_the_whole_matrix(seed, ones, n_dense, n_rows):
    rng = np.random.default_rng(seed)
    x = random_sparse(n_rows, 12, 0.2, random_state=rng).toarray()
    if ones:
        x[:, n_dense:] = x[:, n_dense:] > 0
    scale, w, v = rng.random(12), rng.normal(size=12), rng.normal(size=n_rows) / n_rows
    matrix = BlockedMatrix(blocks(x, n_dense), scale)
    scaled = x * scale
    assert np.allclose(matrix.times(w), scaled @ w, rtol=1e-13, atol=1e-13)
    assert np.allclose(matrix.transposed_times(v), v @ scaled, rtol=1e-13, atol=1e-13)
    assert np.allclose(matrix.times(w.astype(matrix.fast_type)), scaled @ w, atol=1e-5)
    assert np.allclose(matrix.transposed_times(v.astype(matrix.fast_type)), v @ scaled, atol=1e-5)
    assert np.allclose(matrix.squares(v), v @ scaled**2, rtol=1e-13, atol=1e-13)
    rows, columns = np.array([2, 3, 11]), np.array([0, 2, 5, 11])
    assert np.allclose(matrix.take_dense(rows, columns), scaled[np.ix_(rows, columns)])


@given(
    rows=st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=6),
    seed=st.integers(0, 99),
)
def test_columns_are_renumbered_or_dropped(rows, seed):
    place = np.random.default_rng(seed).permutation(6).astype(np.int32) - 2
    indices, offsets = ragged(rows)
    renumbered, ends = renumber_columns(indices, offsets, place)
    places = [place[row].tolist() if row else [] for row in rows]
    expected = [[number for number in numbers if number >= 0] for numbers in places]
    assert unragged(renumbered, ends) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"C": 0},
        {"C": 1, "right": np.array([1, 2, 0])},
        {"C": 1, "offsets": np.array([0, 2, 3])},
        {"C": 1, "offsets": np.array([0, 1, 1, 3])},
        {
            "C": 1,
            "offsets": np.array([0, 3]),
            "right": np.array([0, 1, 0]),
            "importance": np.ones(3),
        },
    ],
)
def test_what_has_no_likelihood_is_refused(options):
    x, right = np.array([[1.0], [2.0], [3.0]]), np.array([1, 1, 0])
    with pytest.raises(ValueError, match="must"):
        fit_logistic(x, **{"right": right, **options})


@pytest.mark.parametrize("offsets", [None, np.array([0, 3, 5, 9])])
def test_derivatives_are_those_of_the_reference(offsets):
    right = np.array([0, 1, 0, 1, 0, 0, 1, 0, 0])
    margins = np.random.default_rng(0).normal(size=len(right))

    def loss_of(margins):
        rows = margins[:, None]
        if offsets is None:
            return binary_objective([1.0], rows.tolist(), right.tolist(), np.inf)[0]
        return conditional_objective([1.0], questions_of(rows, right, offsets), np.inf)[0]

    gradient, curvature = derivatives(margins, right, offsets)
    middle = loss_of(margins)
    for i, step in enumerate(1e-4 * np.eye(len(right))):
        low, high = loss_of(margins - step), loss_of(margins + step)
        assert gradient[i] == pytest.approx((high - low) / 2e-4, abs=1e-6)
        expected = (high - 2 * middle + low) / 1e-8
        assert curvature[i] == pytest.approx(expected, abs=1e-5)
