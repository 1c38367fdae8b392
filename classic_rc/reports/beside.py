"""Published figures as lines of a results table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classic_rc.evaluation.results import Evaluation
from classic_rc.metrics.registry import metrics_for, primary_metric
from classic_rc.questions import Task
from classic_rc.reports.published import SUBSETS, PublishedRow, published_rows, value_text

_NOTHING = "–"
_MARK = "published: "


def published_cells(evaluation: Evaluation) -> list[list[str]]:
    """A line a system and source, in the columns of :func:`~classic_rc.reports.results.results_table`.

    Shown are figures of the same dataset, split, subset and metric; ``?`` stands for what is not known.
    """
    task = evaluation.dataset.task
    assert task is not None
    columns: list[tuple[str | None, str]] = [(None, metric.name) for metric in metrics_for(task)]
    columns += [(_subset(evaluation, value), primary_metric(task).name) for value in evaluation.groups]
    lines: dict[tuple[str, str, str | None], dict[tuple[str | None, str], PublishedRow]] = {}
    for row in published_rows(evaluation.dataset)[1]:
        where = (_shown_subset(evaluation, row), row.metric)
        if where in columns:
            lines.setdefault((row.system, row.source, row.note), {})[where] = row
    return [
        [
            _MARK + system,
            *(value_text(found[column]) if column in found else _NOTHING for column in columns),
            _NOTHING,
            "; ".join(_notes(next(iter(found.values())), task)),
        ]
        for (system, _, _), found in lines.items()
    ]


def published_records(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Every figure of the data and its subsets as a record of :func:`~classic_rc.reports.results.results_csv`."""
    return [_record(evaluation, row) for row in published_rows(evaluation.dataset)[1]]


def _record(evaluation: Evaluation, row: PublishedRow) -> dict[str, Any]:
    subset = "[{}={}]".format(*SUBSETS[row.subset]) if _shown_subset(evaluation, row) and row.subset else ""
    return {
        "dataset": evaluation.dataset.name,
        "split": evaluation.dataset.split,
        "questions": row.n,
        "solver": _MARK + row.system,
        row.metric + subset: None if row.value is None else float(row.value) / 100,
        "ties": row.ties,
        "tuned_on": row.tuned_on,
        "source": row.source,
        "status": row.status,
        "note": row.note,
    }


def published_warning(evaluation: Evaluation) -> str | None:
    """What to say where figures are shown beside content that is not the official file's."""
    origin, rows = published_rows(evaluation.dataset)
    if not rows:
        return "no published figure is known for this data"
    if origin is not None and origin.is_exact is False:
        return f"this is not the official {origin.dataset} {origin.split}: published figures are of other content"
    return None


def _shown_subset(evaluation: Evaluation, row: PublishedRow) -> str | None:
    """A figure of a subset stands in the main columns where the data are that subset alone."""
    if row.subset is None:
        return None
    key, value = SUBSETS[row.subset]
    return None if all(q.meta_value(key) == value for q in evaluation.dataset) else row.subset


def _subset(evaluation: Evaluation, value: str) -> str:
    """The subset that a group is, or a name that no figure has."""
    known = SUBSETS.get(value)
    return value if known is not None and known[0] == evaluation.group_by else ""


def _notes(row: PublishedRow, task: Task) -> Iterator[str]:
    if row.status != "verified":
        yield row.status
    if task is not Task.MULTIPLE_ANSWER:
        yield f"ties: {row.ties or '?'}"
    yield "not tuned" if row.tuned_on == "nothing" else f"tuned on {row.tuned_on or '?'}"
    yield f"{'?' if row.n is None else f'{row.n:,}'} questions"
    if row.note:
        yield row.note
    yield row.source
