"""The fits of :mod:`~classic_rc.kernels.logistic` that each leave one group of rows out, all in
lock-step.

The rows are read once for all groups and stay where they are: a group that a fit leaves out has no
weight in its loss. All numbers are float32, which suffices to compare losses.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from classic_rc.kernels.blocked_matrix import Features
from classic_rc.kernels.logistic import LossState

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

_MAX_STEPS = 200
_MAX_PRODUCTS = 1000
_MAX_HALVINGS = 50
_MAX_EXPONENT = 80.0
"""The exponential of this is finite in float32."""
_FIRST_ERROR = 0.2
"""The relative error of the first Newton steps."""
_SUFFICIENT = 1e-4
"""The share of the decrease to first order that a step must reach (Armijo's rule)."""
_NOISE = 1e-7
"""The relative rounding error of an objective."""
_REESTIMATE = 0.95
"""The share of the objectives at the last Hessian below which it is computed again."""
_RIDGE = 1e-6
"""What rounding may subtract from the eigenvalues of a Hessian, relative to its diagonal."""


class HeldOutFit(NamedTuple):
    """One model for each group, learned from the rows of the other groups."""

    weights: Floats  # (n_groups, n_columns)
    margins: Floats  # (n_groups, n_rows): of all rows


class TypedColumns(NamedTuple):
    """Dense columns that are repeated for each type of rows; the rows ascend by their type.

    The column of a type has the values of its dense column in the type's rows, and else 0. They
    come after the dense columns, type by type.
    """

    columns: Integers  # (n_repeated,)
    ends: Integers  # (n_types + 1,): the rows of type t are ``ends[t]:ends[t + 1]``

    @classmethod
    def none(cls, n_rows: int) -> TypedColumns:
        """Return what says that no column is repeated."""
        return cls(np.empty(0, dtype=np.int64), np.array([0, n_rows]))


class HeldOutFits:
    r"""Minimise, for each group, the log losses of the other groups' rows plus an L2 penalty.

    The losses and the penalty are those of :func:`~classic_rc.kernels.logistic.fit_logistic`. Each
    group's Newton steps are its own, by preconditioned conjugate gradients; only the products with
    the matrix are taken together.

    Parameters
    ----------
    features : Features
    right : ndarray, shape (n_rows,)
        1 for right rows, 0 for the others.
    offsets : ndarray of int, shape (n_questions + 1,), or None
        The rows of question q are ``offsets[q]:offsets[q + 1]``, with one right row each; None for
        binary logistic regression.
    groups : ndarray of int, shape (n_rows,)
        The group of each row, from 0; the rows of a question have the same.
    typed : TypedColumns
        Columns that come between the dense and the sparse ones.
    min_count : int
        A model ignores the sparse columns that fewer of its rows have.

    Examples
    --------
    >>> x = np.array([[1.0], [2.0], [-1.0], [-3.0]])
    >>> fits = HeldOutFits(
    ...     Features(x), np.array([1, 1, 0, 0]), None, np.array([0, 1, 0, 1]), TypedColumns.none(4)
    ... )
    >>> fits.fit(1.0, 1e-7).weights.round(3)
    array([[0.709],
           [0.675]], dtype=float32)
    """

    def __init__(
        self,
        features: Features,
        right: Integers,
        offsets: Integers | None,
        groups: Integers,
        typed: TypedColumns,
        min_count: int = 0,
    ) -> None:
        self._groups = groups
        taught = groups != np.arange(groups.max(initial=-1) + 1)[:, None]
        self._losses = _ModelLosses(right, offsets, taught.astype(np.float32))
        self._matrix = _Matrix(features, typed)
        self._used = np.ones((len(taught), self._matrix.n_columns), dtype=np.float32)
        if min_count:
            counts = self._matrix.count(self._losses.taught)
            self._used[:, self._matrix.n_dense :] = counts >= min_count
        self._estimated = np.inf

    def fit(self, C: float, tolerance: float, start: HeldOutFit | None = None) -> HeldOutFit:
        """Fit all models up to a relative distance from the optimal objective, from some start.

        Parameters
        ----------
        C : float
            The inverse strength of the penalty.
        tolerance : float
        start : HeldOutFit, optional
            Default: weights of 0.
        """
        matrix, losses = self._matrix, self._losses
        if start is None:
            weights = np.zeros((len(losses.taught), matrix.n_columns), dtype=np.float32)
            fit = HeldOutFit(weights, np.zeros(losses.taught.shape, dtype=np.float32))
        else:
            fit = HeldOutFit(start.weights.copy(), start.margins.copy())
        active = np.arange(len(losses.taught))
        state = losses.at(fit.margins, active)
        objective = state.value + _squares(fit.weights) / (2 * C)
        solve = None
        for _ in range(_MAX_STEPS):
            gradient = matrix.transposed_times(state.gradient) + fit.weights[active] / np.float32(C)
            gradient *= self._used[active]
            goes_on = C * _squares(gradient) / 2 > tolerance * objective[active]
            if not goes_on.any():
                break
            active, gradient, state = active[goes_on], gradient[goes_on], state.take(goes_on)
            solve = solve or self._prepare(fit, float(objective.sum()), C)
            target = tolerance * objective[active]
            direction = self._solve(active, state, gradient, solve, C, objective[active], target)
            expected = -_products(gradient, direction)
            change = matrix.times(direction)
            size = np.ones(len(active))
            for _ in range(_MAX_HALVINGS):
                step = size.astype(np.float32)[:, None]
                weights = fit.weights[active] + step * direction
                margins = fit.margins[active] + step * change
                state = losses.at(margins, active)
                reached = state.value + _squares(weights) / (2 * C)
                sufficient = objective[active] * (1 + _NOISE) - _SUFFICIENT * size * expected
                if (reached <= sufficient).all():
                    break
                size[reached > sufficient] /= 2
            # After all halvings a step is too small to matter, so it is taken.
            fit.weights[active] = weights
            fit.margins[active] = margins
            objective[active] = reached
            goes_on = expected > _NOISE * reached
            active, state = active[goes_on], state.take(goes_on)
            if not len(active):
                break
        return fit

    def held_out(self, fit: HeldOutFit) -> NDArray[np.float64]:
        """Return the margin of each row by the model that has not learned from its group."""
        rows = np.arange(len(self._groups))
        return fit.margins[self._groups, rows].astype(np.float64)

    def _prepare(
        self, fit: HeldOutFit, objective: float, C: float
    ) -> Callable[[Floats, Integers], Floats]:
        """Return an approximate inverse of the Hessians: of the dense columns together, of each
        sparse one alone.
        """
        n_dense = self._matrix.n_dense
        states = self._losses.at(fit.margins, np.arange(len(fit.margins)))
        if objective < _REESTIMATE * self._estimated:
            self._estimated = objective
            self._hessian = self._matrix.dense_hessian(states)
        solve_dense = _cholesky_solver(self._hessian, C)
        sparse = 1 / (self._matrix.sparse_diagonal(states) + np.float32(1 / C))

        def solve(vectors: Floats, active: Integers) -> Floats:
            result = np.empty_like(vectors)
            result[:, :n_dense] = solve_dense(vectors[:, :n_dense])
            result[:, n_dense:] = vectors[:, n_dense:] * sparse[active]
            return result

        return solve

    def _solve(
        self,
        active: Integers,
        state: LossState,
        gradient: Floats,
        solve: Callable[[Floats, Integers], Floats],
        C: float,
        objective: NDArray[np.float64],
        target: NDArray[np.float64],
    ) -> Floats:
        """Return the Newton steps of some models by preconditioned conjugate gradients."""
        residual, direction = -gradient, np.zeros_like(gradient)
        p = solve(residual, active)
        rz = _products(residual, p)
        # Half of `rz` is about the decrease that is left.
        stop = np.minimum(_FIRST_ERROR**2, np.sqrt(rz / objective)) * rz
        goes_on = rz > 0
        for _ in range(_MAX_PRODUCTS):
            hp = self._matrix.transposed_times(state.curve(self._matrix.times(p)))
            hp += p / np.float32(C)
            hp *= self._used[active]
            bend = _products(p, hp)
            goes_on &= bend > 0  # but for rounding errors
            if not goes_on.any():
                break
            step = np.where(goes_on, rz / np.where(goes_on, bend, 1.0), 0.0)
            step = step.astype(np.float32)[:, None]
            direction += step * p
            residual -= step * hp
            z = solve(residual, active)
            rz, before = _products(residual, z), rz
            goes_on &= (rz > stop) & (C * _squares(residual) > target)
            if not goes_on.any():
                break
            # Models that are done no longer change: any factor will do.
            factor = rz / np.where(before > 0, before, 1.0)
            p *= factor.astype(np.float32)[:, None]
            p += z
        return direction


def _products(first: Floats, second: Floats) -> NDArray[np.float64]:
    products = [a @ b for a, b in zip(first, second, strict=True)]
    return np.array(products, dtype=np.float64)


def _squares(vectors: Floats) -> NDArray[np.float64]:
    return _products(vectors, vectors)


def _cholesky_solver(hessian: NDArray[np.float64], C: float) -> Callable[[Floats], Floats]:
    from scipy.linalg import cho_factor, cho_solve

    if not len(hessian):
        return lambda vectors: vectors
    added = hessian.copy()
    added[np.diag_indices_from(added)] += 1 / C + _RIDGE * np.diag(hessian)
    factor, is_lower = cho_factor(added, check_finite=False)
    factor = factor.astype(np.float32)
    return lambda vectors: cho_solve((factor, is_lower), vectors.T, check_finite=False).T


class _ModelLosses:
    """The losses of all models: each of the rows that teach it."""

    def __init__(self, right: Integers, offsets: Integers | None, taught: Floats) -> None:
        self.taught = taught  # (n_models, n_rows)
        self._right = right.astype(np.float32)
        self._question, self._starts = None, np.empty(0, dtype=np.int64)
        if offsets is not None:
            self._question = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            self._starts = offsets[:-1]
        self._chosen = np.flatnonzero(right)

    def at(self, margins: Floats, models: Integers) -> LossState:
        taught = self.taught if len(models) == len(self.taught) else self.taught[models]
        if self._question is None:
            sign = 2 * self._right - 1
            signed = sign * margins
            wrong = 1 / (1 + np.exp(np.minimum(signed, np.float32(_MAX_EXPONENT))))
            value = (np.logaddexp(0, -signed) * taught).sum(axis=1, dtype=np.float64)
            weight = wrong * (1 - wrong) * taught
            return LossState(value, -sign * wrong * taught, weight)
        largest = np.maximum.reduceat(margins, self._starts, axis=1)
        shifted = margins - largest[:, self._question]  # so that no exponential overflows
        powers = np.exp(shifted)
        totals = np.add.reduceat(powers, self._starts, axis=1)
        losses = np.log(totals) - shifted[:, self._chosen]
        losses *= taught[:, self._chosen]
        powers /= totals[:, self._question]
        gradient = (powers - self._right) * taught
        powers *= taught
        values = losses.sum(axis=1, dtype=np.float64)
        return LossState(values, gradient, powers, self._question, self._starts)


class _Matrix:
    """Products with several vectors. Columns that types repeat follow the dense ones; sparse ones
    come last.
    """

    def __init__(self, features: Features, typed: TypedColumns) -> None:
        dense, sparse = features
        n_rows, _ = features.shape
        self._dense = np.zeros((n_rows, 0)) if dense is None else dense
        self._dense = self._dense.astype(np.float32, copy=False)
        self._sparse = csr_matrix((n_rows, 0)) if sparse is None else sparse
        self._sparse = self._sparse.astype(np.float32, copy=False)
        self._transposed = self._sparse.T.tocsr()
        has_ones = (self._sparse.data == 1).all()
        self._squared = self._transposed if has_ones else self._transposed.power(2)
        self._n_plain, self._repeated = self._dense.shape[1], typed.columns
        n_types, n_repeated = len(typed.ends) - 1, len(typed.columns)
        self.n_dense = self._n_plain + n_types * n_repeated
        self.n_columns = self.n_dense + self._sparse.shape[1]
        # of each type with rows these and its columns
        self._types: list[tuple[slice, slice]] = []
        column = self._n_plain
        for start, stop in pairwise(typed.ends.tolist()):
            if start < stop:
                self._types.append((slice(start, stop), slice(column, column + n_repeated)))
            column += n_repeated

    def times(self, vectors: Floats) -> Floats:
        """Return the products with vectors of shape (n, n_columns)."""
        sparse = np.ascontiguousarray(vectors[:, self.n_dense :].T)
        result = np.ascontiguousarray((self._sparse @ sparse).T)
        if self._n_plain:
            for rows, columns in self._types:
                joined = vectors[:, : self._n_plain].copy()
                joined[:, self._repeated] += vectors[:, columns]
                result[:, rows] += joined @ self._dense[rows].T
        return result

    def transposed_times(self, vectors: Floats) -> Floats:
        """Return the transposed matrix's products with vectors of shape (n, n_rows)."""
        result = np.zeros((len(vectors), self.n_columns), dtype=np.float32)
        if self._n_plain:
            for rows, columns in self._types:
                type_sums = vectors[:, rows] @ self._dense[rows]
                result[:, : self._n_plain] += type_sums
                result[:, columns] = type_sums[:, self._repeated]
        result[:, self.n_dense :] = (self._transposed @ np.ascontiguousarray(vectors.T)).T
        return result

    def count(self, flags: Floats) -> Floats:
        """Return how many flagged rows have each sparse column, for flags of shape (n, n_rows)."""
        ones = self._transposed.astype(np.bool_).astype(np.float32)
        counts: Floats = (ones @ np.ascontiguousarray(flags.T)).T
        return counts

    def sparse_diagonal(self, states: LossState) -> Floats:
        """Return the diagonals of the Hessians, for the sparse columns."""
        diagonal: Floats = (self._squared @ np.ascontiguousarray(states.curvature.T)).T
        return diagonal

    def dense_hessian(self, states: LossState) -> NDArray[np.float64]:
        """Return the Hessian of all rows for the dense columns, from models that each row but its
        own group's teaches.
        """
        weight = states.weight.sum(axis=0) / max(len(states.weight) - 1, 1)
        hessian = np.zeros((self.n_dense, self.n_dense))
        for rows, columns in self._types if self._n_plain else ():
            block = self._dense[rows] * np.sqrt(weight[rows, None])
            type_hessian = (block.T @ block).astype(np.float64)
            if states.question is not None:
                of_question = states.question[rows]
                starts = np.flatnonzero(np.diff(of_question, prepend=-1))
                np.multiply(self._dense[rows], weight[rows, None], out=block)
                means = np.add.reduceat(block, starts, axis=0)
                type_hessian -= means.T @ means
            hessian[: self._n_plain, : self._n_plain] += type_hessian
            hessian[: self._n_plain, columns] = type_hessian[:, self._repeated]
            hessian[columns, : self._n_plain] = type_hessian[self._repeated]
            hessian[columns, columns] = type_hessian[np.ix_(self._repeated, self._repeated)]
        return hessian
