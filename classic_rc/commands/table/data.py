"""The data of a paper's table: run records of the same questions joined, and their settings
checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.json import Node, describe_value
from classic_rc.metrics.base import METRICS
from classic_rc.results.measure import Figure, GivenNumber, given_figures
from classic_rc.results.outcomes import Row
from classic_rc.results.record_reading import read_fields
from classic_rc.results.shared_results import SharedResults, join_results

_Parts: TypeAlias = "list[tuple[str, SharedResults]]"
"""The results of several records on the same questions, each with its file."""


@dataclass(frozen=True)
class PaperDataset:
    """The joined results of one dataset, with the settings of its records."""

    label: str  # its name in the table
    # of all systems, with their names in the table, and the settings of intervals and tests
    results: SharedResults
    split: str | None  # "dev" or another official split
    names: frozenset[str]  # that choose its columns
    # The names of the systems in the table by the recorded ones, several for runs.
    new_names: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[Figure, ...] | None = None  # published; None if the record has no list of them

    @property
    def title(self) -> str:
        """Its name and its split."""
        return " ".join(filter(None, (self.label, self.split)))


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
        by_dataset.setdefault((results.fingerprint, results.n_questions), []).append(
            (source, results)
        )
    joined = [_join(parts, by) for parts in by_dataset.values()]
    labels = _unique_labels(joined)
    figures = [_read_figures(parts) for parts in by_dataset.values()]
    known_names = {*labels, *metrics}.union(*map(_names, joined, figures))
    new = parse_renames(renames, known_names)
    notes: list[str] = []
    datasets = [
        _describe(*described, new, notes) for described in zip(joined, figures, labels, strict=True)
    ]
    for dataset, parts in zip(datasets, by_dataset.values(), strict=True):
        tests = [results.tests for _, results in parts if results.tests is not None]
        baselines = list(dict.fromkeys(settings.baselines for settings in tests))
        if len(baselines) > 1:
            names = ", ".join(map(" and ".join, baselines))
            notes.append(
                f"{dataset.label}: its records have several baselines ({names}): the first is used"
            )
    labels_shown = [dataset.label for dataset in datasets]
    for label in labels_shown:
        if labels_shown.count(label) > 1:
            raise UsageError(
                f"two datasets would have the name {label!r}",
                field="--rename",
                found=label,
                expected="two names",
            )
    return datasets, new, notes


def _join(parts: _Parts, by: str | None) -> SharedResults:
    """Return one dataset's results of several records; a system counts once."""
    sources: dict[str, tuple[str, Row]] = {}
    for source, results in parts:
        for system in results.systems:
            earlier_source, earlier = sources.setdefault(system.name, (source, system))
            pairs = ((rows, system.statistics[name]) for name, rows in earlier.statistics.items())
            if not all(np.array_equal(*pair) for pair in pairs):
                raise DataError(
                    f"two records have different results for {system.name} on {results.dataset}",
                    source=source,
                    field="rows",
                    found=f"other numbers than in {earlier_source}",
                    expected="the same numbers, or another name",
                    hint=f"Name one of them: `classic-rc run DATA -s 'NAME={system.name}' --save "
                    "DIR`",
                )
    all_results = [results for _, results in parts]
    joined = join_results(all_results, {by} if by else ())
    protocols = (results.facts.get("protocol") or {} for results in all_results)
    systems = [entry for protocol in protocols for entry in protocol.get("systems", ())]
    rows = tuple(system for _, system in sources.values())
    return replace(joined, by=by, systems=rows, facts={**joined.facts, "systems": systems})


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
        texts_with_kind = zip(texts, kinds, strict=True)
        unique = (text for text, of_kind in texts_with_kind if of_kind.count(text) == 1)
        free = (text for text in unique if text not in labels)
        labels.append(next(free, f"{texts[-1]} ({i + 1})"))
    return labels


