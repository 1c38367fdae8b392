"""The hard subset: the questions that baselines do not solve, compared with what chance would remove."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.registry import as_dataset
from classic_rc.errors import UsageError
from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.outcomes import Row
from classic_rc.evaluation.resampling import Interval, Resampling, percentile_interval, resample_means
from classic_rc.evaluation.results import Evaluation
from classic_rc.evaluation.significance import subset_intervals
from classic_rc.evaluation.systems import System, Systems, as_systems
from classic_rc.folds import passage_groups
from classic_rc.metrics.base import METRICS, SOLVED_BY, Metric, primary_metric
from classic_rc.protocol import DEFAULT_RESAMPLES, Protocol
from classic_rc.questions import Dataset
from classic_rc.solvers.trivial import Random

SOLVED_ABOVE = 0.5
"""A question is solved if the credit of the tied answers is above this. With one right candidate, it must be the
only best one."""

_FOLDS = 5


class Share(NamedTuple):
    """A number of the dataset and its interval over resampled passages, as fractions."""

    value: float
    interval: Interval | None  # None with fewer than two groups of passages

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"value": self.value, "interval": self.interval and list(self.interval)}


@dataclass(frozen=True)
class HardSubset:
    """The questions that at most `max_solved` baselines solve, and how metrics change on them."""

    metric: Metric  # gives a question its credit: 1 if the answer is fully right
    evaluation: Evaluation  # of all questions; its rows are the members of the filter, then what is only reported
    n_members: int
    max_solved: int  # K: the most members that may solve a question that is kept
    n_solved: NDArray[np.int64]  # the number of members that solve each question
    chance: NDArray[np.float64]  # the probability that as many guessers would remove each question
    groups: NDArray[np.int64]  # of the questions, for resampling: those about equal passages are one
    resampling: Resampling

    @property
    def hard(self) -> NDArray[np.bool_]:
        """Which questions are kept, shape (n_questions,)."""
        return self.n_solved <= self.max_solved

    @cached_property
    def dataset(self) -> Dataset:
        """The dataset of the questions that are kept, in their order."""
        hard_ids = {q.id for q, is_hard in zip(self.evaluation.dataset, self.hard, strict=True) if is_hard}
        return self.evaluation.dataset.filter(lambda question: question.id in hard_ids)

    @cached_property
    def removed(self) -> dict[str, Share]:
        """The share of questions ``removed``, the share that ``chance`` would remove, and their ``excess``."""
        flags = (~self.hard).astype(np.float64)
        columns = np.column_stack([flags, self.chance, flags - self.chance])
        intervals: list[Interval | None] = [None] * 3
        if self.resampling.n_groups > 1:
            drawn = resample_means(columns, self.groups, n=self.resampling.n, seed=self.resampling.seed)
            intervals = [percentile_interval(column, self.resampling.level) for column in drawn.T]
        names = ("removed", "chance", "excess")
        return {n: Share(float(v), i) for n, v, i in zip(names, columns.mean(axis=0), intervals, strict=True)}

    @cached_property
    def scores(self) -> list[tuple[Share, Share | None]]:
        """Each row's main metric on all questions and on the hard ones, None if no question is hard."""
        assert self.evaluation.dataset.task is not None
        metric = primary_metric(self.evaluation.dataset.task)
        measured = [(metric, row.outcomes.statistics[metric.name]) for row in self.evaluation.rows]

        def scores_on(mask: NDArray[np.bool_]) -> list[Share]:
            intervals = subset_intervals(measured, self.groups, mask, self.resampling)
            return [Share(metric.aggregate(of[mask]), i) for (_, of), i in zip(measured, intervals, strict=True)]

        after = scores_on(self.hard) if self.hard.any() else [None] * len(measured)
        return list(zip(scores_on(np.ones_like(self.hard)), after, strict=True))

    def solves(self, row: Row) -> NDArray[np.bool_]:
        """Return which questions a row solves, shape (n_questions,)."""
        return _solved_by(row, self.metric)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON, with the ids of the hard questions."""
        dataset = self.evaluation.dataset
        assert dataset.task is not None
        main = primary_metric(dataset.task).name
        return {
            "dataset": {"name": dataset.name, "fingerprint": dataset.fingerprint, "questions": len(dataset)},
            "solved": {"metric": self.metric.name, "above": SOLVED_ABOVE, "max_solved": self.max_solved},
            "members": self.n_members,
            **{f"share_{name}": share.to_dict() for name, share in self.removed.items()},
            "resampling": self.resampling.to_dict(),
            "rows": [
                {
                    "name": row.name,
                    "solver": row.solver,
                    "variant": row.variant,
                    "signature": row.signature,
                    "by_construction": i < self.n_members,
                    "solved": None if row.expected else int(self.solves(row).sum()),
                    "metric": main,
                    "before": before.to_dict(),
                    "after": after and after.to_dict(),
                }
                for i, (row, (before, after)) in enumerate(zip(self.evaluation.rows, self.scores, strict=True))
            ],
            "hard": [question.id for question in self.dataset],
            "fingerprint": self.dataset.fingerprint,
        }


def find_hard_subset(
    dataset: Dataset,
    solvers: Systems,
    protocol: Protocol | None = None,
    *,
    report: Systems = (),
    max_solved: int = 0,
    jobs: int = 1,
    progress: bool = False,
    **settings: Any,
) -> HardSubset:
    """Find the questions that no solver solves, or at most a few: ReCoRD's machine filter, Quoref's adversary.

    A solver that learns from gold learns out of fold, in five folds of whole passages, unless it has other training
    data. The same holds for thresholds and tuned parameters. So no solver has seen a question that it removes.

    Parameters
    ----------
    dataset : Dataset
        With gold answers.
    solvers : sequence or mapping
        The members of the filter: systems as of :func:`classic_rc.evaluate`. Their scores on the questions that are
        kept are low by construction.
    report : sequence or mapping
        Systems that are only reported and do not filter. `random` is always among them.
    max_solved : int
        K: a question is kept if at most K members solve it.
    protocol, jobs, progress, **settings
        As in :func:`classic_rc.evaluate`; there are always intervals.

    Returns
    -------
    HardSubset

    Raises
    ------
    UsageError
        There is no member, a number is out of range, or a member would learn from the questions that it filters.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.audit import find_hard_subset
    >>> found = find_hard_subset(classic_rc.load("sample:single-choice"), [classic_rc.parse_solver("sw+d")])
    >>> len(found.dataset), round(found.removed["chance"].value, 2)
    (14, 0.25)
    """
    members = _without_random(solvers)
    if not members:
        raise UsageError(
            "the filter needs a solver other than random: random is an expectation and solves no single question",
            field="solvers",
            found="no other solver",
        )
    if not 0 <= max_solved < len(members):
        raise UsageError(
            f"the number of solvers that may solve a kept question must be from 0 to {len(members) - 1}, got "
            f"{max_solved}: a higher number would keep every question",
            field="max_solved",
            found=str(max_solved),
            expected=f"0 to {len(members) - 1}",
        )
    protocol = Protocol.of(protocol, settings)
    train = as_dataset(protocol.train)
    for role, whole in (("--train", train), ("--tune", protocol.tune)):
        parts = () if whole is None else (whole, *whole.parts)
        if other := next((part for part in parts if part.fingerprint == dataset.fingerprint), None):
            raise UsageError(
                f"{role} is the data to filter: leave out {role}, and solvers learn out of fold",
                field=role.removeprefix("--"),
                found=other.name,
            )
    others = [System(Random()), *_without_random(report)]
    own = [system.solver for system in (*members, *others) if system.solver is not None]
    if protocol.cv is None and train is None and any(solver.learns_from == "gold" for solver in own):
        protocol = replace(protocol, cv=_FOLDS)
    groups, resamples = passage_groups(dataset, protocol.group), protocol.resamples or DEFAULT_RESAMPLES
    resampling = Resampling(int(groups.max(initial=-1)) + 1, resamples, protocol.seed or 0, group=protocol.group)
    protocol = replace(protocol, intervals=None)
    evaluation = evaluate(dataset, [*members, *others], protocol, jobs=jobs, progress=progress)
    for error in evaluation.errors.values():
        raise error
    assert evaluation.dataset.task is not None
    metric, rows = METRICS[SOLVED_BY[evaluation.dataset.task]], evaluation.rows
    guess = next(row for row in rows if row.solver == Random.name).outcomes.statistics[metric.name]
    n_solved = np.sum([_solved_by(row, metric) for row in rows[: len(members)]], axis=0)
    chance = chance_removed(metric.from_means(guess), len(members), max_solved)
    return HardSubset(metric, evaluation, len(members), max_solved, n_solved, chance, groups, resampling)


def chance_removed(solved: NDArray[np.float64], n_members: int, max_solved: int = 0) -> NDArray[np.float64]:
    """Return the probability that more than K of m independent guessers solve each question.

    `solved` is the probability that one does. Baselines that solve the same questions remove fewer.
    """
    from scipy.stats import binom

    return np.asarray(binom.sf(max_solved, n_members, solved), dtype=np.float64)


def _solved_by(row: Row, metric: Metric) -> NDArray[np.bool_]:
    return np.asarray(metric.of_questions(row.outcomes.statistics[metric.name]) > SOLVED_ABOVE + 1e-9)


def _without_random(systems: Systems) -> list[System]:
    return [system for system in as_systems(systems) if not isinstance(system.solver, Random)]
