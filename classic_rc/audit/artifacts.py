"""Artifacts: how far solvers get that read only a partial input, tested against permuted gold."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.null import MetricNulls, exceedance_p_value, null_distribution_of
from classic_rc.datasets.joined import TrainingData, as_dataset
from classic_rc.decisions import TIE_TOLERANCE, Decision
from classic_rc.errors import DataError, UsageError
from classic_rc.estimator import clone
from classic_rc.evaluation.evaluate import predict
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.evaluation.forks import count_jobs
from classic_rc.evaluation.plan import LearningData, require_same_task
from classic_rc.evaluation.resampling import Interval, holm, percentile_interval
from classic_rc.evaluation.significance import resample_metrics
from classic_rc.folds import find_overlap, passage_groups
from classic_rc.io.progress import Progress
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import METRICS
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question, Task
from classic_rc.solvers.base import Solver
from classic_rc.solvers.cloze import MaximumFrequency
from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
from classic_rc.solvers.learning import one_thread
from classic_rc.solvers.surface.solver import SurfaceLR
from classic_rc.solvers.trivial import ConstantPosition
from classic_rc.text.encode import encode


@dataclass(frozen=True, slots=True)
class PartialInput:
    """A solver that reads only part of the input that comprehension needs.

    Parameters
    ----------
    name : str
        The part that it reads. Two partial inputs of the same name are for different tasks.
    solver : Solver
        It must learn everything (directions, positions, weights, thresholds) in `fit` and `tune`.
    """

    name: str
    solver: Solver


PARTIAL_INPUTS: tuple[PartialInput, ...] = (
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
"""The partial inputs to try, in the order of tables.

Inputs without the passage, without the question and without both are those of Kaushik and Lipton 2018, Gururangan
et al. 2018 and Poliak et al. 2018, with a classifier of overlap features in place of neural readers.

