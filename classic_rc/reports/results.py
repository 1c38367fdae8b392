"""The results table of one dataset, and the flat records of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.evaluation.results import ALPHA, Evaluation, Row
from classic_rc.metrics.registry import METRICS, metrics_for, primary_metric
from classic_rc.questions import Task
from classic_rc.reports.beside import published_cells, published_records
from classic_rc.reports.numbers import percent
from classic_rc.reports.protocol import best_places, protocol_caption, protocol_notes, small_places
from classic_rc.reports.tables import Table, records_csv

_SHORT_FINGERPRINT = 8


def results_table(evaluation: Evaluation, published: bool = False) -> Table:
    """The table of one dataset: a row a system; metrics in percent, groups by the main metric.

    Parameters
    ----------
    evaluation : Evaluation
    published : bool
        Also show published figures of the same data and metrics, a row each system and source.

    Returns
    -------
    Table
    """
    task = evaluation.dataset.task
    assert task is not None
    metrics = [metric.name for metric in metrics_for(task)]
    main = primary_metric(task)
    header = ["system", *(METRICS[name].label for name in metrics)]
    header += [f"{main.label} {value} ({mask.sum()})" for value, mask in evaluation.groups.items()]
    header += ["selected" if task is Task.MULTIPLE_ANSWER else "ties", "notes"]
    rows = []
    for row in evaluation.rows:
        values = row.metrics()
        cells = [row.name, *(_cell(row, name, values[name]) for name in metrics)]
        cells += [_group_cell(row, value, mask, main.name) for value, mask in evaluation.groups.items()]
        share = row.selected_share if task is Task.MULTIPLE_ANSWER else row.tie_rate
        rows.append([*cells, percent(share, 1), "; ".join(row_notes(row))])
    if published:
        rows += published_cells(evaluation)
    signatures = [f"{row.name} = {row.short_signature}" for row in evaluation.rows]
    return Table(
        _title(evaluation),
        header,
        rows,
        frozenset({0, len(header) - 1}),
        [*protocol_notes(evaluation), "Signatures", *signatures],
        caption=protocol_caption(evaluation, _title(evaluation)),
        bold=best_places(evaluation),
        faint=small_places(evaluation),
    )


def _cell(row: Row, metric: str, value: float) -> str:
    differs = row.p_values.get(metric, 1.0) < ALPHA
    return percent(value, interval=row.intervals.get(metric), mark="*" if differs else "")


def _group_cell(row: Row, group: str, mask: NDArray[np.bool_], metric: str) -> str:
    return percent(row.metrics(mask)[metric], interval=row.group_intervals.get(group, {}).get(metric))


def row_notes(row: Row) -> list[str]:
    """What must be said beside a row's numbers."""
    notes = []
    if row.expected:
        notes.append("expectation")
    if row.ties is not None and row.ties != "partial":
        notes.append(f"ties: {row.ties}")
    if row.tuned_on is not None:
        notes.append(f"tuned on {row.tuned_on}" + (" = THIS DATA" if row.tuned_here else ""))
    if isinstance(row.threshold, float):
        notes.append(f"threshold {row.threshold:.6g}")
    notes += [f"{name} {_tuned(value)}" for name, value in row.tuned_params.items() if not isinstance(value, list)]
    if row.trained_on is not None:
        notes.append(f"learned from {row.trained_on}")
    return notes


def results_csv(evaluations: Sequence[Evaluation], published: bool = False) -> str:
    """Every row of every dataset as CSV; metrics are fractions in full precision, control characters escaped.

    With `published` a record of each published figure of the same data follows the rows.
    """
    return records_csv(
        [
            record
            for evaluation in evaluations
            for record in (
                *(_record(evaluation, row) for row in evaluation.rows),
                *(published_records(evaluation) if published else ()),
            )
        ]
    )


def _record(evaluation: Evaluation, row: Row) -> dict[str, Any]:
    dataset = evaluation.dataset
    record: dict[str, Any] = {
        "dataset": dataset.name,
        "split": dataset.split,
        "questions": len(dataset),
        "solver": row.solver,
        "variant": row.variant,
        **row.metrics(),
    }
    for name, interval in row.intervals.items():
        record |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    record |= {f"{name}_p": p for name, p in row.p_values.items()}
    for value, mask in evaluation.groups.items():
        group = f"[{evaluation.group_by}={value}]"
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
        "signature": row.signature,
    }
    return record


def _title(evaluation: Evaluation) -> str:
    dataset = evaluation.dataset
    facts = [
        dataset.name + (f" ({dataset.reader})" if dataset.reader else ""),
        f"{len(dataset):,} questions, {len(dataset.passages):,} passages, {evaluation.n_candidates:,} candidates",
        f"data {dataset.fingerprint[:_SHORT_FINGERPRINT]}",
    ]
    return " · ".join(facts)


def _tuned(value: Any) -> str:
    """What a parameter was tuned to; numbers that belong together with four digits each."""
    return "; ".join(f"{number:.4g}" for number in value) if isinstance(value, tuple) else str(value)
