"""Systems side by side on the same questions, wherever their outcomes come from."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.evaluation.resampling import (
    NULL_HYPOTHESES,
    Interval,
    PairedTest,
    Resampling,
    bootstrap_test,
    holm,
    mcnemar_test,
    percentile_interval,
    permutation_test,
)
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.evaluation.significance import resampled_metrics
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


MOST_SETS = 4
"""More sets have more regions than anybody reads."""

_WHOLE = 1 - 1e-9

SOLVED_BY = {
    Task.SINGLE_CHOICE: "accuracy",
    Task.MULTIPLE_ANSWER: "em0",
    Task.CLOZE: "em",
    Task.SPAN: "em",
    Task.MULTI_SPAN: "quoref_em",
}
"""The metric by task that is 1 where a question is answered exactly."""


@dataclass(frozen=True, slots=True)
class Region:
    """The questions that some systems solve and the others do not.

    Parameters
    ----------
    systems : tuple of str
        Who solves them; empty for the questions that nobody solves.
    questions : int
    share : float
        Of all questions, in 0..1.
    """

    systems: tuple[str, ...]
    questions: int
    share: float


def solved_regions(contest: Contest) -> tuple[Metric, tuple[Region, ...], tuple[str, ...]]:
    """How many questions each combination of systems solves, and no other system (ReCoRD, Figure 5).

    A question is solved by an answer that is wholly right; a share of the credit, as for a tie, is not enough.
    Expectations over draws solve no particular questions and are left out, as are systems beyond the first four.

    Parameters
    ----------
    contest : Contest

    Returns
    -------
    metric : Metric
        That says what is solved.
    regions : tuple of Region
        All 2^k, those of most systems first; empty with fewer than two sets.
    left_out : tuple of str
        The names of systems without a set.
    """
    metric = METRICS[SOLVED_BY[contest.task]]
    decided = [contender for contender in contest.contenders if not contender.expected]
    shown = decided[:MOST_SETS] if len(decided) > 1 else []
    names = [contender.name for contender in shown]
    left_out = tuple(c.name for c in contest.contenders if not any(c is other for other in shown))
    if not shown:
        return metric, (), left_out
    solved = [metric.from_means(c.statistics[metric.name]) >= _WHOLE for c in shown]
    codes = sum(right.astype(np.int64) << i for i, right in enumerate(solved))
    counts = np.bincount(codes, minlength=2 ** len(shown)).tolist()
    regions = [
        Region(
            tuple(name for i, name in enumerate(names) if code >> i & 1),
            count,
            count / len(contest.groups),
        )
        for code, count in enumerate(counts)
    ]
    # A stable sort: of as many systems, those that are named first come first.
    return metric, tuple(sorted(regions, key=lambda region: -len(region.systems))), left_out


@dataclass(frozen=True, slots=True)
class Standing:
    """One system's number, and how far it is above chance; all as fractions.

    Parameters
    ----------
    name, signature : str
    value : float
    interval : Interval or None
        None where there are fewer than two groups to resample.
    gain : float or None
        ``value - chance``; None for chance itself, and where it is not known.
    gain_interval : Interval or None
        Of the gain, both resampled together.
    relative_gain : float or None
        ``(value - chance) / chance``.
    """

    name: str
    signature: str
    value: float
    interval: Interval | None
    gain: float | None
    gain_interval: Interval | None
    relative_gain: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems on the same questions.

    Parameters
    ----------
    first, second : str
    difference : float
        The first's metric less the second's, as a fraction.
    interval : Interval or None
        Of the difference: the paired bootstrap.
    p : float
        Two-sided.
    exact : bool
        Whether `p` comes from counting everything that could happen, not from draws.
    p_holm : float
        Adjusted for all pairs of the comparison.
    wins, ties, losses : int
        Questions that, each taken alone, the first answers better than the second, as well, and worse.
    """

    first: str
    second: str
    difference: float
    interval: Interval | None
    p: float
    exact: bool
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found out about systems on one dataset.

    Parameters
    ----------
    contest : Contest
    metric : Metric
        What is compared.
    test : str
        A name in :data:`~classic_rc.evaluation.resampling.NULL_HYPOTHESES`.
    resampling : Resampling
        Of intervals; a permutation test draws as often.
    chance : float or None
        What `random` scores, in expectation.
    standings : tuple of Standing
        A system each, in the order given.
    pairs : tuple of Pair
        All of them.
    solved_by : str
        The metric that says which questions are solved.
    regions : tuple of Region
        Who solves what; empty where no set of solved questions can be told.
    left_out : tuple of str
        Systems that the regions leave out: expectations, and all beyond the fourth.
    """

    contest: Contest
    metric: Metric
    test: str
    resampling: Resampling
    chance: float | None
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    solved_by: Metric
    regions: tuple[Region, ...]
    left_out: tuple[str, ...]

    @property
    def null_hypothesis(self) -> str:
        """What the test assumes until the data speak against it."""
        return NULL_HYPOTHESES[self.test]

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        contest = self.contest
        return {
            "dataset": {
                "name": contest.dataset,
                "task": str(contest.task),
                "fingerprint": contest.fingerprint,
                "questions": len(contest.groups),
            },
            "metric": self.metric.name,
            "resampling": self.resampling.to_dict(),
            "test": {"name": self.test, "null_hypothesis": self.null_hypothesis, "adjusted": "holm"},
            "chance": self.chance,
            "systems": [_plain(standing) for standing in self.standings],
            "pairs": [_plain(pair) for pair in self.pairs],
            "overlap": {
                "solved_by": self.solved_by.name,
                "regions": [_plain(region) for region in self.regions],
                "left_out": list(self.left_out),
            },
        }


def _plain(found: Standing | Pair | Region) -> Mapping[str, Any]:
    """As plain data: intervals and tuples as lists."""
    fields = ((name, getattr(found, name)) for name in found.__slots__)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields}


_ROUNDING = 1e-9
"""Metrics of equal sums differ by less: a tie."""


def compare(
    contest: Contest,
    *,
    metric: str | None = None,
    test: str = "permutation",
    chance: Contender | None = None,
    n: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Compare all pairs of systems on the questions that they all answered.

    Parameters
    ----------
    contest : Contest
        With two systems or more.
    metric : str, optional
        Its name; by default the task's main one.
    test : {"permutation", "bootstrap", "mcnemar"}
        Of the difference; see :mod:`classic_rc.evaluation.resampling`.
    chance : Contender, optional
        What systems gain over: `random` in expectation. By default that of the contest, if it is there.
    n : int
        How many resamples, and random permutations.
    seed : int
        Of both.
    level : float
        Of intervals, in 0..1.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        There are fewer than two systems, the metric or test is not known or not for these questions, or the test
        is not for this metric.
    """
    if len(contest.contenders) < 2:
        raise UsageError("there is nothing to compare: name two systems or more")
    measure = contest.metric(metric)
    if test not in NULL_HYPOTHESES:
        raise unknown_name("test", test, NULL_HYPOTHESES)
    resampling = Resampling(int(contest.groups.max(initial=-1)) + 1, n, seed, level, contest.group)
    if chance is None:
        chance = next((c for c in contest.contenders if c.is_chance), None)
    rows = [contender.statistics[measure.name] for contender in contest.contenders]
    beside = [] if chance is None else [chance.statistics[measure.name]]
    values = [measure.aggregate(of) for of in (*rows, *beside)]
    drawn: Sequence[NDArray[np.float64] | None] = [None] * len(values)
    if resampling.n_groups > 1:
        drawn = resampled_metrics([(measure, of) for of in (*rows, *beside)], contest.groups, n=n, seed=seed)
    measured = _Measured(measure, test, resampling, contest.groups, rows, values, drawn)
    solved_by, regions, left_out = solved_regions(contest)
    return Comparison(
        contest,
        measure,
        test,
        resampling,
        None if chance is None else values[-1],
        tuple(measured.standing(i, c, chance) for i, c in enumerate(contest.contenders)),
        measured.pairs([contender.name for contender in contest.contenders]),
        solved_by,
        regions,
        left_out,
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """All systems' statistics, values and resampled values; those of chance, if any, come last."""

    metric: Metric
    test: str
    resampling: Resampling
    groups: NDArray[np.int64]
    rows: Sequence[NDArray[np.float64]]
    values: Sequence[float]
    drawn: Sequence[NDArray[np.float64] | None]

    def standing(self, i: int, contender: Contender, chance: Contender | None) -> Standing:
        """One system's, with what it gains over chance."""
        value, floor = self.values[i], self.values[-1]
        gains = chance is not None and not contender.is_chance
        return Standing(
            contender.name,
            contender.signature,
            value,
            self._interval(self.drawn[i]),
            value - floor if gains else None,
            self._difference_interval(i, -1) if gains else None,
            (value - floor) / floor if gains and floor else None,
        )

    def pairs(self, names: Sequence[str]) -> tuple[Pair, ...]:
        """All pairs, their p-values adjusted for each other."""
        found = list(itertools.combinations(range(len(names)), 2))
        tests = [self._test(i, j) for i, j in found]
        adjusted = holm([test.p for test in tests]).tolist()
        return tuple(
            Pair(
                names[i],
                names[j],
                self.values[i] - self.values[j],
                self._difference_interval(i, j),
                test.p,
                test.exact,
                p_holm,
                *self._outcomes(i, j),
            )
            for (i, j), test, p_holm in zip(found, tests, adjusted, strict=True)
        )

    def _test(self, i: int, j: int) -> PairedTest:
        if self.test == "mcnemar":
            return mcnemar_test(self.metric, self.rows[i], self.rows[j])
        if self.test == "bootstrap":
            differences = self._differences(i, j)
            if differences is None:
                raise UsageError("--test bootstrap takes at least two different passages or groups")
            return bootstrap_test(self.values[i] - self.values[j], differences)
        n, seed = self.resampling.n, self.resampling.seed
        return permutation_test(self.metric, self.rows[i], self.rows[j], self.groups, n=n, seed=seed)

    def _outcomes(self, i: int, j: int) -> tuple[int, int, int]:
        """Of single questions: wins, ties, losses of the one against the other."""
        more = self.metric.from_means(self.rows[i]) - self.metric.from_means(self.rows[j])
        wins, losses = int((more > _ROUNDING).sum()), int((more < -_ROUNDING).sum())
        return wins, len(more) - wins - losses, losses

    def _differences(self, i: int, j: int) -> NDArray[np.float64] | None:
        one, other = self.drawn[i], self.drawn[j]
        return None if one is None or other is None else one - other

    def _difference_interval(self, i: int, j: int) -> Interval | None:
        return self._interval(self._differences(i, j))

    def _interval(self, values: NDArray[np.float64] | None) -> Interval | None:
        return None if values is None else percentile_interval(values, self.resampling.level)
