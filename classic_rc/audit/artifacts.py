"""Artifacts: what solvers reach that read only part of what comprehension takes, against permuted gold."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.null import Null, null_of, p_value
from classic_rc.decisions import TIE_TOLERANCE, Decision
from classic_rc.errors import DataError, UsageError
from classic_rc.evaluation.evaluate import predict
from classic_rc.evaluation.fitted_system import SharedDatasets
from classic_rc.evaluation.plan import Learning, check_task
from classic_rc.evaluation.resampling import Interval, holm, percentile_interval
from classic_rc.evaluation.significance import resampled_metrics
from classic_rc.folds import passage_groups
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import METRICS
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question, Task
from classic_rc.solvers.base import Solver
from classic_rc.solvers.cloze import MaximumFrequency
from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
from classic_rc.solvers.surface.solver import SurfaceLR
from classic_rc.solvers.trivial import ConstantPosition


@dataclass(frozen=True, slots=True)
class PartialInput:
    """A solver that reads only part of what comprehension takes.

    Parameters
    ----------
    name : str
        What it reads. Two of one name are for different tasks.
    solver : Solver
        What it learns (directions, positions, weights, thresholds) it must learn in `fit` and `tune`.
    """

    name: str
    solver: Solver


FAMILY: tuple[PartialInput, ...] = (
    PartialInput("question and options", SurfaceLR(inputs="no-passage")),
    PartialInput("passage and options", SurfaceLR(inputs="no-question")),
    PartialInput("options", SurfaceLR(inputs="candidates")),
    PartialInput("question's first word", SurfaceLR(question_words=1)),
    PartialInput("question's first 2 words", SurfaceLR(question_words=2)),
    PartialInput("question's first 4 words", SurfaceLR(question_words=4)),
    PartialInput("verbatim overlap", VerbatimOverlap()),
    PartialInput("position", ConstantPosition(position="majority")),
    PartialInput("position", PositionPrior()),
    PartialInput("length in characters", Length(unit="characters")),
    PartialInput("length in words", Length(unit="words")),
    PartialInput("negation words", NegationWords()),
    PartialInput("most frequent entity", MaximumFrequency()),
)
"""What is tried, in the order of tables.

Without the passage, without the question and without both: Kaushik and Lipton 2018, Gururangan et al. 2018 and
Poliak et al. 2018, with a classifier of overlap features in place of neural readers.

The first 1, 2 and 4 words of the question, with passage and options, are a heuristic of Sugawara et al. 2018. They
gave cut questions to neural readers, to part the questions of a dataset into easy and hard ones. Here a classifier
of overlap features is trained and tested on cut questions, and what comes out is about the dataset as a whole: how
many of its answers can be had from so little of its questions.
"""

MEASURED: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("accuracy",),
    Task.MULTIPLE_ANSWER: ("f1_a", "f1_m"),
    Task.CLOZE: ("f1", "em"),
}
"""The metrics by task; the first is tested. Spans are no candidates that gold could be moved to."""

FEWEST_GROUPS = 10
"""From how many passages or groups on the bootstrap is trusted: resamples of a handful are much too alike."""


class AboveMean(Decision):
    """Every candidate whose score is above the mean of its question's candidates.

    A check asks whether right options can be told from wrong ones of the same question, and this rule asks for
    nothing else. A threshold tuned for F1a would select nearly everything, and then nothing is better than chance:
    on MultiRC, whose right options are clearly the longer ones, length would seem to tell nothing. And tuned out
    of fold, on scores of solvers that learned from the very fold it is for, it is a little better than it ought.
    """

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with its candidates above the mean; with none where all score the same."""
        return [
            Prediction(q.id, (frozenset(_above_mean(row)),), n_candidates=len(row))
            for q, row in zip(questions, scores, strict=True)
        ]


def _above_mean(scores: NDArray[np.float64]) -> list[int]:
    return np.flatnonzero(scores > scores.mean() + TIE_TOLERANCE).tolist() if len(scores) else []


