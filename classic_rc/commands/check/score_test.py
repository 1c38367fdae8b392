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

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from classic_rc.commands.check.conditional_logit import ConditionalLogit, fit_model
from classic_rc.commands.check.design_effect import allow_dependence
from classic_rc.commands.check.families import FIELD, FIELD_NAME
from classic_rc.commands.check.feature_choice import (
    NEAR,
    choose_alike,
    features_of_context,
    find_best,
    repeats_known,
)
from classic_rc.commands.check.feature_matrix import FeatureMatrix
from classic_rc.commands.check.null_distribution import NullDistribution, OrderFeatures, OrderOf
from classic_rc.commands.check.option_arrays import Floats
from classic_rc.io.memory import release_memory

DRAWS = 200
LEVELS = 0.025, 0.015, 0.01
_KNOWN, _OPEN, _FIELDS = range(3)
"""How often chance is above the bound of published cues, of all else that a system sees, with gold
order, and of fields. They add up to 5 %.
"""
MOST_STEPS = 12
"""At most so many choices of what a system sees, and of fields."""
_CORRECTION = 2.0
"""A choice whose deviate before any choice is below this, or has the other sign, is a correction
of the model.
"""
_CLEAR = 1.2
"""A deviate that is this much above the bound of earlier draws needs no new ones: the bound
hardly changes.
"""


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


class _StepSearch(NamedTuple):
    """What a choice is compared with."""

    tested: Floats  # the deviate of each feature
    alone: Floats  # and before any choice
    largest: Floats  # of each family and draw, of shape (3, n_draws)
    bounds: Floats  # of each feature


