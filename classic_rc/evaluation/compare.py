"""Comparing systems on the same questions: differences with intervals and tests, gains over chance."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.evaluation.comparison import Comparison, Pair, Standing
from classic_rc.evaluation.contest import Contender, Contest
from classic_rc.evaluation.intervals import resampled_metrics
from classic_rc.evaluation.multiplicity import holm
from classic_rc.evaluation.paired import (
    NULL_HYPOTHESES,
    PairedTest,
    bootstrap_test,
    mcnemar_test,
    permutation_test,
)
from classic_rc.evaluation.resampling import Interval, Resampling, percentile_interval
from classic_rc.evaluation.solved import solved_regions
from classic_rc.metrics.base import Metric

_ROUNDING = 1e-9
"""Metrics of equal sums differ by less: a tie."""


def compare(
    contest: Contest,
    *,
    metric: str | None = None,
    test: str = "permutation",
    chance: Contender | None = None,
    n: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Compare all pairs of systems on the questions that they all answered.

    Parameters
    ----------
    contest : Contest
        With two systems or more.
    metric : str, optional
        Its name; by default the task's main one.
    test : {"permutation", "bootstrap", "mcnemar"}
        Of the difference; see :mod:`classic_rc.evaluation.paired`.
    chance : Contender, optional
        What systems gain over: `random` in expectation. By default that of the contest, if it is there.
    n : int
        How many resamples, and random permutations.
    seed : int
        Of both.
    level : float
        Of intervals, in 0..1.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        There are fewer than two systems, the metric or test is not known or not for these questions, or the test
        is not for this metric.
    """
    if len(contest.contenders) < 2:
        raise UsageError("there is nothing to compare: name two systems or more")
    measure = contest.metric(metric)
    if test not in NULL_HYPOTHESES:
        raise unknown_name("test", test, NULL_HYPOTHESES)
    resampling = Resampling(int(contest.groups.max(initial=-1)) + 1, n, seed, level, contest.group)
    if chance is None:
        chance = next((c for c in contest.contenders if c.is_chance), None)
    rows = [contender.statistics[measure.name] for contender in contest.contenders]
    beside = [] if chance is None else [chance.statistics[measure.name]]
    values = [measure.aggregate(of) for of in (*rows, *beside)]
    drawn: Sequence[NDArray[np.float64] | None] = [None] * len(values)
    if resampling.n_groups > 1:
        drawn = resampled_metrics([(measure, of) for of in (*rows, *beside)], contest.groups, n=n, seed=seed)
    measured = _Measured(measure, test, resampling, contest.groups, rows, values, drawn)
    solved_by, regions, left_out = solved_regions(contest)
    return Comparison(
        contest,
        measure,
        test,
        resampling,
        None if chance is None else values[-1],
        tuple(measured.standing(i, c, chance) for i, c in enumerate(contest.contenders)),
        measured.pairs([contender.name for contender in contest.contenders]),
        solved_by,
        regions,
        left_out,
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """All systems' statistics, values and resampled values; those of chance, if any, come last."""

    metric: Metric
    test: str
    resampling: Resampling
    groups: NDArray[np.int64]
    rows: Sequence[NDArray[np.float64]]
    values: Sequence[float]
    drawn: Sequence[NDArray[np.float64] | None]

    def standing(self, i: int, contender: Contender, chance: Contender | None) -> Standing:
        """One system's, with what it gains over chance."""
        value, floor = self.values[i], self.values[-1]
        gains = chance is not None and not contender.is_chance
        return Standing(
            contender.name,
            contender.signature,
            value,
            self._interval(self.drawn[i]),
            value - floor if gains else None,
            self._difference_interval(i, -1) if gains else None,
            (value - floor) / floor if gains and floor else None,
        )

    def pairs(self, names: Sequence[str]) -> tuple[Pair, ...]:
        """All pairs, their p-values adjusted for each other."""
        found = list(itertools.combinations(range(len(names)), 2))
        tests = [self._test(i, j) for i, j in found]
        adjusted = holm([test.p for test in tests]).tolist()
        return tuple(
            Pair(
                names[i],
                names[j],
                self.values[i] - self.values[j],
                self._difference_interval(i, j),
                test.p,
                test.exact,
                p_holm,
                *self._outcomes(i, j),
            )
            for (i, j), test, p_holm in zip(found, tests, adjusted, strict=True)
        )

    def _test(self, i: int, j: int) -> PairedTest:
        if self.test == "mcnemar":
            return mcnemar_test(self.metric, self.rows[i], self.rows[j])
        if self.test == "bootstrap":
            differences = self._differences(i, j)
            if differences is None:
                raise UsageError("--test bootstrap takes at least two different passages or groups")
            return bootstrap_test(self.values[i] - self.values[j], differences)
        n, seed = self.resampling.n, self.resampling.seed
        return permutation_test(self.metric, self.rows[i], self.rows[j], self.groups, n=n, seed=seed)

    def _outcomes(self, i: int, j: int) -> tuple[int, int, int]:
        """Of single questions: wins, ties, losses of the one against the other."""
        more = self.metric.from_means(self.rows[i]) - self.metric.from_means(self.rows[j])
        wins, losses = int((more > _ROUNDING).sum()), int((more < -_ROUNDING).sum())
        return wins, len(more) - wins - losses, losses

    def _differences(self, i: int, j: int) -> NDArray[np.float64] | None:
        one, other = self.drawn[i], self.drawn[j]
        return None if one is None or other is None else one - other

    def _difference_interval(self, i: int, j: int) -> Interval | None:
        return self._interval(self._differences(i, j))

    def _interval(self, values: NDArray[np.float64] | None) -> Interval | None:
        return None if values is None else percentile_interval(values, self.resampling.level)