@dataclass(frozen=True, slots=True)
class Gain:
    """A metric, its chance level and their difference, all as fractions.

    Parameters
    ----------
    value : float
    chance : float
        The mean of this very metric when gold is permuted within each question.
    gain : float
        ``value - chance``.
    interval : Interval or None
        Of the gain: 95 %, over resampled passages, metric and chance level resampled together, predictions as they
        are. None with fewer than :data:`FEWEST_GROUPS` passages or groups.
    """

    value: float
    chance: float
    gain: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class PartialResult:
    """How a partial input fared.

    Parameters
    ----------
    name : str
    solver : str
        The solver that stands for it, with its parameters.
    gains : mapping of str to Gain
        By the metric's name; the first is tested.
    p : float
        Of the tested metric.
    p_holm : float
        Adjusted for all partial inputs that were tried on the dataset.
    seconds : float
    """

    name: str
    solver: str
    gains: Mapping[str, Gain]
    p: float
    p_holm: float
    seconds: float

    @property
    def tested(self) -> Gain:
        """The gain in the metric that is tested."""
        return next(iter(self.gains.values()))


@dataclass(frozen=True, slots=True)
class PartialInputs:
    """How all partial inputs fared on a dataset.

    Parameters
    ----------
    results : tuple of PartialResult
        Empty where none could be tried.
    left_out : mapping of str to str
        What was not tried, with the reason.
    learned_from : str
        The training data, or ``"cv5"`` for what is learned out of fold.
    permutations, resamples, seed : int
    warnings : tuple of str
        What the reader of the numbers should know.
    """

    results: tuple[PartialResult, ...]
    left_out: Mapping[str, str]
    learned_from: str
    permutations: int
    resamples: int
    seed: int
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        plain = asdict(self)
        for result in plain["results"]:
            for gain in result["gains"].values():
                gain["interval"] = gain["interval"] and list(gain["interval"])
        return plain


def try_partial_inputs(
    dataset: Dataset,
    *,
    train: Dataset | None = None,
    cv: int | None = None,
    group: str | None = None,
    seed: int = 0,
    permutations: int = 10_000,
    resamples: int = 10_000,
    family: Sequence[PartialInput] = FAMILY,
    advance: Callable[[int], None] = lambda questions: None,
    shared: SharedDatasets | None = None,
) -> PartialInputs:
    """Answer a dataset from partial inputs, and compare with chance.

    The null hypothesis: what is read says nothing about which candidate is right. Gold is permuted within each
    question, the number of right candidates kept, while predictions stay as they are (:func:`.null.null_of`). The
    p-value is how often that reaches the metric, doubled where something was learned out of fold
    (:func:`.null.p_value`). Holm's procedure adjusts it for the partial inputs tried on this dataset, and for
    nothing else: of simulated datasets without a leak, 3 to 5 % raise any alarm at 0.05.

    Parameters
    ----------
    dataset : Dataset
    train : Dataset, optional
        What is learned from, without what it shares with `dataset`.
    cv : int, optional
        In how many folds of whole passages everything is learned without `train`; 5 by default.
    group : str, optional
        A key of `meta` (article, author) whose equal values stay together, in folds and in resampling.
    seed : int
        Of permutations and resamples.
    permutations, resamples : int
        How many.
    family : sequence of PartialInput
    advance : callable
        Is told how many questions have just been answered.
    shared : SharedDatasets, optional
        Encodings to share with other checks of the dataset.

    Raises
    ------
    UsageError
        There is no permutation or no resample, there are both `train` and `cv`, nothing is left of `train` or it is
        of another task, or no question has the `group`.
    """
    if permutations < 1:
        raise UsageError(f"a null takes at least one permutation, got {permutations}")
    if resamples < 1:
        raise UsageError(f"resampling takes at least one resample, got {resamples}")
    learning = Learning(train=train, cv=cv, group=group, drop_overlap=True)
    groups = passage_groups(dataset, group)
    reason = _obstacle(dataset, groups)
    known = {} if reason else {m.name: m for m in family if dataset.task in m.solver.tasks}
    left_out = {m.name: reason or f"not for {dataset.task} questions" for m in family if m.name not in known}
    if known and train is not None:
        check_task(train, dataset, "training")
        learning = learning.apart_from(dataset)
    trials: list[_Trial] = []
    shared = shared or SharedDatasets()
    for member in known.values():
        trial = _try(member, dataset, learning, shared)
        if isinstance(trial, str):
            left_out[member.name] = trial
        else:
            trials.append(trial)
        advance(len(dataset))
    results = _results(trials, groups, permutations, resamples, seed) if trials else ()
    warnings = dict.fromkeys([*learning.notes, *(f"{t.member.name}: {w}" for t in trials for w in t.warnings)])
    learned_from = learning.folds.label if train is None else train.name
    return PartialInputs(results, left_out, learned_from, permutations, resamples, seed, tuple(warnings))


