"""Breakdowns: each system's metric on each group of questions, and cross tabulations of two
groupings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.metrics.base import Metric
from classic_rc.results.grouping import MIN_GROUP_QUESTIONS, Grouping
from classic_rc.results.measure import Measured
from classic_rc.results.resampling import Resampling
from classic_rc.results.shared_results import SharedResults
from classic_rc.work import tracked


@dataclass(frozen=True, slots=True)
class Group:
    """A group of questions with each system's metric on it."""

    name: str
    questions: int
    passages: int  # number of groups of passages that the questions are about
    cells: tuple[Measured, ...]  # one per system

    @property
    def is_small(self) -> bool:
        """Whether it has fewer than :data:`~classic_rc.results.grouping.MIN_GROUP_QUESTIONS`
        questions.
        """
        return self.questions < MIN_GROUP_QUESTIONS


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A metric of several systems by groups of questions."""

    results: SharedResults  # the systems, and how intervals and tests are made
    grouping: Grouping
    metric: Metric
    total: Group  # all questions that the grouping covers
    groups: tuple[Group, ...]

    @property
    def systems(self) -> list[str]:
        """The systems' names, in the order of the cells."""
        return self.results.names

    @property
    def lines(self) -> tuple[Group, ...]:
        """The total and the groups."""
        return (self.total, *self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
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
        systems = {}
        for name, cell in zip(self.systems, group.cells, strict=True):
            interval = None if cell.interval is None else list(cell.interval)
            systems[name] = {"value": cell.value, "interval": interval}
        return {
            "group": group.name,
            "questions": group.questions,
            "passages": group.passages,
            "small": group.is_small,
            "systems": systems,
        }


@dataclass(frozen=True, slots=True)
class CrossTabulation:
    """The number of questions in each pair of groups from two groupings."""

    rows: Grouping
    columns: Grouping  # if it is `rows` itself, the diagonal has the sizes of the groups
    counts: NDArray[np.int64]  # shape (n_row_groups, n_column_groups)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        counts = {}
        for name, row in zip(self.rows.masks, self.counts.tolist(), strict=True):
            counts[name] = dict(zip(self.columns.masks, row, strict=True))
        return {"rows": self.rows.key, "columns": self.columns.key, "counts": counts}


def break_down(
    results: SharedResults,
    grouping: Grouping,
    *,
    metric: str | None = None,
    n: int = 10_000,
    seed: int = 0,
) -> Breakdown:
    """Measure systems on every group of questions.

    A cell's interval follows from the passages of its own questions; see
    :func:`classic_rc.results.with_intervals`. If the results have tests, each group is a family of
    its own.

    Parameters
    ----------
    results : SharedResults
        Any number of systems. Without systems, the groups are only counted.
    grouping : Grouping
        Groups of the same questions.
    metric : str, optional
        A metric's name; by default the task's main one.
    n : int
        Number of resamples of ratios.
    seed : int
        The seed of the resamples.

    Returns
    -------
    Breakdown

    Raises
    ------
    UsageError
        The metric is unknown or does not apply to these questions, or the grouping has another
        number of questions.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.results import break_down, group_questions
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> results = classic_rc.evaluate(dataset, [classic_rc.parse_solver("sw+d")]).results
    >>> breakdown = break_down(results, group_questions(dataset, "verbatim"))
    >>> [(group.name, group.questions) for group in breakdown.groups]
    [('yes', 12), ('no', 12)]
    """
    n_grouped = len(grouping.covered)
    if n_grouped != results.n_questions:
        raise UsageError(
            f"the grouping {grouping.key!r} has {n_grouped} questions, but the systems answered "
            f"{results.n_questions}",
            field="grouping",
            found=str(n_grouped),
            expected=str(results.n_questions),
        )
    measure = results.metric(metric)
    key, masks = grouping.key, grouping.masks
    resampling = Resampling.of(results.groups, n, seed, group=results.group)
    results = replace(results, groupings={key: masks}, by=key, resampling=resampling)

    def measure_group(name: str, mask: NDArray[np.bool_], defining: set[str]) -> Group:
        cells = results.measure_questions(measure, mask, defining)
        n_passages = len(np.unique(results.groups[mask]))
        return Group(name, int(mask.sum()), n_passages, tuple(cells))

    total = measure_group("total", grouping.covered, set())
    groups = []
    for name, mask in tracked(masks.items(), len(masks)):
        groups.append(measure_group(name, mask, results.defining(name)))
    return Breakdown(results, grouping, measure, total, tuple(groups))


def cross_tabulate(rows: Grouping, columns: Grouping) -> CrossTabulation:
    """Count the questions in each pair of groups from two groupings, or from one grouping and
    itself.

    Parameters
    ----------
    rows, columns : Grouping
        Groupings of the same questions.

    Returns
    -------
    CrossTabulation
    """
    counts = _membership_matrix(rows) @ _membership_matrix(columns).T
    return CrossTabulation(rows, columns, counts)


def _membership_matrix(grouping: Grouping) -> NDArray[np.int64]:
    """Return 1 where a group has a question, shape (n_groups, n_questions)."""
    masks = grouping.masks
    matrix = np.array([*masks.values()], dtype=np.int64)
    # NumPy gives a matrix without rows one dimension only.
    return matrix.reshape(len(masks), len(grouping.covered))
