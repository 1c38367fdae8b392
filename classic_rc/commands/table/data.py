"""The data of a paper's table: run records of the same questions joined, and their settings
checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.json import Node, describe_value
from classic_rc.metrics.base import METRICS, Metric, metric_of_task
from classic_rc.results.comparison import (
    SharedResults,
    join_groupings,
    join_groups,
    require_equal_facts,
)
from classic_rc.results.evaluation import GivenNumber, Significance
from classic_rc.results.outcomes import Row
from classic_rc.results.record import read_fields, read_resampling, read_significance
from classic_rc.results.resampling import Resampling

_Parts: TypeAlias = "list[tuple[str, SharedResults]]"
"""The results of several records on the same questions, each with its file."""

GIVEN = "given"
"""The source of the numbers that a suite gives."""


@dataclass(frozen=True)
class Figure:
    """A number of a record that no row has: given, or published
    (`classic_rc.results.published.PublishedRow`).
    """

    system: str
    source: str
    number: GivenNumber
    cites: str | None = None
    key: str | None = None  # of the group of questions, if it is known


@dataclass(frozen=True)
class PaperDataset:
    """The joined results of one dataset, with the settings of its records."""

    label: str  # its name in the table
    results: SharedResults  # of all systems, with their names in the table
    sources: tuple[str, ...]  # the records
    split: str | None  # "dev" or another official split
    primary: Metric  # that is tested, and that groups are reported in
    names: frozenset[str]  # that choose its columns
    # The names of the systems in the table by the recorded ones, several for runs.
    new_names: Mapping[str, str] = field(default_factory=dict)
    resampling: Resampling | None = None  # how the recorded intervals were made
    tests: Significance | None = None  # how the recorded tests were made
    seed: int = 0  # of recorded intervals or tests
    figures: tuple[Figure, ...] | None = None  # published; None if the record has no list of them

    @property
    def title(self) -> str:
        """Its name and its split."""
        return " ".join(filter(None, (self.label, self.split)))

    @property
    def system_names(self) -> list[str]:
        """The names of its systems in the table."""
        return [system.name for system in self.results.systems]

    def tests_with(self, baselines: Sequence[str]) -> Significance:
        """Return the recorded settings of tests, or the default ones, with other baselines."""
        made = self.tests or Significance(
            (), self.primary.name, len(self.system_names) - 1, seed=self.seed
        )
        return replace(made, baselines=tuple(baselines))

    def resampling_with(self, n: int) -> Resampling:
        """Return the recorded settings of intervals, or the default ones, with another number of
        resamples.
        """
        if self.resampling is not None:
            return replace(self.resampling, n=n)
        return Resampling.of(self.results.groups, n, self.seed, group=self.results.group)


def merge_records(
    records: Sequence[tuple[str, SharedResults]],
    renames: Sequence[str] = (),
    by: str | None = None,
    metrics: Sequence[str] = (),
) -> tuple[list[PaperDataset], dict[str, str], list[str]]:
    """Join the records of each dataset, and give systems and datasets their names in the table.

    Returns the datasets in the order of their first records, the new names by old ones of the texts
    ``OLD=NEW``, and notes. Groups of the key `by`, and `metrics` that no dataset has, may be
    renamed too. Different results for one system are a DataError; an unknown old name, and one name
    for two systems, a UsageError.
    """
    by_dataset: dict[tuple[str, int], _Parts] = {}
    for source, results in records:
        by_dataset.setdefault((results.fingerprint, len(results.groups)), []).append(
            (source, results)
        )
    joined = [_join(parts, by) for parts in by_dataset.values()]
    labels = _unique_labels(joined)
    new = parse_renames(
        renames, {*labels, *metrics}.union(*(_names(parts, by) for parts in by_dataset.values()))
    )
    notes: list[str] = []
    datasets = [
        _describe(results, parts, label, new, notes)
        for results, parts, label in zip(joined, by_dataset.values(), labels, strict=True)
    ]
    for dataset, parts in zip(datasets, by_dataset.values(), strict=True):
        tests = [read_significance(Node(results.facts, source)) for source, results in parts]
        baselines = list(dict.fromkeys(made.baselines for made in tests if made is not None))
        if len(baselines) > 1:
            names = ", ".join(map(" and ".join, baselines))
            notes.append(
                f"{dataset.label}: its records have several baselines ({names}): the first is used"
            )
    shown = [dataset.label for dataset in datasets]
    for label in shown:
        if shown.count(label) > 1:
            raise UsageError(
                f"two datasets would have the name {label!r}",
                field="--rename",
                found=label,
                expected="two names",
            )
    return datasets, new, notes


def _join(parts: _Parts, by: str | None) -> SharedResults:
    """Return one dataset's results of several records."""
    (source, first), *_ = parts
    systems: dict[str, tuple[str, Row]] = {}
    for source, results in parts:
        for system in results.systems:
            other_source, other = systems.setdefault(system.name, (source, system))
            pairs = ((rows, system.statistics[name]) for name, rows in other.statistics.items())
            if not all(np.array_equal(one, two) for one, two in pairs):
                raise DataError(
                    f"two records have different results for {system.name} on {results.dataset}",
                    source=source,
                    field="rows",
                    found=f"other numbers than in {other_source}",
                    expected="the same numbers, or another name",
                    hint=f"Name one of them: `classic-rc run DATA -s 'NAME={system.name}' --save "
                    "DIR`",
                )
    missing, facts = dict[str, str](), dict[str, Any]()
    all_results = [results for _, results in parts]
    for results in all_results:
        missing |= {name: why for name, why in results.missing.items() if name not in systems}
        facts |= {key: value for key, value in results.facts.items() if facts.get(key) is None}
    protocols = (results.facts.get("protocol") or {} for results in all_results)
    facts["systems"] = [entry for of in protocols for entry in of.get("systems", ())]
    require_equal_facts(all_results)
    groups, group = join_groups(all_results)
    return replace(
        first,
        groups=groups,
        group=group,
        systems=tuple(system for _, system in systems.values()),
        groupings=join_groupings(all_results, {by} if by else ()),
        missing=missing,
        facts=facts,
    )


