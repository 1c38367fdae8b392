"""Published figures: what papers and releases say that systems score, with the source of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.official import Official, official_parts
from classic_rc.evaluation.results import Evaluation
from classic_rc.metrics.registry import metrics_for, primary_metric
from classic_rc.questions import Dataset, Task
from classic_rc.reports.tables import NOTHING

STATUSES = ("verified", "derived", "secondary")
"""How sure a figure is: read at its source; worked out from released files by the official measure; transcribed."""

SUBSETS: Mapping[str, tuple[str, str]] = {
    **{value: ("type", value) for value in ("one", "multiple", "NE", "CN", "V", "P")},
    **{value: ("level", value) for value in ("middle", "high")},
}
"""Subsets that figures are about, as the key and the value of the questions' `meta`."""

_UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published figure. What is not known is None, and shown as ``?``.

    Parameters
    ----------
    system : str
    dataset, split : str
        As :class:`~classic_rc.datasets.official.Official` has them; several are joined by ``+``.
    subset : str or None
        A key of :data:`SUBSETS`; None for all questions.
    n : int or None
        Questions.
    metric : str
        As in :data:`classic_rc.metrics.METRICS`.
    value : Decimal or None
        In percent, with the digits that were printed.
    ties : str or None
        The tie policy.
    tuned_on : str or None
        The splits that it was tuned on; ``"nothing"`` where it was not.
    source : str
    status : str
        One of :data:`STATUSES`.
    note : str or None
    reproduction : str or None
        The key of the :class:`Reproduction` that is to come to the same.
    """

    system: str
    dataset: str
    split: str
    subset: str | None
    n: int | None
    metric: str
    value: Decimal | None
    ties: str | None
    tuned_on: str | None
    source: str
    status: str
    note: str | None
    reproduction: str | None

    @property
    def decimals(self) -> int:
        """How many digits were printed behind the point."""
        exponent = self.value.as_tuple().exponent if self.value is not None else 0
        return -exponent if isinstance(exponent, int) else 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data; the value is a float."""
        return {**asdict(self), "value": None if self.value is None else float(self.value)}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How this package comes to published figures.

    Parameters
    ----------
    solver : str
        A specification. A file that only the user has stands in it as ``{rte}``.
    exact : bool
        Whether the figures are known to come out to the last printed digit.
    reason : str
        Why they do, or why they do not.
    ties : str, optional
        The tie policy, where it is not the solver's.
    train : str, optional
        The split of the same dataset that it learns from.
    tune : str, optional
        The split that it is tuned on.
    tune_metric : str, optional
    merged : bool
        Whether a figure over several splits is of one file that holds them all, not of each by itself.
    """

    solver: str
    exact: bool
    reason: str
    ties: str | None = None
    train: str | None = None
    tune: str | None = None
    tune_metric: str | None = None
    merged: bool = False


@dataclass(frozen=True)
class Published:
    """All published figures.

    Parameters
    ----------
    rows : tuple of PublishedRow
        Figures of one paper that contradict each other are both there.
    reproductions : mapping of str to Reproduction
    """

    rows: tuple[PublishedRow, ...]
    reproductions: Mapping[str, Reproduction]


@cache
def published() -> Published:
    """The figures that come with the package.

    Examples
    --------
    >>> row = next(row for row in published().rows if row.system == "SW" and row.dataset == "RACE")
    >>> row.subset, row.value, row.ties
    ('middle', Decimal('37.3'), None)
    """
    text = files("classic_rc.reports").joinpath("published.json").read_text(encoding="utf-8")
    plain = json.loads(text, parse_float=Decimal, parse_int=int)
    names = [field.name for field in fields(PublishedRow)]
    rows = tuple(
        PublishedRow(**{**{name: row[name] for name in names}, "source": plain["sources"][row["source"]]})
        for row in plain["rows"]
    )
    return Published(rows, {key: Reproduction(**entry) for key, entry in plain["reproductions"].items()})


def published_rows(dataset: Dataset) -> tuple[Official | None, list[PublishedRow]]:
    """What is published about a dataset's split, and which one that is.

    Figures of a subset that the data lacks, and figures of all questions where the data are one subset, are left
    out.

    Parameters
    ----------
    dataset : Dataset
        Of one published dataset and split; of several nothing is published in one figure.
    """
    origins = {origin for origin, _ in official_parts(dataset)}
    origin = origins.pop() if len(origins) == 1 else None
    if origin is None:
        return None, []
    return origin, [
        row for row in published().rows if is_about(row, origin) and subset_mask(dataset, row.subset) is not None
    ]


def is_about(row: PublishedRow, origin: Official) -> bool:
    """Whether a figure is about just this dataset and split."""
    return row.dataset == origin.dataset and row.split == origin.split


def subset_mask(dataset: Dataset, subset: str | None) -> NDArray[np.bool_] | None:
    """Which questions a figure is about; None where it is about none, or about more than there is."""
    if subset is not None:
        mask = _mask(dataset, *SUBSETS[subset])
        return mask if mask.any() else None
    if any(mask.all() for mask in _own_masks(dataset)):
        return None
    return np.ones(len(dataset), dtype=np.bool_)


def _own_masks(dataset: Dataset) -> Iterator[NDArray[np.bool_]]:
    keys = {key for question in dataset[:1] for key in question.meta}
    return (_mask(dataset, key, value) for key, value in SUBSETS.values() if key in keys)


def _mask(dataset: Dataset, key: str, value: str) -> NDArray[np.bool_]:
    return np.array([question.meta_value(key) == value for question in dataset], dtype=np.bool_)


def value_text(row: PublishedRow) -> str:
    """The figure as printed, ``?`` where it is not known."""
    return _UNKNOWN if row.value is None else str(row.value)


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
            *(value_text(found[column]) if column in found else NOTHING for column in columns),
            NOTHING,
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
