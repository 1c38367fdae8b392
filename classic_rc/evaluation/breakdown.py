"""Groups of questions: by what the data says, by what questions say of themselves, by labels from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.labels import Labels
from classic_rc.errors import UsageError, unknown_name
from classic_rc.evaluation.comparison import Contest
from classic_rc.evaluation.derived import DERIVED_KEYS, FEW_QUESTIONS
from classic_rc.evaluation.resampling import Interval, Resampling
from classic_rc.evaluation.significance import subset_intervals
from classic_rc.metrics.base import Metric
from classic_rc.questions import Dataset

NO_LABEL = "no label"
"""The group of questions that are known to have none of the labels."""

_MISSING = "?"
_VIEWS = ("alone", "count")

Values: TypeAlias = "Sequence[AbstractSet[str] | None]"


@dataclass(frozen=True, eq=False)
class Grouping:
    """Questions in groups, which may overlap.

    Parameters
    ----------
    key : str
        What they are grouped by.
    masks : mapping of str to ndarray of bool, shape (n_questions,)
        By the group's name, in the order of tables.
    covered : ndarray of bool, shape (n_questions,)
        The questions of which something is known: labelled ones.
    overlapping : bool
        Whether a question may be in several groups.
    source : str, optional
        Where labels come from.
    """

    key: str
    masks: Mapping[str, NDArray[np.bool_]]
    covered: NDArray[np.bool_]
    overlapping: bool = False
    source: str | None = None

    @property
    def coverage(self) -> str:
        """How many questions it says something of, in words."""
        known, total = int(self.covered.sum()), len(self.covered)
        of = f" (from {self.source})" if self.source else ""
        if known == total:
            return f"{self.key}: all {total:,} questions{of}"
        return f"{self.key}: {known:,} of {total:,} questions{of}; the others are left out"


def group_questions(dataset: Dataset, key: str, labels: Sequence[Labels] = ()) -> Grouping:
    """The questions of a dataset, grouped.

    Parameters
    ----------
    dataset : Dataset
    key : str
        The name of some `labels`; or a key of the questions', or else of their passages', `meta`; or else of
        :data:`~classic_rc.evaluation.derived.DERIVED_KEYS`. Where a question may have several labels (a list in
        `meta` is that too), groups overlap, and ``KEY:alone`` splits each into the questions that have this label
        alone and those that have others too; ``KEY:count`` groups by how many labels a question has.
    labels : sequence of Labels

    Returns
    -------
    Grouping
        A question that lacks a key of `meta` is in the group ``"?"``; questions without an entry in the file of
        labels are in no group.

    Raises
    ------
    UsageError
        There is no such key, or no question has several labels of which one could be alone.
    """
    name, colon, view = key.rpartition(":")
    if not colon or view not in _VIEWS:
        name, view = key, ""
    values, order, source = _values(dataset, name, labels)
    covered = np.array([value is not None for value in values], dtype=np.bool_)
    several = any(value is not None and len(value) != 1 for value in values)
    if view == "alone":
        if not several:
            raise UsageError(f"every question has one {name}, so that {key} tells nothing: take {name}")
        masks = _alone(values, order)
    elif view == "count":
        masks = _masks([None if value is None else {str(len(value))} for value in values], ())
    else:
        masks = _masks(values, order)
    overlapping = view != "count" and any(value is not None and len(value) > 1 for value in values)
    return Grouping(key, masks, covered, overlapping, source)


def group_masks(dataset: Dataset, key: str) -> Mapping[str, NDArray[np.bool_]]:
    """The masks of :func:`group_questions`, without a file of labels."""
    return group_questions(dataset, key).masks


def _values(dataset: Dataset, name: str, labels: Sequence[Labels]) -> tuple[Values, Sequence[str], str | None]:
    """What each question has under a name (None where nothing is known), the order of it all, and its source."""
    for own in labels:
        if own.name == name:
            return [own.of_question.get(question.id) for question in dataset], own.order, own.source
    known = {key for question in dataset for key in (*question.passage.meta, *question.meta)}
    if name in known:
        return [_as_labels(question.meta_value(name, _MISSING)) for question in dataset], (), None
    if name in DERIVED_KEYS:
        derived = DERIVED_KEYS[name]
        said = derived.values(dataset)
        return [None if value is None else {value} for value in said], derived.order, None
    names = {*(own.name for own in labels), *known, *DERIVED_KEYS}
    raise unknown_name(f"key of {dataset.name}", name, names)


def _as_labels(value: Any) -> frozenset[str]:
    return frozenset(map(str, value if isinstance(value, (list, tuple, set, frozenset)) else [value]))


def _masks(values: Values, order: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    masks = dict(_of_each(values, order))
    if (none := np.array([value is not None and not value for value in values], dtype=np.bool_)).any():
        masks[NO_LABEL] = masks[NO_LABEL] | none if NO_LABEL in masks else none
    return masks


def _alone(values: Values, order: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    single = np.array([value is not None and len(value) == 1 for value in values], dtype=np.bool_)
    masks: dict[str, NDArray[np.bool_]] = {}
    for label, mask in _of_each(values, order):
        parts = {f"{label}, alone": mask & single, f"{label}, with others": mask & ~single}
        masks |= {name: part for name, part in parts.items() if part.any()}
    return masks


def _of_each(values: Values, order: Sequence[str]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each label with its questions: first the labels of the order, then numbers by value, then the others."""
    members: dict[str, list[int]] = {}
    for i, value in enumerate(values):
        for label in value or ():
            members.setdefault(label, []).append(i)
    known = [label for label in order if label in members]
    for label in (*known, *sorted(members.keys() - set(known), key=_natural)):
        mask = np.zeros(len(values), dtype=np.bool_)
        mask[members[label]] = True
        yield label, mask