def _unique_labels(all_results: Sequence[SharedResults]) -> list[str]:
    """Return a short name for each dataset: that of a known dataset, or the recorded one."""
    choices = []
    for results in all_results:
        short, _ = FINGERPRINTS.get(results.fingerprint, (results.dataset, None))
        with_split = " ".join(filter(None, (short, _split(results))))
        choices.append((short, with_split, results.dataset))
    kinds = list(zip(*choices, strict=True))
    labels: list[str] = []
    for i, texts in enumerate(choices):
        free = (
            text
            for text, of_kind in zip(texts, kinds, strict=True)
            if of_kind.count(text) == 1 and text not in labels
        )
        labels.append(next(free, f"{texts[-1]} ({i + 1})"))
    return labels


def _split(results: SharedResults) -> str | None:
    if results.fingerprint in FINGERPRINTS:
        return FINGERPRINTS[results.fingerprint][1]
    dataset = results.facts.get("dataset")
    split = dataset.get("split") if isinstance(dataset, dict) else None
    return split if isinstance(split, str) else None


def _names(parts: _Parts, by: str | None) -> Iterator[str]:
    """Yield every name that the table may show of one dataset."""
    for _, results in parts:
        yield from (results.dataset, *(system.name for system in results.systems), *results.missing)
        yield from (text for name in results.metric_names for text in (name, METRICS[name].label))
        yield from results.shown_groups(by)
    yield from (figure.system for figure in _read_figures(parts) or ())


def parse_renames(texts: Sequence[str], known: set[str]) -> dict[str, str]:
    """Return new names by old ones of ``OLD=NEW`` texts; an old name may have ``=`` itself."""
    new = {}
    for text in texts:
        ends = [i for i, letter in enumerate(text) if letter == "=" and text[i + 1 :].strip()]
        if not ends:
            raise UsageError(
                f"invalid --rename {text!r}: expected OLD=NEW",
                field="--rename",
                found=text,
                expected="OLD=NEW",
            )
        known_ends = [i for i in ends if text[:i].strip() in known]
        if not known_ends:
            raise unknown_name("name to replace", text[: ends[0]].strip(), known)
        end = known_ends[-1]
        new[text[:end].strip()] = text[end + 1 :].strip()
    return new