The first 1, 2 and 4 words of the question, with passage and options, are a heuristic of Sugawara et al. 2018. They
gave shortened questions to neural readers, to separate easy from hard questions. Here a classifier of overlap
features is trained and tested on shortened questions, and the result is about the dataset as a whole: how many of
its answers follow from so little of its questions.
"""

MEASURED_TASKS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("accuracy",),
    Task.MULTIPLE_ANSWER: ("f1_a", "f1_m"),
    Task.CLOZE: ("f1", "em"),
}
"""The metrics of each task; the first one is tested. Span questions have none: gold cannot be moved to a span."""

MANY_QUESTIONS = 50_000
"""With more questions, two folds are enough to learn from, and take a third of the time and less memory."""

MIN_GROUPS = 10
"""With fewer passages or groups there is no bootstrap interval: resamples of so few groups are far too similar."""


class AboveMean(Decision):
    """The rule that selects every candidate whose score is above the mean of its question's candidates.

    A check asks only whether right options differ from wrong options of the same question, and so does this rule.
    A threshold tuned for F1a would select nearly everything, and then nothing beats chance: on MultiRC, whose
    right options are clearly longer, length would seem to be no cue. A threshold tuned out of fold would also be
    slightly too good, because it is tuned on scores of solvers that learned from the fold that it is applied to.
    """

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with its candidates above the mean; with none if all scores are equal."""
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
        The mean of the same metric when gold is permuted within each question.
    gain : float
        ``value - chance``.
    interval : Interval or None
        The gain's 95 % interval over resampled passages. Metric and chance level are resampled together;
        predictions stay fixed. None with fewer than :data:`MIN_GROUPS` passages or groups.
    """

    value: float
    chance: float
    gain: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class PartialResult:
    """The result of one partial input on a dataset.

    Parameters
    ----------
    name : str
        The partial input.
    solver : str
        The solver that reads it, with its parameters.
    gains : mapping of str to Gain
        By metric name; the first metric is tested.
    p : float
        The p-value of the tested metric.
    p_holm : float
        The p-value adjusted for all partial inputs that were tried on the dataset.
    seconds : float
        Wall time.
    """

    name: str
    solver: str
    gains: Mapping[str, Gain]
    p: float
    p_holm: float
    seconds: float

    @property
    def tested(self) -> Gain:
        """The gain in the tested metric."""
        return next(iter(self.gains.values()))


@dataclass(frozen=True, slots=True)
class PartialInputs:
    """The results of all partial inputs on a dataset.

    Parameters
    ----------
    results : tuple of PartialResult
        Empty if none could be tried.
    left_out : mapping of str to str
        The reason for each partial input that was not tried, by name.
    learned_from : str
        The name of the training data, or ``"cv5"`` for learning out of fold.
    permutations, resamples, seed : int
        The number of permutations, the number of resamples, and the seed of both.
    warnings : tuple of str
        Warnings for the reader of the numbers.
    """

    results: tuple[PartialResult, ...]
    left_out: Mapping[str, str]
    learned_from: str
    permutations: int
    resamples: int
    seed: int
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        plain = asdict(self)
        for result in plain["results"]:
            for gain in result["gains"].values():
                gain["interval"] = gain["interval"] and list(gain["interval"])
        return plain


def measure_partial_inputs(
    dataset: Dataset,
    *,
    train: TrainingData | None = None,
    cv: int | None = None,
    group: str | None = None,
    seed: int = 0,
    permutations: int = 10_000,
    resamples: int = 10_000,
    family: Sequence[PartialInput] = PARTIAL_INPUTS,
    jobs: int = 1,
    progress: Progress | None = None,
    shared: EncodingCache | None = None,
) -> PartialInputs:
    """Answer a dataset from partial inputs, and compare the results with chance.

    The null hypothesis is that the partial input does not indicate which candidate is right. Gold is permuted
    within each question, with the same number of right candidates, while predictions stay fixed
    (:func:`.null.null_distribution_of`). The p-value is how often permuted gold reaches the metric, doubled if
    anything was learned out of fold (:func:`.null.exceedance_p_value`). Holm's procedure adjusts it only for the
    partial inputs tried on this dataset: of simulated datasets without a leak, 3 to 5 % raise any alarm at 0.05.

    Parameters
    ----------
    dataset : Dataset
    train : Dataset or sequence of Dataset, optional
        The training data; several datasets become one. What it shares with `dataset` is left out.
    cv : int, optional
        Number of folds of whole passages to learn in without `train`; 5 by default, 2 for more than
        :data:`MANY_QUESTIONS` questions.
    group : str, optional
        A key of `meta` (article, author) whose equal values stay together, in folds and in resampling.
    seed : int
        The seed of permutations and resamples.
    permutations, resamples : int
        The number of each.
    family : sequence of PartialInput
        The partial inputs to try.
    jobs : int
        The number of partial inputs that are tried at the same time, in threads; -1 for one for each core. The
        results do not depend on it.
    progress : Progress, optional
        Gets the stages, the finished partial inputs, and the number of questions after each.
    shared : EncodingCache, optional
        Encodings to share with other checks of the dataset.

    Returns
    -------
    PartialInputs

    Raises
    ------
    UsageError
        `permutations` or `resamples` is below 1, both `train` and `cv` are given, nothing is left of `train` or it
        is of another task, or no question has the `group`.
    """
    if permutations < 1:
        raise UsageError(
            f"the number of permutations must be at least 1, got {permutations}",
            field="permutations",
            found=str(permutations),
        )
    if resamples < 1:
        raise UsageError(
            f"the number of resamples must be at least 1, got {resamples}", field="resamples", found=str(resamples)
        )
    progress, shared = progress or Progress(), shared or EncodingCache()
    progress.stage("near duplicates")
    train = as_dataset(train)
    if train is None and cv is None and len(dataset) > MANY_QUESTIONS:
        cv = 2
    learning = LearningData(train=train, cv=cv, group=group, drop_overlap=True)
    groups = passage_groups(dataset, group)
    reason = _blocking_reason(dataset, groups)
    eligible = {} if reason else {m.name: m for m in family if dataset.task in m.solver.tasks}
    left_out = {m.name: reason or f"not for {dataset.task} questions" for m in family if m.name not in eligible}
    if eligible and train is not None:
        require_same_task(train, dataset, "training")
        learning = learning.separate_from(dataset)
    trials: list[_Trial] = []
    progress.stage("learning from partial inputs")
    for member, trial in _run_trials(list(eligible.values()), dataset, learning, shared, jobs):
        if isinstance(trial, str):
            left_out[member.name] = trial
        else:
            trials.append(trial)
            progress.finished(f"{dataset.name}: {trial.describe()}")
        progress(len(dataset))
    progress.stage("resampling")
    results = _test_trials(trials, groups, permutations, resamples, seed) if trials else ()
    fold_warning = learning.folds.groups(dataset).warning if any(t.out_of_fold for t in trials) else None
    notes = [*learning.notes, *([fold_warning] if fold_warning else [])]
    warnings = dict.fromkeys([*notes, *(f"{t.member.name}: {w}" for t in trials for w in t.warnings)])
    learned_from = learning.folds.label if train is None else train.name
    return PartialInputs(results, left_out, learned_from, permutations, resamples, seed, tuple(warnings))


def _blocking_reason(dataset: Dataset, groups: NDArray[np.int64]) -> str | None:
    """Return the reason why no partial input can be tried on a dataset, or None."""
    if dataset.task is None:
        return "the dataset has no questions"
    if dataset.task not in MEASURED_TASKS:
        return f"not for {dataset.task} questions"
    if any(question.gold is None for question in dataset):
        return "gold answers are hidden"
    return "at least two different passages or groups are needed" if groups.max() < 1 else None


@dataclass(frozen=True, slots=True)
class _Trial:
    """A partial input's answers, reduced to a few numbers per question."""

    member: PartialInput
    metrics: Sequence[Metric]
    statistics: Mapping[str, NDArray[np.float64]]
    null: MetricNulls
    out_of_fold: bool
    seconds: float
    warnings: tuple[str, ...]

    def describe(self) -> str:
        """Return the name and the tested metric."""
        metric = self.metrics[0]
        return f"{self.member.name}: {metric.label} {100 * metric.aggregate(self.statistics[metric.name]):.2f}"

    def measured(self) -> list[tuple[Metric, NDArray[np.float64]]]:
        """Return each metric twice: with its statistics, then with their expectations under the null."""
        return [(m, rows) for m in self.metrics for rows in (self.statistics[m.name], self.null.expected_of(m))]


