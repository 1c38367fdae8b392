"""The pipeline: check and fit; encode, score, decide and tally block by block; then make the rows.

:func:`evaluate` measures solvers, :func:`evaluate_predictions` given answers; :func:`predict` answers only.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from classic_rc.datasets.joined import TrainingData, as_dataset
from classic_rc.decisions import (
    Argmax,
    Cuts,
    RelativeThreshold,
    Threshold,
    TiePolicy,
    TunedThreshold,
)
from classic_rc.evaluation.fitted_system import EncodingCache, FittedSystem, iter_blocks
from classic_rc.evaluation.grouping import group_masks
from classic_rc.evaluation.plan import EvaluationPlan, LearningData, Overrides, require_gold
from classic_rc.evaluation.results import Block, Evaluation, Outcomes, OutcomeTally, Row
from classic_rc.evaluation.signature import (
    Signature,
    changed_params,
    dataset_signature,
    file_digest,
    plain_params,
)
from classic_rc.evaluation.span_oracle import SpanOracle
from classic_rc.folds import FOLDS_VERSION
from classic_rc.io.progress import progress_bar
from classic_rc.metrics.registry import primary_metric
from classic_rc.predictions import ABSOLUTE_TIE_TOLERANCE, RELATIVE_TIE_TOLERANCE, Prediction, Scores
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.spans import SpanGenerator
from classic_rc.text.tokenizers import unspaced_share


def evaluate(
    dataset: Dataset,
    solvers: Sequence[Solver],
    *,
    train: TrainingData | None = None,
    tune: Dataset | None = None,
    cv: int | None = None,
    group: str | None = None,
    drop_overlap: bool = False,
    ties: TiePolicy | None = None,
    threshold: float | None = None,
    tune_metric: str | None = None,
    tune_cuts: Cuts | None = None,
    relative_threshold: float | None = None,
    seed: int | None = None,
    spans: SpanGenerator | None = None,
    group_by: str | None = None,
    jobs: int = 1,
    read_seconds: float = 0.0,
    progress: bool = False,
) -> Evaluation:
    """Run solvers on a dataset and measure their answers with the task's metrics.

    Parameters
    ----------
    dataset : Dataset
        Its gold answers must be known.
    solvers : sequence of Solver
        They are cloned, never changed.
    train : Dataset or sequence of Dataset, optional
        The data that solvers learn from; see :attr:`Solver.learns_from`. Several datasets become one
        (:func:`classic_rc.datasets.join_datasets`).
    tune : Dataset, optional
        The data that thresholds and tuned parameters are chosen on. Without it they are chosen out of fold: for
        each fifth of the passages on the other four (``cv5`` in the row). If it is `dataset` itself, the row is
        marked and followed by its out-of-fold row.
    cv : int, optional
        Number of folds. Solvers that learn from gold learn out of fold, in place of `train`. A fold has whole
        passages, and near duplicates are in one fold (:class:`classic_rc.folds.FoldPlan`).
        Out-of-fold tuning uses as many folds (five by default).
    group : str, optional
        A key of `meta` (article, author). Questions with equal values stay in one fold, as equal passages do.
    drop_overlap : bool
        Remove from `train` and `tune` the passages and questions that are also in `dataset`.
    ties : {"partial", "first", "random", "strict"}, optional
        Overrides the solvers' tie policy.
    threshold : float, optional
        Replaces every threshold that would be tuned.
    tune_metric : str, optional
        The metric that thresholds are tuned for, F1a by default.
    tune_cuts : {"exact", "multirc2018"}, optional
        The thresholds to try: by default all that make a difference; see
        :class:`~classic_rc.decisions.TunedThreshold`.
    relative_threshold : float, optional
        For questions that several spans may answer: answer with all spans that score this close to the best one
        and do not overlap (:class:`~classic_rc.decisions.RelativeThreshold`), instead of only the best one.
    seed : int, optional
        Overrides the seed of every random draw.
    spans : SpanGenerator, optional
        Makes the candidates of span questions.
    group_by : str, optional
        The key to break the metrics down by: a key of the questions' or passages' `meta`, or a derived property of
        questions (:data:`~classic_rc.evaluation.grouping.DERIVED_KEYS`).
    jobs : int
        Number of processes that score, -1 for all cores. The results do not depend on it. On Linux, solvers that
        need only arrays and learn nothing from gold score in forks of this process. joblib runs the others: with
        loky by default, on a cluster inside ``joblib.parallel_config(backend="dask")`` and the like.
    read_seconds : float
        Seconds that reading the dataset took, for the report.
    progress : bool
        Whether to show progress on stderr during long runs.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        A solver does not answer the task, or needs data that was not given.
    DataError
        Gold answers are hidden.
    """
    require_gold(dataset, "nothing can be measured: `classic-rc predict` writes a submission instead")
    groups = {} if group_by is None else group_masks(dataset, group_by)
    shared = EncodingCache()
    systems: list[FittedSystem] = []
    with progress_bar(dataset.name, None, progress) as advance:
        advance.stage("comparing with the data to learn from" if train or tune else "")
        plan = EvaluationPlan.check(
            dataset,
            solvers,
            LearningData(as_dataset(train), tune, cv, group, drop_overlap),
            Overrides(ties, threshold, tune_metric, seed, tune_cuts, relative_threshold),
            spans=spans,
            options={"group_by": group_by},
        )
        dataset = plan.dataset
        assert dataset.task is not None
        for solver in plan.solvers:
            advance.stage(f"fitting {solver.name}")
            systems += _fit_systems(solver, plan, shared)
    shared.keep_only(dataset)
    oracle = SpanOracle() if dataset.task.has_spans else None
    # Generated spans are made once for all systems. All other candidates are in memory, so one system is finished
    # before the next one starts, and its encoding is freed if no other system needs it.
    batches = [systems] if dataset.span_generator is not None else [[system] for system in systems]
    rows: list[Row] = []
    with progress_bar(dataset.name, len(systems) * len(dataset), progress) as advance:
        for batch in batches:
            tallies = [OutcomeTally(dataset.task, len(dataset)) for _ in batch]
            for block in iter_blocks(dataset, shared):
                if oracle is not None:
                    oracle.add(block.questions)
                for system, tally in zip(batch, tallies, strict=True):
                    advance.stage(f"scoring {system.solver.name}")
                    scores = system.score(block, jobs)
                    predictions = system.decide_in_expectation(block, scores)
                    tally.add(block.places, block.questions, predictions, scores)
                    system.compare_members(block, predictions)
                    advance(len(block.places))
            for system, tally in zip(batch, tallies, strict=True):
                rows.append(_make_row(system, tally.outcomes(), read_seconds))
                advance.finished(_describe_row(rows[-1], dataset))
            shared.keep_analyzers([system.solver for system in systems[len(rows) :]])
    warnings = (
        *_data_warnings(dataset, solvers),
        *plan.learning.notes,
        *_fit_warnings(systems),
        *_fold_warnings(systems, plan),
        *_unused_warnings(systems, plan),
    )
    notes = () if oracle is None else (oracle.note,)
    return Evaluation(dataset, tuple(rows), groups, group_by, warnings, notes, protocol=plan.protocol)


def _describe_row(row: Row, dataset: Dataset) -> str:
    assert dataset.task is not None
    metric = primary_metric(dataset.task)
    value = metric.aggregate(row.outcomes.statistics[metric.name])
    return f"{dataset.name}: {row.name}: {metric.label} {100 * value:.2f}"


def _fit_systems(solver: Solver, plan: EvaluationPlan, shared: EncodingCache) -> Iterator[FittedSystem]:
    """Yield a row's system; if it is tuned on the data it reports, yield its cross-fitted system too."""
    if not FittedSystem.needs_tuning(solver, plan.dataset):
        yield FittedSystem(solver, plan.dataset, plan.learning, shared=shared)
        return
    tuned_here = False
    if plan.learning.tune is not None:
        system = FittedSystem(solver, plan.dataset, plan.learning, tune=True, shared=shared)
        tuned_here = system.tuned_here
        yield system
    if plan.learning.tune is None or tuned_here:
        yield FittedSystem(solver, plan.dataset, plan.learning, cross_fit=True, shared=shared)


