"""The paper's table as text, Markdown, HTML and CSV, with the caption and the notes that its marks need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from classic_rc.evaluation.resampling import Interval
from classic_rc.evaluation.results import ALPHA, Block
from classic_rc.io.printable import printable
from classic_rc.metrics.registry import METRICS
from classic_rc.reports.paper_table import Cell, PaperRow, PaperTable
from classic_rc.reports.references import citation_text
from classic_rc.reports.results import answer_columns
from classic_rc.reports.tables import (
    EMPTY_CELL,
    Table,
    isolate_direction,
    markdown_block,
    markdown_escape,
    records_csv,
    render,
)

IntervalStyle = Literal["lines", "pm", "none"]
"""Intervals as a second line (in brackets where a cell has one line), as ±, or not at all."""

_SPLITS = {"train": "training", "dev": "development", "test": "test"}
_METRIC_NAMES = {"accuracy": "Accuracy"}
_ASYMMETRY = 0.25

BLOCK_HEADINGS = {
    Block.UNTRAINED: "Learns nothing from gold answers",
    Block.TRAINED: "Trained on gold answers",
    Block.GIVEN: "Given scores or answers",
    Block.PUBLISHED: "Published results",
}


def column_headings(table: PaperTable) -> list[str]:
    """Return the second line of the header: metrics and groups; empty if the dataset says all."""
    several = len({column.metric_label for column in table.columns}) > 1
    grouped = {column.dataset for column in table.columns if column.group is not None}
    return [
        column.group_label or (column.metric_label if several else "all" if column.dataset in grouped else "")
        for column in table.columns
    ]


def dataset_spans(table: PaperTable) -> list[tuple[str, int]]:
    """Return the first line of the header: each dataset with its number of columns."""
    spans: list[tuple[str, int]] = []
    for column in table.columns:
        if spans and spans[-1][0] == column.dataset:
            spans[-1] = (column.dataset, spans[-1][1] + 1)
        else:
            spans.append((column.dataset, 1))
    return spans


def block_headings(table: PaperTable) -> dict[int, str]:
    """Return the headings by the index of the row below; none if all rows are of one block."""
    blocks = [row.block for row in table.rows]
    if len(set(blocks)) < 2:
        return {}
    return {blocks.index(block): BLOCK_HEADINGS[block] for block in dict.fromkeys(blocks)}


def row_name(row: PaperRow) -> str:
    """Return the name of a row, with the source of published figures."""
    return row.name if row.cites is None else f"{row.name} ({citation_text(row.cites)})"


def marks(cell: Cell) -> str:
    """Return the marks of a cell: an asterisk, a dagger, a double dagger, several or none."""
    lacks = cell.answers is not None and cell.answers.note
    return ("*" if cell.is_significant else "") + ("†" if cell.is_tuned_here else "") + ("‡" if lacks else "")


def bound_text(fraction: float, decimals: int) -> str:
    """Return the bound or half of an interval in percent: with one digit, or none if the numbers have none."""
    return f"{100 * fraction:.{min(decimals, 1)}f}"


def shown_interval(cell: Cell, decimals: int) -> Interval | None:
    """Return a cell's interval, or None if it has none, or if it is a point, as that of a constant is."""
    if cell.interval is None or len({bound_text(bound, decimals) for bound in cell.interval}) == 1:
        return None
    return cell.interval


def half_width(cell: Cell, decimals: int) -> float | None:
    """Return the larger distance of a bound from the value, so that ± never claims too much; None without one."""
    if cell.value is None or (interval := shown_interval(cell, decimals)) is None:
        return None
    return max(cell.value - interval.low, interval.high - cell.value)


def uneven_intervals(table: PaperTable) -> int:
    """Return the number of intervals with one side longer than the other by more than a quarter."""
    sides = [
        sorted((cell.value - interval.low, interval.high - cell.value))
        for cell in table.cells
        if cell.value is not None and (interval := shown_interval(cell, table.decimals)) is not None
    ]
    return sum(short < (1 - _ASYMMETRY) * long for short, long in sides)


# ------------------------------------------------------------------------------------------------------------------
# The caption


