"""The design effect: how much more scores vary if gold depends on the passage of a question."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from classic_rc.commands.check.null_distribution import LEAST_TAIL, NullDistribution
from classic_rc.commands.check.option_arrays import Floats, Integers
from classic_rc.kernels.arrays import run_starts

_LARGE, _SHARED = 3.0, 1.2
"""Deviates from this on are tested for dependence, if features are in so many questions a
passage.
"""


def allow_dependence(
    z: Floats, null: NullDistribution, bounds: Floats, min_deviate: float = 0.0
) -> Floats:
    """Return smaller deviates for features whose questions share passages, if gold depends on
    the passage.

    The variance grows by the design effect: that of sums over passages by that of sums over
    questions, without the effect that is the same everywhere, because that is no dependence.
    The tail is that of Student's t with as many degrees of freedom as passages allow. It is
    computed for the features with deviates above their bounds that have at least the deviate
    `min_deviate`, are published, or have a context.
    """
    passages, group_of_question = null.table.passages
    if len(passages) == len(null.table):
        return z
    tested, features = z.copy(), null.features
    size, n = np.abs(z), len(features)
    is_asked = (size[:n] >= min_deviate) | features.is_published | features.has_context
    large = np.flatnonzero((size > np.maximum(_LARGE, bounds))[:n] & is_asked)
    for j, (questions, sums, expected) in zip(large.tolist(), _scores(null, large), strict=True):
        groups = group_of_question[questions]
        of_passages = np.bincount(groups, expected, len(passages))
        shared = null.events[j] / max(int((of_passages > 0).sum()), 1)
        if shared > _SHARED:
            rest = sums - expected * (sums.sum() / max(expected.sum(), 1e-9))
            single = (rest**2).sum()
            together = (np.bincount(groups, rest) ** 2).sum()
            # If nothing varies, nothing says that gold does not depend on the passage.
            effect = together / single if single > 1e-6 else shared
            effective = of_passages.sum() ** 2 / max((of_passages**2).sum(), 1e-9)
            tested[j] = _smaller_deviate(z[j], effect, effective)
    return tested


def _smaller_deviate(z: float, effect: float, n_passages: float) -> float:
    """Return the normal deviate with the tail of Student's t for a deviate with a design effect."""
    from scipy.special import ndtri, stdtr

    smaller = z / math.sqrt(max(effect, 1))
    tail = stdtr(max(n_passages - 1, 1), -abs(smaller))
    return float(-np.sign(smaller) * min(ndtri(max(tail, LEAST_TAIL)), 0))


def _scores(null: NullDistribution, numbers: Integers) -> Iterator[tuple[Integers, Floats, Floats]]:
    """Yield the questions of each feature with its scores there, and how many hits are expected."""
    table, features, p = null.table, null.features, null.model.p
    residual = table.right - p
    all_questions = np.arange(len(table))
    having = features.options_with(numbers[numbers < features.n_sparse])
    for j in numbers.tolist():
        if j < features.n_sparse:
            options = next(having)
            question = table.question[options]
            starts = run_starts(question)
            sums = np.add.reduceat(residual[options], starts)
            yield question[starts], sums, np.add.reduceat(p[options], starts)
        else:
            sums = table.sum(residual * features.dense[:, j - features.n_sparse])
            yield all_questions, sums, np.ones(len(table))