def _split(results: SharedResults) -> str | None:
    if results.fingerprint in FINGERPRINTS:
        return FINGERPRINTS[results.fingerprint][1]
    dataset = results.facts.get("dataset")
    split = dataset.get("split") if isinstance(dataset, dict) else None
    return split if isinstance(split, str) else None


def _names(results: SharedResults, figures: Iterable[Figure] | None) -> Iterator[str]:
    """Yield every name that the table may show of one dataset."""
    yield from (results.dataset, *results.names, *results.missing, *results.shown_groups)
    yield from (text for name in results.metric_names for text in (name, METRICS[name].label))
    yield from (figure.system for figure in figures or ())


def parse_renames(texts: Sequence[str], known_names: set[str]) -> dict[str, str]:
    """Return new names by old ones of ``OLD=NEW`` texts; an old name may have ``=`` itself."""
    new = {}
    for text in texts:
        signs = [i for i, letter in enumerate(text) if letter == "="]
        ends = [i for i in signs if text[i + 1 :].strip()]
        if not ends:
            raise UsageError(
                f"invalid --rename {text!r}: expected OLD=NEW",
                field="--rename",
                found=text,
                expected="OLD=NEW",
            )
        known_ends = [i for i in ends if text[:i].strip() in known_names]
        if not known_ends:
            raise unknown_name("name to replace", text[: ends[0]].strip(), known_names)
        end = known_ends[-1]
        new[text[:end].strip()] = text[end + 1 :].strip()
    return new


def _describe(
    results: SharedResults,
    figures: tuple[Figure, ...] | None,
    label: str,
    new: Mapping[str, str],
    notes: list[str],
) -> PaperDataset:
    """Return a dataset with its names in the table and its recorded settings."""
    new_label = new.get(label, new.get(results.dataset, label))
    systems, tests = _join_runs(results, new_label, new), results.tests
    if tests is not None:
        tests = replace(tests, baselines=tuple(new.get(name, name) for name in tests.baselines))
    metrics = [METRICS[name] for name in results.metric_names]
    if results.resampling is not None and (warning := results.resampling.warning(metrics)):
        notes.append(f"{new_label}: {warning}")
    if (results.facts.get("dataset") or {}).get("scorers_proposed"):
        scorers = " and ".join(results.scorers)
        notes.append(f"{new_label}: the scorer {scorers} is proposed by the passages' script")
    missing = {new.get(name, name): reason for name, reason in results.missing.items()}
    new_names = {system.name: new.get(system.name, system.name) for system in results.systems}
    return PaperDataset(
        new_label,
        replace(results, systems=systems, missing=missing, tests=tests),
        _split(results),
        frozenset({new_label, label, results.dataset}),
        new_names,
        figures,
    )


def _join_runs(results: SharedResults, dataset: str, new: Mapping[str, str]) -> tuple[Row, ...]:
    """Return the systems with their new names; those that get the same one must be runs of one
    system.
    """
    for name in dict.fromkeys(new.get(system.name, system.name) for system in results.systems):
        runs = [system for system in results.systems if new.get(system.name, system.name) == name]
        kinds = [{**run.params, "path": None, "seed": None, "settings": None} for run in runs]
        same_solver = all(run.solver == runs[0].solver for run in runs)
        is_one = same_solver and all(kind == kinds[0] for kind in kinds)
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
    figures: dict[Figure, None] = {}
    for source, results in parts:
        facts = Node(results.facts, source)
        given_numbers = facts.child("given") if facts.has("given") else Node({}, source)
        numbers = {
            name: [read_fields(number, GivenNumber) for number in given_numbers.items(name)]
            for name in given_numbers.value
        }
        figures |= dict.fromkeys(given_figures(numbers, results.by))
        if facts.has("published"):
            figures |= dict.fromkeys(map(_read_figure, facts.items("published")))
    has_list = any(results.facts.get("published") is not None for _, results in parts)
    return tuple(figures) if figures or has_list else None


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
