r"""One statistic: a score test within questions, with a permuted bound and stepwise choice.

With p the probabilities of a conditional logit and y the right options, the score of feature j is
:math:`U_j = \sum_i x_{ij} (y_i - p_i)`, conditional on the number of right options of each
question. Without chosen features p is m/k. The best feature above the bound is chosen, the model is
fitted with it, and the others are tested given the chosen ones, until nothing is above the bound.
What correlates with a chosen one disappears.

Cues that are known from published artifacts are a family of few features, so their bound is lower
than that of all others. Fields, which no system sees, are searched last: given the other choices,
but each for itself, so that no field hides a cue or another field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.features import (
    CHOICES,
    FIELD,
    FIELD_NAME,
    FeatureMatrix,
)
from classic_rc.commands.check.option_arrays import Floats, Integers, OptionTable
from classic_rc.io.memory import release_memory
from classic_rc.kernels.arrays import offsets_of, run_starts, runs_of
from classic_rc.work import tracked

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

DRAWS = 200
LEVELS = 0.025, 0.015, 0.01
_KNOWN, _OPEN, _FIELDS = range(3)
"""How often chance is above the bound of published cues, of all else that a system sees, with gold
order, and of fields. They add up to 5 %.
"""
MOST_STEPS = 12
"""At most so many choices of what a system sees, and of fields."""
_BATCH_OPTIONS = 2**25
"""So many options are drawn at a time, in all draws of a batch."""
_EXACT = 30
"""Below this many occurrences the tail is Poisson-binomial, from there on normal."""
_LEAST_TAIL = 1e-300
_BLOCK_QUESTIONS, _BLOCK_OPTIONS = 2**13, 2**16
_LARGE, _SHARED = 3.0, 1.2
"""Deviates from this on are tested for dependence, if features are in so many questions a
passage.
"""
_NEAR, _ALIKE = 0.9, 0.7
"""Features with this part of the best deviate, and this correlation with it, say the same."""
_MIRRORED = 0.999
"""From this part of the best deviate on, deviates differ by rounding only."""
_RIDGE, _MOST_WEIGHT, _NEWTON_STEPS = 1e-2, 12.0, 25
_MOST_MORE = 24
_CORRECTION = 2.0
"""A choice whose deviate before any choice is below this, or has the other sign, is a correction
of the model.
"""
_CLEAR = 1.2
"""A deviate that is this much above the bound of earlier draws needs no new ones: the bound
hardly changes.
"""


class ConditionalLogit:
    """The conditional logit: in each question as many options are right as gold says, with odds
    of their scores.
    """

    def __init__(self, table: OptionTable, scores: Floats) -> None:
        self.table = table
        odds = np.exp(scores - table.largest(scores)[table.question])
        self.p = odds / table.sum(odds)[table.question]
        self._several = np.flatnonzero(table.n_right > 1)
        self._tables: list[tuple[Integers, NDArray[np.bool_], Floats, Floats]] = []
        for block in np.array_split(self._several, len(self._several) // _BLOCK_QUESTIONS + 1):
            if len(block):
                self._add_several(block, odds)

    def _add_several(self, block: Integers, odds: Floats) -> None:
        """Compute the exact inclusion probabilities of questions with several right options."""
        table = self.table
        n_places, m = int(table.sizes[block].max()), table.n_right[block]
        place = table.offsets[:-1][block][:, None] + np.arange(n_places)
        inside = np.arange(n_places) < table.sizes[block][:, None]
        w = np.where(inside, odds[np.where(inside, place, 0)], 0.0)
        w /= np.where(inside, w, 0).sum(axis=1, keepdims=True) / table.sizes[block][:, None]
        before = np.zeros((n_places + 1, len(block), int(m.max()) + 1))
        before[0, :, 0] = 1
        after = before.copy()
        for i in range(n_places):
            before[i + 1] = before[i]
            before[i + 1][:, 1:] += w[:, i, None] * before[i][:, :-1]
            j = n_places - 1 - i
            after[i + 1] = after[i]
            after[i + 1][:, 1:] += w[:, j, None] * after[i][:, :-1]
        rows = np.arange(len(block))
        total = before[n_places, rows, m]
        p = np.zeros_like(w)
        for i in range(n_places):
            for r in range(int(m.max())):
                n_after = m - 1 - r
                term = before[i, :, r] * after[n_places - 1 - i, rows, np.maximum(n_after, 0)]
                p[:, i] += np.where(n_after >= 0, w[:, i] * term, 0) / total
        self.p[place[inside]] = p[inside]
        self._tables.append((block, inside, w, before))

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
        right = np.zeros((n, len(table.texts)), dtype=bool)
        single = np.flatnonzero(table.n_right == 1)
        cumulative = np.cumsum(self.p)
        base = np.concatenate([[0.0], cumulative])[table.offsets]
        with_place = [np.flatnonzero(table.sizes > j) for j in range(1, int(table.sizes.max()))]
        ends = [cumulative[table.offsets[questions] + j] for j, questions in enumerate(with_place)]
        for i in range(n):
            u = base[:-1] + random.random(len(table)) * (base[1:] - base[:-1])
            at = table.offsets[:-1].copy()
            for questions, end in zip(with_place, ends, strict=True):
                if len(questions) == len(table):
                    at += end <= u
                else:
                    at[questions] += end <= u[questions]
            right[i, at[single]] = True
            for block, inside, w, before in self._tables:
                n_to_draw = table.n_right[block].copy()
                rows, n_places = np.arange(len(block)), inside.shape[1]
                u = random.random((n_places, len(block)))
                for j in range(n_places - 1, -1, -1):
                    chance = (
                        w[:, j]
                        * before[j, rows, np.maximum(n_to_draw - 1, 0)]
                        / before[j + 1, rows, n_to_draw]
                    )
                    is_drawn = (n_to_draw > 0) & (u[j] < chance)
                    right[i, table.offsets[:-1][block[is_drawn]] + j] = True
                    n_to_draw -= is_drawn
        return right


def fit_model(table: OptionTable, columns: Floats) -> tuple[ConditionalLogit, Floats]:
    """Fit the conditional logit to chosen features, by Newton's method with a small ridge; also
    return weights.
    """
    weights = np.zeros(columns.shape[1])
    model = ConditionalLogit(table, columns @ weights)
    for _ in range(_NEWTON_STEPS if columns.shape[1] else 0):
        gradient = columns.T @ (table.right - model.p) - _RIDGE * weights
        hessian = covariance(model, columns, columns) + _RIDGE * np.eye(len(weights))
        step = np.clip(np.linalg.solve(hessian, gradient), -2, 2)
        weights = np.clip(weights + step, -_MOST_WEIGHT, _MOST_WEIGHT)
        model = ConditionalLogit(table, columns @ weights)
        if np.abs(step).max() < 1e-6:
            break
    return model, weights


def covariance(model: ConditionalLogit, first: Floats, second: Floats) -> Floats:
    """Return the covariances of the scores of two sets of dense features under the model."""
    (d, u), offsets = model.spread, model.table.offsets
    total = np.zeros((first.shape[1], second.shape[1]))
    for start, stop in runs_of(model.table.sizes, _BLOCK_OPTIONS):
        options = slice(int(offsets[start]), int(offsets[stop]))
        x, y = first[options], second[options]
        pooled = pool(u[options], offsets[start : stop + 1] - options.start)
        a = pooled @ x
        b = a if second is first else pooled @ y
        total += (x * d[options, None]).T @ y - a.T @ b
    return total


def pool(weights: NDArray[np.floating[Any]], offsets: Integers) -> csr_matrix:
    """Return the matrix of weighted sums over the options of each question."""
    from scipy.sparse import csr_matrix

    n = len(weights)
    return csr_matrix((weights, np.arange(n), offsets), shape=(len(offsets) - 1, n))


class OrderFeatures(NamedTuple):
    """The options, ascending, that have each feature that reads the gold of other questions."""

    places: tuple[Integers, ...]  # of features that at most one option of a question has
    texts: tuple[Integers, ...]


class CueStep(NamedTuple):
    """One choice: a feature that tells right options from wrong ones, given those chosen before."""

    feature: int  # its number; those of gold order follow those of the matrix
    z: float  # allowed for dependence within passages, as compared with the bound
    bound: float
    p: float
    others: int  # how many features say about the same
    more: tuple[int, ...]  # other features of its context, chosen together with it
    weights: Floats  # of these features in the model
    # it only corrects what the earlier ones claim too much: by itself it says nothing, or else
    is_correction: bool


@dataclass
class _Null:
    """Expectations, deviations and exact tails of all sparse and dense features under a model."""

    expected: Floats
    deviation: Floats
    events: Floats  # in how many questions each feature tells options apart
    rare: Integers  # features with exact tails
    tails: Floats  # (n_rare, _EXACT + 1): the signed deviate of each number of hits

    def deviates(self, hits: Floats, shift: Floats | float = 0.0) -> Floats:
        """Return the normal deviates of sums: the one function for data and for draws."""
        with np.errstate(divide="ignore", invalid="ignore"):
            safe = np.where(self.deviation > 0, self.deviation, np.inf)
            z = (hits - self.expected[:, None] - shift) / safe[:, None]
        if len(self.rare):
            count = np.clip(np.rint(hits[self.rare]).astype(np.int64), 0, _EXACT)
            z[self.rare] = np.take_along_axis(self.tails, count, axis=1)
        return z


class _StepSearch(NamedTuple):
    """What a choice is compared with."""

    tested: Floats  # the deviate of each feature
    alone: Floats  # and before any choice
    largest: Floats  # of each family and draw, of shape (3, n_draws)
    bounds: Floats  # of each feature


class _Given(NamedTuple):
    """The chosen features, which all other features are tested given."""

    chosen: Floats  # (n_options, n_chosen)
    # (n_options, 2 + n_chosen): what expectations, variances of features that one option of a
    # question has, and covariances with the chosen features are sums of
    moments: Floats
    across: Floats  # (n_features, n_chosen): these covariances
    inverse: Floats  # of their own covariances


class ScoreTest:
    """The search for features that tell right options from wrong ones.

    `order` takes the right options and returns the features that read the gold of other questions:
    they are computed again for each draw. The features `given` count as
    chance. Those that are `accepted` are not chosen, nor what only goes along with `known` values.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        order: Callable[[NDArray[np.bool_]], OrderFeatures] | None = None,
        given: Floats | None = None,
        *,
        accepted: Sequence[int] = (),
        known: Iterable[Floats] = (),
        levels: tuple[float, float, float] = LEVELS,
        draws: int = DRAWS,
        seed: int = 0,
        advance: Callable[[str], None] = lambda stage: None,
    ) -> None:
        self.features, self.table = features, features.table
        self._order = order
        n = len(self.table.texts)
        observed = OrderFeatures((), ()) if order is None else order(self.table.right)
        self.observed_order = observed.places + observed.texts
        self.given = np.zeros((n, 0)) if given is None else given
        self.draws, self.seed, self._advance = draws, seed, advance
        self._levels = levels
        self.steps: list[CueStep] = []
        self.leaking_fields: tuple[str, ...] = ()
        # in how many questions each sparse feature tells options apart
        self._events = np.zeros(features.n_sparse, dtype=np.int64)
        self.groups = self.table.passages[1]
        self._has_groups = len(self.table.passages[0]) < len(self.table)
        self.model: ConditionalLogit
        n_order = len(self.observed_order)
        families = np.where(
            features.is_published, _KNOWN, np.where(features.is_seen, _OPEN, _FIELDS)
        )
        self._family = np.append(families, np.full(n_order, _OPEN))
        self._of_fields = self._family == _FIELDS
        self._has_context = np.array([bool(f.context) for f in features.families], dtype=bool)
        self._known = np.column_stack([self.given[:, :0], *known])
        self._left_out = self._say_same(accepted)

    def columns(self, features: Sequence[int]) -> Floats:
        """Return the values of features of the matrix, then of gold order, of shape (n_options,
        n).
        """
        n = len(self.features)
        columns = np.zeros((len(self.given), len(features)))
        of_matrix = [i for i, j in enumerate(features) if j < n]
        values = self.features.columns([features[i] for i in of_matrix])
        for i, column in zip(of_matrix, values, strict=True):
            columns[:, i] = column
        for i, j in enumerate(features):
            if j >= n:
                columns[self.observed_order[j - n], i] = 1
        return columns

    def values_of(self, step: CueStep) -> Floats:
        """Return the values of a choice: its feature, or what all features of its context say
        together.
        """
        columns = self.columns((step.feature, *step.more))
        return np.round(columns @ step.weights, 6) if step.more else columns[:, 0]

    def _of_context(self, feature: int, tested: Floats, bounds: Floats) -> tuple[int, ...]:
        """Return the other features above the bound that say the position by the same context."""
        families = self.features.families
        if feature >= len(families) or not families[feature].context:
            return ()
        above = np.flatnonzero((np.abs(tested) > bounds)[: len(families)]).tolist()
        same_context = [j for j in above if families[j] == families[feature] and j != feature]
        return tuple(sorted(same_context, key=lambda j: -abs(tested[j]))[:_MOST_MORE])

    def _say_same(self, accepted: Sequence[int]) -> list[int]:
        """Return the accepted features and all others of their contexts and fields."""
        families, numbers = self.features.families, range(len(self.features))
        roots = {j: _roots(self.features.name(j)) for j in numbers if self._of_fields[j]}
        accepted_roots = frozenset().union(*(roots.get(j, ()) for j in accepted))
        contexts = {families[j] for j in accepted if j in numbers and families[j].context}
        same_fields = [j for j in roots if not accepted_roots.isdisjoint(roots[j])]
        return [*accepted, *same_fields, *(j for j in numbers if families[j] in contexts)]

    def _repeats_accepted(self, feature: int, bound: float) -> bool:
        """Return whether a feature only goes along with accepted ones: everywhere, or among right
        options as among wrong ones.
        """
        table, accepted, model = self.table, self._known, self.model
        if not (n := accepted.shape[1]):
            return False
        columns = np.column_stack([accepted, self.columns([feature])])
        means = np.add.reduceat(columns, table.offsets[:-1]) / table.sizes[:, None]
        x = columns - means[table.question]
        explaining = np.column_stack([x[:, :n], table.right, ~table.right])
        rest = columns[:, n] - accepted @ np.linalg.lstsq(explaining, x[:, n], rcond=None)[0][:n]
        columns = np.column_stack([columns, rest])
        covariances = covariance(model, columns, columns)
        spread = np.sqrt(np.maximum(np.diag(covariances), 0))
        deviate = (rest @ (table.right - model.p)) / max(spread[n + 1], 1e-6)
        is_alike = np.abs(covariances[n, :n]) > _ALIKE * spread[n] * spread[:n]
        return bool(abs(deviate) <= bound or is_alike.any())

    def run(self) -> tuple[CueStep, ...]:
        """Choose features until nothing is above the bound, then fields."""
        bounds = np.full(len(self._family), np.inf)
        columns, alone = self.given, np.zeros(0)
        used = list(self._left_out)
        self.model, _ = fit_model(self.table, columns)
        while len(self.features):
            self._advance(f"cues, step {len(self.steps) + 1}")
            null, choices = self._prepare(columns)
            release_memory()
            deviates = self._observed(null, choices)
            alone = alone if self.steps else deviates
            z = deviates.copy()
            z[used] = 0
            seen = np.where(self._of_fields, 0, z)
            largest = np.zeros((len(LEVELS), 0))
            best, tested = self._find_best(seen, deviates, null, bounds)
            is_last = len(self.steps) >= MOST_STEPS
            if best is None or is_last or not abs(tested[best]) > _CLEAR * bounds[best]:
                largest, bounds = self._draw_bounds(null, choices)
                best, tested = self._find_best(seen, deviates, null, bounds)
            while best is not None and self._repeats_accepted(best, bounds[best]):
                used.append(best)
                seen[best] = 0
                best, tested = self._find_best(seen, deviates, null, bounds)
            if best is None or is_last:
                tested = self._allow_dependence(deviates, null, bounds)
            search = _StepSearch(tested, alone, largest, bounds)
            if best is None or is_last:
                self._choose_fields(choices, np.where(self._of_fields, z, 0), search)
                break
            feature, others = self._choose(best, np.where(np.abs(tested) > bounds, seen, 0))
            more = self._of_context(feature, tested, bounds)
            used += [best, feature, *more]
            del null, choices  # which fill the memory
            columns, self.model = self._add_step(columns, feature, others, more, search)
        return tuple(self.steps)

    def _add_step(
        self, chosen: Floats, feature: int, others: int, more: tuple[int, ...], search: _StepSearch
    ) -> tuple[Floats, ConditionalLogit]:
        """Add a step; return the chosen features with those of the step, and their model."""
        z = float(search.tested[feature])
        p = (1 + int((search.largest[self._family[feature]] >= abs(z)).sum())) / (self.draws + 1)
        is_correction = bool(search.alone[feature] * np.sign(z) < _CORRECTION)
        columns = np.column_stack([chosen, self.columns((feature, *more))])
        model, weights = fit_model(self.table, columns)
        step_weights = weights[chosen.shape[1] :]
        step = CueStep(
            feature, z, float(search.bounds[feature]), p, others, more, step_weights, is_correction
        )
        self.steps.append(step)
        return columns, model

    def _choose_fields(self, choices: _Given, z: Floats, search: _StepSearch) -> None:
        """Choose features of fields, each given the choices before this search.

        Features of different fields that say the same are chosen together, as three votes are.
        """
        families, first = self.features.families, len(self.steps)
        tested, bounds = search.tested, search.bounds
        z = np.where(np.abs(tested) > bounds, z, 0)
        names = {j: self.features.name(j) for j in np.flatnonzero(z).tolist()}
        roots = {j: _roots(name) for j, name in names.items()}
        knowing = [j for j in names if families[j].sees == FIELD.sees and not families[j].context]
        self.leaking_fields = tuple(
            sorted({f for j in knowing for f in FIELD_NAME.findall(names[j])})
        )
        while len(self.steps) < first + MOST_STEPS:
            best = self._best(z, tested, bounds)
            if best is None:
                break
            feature, others = self._choose(best, z)
            more = self._of_context(feature, tested, bounds)
            used = roots[best] | roots[feature]
            if not families[feature].context:
                for j in sorted(names, key=lambda j: -abs(tested[j])):
                    says_same = FIELD_NAME.sub("", names[j]) == FIELD_NAME.sub("", names[feature])
                    if says_same and used.isdisjoint(roots[j]):
                        more, used = (*more, j), used | roots[j]
            self._add_step(choices.chosen, feature, others, more, search)
            z[[best, feature, *(j for j in names if not used.isdisjoint(roots[j]))]] = 0
        features_of_fields = [j for step in self.steps[first:] for j in (step.feature, *step.more)]
        self.model, _ = fit_model(
            self.table, np.column_stack([choices.chosen, self.columns(features_of_fields)])
        )

    def _find_best(
        self, z: Floats, deviates: Floats, null: _Null, bounds: Floats
    ) -> tuple[int | None, Floats]:
        """Return the best feature, and deviates that allow for dependence, of those features that
        the choice among similar ones looks at.
        """
        tested, compared_from = deviates, np.inf
        while (best := self._best(z, tested, bounds)) is not None:
            near = _NEAR * abs(z[best])
            if near >= compared_from:
                break
            # Far fewer features than in all are at least as near to one that may be the best.
            tested = self._allow_dependence(deviates, null, bounds, near)
            compared_from = near
        return best, tested

    def _best(self, z: Floats, tested: Floats, bounds: Floats) -> int | None:
        """Return the feature with the largest deviate of those above their bounds, those of gold
        order last.
        """
        n = len(self.features)
        above = np.where(np.abs(tested) > bounds, np.abs(z), 0)
        for first, stop in ((0, n), (n, len(z))):
            if above[first:stop].any():
                return first + int(np.argmax(above[first:stop]))
        return None

    def _prepare(self, chosen: Floats) -> tuple[_Null, _Given]:
        """Return the null of all features, and what the chosen ones say of them."""
        model, features, table = self.model, self.features, self.table
        d, u = model.spread
        n_sparse = features.n_sparse
        pooled = pool(u, table.offsets)
        moments = np.column_stack([model.p, d, chosen])
        for column in moments.T[2:]:
            column[:] = column * d - u * (pooled @ column)[table.question]
        sums = features.sums(moments[:, :1], moments[:, 1:2], moments[:, 2:])
        expected, squares, across = sums[0][:, 0], sums[1][:, 0], sums[2]
        moments[:, 1] -= u**2
        uses = features.uses
        if self.steps:
            is_few = self._events < _EXACT
        else:
            is_few = uses < 8 * _EXACT
            self._events = np.zeros(n_sparse, dtype=np.int64)
        rare: list[tuple[Integers, Floats]] = []
        has_one = bool((table.n_right == 1).all())
        for numbers, feature_ones in features.parts():
            # No question has a feature of such a part twice.
            is_alone = has_one and int(self._events[numbers].sum()) == len(feature_ones.columns)
            for start in range(0, len(table), _BLOCK_QUESTIONS):
                places = table.offsets[start : start + _BLOCK_QUESTIONS + 1]
                rows = slice(int(places[0]), int(places[-1]))
                ones = feature_ones.rows(rows.start, rows.stop)
                u_of = u[rows].astype(np.float32)
                if is_alone:
                    indices, chances = ones.indices, np.repeat(u_of, np.diff(ones.indptr))
                else:
                    block = pool(u_of, places - rows.start) @ ones
                    indices, chances = block.indices, block.data
                squares[numbers] -= np.bincount(
                    indices, chances.astype(np.float64) ** 2, feature_ones.width
                )
                # u is p for one right option: the sum over a question's options is the probability
                # of a hit.
                is_one = (table.n_right[start : start + _BLOCK_QUESTIONS] == 1).all()
                if not is_one:
                    indices, chances = ones.indices, np.repeat(model.p[rows], np.diff(ones.indptr))
                if not self.steps:
                    self._events[numbers] += np.bincount(indices, minlength=feature_ones.width)
                is_asked = is_few[numbers] if is_one else is_few[numbers] & (uses[numbers] < _EXACT)
                few = np.flatnonzero(is_asked[indices])
                rare.append(
                    (indices[few].astype(np.int64) + numbers.start, chances[few].astype(np.float64))
                )
        for i, column in enumerate(features.dense.T, n_sparse):
            values = column.astype(np.float64)
            squares[i] = values**2 @ d - (table.sum(values * u) ** 2).sum()
        hessian = covariance(model, chosen, chosen) + _RIDGE * np.eye(chosen.shape[1])
        inverse = np.asarray(np.linalg.inv(hessian), dtype=np.float64)
        variance = np.maximum(squares - np.einsum("ij,jk,ik->i", across, inverse, across), 0)
        variance[variance < 1e-3 * np.maximum(squares, 1e-12)] = 0  # explained by what was chosen
        is_rare = np.flatnonzero(self._events < _EXACT)
        tails = _exact_deviates(is_rare, n_sparse, rare)
        tails[variance[is_rare] == 0] = 0
        all_events = np.append(self._events, np.full(len(features) - n_sparse, len(table))).astype(
            np.float64
        )
        return (
            _Null(expected, np.sqrt(variance), all_events, is_rare, tails),
            _Given(chosen, moments, across, inverse),
        )

    def _order_deviates(
        self, order: OrderFeatures, right: NDArray[np.bool_], shift: Floats, choices: _Given
    ) -> Floats:
        """Return the deviates of features of gold order.

        The scores of the chosen features, times `given.inverse`, are the `shift`.
        """
        from scipy.sparse import csr_matrix

        having = order.places + order.texts
        options, sizes = np.concatenate(having), np.array([*map(len, having)])
        entries = np.ones(len(options)), options, offsets_of(sizes)
        sums = csr_matrix(entries, shape=(len(having), len(right))) @ choices.moments
        hits = [np.count_nonzero(right[feature_options]) for feature_options in having]
        across, variance = sums[:, 2:], sums[:, 1].copy()
        for i, feature_options in enumerate(order.texts, len(order.places)):
            if len(feature_options):
                u = self.model.spread[1][feature_options]
                pooled = np.add.reduceat(u, run_starts(self.table.question[feature_options]))
                variance[i] -= pooled @ pooled - u @ u
        variance -= np.einsum("ij,jk,ik->i", across, choices.inverse, across)
        return np.where(
            variance > 1e-6,
            (hits - sums[:, 0] - across @ shift) / np.sqrt(np.maximum(variance, 1e-6)),
            0.0,
        )

    def _observed(self, null: _Null, choices: _Given) -> Floats:
        """Return the deviates of all features."""
        right = self.table.right.astype(np.float64)
        shift = choices.inverse @ (choices.chosen.T @ (right - self.model.p))
        (hits,) = self.features.sums(right[:, None])
        z = null.deviates(hits, (choices.across @ shift)[:, None])[:, 0]
        if self._order is None:
            return z
        order = self._order(self.table.right)
        return np.concatenate([z, self._order_deviates(order, self.table.right, shift, choices)])

    def _allow_dependence(
        self, z: Floats, null: _Null, bounds: Floats, min_deviate: float = 0.0
    ) -> Floats:
        """Return smaller deviates for features whose questions share passages, if gold depends on
        the passage.

        The variance grows by the design effect: that of sums over passages by that of sums over
        questions, without the effect that is the same everywhere, because that is no dependence.
        The tail is that of Student's t with as many degrees of freedom as passages allow. It is
        computed for the features with deviates above their bounds that have at least the deviate
        `least`, are published, or have a context.
        """
        from scipy.special import ndtri, stdtr

        if not self._has_groups:
            return z
        table, tested, n_sparse = self.table, z.copy(), self.features.n_sparse
        residual, chances, n_groups = (
            table.right - self.model.p,
            self.model.p,
            len(table.passages[0]),
        )
        size, n = np.abs(z), len(self.features)
        is_asked = (size[:n] >= min_deviate) | self.features.is_published | self._has_context
        large = np.flatnonzero((size > np.maximum(_LARGE, bounds))[:n] & is_asked)
        having = self.features.options_with(large[large < n_sparse])
        for j in large.tolist():
            if j < n_sparse:
                options = next(having)
                question = table.question[options]
                starts = run_starts(question)
                questions = question[starts]
                sums, expected = (
                    np.add.reduceat(values[options], starts) for values in (residual, chances)
                )
            else:
                questions, expected = np.arange(len(table)), np.ones(len(table))
                sums = table.sum(residual * self.features.dense[:, j - n_sparse])
            rest = sums - expected * (sums.sum() / max(expected.sum(), 1e-9))
            group = self.groups[questions]
            single, together = (rest**2).sum(), (np.bincount(group, rest) ** 2).sum()
            of_passages = np.bincount(group, expected, n_groups)
            effective = of_passages.sum() ** 2 / max((of_passages**2).sum(), 1e-9)
            shared = null.events[j] / max(int((of_passages > 0).sum()), 1)
            if shared > _SHARED:
                # If nothing varies, nothing says that gold does not depend on the passage.
                effect = together / single if single > 1e-6 else shared
                smaller = z[j] / math.sqrt(max(effect, 1))
                tail = max(stdtr(max(effective - 1, 1), -abs(smaller)), _LEAST_TAIL)
                tested[j] = -np.sign(smaller) * min(ndtri(tail), 0)
        return tested

    def _draw_bounds(self, null: _Null, choices: _Given) -> tuple[Floats, Floats]:
        """Return the largest absolute deviate of each family in each draw of gold from the model,
        and each feature's bound: what chance in its family exceeds as often as its level says.
        """
        random = np.random.default_rng([self.seed % 2**64, len(self.steps)])
        n = len(self.features)
        largest = np.zeros((len(LEVELS), self.draws))
        batch = max(_BATCH_OPTIONS // len(self.table.texts) // CHOICES, 1) * CHOICES
        starts = range(0, self.draws, batch)
        for start in tracked(starts, len(starts), share=0.3):
            right = self.model.draw(random, min(batch, self.draws - start))
            for first, hits in enumerate(self.features.counts(right.T)):
                draws = slice(first * CHOICES, first * CHOICES + hits.shape[1])
                drawn, place = right[draws], slice(start + draws.start, start + draws.stop)
                shifts = choices.inverse @ self._scores(choices.chosen, drawn)
                deviates = np.abs(null.deviates(hits, choices.across @ shifts))
                for family, row in enumerate(largest[:, place]):
                    row[:] = deviates[self._family[:n] == family].max(axis=0, initial=0)
                if self._order is not None:
                    for i, gold in enumerate(drawn):
                        z = self._order_deviates(self._order(gold), gold, shifts[:, i], choices)
                        at = _OPEN, place.start + i
                        largest[at] = np.abs(z).max(initial=largest[at])
        bounds = [
            np.quantile(row, 1 - level, method="higher")
            for row, level in zip(largest, self._levels, strict=True)
        ]
        return largest, np.array(bounds)[self._family]

    def _scores(self, columns: Floats, right: NDArray[np.bool_]) -> Floats:
        """Return the scores of chosen features in some draws, of shape (n_chosen, n_draws)."""
        scores = np.zeros((columns.shape[1], len(right)))
        for first in range(0, len(columns) if columns.shape[1] else 0, _BLOCK_OPTIONS):
            rows = slice(first, first + _BLOCK_OPTIONS)
            scores += columns[rows].T @ (right[:, rows] - self.model.p[rows]).T
        return scores

    def _choose(self, best: int, z: Floats) -> tuple[int, int]:
        """Choose among the features that say about the same as the best one: the one to act on."""
        n = len(self.features)
        if best >= n:
            return best, 0
        published = self.features.is_published & (z[:n] != 0)
        near = np.flatnonzero((np.abs(z[:n]) >= _NEAR * abs(z[best])) | published)
        near = near[np.argsort(-np.abs(z[near]), kind="stable")][:400]
        x = next(self.features.columns([best]))
        alike = []
        for j, y in zip(near.tolist(), self.features.columns(near.tolist()), strict=True):
            columns = np.stack([x, y], axis=1)
            (own_spread, across), (_, spread) = covariance(self.model, columns, columns)
            if j == best or abs(across) > _ALIKE * math.sqrt(max(spread * own_spread, 1e-12)):
                alike.append(j)
        families = self.features.families

        def preference(j: int) -> tuple[Any, ...]:
            # of features that mirror each other, the one that is right says more
            size = abs(float(z[j]))
            is_less = size < _MIRRORED * abs(z[best])
            return families[j].source, is_less, not is_less and z[j] < 0, -round(size, 6), j

        return min(alike, key=preference), len(alike) - 1


def _roots(name: str) -> frozenset[str]:
    """Return the fields that a feature's name has, without the keys of their entries: "aux" of
    "aux.key".
    """
    return frozenset(field.partition(".")[0] for field in FIELD_NAME.findall(name))


def _exact_deviates(rare: Integers, n: int, entries: Sequence[tuple[Integers, Floats]]) -> Floats:
    """Return the signed normal deviates of all numbers of hits of rare features:
    Poisson-binomial tails.
    """
    from scipy.special import ndtri

    place = np.full(n, -1, dtype=np.int64)
    place[rare] = np.arange(len(rare))
    features = np.concatenate([np.empty(0, dtype=np.int64), *(f for f, _ in entries)])
    chances = np.concatenate([np.empty(0), *(p for _, p in entries)])
    is_rare = place[features] >= 0
    rows, chances = place[features[is_rare]], np.clip(chances[is_rare], 0, 1)
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
    deviates = np.full(odds.shape, -ndtri(_LEAST_TAIL))
    is_possible = np.arange(_EXACT + 1)[:, None] <= n_events
    deviates[is_possible] = -ndtri(np.maximum(smaller[is_possible], _LEAST_TAIL))
    return np.where(upper < lower, deviates, -deviates).T[rank]
