"""The null distribution of a score test: the scores of all features when gold is drawn from a
model.

The part of a score that the chosen features explain is subtracted before the test. Rare features
have exact tails, all others normal ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.conditional_logit import (
    BLOCK_OPTIONS,
    BLOCK_QUESTIONS,
    ConditionalLogit,
    pool,
    ridged_covariance,
)
from classic_rc.commands.check.feature_matrix import CHOICES, FeatureMatrix
from classic_rc.commands.check.option_arrays import Floats, Integers
from classic_rc.kernels.arrays import offsets_of, run_starts
from classic_rc.work import tracked

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_BATCH_OPTIONS = 2**25
"""So many options are drawn at a time, in all draws of a batch."""
_EXACT = 30
"""Below this many occurrences the tail is Poisson-binomial, from there on normal."""
LEAST_TAIL = 1e-300


class OrderFeatures(NamedTuple):
    """The options, ascending, that have each feature that reads the gold of other questions."""

    places: tuple[Integers, ...]  # of features that at most one option of a question has
    texts: tuple[Integers, ...]


OrderOf = Callable[[NDArray[np.bool_]], OrderFeatures]
"""Takes the right options and returns the features that read the gold of other questions."""


class NullDistribution:
    """Expectations, deviations and exact tails of the scores of all sparse and dense features.

    Parameters
    ----------
    features : FeatureMatrix
    model : ConditionalLogit
        Fitted to the chosen features.
    chosen : ndarray of shape (n_options, n_chosen)
    events : ndarray of shape (n_features,), optional
        Of an earlier distribution: they do not depend on the model.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        model: ConditionalLogit,
        chosen: Floats,
        events: Floats | None = None,
    ) -> None:
        self.features, self.table, self.model = features, features.table, model
        self._chosen = chosen
        # (n_options, 2 + n_chosen): what expectations, variances of features that one option of a
        # question has, and covariances with the chosen features are sums of
        self._moments = self._make_moments()
        by_use = np.split(self._moments, [1, 2], axis=1)
        expected, squares, self._across = features.sums(*by_use)
        self._expected, variance = expected[:, 0], squares[:, 0]
        self._moments[:, 1] -= model.spread[1] ** 2
        is_first = events is None
        if events is None:
            events = np.full(len(features), float(len(self.table)))
            events[: features.n_sparse] = 0
        self.events = events  # in how many questions each feature tells options apart
        rare = self._subtract_products(variance, is_first=is_first)
        inverse = np.linalg.inv(ridged_covariance(model, chosen))
        self._inverse = np.asarray(inverse, dtype=np.float64)
        unexplained = 1e-3 * np.maximum(variance, 1e-12)
        variance = np.maximum(variance - self._explained(self._across), 0)
        variance[variance < unexplained] = 0  # explained by what was chosen
        self._deviation = np.sqrt(variance)
        self._rare = np.flatnonzero(events[: features.n_sparse] < _EXACT)
        # (n_rare, _EXACT + 1): the signed deviate of each number of hits
        self._tails = _exact_deviates(self._rare, features.n_sparse, rare)
        self._tails[variance[self._rare] == 0] = 0

    def _make_moments(self) -> Floats:
        d, u = self.model.spread
        pooled = pool(u, self.table.offsets)
        moments = np.column_stack([self.model.p, d, self._chosen])
        for column in moments.T[2:]:
            column[:] = column * d - u * (pooled @ column)[self.table.question]
        return moments

    def _subtract_products(
        self, squares: Floats, *, is_first: bool
    ) -> list[tuple[Integers, Floats]]:
        """Make variances of sums of squares; return the features that few questions have, and how
        likely right options have them, a pair for each block of questions.

        The first time, count the questions of each feature.
        """
        table, features, p = self.table, self.features, self.model.p
        d, u = self.model.spread
        uses, events = features.uses, self.events[: features.n_sparse]
        is_few = uses < 8 * _EXACT if is_first else events < _EXACT
        has_one = bool((table.n_right == 1).all())
        rare: list[tuple[Integers, Floats]] = []
        for numbers, ones in features.parts():
            # No question has a feature of such a part twice.
            # The first time no events are counted yet, and sums are pooled: that is always right.
            is_alone = has_one and int(events[numbers].sum()) == len(ones.columns)
            for start in range(0, len(table), BLOCK_QUESTIONS):
                offsets = table.offsets[start : start + BLOCK_QUESTIONS + 1]
                options = slice(int(offsets[0]), int(offsets[-1]))
                block = ones.rows(options.start, options.stop)
                u_of_block = u[options].astype(np.float32)
                if is_alone:
                    having, chances = block.indices, _of_entries(block, u_of_block)
                else:
                    pooled = pool(u_of_block, offsets - options.start) @ block
                    having, chances = pooled.indices, pooled.data
                squared = chances.astype(np.float64) ** 2
                squares[numbers] -= np.bincount(having, squared, ones.width)
                # u is p for one right option: the sum over a question's options is the probability
                # of a hit.
                is_one = (table.n_right[start : start + BLOCK_QUESTIONS] == 1).all()
                if not is_one:
                    having, chances = block.indices, _of_entries(block, p[options])
                if is_first:
                    events[numbers] += np.bincount(having, minlength=ones.width)
                is_asked = is_few[numbers]
                if not is_one:  # an option, not a question, is an event
                    is_asked = is_asked & (uses[numbers] < _EXACT)
                few = np.flatnonzero(is_asked[having])
                few_numbers = having[few].astype(np.int64) + numbers.start
                rare.append((few_numbers, chances[few].astype(np.float64)))
        for i, column in enumerate(features.dense.T, features.n_sparse):
            values = column.astype(np.float64)
            squares[i] = values**2 @ d - (table.sum(values * u) ** 2).sum()
        return rare

    def _explained(self, across: Floats) -> Floats:
        """Return the variances that the chosen features explain, by covariances with them."""
        return np.einsum("ij,jk,ik->i", across, self._inverse, across)

    def observed(self, order_of: OrderOf | None) -> Floats:
        """Return the deviates of all features, then of those of gold order."""
        right = self.table.right.astype(np.float64)
        shift = self._inverse @ (self._chosen.T @ (right - self.model.p))
        (hits,) = self.features.sums(right[:, None])
        z = self._deviates(hits, (self._across @ shift)[:, None])[:, 0]
        if order_of is None:
            return z
        gold = self.table.right
        return np.concatenate([z, self._order_deviates(order_of(gold), gold, shift)])

    def draw(
        self, random: np.random.Generator, n: int, order_of: OrderOf | None
    ) -> Iterator[tuple[slice, Floats, Iterator[Floats]]]:
        """Yield some draws of n: their numbers, the deviates of all features, of shape
        (n_features, n_draws), and those of gold order for each draw.
        """
        batch = max(_BATCH_OPTIONS // len(self.table.texts) // CHOICES, 1) * CHOICES
        starts = range(0, n, batch)
        for start in tracked(starts, len(starts), share=0.3):
            right = self.model.draw(random, min(batch, n - start))
            for first, hits in enumerate(self.features.counts(right.T)):
                draws = slice(first * CHOICES, first * CHOICES + hits.shape[1])
                drawn = right[draws]
                shifts = self._inverse @ self._scores(drawn)
                of_order: Iterator[Floats] = iter(())
                if order_of is not None:
                    of_order = (
                        self._order_deviates(order_of(gold), gold, shift)
                        for gold, shift in zip(drawn, shifts.T, strict=True)
                    )
                numbers = slice(start + draws.start, start + draws.stop)
                yield numbers, self._deviates(hits, self._across @ shifts), of_order

    def _scores(self, right: NDArray[np.bool_]) -> Floats:
        """Return the scores of the chosen features in some draws, of shape (n_chosen, n_draws)."""
        scores = np.zeros((self._chosen.shape[1], len(right)))
        for first in range(0, len(self._chosen) if len(scores) else 0, BLOCK_OPTIONS):
            rows = slice(first, first + BLOCK_OPTIONS)
            residual = right[:, rows] - self.model.p[rows]
            scores += self._chosen[rows].T @ residual.T
        return scores

    def _deviates(self, hits: Floats, shift: Floats) -> Floats:
        """Return the normal deviates of sums: the one function for data and for draws.

        The `shift` is what the scores of the chosen features explain of these sums.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            safe = np.where(self._deviation > 0, self._deviation, np.inf)
            z = (hits - self._expected[:, None] - shift) / safe[:, None]
        if len(self._rare):
            count = np.clip(np.rint(hits[self._rare]).astype(np.int64), 0, _EXACT)
            z[self._rare] = np.take_along_axis(self._tails, count, axis=1)
        return z

    def _order_deviates(
        self, order: OrderFeatures, right: NDArray[np.bool_], shift: Floats
    ) -> Floats:
        """Return the deviates of features of gold order.

        The scores of the chosen features, times `inverse`, are the `shift`.
        """
        from scipy.sparse import csr_matrix

        having = order.places + order.texts
        options = np.concatenate(having)
        offsets = offsets_of(np.array([*map(len, having)]))
        ones = np.ones(len(options))
        shape = len(having), len(right)
        sums = csr_matrix((ones, options, offsets), shape=shape) @ self._moments
        expected, across = sums[:, 0], sums[:, 2:]
        variance = sums[:, 1].copy()
        hits = [np.count_nonzero(right[feature_options]) for feature_options in having]
        for i, feature_options in enumerate(order.texts, len(order.places)):
            if len(feature_options):
                u = self.model.spread[1][feature_options]
                pooled = np.add.reduceat(u, run_starts(self.table.question[feature_options]))
                variance[i] -= pooled @ pooled - u @ u
        variance -= self._explained(across)
        deviates = (hits - expected - across @ shift) / np.sqrt(np.maximum(variance, 1e-6))
        return np.where(variance > 1e-6, deviates, 0.0)


def _of_entries(block: csr_matrix, values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the value of the row of each entry."""
    return np.repeat(values, np.diff(block.indptr))


def _exact_deviates(rare: Integers, n: int, entries: Sequence[tuple[Integers, Floats]]) -> Floats:
    """Return the signed normal deviates of all numbers of hits of rare features:
    Poisson-binomial tails.
    """
    from scipy.special import ndtri

    place = np.full(n, -1, dtype=np.int64)
    place[rare] = np.arange(len(rare))
    no_features = np.empty(0, dtype=np.int64), np.empty(0)
    features, chances = map(np.concatenate, zip(no_features, *entries, strict=True))
    is_rare = place[features] >= 0
    rows = place[features[is_rare]]
    chances = np.clip(chances[is_rare], 0, 1)
    if len(rare) <= 2**16:
        rows = rows.astype(np.uint16)  # has a faster sort
    order = np.argsort(rows, kind="stable")
    rows, chances = rows[order], chances[order]
    n_events = np.bincount(rows, minlength=len(rare))
    column = np.arange(len(rows)) - offsets_of(n_events)[:-1][rows]
    # Features with many events come first, so that those that have an i-th one are a first part.
    by_events = np.argsort(-n_events, kind="stable")
    rank = np.empty_like(by_events)
    rank[by_events] = np.arange(len(rare))
    n_events = n_events[by_events]
    padded = np.zeros((_EXACT, len(rare)))
    padded[column, rank[rows]] = chances
    odds = np.zeros((_EXACT + 1, len(rare)))
    odds[0] = 1
    for i, p in enumerate(padded):
        p = p[: np.searchsorted(-n_events, -i)]
        odds_of_rows = odds[: i + 2, : len(p)]
        hits = odds_of_rows[:-1] * p
        odds_of_rows *= 1 - p
        odds_of_rows[1:] += hits
    upper = np.minimum(np.cumsum(odds[::-1], axis=0)[::-1], 1)
    lower = np.minimum(np.cumsum(odds, axis=0), 1)
    smaller = np.minimum(np.minimum(upper, lower), 0.5)
    deviates = np.full(odds.shape, -ndtri(LEAST_TAIL))
    is_possible = np.arange(_EXACT + 1)[:, None] <= n_events
    deviates[is_possible] = -ndtri(np.maximum(smaller[is_possible], LEAST_TAIL))
    return np.where(upper < lower, deviates, -deviates).T[rank]