def default_title(table: PaperTable) -> str:
    """Return what the table shows: the metric, the splits and the datasets."""
    labels = list(dict.fromkeys(column.metric_label for column in table.columns))
    metric = table.columns[0].metric if table.columns else METRICS["accuracy"]
    name = _METRIC_NAMES.get(labels[0].lower(), labels[0]) if len(labels) == 1 else "Results"
    if len(labels) == 1 and labels[0] == metric.label:
        name = _METRIC_NAMES.get(metric.name, metric.label)
    datasets = table.shown_datasets
    splits = {dataset.split for dataset in datasets}
    names = join_words([dataset.label for dataset in datasets])
    split = splits.pop() if len(splits) == 1 else None
    if split in _SPLITS:
        names = f"the {_SPLITS[split]} {'sets' if len(datasets) > 1 else 'set'} of {names}"
    return f"{name} (%) on {names}"


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def caption_notes(
    table: PaperTable, intervals: IntervalStyle, *, stacked: bool = False, bold: bool = True
) -> list[str]:
    """Return the sentences that explain intervals, bold numbers and marks.

    Parameters
    ----------
    table : PaperTable
    intervals : {"lines", "pm", "none"}
    stacked : bool
        Whether intervals have lines of their own.
    bold : bool
        Whether best results are bold, which plain text cannot show.
    """
    notes = []
    if intervals != "none" and any(shown_interval(cell, table.decimals) for cell in table.cells):
        settings = [dataset.resampling for dataset in table.shown_datasets if dataset.resampling]
        level = f"{100 * settings[0].level:g}%" if settings else "95%"
        interval = f"{level} confidence interval"
        unit = "groups of passages" if any(d.results.group for d in table.shown_datasets) else "passages"
        if intervals == "pm":
            notes.append(f"±: the larger distance to a bound of the {interval} (bootstrap over {unit})")
        else:
            where = "Small figures" if stacked else "In brackets"
            notes.append(f"{where}: {interval}s (bootstrap over {unit})")
    if bold and any(cell.is_best for cell in table.cells):
        notes.append(f"Bold: the best result of a column{_left_out(table)}")
    if any(column.is_tested for column in table.columns):
        notes += _test_notes(table)
    if any(cell.is_tuned_here for cell in table.cells):
        notes.append("†: tuned on the data that it reports")
    lacking = [
        f"{row.name} on {column.dataset}: {cell.answers.note}"
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.answers is not None and cell.answers.note
    ]
    if lacking:
        notes.append(
            f"‡: answers that could not be parsed or are empty count as wrong: {'; '.join(dict.fromkeys(lacking))}"
        )
    if any(column.is_small for column in table.columns):
        notes.append("In parentheses: groups of fewer than 10 questions")
    return notes


def _left_out(table: PaperTable) -> str:
    kinds = (
        ("expectations", any(cell.is_expected for cell in table.cells)),
        ("systems tuned on the same data", any(cell.is_tuned_here for cell in table.cells)),
        ("published results", any(row.block is Block.PUBLISHED for row in table.rows)),
    )
    names = [name for name, is_there in kinds if is_there]
    return f" ({join_words(names)} are not compared)" if names else ""


def _test_notes(table: PaperTable) -> Iterator[str]:
    tested = [column for column in table.columns if column.is_tested]
    labels = list(dict.fromkeys(column.metric_label for column in tested))
    several = len({column.metric_label for column in table.columns}) > 1
    metric = f" in {join_words(labels)}" if several else ""
    grouped = "groups of passages" if any(d.results.group for d in table.shown_datasets) else "passages"
    who = "*: differs" if any(cell.is_significant for cell in table.cells) else "No system here differs"
    yield (
        f"{who} significantly from {table.baseline}{metric} (p < {ALPHA:g}; "
        f"two-sided paired permutation test over {grouped}, Holm-adjusted over all measured systems of a column)"
    )
    untested = [label for label, _ in dataset_spans(table) if label not in {column.dataset for column in tested}]
    if untested:
        yield f"No tests on {join_words(untested)}"
    if any(not column.is_tested for column in table.columns if column.dataset not in untested):
        yield "Other metrics are not tested"


def caption(table: PaperTable, title: str | None, intervals: IntervalStyle, *, stacked: bool = False) -> str:
    """Return the caption: the title, then the notes, each as a sentence."""
    sentences = [title or default_title(table), *caption_notes(table, intervals, stacked=stacked)]
    return " ".join(text if text.endswith((".", "!", "?")) else f"{text}." for text in sentences)


