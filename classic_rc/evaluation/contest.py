"""Systems side by side on the same questions, wherever their outcomes come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.folds import passage_groups
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import METRICS, metrics_for, primary_metric
from classic_rc.questions import Task

_SHORT_FINGERPRINT = 8


@dataclass(frozen=True)
class Contender:
    """One system's outcomes.

    Parameters
    ----------
    name : str
        What tables call it.
    solver : str
    statistics : mapping of str to ndarray of float64, shape (n_questions, n_statistics)
        Sufficient statistics by metric name.
    signature : str
    expected : bool
        They are expectations over draws.
    """

    name: str
    solver: str
    statistics: Mapping[str, NDArray[np.float64]]
    signature: str
    expected: bool = False

    @property
    def is_chance(self) -> bool:
        """Whether it is the random baseline in expectation."""
        return self.expected and self.solver == "random"

    @classmethod
    def of(cls, row: Row, name: str | None = None) -> Contender:
        """A row's outcomes."""
        return cls(name or row.name, row.solver, row.outcomes.statistics, row.short_signature, row.expected)


@dataclass(frozen=True)
class Contest:
    """Systems that answered the same questions.

    Parameters
    ----------
    dataset : str
        Its name.
    fingerprint : str
        Its content's; see :attr:`classic_rc.questions.Dataset.fingerprint`.
    task : Task
    groups : ndarray of int64, shape (n_questions,)
        Which questions belong together: those about equal passages.
    contenders : tuple of Contender
    group : str, optional
        The key of `meta` whose equal values belong together too.
    """

    dataset: str
    fingerprint: str
    task: Task
    groups: NDArray[np.int64]
    contenders: tuple[Contender, ...]
    group: str | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, *, group: str | None = None) -> Contest:
        """The rows of an evaluation; a key of `meta` may bring more of its questions together."""
        dataset = evaluation.dataset
        assert dataset.task is not None  # or there would be no evaluation
        contenders = tuple(map(Contender.of, evaluation.rows))
        groups = passage_groups(dataset, group)
        return cls(dataset.name, dataset.fingerprint, dataset.task, groups, contenders, group)

    @property
    def label(self) -> str:
        """The dataset's name, its number of questions and its content's fingerprint."""
        return f"{self.dataset} ({len(self.groups):,} questions, data {self.fingerprint[:_SHORT_FINGERPRINT]})"

    def metric(self, name: str | None = None) -> Metric:
        """A metric of these questions by its name; without one, the task's main one.

        Raises
        ------
        UsageError
            It is not known, or not for these questions.
        """
        known = {metric.name: metric for metric in metrics_for(self.task)}
        if name is None:
            return primary_metric(self.task)
        if name in METRICS and name not in known:
            raise UsageError(f"{METRICS[name].label} is not for {self.task} questions: {', '.join(known)} are")
        if name not in known:
            raise unknown_name("metric", name, known)
        return known[name]


def joined(contests: Sequence[Contest]) -> Contest:
    """All their systems on the questions that they share, which must be all; groups are those of the first.

    Raises
    ------
    UsageError
        They are about different questions.
    """
    first, *others = contests
    for other in others:
        if (other.fingerprint, len(other.groups)) != (first.fingerprint, len(first.groups)):
            raise UsageError(
                f"systems can be compared on the same questions alone: {_names(first)} answered {first.label}, "
                f"and {_names(other)} answered {other.label}"
            )
    return replace(first, contenders=tuple(c for contest in contests for c in contest.contenders))


def _names(contest: Contest) -> str:
    names = [contender.name for contender in contest.contenders]
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