def _describe(
    results: SharedResults, parts: _Parts, label: str, new: Mapping[str, str], notes: list[str]
) -> PaperDataset:
    """Return a dataset with its names in the table and its recorded settings."""
    sources = tuple(dict.fromkeys(source for source, _ in parts))
    facts = Node(results.facts, sources[0])
    shown = new.get(label, new.get(results.dataset, label))
    systems = _join_runs(results, shown, new)
    resampling, tests = read_resampling(facts), read_significance(facts)
    if resampling is not None:
        n, seed, level, unit = resampling.n, resampling.seed, resampling.level, resampling.unit
        resampling = Resampling.of(results.groups, n, seed, level, results.group, unit)
    if tests is not None:
        tests = replace(tests, baselines=tuple(new.get(name, name) for name in tests.baselines))
    primary = metric_of_task(results.task)
    if facts.has("dataset") and facts.child("dataset").has("primary_metric"):
        recorded = facts.child("dataset").text("primary_metric")
        primary = METRICS[recorded] if recorded in results.metric_names else primary
    metrics = [METRICS[name] for name in results.metric_names]
    if resampling is not None and (warning := resampling.warning(metrics)):
        notes.append(f"{shown}: {warning}")
    missing = {new.get(name, name): reason for name, reason in results.missing.items()}
    return PaperDataset(
        shown,
        replace(results, systems=systems, missing=missing),
        sources,
        _split(results),
        primary,
        frozenset({shown, label, results.dataset}),
        {system.name: new.get(system.name, system.name) for system in results.systems},
        resampling,
        tests,
        resampling.seed if resampling is not None else tests.seed if tests is not None else 0,
        _read_figures(parts),
    )


def _join_runs(results: SharedResults, dataset: str, new: Mapping[str, str]) -> tuple[Row, ...]:
    """Return the systems with their new names; those that get the same one must be runs of one
    system.
    """
    for name in dict.fromkeys(new.get(system.name, system.name) for system in results.systems):
        runs = [system for system in results.systems if new.get(system.name, system.name) == name]
        kinds = [{**run.params, "path": None, "seed": None, "settings": None} for run in runs]
        is_one = all(
            run.solver == runs[0].solver and kind == kinds[0]
            for run, kind in zip(runs, kinds, strict=True)
        )
        differ = len({run.signature for run in runs}) == len(runs)
        if len(runs) > 1 and not (is_one and differ):
            expected = "different files, or seeds of one solver, which are then runs of one system"
            raise UsageError(
                f"two systems of {dataset} would have the name {name!r}: expected {expected}",
                field="--rename",
                found=name,
                expected=expected,
            )
    return Row.join_renamed(results.systems, new)


def _read_figures(parts: _Parts) -> tuple[Figure, ...] | None:
    """Return the given numbers and the published figures of records of one dataset; None if
    there are no lists.
    """
    found: dict[Figure, None] = {}
    for source, results in parts:
        facts = Node(results.facts, source)
        key = facts.child("grouping").text("key") if facts.has("grouping") else None
        given = facts.child("given") if facts.has("given") else Node({}, source)
        for name in given.value:
            for number in (read_fields(number, GivenNumber) for number in given.items(name)):
                found[Figure(name, GIVEN, number, key=None if number.group is None else key)] = None
        found |= dict.fromkeys(
            map(_read_figure, facts.items("published") if facts.has("published") else ())
        )
    has_list = any(results.facts.get("published") is not None for _, results in parts)
    return tuple(found) if found or has_list else None


def _read_figure(figure: Node) -> Figure:
    printed = figure.text("printed") if figure.has("printed") else None
    if printed is not None and not printed.replace(".", "", 1).isdecimal():
        raise figure.error(
            "not a figure", field="printed", found=describe_value(printed), expected="a percentage"
        )
    group = figure.texts("group") if figure.has("group") else (None, None)
    if len(group) != 2:
        raise figure.error(
            "not a group", field="group", found=describe_value(group), expected="a key and a value"
        )
    number = GivenNumber(figure.text("metric"), group[1], float(printed or "nan") / 100, printed)
    return read_fields(figure, Figure, number=number, key=group[0])