def _run_trials(
    members: Sequence[PartialInput], dataset: Dataset, learning: LearningData, shared: EncodingCache, jobs: int
) -> Iterator[tuple[PartialInput, _Trial | str]]:
    """Yield each partial input and its trial, in order."""
    n_threads = min(len(members), count_jobs(jobs))
    if n_threads < 2:
        for member in members:
            yield member, _run_trial(member, dataset, learning, shared)
        return
    # These calls fill caches that all of them read, so no thread does the work again.
    encode(shared.of(dataset), "word")
    if learning.train is not None:
        find_overlap(learning.train, dataset)
    elif any(member.solver.learns_from == "gold" for member in members):
        learning.folds.groups(dataset)
    # Around all threads: the first one to end would lift a limit of its own while others still learn.
    with one_thread(), ThreadPoolExecutor(n_threads) as pool:
        trials = [pool.submit(_run_trial, member, dataset, learning, shared) for member in members]
        try:
            for member, trial in zip(members, trials, strict=True):
                yield member, trial.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _run_trial(
    member: PartialInput, dataset: Dataset, learning: LearningData, shared: EncodingCache
) -> _Trial | str:
    """Answer the dataset from a partial input; return the reason if that is impossible."""
    assert dataset.task is not None
    start = time.perf_counter()
    solver = clone(member.solver)
    if dataset.task is Task.MULTIPLE_ANSWER:
        solver.set_params(decision=AboveMean())
    try:
        cv = learning.folds.n_folds if learning.train is None else None
        output = predict(dataset, solver, train=learning.train, cv=cv, group=learning.group, shared=shared)
    except (UsageError, DataError) as error:
        return str(error)
    assert output.predictions is not None
    metrics = [METRICS[name] for name in MEASURED_TASKS[dataset.task]]
    statistics = {m.name: m.statistics(dataset, output.predictions) for m in metrics}
    null = null_distribution_of(dataset, output.predictions, metrics)
    out_of_fold = learning.train is None and solver.learns_from == "gold"
    seconds = time.perf_counter() - start
    return _Trial(member, metrics, statistics, null, out_of_fold, seconds, output.warnings)


def _test_trials(
    trials: Sequence[_Trial], groups: NDArray[np.int64], permutations: int, resamples: int, seed: int
) -> tuple[PartialResult, ...]:
    intervals = _intervals(trials, groups, resamples, seed) if groups.max() + 1 >= MIN_GROUPS else {}
    measured = []
    for trial in trials:
        nulls = trial.null.distributions(permutations, seed)
        own = intervals.get(trial.member.name, {})
        gains = {m.name: _gain(trial, m, nulls[m.name].mean, own.get(m.name)) for m in trial.metrics}
        tested = trial.metrics[0].name
        measured.append((gains, exceedance_p_value(gains[tested].value, nulls[tested], doubled=trial.out_of_fold)))
    adjusted = holm([p for _, p in measured]).tolist()
    return tuple(
        PartialResult(trial.member.name, repr(trial.member.solver), gains, p, p_holm, trial.seconds)
        for trial, (gains, p), p_holm in zip(trials, measured, adjusted, strict=True)
    )


def _gain(trial: _Trial, metric: Metric, chance: float, interval: Interval | None) -> Gain:
    value = metric.aggregate(trial.statistics[metric.name])
    if interval is not None:
        # The interval is of the gain over the metric of the expected statistics. That metric is the chance level
        # only if it is linear in the statistics, so the bounds move by the difference of the two.
        shift = metric.aggregate(trial.null.expected_of(metric)) - chance
        interval = Interval(interval.low + shift, interval.high + shift)
    return Gain(value, chance, value - chance, interval)


def _intervals(
    trials: Sequence[_Trial], groups: NDArray[np.int64], resamples: int, seed: int
) -> dict[str, dict[str, Interval]]:
    """Return, by partial input and metric, the interval of the metric minus that of the expected statistics."""
    measured = [of for trial in trials for of in trial.measured()]
    drawn = iter(resample_metrics(measured, groups, n=resamples, seed=seed))
    return {
        trial.member.name: {m.name: percentile_interval(next(drawn) - next(drawn)) for m in trial.metrics}
        for trial in trials
    }
