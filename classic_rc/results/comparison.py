"""Pairwise comparison of systems on the same questions; their outcomes come from an evaluation
or a run record.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.metrics.base import FULL_CREDIT, Metric, solved_metric
from classic_rc.results.intervals import interval_of, resample_ratios
from classic_rc.results.outcomes import Row, to_plain
from classic_rc.results.resampling import (
    NULL_HYPOTHESES,
    Interval,
    PairedTest,
    Resampling,
    holm,
    mcnemar_test,
    permutation_test,
)
from classic_rc.results.shared_results import SharedResults

MAX_VENN_SYSTEMS = 4
"""More sets than this have too many regions to read."""


@dataclass(frozen=True, slots=True)
class SolvedRegion:
    """The questions that some systems solve and the others do not."""

    systems: tuple[str, ...]  # that solve them; empty for the questions that no system solves
    questions: int
    share: float  # of all questions, in 0..1
    ids: tuple[str, ...]  # of the questions, in the dataset's order


def find_solved_regions(
    results: SharedResults,
) -> tuple[Metric, tuple[SolvedRegion, ...], tuple[str, ...]]:
    """Find the questions that each combination of systems solves and no other system does (ReCoRD,
    Figure 5).

    A question is solved if the answer is fully right; partial credit, as for a tie, is not enough.
    Expectations over draws solve no particular questions and are left out, as are systems beyond
    the first four. Returns the metric that decides what is solved, the 2^k regions of k systems,
    those of most systems first (none for fewer than two systems), and the names of the systems that
    are left out.
    """
    metric = solved_metric(results)
    decided = [system for system in results.systems if not system.expected]
    compared = decided[:MAX_VENN_SYSTEMS] if len(decided) > 1 else []
    names = [system.name for system in compared]
    left_out = tuple(c.name for c in results.systems if c.name not in names)
    if not compared:
        return metric, (), left_out
    solved = [metric.of_questions(c.statistics[metric.name]) >= FULL_CREDIT for c in compared]
    # Bit i of a question's code is 1 if system i solves it.
    codes = np.array(solved).T @ (1 << np.arange(len(solved)))
    regions = []
    for code in range(2 ** len(compared)):
        mask = codes == code
        solving = tuple(name for i, name in enumerate(names) if code >> i & 1)
        ids = tuple(itertools.compress(results.ids, mask))
        regions.append(SolvedRegion(solving, int(mask.sum()), float(mask.mean()), ids))
    # The sort is stable: among combinations of the same size, systems that are named first come
    # first.
    return metric, tuple(sorted(regions, key=lambda region: -len(region.systems))), left_out


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """One system's metric and its gain over chance, as fractions."""

    name: str
    signature: str
    value: float
    interval: Interval | None  # None for fewer than two groups to resample
    gain: float | None  # value - chance; None for chance itself, and if chance is unknown
    gain_interval: Interval | None  # system and chance are resampled together
    relative_gain: float | None  # (value - chance) / chance


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The comparison of two systems on the same questions."""

    first: str
    second: str
    difference: float  # the first's metric minus the second's, as a fraction
    interval: Interval | None  # of the difference of the paired outcomes
    p: float | None  # two-sided; None if one of them learned from some of the questions
    # whether `p` counts all possible outcomes rather than random draws
    exact: bool | None
    p_holm: float | None  # adjusted for all these pairs that are tested
    wins: int  # single questions that the first answers better than the second
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of all systems on one dataset."""

    results: SharedResults
    metric: Metric  # the one that is compared
    test: str  # a name in `NULL_HYPOTHESES`
    resampling: Resampling  # of intervals; a permutation test uses as many draws
    chance: float | None  # the expected metric of `random`
    estimates: tuple[SystemEstimate, ...]  # one per system, in the order given
    pairs: tuple[PairedDifference, ...]  # all pairs of systems, or each system and the baseline
    solved_by: Metric  # the metric that decides which questions are solved
    # which systems solve which questions; empty for fewer than two sets
    regions: tuple[SolvedRegion, ...]
    left_out: tuple[str, ...]  # systems without a region: expectations, and all beyond the fourth
    baseline: str | None = None  # the only system that others are compared with
    # questions that one system has wrong and another one right, as plain data
    examples: Sequence[Mapping[str, Any]] = ()

    @property
    def null_hypothesis(self) -> str:
        """The null hypothesis of the test, in words."""
        return NULL_HYPOTHESES[self.test]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        results = self.results
        return {
            "dataset": {
                "name": results.dataset,
                "task": str(results.task),
                "fingerprint": results.fingerprint,
                "questions": results.n_questions,
            },
            "metric": self.metric.name,
            **({} if self.baseline is None else {"baseline": self.baseline}),
            "resampling": self.resampling.to_dict(),
            "test": {
                "name": self.test,
                "null_hypothesis": self.null_hypothesis,
                "adjusted": "holm",
            },
            "chance": self.chance,
            "systems": to_plain(list(map(asdict, self.estimates))),
            "pairs": to_plain(list(map(asdict, self.pairs))),
            "overlap": {
                "solved_by": self.solved_by.name,
                "regions": to_plain(list(map(asdict, self.regions))),
                "left_out": list(self.left_out),
            },
            "examples": list(self.examples),
        }


_ROUNDING = 1e-9
"""Metrics that differ by less than this are equal up to rounding: a tie."""


