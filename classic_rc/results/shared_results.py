"""Results of several systems on the same questions: measured in one way, and joined."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.folds import merge_groups
from classic_rc.metrics.base import METRICS, Metric, metric_of_task, metrics_for
from classic_rc.questions import SHORT_FINGERPRINT, Dataset, Task, describe_difference
from classic_rc.results.grouping import (
    MIN_GROUP_QUESTIONS,
    WITHOUT_COPIES,
    find_defining,
    find_learned,
    group_without_copies,
)
from classic_rc.results.intervals import renumber, subset_intervals
from classic_rc.results.measure import Figure, Measured, find_best
from classic_rc.results.outcomes import UNTESTED, Row
from classic_rc.results.resampling import Interval, Resampling
from classic_rc.results.signature import Signature
from classic_rc.results.significance import Significance, family_tests
from classic_rc.text.scorers import DEFAULT_SCORER


@dataclass(frozen=True)
class SharedResults:
    """The outcomes of several systems on the same questions, and how they are measured."""

    dataset: str  # its name
    fingerprint: str  # of its content; see `Dataset.fingerprint`
    task: Task
    find_groups: Callable[[], NDArray[np.int64]]  # returns `groups`, if they are needed
    systems: tuple[Row, ...]
    group: str | None = None  # the key of `meta` whose equal values are one group too
    # Masks of groups of questions, shape (n_questions,), by key and value.
    groupings: Mapping[str, Mapping[str, NDArray[np.bool_]]] = field(default_factory=dict)
    by: str | None = None  # the key whose groups have columns
    metrics: tuple[str, ...] = ()  # that tables show, in the order of columns
    primary_metric: str | None = None  # that is tested; None for that of the task
    resampling: Resampling | None = None  # how intervals are made; None for no intervals
    tests: Significance | None = None  # how systems are tested; None for no tests
    # why other systems have no results, by name
    missing: Mapping[str, str] = field(default_factory=dict)
    # From a record: `dataset`, `protocol`, `published`, `given`, `version`, `environment`.
    facts: Mapping[str, Any] = field(default_factory=dict)
    # Reads the questions, which results do not have; None if that is impossible.
    read: Callable[[], Dataset] | None = None
    # of the questions, in order; empty if there are no systems
    ids: tuple[str, ...] = ()
    scorers: tuple[str, ...] = ()  # of the questions, the primary one first; see `Question`
    _measured: dict[tuple[str, str | None, int], list[Measured]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """The group of passages of each question, shape (n_questions,): equal passages are one."""
        return self.find_groups()

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return len(self.systems[0].outcomes.n_tied) if self.systems else len(self.groups)

    @property
    def caption(self) -> str:
        """The dataset's name and number of questions: a paper's caption has no fingerprint."""
        return f"{self.dataset} ({self.n_questions:,} questions)"

    @property
    def label(self) -> str:
        """The dataset's name, number of questions and fingerprint."""
        return (
            f"{self.dataset} ({self.n_questions:,} questions, data "
            f"{self.fingerprint[:SHORT_FINGERPRINT]})"
        )

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return [system.name for system in self.systems]

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics that all systems have: the standard ones, and any that every run
        requested.
        """
        names = [metric.name for metric in metrics_for(self)]
        first = self.systems[0].statistics if self.systems else ()
        for name in first:
            if all(name in system.statistics for system in self.systems):
                names.append(name)
        return tuple(dict.fromkeys(names))

    @property
    def n_candidates(self) -> int:
        """Number of candidates of all questions, as the first row counted them; 0 without rows."""
        return sum(int(row.outcomes.n_candidates.sum()) for row in self.systems[:1])

    @property
    def primary(self) -> Metric:
        """The metric that is tested and that groups of questions are reported in."""
        return metric_of_task(self, self.primary_metric)

    @property
    def shown_groups(self) -> Mapping[str, NDArray[np.bool_]]:
        """The groups that have a column: those of `by`, and before them the questions without
        copies, if systems have any.
        """
        return {**group_without_copies(self.systems), **self.groupings.get(self.by or "", {})}

    def with_tests(self, baselines: Sequence[str]) -> SharedResults:
        """Return the results with tests against other baselines, as the recorded ones were made."""
        seed = 0 if self.resampling is None else self.resampling.seed
        default = Significance((), self.primary.name, len(self.systems) - 1, seed=seed)
        return replace(self, tests=replace(self.tests or default, baselines=tuple(baselines)))

    def with_intervals(self, n: int) -> SharedResults:
        """Return the results with intervals of another number of resamples, as the recorded ones
        were made.
        """
        seed = 0 if self.tests is None else self.tests.seed
        default = Resampling.of(self.groups, n, seed, group=self.group)
        return replace(self, resampling=replace(self.resampling or default, n=n))

    @property
    def columns(self) -> list[tuple[Metric, str | None]]:
        """The columns of a table: the metrics on all questions, then the primary one on groups."""
        groups = [(self.primary, group) for group in self.shown_groups]
        return [*((METRICS[name], None) for name in self.metrics), *groups]

    def column_key(self, metric: str, group: str | None) -> str:
        """Return the name of a column in CSV and frames."""
        if group is None:
            return metric
        return metric + (f"[{group}]" if group == WITHOUT_COPIES else f"[{self.by}={group}]")

    def place_figures(self, figures: Iterable[Figure]) -> Iterator[tuple[str, Figure]]:
        """Yield the figures that are about a column, each after the key of the column."""
        keys = {self.column_key(metric.name, group) for metric, group in self.columns}
        for figure in figures:
            key = self.column_key(figure.number.metric, figure.number.group)
            if key in keys and figure.key in (self.by, None):
                yield key, figure

    def mask(self, group: str | None) -> NDArray[np.bool_]:
        """Return the mask of a group that has a column, or of all questions."""
        if group is None:
            return np.ones(self.n_questions, dtype=np.bool_)
        return self.shown_groups[group]

    def is_small(self, group: str | None) -> bool:
        """Return whether a group that has a column is too small to call a number the best."""
        return group is not None and int(self.mask(group).sum()) < MIN_GROUP_QUESTIONS

    def defining(self, group: str | None) -> set[str]:
        """Return the systems whose answers define a group; see :func:`find_defining`."""
        if group is None:
            return set()
        return find_defining(self, self.systems, self.shown_groups, group)

    def part(self, mask: NDArray[np.bool_], name: str) -> SharedResults:
        """Return the results on some of the questions, as a dataset with another name."""
        systems = tuple(system.part(mask) for system in self.systems)
        return replace(
            self,
            dataset=name,
            find_groups=lambda: renumber(self.groups[mask]),
            systems=systems,
            groupings={},
            ids=tuple(itertools.compress(self.ids, mask)),
        )

    def measure(
        self, metric: Metric, group: str | None = None, *, decimals: int = 2
    ) -> list[Measured]:
        """Measure the systems on all questions, or on a group that has a column.

        Systems whose answers define the group, and systems that learned from some of the questions
        are neither ranked nor tested.

        Parameters
        ----------
        metric : Metric
            One that all systems have; see :meth:`metric`.
        group : str, optional
            A key of `shown_groups`; another one is a KeyError. None for all questions.
        decimals : int
            The digits after the decimal point. The best values as printed are marked, except in
            small groups.

        Returns
        -------
        list of Measured
            One per system, in order; values are fractions.
        """
        key = metric.name, group, decimals
        if key not in self._measured:
            ranked = None if self.is_small(group) else decimals
            mask, defining = self.mask(group), self.defining(group)
            self._measured[key] = self.measure_questions(metric, mask, defining, ranked)
        return self._measured[key]

    def measure_questions(
        self,
        metric: Metric,
        mask: NDArray[np.bool_],
        defining: AbstractSet[str] = frozenset(),
        decimals: int | None = None,
    ) -> list[Measured]:
        """Measure the systems on any of the questions, as :meth:`measure` does; the answers of
        `defining` define them.

        Without `decimals`, no value is the best.
        """
        n_questions = int(mask.sum())
        reason = None if n_questions else "the group has no questions"
        rows = [system.statistics[metric.name] for system in self.systems]
        values = [metric.aggregate(of_system[mask]) if n_questions else None for of_system in rows]
        left_out = defining | find_learned(self.systems, mask)
        intervals: Sequence[Interval | None] = [None] * len(rows)
        if self.resampling is not None:
            measured = [(metric, of_system) for of_system in rows]
            intervals = subset_intervals(measured, self.groups, mask, self.resampling)
        tests = [UNTESTED] * len(rows)
        settings = self.tests
        if settings is not None and settings.metric == metric.name and n_questions:
            tests = family_tests(
                metric,
                [of_system[mask] for of_system in rows],
                self.names,
                settings.baselines,
                self.groups[mask],
                n=settings.n,
                seed=settings.seed,
                left_out=left_out,
            )
        best = set() if decimals is None else find_best(self.systems, values, left_out, decimals)
        measurements = []
        for i, system in enumerate(self.systems):
            measurement = Measured(
                value=values[i],
                interval=intervals[i],
                test=tests[i],
                is_best=i in best,
                defines_group=system.name in defining,
                deviation=system.deviation(metric, mask),
                row=system,
                lacks_answers=system.lacks_answers(mask, self.task),
                reason=reason,
            )
            measurements.append(measurement)
        return measurements

    def metric(self, name: str | None = None) -> Metric:
        """Return the metric of a name, or the task's main metric.

        Raises
        ------
        UsageError
            The metric is unknown, does not apply to these questions, or was not measured for all
            systems.
        """
        metric = metric_of_task(self, name)
        if metric.name in self.metric_names:
            return metric
        problem = (
            f"{metric.name} was not measured for all systems on {self.dataset}: run them with it"
        )
        raise UsageError(
            problem, field="metric", found=metric.name, expected=", ".join(self.metric_names)
        )


def join_results(all_results: Sequence[SharedResults], keys: Collection[str] = ()) -> SharedResults:
    """Join the systems, groups and settings of several results on the same questions.

    Settings of intervals and tests are those of the first results that have any.

    Parameters
    ----------
    all_results : sequence of SharedResults
    keys : collection of str
        The keys of groupings that are used: results that have one must have the same groups.

    Raises
    ------
    UsageError
        The results are on other questions, other scorers measured them, or groups of `keys` differ.
    """
    first, *others = all_results
    for further in others:
        if (further.fingerprint, further.n_questions) != (first.fingerprint, first.n_questions):
            raise UsageError(
                f"systems can only be compared on the same questions: {_list_names(first)} "
                f"answered {first.label}, but {_list_names(further)} answered {further.label}"
                f"{_name_difference(first, further)}",
                field="dataset",
                found=further.label,
                expected=first.label,
            )
    _require_equal_facts(all_results)
    groups, group = _join_groups(all_results)
    systems = tuple(system for results in all_results for system in results.systems)
    missing = {name: why for results in all_results for name, why in results.missing.items()}
    for system in systems:
        missing.pop(system.name, None)  # it is missing in some of the results only
    resampling = next((results.resampling for results in all_results if results.resampling), None)
    if resampling is not None:
        resampling = replace(resampling, n_groups=int(groups.max()) + 1, group=group)
    tests = next((results.tests for results in all_results if results.tests), None)
    facts: dict[str, Any] = {}
    for results in all_results:
        for key, fact in results.facts.items():
            if facts.get(key) is None:
                facts[key] = fact
    return replace(
        first,
        systems=systems,
        find_groups=lambda: groups,
        group=group,
        groupings=_join_groupings(all_results, keys),
        resampling=resampling,
        tests=tests,
        missing=missing,
        facts=facts,
    )


def _require_equal_facts(all_results: Sequence[SharedResults]) -> None:
    """Refuse rows that read other sentence marks, that other scorers measured, or whose folds
    follow other values of a key.
    """
    first_seen: dict[str, tuple[str, str]] = {}
    for results in all_results:
        for row in results.systems:
            parts = Signature.parse(row.signature).parts
            key, _, values = parts.get("groups", "").partition("@")
            facts = {
                "sentence marks": parts.get("sentences", "none"),
                "scorers": parts.get("scorer", DEFAULT_SCORER),
            }
            facts |= {f"values of {key!r}, which folds follow,": values} if values else {}
            for what, digest in facts.items():
                name, first_digest = first_seen.setdefault(what, (row.name, digest))
                if digest != first_digest:
                    raise UsageError(
                        f"systems can only be compared on the same questions: the {what} of "
                        f"{results.dataset} are others for {row.name} than for {name}",
                        field="dataset",
                        found=digest[:SHORT_FINGERPRINT],
                        expected=first_digest[:SHORT_FINGERPRINT],
                    )


def _name_difference(first: SharedResults, second: SharedResults) -> str:
    """Return the first difference of the questions; nothing if they are no longer there."""
    if first.read is None or second.read is None:
        return ""
    with suppress(ClassicRCError, TypeError):  # an older version had other options
        questions, others = first.read(), second.read()
        if (questions.fingerprint, others.fingerprint) == (first.fingerprint, second.fingerprint):
            return f": {describe_difference(questions, others)}"
    return ""


def _join_groups(all_results: Sequence[SharedResults]) -> tuple[NDArray[np.int64], str | None]:
    """Return the joined groups of results on the same questions, and their key; no group is
    split.
    """
    groups = all_results[0].groups
    keyed = {results.group: results.groups for results in all_results if results.group is not None}
    for key_groups in keyed.values():
        groups = merge_groups(groups, key_groups.tolist())
    return groups, " and ".join(map(str, keyed)) or None


def _join_groupings(
    all_results: Sequence[SharedResults], used: Collection[str]
) -> dict[str, Mapping[str, NDArray[np.bool_]]]:
    """Return the groups of questions by key; a key that is `used` must have the same groups in
    all results.
    """
    joined: dict[str, Mapping[str, NDArray[np.bool_]]] = {}
    for results in all_results:
        for key, masks in results.groupings.items():
            groups = joined.setdefault(key, masks)
            if key in used and not _are_equal(groups, masks):
                raise UsageError(
                    f"the results on {results.dataset} have different groups of {key}: run the "
                    "systems with the same --labels",
                    field="by",
                    found=key,
                )
    return joined


def _are_equal(
    first: Mapping[str, NDArray[np.bool_]], second: Mapping[str, NDArray[np.bool_]]
) -> bool:
    if first.keys() != second.keys():
        return False
    return all(np.array_equal(mask, second[name]) for name, mask in first.items())


def _list_names(results: SharedResults) -> str:
    names = [system.name for system in results.systems]
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
