"""Pairwise comparison of systems on the same questions; their outcomes come from an evaluation
or a run record.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import ClassicRCError, UsageError, unknown_name
from classic_rc.folds import merge_groups, passage_groups
from classic_rc.metrics.base import (
    FULL_CREDIT,
    METRICS,
    SOLVED_BY,
    Metric,
    metric_of_task,
    metrics_for,
)
from classic_rc.questions import SHORT_FINGERPRINT, Dataset, Task, describe_difference
from classic_rc.results.evaluation import Evaluation, Significance
from classic_rc.results.grouping import find_defining, find_learned, group_without_copies
from classic_rc.results.measure import Measured, find_best
from classic_rc.results.outcomes import UNTESTED, Row, to_plain
from classic_rc.results.resampling import (
    NULL_HYPOTHESES,
    Interval,
    PairedTest,
    Resampling,
    holm,
    mcnemar_test,
    permutation_test,
)
from classic_rc.results.signature import Signature
from classic_rc.results.significance import (
    family_tests,
    interval_of,
    resample_ratios,
    subset_intervals,
)


@dataclass(frozen=True)
class SharedResults:
    """The outcomes of several systems on the same questions."""

    dataset: str  # its name
    fingerprint: str  # of its content; see `Dataset.fingerprint`
    task: Task
    # of each question, shape (n_questions,): equal passages are one group
    groups: NDArray[np.int64]
    systems: tuple[Row, ...]
    group: str | None = None  # the key of `meta` whose equal values are one group too
    # Masks of groups of questions, shape (n_questions,), by key and value.
    groupings: Mapping[str, Mapping[str, NDArray[np.bool_]]] = field(default_factory=dict)
    # why other systems have no results, by name
    missing: Mapping[str, str] = field(default_factory=dict)
    # From a record: `dataset`, `significance`, `resampling`, `protocol`, `published`, `version`,
    # `environment`.
    facts: Mapping[str, Any] = field(default_factory=dict)
    # Reads the questions, which results do not have; None if that is impossible.
    read: Callable[[], Dataset] | None = None
    # of the questions, in order; empty if there are no systems
    ids: tuple[str, ...] = ()

    @classmethod
    def of(cls, evaluation: Evaluation, *, group: str | None = None) -> SharedResults:
        """Return the results of an evaluation's rows; questions with equal values of `group` are
        one group.
        """
        dataset = evaluation.dataset
        assert dataset.task is not None  # an evaluation has questions
        return cls(
            dataset.name,
            dataset.fingerprint,
            dataset.task,
            passage_groups(dataset, group),
            evaluation.rows,
            group,
            {} if evaluation.group_by is None else {evaluation.group_by: evaluation.groups},
            {name: str(error) for name, error in evaluation.errors.items()},
            read=lambda: dataset,
            ids=tuple(question.id for question in dataset),
        )

    @property
    def caption(self) -> str:
        """The dataset's name and number of questions: a paper's caption has no fingerprint."""
        return f"{self.dataset} ({len(self.groups):,} questions)"

    @property
    def label(self) -> str:
        """The dataset's name, number of questions and fingerprint."""
        return (
            f"{self.dataset} ({len(self.groups):,} questions, data "
            f"{self.fingerprint[:SHORT_FINGERPRINT]})"
        )

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics that all systems have: the standard ones, and any that every run
        requested.
        """
        shared = [
            name
            for first in self.systems[:1]
            for name in first.statistics
            if all(name in system.statistics for system in self.systems)
        ]
        return tuple(dict.fromkeys([*(metric.name for metric in metrics_for(self.task)), *shared]))

    def shown_groups(self, key: str | None) -> Mapping[str, NDArray[np.bool_]]:
        """Return the groups of a key, and before them the questions without copies, if systems
        have any.
        """
        return {**group_without_copies(self.systems), **self.groupings.get(key or "", {})}

    def part(self, mask: NDArray[np.bool_], name: str) -> SharedResults:
        """Return the results on some of the questions, as a dataset with another name."""
        systems = tuple(system.part(mask) for system in self.systems)
        groups = np.unique(self.groups[mask], return_inverse=True)[1].reshape(-1)
        return replace(
            self,
            dataset=name,
            groups=groups,
            systems=systems,
            groupings={},
            ids=tuple(itertools.compress(self.ids, mask)),
        )

    def defining(self, masks: Mapping[str, NDArray[np.bool_]], name: str) -> set[str]:
        """Return the systems whose answers define a group; see :func:`find_defining`."""
        return find_defining(self.task, self.systems, masks, name)

    def measure(
        self,
        metric: Metric,
        mask: NDArray[np.bool_],
        resampling: Resampling | None = None,
        tests: Significance | None = None,
        *,
        defining: AbstractSet[str] = frozenset(),
        decimals: int = 2,
        has_best: bool = True,
    ) -> list[Measured]:
        """Measure the systems on some of the questions.

        Systems of `defining`, whose answers define the group, and systems that learned from some
        of the questions are neither ranked nor tested. With `has_best`, the best values as printed
        with so many `decimals` are marked.
        """
        rows = [system.statistics[metric.name] for system in self.systems]
        values = [metric.aggregate(of[mask]) for of in rows]
        left_out = defining | find_learned(self.systems, mask)
        intervals: Sequence[Interval | None] = [None] * len(rows)
        if resampling is not None:
            intervals = subset_intervals(
                [(metric, of) for of in rows], self.groups, mask, resampling
            )
        family = [UNTESTED] * len(rows)
        if tests is not None and mask.any():
            names = [system.name for system in self.systems]
            own, parts = self.groups[mask], [of[mask] for of in rows]
            draws: dict[str, Any] = {"n": tests.n, "seed": tests.seed, "left_out": left_out}
            family = family_tests(metric, parts, names, tests.baselines, own, **draws)
        best = find_best(self.systems, values, left_out, decimals) if has_best else ()
        return [
            Measured(
                values[i],
                intervals[i],
                family[i],
                i in best,
                system.name in defining,
                system.deviation(metric, mask),
            )
            for i, system in enumerate(self.systems)
        ]

    def metric(self, name: str | None = None) -> Metric:
        """Return the metric of a name, or the task's main metric.

        Raises
        ------
        UsageError
            The metric is unknown, does not apply to these questions, or was not measured for all
            systems.
        """
        metric = metric_of_task(self.task, name)
        if metric.name in self.metric_names:
            return metric
        problem = (
            f"{metric.name} was not measured for all systems on {self.dataset}: run them with it"
        )
        raise UsageError(
            problem, field="metric", found=metric.name, expected=", ".join(self.metric_names)
        )


def join_results(all_results: Sequence[SharedResults]) -> SharedResults:
    """Join the systems and groups of several results; results on other questions are refused."""
    first, *others = all_results
    for other in others:
        if (other.fingerprint, len(other.groups)) != (first.fingerprint, len(first.groups)):
            raise UsageError(
                f"systems can only be compared on the same questions: {_list_names(first)} "
                f"answered {first.label}, but {_list_names(other)} answered {other.label}"
                f"{_name_difference(first, other)}",
                field="dataset",
                found=other.label,
                expected=first.label,
            )
    require_equal_facts(all_results)
    groups, group = join_groups(all_results)
    systems = tuple(c for results in all_results for c in results.systems)
    return replace(first, systems=systems, groups=groups, group=group)


def require_equal_facts(all_results: Sequence[SharedResults]) -> None:
    """Refuse rows that read other sentence marks, or whose folds follow other values of a key."""
    known: dict[str, tuple[str, str]] = {}
    for results in all_results:
        for row in results.systems:
            parts = Signature.parse(row.signature).parts
            key, _, values = parts.get("groups", "").partition("@")
            facts = {"sentence marks": parts.get("sentences", "none")}
            facts |= {f"values of {key!r}, which folds follow,": values} if values else {}
            for what, digest in facts.items():
                name, other = known.setdefault(what, (row.name, digest))
                if digest != other:
                    raise UsageError(
                        f"systems can only be compared on the same questions: the {what} of "
                        f"{results.dataset} are others for {row.name} than for {name}",
                        field="dataset",
                        found=digest[:SHORT_FINGERPRINT],
                        expected=other[:SHORT_FINGERPRINT],
                    )


def _name_difference(first: SharedResults, other: SharedResults) -> str:
    """Return the first difference of the questions; nothing if they are no longer there."""
    if first.read is None or other.read is None:
        return ""
    with suppress(ClassicRCError, TypeError):  # an older version had other options
        questions, others = first.read(), other.read()
        if (questions.fingerprint, others.fingerprint) == (first.fingerprint, other.fingerprint):
            return f": {describe_difference(questions, others)}"
    return ""


def join_groups(all_results: Sequence[SharedResults]) -> tuple[NDArray[np.int64], str | None]:
    """Return the joined groups of results on the same questions, and their key; no group is
    split.
    """
    groups = all_results[0].groups
    keyed = {results.group: results.groups for results in all_results if results.group is not None}
    for own in keyed.values():
        groups = merge_groups(groups, own.tolist())
    return groups, " and ".join(map(str, keyed)) or None


def join_groupings(
    all_results: Sequence[SharedResults], used: Collection[str]
) -> dict[str, Mapping[str, NDArray[np.bool_]]]:
    """Return the groups of questions by key; a key that is `used` must have the same groups in
    all results.
    """
    joined: dict[str, Mapping[str, NDArray[np.bool_]]] = {}
    for results in all_results:
        for key, masks in results.groupings.items():
            known = joined.setdefault(key, masks)
            same = known.keys() == masks.keys() and all(
                np.array_equal(known[name], masks[name]) for name in known
            )
            if key in used and not same:
                raise UsageError(
                    f"the results on {results.dataset} have different groups of {key}: run the "
                    "systems with the same --labels",
                    field="by",
                    found=key,
                )
    return joined


def _list_names(results: SharedResults) -> str:
    names = [system.name for system in results.systems]
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")


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
    metric = METRICS[SOLVED_BY[results.task]]
    decided = [system for system in results.systems if not system.expected]
    shown = decided[:MAX_VENN_SYSTEMS] if len(decided) > 1 else []
    names = [system.name for system in shown]
    left_out = tuple(c.name for c in results.systems if c.name not in names)
    if not shown:
        return metric, (), left_out
    solved = [metric.of_questions(c.statistics[metric.name]) >= FULL_CREDIT for c in shown]
    # Bit i of a question's code is 1 if system i solves it.
    codes = np.array(solved).T @ (1 << np.arange(len(solved)))
    regions = []
    for code in range(2 ** len(shown)):
        mask = codes == code
        regions.append(
            SolvedRegion(
                tuple(name for i, name in enumerate(names) if code >> i & 1),
                int(mask.sum()),
                float(mask.mean()),
                tuple(itertools.compress(results.ids, mask)),
            )
        )
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
                "questions": len(results.groups),
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
    names = [system.name for system in results.systems]
    if baseline is not None and baseline not in names:
        raise unknown_name("baseline", baseline, names)
    measure = results.metric(metric)
    if test not in NULL_HYPOTHESES:
        raise unknown_name("test", test, NULL_HYPOTHESES)
    resampling = Resampling.of(results.groups, n, seed, level, results.group)
    if chance is None:
        chance = next((c for c in results.systems if c.is_chance), None)
    rows = [system.statistics[measure.name] for system in results.systems]
    chance_rows = [] if chance is None else [chance.statistics[measure.name]]
    values = [measure.aggregate(of) for of in (*rows, *chance_rows)]
    drawn: Sequence[NDArray[np.float64] | None] = []
    if resampling.n_groups > 1:
        measured = [(measure, of) for of in (*rows, *chance_rows)]
        drawn = resample_ratios(measured, results.groups, resampling)
    learned = {i for i, system in enumerate(results.systems) if system.copied is not None}
    measurements = _Measurements(
        measure, test, resampling, results.groups, [*rows, *chance_rows], values, drawn, learned
    )
    solved_by, regions, left_out = find_solved_regions(results)
    return Comparison(
        results,
        measure,
        test,
        resampling,
        None if chance is None else values[-1],
        tuple(measurements.estimate(i, c, chance) for i, c in enumerate(results.systems)),
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
        gains = chance is not None and not system.is_chance
        return SystemEstimate(
            system.name,
            system.short_signature,
            value,
            self._interval(i),
            value - floor if gains else None,
            self._interval(i, -1) if gains else None,
            (value - floor) / floor if gains and floor else None,
        )

    def pairs(self, names: Sequence[str], baseline: str | None) -> tuple[PairedDifference, ...]:
        """Compare all pairs, or each system with the baseline; their p-values are adjusted
        together.
        """
        indices = list(itertools.combinations(range(len(names)), 2))
        if baseline is not None:
            second = names.index(baseline)
            indices = [(i, second) for i in range(len(names)) if i != second]
        tests = [None if self.learned & {i, j} else self._test(i, j) for i, j in indices]
        adjusted = iter(holm([test.p for test in tests if test is not None]).tolist())
        return tuple(
            PairedDifference(
                names[i],
                names[j],
                self.values[i] - self.values[j],
                self._interval(i, j),
                test and test.p,
                test and test.exact,
                test and next(adjusted),
                *self._outcomes(i, j),
            )
            for (i, j), test in zip(indices, tests, strict=True)
        )

    def _test(self, i: int, j: int) -> PairedTest:
        if self.test == "mcnemar":
            return mcnemar_test(self.metric, self.rows[i], self.rows[j])
        return permutation_test(
            self.metric,
            self.rows[i],
            self.rows[j],
            self.groups,
            n=self.resampling.n,
            seed=self.resampling.seed,
        )

    def _outcomes(self, i: int, j: int) -> tuple[int, int, int]:
        """Count the single questions where the first system wins, ties and loses."""
        more = self.metric.of_questions(self.rows[i]) - self.metric.of_questions(self.rows[j])
        wins, losses = int((more > _ROUNDING).sum()), int((more < -_ROUNDING).sum())
        return wins, len(more) - wins - losses, losses

    def _interval(self, i: int, *less: int) -> Interval | None:
        """Return the interval of a system's value, or of the difference of two."""
        if not self.drawn:
            return None
        systems = (i, *less)
        rows, drawn = [self.rows[k] for k in systems], [self.drawn[k] for k in systems]
        return interval_of(self.metric, rows, drawn, self.groups, self.resampling.level)