def compare(
    results: SharedResults,
    *,
    metric: str | None = None,
    baseline: str | None = None,
    test: str = "permutation",
    chance: Row | None = None,
    n: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Compare systems on the questions that they all answered: all pairs, or each with a baseline.

    Parameters
    ----------
    results : SharedResults
        With two systems or more.
    metric : str, optional
        A metric's name; by default the task's main one.
    baseline : str, optional
        The name of a system. Only the differences of the others from it are tested, and Holm's
        method adjusts for these.
    test : {"permutation", "mcnemar"}
        The test of each difference; see :mod:`classic_rc.results.resampling`.
    chance : Row, optional
        The random baseline in expectation, which gains are measured against. By default the one in
        the results, if it has one.
    n : int
        Number of resamples, and of random permutations.
    seed : int
        The seed of both.
    level : float
        The level of intervals, in 0..1.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        There are fewer than two systems, the metric, the baseline or the test is unknown or does
        not apply to these questions, or the test does not apply to this metric.
    """
    if len(results.systems) < 2:
        raise UsageError(
            f"a comparison needs at least two systems, got {len(results.systems)}: name another "
            "one",
            field="systems",
            found=str(len(results.systems)),
            expected="2 or more",
        )
    names = results.names
    if baseline is not None and baseline not in names:
        raise unknown_name("baseline", baseline, names)
    measure = results.metric(metric)
    if test not in NULL_HYPOTHESES:
        raise unknown_name("test", test, NULL_HYPOTHESES)
    resampling = Resampling.of(results.groups, n, seed, level, results.group)
    if chance is None:
        chance = next((c for c in results.systems if c.is_chance), None)
    measured_systems = results.systems if chance is None else (*results.systems, chance)
    rows = [system.statistics[measure.name] for system in measured_systems]
    values = [measure.aggregate(statistics) for statistics in rows]
    drawn: Sequence[NDArray[np.float64] | None] = []
    if resampling.n_groups > 1:
        measured = [(measure, statistics) for statistics in rows]
        drawn = resample_ratios(measured, results.groups, resampling)
    learned = {i for i, system in enumerate(results.systems) if system.copied is not None}
    measurements = _Measurements(
        measure, test, resampling, results.groups, rows, values, drawn, learned
    )
    solved_by, regions, left_out = find_solved_regions(results)
    estimates = [measurements.estimate(i, c, chance) for i, c in enumerate(results.systems)]
    return Comparison(
        results,
        measure,
        test,
        resampling,
        None if chance is None else values[-1],
        tuple(estimates),
        measurements.pairs(names, baseline),
        solved_by,
        regions,
        left_out,
        baseline,
    )


@dataclass(frozen=True, slots=True)
class _Measurements:
    """The statistics, values and resampled values of all systems; those of chance, if known,
    come last.
    """

    metric: Metric
    test: str
    resampling: Resampling
    groups: NDArray[np.int64]
    rows: Sequence[NDArray[np.float64]]
    values: Sequence[float]
    # Bootstrap distributions of a ratio, None for a mean; empty for fewer than two groups.
    drawn: Sequence[NDArray[np.float64] | None]
    learned: AbstractSet[int]  # systems that learned from some of the questions: not tested

    def estimate(self, i: int, system: Row, chance: Row | None) -> SystemEstimate:
        """Return one system's value, with its gain over chance."""
        value, floor = self.values[i], self.values[-1]
        gain = gain_interval = relative_gain = None
        if chance is not None and not system.is_chance:
            gain, gain_interval = value - floor, self._interval(i, -1)
            relative_gain = gain / floor if floor else None
        return SystemEstimate(
            system.name,
            system.short_signature,
            value,
            self._interval(i),
            gain,
            gain_interval,
            relative_gain,
        )

    def pairs(self, names: Sequence[str], baseline: str | None) -> tuple[PairedDifference, ...]:
        """Compare all pairs, or each system with the baseline; their p-values are adjusted
        together.
        """
        indices = list(itertools.combinations(range(len(names)), 2))
        if baseline is not None:
            base = names.index(baseline)
            indices = [(i, base) for i in range(len(names)) if i != base]
        tests = {}
        for i, j in indices:
            if self.learned.isdisjoint((i, j)):
                tests[i, j] = self._test(i, j)
        adjusted = holm([test.p for test in tests.values()]).tolist()
        adjusted_of = dict(zip(tests, adjusted, strict=True))
        differences = []
        for i, j in indices:
            first, second = names[i], names[j]
            difference = self.values[i] - self.values[j]
            interval = self._interval(i, j)
            p, exact = tests.get((i, j), (None, None))
            p_holm = adjusted_of.get((i, j))
            outcomes = self._outcomes(i, j)  # wins, ties and losses
            differences.append(
                PairedDifference(first, second, difference, interval, p, exact, p_holm, *outcomes)
            )
        return tuple(differences)

    def _test(self, i: int, j: int) -> PairedTest:
        first, second = self.rows[i], self.rows[j]
        if self.test == "mcnemar":
            return mcnemar_test(self.metric, first, second)
        n, seed = self.resampling.n, self.resampling.seed
        return permutation_test(self.metric, first, second, self.groups, n=n, seed=seed)

    def _outcomes(self, i: int, j: int) -> tuple[int, int, int]:
        """Count the single questions where the first system wins, ties and loses."""
        first = self.metric.of_questions(self.rows[i])
        second = self.metric.of_questions(self.rows[j])
        more = first - second
        wins = int((more > _ROUNDING).sum())
        losses = int((more < -_ROUNDING).sum())
        return wins, len(more) - wins - losses, losses

    def _interval(self, i: int, *less: int) -> Interval | None:
        """Return the interval of a system's value, or of the difference of two."""
        if not self.drawn:
            return None
        systems = (i, *less)
        rows = [self.rows[k] for k in systems]
        drawn = [self.drawn[k] for k in systems]
        return interval_of(self.metric, rows, drawn, self.groups, self.resampling.level)
