"""The conditional logit: how likely options are right, given how many are right in each question.

The odds of a set of right options are the product of the odds of its options: in a question with
one right option this is a softmax of the scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.option_arrays import Floats, Integers, OptionTable
from classic_rc.kernels.arrays import runs_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK_QUESTIONS, BLOCK_OPTIONS = 2**13, 2**16
RIDGE = 1e-2
_MOST_WEIGHT, _NEWTON_STEPS = 12.0, 25


class ConditionalLogit:
    """The conditional logit: in each question as many options are right as gold says, with odds
    of their scores.
    """

    def __init__(self, table: OptionTable, scores: Floats) -> None:
        self.table = table
        odds = np.exp(scores - table.largest(scores)[table.question])
        self.p = odds / table.sum(odds)[table.question]
        several = np.flatnonzero(table.n_right > 1)
        self._several: list[_SeveralRight] = []
        for block in np.array_split(several, len(several) // BLOCK_QUESTIONS + 1):
            if len(block):
                self._add_several(block, odds)

    def _add_several(self, questions: Integers, odds: Floats) -> None:
        """Compute the exact inclusion probabilities of questions with several right options."""
        table = self.table
        sizes, n_right = table.sizes[questions], table.n_right[questions]
        n_places, max_right = int(sizes.max()), int(n_right.max())
        place = table.offsets[questions][:, None] + np.arange(n_places)
        inside = np.arange(n_places) < sizes[:, None]
        w = np.where(inside, odds[np.where(inside, place, 0)], 0.0)
        # With a mean of 1, products of many odds stay within the range of floats.
        w /= w.sum(axis=1, keepdims=True) / sizes[:, None]
        before, after = _sums_of_products(w, max_right), _sums_of_products(w[:, ::-1], max_right)
        rows = np.arange(len(questions))
        total = before[n_places, rows, n_right]
        p = np.zeros_like(w)
        for i in range(n_places):
            for n_before in range(max_right):
                n_after = n_right - 1 - n_before
                products = after[n_places - 1 - i, rows, np.maximum(n_after, 0)]
                products = w[:, i] * (before[i, :, n_before] * products)
                p[:, i] += np.where(n_after >= 0, products, 0) / total
        self.p[place[inside]] = p[inside]
        self._several.append(_SeveralRight(questions, n_right, w, before))

    @cached_property
    def spread(self) -> tuple[Floats, Floats]:
        """Arrays d and u: the covariance of a question's right options is diag(d) - u u'.

        It is exact for one right option, and for several without weights; else Hájek's
        approximation.
        """
        table, p = self.table, self.p
        has_several = (table.n_right > 1)[table.question]
        c = p * (1 - p)
        total = table.sum(c)[table.question]
        f = (table.sizes / np.maximum(table.sizes - 1, 1))[table.question]
        hajek = c * np.sqrt(f / np.maximum(total, 1e-300))
        return np.where(has_several, c * f, p), np.where(has_several, hajek, p)

    def draw(self, random: np.random.Generator, n: int) -> NDArray[np.bool_]:
        """Draw gold from the model, n times: booleans of shape (n, n_options)."""
        table = self.table
        starts, max_size = table.offsets[:-1], int(table.sizes.max())
        right = np.zeros((n, len(table.texts)), dtype=bool)
        single = np.flatnonzero(table.n_right == 1)
        cumulative = np.cumsum(self.p)
        base = np.concatenate([[0.0], cumulative])[table.offsets]
        width = base[1:] - base[:-1]
        # Questions with an option after the place j, and where the probability of j ends.
        with_next = [np.flatnonzero(table.sizes > j) for j in range(1, max_size)]
        ends = [cumulative[starts[questions] + j] for j, questions in enumerate(with_next)]
        for i in range(n):
            u = base[:-1] + random.random(len(table)) * width
            at = starts.copy()
            for questions, end in zip(with_next, ends, strict=True):
                if len(questions) == len(table):
                    at += end <= u
                else:
                    at[questions] += end <= u[questions]
            right[i, at[single]] = True
            for several in self._several:
                for j, is_drawn in several.draw(random):
                    right[i, starts[several.questions[is_drawn]] + j] = True
        return right


class _SeveralRight(NamedTuple):
    """Questions with several right options, and what draws from them need."""

    questions: Integers
    n_right: Integers
    odds: Floats  # (n_questions, n_places)
    sums: Floats  # of products of odds

    def draw(self, random: np.random.Generator) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Yield the places of options, the last first, with the questions where it is drawn."""
        n_questions, n_places = self.odds.shape
        rows, n_to_draw = np.arange(n_questions), self.n_right.copy()
        u = random.random((n_places, n_questions))
        for j in range(n_places - 1, -1, -1):
            with_option = self.odds[:, j] * self.sums[j, rows, np.maximum(n_to_draw - 1, 0)]
            chance = with_option / self.sums[j + 1, rows, n_to_draw]
            is_drawn = (n_to_draw > 0) & (u[j] < chance)
            yield j, is_drawn
            n_to_draw -= is_drawn


