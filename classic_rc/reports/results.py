"""The results table of one dataset, and the flat records of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.metrics import METRICS, metrics_for, primary_metric
from classic_rc.questions import Task
from classic_rc.reports.numbers import percent
from classic_rc.reports.tables import Table, records_csv

__all__ = ["results_csv", "results_table"]

_SHORT_FINGERPRINT = 8


def results_table(evaluation: Evaluation) -> Table:
    """The table of one dataset: a row a system; metrics in percent, groups by the main metric.

    Parameters
    ----------
    evaluation : Evaluation

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
        cells = [row.name, *(percent(values[name], interval=row.intervals.get(name)) for name in metrics)]
        cells += [percent(row.metrics(mask)[main.name]) for mask in evaluation.groups.values()]
        share = row.selected_share if task is Task.MULTIPLE_ANSWER else row.tie_rate
        rows.append([*cells, percent(share, 1), "; ".join(row_notes(row))])
    signatures = [f"{row.name} = {row.short_signature}" for row in evaluation.rows]
    notes = ["Signatures", *signatures]
    if evaluation.resampling is not None:
        notes = [evaluation.resampling.note, *notes]
    return Table(_title(evaluation), header, rows, frozenset({0, len(header) - 1}), notes)


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


def results_csv(evaluations: Sequence[Evaluation]) -> str:
    """Every row of every dataset as CSV; metrics are fractions in full precision, control characters escaped."""
    return records_csv([_record(evaluation, row) for evaluation in evaluations for row in evaluation.rows])


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
    for value, mask in evaluation.groups.items():
        record |= {f"{name}[{evaluation.group_by}={value}]": v for name, v in row.metrics(mask).items()}
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
