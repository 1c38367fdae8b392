"""The table of a paper: run records in, one table of all their systems, datasets and metrics out.

Everything is computed from the outcomes in the records: values, intervals and significance. Marks
count all systems in the records; what :meth:`PaperTable.select` leaves out of the table changes
none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from classic_rc.commands.table.data import PaperDataset, merge_records
from classic_rc.commands.table.model import PaperColumn, PaperRow, PaperTable
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.metrics.base import METRICS, Metric, get_metric, metrics_for
from classic_rc.questions import Task
from classic_rc.results.floors import CHANCE, above, find_by_fingerprint
from classic_rc.results.measure import GIVEN, Measured
from classic_rc.results.outcomes import Block
from classic_rc.results.record_reading import read_results
from classic_rc.results.shared_results import SharedResults
from classic_rc.systems import RECORD_NAME

PAPER_METRICS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("accuracy",),
    Task.MULTIPLE_ANSWER: ("f1_m", "f1_a", "em0"),
    Task.CLOZE: ("em", "f1"),
    Task.MULTI_SPAN: ("quoref_em", "quoref_f1"),
}
"""The metrics that papers report for each task; for spans, those of the scorers."""


def read_paper_records(paths: Iterable[str | Path]) -> list[tuple[str, SharedResults]]:
    """Read run records: every dataset's results, each with the name of its file.

    Parameters
    ----------
    paths : iterable of path-like
        Files that ``run --save`` wrote, or their folders.

    Raises
    ------
    DataError
        A file is missing or is not a run record, or the records have no results.
    """
    all_results: list[tuple[str, SharedResults]] = []
    for path in paths:
        file = Path(path) / RECORD_NAME if Path(path).is_dir() else Path(path)
        if not file.is_file():
            folder = Path(path).parent if Path(path).suffix == ".json" else Path(path)
            hint = f"`classic-rc run DATA --save {folder}` writes one"
            raise DataError("no run record", source=str(path), hint=hint)
        all_results += [(str(file), results) for results in read_results(file)]
    if not any(results.systems for _, results in all_results):
        raise DataError(
            "the records have no results", source=", ".join(map(str, paths)), field="rows"
        )
    return all_results


def make_paper_table(
    records: Sequence[tuple[str, SharedResults]],
    *,
    metrics: Sequence[str] = (),
    by: str | None = None,
    baseline: str | Sequence[str] | None = None,
    intervals: int | None = None,
    rename: Sequence[str] = (),
    published: bool = False,
    decimals: int = 1,
) -> PaperTable:
    """Compute the table of all systems in run records.

    Records of the same questions are joined. Systems of different datasets are one row if they have
    the same name. The systems of a column are one family of tests against the baseline in the
    dataset's primary metric, as in :func:`~classic_rc.results.evaluation.with_significance`; each
    group of questions is a family of its own.

    Parameters
    ----------
    records : sequence of (str, SharedResults)
        Results with their files, from :func:`read_paper_records`.
    metrics : sequence of str
        The metrics to report where they apply; by default :data:`PAPER_METRICS` and the primary
        metric.
    by : str, optional
        A key of recorded groups: a column for each group, in the primary metric.
    baseline : str or sequence of str, optional
        The system to test against; by default that of the records, or none. With several, all pairs
        of a system and a baseline in a column are one family, and a cell says which baselines it is
        significantly better than.
    intervals : int, optional
        The number of resamples of passages; by default that of the records, or no intervals.
    rename : sequence of str
        ``OLD=NEW``: other names for systems, datasets, groups and metrics.
    published : bool
        Also show the published figures that the records have for the columns.
    decimals : int
        Digits after the decimal point.

    Returns
    -------
    PaperTable

    Raises
    ------
    UsageError
        A metric, group, baseline or old name is unknown, or the records have different baselines.
    DataError
        Two records have different results for one system on the same questions.
    """
    for name in metrics:
        get_metric(name)
    datasets, new, notes = merge_records(records, rename, by, metrics)
    measured = []
    for dataset in datasets:
        if applied := _metrics_of(dataset, metrics):
            measured.append((dataset, applied))
        else:
            notes.append(f"{dataset.label} is left out: {', '.join(metrics)} do not apply to it")
    if not measured:
        applicable = dict.fromkeys(name for d in datasets for name in d.results.metric_names)
        raise UsageError(
            f"none of the metrics applies to these datasets: choose from {', '.join(applicable)}",
            field="--metrics",
            found=",".join(metrics),
            expected=", ".join(applicable),
        )
    if by is not None and not any(by in dataset.results.groupings for dataset in datasets):
        raise _no_grouping(by, datasets)
    requested = [baseline] if isinstance(baseline, str) else list(dict.fromkeys(baseline or ()))
    baselines = _find_baselines(datasets, requested, new)
    columns: list[PaperColumn] = []
    numbers: list[dict[str, Measured]] = []  # of each column, by the name of the row
    used: list[PaperDataset] = []
    for dataset, applied in measured:
        results = dataset.results
        results = results if intervals is None else results.with_intervals(intervals)
        results = results.with_tests(baselines) if requested else results
        if results.tests is not None and {*results.tests.baselines}.isdisjoint(results.names):
            names = ", ".join(results.tests.baselines)
            notes.append(
                f"{dataset.label}: the baseline {names} has no result, so nothing is marked there"
            )
            results = replace(results, tests=None)
        results = replace(results, metrics=tuple(metric.name for metric in applied))
        used.append(replace(dataset, results=results))
        unmeasured = {name: Measured(reason=reason) for name, reason in results.missing.items()}
        for column in _columns_of(used[-1], new):
            columns.append(column)
            cells = results.measure(column.metric, column.group, decimals=decimals)
            numbers.append({**dict(zip(results.names, cells, strict=True)), **unmeasured})
    rows, row_notes = _systems_as_rows(used, numbers)
    figures, figure_notes = _published_rows(used, columns, new, published=published)
    all_rows, all_notes = (*rows, *figures), (*notes, *row_notes, *figure_notes)
    return PaperTable(
        tuple(columns), all_rows, tuple(used), baselines, decimals, by, notes=all_notes
    )


def _metrics_of(dataset: PaperDataset, names: Sequence[str]) -> list[Metric]:
    results = dataset.results
    standard = PAPER_METRICS.get(results.task) or [metric.name for metric in metrics_for(results)]
    names = names or (*standard, results.primary.name)
    return [METRICS[name] for name in dict.fromkeys(names) if name in dataset.results.metric_names]


def _no_grouping(by: str, datasets: Sequence[PaperDataset]) -> UsageError:
    group_keys = sorted({key for dataset in datasets for key in dataset.results.groupings})
    if group_keys:
        return unknown_name("key of groups in the records", by, group_keys)
    return UsageError(
        "the records have no groups of questions: repeat the runs with `classic-rc run DATA --by "
        f"{by} --save DIR`",
        field="--by",
        found=by,
    )


def _find_baselines(
    datasets: Sequence[PaperDataset], requested: Sequence[str], new: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the names of the baselines in the table: those that are given, or those of the
    records.
    """
    if requested:
        system_names = dict.fromkeys(name for dataset in datasets for name in dataset.results.names)
        baselines = []
        for name in requested:
            baselines.append(name if name in system_names else new.get(name, name))
            if baselines[-1] not in system_names:
                raise unknown_name("baseline", name, system_names)
        return tuple(baselines)
    recorded: dict[tuple[str, ...], str] = {}
    for dataset in datasets:
        if dataset.results.tests is not None:
            recorded.setdefault(dataset.results.tests.baselines, dataset.label)
    if len(recorded) > 1:
        parts = [f"{', '.join(names)} on {label}" for names, label in recorded.items()]
        baselines_by_dataset = "; ".join(parts)
        raise UsageError(
            f"the records have different baselines ({baselines_by_dataset}): choose one with "
            f"--baseline {next(iter(recorded))[0]}",
            field="--baseline",
            found=baselines_by_dataset,
            expected="the same baselines for all datasets",
        )
    return next(iter(recorded), ())


