"""Breakdowns: what systems score on each group of questions, and how groups occur together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.evaluation.comparison import Contest
from classic_rc.evaluation.grouping import FEW_QUESTIONS, Grouping
from classic_rc.evaluation.resampling import Interval, Resampling
from classic_rc.evaluation.significance import subset_intervals
from classic_rc.metrics.base import Metric


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
        """Whether it has fewer than :data:`~classic_rc.evaluation.grouping.FEW_QUESTIONS` questions."""
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
