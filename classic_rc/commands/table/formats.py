"""The paper's table as a table for every format, and as CSV, with the caption and the notes that
its marks need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, product
from typing import Any

from classic_rc.commands.table.model import PaperRow, PaperTable
from classic_rc.errors import UsageError
from classic_rc.metrics.base import METRICS
from classic_rc.predictions import ANSWER_COUNTS
from classic_rc.reports.references import citation_text
from classic_rc.results.measure import Measured
from classic_rc.results.outcomes import Block
from classic_rc.results.resampling import ALPHA, Interval
from classic_rc.results.result_table import DEFINING_NOTE, SMALL_NOTE, copies_notes
from classic_rc.tables import Cell, Column, RowGroup, Table, records_csv
from classic_rc.tables.latex import Place, latex_text, render_latex
from classic_rc.tables.model import IntervalStyle, baseline_letter, join_words

_SPLITS = {"train": "training", "dev": "development", "test": "test"}
_METRIC_NAMES = {METRICS["accuracy"].label: "Accuracy", "accuracy": "Accuracy"}
_ASYMMETRY = 0.25
_GIVEN = "Given numbers and samples, not compared"

BLOCK_HEADINGS = {
    Block.UNTRAINED: "Learns nothing from gold answers",
    Block.TRAINED: "Trained on gold answers",
    Block.GIVEN: "Given scores or answers",
    Block.PUBLISHED: "Published results",
}


def column_headings(table: PaperTable) -> list[str]:
    """Return the second line of the header: metrics and groups; empty if the dataset says all."""
    metrics_differ = len({(column.metric_label, column.above) for column in table.columns}) > 1
    grouped = {column.dataset for column in table.columns if column.group is not None}
    headings = []
    for column in table.columns:
        if metrics_differ:
            heading = column.metric_label
        else:
            heading = "all" if column.dataset in grouped else ""
        headings.append(column.group_label or heading)
    return headings


def row_name(row: PaperRow) -> str:
    """Return the name of a row, with the source of published figures."""
    return row.name if row.cites is None else f"{row.name} ({citation_text(row.cites)})"


def _named(table: PaperTable, row: PaperRow) -> str:
    """Return the name of a row; one of several baselines has its letter."""
    is_base = table.has_letters and row.name in table.baselines and row.block is not Block.PUBLISHED
    if not is_base:
        return row_name(row)
    letter = baseline_letter(table.baselines.index(row.name))
    return f"{row_name(row)} {letter}"


def marks(cell: Measured) -> str:
    """Return the marks of a cell: an asterisk, a dagger, a double dagger, several or none."""
    signs = (
        (cell.is_tuned_here, "†"),
        (cell.lacks_answers, "‡"),
        (cell.defines_group, "§"),
    )
    return cell.test.mark + "".join(sign for has, sign in signs if has)


def shown_interval(cell: Measured, decimals: int) -> Interval | None:
    """Return a cell's interval, or None if it has none, or if it is a point, as that of a
    constant is.
    """
    if cell.interval is None:
        return None
    digits = min(decimals, 1)
    bounds = {f"{100 * bound:.{digits}f}" for bound in cell.interval}
    return None if len(bounds) == 1 else cell.interval


def uneven_intervals(table: PaperTable) -> int:
    """Return the number of intervals with one side longer than the other by more than a quarter."""
    n_uneven = 0
    for cell in table.cells:
        interval = shown_interval(cell, table.decimals)
        if cell.value is not None and interval is not None:
            low_side, high_side = cell.value - interval.low, interval.high - cell.value
            short, long = sorted((low_side, high_side))
            n_uneven += short < (1 - _ASYMMETRY) * long
    return n_uneven


# --------------------------------------------------------------------------------------------------
# The caption


def default_title(table: PaperTable) -> str:
    """Return what the table shows: the metric, the splits and the datasets."""
    labels = list(dict.fromkeys(column.metric_label for column in table.columns))
    name = _METRIC_NAMES.get(labels[0], labels[0]) if len(labels) == 1 else "Results"
    datasets = table.shown_datasets
    splits = {dataset.split for dataset in datasets}
    names = join_words([dataset.label for dataset in datasets])
    split = splits.pop() if len(splits) == 1 else None
    if split in _SPLITS:
        names = f"the {_SPLITS[split]} {'sets' if len(datasets) > 1 else 'set'} of {names}"
    by = f" by {table.by}" if table.layout == "groups" and table.by else ""
    return f"{name} (%){by} on {names}"


def caption_notes(
    table: PaperTable, intervals: IntervalStyle, *, stacked: bool = False, bold: bool = True
) -> list[str]:
    """Return the sentences that explain intervals, bold numbers and marks.

    `stacked` says whether intervals have lines of their own, `bold` whether best results are bold:
    not in plain text.
    """
    bases = dict.fromkeys(column.above for column in table.columns if column.above)
    notes = [f"Above {base}: (value - {base}) / (1 - {base})" for base in bases]
    if intervals != "none" and any(shown_interval(cell, table.decimals) for cell in table.cells):
        settings = [
            dataset.results.resampling
            for dataset in table.shown_datasets
            if dataset.results.resampling
        ]
        level = f"{100 * settings[0].level:g}%" if settings else "95%"
        interval = f"{level} confidence interval"
        unit = _units(table)
        if intervals == "pm":
            notes.append(f"±: the larger distance to a bound of the {interval} (grouped by {unit})")
        else:
            where = "Small figures" if stacked else "In brackets"
            notes.append(f"{where}: {interval}s (grouped by {unit})")
    if bold and any(cell.is_best for cell in table.cells):
        notes.append(f"Bold: the best result of a {table.family}{_left_out(table)}")
    if any(column.is_tested for column in table.columns):
        notes += _test_notes(table)
    for dataset in table.shown_datasets:
        sentences = map(_as_sentence, copies_notes(dataset.results.systems))
        notes += [sentence for sentence in sentences if sentence not in notes]
    if any(cell.is_tuned_here for cell in table.cells):
        notes.append("†: tuned on the data that it reports")
    notes += [f"‡: {note}" for note in lacking_notes(table)]
    if any(cell.defines_group for cell in table.cells):
        notes.append(DEFINING_NOTE)
    notes += run_notes(table, intervals)
    if table.layout == "groups":
        unnamed = (None, BLOCK_HEADINGS[Block.UNTRAINED], BLOCK_HEADINGS[Block.PUBLISHED])
        for heading, rows in _blocks(table):
            if heading not in unnamed:
                notes.append(f"{heading}: {join_words([row.name for row in rows])}")
    if any(column.is_small for column in table.columns):
        notes.append(_as_sentence(SMALL_NOTE))
    return notes


def _as_sentence(note: str) -> str:
    return note[:1].upper() + note[1:]


def lacking_notes(table: PaperTable) -> Iterator[str]:
    """Yield a sentence on answers that say nothing, if there are any."""
    lacking = []
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.answers is not None and cell.lacks_answers:
                lacking.append(f"{row.name} on {column.dataset}: {cell.answers.note}")
    if lacking:
        reasons = "; ".join(dict.fromkeys(lacking))
        yield f"answers that could not be parsed or are empty count as wrong: {reasons}"


def run_notes(table: PaperTable, intervals: IntervalStyle) -> Iterator[str]:
    """Yield what is said of rows of several runs, and of samples of the questions."""
    for row in table.rows:
        ungrouped_cells = []
        for column, cell in zip(table.columns, row.cells, strict=True):
            if column.group is None and column.above is None:
                ungrouped_cells.append((column, cell))
        metrics_differ = len({column.metric_label for column, _ in ungrouped_cells}) > 1
        deviations = []
        for column, cell in ungrouped_cells:
            if cell.deviation is not None:
                metric = f" ({column.metric_label})" if metrics_differ else ""
                deviation = f"{100 * cell.deviation:.{table.decimals}f}"
                deviations.append(f"{deviation} on {column.dataset}{metric}")
        if deviations:
            numbers: dict[str, None] = {}
            for dataset in table.shown_datasets:
                for system in dataset.results.systems:
                    if system.name == row.name and system.runs > 1:
                        numbers[str(system.runs)] = None
            has_intervals = intervals != "none" and any(
                cell.interval for _, cell in ungrouped_cells
            )
            of_both = "; its intervals are of passages and runs" if has_intervals else ""
            yield (
                f"{row.name}: mean of {join_words(list(numbers))} runs, standard deviation "
                f"{join_words(deviations)}{of_both}"
            )
        samples = [
            f"{cell.sample:,} questions of {column.dataset}"
            for column, cell in ungrouped_cells
            if cell.sample
        ]
        if samples:
            yield (
                f"{row.name}: a sample of {join_words(list(dict.fromkeys(samples)))}, not compared"
            )


def _units(table: PaperTable) -> str:
    is_grouped = any(dataset.results.group for dataset in table.shown_datasets)
    return "groups of passages" if is_grouped else "passages"


def _left_out(table: PaperTable) -> str:
    names = []
    if any(cell.is_expected for cell in table.cells):
        names.append("expectations")
    if any(cell.is_tuned_here for cell in table.cells):
        names.append("systems tuned on the same data")
    if any(row.is_given for row in table.rows):
        names.append("given numbers")
    if any(row.block is Block.PUBLISHED and not row.is_given for row in table.rows):
        names.append("published results")
    return f" ({join_words(names)} are not compared)" if names else ""


def _test_notes(table: PaperTable) -> Iterator[str]:
    tested = [column for column in table.columns if column.is_tested]
    labels = list(dict.fromkeys(column.metric_label for column in tested))
    metrics_differ = len({column.metric_label for column in table.columns}) > 1
    metric = f" in {join_words(labels)}" if metrics_differ else ""
    grouped = _units(table)
    if table.has_letters:
        named = [f"{name} ({baseline_letter(i)})" for i, name in enumerate(table.baselines)]
        yield (
            f"Superscripts: significantly better than {', '.join(named)}{metric} (p < {ALPHA:g}; "
            f"two-sided paired permutation tests over {grouped}, Holm-adjusted over all pairs of a "
            f"system and a baseline in a {table.family})"
        )
    else:
        who = (
            "*: differs"
            if any(cell.test.is_significant for cell in table.cells)
            else "No system here differs"
        )
        yield (
            f"{who} significantly from {table.baselines[0]}{metric} (p < {ALPHA:g}; "
            "two-sided paired permutation test over "
            f"{grouped}, Holm-adjusted over all measured systems of a {table.family})"
        )
    labels = list(dict.fromkeys(column.dataset for column in table.columns))
    untested = [label for label in labels if label not in {column.dataset for column in tested}]
    if untested:
        yield f"No tests on {join_words(untested)}"
    if any(not column.is_tested for column in table.columns if column.dataset not in untested):
        yield "Other metrics are not tested"


def caption(
    table: PaperTable, title: str | None, intervals: IntervalStyle, *, stacked: bool = False
) -> str:
    """Return the caption: the title, then the notes, each as a sentence."""
    sentences = [title or default_title(table), *caption_notes(table, intervals, stacked=stacked)]
    return " ".join(text if text.endswith((".", "!", "?")) else f"{text}." for text in sentences)


# --------------------------------------------------------------------------------------------------
# Formats


def as_table(
    table: PaperTable,
    title: str | None = None,
    intervals: IntervalStyle = "lines",
    *,
    stacked: bool = False,
    bold: bool = True,
    signatures: bool = False,
) -> Table:
    """Return the table of a paper as a table for :func:`~classic_rc.tables.render`.

    Parameters
    ----------
    table : PaperTable
    title : str, optional
        The beginning of the caption, before the notes.
    intervals : {"lines", "pm", "none"}
    stacked, bold : bool
        As in :func:`caption_notes`.
    signatures : bool
        Whether to add the signatures of all systems.
    """
    with_rows = _systems_as_rows if table.layout == "systems" else _groups_as_rows
    columns, row_groups = with_rows(table, intervals)
    notes = caption_notes(table, intervals, stacked=stacked, bold=bold)
    text = caption(table, title, intervals, stacked=stacked)
    shown_signatures = _signatures(table) if signatures else {}
    return Table(title or default_title(table), columns, row_groups, notes, text, shown_signatures)


def _blocks(table: PaperTable) -> Iterator[tuple[str | None, list[PaperRow]]]:
    """Yield the systems of each block after its heading, which a single block does not need."""
    has_headings = len({row.block for row in table.rows}) > 1
    for (block, is_given), rows in groupby(table.rows, key=lambda row: (row.block, row.is_given)):
        heading = _GIVEN if is_given else BLOCK_HEADINGS[block]
        yield heading if has_headings else None, list(rows)


def _systems_as_rows(
    table: PaperTable, intervals: IntervalStyle
) -> tuple[list[Column], list[RowGroup]]:
    columns = [Column("System")]
    for column, name in zip(table.columns, column_headings(table), strict=True):
        columns.append(
            Column(name, "percent", table.decimals, group=column.dataset, intervals=intervals)
        )
    row_groups = []
    for heading, rows in _blocks(table):
        lines: list[list[Any]] = []
        for row in rows:
            cells = [_cell(table, j, cell) for j, cell in enumerate(row.cells)]
            lines.append([_named(table, row), *cells])
        row_groups.append(RowGroup(lines, heading))
    return columns, row_groups


def _groups_as_rows(
    table: PaperTable, intervals: IntervalStyle
) -> tuple[list[Column], list[RowGroup]]:
    """Return the transposed table: a block of rows for each dataset and metric."""
    columns = [Column(table.by or "questions"), Column("n", "count")]
    for row in table.rows:
        name = _named(table, row)
        is_uncited = row.block is Block.PUBLISHED and not (row.is_given or row.cites)
        name += " (published)" if is_uncited else ""
        columns.append(Column(name, "percent", table.decimals, intervals=intervals))
    has_metrics = len({column.metric_label for column in table.columns}) > 1
    blocks: dict[str, list[list[Any]]] = {}
    for j, column in enumerate(table.columns):
        heading = f"{column.dataset}, {column.metric_label}" if has_metrics else column.dataset
        cells = [_cell(table, j, row.cells[j]) for row in table.rows]
        line = [column.group_label or "all", column.questions, *cells]
        blocks.setdefault(heading, []).append(line)
    has_headings = len(blocks) > 1
    row_groups = [
        RowGroup(lines, heading if has_headings else None) for heading, lines in blocks.items()
    ]
    return columns, row_groups


def table_latex(
    table: PaperTable,
    title: str | None = None,
    intervals: IntervalStyle = "lines",
    *,
    label: str = "tab:results",
    width: Place | None = None,
    signatures: bool = False,
) -> str:
    """Return the table in LaTeX; see :func:`~classic_rc.tables.latex.render_latex` for how it fits
    a page.

    Parameters
    ----------
    table : PaperTable
    title : str, optional
        The beginning of the caption, before the notes.
    intervals : {"lines", "pm", "none"}
        Intervals as a second line of small figures, after the number as ±, or not at all.
    label : str
        The key of ``\\label``.
    width : {"column", "text"}, optional
        One column of the paper or its whole width; by default a column if the table has few
        columns.
    signatures : bool
        Whether the signatures of all systems are comments above the table.

    Raises
    ------
    UsageError
        `label` has characters that LaTeX does not take.
    """
    if not re.fullmatch(r"[A-Za-z0-9][\w:.+/-]*", label, re.ASCII):
        raise UsageError(
            f"invalid label {label!r}: expected letters, digits and any of : . + / - _",
            field="--label",
            found=label,
            expected="tab:results",
        )
    has_intervals = any(shown_interval(cell, table.decimals) for cell in table.cells)
    stacked = intervals == "lines" and has_intervals
    plain_table = as_table(table, title, intervals, stacked=stacked, signatures=signatures)
    cited = {}
    for row in table.rows:
        if row.cites:
            cited[row_name(row)] = rf"{latex_text(row.name)} \citep{{{row.cites}}}"
    # The caption has the notes.
    return render_latex(replace(plain_table, notes=()), label=label, place=width, names=cited)


def _signatures(table: PaperTable) -> dict[str, str]:
    names = {row.name for row in table.rows}
    signatures = {}
    for dataset in table.shown_datasets:
        for system in dataset.results.systems:
            if system.name in names:
                signatures[f"{system.name} on {dataset.label}"] = system.short_signature
    return signatures


def _cell(table: PaperTable, j: int, cell: Measured) -> Cell:
    interval, is_small = shown_interval(cell, table.decimals), table.columns[j].is_small
    return Cell(cell.shown(table.decimals), interval, marks(cell), cell.is_best, is_small)


def table_csv(table: PaperTable) -> str:
    """Return one record per cell, with numbers as fractions in full precision."""
    places = list(product(table.rows, range(len(table.columns))))
    if table.layout == "groups":
        # The sort is stable: the records of a column keep the order of their rows.
        places.sort(key=lambda place: place[1])
    return records_csv([_record(table, row, j) for row, j in places])


def _record(table: PaperTable, row: PaperRow, j: int) -> dict[str, Any]:
    column, cell = table.columns[j], row.cells[j]
    low, high = cell.interval or (None, None)
    metric = column.metric.name
    if column.above:
        metric += f" above {column.above}"
    is_tested = cell.test.p_value is not None
    better_than = {}
    if table.has_letters:
        better_than["better_than"] = ", ".join(table.baselines[i] for i in cell.test.beats)
    return {
        "system": row.name,
        "block": str(row.block),
        "dataset": column.dataset,
        "metric": metric,
        "group": column.group,
        "questions": column.questions,
        "value": cell.value,
        "low": low,
        "high": high,
        **better_than,
        "baseline": table.baselines[0] if is_tested else None,
        "p": cell.test.p_value,
        "significant": cell.test.is_significant if is_tested else None,
        "best": cell.is_best,
        "expected": cell.is_expected,
        "deviation": cell.deviation,
        "by_construction": cell.defines_group,
        "tuned_here": cell.is_tuned_here,
        **{name: cell.answers and getattr(cell.answers, name) for name in ANSWER_COUNTS},
        "published": cell.printed,
        "cites": row.cites,
        "reason": cell.reason,
    }