def _columns_of(dataset: PaperDataset, new: Mapping[str, str]) -> Iterator[PaperColumn]:
    """Yield the columns of a dataset."""
    results = dataset.results
    tested = results.tests and results.tests.metric
    for metric, group in results.columns:
        label = new.get(metric.name, new.get(metric.label, metric.label))
        group_label = None if group is None else new.get(group, group)
        suffixes = (metric.name, metric.label, label) if group is None else (group, group_label)
        names = {f"{name}:{suffix}" for name in dataset.names for suffix in suffixes}
        n_questions = int(results.mask(group).sum())
        yield PaperColumn(
            dataset.label,
            metric,
            label,
            group,
            group_label,
            n_questions,
            metric.name == tested,
            dataset.names | names,
        )


def _systems_as_rows(
    datasets: Sequence[PaperDataset], numbers: Sequence[Mapping[str, Measured]]
) -> tuple[list[PaperRow], list[str]]:
    """Return a row per system name, in blocks, and notes on missing cells and changing blocks."""
    order = list(Block)
    blocks: dict[str, Block] = {}
    notes: list[str] = []
    for dataset in datasets:
        for system in dataset.results.systems:
            name, block = system.name, system.block
            earlier_block = blocks.setdefault(name, block)
            if block != earlier_block:
                # A row that learned from gold on one dataset must not look as if it learned
                # nothing.
                blocks[name] = max(earlier_block, block, key=order.index)
                notes.append(
                    f"{name} is in the block {blocks[name]!s}: it is {earlier_block!s} on one "
                    f"dataset and {block!s} on {dataset.label}"
                )
    rows = []
    for name in sorted(blocks, key=lambda name: order.index(blocks[name])):
        cells = tuple(column.get(name, Measured()) for column in numbers)
        if all(cell.value is None for cell in cells):
            notes.append(f"{name} is left out: it has no result in any column")
            continue
        former = (
            old for dataset in datasets for old, new in dataset.new_names.items() if new == name
        )
        rows.append(PaperRow(name, blocks[name], cells, names=frozenset((name, *former))))
    unmeasured = {
        name: reason for dataset in datasets for name, reason in dataset.results.missing.items()
    }
    notes += [
        f"{name} is left out: {reason}" for name, reason in unmeasured.items() if name not in blocks
    ]
    return rows, notes