def _sums_of_products(odds: Floats, max_size: int) -> Floats:
    """Return the elementary symmetric polynomials of odds of shape (n_questions, n_places).

    For i places and a size r: the sum of the products of all sets of r of the first i odds, of
    shape (n_places + 1, n_questions, max_size + 1).
    """
    n_questions, n_places = odds.shape
    sums = np.zeros((n_places + 1, n_questions, max_size + 1))
    sums[0, :, 0] = 1
    for i in range(n_places):
        sums[i + 1] = sums[i]
        sums[i + 1, :, 1:] += odds[:, i, None] * sums[i, :, :-1]
    return sums


def fit_model(table: OptionTable, columns: Floats) -> tuple[ConditionalLogit, Floats]:
    """Fit the conditional logit to chosen features, by Newton's method with a small ridge; also
    return weights.
    """
    weights = np.zeros(columns.shape[1])
    model = ConditionalLogit(table, columns @ weights)
    for _ in range(_NEWTON_STEPS if columns.shape[1] else 0):
        gradient = columns.T @ (table.right - model.p) - RIDGE * weights
        step = np.clip(np.linalg.solve(ridged_covariance(model, columns), gradient), -2, 2)
        weights = np.clip(weights + step, -_MOST_WEIGHT, _MOST_WEIGHT)
        model = ConditionalLogit(table, columns @ weights)
        if np.abs(step).max() < 1e-6:
            break
    return model, weights


def covariance(model: ConditionalLogit, first: Floats, second: Floats) -> Floats:
    """Return the covariances of the scores of two sets of dense features under the model."""
    (d, u), offsets = model.spread, model.table.offsets
    total = np.zeros((first.shape[1], second.shape[1]))
    for start, stop in runs_of(model.table.sizes, BLOCK_OPTIONS):
        options = slice(int(offsets[start]), int(offsets[stop]))
        x, y = first[options], second[options]
        pooled = pool(u[options], offsets[start : stop + 1] - options.start)
        a = pooled @ x
        b = a if second is first else pooled @ y
        weighted = x * d[options, None]
        total += weighted.T @ y - a.T @ b
    return total


def ridged_covariance(model: ConditionalLogit, columns: Floats) -> Floats:
    """Return the covariances of the scores of some features, with the ridge: a Hessian."""
    return covariance(model, columns, columns) + RIDGE * np.eye(columns.shape[1])


def pool(weights: NDArray[np.floating[Any]], offsets: Integers) -> csr_matrix:
    """Return the matrix of weighted sums over the options of each question."""
    from scipy.sparse import csr_matrix

    n = len(weights)
    return csr_matrix((weights, np.arange(n), offsets), shape=(len(offsets) - 1, n))