def _make_row(system: FittedSystem, outcomes: Outcomes, read_seconds: float) -> Row:
    solver, facts = system.fitted_solver, system.facts()
    variant = solver.variant_name() if solver.variants else None
    published = solver.published_tuning()
    signature = Signature.of(
        solver.name,
        variant,
        changed_params(solver, variant),
        system.dataset,
        ties=facts["ties"],
        tie_tolerance=_tie_tolerance(system),
        seed=facts["seed"],
        **system.origins(dataset_signature),
        folds=FOLDS_VERSION if system.uses_folds else None,
        **solver.signature_facts(),
        # A tuned threshold follows from its tuning data; a given one is a parameter.
        threshold=None if isinstance(system.decision, TunedThreshold) else facts["threshold"],
        tuned_for=getattr(system.decision, "metric", None),
        relative_threshold=getattr(system.decision, "margin", None) if not system.expected else None,
        tuned_cuts=None if (cuts := getattr(system.decision, "cuts", "exact")) == "exact" else cuts,
        expected="yes" if system.expected else None,
    )
    if published and facts["tuned_on"] is None:
        facts["tuned_on"] = " + ".join(published.values())
        facts["tuned_here"] = system.dataset.fingerprint in published
    elif facts["tuned_on"] is None and (split := solver.default_tuning().get(system.dataset.fingerprint)):
        facts["tuned_on"], facts["tuned_here"] = split, True
    return Row(
        solver=solver.name,
        variant=variant,
        params=plain_params(solver),
        signature=str(signature),
        short_signature=signature.short,
        outcomes=outcomes,
        block=Block.of(solver),
        caveats=system.caveats,
        seconds={"read": read_seconds, **system.seconds},
        **facts,
    )