def _obstacle(dataset: Dataset, groups: NDArray[np.int64]) -> str | None:
    """Why no partial input can be tried on a dataset, if so."""
    if dataset.task is None:
        return "there is no question"
    if dataset.task not in MEASURED:
        return f"not for {dataset.task} questions"
    if any(question.gold is None for question in dataset):
        return "gold answers are hidden"
    return "it takes two different passages or groups" if groups.max() < 1 else None


@dataclass(frozen=True, slots=True)
class _Trial:
    """What is kept of a partial input once it has answered: some numbers a question."""

    member: PartialInput
    metrics: Sequence[Metric]
    statistics: Mapping[str, NDArray[np.float64]]
    null: Null
    out_of_fold: bool
    seconds: float
    warnings: tuple[str, ...]

    def measured(self) -> list[tuple[Metric, NDArray[np.float64]]]:
        """Each metric with its statistics and, after that, with their expectations under the null."""
        return [(m, rows) for m in self.metrics for rows in (self.statistics[m.name], self.null.expected_of(m))]


def _try(member: PartialInput, dataset: Dataset, learning: Learning, shared: SharedDatasets) -> _Trial | str:
    """Let a partial input answer; or why it cannot."""
    from sklearn.base import clone

    assert dataset.task is not None
    start = time.perf_counter()
    solver = clone(member.solver)
    if dataset.task is Task.MULTIPLE_ANSWER:
        solver.set_params(decision=AboveMean())
    try:
        cv = learning.folds.n_folds if learning.train is None else None
        predicted = predict(dataset, solver, train=learning.train, cv=cv, group=learning.group, shared=shared)
    except (UsageError, DataError) as error:
        return str(error)
    assert predicted.predictions is not None
    metrics = [METRICS[name] for name in MEASURED[dataset.task]]
    statistics = {m.name: m.statistics(dataset, predicted.predictions) for m in metrics}
    null = null_of(dataset, predicted.predictions, metrics)
    out_of_fold = learning.train is None and solver.learns_from == "gold"
    seconds = time.perf_counter() - start
    return _Trial(member, metrics, statistics, null, out_of_fold, seconds, predicted.warnings)


def _results(
    trials: Sequence[_Trial], groups: NDArray[np.int64], permutations: int, resamples: int, seed: int
) -> tuple[PartialResult, ...]:
    intervals = _intervals(trials, groups, resamples, seed) if groups.max() + 1 >= FEWEST_GROUPS else {}
    measured = []
    for trial in trials:
        nulls = trial.null.distributions(permutations, seed)
        own = intervals.get(trial.member.name, {})
        gains = {m.name: _gain(trial, m, nulls[m.name].mean, own.get(m.name)) for m in trial.metrics}
        tested = trial.metrics[0].name
        measured.append((gains, p_value(gains[tested].value, nulls[tested], doubled=trial.out_of_fold)))
    adjusted = holm([p for _, p in measured]).tolist()
    return tuple(
        PartialResult(trial.member.name, repr(trial.member.solver), gains, p, p_holm, trial.seconds)
        for trial, (gains, p), p_holm in zip(trials, measured, adjusted, strict=True)
    )


def _gain(trial: _Trial, metric: Metric, chance: float, interval: Interval | None) -> Gain:
    value = metric.aggregate(trial.statistics[metric.name])
    if interval is not None:
        # It is that of a gain over the metric of expected statistics: of chance, if the metric is linear in them.
        shift = metric.aggregate(trial.null.expected_of(metric)) - chance
        interval = Interval(interval.low + shift, interval.high + shift)
    return Gain(value, chance, value - chance, interval)


def _intervals(
    trials: Sequence[_Trial], groups: NDArray[np.int64], resamples: int, seed: int
) -> dict[str, dict[str, Interval]]:
    """By partial input and metric, that of the metric less the metric of the expected statistics."""
    measured = [of for trial in trials for of in trial.measured()]
    drawn = iter(resampled_metrics(measured, groups, n=resamples, seed=seed))
    return {
        trial.member.name: {m.name: percentile_interval(next(drawn) - next(drawn)) for m in trial.metrics}
        for trial in trials
    }
