"""Does a system read? Its scores on perturbed copies of a dataset, next to its score on the
original.

A drop shows that a system uses what a copy lacks. No drop shows that it does not, which says as
much about the dataset as about the system: the questions can be answered without (Sugawara et al.
2020, AAAI).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress, islice, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.perturbations import (
    PERTURBATIONS,
    count_unanswerable,
    get_perturbation,
    perturb_dataset,
)
from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.folds import passage_groups, share_groups
from classic_rc.io.progress import progress_bar
from classic_rc.metrics.base import Metric, metric_of_task
from classic_rc.predictions import Prediction, Scores
from classic_rc.protocol import DEFAULT_RESAMPLES, Protocol
from classic_rc.questions import Dataset
from classic_rc.results.grouping import WITHOUT_COPIES
from classic_rc.results.intervals import interval_of, resample_ratios
from classic_rc.results.outcomes import join_copies
from classic_rc.results.resampling import Interval, Resampling
from classic_rc.results.result_table import dataset_record
from classic_rc.running.evaluate import fit_systems
from classic_rc.running.fitted_system import EncodingCache, FittedSystem, QuestionBlock, iter_blocks
from classic_rc.running.plan import (
    ReadySystem,
    add_span_candidates,
    fold_plan,
    make_plan,
    require_gold,
)
from classic_rc.solvers.base import Solver
from classic_rc.systems import Systems
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
    # of the difference, over passages; None with fewer than two
    interval: Interval | None
    unanswerable: (
        float  # the share of questions whose answer the copy lacks, the mean over the seeds
    )


@dataclass(frozen=True, slots=True)
class OriginalScore:
    """A system's score on the original dataset."""

    system: str
    score: float
    interval: Interval | None
    # the data that it learned from gold or from passages; None if it learns nothing
    trained_on: str | None
    tuned_on: str | None


