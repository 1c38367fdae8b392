"""Does a system read? Its scores on perturbed copies of a dataset, next to its score on the original.

A drop shows that a system uses what a copy lacks. No drop shows that it does not, which says as much about the
dataset as about the system: the questions can be answered without (Sugawara et al. 2020, AAAI).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.perturb import (
    PERTURBATIONS,
    Perturbation,
    count_unanswerable,
    get_perturbation,
    perturb_dataset,
)
from classic_rc.datasets.registry import as_dataset
from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.evaluation.evaluate import fit_systems
from classic_rc.evaluation.fitted_system import EncodingCache, FittedSystem, iter_blocks
from classic_rc.evaluation.plan import (
    EvaluationPlan,
    ReadySystem,
    add_span_candidates,
    fold_plan,
    make_plan,
    require_gold,
)
from classic_rc.evaluation.resampling import Interval, Resampling, percentile_interval
from classic_rc.evaluation.results import dataset_record
from classic_rc.evaluation.significance import resample_metrics
from classic_rc.evaluation.systems import Systems
from classic_rc.folds import passage_groups, share_groups
from classic_rc.io.progress import progress_bar
from classic_rc.metrics.base import Metric, metric_of_task
from classic_rc.protocol import DEFAULT_RESAMPLES, Protocol
from classic_rc.questions import Dataset
from classic_rc.tables.model import frame_of_records

if TYPE_CHECKING:
    import pandas

SEEDS = 5
"""The number of copies by each perturbation that draws; scores are their means."""


@dataclass(frozen=True, slots=True)
class PerturbedScore:
    """A system's score on the copies of one perturbation; scores are fractions."""

    system: str
    perturbation: str
    score: float  # the mean over the seeds
    by_seed: tuple[float, ...]  # one if the perturbation draws nothing
    difference: float  # score - the system's score on the original
    interval: Interval | None  # of the difference, over resampled passages; None with fewer than two
    unanswerable: float  # the share of questions whose answer the copy lacks, the mean over the seeds


@dataclass(frozen=True, slots=True)
class OriginalScore:
    """A system's score on the original dataset."""

    system: str
    score: float
    interval: Interval | None
    trained_on: str | None  # the data that it learned from gold or from passages; None if it learns nothing
    tuned_on: str | None