class ScoreTest:
    """The search for features that tell right options from wrong ones.

    `order` takes the right options and returns the features that read the gold of other questions:
    they are computed again for each draw. The features `given` count as chance. Those that are
    `accepted` are not chosen, nor what only goes along with `known` values.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        order: OrderOf | None = None,
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
        observed = OrderFeatures((), ()) if order is None else order(self.table.right)
        self.observed_order = observed.places + observed.texts
        self.given = np.zeros((len(self.table.texts), 0)) if given is None else given
        self.draws, self.seed, self._advance = draws, seed, advance
        self._levels = levels
        self.steps: list[CueStep] = []
        self.leaking_fields: tuple[str, ...] = ()
        self.model: ConditionalLogit
        families = np.where(features.is_seen, _OPEN, _FIELDS)
        families[features.is_published] = _KNOWN
        self._family = np.append(families, np.full(len(self.observed_order), _OPEN))
        self._of_fields = self._family == _FIELDS
        self._known = np.column_stack([self.given[:, :0], *known])
        self._left_out = self._say_same(accepted)

    def _say_same(self, accepted: Sequence[int]) -> list[int]:
        """Return the accepted features and all others of their contexts and fields."""
        families, numbers = self.features.families, range(len(self.features))
        roots = {j: _roots(self.features.name(j)) for j in numbers if self._of_fields[j]}
        accepted_roots = frozenset().union(*(roots.get(j, ()) for j in accepted))
        same_fields = [j for j in roots if not accepted_roots.isdisjoint(roots[j])]
        contexts = {families[j] for j in accepted if j in numbers and families[j].context}
        same_contexts = [j for j in numbers if families[j] in contexts]
        return [*accepted, *same_fields, *same_contexts]

    def columns(self, features: Sequence[int]) -> Floats:
        """Return the values of features of the matrix, then of gold order, of shape (n_options,
        n).
        """
        n = len(self.features)
        columns = np.zeros((len(self.given), len(features)))
        values = self.features.columns([j for j in features if j < n])
        for column, j in zip(columns.T, features, strict=True):
            if j < n:
                column[:] = next(values)
            else:
                column[self.observed_order[j - n]] = 1
        return columns

    def values_of(self, step: CueStep) -> Floats:
        """Return the values of a choice: its feature, or what all features of its context say
        together.
        """
        columns = self.columns((step.feature, *step.more))
        return np.round(columns @ step.weights, 6) if step.more else columns[:, 0]

    def run(self) -> tuple[CueStep, ...]:
        """Choose features until nothing is above the bound, then fields."""
        bounds = np.full(len(self._family), np.inf)
        columns, alone = self.given, np.zeros(0)
        events: Floats | None = None
        used = list(self._left_out)
        self.model, _ = fit_model(self.table, columns)
        while len(self.features):
            self._advance(f"cues, step {len(self.steps) + 1}")
            null = NullDistribution(self.features, self.model, columns, events)
            events = null.events
            release_memory()
            deviates = null.observed(self._order)
            alone = alone if self.steps else deviates
            z = deviates.copy()
            z[used] = 0
            seen = np.where(self._of_fields, 0, z)
            largest = np.zeros((len(LEVELS), 0))
            best, tested = self._find_best(seen, deviates, null, bounds)
            is_last = len(self.steps) >= MOST_STEPS
            if best is None or is_last or not abs(tested[best]) > _CLEAR * bounds[best]:
                largest, bounds = self._draw_bounds(null)
                best, tested = self._find_best(seen, deviates, null, bounds)
            while best is not None and self._repeats_accepted(best, bounds[best]):
                used.append(best)
                seen[best] = 0
                best, tested = self._find_best(seen, deviates, null, bounds)
            if best is None or is_last:
                tested = allow_dependence(deviates, null, bounds)
                search = _StepSearch(tested, alone, largest, bounds)
                self._choose_fields(columns, np.where(self._of_fields, z, 0), search)
                break
            del null  # which fills the memory
            search = _StepSearch(tested, alone, largest, bounds)
            z = np.where(np.abs(tested) > bounds, seen, 0)
            feature, others = choose_alike(self.model, self.features, best, z)
            more = features_of_context(self.features, feature, tested, bounds)
            used += [best, feature, *more]
            columns, self.model = self._add_step(columns, feature, others, more, search)
        return tuple(self.steps)

    def _find_best(
        self, z: Floats, deviates: Floats, null: NullDistribution, bounds: Floats
    ) -> tuple[int | None, Floats]:
        """Return the best feature, and deviates that allow for dependence, of those features that
        the choice among similar ones looks at.
        """
        tested, compared_from, n = deviates, np.inf, len(self.features)
        while (best := find_best(z, np.abs(tested) > bounds, n)) is not None:
            near = NEAR * abs(z[best])
            if near >= compared_from:
                break
            # Far fewer features than in all are at least as near to one that may be the best.
            tested = allow_dependence(deviates, null, bounds, near)
            compared_from = near
        return best, tested

    def _repeats_accepted(self, feature: int, bound: float) -> bool:
        """Return whether a feature only goes along with known values."""
        has_known = self._known.shape[1] > 0
        return has_known and repeats_known(self.model, self._known, self.columns([feature]), bound)

    def _draw_bounds(self, null: NullDistribution) -> tuple[Floats, Floats]:
        """Return the largest absolute deviate of each family in each draw of gold from the model,
        and each feature's bound: what chance in its family exceeds as often as its level says.
        """
        random = np.random.default_rng([self.seed % 2**64, len(self.steps)])
        families = self._family[: len(self.features)]
        largest = np.zeros((len(LEVELS), self.draws))
        for numbers, deviates, of_order in null.draw(random, self.draws, self._order):
            size = np.abs(deviates)
            del deviates  # which fill the memory
            for family, row in enumerate(largest[:, numbers]):
                row[:] = size[families == family].max(axis=0, initial=0)
            for i, z in enumerate(of_order, numbers.start):
                largest[_OPEN, i] = np.abs(z).max(initial=largest[_OPEN, i])
        bounds = np.zeros(len(LEVELS))
        for family, level in enumerate(self._levels):
            bounds[family] = np.quantile(largest[family], 1 - level, method="higher")
        return largest, bounds[self._family]

    def _add_step(
        self, chosen: Floats, feature: int, others: int, more: tuple[int, ...], search: _StepSearch
    ) -> tuple[Floats, ConditionalLogit]:
        """Add a step; return the chosen features with those of the step, and their model."""
        z, bound = float(search.tested[feature]), float(search.bounds[feature])
        n_larger = int((search.largest[self._family[feature]] >= abs(z)).sum())
        p = (1 + n_larger) / (self.draws + 1)
        is_correction = bool(search.alone[feature] * np.sign(z) < _CORRECTION)
        columns = np.column_stack([chosen, self.columns((feature, *more))])
        model, weights = fit_model(self.table, columns)
        step_weights = weights[chosen.shape[1] :]
        step = CueStep(feature, z, bound, p, others, more, step_weights, is_correction)
        self.steps.append(step)
        return columns, model

    def _choose_fields(self, chosen: Floats, z: Floats, search: _StepSearch) -> None:
        """Choose features of fields, each given the choices before this search.

        Features of different fields that say the same are chosen together, as three votes are.
        """
        features, families, first = self.features, self.features.families, len(self.steps)
        size = np.abs(search.tested)
        is_above = size > search.bounds
        z = np.where(is_above, z, 0)
        names = {j: features.name(j) for j in np.flatnonzero(z).tolist()}
        roots = {j: _roots(name) for j, name in names.items()}
        knowing = [j for j in names if families[j].sees == FIELD.sees and not families[j].context]
        leaking = {field for j in knowing for field in FIELD_NAME.findall(names[j])}
        self.leaking_fields = tuple(sorted(leaking))
        statements = {j: FIELD_NAME.sub("", name) for j, name in names.items()}
        by_size = sorted(names, key=lambda j: -size[j])
        while len(self.steps) < first + MOST_STEPS:
            best = find_best(z, is_above, len(features))
            if best is None:
                break
            feature, others = choose_alike(self.model, features, best, z)
            more = features_of_context(features, feature, search.tested, search.bounds)
            used = roots[best] | roots[feature]
            if not families[feature].context:
                for j in by_size:
                    if statements[j] == statements[feature] and used.isdisjoint(roots[j]):
                        more, used = (*more, j), used | roots[j]
            self._add_step(chosen, feature, others, more, search)
            z[[best, feature]] = 0
            z[[j for j in names if not used.isdisjoint(roots[j])]] = 0
        of_fields = [j for step in self.steps[first:] for j in (step.feature, *step.more)]
        columns = np.column_stack([chosen, self.columns(of_fields)])
        self.model, _ = fit_model(self.table, columns)


def _roots(name: str) -> frozenset[str]:
    """Return the fields that a feature's name has, without the keys of their entries: "aux" of
    "aux.key".
    """
    return frozenset(field.partition(".")[0] for field in FIELD_NAME.findall(name))
