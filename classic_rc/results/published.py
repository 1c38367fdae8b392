"""The published figures of a dataset, for its tables and records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.official import OfficialPart, match_official_parts
from classic_rc.questions import Dataset, Task
from classic_rc.results.evaluation import Evaluation, evaluation_table
from classic_rc.results.literature import SUBSETS, PublishedRow, load_published
from classic_rc.results.measure import Figure, GivenNumber
from classic_rc.results.outcomes import Block
from classic_rc.tables import Table


def published_rows(dataset: Dataset) -> tuple[OfficialPart | None, list[PublishedRow]]:
    """Return the official split that a dataset is, or None, and the figures published for it.

    Figures of a subset that the data lack are left out. So are figures of all questions if the data
    are one subset.
    """
    origins = {origin for origin, _ in match_official_parts(dataset)}
    origin = origins.pop() if len(origins) == 1 else None
    if origin is None:
        return None, []
    about = origin.dataset, origin.split
    rows = [row for row in load_published().rows if (row.dataset, row.split) == about]
    return origin, [row for row in rows if subset_mask(dataset, row.subset) is not None]


def subset_mask(dataset: Dataset, subset: str | None) -> NDArray[np.bool_] | None:
    """Return the mask of the questions that a figure of this subset is about.

    None if the data have no such question, or if the figure is about all questions and the data are
    only one subset.
    """
    if subset is not None:
        mask = _mask(dataset, *SUBSETS[subset])
        return mask if mask.any() else None
    if any(mask.all() for mask in _known_masks(dataset)):
        return None
    return np.ones(len(dataset), dtype=np.bool_)


def _known_masks(dataset: Dataset) -> Iterator[NDArray[np.bool_]]:
    keys = {key for question in dataset[:1] for key in question.meta}
    return (_mask(dataset, key, value) for key, value in SUBSETS.values() if key in keys)


def _mask(dataset: Dataset, key: str, value: str) -> NDArray[np.bool_]:
    return np.array([question.meta_value(key) == value for question in dataset], dtype=np.bool_)


def published_figures(dataset: Dataset) -> list[Figure]:
    """Return the figures published for a dataset, for its table of results."""
    figures = []
    for row in published_rows(dataset)[1]:
        key, value = _group(dataset, row) or (None, None)
        printed = None if row.value is None else str(row.value)
        number = GivenNumber(row.metric, value, float(printed or "nan") / 100, printed)
        notes = "; ".join(_figure_notes(row, dataset.task))
        figures.append(Figure(row.system, row.source, number, row.cites, key, notes))
    return figures


def results_table(evaluation: Evaluation, published: bool = False) -> Table:
    """Return :func:`~classic_rc.results.evaluation.evaluation_table`, with the published figures on
    request.
    """
    return evaluation_table(evaluation, published_figures(evaluation.dataset) if published else ())


def recorded_figures(dataset: Dataset) -> list[dict[str, Any]]:
    """Return the figures published for a dataset as plain data, for JSON and run records.

    To the fields of :class:`PublishedRow` they add ``printed``, the value with its printed digits;
    ``group``, the key and the value of the questions that the figure is about, None for all
    questions of the data; and ``block``.
    """
    records = []
    for row in published_rows(dataset)[1]:
        group = _group(dataset, row)
        record = row.to_dict()
        record["printed"] = None if row.value is None else str(row.value)
        record["group"] = group and list(group)
        record["block"] = str(Block.PUBLISHED)
        records.append(record)
    return records


def published_records(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return all figures of the data and its subsets, as records after those of the table of
    results.
    """
    dataset, records = evaluation.dataset, []
    for row in published_rows(dataset)[1]:
        group = _group(dataset, row)
        column = row.metric + ("" if group is None else "[{}={}]".format(*group))
        record = {
            "dataset": dataset.name,
            "split": row.split,
            "questions": row.n,
            "block": str(Block.PUBLISHED),
            "system": f"published: {row.system}",
            column: None if row.value is None else float(row.value) / 100,
        }
        names = ("ties", "tuned_on", "source", "status", "note")
        records.append({**record, **{name: getattr(row, name) for name in names}})
    return records


def published_warning(evaluation: Evaluation) -> str | None:
    """Return a warning if no figure is known for the data or if they differ from the official
    file; else None.
    """
    origin, rows = published_rows(evaluation.dataset)
    if not rows:
        return "there are no published figures for this data"
    if origin is not None and origin.is_exact is False:
        official = f"{origin.dataset} {origin.split} file"
        return f"this is not the official {official}: published figures are for different content"
    return None


def _group(dataset: Dataset, row: PublishedRow) -> tuple[str, str] | None:
    """Return the key and the value of the questions that a figure is about; None for all questions
    of the data.
    """
    if row.subset is None:
        return None
    key, value = SUBSETS[row.subset]
    return None if _mask(dataset, key, value).all() else (key, value)


def _figure_notes(row: PublishedRow, task: Task | None) -> Iterator[str]:
    yield f"{row.dataset} {row.split}"
    if row.status != "verified":
        yield row.status
    if task is not Task.MULTIPLE_ANSWER:
        yield f"ties: {row.ties or '?'}"
    yield "not tuned" if row.tuned_on == "nothing" else f"tuned on {row.tuned_on or '?'}"
    yield f"{'?' if row.n is None else f'{row.n:,}'} questions"
    if row.note:
        yield row.note
    yield row.source
