"""Which feature is chosen: the best one above its bound, or one that says about the same and is
easier to act on.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.conditional_logit import ConditionalLogit, covariance
from classic_rc.commands.check.feature_matrix import FeatureMatrix
from classic_rc.commands.check.option_arrays import Floats

NEAR, _ALIKE = 0.9, 0.7
"""Features with this part of the best deviate, and this correlation with it, say the same."""
_MIRRORED = 0.999
"""From this part of the best deviate on, deviates differ by rounding only."""
_MOST_NEAR = 400
_MOST_MORE = 24


def find_best(z: Floats, is_above: NDArray[np.bool_], n_features: int) -> int | None:
    """Return the feature with the largest deviate of those above their bounds, those of gold
    order, after `n_features`, last.
    """
    above = np.where(is_above, np.abs(z), 0)
    for first, stop in ((0, n_features), (n_features, len(z))):
        if above[first:stop].any():
            return first + int(np.argmax(above[first:stop]))
    return None


def choose_alike(
    model: ConditionalLogit, features: FeatureMatrix, best: int, z: Floats
) -> tuple[int, int]:
    """Choose among the features that say about the same as the best one: the one to act on.

    Return it, and how many others say the same. Deviates of features that are out of question are
    0.
    """
    n = len(features)
    if best >= n:
        return best, 0
    size = np.abs(z)
    is_published = features.is_published & (z[:n] != 0)
    near = np.flatnonzero((size[:n] >= NEAR * size[best]) | is_published)
    near = near[np.argsort(-size[near], kind="stable")][:_MOST_NEAR]
    (column,) = features.columns([best])
    alike = []
    for j, near_column in zip(near.tolist(), features.columns(near.tolist()), strict=True):
        columns = np.stack([column, near_column], axis=1)
        (best_variance, across), (_, variance) = covariance(model, columns, columns)
        deviations = math.sqrt(max(variance * best_variance, 1e-12))
        if j == best or abs(across) > _ALIKE * deviations:
            alike.append(j)

    def preference(j: int) -> tuple[int, bool, bool, float, int]:
        # of features that mirror each other, the one that is right says more
        is_less = bool(size[j] < _MIRRORED * size[best])
        is_wrong = not is_less and bool(z[j] < 0)
        return features.families[j].source, is_less, is_wrong, -round(float(size[j]), 6), j

    return min(alike, key=preference), len(alike) - 1


def features_of_context(
    features: FeatureMatrix, feature: int, deviates: Floats, bounds: Floats
) -> tuple[int, ...]:
    """Return the other features above the bound that say the position by the same context."""
    families = features.families
    if feature >= len(families) or not families[feature].context:
        return ()
    size = np.abs(deviates)
    above = np.flatnonzero((size > bounds)[: len(families)]).tolist()
    same_context = [j for j in above if families[j] == families[feature] and j != feature]
    same_context.sort(key=lambda j: -size[j])
    return tuple(same_context[:_MOST_MORE])


def repeats_known(model: ConditionalLogit, known: Floats, column: Floats, bound: float) -> bool:
    """Return whether a feature only goes along with known ones: everywhere, or among right options
    as among wrong ones.

    Known features are of shape (n_options, n_known), and so is the `column` of the feature.
    """
    table, n = model.table, known.shape[1]
    columns = np.column_stack([known, column])
    means = np.add.reduceat(columns, table.offsets[:-1]) / table.sizes[:, None]
    x = columns - means[table.question]
    explaining = np.column_stack([x[:, :n], table.right, ~table.right])
    weights = np.linalg.lstsq(explaining, x[:, n], rcond=None)[0]
    rest = columns[:, n] - known @ weights[:n]
    columns = np.column_stack([columns, rest])
    covariances = covariance(model, columns, columns)
    deviations = np.sqrt(np.maximum(np.diag(covariances), 0))
    deviate = (rest @ (table.right - model.p)) / max(deviations[n + 1], 1e-6)
    if abs(deviate) <= bound:
        return True
    with_known = np.abs(covariances[n, :n])
    return bool((with_known > _ALIKE * deviations[n] * deviations[:n]).any())