@dataclass(frozen=True)
class PerturbedEvaluation:
    """The scores of systems on a dataset and on its perturbed copies.

    Parameters
    ----------
    dataset : Dataset
        The original.
    metric : Metric
    originals : tuple of OriginalScore
        One for each system.
    scores : tuple of PerturbedScore
        By system, then by perturbation.
    trained_on_perturbed : bool
        Whether learners were trained on copies too.
    seeds : tuple of int
    function_words : str
        The stop list.
    resampling : Resampling
    errors : mapping of str to ClassicRCError
        Why a system, or ``SYSTEM on PERTURBATION``, has no score.
    left_out : mapping of str to str
        The perturbations that do not apply to the task, and why.
    warnings : tuple of str
    """

    dataset: Dataset
    metric: Metric
    originals: tuple[OriginalScore, ...]
    scores: tuple[PerturbedScore, ...]
    trained_on_perturbed: bool
    seeds: tuple[int, ...]
    function_words: str
    resampling: Resampling
    errors: Mapping[str, ClassicRCError] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def learning_note(self) -> str:
        """What the systems learned from, a sentence."""
        if self.trained_on_perturbed:
            return "learners are trained and tuned on data with the same perturbation and seed as the copy"
        return (
            "learners are trained and tuned on original data; what is learned without gold (counts, indexes) is "
            "learned from the copy"
        )

    def records(self) -> list[dict[str, Any]]:
        """Return a flat record for each system and perturbation, the original among them; scores are fractions."""
        records: list[dict[str, Any]] = []
        for original in self.originals:
            system = {"dataset": self.dataset.name, "system": original.system, "metric": self.metric.name}
            learned = {"trained_on": original.trained_on, "tuned_on": original.tuned_on}
            low, high = original.interval or (None, None)
            own = {"perturbation": "original", "score": original.score, "score_low": low, "score_high": high}
            records.append({**system, **own, **learned})
            for score in self.scores:
                if score.system != original.system:
                    continue
                low, high = score.interval or (None, None)
                own = {
                    "perturbation": score.perturbation,
                    "score": score.score,
                    "original": original.score,
                    "difference": score.difference,
                    "difference_low": low,
                    "difference_high": high,
                    "seeds": len(score.by_seed),
                    "lowest_seed": min(score.by_seed),
                    "highest_seed": max(score.by_seed),
                    "unanswerable": score.unanswerable,
                    "trained_on_perturbed": self.trained_on_perturbed,
                }
                records.append({**system, **own, **learned})
        return records

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "dataset": dataset_record(self.dataset),
            "metric": self.metric.name,
            "trained_on_perturbed": self.trained_on_perturbed,
            "seeds": list(self.seeds),
            "function_words": self.function_words,
            "resampling": self.resampling.to_dict(),
            "systems": [asdict(original) for original in self.originals],
            "scores": [asdict(score) for score in self.scores],
            "left_out": dict(self.left_out),
            "missing": [{"name": name, "reason": str(error)} for name, error in self.errors.items()],
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pandas.DataFrame:
        """Return :meth:`records` as a pandas frame.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        return frame_of_records(self.records())


def evaluate_perturbed(
    dataset: Dataset,
    systems: Systems,
    names: Sequence[str] = (),
    protocol: Protocol | None = None,
    *,
    perturbed_train: bool = False,
    function_words: str = "nltk",
    seeds: int = SEEDS,
    jobs: int = 1,
    progress: bool = False,
    **settings: Any,
) -> PerturbedEvaluation:
    """Measure systems on a dataset and on its perturbed copies.

    What a system learns from gold (weights, thresholds) it learns once, from original data, and keeps. A solver
    that learns from passages only (counts of words, an index) learns from the copy's. With `perturbed_train`,
    everything is learned again for each copy, from data perturbed in the same way.

    Parameters
    ----------
    dataset : Dataset
        Its gold answers must be known.
    systems, protocol, jobs, **settings
        As in :func:`classic_rc.evaluate`. Files of predictions answer the original questions only, so they get an
        error. Folds are the same for all copies. The first of `metrics` is measured; `seed` is the first seed of
        the copies, and that of the resamples. The intervals measure which passages the dataset has; the score of
        each resample is the mean over the copies.
    names : sequence of str
        Names in :data:`~classic_rc.audit.perturb.PERTURBATIONS`; by default all that apply to the task.
    perturbed_train : bool
        Whether to perturb `train` and `tune` (with `cv`: the folds to learn from) too.
    function_words : str
        As in :func:`~classic_rc.audit.perturb.perturb_dataset`.
    seeds : int
        Number of copies by perturbations that draw.
    progress : bool

    Returns
    -------
    PerturbedEvaluation

    Raises
    ------
    UsageError
        A perturbation is unknown or does not apply to the task, or no system answers the questions.
    DataError
        Gold answers are hidden.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.audit import evaluate_perturbed
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> found = evaluate_perturbed(dataset, ["sw"], ["shuffled-sentences", "no-question"], seeds=2)
    >>> [(score.perturbation, len(score.by_seed)) for score in found.scores]
    [('shuffled-sentences', 2), ('no-question', 1)]
    """
    require_gold(dataset, "nothing can be measured")
    if seeds < 1:
        raise UsageError(f"at least 1 seed is needed, got {seeds}", field="seeds", found=str(seeds))
    chosen, left_out = _choose(dataset, names)
    plan = make_plan(dataset, systems, Protocol.of(protocol, settings))
    protocol = plan.protocol
    assert dataset.task is not None
    measure = metric_of_task(dataset.task, next(iter(protocol.metrics), None))
    run = _Run(plan, measure, perturbed_train, function_words, jobs)
    seed, resamples = protocol.seed or 0, protocol.resamples or DEFAULT_RESAMPLES
    copies = [(p, seed + i) for p in chosen for i in range(seeds if p.draws else 1)]
    with progress_bar(dataset.name, 1 + len(copies), progress, unit="copy") as advance:
        advance.stage("original")
        run.measure_original()
        advance(1)
        for perturbation, own_seed in copies:
            advance.stage(perturbation.name)
            try:
                run.measure_copy(perturbation, own_seed)
            except UsageError as error:
                if names:
                    raise
                left_out[perturbation.name] = str(error)
            advance(1)
    chosen = [perturbation for perturbation in chosen if perturbation.name not in left_out]
    groups = passage_groups(dataset, protocol.group)
    resampling = Resampling(int(groups.max(initial=-1)) + 1, resamples, seed, group=protocol.group)
    originals, scores = run.summarise(chosen, groups, resampling)
    warnings = (*plan.notes, *plan.overlap, *([resampling.warning] if resampling.warning else []))
    numbers = tuple(range(seed, seed + seeds))
    return PerturbedEvaluation(
        dataset, measure, originals, scores, perturbed_train, numbers, function_words, resampling,
        run.errors, left_out, warnings,
    )  # fmt: skip


def _choose(dataset: Dataset, names: Sequence[str]) -> tuple[list[Perturbation], dict[str, str]]:
    """Return the named perturbations; without names all that apply, and why the others do not."""
    if names:
        return [get_perturbation(name, dataset) for name in dict.fromkeys(names)], {}
    applying = [p for p in PERTURBATIONS.values() if dataset.task in p.tasks]
    return applying, {p.name: p.refusal for p in PERTURBATIONS.values() if dataset.task not in p.tasks}


class _Run:
    """Systems that are fitted once, and their outcomes on the original and on each copy."""

    def __init__(
        self,
        plan: EvaluationPlan,
        metric: Metric,
        perturbed_train: bool,
        function_words: str,
        jobs: int,
    ) -> None:
        self.plan, self.metric, self.perturbed_train = plan, metric, perturbed_train
        self.function_words, self.jobs = function_words, jobs
        self.dataset, self.learning = plan.dataset, plan.separated
        self.errors: dict[str, ClassicRCError] = dict(plan.errors)
        self.fitted: dict[str, FittedSystem] = {}
        self.ready: dict[str, ReadySystem] = {}
        self.original: dict[str, NDArray[np.float64]] = {}
        self.copies: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
        self.unanswerable: dict[str, list[float]] = {}

    def measure_original(self) -> None:
        """Fit the systems, and measure their answers to the original questions."""
        shared = EncodingCache()
        for ready in self.plan.systems:
            if ready.file is not None:
                self.errors[ready.name] = _file_error(ready, self.dataset)
                continue
            assert ready.solver is not None
            try:
                for name, system in fit_systems(ready.name, ready.solver, self.plan, shared):
                    self.original[name] = self._measure(system, system, self.dataset, shared, is_copy=False)
                    self.fitted[name], self.ready[name] = system, ready
            except ClassicRCError as error:
                self.errors[ready.name] = error
        if not self.fitted:
            raise next(iter(self.errors.values()))

    def measure_copy(self, perturbation: Perturbation, seed: int) -> None:
        """Measure the systems' answers to a copy."""
        copy = self._perturb(self.dataset, perturbation, seed)
        lost = count_unanswerable(self.dataset.questions, copy.questions) / len(copy)
        self.unanswerable.setdefault(perturbation.name, []).append(lost)
        share_groups(copy, self.dataset, fold_plan(self.learning))
        shared = EncodingCache()
        refitted = self._refit(perturbation, copy, seed, shared) if self.perturbed_train else self.fitted
        for name, system in refitted.items():
            scorer, solver = system, self.ready[name].solver
            try:
                assert solver is not None
                if not self.perturbed_train and solver.learns_from == "passages" and not solver.tunes_parameters:
                    scorer = FittedSystem(solver, copy, replace(self.learning, tune=None), shared=shared)
                rows = self._measure(scorer, system, copy, shared, is_copy=not self.perturbed_train)
                self.copies.setdefault((name, perturbation.name), []).append(rows)
            except ClassicRCError as error:
                self.errors[f"{name} on {perturbation.name}"] = error

    def _perturb(self, dataset: Dataset, perturbation: Perturbation, seed: int) -> Dataset:
        copy = perturb_dataset(dataset, perturbation.name, seed=seed, function_words=self.function_words)
        return add_span_candidates(copy, self.learning.span_generator)

    def _refit(
        self, perturbation: Perturbation, copy: Dataset, seed: int, shared: EncodingCache
    ) -> dict[str, FittedSystem]:
        """Return the systems, fitted to data with the same perturbation."""
        train, tune = (
            other and self._perturb(other, perturbation, seed)
            for other in (as_dataset(self.learning.train), self.learning.tune)
        )
        if self.learning.tune is not None and self.learning.tune.fingerprint == self.dataset.fingerprint:
            tune = copy
        plan = replace(self.plan, dataset=copy, separated=replace(self.learning, train=train, tune=tune))
        fitted: dict[str, FittedSystem] = {}
        for ready in {id(ready): ready for ready in self.ready.values()}.values():
            assert ready.solver is not None
            try:
                fitted |= dict(fit_systems(ready.name, ready.solver, plan, shared))
            except ClassicRCError as error:
                self.errors[f"{ready.name} on {perturbation.name}"] = error
        return {name: system for name, system in fitted.items() if name in self.fitted}

    def _measure(
        self, scorer: FittedSystem, decider: FittedSystem, dataset: Dataset, shared: EncodingCache, *, is_copy: bool
    ) -> NDArray[np.float64]:
        """Return the metric's statistics of each answer, shape (n_questions, n_statistics)."""
        rows: NDArray[np.float64] | None = None
        for block in iter_blocks(dataset, shared):
            scores = scorer.score(block, self.jobs)
            decide = decider.decide_for_copy if is_copy else decider.decide_in_expectation
            own = self.metric.statistics(block.questions, decide(block, scores))
            if rows is None:
                rows = np.zeros((len(dataset), own.shape[1]))
            rows[block.places] = own
        assert rows is not None  # a dataset has questions
        return rows

    def summarise(
        self, chosen: Sequence[Perturbation], groups: NDArray[np.int64], resampling: Resampling
    ) -> tuple[tuple[OriginalScore, ...], tuple[PerturbedScore, ...]]:
        """Return the scores, with intervals from the same resamples for a system and its perturbed selves."""
        originals: list[OriginalScore] = []
        scores: list[PerturbedScore] = []
        for name, own in self.original.items():
            found = [(p.name, rows) for p in chosen if (rows := self.copies.get((name, p.name)))]
            value = self.metric.aggregate(own)
            drawn = self._resample([own, *(rows for _, copies in found for rows in copies)], groups, resampling)
            base = next(drawn)
            origins = self.fitted[name].origins(lambda dataset: dataset.name)
            interval = None if base is None else percentile_interval(base, resampling.level)
            originals.append(OriginalScore(name, value, interval, origins["trained_on"], origins["tuned_on"]))
            for perturbation, copies in found:
                by_seed = tuple(self.metric.aggregate(rows) for rows in copies)
                mean = float(np.mean(by_seed))
                resampled = [next(drawn) for _ in copies]
                bounds = None
                if base is not None:
                    differences = np.mean([values for values in resampled if values is not None], axis=0) - base
                    bounds = percentile_interval(differences, resampling.level)
                lost = float(np.mean(self.unanswerable[perturbation]))
                scores.append(PerturbedScore(name, perturbation, mean, by_seed, mean - value, bounds, lost))
        return tuple(originals), tuple(scores)

    def _resample(
        self, statistics: Sequence[NDArray[np.float64]], groups: NDArray[np.int64], resampling: Resampling
    ) -> Iterator[NDArray[np.float64] | None]:
        if resampling.n_groups < 2:
            return iter([None] * len(statistics))
        measured = [(self.metric, rows) for rows in statistics]
        return iter(resample_metrics(measured, groups, n=resampling.n, seed=resampling.seed))


def _file_error(ready: ReadySystem, dataset: Dataset) -> UsageError:
    path = str(ready.file and ready.file.path)
    return UsageError(
        f"{path} answers the original questions only: write a copy with `classic-rc perturb`, let the system "
        "answer it, and score its answers with the copy as DATA",
        field="systems",
        found=path,
        expected="a solver",
    )
