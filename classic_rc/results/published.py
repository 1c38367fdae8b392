"""Published figures: the scores that papers and releases report for systems, each with its
source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.official import OfficialPart, match_official_parts
from classic_rc.questions import Dataset, Task
from classic_rc.results.evaluation import Evaluation, evaluation_table
from classic_rc.results.measure import Figure, GivenNumber
from classic_rc.results.outcomes import Block
from classic_rc.tables import Table

STATUSES = ("verified", "derived", "secondary", "unverified")
"""How a figure is known.

Read at its source; computed from released files with the official metric; transcribed by several
others; recalled, and not found again at its source.
"""

SUBSETS: Mapping[str, tuple[str, str]] = {
    **{value: ("type", value) for value in ("one", "multiple", "NE", "CN", "V", "P")},
    **{value: ("level", value) for value in ("middle", "high")},
}
"""The subsets of published figures, each with its key and value in the questions' `meta`."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published figure. Unknown fields are None, and shown as ``?``."""

    system: str
    dataset: str  # as in `OfficialPart`; several are joined by "+"
    split: str  # likewise
    subset: str | None  # a key of SUBSETS; None for all questions
    n: int | None  # number of questions
    metric: str  # a name in classic_rc.metrics.METRICS
    value: Decimal | None  # in percent, with the digits that were printed
    ties: str | None  # the tie policy
    tuned_on: str | None  # the splits that it was tuned on; "nothing" if it was not tuned
    source: str
    status: str  # one of STATUSES
    note: str | None
    reproduction: str | None  # key of the Reproduction that should give the same figure
    cites: str | None = None  # key of the source's BibTeX entry, if it has one

    @property
    def decimals(self) -> int:
        """The number of printed digits after the decimal point."""
        exponent = self.value.as_tuple().exponent if self.value is not None else 0
        return -exponent if isinstance(exponent, int) else 0

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data; the value becomes a float."""
        return {**asdict(self), "value": None if self.value is None else float(self.value)}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How this package reproduces a published figure."""

    solver: str  # a solver specification; ``{rte}`` is a placeholder for a file that the user names
    exact: bool  # the figures are known to match to the last printed digit
    reason: str  # why they match, or why not
    ties: str | None = None  # the tie policy, if not the solver's own
    train: str | None = None  # the split of the same dataset to learn from
    tune: str | None = None  # the split to tune on
    tune_metric: str | None = None
    merged: bool = False  # a figure over several splits needs them merged into one file


@dataclass(frozen=True)
class Published:
    """All published figures and how to reproduce them."""

    # if two figures of one paper contradict each other, both are here
    rows: tuple[PublishedRow, ...]
    reproductions: Mapping[str, Reproduction]  # by key


@cache
def load_published() -> Published:
    """Return the published figures that come with the package.

    Examples
    --------
    >>> row = next(
    ...     row for row in load_published().rows if row.system == "SW" and row.dataset == "RACE"
    ... )
    >>> row.subset, row.value, row.ties
    ('middle', Decimal('37.3'), None)
    """
    text = files("classic_rc.results").joinpath("published.json").read_text(encoding="utf-8")
    plain = json.loads(text, parse_float=Decimal, parse_int=int)
    sources, cites = plain["sources"], plain["cites"]
    rows = tuple(
        PublishedRow(**{**row, "source": sources[row["source"]], "cites": cites.get(row["source"])})
        for row in plain["rows"]
    )
    return Published(
        rows, {key: Reproduction(**entry) for key, entry in plain["reproductions"].items()}
    )


def published_rows(dataset: Dataset) -> tuple[OfficialPart | None, list[PublishedRow]]:
    """Return the official split that a dataset is, or None, and the figures published for it.

    Figures of a subset that the data lack are left out. So are figures of all questions if the data
    are one subset.
    """
    origins = {origin for origin, _ in match_official_parts(dataset)}
    origin = origins.pop() if len(origins) == 1 else None
    if origin is None:
        return None, []
    return origin, [
        row
        for row in load_published().rows
        if is_about_dataset(row, origin) and subset_mask(dataset, row.subset) is not None
    ]


def is_about_dataset(row: PublishedRow, origin: OfficialPart) -> bool:
    """Return whether a figure is about exactly this dataset and split."""
    return row.dataset == origin.dataset and row.split == origin.split


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


def figure_value(row: PublishedRow) -> Decimal | str:
    """Return the figure as a fraction with the digits that were printed, or ``?`` if it is
    unknown.
    """
    return "?" if row.value is None else row.value.scaleb(-2)


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
    return [
        {
            **row.to_dict(),
            "printed": None if row.value is None else str(row.value),
            "group": (group := _group(dataset, row)) and list(group),
            "block": str(Block.PUBLISHED),
        }
        for row in published_rows(dataset)[1]
    ]


def published_records(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return all figures of the data and its subsets, as records after those of the table of
    results.
    """
    return [_figure_record(evaluation, row) for row in published_rows(evaluation.dataset)[1]]


def _figure_record(evaluation: Evaluation, row: PublishedRow) -> dict[str, Any]:
    group = _group(evaluation.dataset, row)
    subset = "" if group is None else "[{}={}]".format(*group)
    return {
        "dataset": evaluation.dataset.name,
        "split": row.split,
        "questions": row.n,
        "block": str(Block.PUBLISHED),
        "system": f"published: {row.system}",
        row.metric + subset: None if row.value is None else float(row.value) / 100,
        "ties": row.ties,
        "tuned_on": row.tuned_on,
        "source": row.source,
        "status": row.status,
        "note": row.note,
    }


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
    return None if all(q.meta_value(key) == value for q in dataset) else (key, value)


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