def _natural(label: str) -> tuple[bool, int, str]:
    """A key that sorts numbers by value, before everything else."""
    is_number = label.isascii() and label.isdecimal()
    return not is_number, int(label) if is_number else 0, label


class Cell(NamedTuple):
    """A system's metric on a group of questions, as a fraction.

    Parameters
    ----------
    value : float
        NaN on no question.
    interval : Interval or None
        None where the questions are of fewer than two passages.
    """

    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Group:
    """A group of questions, and what systems score on it.

    Parameters
    ----------
    name : str
    questions : int
    passages : int
        How many groups of passages they are about.
    cells : tuple of Cell
        One for each system.
    """

    name: str
    questions: int
    passages: int
    cells: tuple[Cell, ...]

    @property
    def is_small(self) -> bool:
        """Whether it has fewer than :data:`~classic_rc.evaluation.derived.FEW_QUESTIONS` questions."""
        return self.questions < FEW_QUESTIONS


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A metric of several systems by groups of questions.

    Parameters
    ----------
    contest : Contest
        The dataset and the systems.
    grouping : Grouping
    metric : Metric
    resampling : Resampling
        Of each group's passages by themselves.
    total : Group
        All the questions that the grouping covers.
    groups : tuple of Group
    """

    contest: Contest
    grouping: Grouping
    metric: Metric
    resampling: Resampling
    total: Group
    groups: tuple[Group, ...]

    @property
    def systems(self) -> list[str]:
        """The systems' names, in the order of the cells."""
        return [contender.name for contender in self.contest.contenders]

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        grouping = self.grouping
        return {
            "key": grouping.key,
            "source": grouping.source,
            "metric": self.metric.name,
            "covered": self.total.questions,
            "overlapping": grouping.overlapping,
            "total": self._plain(self.total),
            "groups": [self._plain(group) for group in self.groups],
        }

    def _plain(self, group: Group) -> dict[str, Any]:
        return {
            "group": group.name,
            "questions": group.questions,
            "passages": group.passages,
            "small": group.is_small,
            "systems": {
                name: {
                    "value": cell.value if group.questions else None,
                    "interval": None if cell.interval is None else list(cell.interval),
                }
                for name, cell in zip(self.systems, group.cells, strict=True)
            },
        }


@dataclass(frozen=True, slots=True)
class CrossTabulation:
    """How many questions are in each group of one grouping and each of another at once.

    Parameters
    ----------
    rows, columns : Grouping
        Of one with itself, a row's own column is the size of the group.
    counts : ndarray of int64, shape (n_row_groups, n_column_groups)
    """

    rows: Grouping
    columns: Grouping
    counts: NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {
            "rows": self.rows.key,
            "columns": self.columns.key,
            "counts": {
                name: dict(zip(self.columns.masks, counts, strict=True))
                for name, counts in zip(self.rows.masks, self.counts.tolist(), strict=True)
            },
        }


def break_down(
    contest: Contest,
    grouping: Grouping,
    *,
    metric: str | None = None,
    n: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Breakdown:
    """Measure systems on every group of questions.

    A cell's interval is the bootstrap over the passages that its questions are about, all systems resampled
    together; see :mod:`classic_rc.evaluation.resampling`.

    Parameters
    ----------
    contest : Contest
        Any number of systems; without one, groups are counted.
    grouping : Grouping
        Of the same questions.
    metric : str, optional
        Its name; by default the task's main one.
    n : int
        How many resamples.
    seed : int
    level : float
        Of intervals, in 0..1.

    Returns
    -------
    Breakdown

    Raises
    ------
    UsageError
        The metric is not known or not for these questions, or the grouping is of other ones.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.evaluation import Contest, break_down, group_questions
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> contest = Contest.of(classic_rc.evaluate(dataset, [classic_rc.parse_solver("sw+d")]))
    >>> breakdown = break_down(contest, group_questions(dataset, "verbatim"))
    >>> [(group.name, group.questions) for group in breakdown.groups]
    [('yes', 12), ('no', 12)]
    """
    if len(grouping.covered) != len(contest.groups):
        raise UsageError(
            f"{grouping.key} groups {len(grouping.covered)} questions, and systems answered {len(contest.groups)}"
        )
    measure = contest.metric(metric)
    resampling = Resampling(int(contest.groups.max(initial=-1)) + 1, n, seed, level, contest.group)
    measured = [(measure, contender.statistics[measure.name]) for contender in contest.contenders]

    def group(name: str, mask: NDArray[np.bool_]) -> Group:
        intervals = subset_intervals(measured, contest.groups, mask, resampling)
        cells = (
            Cell(measure.aggregate(rows[mask]), interval)
            for (_, rows), interval in zip(measured, intervals, strict=True)
        )
        return Group(name, int(mask.sum()), len(np.unique(contest.groups[mask])), tuple(cells))

    total = group("total", grouping.covered)
    groups = tuple(group(name, mask) for name, mask in grouping.masks.items())
    return Breakdown(contest, grouping, measure, resampling, total, groups)


def cross_tabulate(rows: Grouping, columns: Grouping) -> CrossTabulation:
    """Count the questions in every two groups of two groupings, or of one with itself."""
    return CrossTabulation(rows, columns, _table(rows) @ _table(columns).T)


def _table(grouping: Grouping) -> NDArray[np.int64]:
    masks = grouping.masks
    return np.array([*masks.values()], dtype=np.int64).reshape(len(masks), len(grouping.covered))
