"""L2-regularised logistic regression and conditional logit, by preconditioned Newton steps to a proven distance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, issparse
from scipy.special import expit

_BLOCK_ROWS = 2**14
"""The rows of the dense block that are float64 at a time; a fixed number, because sums depend on it."""
_MAX_STEPS = 200
_MAX_PRODUCTS = 1000
"""The most Hessian products of one Newton step."""
_SUFFICIENT = 1e-4
"""The share of the expected decrease that a step must reach (Armijo's rule)."""
_NOISE = 1e-14
"""The relative rounding error of an objective: a step may seem to increase it by as much."""


class Features(NamedTuple):
    """A matrix whose frequent columns are dense and come first, and whose rare columns are sparse."""

    dense: NDArray[np.floating[Any]] | None = None  # shape (n_rows, n_dense), float32 or float64
    sparse: csr_matrix | None = None  # shape (n_rows, n_sparse)


class LogisticFit(NamedTuple):
    """The weights that :func:`fit_logistic` found, and how good they are."""

    weights: NDArray[np.float64]  # shape (n_columns,)
    objective: float
    gradient_norm: float  # of the objective; the optimum is at most C * gradient_norm**2 / 2 below `objective`
    n_steps: int  # Newton steps
    converged: bool


def fit_logistic(
    features: Features | NDArray[np.floating[Any]] | csr_matrix,
    right: NDArray[Any],
    C: float,
    *,
    offsets: NDArray[np.integer[Any]] | None = None,
    start: NDArray[np.float64] | None = None,
    tolerance: float = 1e-8,
) -> LogisticFit:
    r"""Minimise the log losses of some rows, plus an L2 penalty on all weights.

    .. math:: f(w) = \sum_i \ell_i(w) + \frac{1}{2C} \|w\|^2

    Without `offsets`, each row i has the loss of binary logistic regression, with :math:`y_i` 1 or -1; with a
    column of ones, C f is the objective of LIBLINEAR's ``-s 0 -B 1``:

    .. math:: \ell_i(w) = \log(1 + e^{-y_i w \cdot x_i})

    With `offsets`, each question i has the loss of conditional logit (McFadden 1974), in which the right row r
    competes with the question's rows j:

    .. math:: \ell_i(w) = \log \sum_j e^{w \cdot x_j} - w \cdot x_r

    There is no bias: add a column of ones if one is wanted.

    The fit stops at a gradient g with :math:`C \|g\|^2 / 2 \le \text{tolerance} \cdot f(w)`. The left side is the
    duality gap, so the objective is at most that far above the optimum, and the weights are at most
    :math:`C \|g\|` from those of the optimum.

    Linear algebra runs in as many threads as NumPy's library uses, and the last digits depend on their number.
    Callers who need the same digits everywhere limit it to one.

    Parameters
    ----------
    features : Features, ndarray or sparse matrix, shape (n_rows, n_columns)
        At least one column. A dense block is never copied as a whole.
    right : ndarray, shape (n_rows,)
        1 for right rows, 0 for the others.
    C : float
        The inverse strength of the penalty.
    offsets : ndarray of int, shape (n_questions + 1,), optional
        The rows of question q are ``offsets[q]:offsets[q + 1]``. Each question has exactly one right row: with
        several, the loss of their total probability would not be convex.
    start : ndarray of float64, shape (n_columns,), optional
        The weights to start from. Default: 0.
    tolerance : float
        The relative distance from the optimal objective.

    Returns
    -------
    LogisticFit
        `converged` is False if rounding errors or the limit of 200 steps ended the fit before the bound held.

    Raises
    ------
    ValueError
        An argument has the wrong shape or values that are not allowed.

    Examples
    --------
    >>> fit = fit_logistic(np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([1, 0]), C=1.0)
    >>> fit.weights.round(4), round(fit.objective, 4), fit.converged
    (array([-0.0988,  0.7203]), 0.8617, True)
    >>> fit = fit_logistic(np.array([[2.0], [-1.0]]), np.array([1, 0]), C=1.0, offsets=np.array([0, 2]))
    >>> fit.weights.round(4)
    array([0.5204])
    """
    matrix = _Matrix(_as_features(features))
    right = _check_right(right, matrix.n_rows)
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive number, got {C!r}")
    losses: _BinaryLosses | _ConditionalLosses
    losses = _BinaryLosses(right) if offsets is None else _ConditionalLosses(right, np.asarray(offsets))
    weights = np.zeros(matrix.n_columns) if start is None else np.array(start, dtype=np.float64)
    if weights.shape != (matrix.n_columns,) or not np.isfinite(weights).all():
        raise ValueError(f"start must have {matrix.n_columns} finite weights, got shape {weights.shape}")
    return _minimise(matrix, losses, float(C), weights, tolerance)


def _minimise(
    matrix: _Matrix, losses: _BinaryLosses | _ConditionalLosses, C: float, w: NDArray[np.float64], tolerance: float
) -> LogisticFit:
    """Take truncated Newton steps with a line search until the duality gap is small enough."""
    margins = matrix.times(w)
    objective = losses.update(margins) + w @ w / (2 * C)
    n_steps = 0
    while True:
        gradient = matrix.transposed_times(losses.gradient) + w / C
        norm = float(np.sqrt(gradient @ gradient))
        converged = C * norm**2 / 2 <= tolerance * objective
        if converged or n_steps == _MAX_STEPS:
            break
        direction, change = _newton_direction(matrix, losses, C, gradient, objective)
        slope, size = float(gradient @ direction), 1.0
        while True:
            trial = w + size * direction
            reached = losses.update(margins + size * change) + trial @ trial / (2 * C)
            if reached <= objective + _SUFFICIENT * size * slope + _NOISE * objective or size < 1e-10:
                break
            size /= 2
        if not reached < objective + _NOISE * objective or np.array_equal(trial, w):
            break
        w, margins, objective, n_steps = trial, margins + size * change, reached, n_steps + 1
    return LogisticFit(w, float(objective), norm, n_steps, bool(converged))


def _newton_direction(
    matrix: _Matrix,
    losses: _BinaryLosses | _ConditionalLosses,
    C: float,
    gradient: NDArray[np.float64],
    objective: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Solve the Newton system by preconditioned conjugate gradients, the more exactly the closer the optimum is.

    Returns the direction, and its product with the matrix.
    """
    precondition = _Preconditioner(matrix, losses, C)
    direction, change = np.zeros(matrix.n_columns), np.zeros(matrix.n_rows)
    residual = -gradient
    z = precondition(residual)
    p, rz = z, float(residual @ z)
    # Half of `rz` estimates the decrease that is left.
    stop = min(0.1, np.sqrt(rz / objective)) * rz
    for _ in range(_MAX_PRODUCTS):
        xp = matrix.times(p)
        hp = matrix.transposed_times(losses.curve(xp)) + p / C
        size = rz / float(p @ hp)
        direction += size * p
        change += size * xp
        residual -= size * hp
        z = precondition(residual)
        rz, before = float(residual @ z), rz
        if rz <= stop:
            break
        p = z + (rz / before) * p
    return direction, change


class _Preconditioner:
    """The inverse of the Hessian's block of the dense columns, and of its diagonal for the sparse ones."""

    def __init__(self, matrix: _Matrix, losses: _BinaryLosses | _ConditionalLosses, C: float) -> None:
        self._n_dense = matrix.n_dense
        self._diagonal = matrix.sparse_squares(losses.curvature) + 1 / C
        if self._n_dense:
            hessian = matrix.dense_hessian(losses)
            hessian[np.diag_indices(self._n_dense)] += 1 / C
            # Scaled to a diagonal of ones, because columns of very different sizes are no reason for an error.
            self._scale = 1 / np.sqrt(np.diag(hessian))
            hessian *= self._scale[:, None] * self._scale
            hessian[np.diag_indices(self._n_dense)] += 1e-12
            self._factor = cho_factor(hessian, lower=True)

    def __call__(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        d = self._n_dense
        result = np.empty_like(vector)
        if d:
            result[:d] = self._scale * cho_solve(self._factor, self._scale * vector[:d])
        result[d:] = vector[d:] / self._diagonal
        return result


class _Matrix:
    """Products with a dense and a sparse block, in float64 and with bounded copies."""

    def __init__(self, features: Features) -> None:
        self._dense, sparse = features
        self.n_rows = len(self._dense) if self._dense is not None else sparse.shape[0]
        self.n_dense = 0 if self._dense is None else self._dense.shape[1]
        self._rows = csr_matrix((self.n_rows, 0)) if sparse is None else csr_matrix(sparse, dtype=np.float64)
        self._columns = self._rows.T.tocsr()
        self.n_columns = self.n_dense + self._rows.shape[1]

    def _dense_blocks(self) -> Any:
        if self.n_dense:
            assert self._dense is not None
            for begin in range(0, self.n_rows, _BLOCK_ROWS):
                where = slice(begin, begin + _BLOCK_ROWS)
                yield where, self._dense[where].astype(np.float64, copy=False)

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = self._rows @ w[self.n_dense :]
        for where, block in self._dense_blocks():
            result[where] += block @ w[: self.n_dense]
        return result

    def transposed_times(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        dense = np.zeros(self.n_dense)
        for where, block in self._dense_blocks():
            dense += v[where] @ block
        return np.concatenate((dense, self._columns @ v))

    def sparse_squares(self, curvature: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of curvature * x**2 over the rows, for each sparse column."""
        result: NDArray[np.float64] = self._columns.multiply(self._columns) @ curvature
        return result

    def dense_hessian(self, losses: _BinaryLosses | _ConditionalLosses) -> NDArray[np.float64]:
        """Return the losses' Hessian with respect to the dense columns' weights."""
        hessian = np.zeros((self.n_dense, self.n_dense))
        for where, block in self._dense_blocks():
            hessian += block.T @ (block * losses.weight[where, None])
        if isinstance(losses, _ConditionalLosses):
            means = np.zeros((len(losses.starts), self.n_dense))
            for where, block in self._dense_blocks():
                rows = np.arange(self.n_rows)[where]
                pairs = csr_matrix((losses.weight[where], (losses.question[rows], rows - rows[0])))
                means[: pairs.shape[0]] += pairs @ block
            hessian -= means.T @ means
        return hessian


class _BinaryLosses:
    """The log losses of rows: their gradient and their curvature by the rows' margins."""

    def __init__(self, right: NDArray[np.float64]) -> None:
        self._right, self._sign = right, 1 - 2 * right

    def update(self, margins: NDArray[np.float64]) -> float:
        """Move to these margins; return the sum of the losses."""
        self.gradient = expit(margins) - self._right
        self.weight = self.curvature = expit(margins) * expit(-margins)
        return float(np.logaddexp(0, self._sign * margins).sum())

    def curve(self, change: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the losses' Hessian times a change of the margins."""
        return self.curvature * change


class _ConditionalLosses:
    """The log losses of questions: their gradient and their curvature by the rows' margins."""

    def __init__(self, right: NDArray[np.float64], offsets: NDArray[np.integer[Any]]) -> None:
        sizes = np.diff(offsets)
        if (
            offsets.ndim != 1
            or len(offsets) < 1
            or offsets[0] != 0
            or offsets[-1] != len(right)
            or (sizes < 0).any()
        ):
            raise ValueError(f"offsets must rise from 0 to {len(right)}, the number of rows")
        self.question = np.repeat(np.arange(len(sizes)), sizes)
        n_right = np.bincount(self.question, right, len(sizes))
        if (n_right != 1).any():
            first = int(np.flatnonzero(n_right != 1)[0])
            raise ValueError(
                f"each question must have exactly one right row; question {first} has {n_right[first]:.0f}"
            )
        self.starts, self._right = np.asarray(offsets[:-1]), right

    def update(self, margins: NDArray[np.float64]) -> float:
        """Move to these margins; return the sum of the losses."""
        if not len(self.starts):
            self.gradient = self.weight = self.curvature = np.empty(0)
            return 0.0
        shifted = margins - np.maximum.reduceat(margins, self.starts)[self.question]
        powers = np.exp(shifted)
        totals = np.add.reduceat(powers, self.starts)
        self.weight = powers / totals[self.question]
        self.gradient = self.weight - self._right
        self.curvature = self.weight * (1 - self.weight)
        return float(np.log(totals).sum() - shifted @ self._right)

    def curve(self, change: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the losses' Hessian times a change of the margins."""
        weighted = self.weight * change
        means = np.add.reduceat(weighted, self.starts) if len(self.starts) else weighted
        return weighted - self.weight * means[self.question]


def _as_features(features: Any) -> Features:
    """Return the two blocks of a matrix of any kind."""
    if not isinstance(features, Features):
        features = Features(sparse=features) if issparse(features) else Features(dense=np.asarray(features))
    blocks = [block for block in features if block is not None]
    if not blocks or any(block.ndim != 2 for block in blocks) or len({block.shape[0] for block in blocks}) != 1:
        raise ValueError("features must be a matrix, or a dense and a sparse one with equally many rows")
    if not sum(block.shape[1] for block in blocks):
        raise ValueError("features must have at least one column")
    if not all(np.isfinite(block.data if issparse(block) else block).all() for block in blocks):
        raise ValueError("features must be finite")
    if features.dense is not None and features.dense.dtype not in (np.float32, np.float64):
        features = features._replace(dense=features.dense.astype(np.float64))
    return features


def _check_right(right: NDArray[Any], n_rows: int) -> NDArray[np.float64]:
    right = np.asarray(right)
    if right.shape != (n_rows,) or not np.isin(right, (0, 1)).all():
        raise ValueError(f"right must have a 0 or 1 for each of {n_rows} rows, got shape {right.shape}")
    return right.astype(np.float64)