@dataclass(frozen=True)
class PerturbedEvaluation:
    """The scores of systems on a dataset and on its perturbed copies."""

    dataset: Dataset  # the original
    metric: Metric
    originals: tuple[OriginalScore, ...]  # one for each system
    scores: tuple[PerturbedScore, ...]  # by system, then by perturbation
    seeds: tuple[int, ...]
    resampling: Resampling
    errors: Mapping[str, ClassicRCError] = field(default_factory=dict)
    """Why a system, or ``SYSTEM on PERTURBATION``, has no score."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The perturbations that do not apply to the task, and why."""
    warnings: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """Return a flat record for each system and perturbation, the original among them; scores
        are fractions.
        """
        records: list[dict[str, Any]] = []
        for original in self.originals:
            system = {
                "dataset": self.dataset.name,
                "system": original.system,
                "metric": self.metric.name,
            }
            learned = {"trained_on": original.trained_on, "tuned_on": original.tuned_on}
            low, high = original.interval or (None, None)
            measured = {
                "perturbation": "original",
                "score": original.score,
                "score_low": low,
                "score_high": high,
            }
            records.append({**system, **measured, **learned})
            for score in self.scores:
                if score.system != original.system:
                    continue
                low, high = score.interval or (None, None)
                measured = {
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
                }
                records.append({**system, **measured, **learned})
        return records

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        missing = [{"name": name, "reason": str(error)} for name, error in self.errors.items()]
        return {
            "dataset": dataset_record(self.dataset),
            "metric": self.metric.name,
            "seeds": list(self.seeds),
            "resampling": self.resampling.to_dict(),
            "systems": [asdict(original) for original in self.originals],
            "scores": [asdict(score) for score in self.scores],
            "left_out": dict(self.left_out),
            "missing": missing,
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
    seeds: int = SEEDS,
    jobs: int = 1,
    progress: bool = False,
    **settings: Any,
) -> PerturbedEvaluation:
    """Measure systems on a dataset and on its perturbed copies.

    What a system learns from gold (weights, thresholds), it learns once, from the original data. A
    solver that learns from passages only (counts of words, an index) learns from the copy's.

    Parameters
    ----------
    dataset : Dataset
        Its gold answers must be known.
    systems, protocol, jobs, **settings
        As in :func:`classic_rc.evaluate`. Files of predictions answer the original questions only,
        so they get an error. Folds are the same for all copies. The first of `metrics` is measured;
        `seed` is the first seed of the copies, and the seed of the resamples. The intervals measure
        which passages the dataset has; the score of each resample is the mean over the copies.
    names : sequence of str
        Names in :data:`~classic_rc.datasets.perturbations.PERTURBATIONS`; by default all that apply
        to the task.
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
    >>> from classic_rc.running import evaluate_perturbed
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> found = evaluate_perturbed(dataset, ["sw"], ["shuffled-sentences", "no-question"], seeds=2)
    >>> [(score.perturbation, len(score.by_seed)) for score in found.scores]
    [('shuffled-sentences', 2), ('no-question', 1)]
    """
    require_gold(dataset, "nothing can be measured")
    if seeds < 1:
        raise UsageError(f"at least 1 seed is needed, got {seeds}", field="seeds", found=str(seeds))
    perturbations = [get_perturbation(name, dataset) for name in dict.fromkeys(names)]
    left_out: dict[str, str] = {}
    if not names:
        perturbations = [p for p in PERTURBATIONS.values() if dataset.task in p.tasks]
        left_out = {
            p.name: p.refusal for p in PERTURBATIONS.values() if dataset.task not in p.tasks
        }
    plan = make_plan(dataset, systems, Protocol.of(protocol, settings))
    protocol, dataset = plan.protocol, plan.dataset
    assert dataset.task is not None
    metric = metric_of_task(dataset, next(iter(protocol.metrics), None))
    seed, resamples = protocol.seed or 0, protocol.resamples or DEFAULT_RESAMPLES
    groups = passage_groups(dataset, protocol.group)
    resampling = Resampling.of(groups, resamples, seed, group=protocol.group)
    errors: dict[str, ClassicRCError] = dict(plan.errors)
    fitted: dict[str, tuple[Solver, FittedSystem]] = {}
    answers: dict[
        str, dict[str, list[_Statistics]]
    ] = {}  # by system, and by perturbation; "" is the original
    lost: dict[tuple[str, str], list[float]] = {}  # by perturbation and part of the questions
    copies = []
    for perturbation in perturbations:
        n_copies = seeds if perturbation.draws else 1
        copies += [(perturbation, seed + i) for i in range(n_copies)]
    with progress_bar(dataset.name, 1 + len(copies), progress, unit="copy") as advance:
        advance.stage("original")
        shared = EncodingCache()
        for ready in plan.systems:
            try:
                # a file of scores is behind a solver
                if ready.file is not None or ready.solver is None:
                    raise _file_error(ready, dataset)
                for name, system in fit_systems(ready.name, ready.solver, plan, shared):
                    statistics_of_copy = _measure(
                        metric, dataset, shared, system, system.decide_in_expectation, jobs
                    )
                    answers[name] = {"": [statistics_of_copy]}
                    fitted[name] = ready.solver, system
            except ClassicRCError as error:
                errors[ready.name] = error
        if not fitted:
            raise next(iter(errors.values()))
        subsets = {"": np.ones(len(dataset), dtype=np.bool_)}
        copied = join_copies(system.copied for _, system in fitted.values())
        if copied is not None and not copied.all():
            subsets[f", {WITHOUT_COPIES}"] = ~copied
        advance(1)
        for perturbation, copy_seed in copies:
            advance.stage(perturbation.name)
            try:
                copy = perturb_dataset(dataset, perturbation.name, seed=copy_seed)
            except UsageError as error:
                if names:
                    raise
                left_out[perturbation.name] = str(error)
                continue
            copy = add_span_candidates(copy, protocol.spans)
            share_groups(copy, dataset, fold_plan(plan.separated))
            for subset, mask in subsets.items():
                original_questions = list(compress(dataset.questions, mask))
                copy_questions = list(compress(copy.questions, mask))
                n_lost = count_unanswerable(original_questions, copy_questions)
                share = n_lost / int(mask.sum())
                lost.setdefault((perturbation.name, subset), []).append(share)
            shared = EncodingCache()
            for name, (solver, system) in fitted.items():
                try:
                    scorer = system
                    if solver.learns_from == "passages" and not solver.tunes_parameters:
                        scorer = FittedSystem(
                            solver, copy, replace(plan.separated, tune=None), shared=shared
                        )
                    statistics_of_copy = _measure(
                        metric, copy, shared, scorer, system.decide_for_copy, jobs
                    )
                    answers[name].setdefault(perturbation.name, []).append(statistics_of_copy)
                except ClassicRCError as error:
                    errors[f"{name} on {perturbation.name}"] = error
            advance(1)
    originals: list[OriginalScore] = []
    scores: list[PerturbedScore] = []
    for (system_name, (_, system)), (subset, mask) in product(fitted.items(), subsets.items()):
        name = system_name + subset
        statistics: dict[str, list[_Statistics]] = {}
        for changed, copy_rows in answers[system_name].items():
            statistics[changed] = [rows[mask] for rows in copy_rows]
        measured = [(metric, rows) for copy_rows in statistics.values() for rows in copy_rows]
        subset_groups = np.unique(groups[mask], return_inverse=True)[1].reshape(-1)
        # The same resamples for a system and its copies, so that differences are paired.
        has_groups = subset_groups.max() > 0
        drawn = iter(resample_ratios(measured, subset_groups, resampling) if has_groups else ())
        (original,) = statistics.pop("")
        base = next(drawn, None)
        value = metric.aggregate(original)
        interval = interval_of(metric, [original], [base], subset_groups) if has_groups else None
        origins = system.origins(lambda data: data.name)
        originals.append(
            OriginalScore(name, value, interval, origins["trained_on"], origins["tuned_on"])
        )
        for changed, copy_rows in statistics.items():
            by_seed = tuple(metric.aggregate(rows) for rows in copy_rows)
            if has_groups:
                mean_rows: NDArray[np.float64] = np.mean(copy_rows, axis=0)
                copies_drawn = [d for d in islice(drawn, len(copy_rows)) if d is not None]
                mean_drawn = np.mean(copies_drawn, axis=0) if copies_drawn else None
                rows, distributions = [mean_rows, original], [mean_drawn, base]
                interval = interval_of(metric, rows, distributions, subset_groups)
            mean = float(np.mean(by_seed))
            unanswerable = float(np.mean(lost[changed, subset]))
            scores.append(
                PerturbedScore(name, changed, mean, by_seed, mean - value, interval, unanswerable)
            )
    warning = resampling.warning([metric])
    warnings = (*plan.notes, *plan.overlap, *([warning] if warning else []))
    numbers = tuple(range(seed, seed + seeds))
    return PerturbedEvaluation(
        dataset,
        metric,
        tuple(originals),
        tuple(scores),
        numbers,
        resampling,
        errors,
        left_out,
        warnings,
    )


_Statistics = NDArray[np.float64]
"""A metric's statistics of each answer, shape (n_questions, n_statistics)."""


def _measure(
    metric: Metric,
    dataset: Dataset,
    shared: EncodingCache,
    scorer: FittedSystem,
    decide: Callable[[QuestionBlock, Scores], Sequence[Prediction]],
    jobs: int,
) -> _Statistics:
    statistics = []
    for block in iter_blocks(dataset, shared):
        predictions = decide(block, scorer.score(block, jobs))
        statistics.append(metric.statistics(block.questions, predictions))
    return np.concatenate(statistics)


def _file_error(ready: ReadySystem, dataset: Dataset) -> UsageError:
    path = str(ready.file and ready.file.path)
    return UsageError(
        f"{path} answers the original questions only: write a copy with `classic-rc perturb`, let "
        "the system answer it, and score its answers with the copy as DATA",
        field="systems",
        found=path,
        expected="a solver",
    )
