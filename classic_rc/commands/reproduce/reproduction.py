"""Published figures next to the figures that this package computes, and tables of saved runs
that are run again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from classic_rc.datasets.official import OfficialPart, match_official_parts
from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.metrics.base import METRICS
from classic_rc.questions import Dataset
from classic_rc.results.literature import PublishedRow, Reproduction, load_published
from classic_rc.results.outcomes import Row
from classic_rc.results.published import subset_mask
from classic_rc.running.evaluate import evaluate
from classic_rc.running.rerun import RowCheck, RunCheck
from classic_rc.solvers.specs import parse_solver
from classic_rc.tables import Column, RowGroup, Table
from classic_rc.tables.model import Value

_FILE = re.compile(r"\{(\w+)\}")
_ROUNDING = 1e-6

_Key: TypeAlias = "tuple[str, str | None]"
"""A dataset and a split, as in published rows."""


@dataclass(frozen=True)
class ReproducedFigure:
    """A published figure and ours."""

    published: PublishedRow
    reproduction: Reproduction
    data: str  # the names of the datasets that ours is computed on
    n: int  # their questions in the figure's subset
    ours: float | None  # in percent; None if it could not be computed
    problem: str | None = None  # why it could not be computed
    is_same_data: bool = True  # False if ours is on another split than the figure
    is_official: bool = True  # False if the data are known to differ from the official files

    @property
    def difference(self) -> float | None:
        """Ours minus theirs, in points; None if one of them is unknown."""
        value = self.published.value
        return None if self.ours is None or value is None else self.ours - float(value)

    @property
    def agrees(self) -> bool | None:
        """Whether ours rounds to the figure as printed; None if one is unknown or is on other
        questions.
        """
        if self.difference is None or not self.is_same_data:
            return None
        return abs(self.difference) <= 0.5 / 10**self.published.decimals + _ROUNDING

    @property
    def fails(self) -> bool:
        """Whether a figure that should match exactly does not."""
        return self.reproduction.exact and self.is_official and self.agrees is False

    @property
    def reason(self) -> str | None:
        """Why the two differ; None if they agree."""
        if self.problem is not None:
            return self.problem
        if self.agrees:
            return None
        if not self.is_same_data:
            return (
                f"theirs is on {self.published.split}, ours on {self.data}; "
                f"{self.reproduction.reason}"
            )
        if not self.is_official:
            return "the data differs from the official file"
        return (
            "UNEXPLAINED: this figure should be the same"
            if self.fails
            else self.reproduction.reason
        )


def reproduce(
    datasets: Sequence[Dataset],
    files: Mapping[str, Sequence[str]] | None = None,
    jobs: int = 1,
    progress: bool = False,
) -> list[ReproducedFigure]:
    """Run everything that has a published or released figure on these datasets.

    Parameters
    ----------
    datasets : sequence of Dataset
        Splits of any published datasets. Several splits together also give the figures that are
        over all of them, and solvers that learn use the train split among them.
    files : mapping of str to sequence of str, optional
        Files that solvers read, by name: ``rte`` (MCTest's released RTE scores), ``annotations``
        and ``categories`` (Smith et al.).
    jobs : int
        The number of processes to score with.
    progress : bool
        Whether to show progress on stderr if it takes long.

    Returns
    -------
    list of ReproducedFigure
        In the order of the published rows. If the split of a figure is not among the data, but
        another split without a published figure is, the figure is compared with ours on that split.

    Raises
    ------
    UsageError
        There are no published figures for any of the data.
    """
    parts: dict[_Key, tuple[OfficialPart, Dataset]] = {}
    for dataset in datasets:
        for origin, part_dataset in match_official_parts(dataset):
            if origin is not None:
                parts.setdefault((origin.dataset, origin.split), (origin, part_dataset))
    pairs = list(_match_figures(parts))
    if not pairs:
        names = ", ".join(dataset.name for dataset in datasets)
        raise UsageError(
            f"no figures are published for {names}: docs/reproduction.md lists those that are",
            field="datasets",
            found=names,
        )
    part_datasets = {key: part_dataset for key, (_, part_dataset) in parts.items()}
    runs = _RunCache(part_datasets, files or {}, jobs)
    with progress_bar("reproducing", len(pairs), progress) as advance:
        results = []
        for row, keys in pairs:
            results.append(_reproduce_figure(row, keys, parts, runs))
            advance(1)
    return results


def _match_figures(parts: Mapping[_Key, Any]) -> Iterator[tuple[PublishedRow, tuple[_Key, ...]]]:
    """Yield the figures that can be compared, each with the parts that ours is computed on."""
    rows = [row for row in load_published().rows if row.reproduction is not None]
    keys_of_rows = [_figure_keys(row) for row in rows]
    complete = [all(key in parts for key in keys) for keys in keys_of_rows]
    # These parts have a figure of their own, so the figure of another split is not compared on
    # them.
    have_figure: set[tuple[str | None, _Key]] = set()
    for row, keys, is_complete in zip(rows, keys_of_rows, complete, strict=True):
        if is_complete:
            have_figure.update((row.reproduction, key) for key in keys)
    for row, keys, is_complete in zip(rows, keys_of_rows, complete, strict=True):
        if is_complete:
            yield row, keys
            continue
        for key in parts:
            if (
                key[0] == row.dataset
                and key[1] != "train"
                and (row.reproduction, key) not in have_figure
            ):
                yield row, (key,)


def _figure_keys(row: PublishedRow) -> tuple[_Key, ...]:
    """Return all datasets and splits that a figure is over."""
    return tuple(product(row.dataset.split("+"), row.split.split("+")))


class _RunCache:
    """A cache of result rows, with an error message for each row that cannot be computed."""

    def __init__(
        self, parts: Mapping[_Key, Dataset], files: Mapping[str, Sequence[str]], jobs: int
    ) -> None:
        self._parts, self._files, self._jobs = parts, files, jobs
        self._rows: dict[tuple[str, tuple[_Key, ...]], Row | str] = {}

    def over(self, name: str, keys: tuple[_Key, ...]) -> list[Row | str]:
        """Return the rows of a reproduction, one per part or one for all merged; error messages
        for failed ones.
        """
        groups = [keys] if load_published().reproductions[name].merged else [(key,) for key in keys]
        return [self._run(name, group) for group in groups]

    def _run(self, name: str, keys: tuple[_Key, ...]) -> Row | str:
        if (name, keys) not in self._rows:
            try:
                self._rows[name, keys] = self._evaluate(load_published().reproductions[name], keys)
            except ClassicRCError as error:
                self._rows[name, keys] = f"not run: {error}"
        return self._rows[name, keys]

    def _evaluate(self, how: Reproduction, keys: tuple[_Key, ...]) -> Row:
        solver = parse_solver(_FILE.sub(self._file_value, how.solver))
        dataset = self._merge(keys)
        needs_train = solver.learns_from == "gold"
        evaluation = evaluate(
            dataset,
            [solver],
            train=self._find_split(keys[0], how.train, is_needed=needs_train),
            tune=self._find_split(keys[0], how.tune),
            ties=how.ties,
            tune_metric=how.tune_metric,
            jobs=self._jobs,
        )
        return evaluation.rows[0]

    def _merge(self, keys: tuple[_Key, ...]) -> Dataset:
        """Merge the parts into one dataset, as if they were one file."""
        first, *others = (self._parts[key] for key in keys)
        if not others:
            return first
        questions = [question for dataset in (first, *others) for question in dataset]
        return replace(
            first,
            questions=questions,
            name=" + ".join(dataset.name for dataset in (first, *others)),
        )

    def _file_value(self, match: re.Match[str]) -> str:
        """Return the user's file or files in the syntax of a solver specification."""
        paths = [json.dumps(path) for path in self._files.get(match[1], ())]
        if not paths:
            raise UsageError(
                f"needs a file: add --file {match[1]}=FILE", field="--file", found=match[1]
            )
        return paths[0] if len(paths) == 1 else f"[{'; '.join(paths)}]"

    def _find_split(self, key: _Key, split: str | None, is_needed: bool = True) -> Dataset | None:
        dataset = self._parts.get((key[0], split)) if split is not None else None
        if dataset is None and split is not None and is_needed:
            raise UsageError(f"needs {key[0]} {split}: add it to the data")
        return dataset


def _reproduce_figure(
    row: PublishedRow,
    keys: tuple[_Key, ...],
    parts: Mapping[_Key, tuple[OfficialPart, Dataset]],
    runs: _RunCache,
) -> ReproducedFigure:
    how = load_published().reproductions[str(row.reproduction)]
    figure_parts = [parts[key] for key in keys]
    masks = [subset_mask(dataset, row.subset) for _, dataset in figure_parts]
    data = " + ".join(dataset.name for _, dataset in figure_parts)
    is_same_data = keys == _figure_keys(row)
    is_official = all(origin.is_exact is not False for origin, _ in figure_parts)
    figure_masks = [mask for mask in masks if mask is not None]
    n = sum(int(mask.sum()) for mask in figure_masks)
    problem, ours = None, None
    if len(figure_masks) < len(masks):
        problem = "not run: the data lacks the questions of this figure"
    else:
        results = runs.over(str(row.reproduction), keys)
        problem = next((result for result in results if isinstance(result, str)), None)
        outcomes = [result.outcomes.statistics for result in results if isinstance(result, Row)]
        if problem is None and any(row.metric not in statistics for statistics in outcomes):
            problem = f"not run: the results have no metric {row.metric}"
        if problem is None:
            statistics = np.concatenate([own_statistics[row.metric] for own_statistics in outcomes])
            ours = 100 * METRICS[row.metric].aggregate(statistics[np.concatenate(figure_masks)])
    return ReproducedFigure(row, how, data, n, ours, problem, is_same_data, is_official)


def reproduction_table(results: Sequence[ReproducedFigure]) -> Table:
    """Return the table with ours, theirs, their difference and its reason."""
    columns = [
        Column("system"),
        Column("data"),
        Column("subset"),
        Column("n", "count"),
        Column("metric"),
        Column("ours", "percent"),
        Column("theirs", "percent"),
        Column("difference", "points"),
        Column("why", "note"),
        Column("source", "note"),
        Column("solver"),
    ]
    rows = []
    for result in results:
        published = result.published
        cells: list[Value] = [
            published.system,
            result.data,
            published.subset or "all",
            result.n,
            METRICS[published.metric].label,
            None if result.ours is None else result.ours / 100,
            "?" if published.value is None else published.share,
            None if result.difference is None else result.difference / 100,
            result.reason or "same",
            published.source,
            result.reproduction.solver,
        ]
        rows.append(cells)
    agreeing = sum(result.agrees is True for result in results)
    compared = sum(result.agrees is not None for result in results)
    title = (
        f"Published figures: {agreeing} of {compared} on the same questions are the same to the "
        "last printed digit"
        if compared
        else "Published figures: none is known on the same questions"
    )
    return Table(
        title, columns, [RowGroup(rows)], ["ours, theirs: in percent; difference: in points"]
    )


def reproduction_records(results: Sequence[ReproducedFigure]) -> list[dict[str, Any]]:
    """Return every figure with ours as flat records in full precision."""
    return [
        {
            **result.published.to_dict(),
            "solver": result.reproduction.solver,
            "exact": result.reproduction.exact,
            "data": result.data,
            "questions": result.n,
            "ours": result.ours,
            "difference": result.difference,
            "agrees": result.agrees,
            "reason": result.reason,
        }
        for result in results
    ]


_MAX_IDS = 3


def rerun_table(run: RunCheck) -> Table:
    """Return the table of a dataset that was run again, with old and new values of what differs."""
    names = ["system", "", "number", "recorded", "now", "questions", "first of them"]
    kinds = {"recorded": "number", "now": "number", "questions": "count"}
    columns = [Column(name, kinds.get(name, "text")) for name in names]  # type: ignore[arg-type]
    rows = [cells for row in run.rows for cells in _rerun_lines(row)]
    different = sum(not row.same for row in run.rows)
    verdict = (
        f"{different} of {len(run.rows)} rows differ"
        if different
        else f"all {len(run.rows)} rows are the same"
    )
    title = f"{run.dataset} · {run.n_questions:,} questions · {verdict}"
    if not different:
        columns, rows = columns[:2], [cells[:2] for cells in rows]
    return Table(title, columns, [RowGroup(rows)])


def _rerun_lines(row: RowCheck) -> list[list[Value]]:
    """Return one line for a row that is the same; else one line for each number that differs."""
    if row.same:
        return [[row.system, "same", "", "", "", "", ""]]
    n_questions = len(row.questions)
    ids = ", ".join(row.questions[:_MAX_IDS])
    if n_questions > _MAX_IDS:
        ids += ", …"
    numbers = [
        (d.what, _full_precision(d.recorded), _full_precision(d.now)) for d in row.differences
    ]
    first, *others = numbers or [("no metric", "", "")]
    lines: list[list[Value]] = [[row.system, "differs", *first, n_questions, ids]]
    lines += [["", "", *number, "", ""] for number in others]
    return lines


def _full_precision(value: Any) -> str | None:
    return None if value is None else repr(value) if isinstance(value, float) else str(value)