# ------------------------------------------------------------------------------------------------------------------
# Formats


def cell_parts(table: PaperTable, j: int, cell: Cell, intervals: IntervalStyle) -> tuple[str, str, str]:
    """Return a cell's number or dash, its marks, and the text of its interval."""
    number = cell.number(table.decimals)
    if number is None:
        return EMPTY_CELL, "", ""
    interval, half = shown_interval(cell, table.decimals), half_width(cell, table.decimals)
    shown = ""
    if intervals == "lines" and interval is not None:
        shown = " [{}, {}]".format(*(bound_text(bound, table.decimals) for bound in interval))
    elif intervals == "pm" and half is not None:
        shown = f" ± {bound_text(half, table.decimals)}"
    return (f"({number})" if table.columns[j].is_small else number), marks(cell), shown


def _flat_header(table: PaperTable) -> list[str]:
    pairs = zip(table.columns, column_headings(table), strict=True)
    return ["System", *(f"{column.dataset} {heading}".strip() for column, heading in pairs)]


def table_text(table: PaperTable, title: str | None = None, intervals: IntervalStyle = "lines") -> str:
    """Return the table as plain text."""
    rows = [
        [row_name(row), *("".join(cell_parts(table, j, cell, intervals)) for j, cell in enumerate(row.cells))]
        for row in table.rows
    ]
    notes = caption_notes(table, intervals, bold=False)
    headings = block_headings(table)
    return render(
        Table(title or default_title(table), _flat_header(table), rows, notes=notes, headings=headings), "table"
    )


def table_markdown(table: PaperTable, title: str | None = None, intervals: IntervalStyle = "lines") -> str:
    """Return the table as Markdown; only the number of a best result is bold."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    def text(words: str) -> str:
        return isolate_direction(markdown_escape(printable(words)))

    header = _flat_header(table)
    lines = [line([text(name) for name in header]), "|---|" + "---:|" * len(table.columns)]
    headings = block_headings(table)
    for i, row in enumerate(table.rows):
        if i in headings:
            lines.append(line([f"*{text(headings[i])}*", *[""] * len(table.columns)]))
        cells = []
        for j, cell in enumerate(row.cells):
            number, mark, interval = cell_parts(table, j, cell, intervals)
            cells.append((f"**{number}**" if cell.is_best else number) + markdown_escape(mark + interval))
        lines.append(line([text(row_name(row)), *cells]))
    return "\n".join([*lines, "", markdown_block(printable(caption(table, title, intervals)))]) + "\n"


def table_html(table: PaperTable, title: str | None = None, intervals: IntervalStyle = "lines") -> str:
    """Return the table as an HTML element that needs no style sheet, for a page or a notebook."""
    from classic_rc.reports.html import fill_template

    headings, second = block_headings(table), column_headings(table)
    rows = [
        {
            "heading": headings.get(i),
            "name": row_name(row),
            "cells": [
                {"parts": cell_parts(table, j, cell, intervals), "best": cell.is_best}
                for j, cell in enumerate(row.cells)
            ],
        }
        for i, row in enumerate(table.rows)
    ]
    return fill_template(
        "paper.html",
        caption=caption(table, title, intervals),
        spans=dataset_spans(table),
        second=second if any(second) else [],
        n_columns=len(table.columns) + 1,
        rows=rows,
    )


def table_csv(table: PaperTable) -> str:
    """Return one record per cell, with numbers as fractions in full precision."""
    return records_csv([_record(table, row, j, cell) for row in table.rows for j, cell in enumerate(row.cells)])


def _record(table: PaperTable, row: PaperRow, j: int, cell: Cell) -> dict[str, Any]:
    column = table.columns[j]
    low, high = cell.interval or (None, None)
    return {
        "system": row.name,
        "block": str(row.block),
        "dataset": column.dataset,
        "metric": column.metric.name,
        "group": column.group,
        "questions": column.questions,
        "value": cell.value,
        "low": low,
        "high": high,
        "baseline": table.baseline if cell.p_value is not None else None,
        "p": cell.p_value,
        "significant": cell.is_significant if cell.p_value is not None else None,
        "best": cell.is_best,
        "expected": cell.is_expected,
        "tuned_here": cell.is_tuned_here,
        **answer_columns(cell.answers),
        "published": cell.printed,
        "cites": row.cites,
        "reason": cell.reason,
    }
