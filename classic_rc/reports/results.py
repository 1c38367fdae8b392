"""The table of results, with published figures if asked for, and its CSV records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from classic_rc.display import Table
from classic_rc.evaluation.results import Evaluation, Row, evaluation_table
from classic_rc.predictions import AnswerCounts
from classic_rc.reports.published import published_cells, published_records
from classic_rc.reports.tables import records_csv


def results_table(evaluation: Evaluation, published: bool = False) -> Table:
    """Return the results of one dataset as a table: a row per system, metrics in percent, groups by main metric.

    Systems that learn nothing, trained systems, given scores and published figures are separate blocks of rows
    (:class:`~classic_rc.evaluation.results.Block`), with headings if there are several. Rows keep their order
    within a block.

    Parameters
    ----------
    evaluation : Evaluation
    published : bool
        Also show published figures of the same data and metrics, a row per system and source.

    Returns
    -------
    Table
    """
    return evaluation_table(evaluation, published_cells(evaluation) if published else ())


def results_csv(evaluations: Sequence[Evaluation], published: bool = False) -> str:
    """Return every row of every dataset as CSV.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    published : bool
        Also add a record for each published figure of the same data, after the rows of the dataset.

    Returns
    -------
    str
        Metrics are fractions in full precision; control characters are escaped.
    """
    return records_csv(results_records(evaluations, published))


def results_records(evaluations: Sequence[Evaluation], published: bool = False) -> list[dict[str, Any]]:
    """Return the records of :func:`results_csv`."""
    return [
        record
        for evaluation in evaluations
        for record in (
            *(_row_record(evaluation, row) for row in evaluation.rows),
            *(published_records(evaluation) if published else ()),
        )
    ]


def answer_columns(counts: AnswerCounts | None) -> dict[str, int | None]:
    """Return the columns of CSV about the answers of a file: how many, and how many say nothing."""
    return dict(zip(AnswerCounts._fields, counts or (None,) * len(AnswerCounts._fields), strict=True))


def _row_record(evaluation: Evaluation, row: Row) -> dict[str, Any]:
    dataset = evaluation.dataset
    record: dict[str, Any] = {
        "dataset": dataset.name,
        "split": dataset.split,
        "questions": len(dataset),
        "block": str(row.block),
        "name": row.name,
        "solver": row.solver,
        "variant": row.variant,
        **row.metrics(),
    }
    for name, interval in row.intervals.items():
        record |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    record |= {f"{name}_p": p for name, p in row.p_values.items()}
    for value, mask in evaluation.groups.items():
        group = f"[{evaluation.group_by}={value}]"
        if value in row.group_p_values:
            record[f"{evaluation.primary.name}_p{group}"] = row.group_p_values[value]
        record |= {name + group: v for name, v in row.metrics(mask).items()}
        for name, interval in row.group_intervals.get(value, {}).items():
            record |= {f"{name}_low{group}": interval.low, f"{name}_high{group}": interval.high}
    record |= {
        "expected": row.expected,
        "tie_rate": row.tie_rate,
        "ties": row.ties,
        "selected_share": row.selected_share,
        "threshold": ";".join(map(repr, row.threshold)) if isinstance(row.threshold, list) else row.threshold,
        "tuned_on": row.tuned_on,
        "tuned_here": row.tuned_here,
        "trained_on": row.trained_on,
        **answer_columns(row.answers),
        "signature": row.signature,
    }
    return record
