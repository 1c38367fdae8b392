"""L2-regularised logistic regression and conditional logit, by preconditioned Newton steps to a
proven distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.blocked_matrix import BlockedMatrix, Features, count_entries, find_entries

_MAX_STEPS = 200
_MAX_PRODUCTS = 1000
"""The most Hessian products of one Newton step."""
_MAX_HALVINGS = 50
_MAX_ROOT_STEPS = 100
_MAX_EXPONENT = 700.0
"""The exponential of this is finite, and of no consequence when added to a 1."""
_FIRST_ERROR = 0.2
"""The relative error of the first Newton steps."""
_MODEL_SHARE = 0.8
"""The share of the decrease of the quadratic model that a step has to reach, or some rows are
minimised again.
"""
_LARGE_CHANGE = 1.0
"""The least change of the margin of such a row."""
_MAX_LOCAL_ROWS = 512
"""How many such rows there are at most."""
_MAX_LOCAL_ENTRIES = 64
"""The most entries of the columns that are minimised for such rows."""
_LOCAL_TOLERANCE = 1e-4
_SUFFICIENT = 1e-4
"""The share of the decrease to first order that a step must reach (Armijo's rule)."""
_NOISE = 1e-14
"""The relative rounding error of an objective: a step may seem to increase it by as much."""
_HEAD = 256
"""The most columns that the preconditioner inverts together: those with the most entries."""
_HEAD_ROWS = 2**13
"""The rows, about, that the preconditioner estimates their correlations from."""
_REESTIMATE = 0.9
"""The share of the objective at the last estimate of the correlations below which they are
estimated again.
"""
_RIDGE = 1e-10
"""What rounding may subtract from the eigenvalues of the correlations, at most."""
_BLOCK_ROWS = 2**12
"""The sampled rows that are dense at a time."""


class LogisticFit(NamedTuple):
    """The weights that :func:`fit_logistic` found, and how good they are."""

    weights: NDArray[np.float64]  # shape (n_columns,)
    objective: float
    gradient_norm: float  # the optimum is at most C * gradient_norm**2 / 2 below the objective
    n_steps: int  # Newton steps
    converged: bool


def fit_logistic(
    features: Features | NDArray[np.floating[Any]] | csr_matrix,
    right: NDArray[Any],
    C: float,
    *,
    offsets: NDArray[np.integer[Any]] | None = None,
    start: NDArray[np.float64] | None = None,
    copies: NDArray[np.floating[Any]] | None = None,
    importance: NDArray[np.floating[Any]] | None = None,
    tolerance: float = 1e-10,
) -> LogisticFit:
    r"""Minimise the log losses of some rows, plus an L2 penalty on all weights.

    .. math:: f(w) = \sum_i \ell_i(w) + \frac{1}{2C} \|w\|^2

    Without `offsets`, each row i has the loss of binary logistic regression, with :math:`y_i` 1 or
    -1; with a column of ones, C f is the objective of LIBLINEAR's ``-s 0 -B 1``:

    .. math:: \ell_i(w) = \log(1 + e^{-y_i w \cdot x_i})

    With `offsets`, each question i has the loss of conditional logit (McFadden 1974), in which the
    right row r competes with the question's rows j:

    .. math:: \ell_i(w) = \log \sum_j e^{w \cdot x_j} - w \cdot x_r

    There is no bias: add a column of ones if one is wanted.

    The fit stops at a gradient g with :math:`C \|g\|^2 / 2 \le \text{tolerance} \cdot f(w)`. The
    left side is the duality gap, so the objective is at most that far above the optimum, and the
    weights are at most :math:`C \|g\|` from those of the optimum.

    Linear algebra runs in as many threads as NumPy's library uses, and the last digits depend on
    their number. Callers who need the same digits everywhere limit it to one.

    Parameters
    ----------
    features : Features, ndarray or sparse matrix, shape (n_rows, n_columns)
        At least one column. A dense block is never copied as a whole.
    right : ndarray, shape (n_rows,)
        1 for right rows, 0 for the others.
    C : float
        The inverse strength of the penalty.
    offsets : ndarray of int, shape (n_questions + 1,), optional
        The rows of question q are ``offsets[q]:offsets[q + 1]``. Each question has exactly one
        right row: with several, the loss of their total probability would not be convex.
    start : ndarray of float64, shape (n_columns,), optional
        The weights to start from. Default: 0.
    copies : ndarray, shape (n_columns,), optional
        How many equal columns each column replaces, all with the same weight (see
        :mod:`~classic_rc.kernels.blocked_matrix`): ``features @ (copies * weights)`` are the
        margins. Default: 1.
    importance : ndarray, shape (n_rows,), optional
        A positive factor of each row's loss, not together with `offsets`. Default: 1.
    tolerance : float
        The relative distance from the optimal objective.

    Returns
    -------
    LogisticFit
        `converged` is False if rounding errors or the limit of 200 steps ended the fit before the
        bound held.

    Raises
    ------
    ValueError
        `C` is not positive, `right` is not 0 or 1 for each row, a question has not exactly one
        right row, or both `importance` and `offsets` are given.

    Examples
    --------
    >>> fit = fit_logistic(
    ...     np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([1, 0]), C=1.0, tolerance=1e-12
    ... )
    >>> fit.weights.round(4), round(fit.objective, 4), fit.converged
    (array([-0.0988,  0.7203]), 0.8617, True)
    >>> fit = fit_logistic(
    ...     np.array([[2.0], [-1.0]]), np.array([1, 0]), C=1.0, offsets=np.array([0, 2])
    ... )
    >>> fit.weights.round(4)
    array([0.5204])
    """
    features = Features.of(features)
    n_rows, n_columns = features.shape
    labels = np.asarray(right, dtype=np.float64)
    if not C > 0 or labels.shape != (n_rows,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(
            f"C must be positive ({C!r}), and right 0 or 1 for each of {n_rows} rows "
            f"({labels.shape})"
        )
    if offsets is not None:
        n_before = np.concatenate(([0], np.cumsum(labels)))
        if importance is not None or (np.diff(n_before[offsets]) != 1).any():
            raise ValueError(
                "each question must have exactly one right row; only rows without offsets have "
                "importance"
            )
        del n_before
    weights = np.zeros(n_columns) if start is None else start.copy()
    # With the weights multiplied by this, the penalty is half of their squared norm, divided by C.
    scale = np.ones(n_columns) if copies is None else np.sqrt(copies)
    root_copies = scale.copy()
    losses: _Losses
    alone = _find_single_entries(features) if offsets is None else None
    if alone is not None:
        shifts = np.zeros(n_rows)
        scaled = alone.values * scale[alone.columns]
        np.add.at(shifts, alone.rows, C * scaled**2)
        if importance is None:
            importance = np.ones(n_rows)
        losses = _BinaryLosses(labels, shifts, np.asarray(importance, dtype=np.float64))
        # These columns follow from the others: without them, the matrix has zeros there.
        scale[alone.columns] = weights[alone.columns] = 0
    else:
        losses = _ConditionalLosses(labels, np.asarray(offsets, dtype=np.int64))
    problem = _Problem(BlockedMatrix(features, scale), losses, float(C), np.zeros(n_rows))
    fit, state = _minimise(problem, weights * scale, tolerance, solve_locally=True)
    weights = fit.weights / root_copies
    if alone is not None:
        weights[alone.columns] = -C * alone.values * state.gradient[alone.rows]
    return fit._replace(weights=weights)


def derivatives(
    margins: NDArray[np.float64],
    right: NDArray[Any],
    offsets: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the first and second derivatives of the losses of :func:`fit_logistic` by the margin
    of each row.

    Examples
    --------
    >>> derivatives(np.zeros(2), np.array([1, 0]), np.array([0, 2]))
    (array([-0.5,  0.5]), array([0.25, 0.25]))
    """
    losses: _Losses
    if offsets is None:
        losses = _BinaryLosses(right, np.zeros(len(margins)), np.ones(len(margins)))
    else:
        losses = _ConditionalLosses(right, offsets)
    state = losses.at(margins)
    return state.gradient, state.curvature


class _Entries(NamedTuple):
    """Entries of a matrix."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]


def _find_single_entries(features: Features) -> _Entries:
    """Return the entries of the sparse columns that have only one."""
    dense, sparse = features
    if sparse is None:
        no_rows = np.empty(0, dtype=np.int64)
        return _Entries(no_rows, no_rows, np.empty(0))
    is_single = count_entries(sparse.indices, sparse.shape[1]) == 1
    where = find_entries(sparse, is_single)
    rows = np.searchsorted(sparse.indptr, where, side="right") - 1
    columns = sparse.indices[where].astype(np.int64)
    if dense is not None:
        columns += dense.shape[1]
    return _Entries(rows, columns, sparse.data[where].astype(np.float64))


class _Problem(NamedTuple):
    """Minimise the losses at the margins ``base + matrix @ w``, plus ||w||^2 / 2C."""

    matrix: BlockedMatrix
    losses: _Losses
    C: float
    base: NDArray[np.float64]  # shape (n_rows,)

    def at(self, w: NDArray[np.float64], margins: NDArray[np.float64]) -> _Point:
        """Return the point of some weights with known margins."""
        state = self.losses.at(margins)
        penalty = float(w @ w) / (2 * self.C)
        return _Point(w, margins, state, state.value + penalty)


class _Point(NamedTuple):
    """Weights, and what follows from them."""

    w: NDArray[np.float64]
    margins: NDArray[np.float64]
    state: LossState
    objective: float


def _minimise(
    problem: _Problem, w: NDArray[np.float64], tolerance: float, solve_locally: bool
) -> tuple[LogisticFit, LossState]:
    """Take Newton steps until the duality gap is small enough."""
    matrix, C = problem.matrix, problem.C
    point = problem.at(w, problem.base + matrix.times(w))
    preconditioner = _Preconditioner(problem)
    n_steps, expected, before = 0, np.inf, np.inf
    while True:
        gradient = matrix.transposed_times(point.state.gradient) + point.w / C
        norm = float(np.sqrt(gradient @ gradient))
        converged = C * norm**2 / 2 <= tolerance * point.objective
        # The objective no longer shows what a step gains; the gradient may, while it halves.
        in_noise = expected <= _NOISE * point.objective and norm > before / 2
        fit = LogisticFit(point.w, point.objective, norm, n_steps, converged)
        if converged or in_noise or n_steps == _MAX_STEPS:
            return fit, point.state
        preconditioner.update(point)
        # To first order, the gradient after the step is known: half of the tolerance is for the
        # rest.
        enough = float(np.sqrt(tolerance * point.objective / C))
        direction = _solve_newton(problem, point, gradient, preconditioner, enough)
        expected, before = -float(gradient @ direction), norm
        reached = _search_line(problem, point, direction, expected, solve_locally)
        if reached is None:
            return fit, point.state
        point, n_steps = reached, n_steps + 1


def _search_line(
    problem: _Problem,
    point: _Point,
    direction: NDArray[np.float64],
    expected: float,
    solve_locally: bool,
) -> _Point | None:
    """Return a point in a direction that decreases the objective, to first order by `expected`,
    or None.
    """
    # A step may miss the quadratic model's decrease, half of `expected`, because of a few rows that
    # have many rare columns: their margins change so much that the curvature at the start says
    # nothing. So the rare columns of these rows are minimised by themselves.
    change = problem.matrix.times(direction)
    size = 1.0
    for _ in range(_MAX_HALVINGS):
        reached = problem.at(point.w + size * direction, point.margins + size * change)
        decrease = point.objective - reached.objective
        if solve_locally and decrease < _MODEL_SHARE * size * expected / 2:
            reached = _solve_locally(problem, reached, np.abs(size * change))
        sufficient = point.objective - _SUFFICIENT * size * expected + _NOISE * point.objective
        if reached.objective <= sufficient:
            return reached
        size /= 2
    return None


def _solve_locally(problem: _Problem, point: _Point, change: NDArray[np.float64]) -> _Point:
    """Minimise over the rare columns of the rows with the largest changes of the margin."""
    longest = np.argsort(-change, kind="stable")[:_MAX_LOCAL_ROWS]
    columns, rows = problem.matrix.neighbourhood(
        longest[change[longest] > _LARGE_CHANGE], _MAX_LOCAL_ENTRIES
    )
    if not len(columns):
        return point
    rows, losses = problem.losses.take(rows)
    block = problem.matrix.take(rows, columns)
    matrix = BlockedMatrix(Features(sparse=block), np.ones(len(columns)))
    start = point.w[columns]
    local = _Problem(matrix, losses, problem.C, point.margins[rows] - matrix.times(start))
    fit, _ = _minimise(local, start, _LOCAL_TOLERANCE, solve_locally=False)
    w, margins = point.w.copy(), point.margins.copy()
    w[columns] = fit.weights
    margins[rows] = local.base + matrix.times(fit.weights)
    return problem.at(w, margins)


def _solve_newton(
    problem: _Problem,
    point: _Point,
    gradient: NDArray[np.float64],
    preconditioner: _Preconditioner,
    enough: float,
) -> NDArray[np.float64]:
    """Return the Newton step by preconditioned conjugate gradients, up to a gradient of the norm
    `enough`.
    """
    matrix = problem.matrix
    kind = matrix.fast_type
    # With a gradient of norm 1, float32 has range enough.
    norm = float(np.sqrt(gradient @ gradient))
    residual = (gradient / -norm).astype(kind)
    direction = np.zeros_like(residual)
    z = preconditioner(residual)
    p, rz = z, float(residual @ z)
    # Half of `rz`, times the squared norm, is about the decrease that is left. The nearer the
    # optimum, the smaller the error that is left: then steps converge faster than linearly.
    squared_error = min(_FIRST_ERROR**2, float(np.sqrt(rz / point.objective)) * norm)
    stop = squared_error * rz
    enough /= norm
    for _ in range(_MAX_PRODUCTS):
        curved = point.state.curve(matrix.times(p)).astype(kind, copy=False)
        hp = matrix.transposed_times(curved)
        hp += p * kind(1 / problem.C)
        bend = float(p @ hp)
        if not bend > 0:  # rounding errors
            break
        step = kind(rz / bend)
        direction += step * p
        residual -= step * hp
        z = preconditioner(residual)
        rz, before = float(residual @ z), rz
        if rz <= stop or float(residual @ residual) <= enough**2:
            break
        p = z + kind(rz / before) * p
    return direction.astype(np.float64) * norm


class _Preconditioner:
    """An approximate inverse of the Hessian: the most frequent columns are inverted together,
    the others alone.
    """

    def __init__(self, problem: _Problem) -> None:
        self._matrix, self._C = problem.matrix, problem.C
        self._head = self._matrix.frequent_columns(_HEAD)
        self._rows, self._groups = problem.losses.sample(_HEAD_ROWS)
        self._sample = self._matrix.take_dense(self._rows, self._head)
        self._objective = np.inf

    def update(self, point: _Point) -> None:
        """Follow the losses' curvature; estimate the correlations again if the objective fell by
        a tenth.
        """
        self._diagonal = self._matrix.squares(point.state.curvature) + 1 / self._C
        self._inverse = (1 / self._diagonal).astype(self._matrix.fast_type)
        self._scale = 1 / np.sqrt(self._diagonal[self._head])
        if point.objective > _REESTIMATE * self._objective:
            return
        self._objective = point.objective
        weight = point.state.weight[self._rows]
        hessian = np.zeros((len(self._head),) * 2)
        for begin in range(0, len(self._rows), _BLOCK_ROWS):
            where = slice(begin, begin + _BLOCK_ROWS)
            block = self._sample[where] * np.sqrt(weight[where, None])
            hessian += block.T @ block
        if self._groups is not None:
            entries = (weight, np.arange(len(weight)), self._groups)
            averaging = csr_matrix(entries, shape=(len(self._groups) - 1, len(weight)))
            means = averaging @ self._sample
            for begin in range(0, means.shape[0], _BLOCK_ROWS):
                block = means[begin : begin + _BLOCK_ROWS]
                hessian -= block.T @ block
        hessian *= self._matrix.n_rows / max(len(self._rows), 1)  # scale the sample up to all rows
        hessian[np.diag_indices_from(hessian)] += 1 / self._C
        # As correlations, so that columns of very different sizes are no reason for rounding
        # errors.
        scale = 1 / np.sqrt(np.maximum(np.diag(hessian), 1 / self._C))
        hessian *= scale[:, None] * scale
        hessian[np.diag_indices_from(hessian)] = 1 + _RIDGE
        # With the inverse L of a Cholesky factor, L^T L is positive definite whatever the rounding
        # errors of L are.
        self._factor = np.linalg.inv(np.linalg.cholesky(hessian))

    def __call__(self, vector: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        result: NDArray[np.floating[Any]] = vector * self._inverse
        head = self._factor @ (self._scale * vector[self._head])
        result[self._head] = self._scale * (head @ self._factor)
        return result


class LossState(NamedTuple):
    """The losses at some margins, with their derivatives by the margins, of one or more models.

    Arrays of several models have a first axis for the models.
    """

    value: Any  # their sum
    gradient: NDArray[Any]  # shape (n_rows,)
    weight: NDArray[Any]  # shape (n_rows,)
    # The Hessian is diag(weight), minus weight weight^T for the rows of each question if there are
    # questions.
    question: NDArray[np.int64] | None = None  # shape (n_rows,)
    starts: NDArray[np.int64] | None = None  # shape (n_questions,)

    @property
    def curvature(self) -> NDArray[Any]:
        """The diagonal of the Hessian."""
        return self.weight if self.question is None else self.weight * (1 - self.weight)

    def curve(self, change: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Return the Hessian times a change of the margins."""
        product = self.weight * change
        if self.question is not None and self.starts is not None:
            shared = np.add.reduceat(product, self.starts, axis=-1).take(self.question, axis=-1)
            shared *= self.weight
            product -= shared
        return product

    def take(self, models: NDArray[np.bool_]) -> LossState:
        """Return some models."""
        if models.all():
            return self
        return self._replace(
            value=self.value[models], gradient=self.gradient[models], weight=self.weight[models]
        )


class _Losses(Protocol):
    """A convex loss of the rows' margins."""

    def at(self, margins: NDArray[np.float64]) -> LossState:
        """Return the losses at these margins."""

    def sample(self, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """Return about `n_rows` evenly spaced rows, or the rows of entire questions and their
        offsets.
        """

    def take(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], _Losses]:
        """Return some ascending rows, all rows of their questions if there are questions, and
        their losses.
        """


class _BinaryLosses:
    r"""The log losses of rows, minimised over columns that no other row has.

    The optimal weights v of a row's own columns follow from the margin m of its other columns. The
    row's loss is then :math:`\min_v r \log(1 + e^{-y (m + v \cdot x)}) + \|v\|^2 / 2C`, where r is
    the row's importance. With :math:`s = C \|x\|^2`, the minimum is where :math:`\tau = y (m + v
    \cdot x)` solves :math:`\tau = y m + r s / (1 + e^\tau)`. `shifts` has s of each row.
    """

    def __init__(
        self,
        right: NDArray[np.float64],
        shifts: NDArray[np.float64],
        importance: NDArray[np.float64],
    ) -> None:
        self._right, self._shifts, self._importance = right, shifts, importance

    def at(self, margins: NDArray[np.float64]) -> LossState:
        sign, pull = 2 * self._right - 1, self._importance * self._shifts
        signed = _shift_margins(sign * margins, pull)
        wrong = _logistic(-signed)
        value = self._importance @ (np.logaddexp(0, -signed) + pull * wrong**2 / 2)
        weight = _logistic(signed) * wrong
        gradient = -sign * self._importance * wrong
        return LossState(float(value), gradient, self._importance * weight / (1 + pull * weight))

    def sample(self, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        n_all = len(self._shifts)
        return np.arange(0, n_all, _sampling_step(n_all, n_rows)), None

    def take(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], _Losses]:
        columns = (self._right, self._shifts, self._importance)
        return rows, _BinaryLosses(*(column[rows] for column in columns))


def _sampling_step(n_all: int, n_rows: int) -> int:
    """Return the smallest step that takes at most `n_rows` of `n_all` rows."""
    return max(-(-n_all // n_rows), 1)


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-x)). NumPy's exponential is faster than SciPy's function."""
    result: NDArray[np.float64] = np.exp(np.minimum(-x, _MAX_EXPONENT))
    result += 1
    return np.divide(1, result, out=result)


def _shift_margins(
    margins: NDArray[np.float64], shifts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve t = margin + own / (1 + exp(t)) for each row's t, by Newton steps between bounds."""
    result = margins.copy()
    rows = np.flatnonzero(shifts)
    low, s = margins[rows], shifts[rows]
    m, high = low, low + s
    t = np.clip(0.0, low, high)
    for _ in range(_MAX_ROOT_STEPS):
        wrong = _logistic(-t)
        error = t - m - s * wrong
        low = np.where(error <= 0, t, low)
        high = np.where(error >= 0, t, high)
        before = t
        t = t - error / (1 + s * wrong * (1 - wrong))
        # Newton steps may leave the bounds, bisection does not.
        is_outside = (t < low) | (t > high)
        t = np.where(is_outside, (low + high) / 2, t)
        if (np.abs(t - before) <= 1e-15 * (1 + np.abs(t))).all():
            break
    result[rows] = t
    return result


class _ConditionalLosses:
    """The log losses of questions, whose rows are ``offsets[i]:offsets[i + 1]``."""

    def __init__(self, right: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
        self._right, self._offsets, self._starts = right, offsets, offsets[:-1]
        self._question = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))

    def at(self, margins: NDArray[np.float64]) -> LossState:
        if not len(margins):
            return LossState(0.0, margins, margins)
        largest = np.maximum.reduceat(margins, self._starts)
        shifted = margins - largest[self._question]  # so that no exponential overflows
        powers = np.exp(shifted)
        totals = np.add.reduceat(powers, self._starts)
        probability = powers / totals[self._question]
        value = float(np.log(totals).sum() - shifted @ self._right)
        gradient = probability - self._right
        return LossState(value, gradient, probability, self._question, self._starts)

    def sample(self, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        step = _sampling_step(len(self._right), n_rows)
        return self._rows_of(np.arange(0, len(self._starts), step))

    def take(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], _Losses]:
        rows, offsets = self._rows_of(np.unique(self._question[rows]))
        return rows, _ConditionalLosses(self._right[rows], offsets)

    def _rows_of(self, questions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        sizes = np.diff(self._offsets)[questions]
        return ragged_indices(self._starts[questions], sizes), offsets_of(sizes)