def _tie_tolerance(system: FittedSystem) -> float | str | None:
    """Return the tolerance of ties for the signature; None for the default and for rules without one."""
    tolerance = getattr(system.decision, "tie_tolerance", None)
    if tolerance is None or tolerance != ABSOLUTE_TIE_TOLERANCE:
        return tolerance
    return f"{RELATIVE_TIE_TOLERANCE:g} relative" if system.relative_ties and not system.expected else None


def evaluate_predictions(
    dataset: Dataset,
    predictions: Sequence[Prediction],
    *,
    source: str,
    group_by: str | None = None,
    read_seconds: float = 0.0,
) -> Evaluation:
    """Measure predictions for all questions of a dataset, in its order.

    Parameters
    ----------
    dataset : Dataset
        Its gold answers must be known.
    predictions : sequence of Prediction
        One per question.
    source : str
        The predictions' file, or another name for their origin. It becomes part of the signature.
    group_by, read_seconds
        As in :func:`classic_rc.evaluate`.

    Returns
    -------
    Evaluation
        It has one row.
    """
    start = time.perf_counter()
    require_gold(dataset, "nothing can be measured")
    assert dataset.task is not None
    tally = OutcomeTally(dataset.task, len(dataset))
    tally.add(np.arange(len(dataset)), dataset, predictions, None)
    signature = Signature.of("score-file", None, {"file": file_digest(source)}, dataset)
    row = Row(
        solver="score-file",
        variant=None,
        params={"path": source},
        signature=str(signature),
        short_signature=signature.short,
        outcomes=tally.outcomes(),
        block=Block.GIVEN,
        seconds={"read": read_seconds, "encode": 0.0, "fit": 0.0, "score": time.perf_counter() - start},
    )
    groups = group_masks(dataset, group_by) if group_by is not None else {}
    return Evaluation(dataset, (row,), groups, group_by)


@dataclass(frozen=True)
class PredictionRun:
    """A solver's output on a dataset."""

    # Candidates that tie for the best score have equal ones, so that a file of them decides as the solver does.
    # None for generated spans, whose scores are dropped block by block.
    scores: Scores | None
    predictions: list[Prediction] | None  # None if only scores were asked for
    warnings: tuple[str, ...] = ()  # for the reader of the numbers

    @property
    def n_tied(self) -> int:
        """Number of questions with more than one best candidate."""
        return sum(p.n_tied > 1 for p in self.predictions or ())