def _published_rows(
    datasets: Sequence[PaperDataset],
    columns: Sequence[PaperColumn],
    new: Mapping[str, str],
    *,
    published: bool,
) -> tuple[list[PaperRow], list[str]]:
    """Return the given numbers and, on request, the published figures of the columns as rows,
    and notes.
    """
    # by system, source and citation
    rows: dict[tuple[str, str, str | None], dict[PaperColumn, Measured]] = {}
    notes: list[str] = []
    for dataset in datasets:
        results, label = dataset.results, dataset.label
        places = {}
        for column in columns:
            if column.dataset == label:
                places[results.column_key(column.metric.name, column.group)] = column
        if dataset.figures is None and published:
            notes.append(f"{label}: its record has no published figures: run it again with --save")
        for key, figure in results.place_figures(dataset.figures or ()):
            number, source = figure.number.measured, figure.cites or figure.source
            is_known = number.value == number.value  # NaN: the source prints no number
            if not (is_known and (published or figure.source == GIVEN)):
                continue
            cells = rows.setdefault((figure.system, source, figure.cites), {})
            recorded = cells.setdefault(places[key], number)
            if recorded.printed != number.printed:
                notes.append(
                    f"{label}: the table has {recorded.printed} for {figure.system}, and not "
                    f"{number.printed} ({figure.source})"
                )
    paper_rows = []
    for (system, source, cites), cells_by_column in rows.items():
        name = new.get(system, system)
        row = PaperRow(
            name,
            Block.PUBLISHED,
            tuple(cells_by_column.get(column, Measured()) for column in columns),
            cites,
            frozenset({system, name}),
            is_given=source == GIVEN,
        )
        paper_rows.append(row)
    return paper_rows, notes


# --------------------------------------------------------------------------------------------------
# Columns above chance or floor


def add_above(table: PaperTable, base: str) -> PaperTable:
    """Return a table with the column (value - base) / (1 - base) after the primary metric of each
    dataset.

    The base, ``"chance"`` or ``"floor"``, comes from the record: its row of random choice, or the
    best of its rows that learn nothing. Without such a row it is the one that comes with the
    package for data of the same content; a UsageError if that has none.
    """
    parts: list[tuple[PaperColumn, list[Measured]]] = []
    notes = []
    datasets = {dataset.label: dataset for dataset in table.datasets}
    for j, column in enumerate(table.columns):
        cells = [row.cells[j] for row in table.rows]
        parts.append((column, cells))
        dataset = datasets[column.dataset]
        if column.metric != dataset.results.primary or column.group is not None:
            continue
        share, source = _find_base(dataset, base)
        notes.append(
            f"{dataset.label}: above {base}: (value - b) / (1 - b), b = {100 * share:.2f} "
            f"({source})"
        )
        names = frozenset({*column.names, f"above {base}"})
        label = f"above {base}"
        distances = []
        for cell in cells:
            distance = None if cell.value is None else above(cell.value, share)[0]
            distances.append(Measured(distance, is_best=cell.is_best, reason=cell.reason))
        column = replace(column, group_label=label, is_tested=False, names=names, above=base)
        parts.append((column, distances))
    columns = tuple(column for column, _ in parts)
    rows = []
    for i, row in enumerate(table.rows):
        row_cells = tuple(cells[i] for _, cells in parts)
        rows.append(replace(row, cells=row_cells))
    return replace(table, columns=columns, rows=tuple(rows), notes=(*table.notes, *notes))


def _find_base(dataset: PaperDataset, base: str) -> tuple[float, str]:
    """Return the share that a base is, and the system and the place that it is from."""
    metric = dataset.results.primary
    systems = [system for system in dataset.results.systems if system.block is Block.UNTRAINED]
    systems = [system for system in systems if not system.tuned_here]
    if base == "chance":
        systems = [system for system in systems if system.solver == CHANCE]
    elif all(system.solver == CHANCE for system in systems):
        systems = []  # A floor needs another system than random choice.
    if systems:
        shares = [metric.aggregate(system.statistics[metric.name]) for system in systems]
        share, name = max(zip(shares, (system.name for system in systems), strict=True))
        return share, f"{name} of the record"
    shipped = find_by_fingerprint(dataset.results.fingerprint)
    if shipped is None or shipped.metric != metric.name:
        need = CHANCE if base == "chance" else "a system that learns nothing, such as sw+d"
        raise UsageError(
            f"{dataset.label}: neither the record nor the package has its {base}: run it with "
            f"{need} too",
            field="--above",
            found=base,
            expected=f"a record with {need}",
        )
    row = shipped.chance if base == "chance" else shipped.floor
    return shipped.value(row), f"{row.system}, as `classic-rc floor {shipped.name}` has it"