def predict(
    dataset: Dataset,
    solver: Solver,
    *,
    decide: bool = True,
    train: TrainingData | None = None,
    tune: Dataset | None = None,
    cv: int | None = None,
    group: str | None = None,
    drop_overlap: bool = False,
    overrides: Overrides | None = None,
    spans: SpanGenerator | None = None,
    jobs: int = 1,
    shared: EncodingCache | None = None,
) -> PredictionRun:
    """Score a dataset's candidates and, unless `decide` is false, answer its questions.

    Parameters
    ----------
    dataset : Dataset
        Gold may be hidden.
    solver : Solver
        It is cloned, never changed.
    decide : bool
        Whether to make predictions. Scores need no threshold.
    train, tune, cv, group, drop_overlap, spans, jobs
        As in :func:`classic_rc.evaluate`.
    overrides : Overrides, optional
        Changes to the solver's decision: tie policy, threshold, tuning metric, seed.
    shared : EncodingCache, optional
        Encodings to share with other calls on the same datasets.

    Returns
    -------
    Predicted

    Raises
    ------
    UsageError
        A threshold or a parameter must be tuned, but there is no tuning data and gold is hidden.
    """
    plan = EvaluationPlan.check(
        dataset, [solver], LearningData(as_dataset(train), tune, cv, group, drop_overlap), overrides, spans=spans
    )
    dataset, (solver,) = plan.dataset, plan.solvers
    tunes = solver.tunes_parameters or (decide and FittedSystem.needs_tuning(solver, dataset))
    cross_fit = tunes and tune is None
    shared = shared or EncodingCache()
    system = FittedSystem(solver, dataset, plan.learning, tune=tunes, cross_fit=cross_fit, shared=shared)
    block_scores: list[Scores | None] = []
    predictions: dict[int, Prediction] = {}
    for block in iter_blocks(dataset, shared):
        scores = system.score(block, jobs)
        if decide:
            predictions.update(zip(block.places.tolist(), system.decide(block, scores), strict=True))
        block_scores.append(scores if dataset.span_generator is None else None)
    kept = block_scores[0] if len(block_scores) == 1 else None
    if kept is not None and isinstance(system.decision, Argmax):
        kept = kept.with_equal_ties(system.decision.tie_tolerance)
    return PredictionRun(
        kept,
        [predictions[i] for i in range(len(dataset))] if decide else None,
        (*plan.learning.notes, *_fit_warnings([system])),
    )


_MIN_UNSPACED_SHARE = 0.1


def _data_warnings(dataset: Dataset, solvers: Sequence[Solver]) -> Iterator[str]:
    """Warn if a word analyzer is used on scripts without spaces between words."""
    analyzers = {get_analyzer(s.analyzer) for s in solvers if s.analyzer is not None}
    if all(a.tokenizer == "char" for a in analyzers):
        return
    share = unspaced_share([p.text for p in dataset.passages])
    if share >= _MIN_UNSPACED_SHARE:
        yield (
            f"{share:.0%} of the letters in {dataset.name} belong to scripts without spaces between words: "
            "with analyzer=char, each letter is a token"
        )


def _fit_warnings(systems: Sequence[FittedSystem]) -> Iterator[str]:
    """Yield each solver's caveats once."""
    yield from dict.fromkeys(f"{system.solver.name}: {caveat}" for system in systems for caveat in system.caveats)


def _fold_warnings(systems: Sequence[FittedSystem], plan: EvaluationPlan) -> Iterator[str]:
    """Warn if folds could not keep near duplicates together."""
    if any(system.uses_folds for system in systems):
        warning = plan.learning.folds.groups(plan.dataset).warning
        yield from [warning] if warning else []


def _unused_warnings(systems: Sequence[FittedSystem], plan: EvaluationPlan) -> Iterator[str]:
    """Warn about data and options that no solver used."""
    learning, overrides = plan.learning, plan.overrides
    train, tune = learning.train, learning.tune
    if train is not None and all(system.solver.learns_from == "nothing" for system in systems):
        yield f"training data {train.name} is not used: no solver here learns"
    cross_fitted = any(system.cross_fit for system in systems)
    if learning.cv is not None and not cross_fitted and all(s.solver.learns_from != "gold" for s in systems):
        yield f"the {learning.cv} folds are not used: no solver learns from gold or is tuned out of fold"
    if tune is not None and all(system.tune is None for system in systems):
        yield f"tuning data {tune.name} is not used: no solver is tuned"
    rules = [system.decision for system in systems]
    if overrides.ties is not None and not any(isinstance(rule, Argmax) for rule in rules):
        yield f"the tie policy {overrides.ties!r} is not used: no solver answers with its best candidate"
    if overrides.threshold is not None and not any(
        isinstance(rule, Threshold) and rule.value == overrides.threshold for rule in rules
    ):
        yield f"the threshold {overrides.threshold:g} is not used: no solver has a threshold to tune"
    if overrides.relative_threshold is not None and not any(isinstance(rule, RelativeThreshold) for rule in rules):
        yield (
            f"the relative threshold {overrides.relative_threshold:g} is not used: "
            "it applies only to solvers that answer multi-span questions with the best span"
        )
    if overrides.tune_metric is not None and not any(isinstance(rule, TunedThreshold) for rule in rules):
        yield f"the metric {overrides.tune_metric!r} is not used: no solver tunes a threshold"
    if overrides.tune_cuts is not None and not any(isinstance(rule, TunedThreshold) for rule in rules):
        yield f"the cut points {overrides.tune_cuts!r} are not used: no solver tunes a threshold"
