"""The pipeline: check and fit; encode, score, decide and tally block by block; then make the
rows.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.registry import require_dataset
from classic_rc.decisions import Argmax, Decision, ExpectedF1, TunedThreshold
from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.folds import FOLDS_VERSION, passage_groups
from classic_rc.formats.harness_settings import read_settings
from classic_rc.formats.registry import get_format
from classic_rc.io.progress import Progress, progress_bar
from classic_rc.metrics.base import (
    METRICS,
    Metric,
    has_unanswerable,
    measured_metrics,
    metric_of_task,
)
from classic_rc.predictions import (
    ABSOLUTE_TIE_TOLERANCE,
    RELATIVE_TIE_TOLERANCE,
    AnswerCounts,
    Prediction,
    Scores,
)
from classic_rc.protocol import DEFAULT_RESAMPLES, Protocol, is_integer
from classic_rc.questions import Dataset, Question
from classic_rc.results.evaluation import Evaluation, with_statistics
from classic_rc.results.grouping import Grouping, group_questions, group_without_copies
from classic_rc.results.intervals import subset_intervals
from classic_rc.results.measure import GivenNumber
from classic_rc.results.outcomes import Block, Outcomes, OutcomeTally, Row, join_runs, trivial_note
from classic_rc.results.resampling import Resampling
from classic_rc.results.signature import (
    Signature,
    changed_params,
    dataset_signature,
    file_digest,
    plain_params,
)
from classic_rc.running.fitted_system import (
    EncodingCache,
    FittedSystem,
    QuestionBlock,
    is_one_block,
    iter_blocks,
    scores_in_parts,
)
from classic_rc.running.plan import (
    EvaluationPlan,
    make_plan,
    require_gold,
)
from classic_rc.running.span_oracle import SpanOracle
from classic_rc.running.warnings import (
    data_warnings,
    fit_warnings,
    fold_warnings,
    saved_warnings,
    unused_warnings,
)
from classic_rc.solvers.base import Solver
from classic_rc.systems import OUT_OF_FOLD, System, SystemLike, Systems
from classic_rc.work import part_of_work, tracked


def evaluate(
    dataset: Dataset,
    systems: Systems,
    protocol: Protocol | None = None,
    *,
    jobs: int = 1,
    read_seconds: float = 0.0,
    progress: bool = False,
    shared: EncodingCache | None = None,
    groupings: Sequence[Grouping] = (),
    on_row: Callable[[Evaluation], None] | None = None,
    **settings: Any,
) -> Evaluation:
    """Run systems on a dataset and measure their answers with the task's metrics.

    Parameters
    ----------
    dataset : Dataset, or table in memory
        Its gold answers must be known. A Hugging Face ``Dataset``, a data frame or an Arrow table
        is read as :func:`~classic_rc.from_rows` does.
    systems : mapping or sequence
        Solvers, specifications of solvers (``"sw+d,window=30"``) and paths of files of predictions;
        in a mapping, by name. Solvers are cloned, never changed. Of several systems, those that do
        not answer such questions, or fail, are in :attr:`Evaluation.errors`, with the reason.
    protocol : Protocol, optional
        How they run, and what is reported.
    jobs : int
        Number of processes that score, -1 for all cores. The results do not depend on it. On Linux,
        solvers that need only arrays and learn nothing from gold score in forks of this process.
        joblib runs the others: with loky by default, on a cluster inside
        ``joblib.parallel_config(backend="dask")`` and the like.
    read_seconds : float
        Seconds that reading the dataset took, for the report.
    progress : bool
        Whether to show progress on stderr during long runs.
    shared : EncodingCache, optional
        Encodings to share with other calls on the same dataset.
    groupings : sequence of Grouping
        More groups of questions to keep with the results, in addition to those of ``by``.
    on_row : callable, optional
        Called with the evaluation so far whenever a system is finished, or has failed.
    **settings
        Settings of `protocol` by name: ``cv=5``, ``ties="first"``, ``by="type"``,
        ``intervals=True``; see :class:`~classic_rc.protocol.Protocol`.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        A setting is unknown or has a wrong value, or no system answers the task, or all need data
        that was not given.
    SystemFailedError
        All systems fail: the error of the first one.
    DataError
        Gold answers are hidden.

    Examples
    --------
    >>> import classic_rc
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = classic_rc.evaluate(
    ...     dataset, {"SW": "sliding-window", "SW+D": "sw+d"}, ties="first"
    ... )
    >>> [row.name for row in evaluation.rows]
    ['SW', 'SW+D']
    """
    dataset = require_dataset(dataset, "dataset")
    protocol = Protocol.of(protocol, settings)
    _check_jobs(jobs)
    require_gold(
        dataset, "nothing can be measured: `classic-rc predict` writes a submission instead"
    )
    if dataset.task is not None:  # without questions, the plan raises an error
        metrics = tuple(
            dict.fromkeys(metric_of_task(dataset, name).name for name in protocol.metrics)
        )
        _check_has_unanswerable(dataset, metrics)
        protocol = replace(protocol, metrics=metrics)
    if protocol.by is not None and all(groups.key != protocol.by for groups in groupings):
        groupings = [group_questions(dataset, protocol.by), *groupings]
    shared = EncodingCache() if shared is None else shared
    with progress_bar(dataset.name, None, progress) as advance:
        learns = protocol.train is not None or protocol.tune is not None
        advance.stage("comparing with the training data" if learns else "")
        plan = make_plan(dataset, systems, protocol, needs_system=False)
    run = _RunningEvaluation(plan, groupings, read_seconds)
    with progress_bar(
        plan.dataset.name, len(plan.systems) * len(plan.dataset), progress
    ) as advance:
        for name, result in run.finish_systems(shared, jobs, advance):
            run.add(name, result)
            if on_row is not None:
                on_row(run.evaluation())
    if run.errors and not run.rows:
        raise next(iter(run.errors.values()))
    evaluation = run.evaluation(final=True)
    if not plan.protocol.has_statistics:
        return evaluation
    return with_statistics(evaluation, plan.protocol, progress=progress)


def _check_jobs(jobs: Any) -> None:
    if not is_integer(jobs, -(2**31), 2**31):
        actual, expected = repr(jobs)[:40], "a number of processes, such as 2"
        raise UsageError(
            f"jobs is {actual}, expected {expected}", field="jobs", found=actual, expected=expected
        )


class _RunningEvaluation:
    """The rows of an evaluation, and the reasons why systems have none, as they are finished."""

    def __init__(
        self, plan: EvaluationPlan, groupings: Sequence[Grouping], read_seconds: float
    ) -> None:
        self.plan, self.groupings, self.read_seconds = plan, groupings, read_seconds
        self.metrics = plan.protocol.metrics
        self.fitted: list[tuple[str, FittedSystem]] = []
        self.rows: dict[str, Row] = {}
        self.errors: dict[str, ClassicRCError] = {}
        has_spans = plan.dataset.task is not None and plan.dataset.task.has_spans
        self.given = measure_given(plan.given, plan.dataset, plan.protocol, {})
        self.oracle = (
            SpanOracle() if has_spans and any(ready.solver for ready in plan.systems) else None
        )

    def add(self, name: str, result: Row | ClassicRCError) -> None:
        """Add the result of a system."""
        if isinstance(result, Row):
            self.rows[name] = replace(result, label=name)
        else:
            self.errors[name] = result

    def finish_systems(
        self, shared: EncodingCache, jobs: int, advance: Progress
    ) -> Iterator[tuple[str, Row | ClassicRCError]]:
        """Fit, score and measure the systems; yield the name and the row, or the error, of each
        finished one.
        """
        plan, dataset = self.plan, self.plan.dataset
        yield from plan.errors.items()
        for ready in plan.systems:
            if ready.solver is None:
                assert ready.file is not None
                measured, seconds = measured_metrics(dataset, self.metrics), self.read_seconds
                try:
                    row = ready.row or _row_of_predictions(
                        dataset, ready.predictions, measured, ready.file, seconds
                    )
                except UsageError as error:
                    yield ready.name, error
                else:
                    yield ready.name, row
        unfinished = [
            (ready.name, ready.solver) for ready in plan.systems if ready.solver is not None
        ]
        is_large = dataset.span_generator is None and not is_one_block(dataset)
        while unfinished:
            n, in_parts = _next_batch([solver for _, solver in unfinished], dataset, is_large)
            batch, unfinished = unfinished[:n], unfinished[n:]
            fitted: list[tuple[str, FittedSystem]] = []
            for name, solver in batch:
                advance.stage(f"fitting {name}", len(dataset))
                try:
                    same_fit = next((s for _, s in fitted if s.decides_like(solver)), None)
                    if same_fit is None:
                        with part_of_work(0.5):
                            fitted += fit_systems(name, solver, plan, shared)
                    else:
                        fitted.append((name, same_fit.with_decision(solver, name)))
                except ClassicRCError as error:
                    yield name, error
            self.fitted += fitted
            if not unfinished:  # nothing is fitted or tuned any more
                shared.keep_only(dataset)
            for name, result in self._score(fitted, shared, jobs, advance, in_parts):
                yield name, result
                if isinstance(result, Row):
                    advance.finished(self._describe(name, result))
            shared.keep_analyzers([solver for _, solver in unfinished])

    def _score(
        self,
        systems: Sequence[tuple[str, FittedSystem]],
        shared: EncodingCache,
        jobs: int,
        advance: Progress,
        in_parts: bool,
    ) -> Iterator[tuple[str, Row | ClassicRCError]]:
        """Score, decide and measure fitted systems, all of them on a block before the next one."""
        dataset = self.plan.dataset
        assert dataset.task is not None
        measured = measured_metrics(dataset, self.metrics)
        running = {name: (system, OutcomeTally(measured, len(dataset))) for name, system in systems}
        for block in iter_blocks(dataset, shared, in_parts=in_parts):
            if self.oracle is not None:
                self.oracle.add(block.questions)
            for name, (system, tally) in list(running.items()):
                advance.stage(f"scoring {name}", len(block.places))
                try:
                    _tally_block(system, block, tally, jobs)
                except ClassicRCError as error:
                    del running[name]
                    yield name, error
                advance(len(block.places))
        for name, (system, tally) in running.items():
            try:
                with system.failures():
                    row = _make_row(system, tally.outcomes(), self.read_seconds)
            except ClassicRCError as error:
                yield name, error
            else:
                yield name, row

    def _describe(self, name: str, row: Row) -> str:
        """Return a line about a finished row, with its primary metric."""
        dataset = self.plan.dataset
        assert dataset.task is not None
        metric = metric_of_task(dataset, self.metrics[0] if self.metrics else None)
        score = row.metrics()[metric.name]
        return f"{dataset.name}: {name}: {metric.label} {100 * score:.2f}"

    def evaluation(self, *, final: bool = False) -> Evaluation:
        """Return the finished rows in the order of the systems; the warnings need the last one."""
        plan = self.plan
        order = {ready.name: place for place, ready in enumerate(plan.systems)}
        for name, _ in self.fitted:
            # The row out of fold has its system's place; as the sort is stable, it comes after it.
            if name not in order:
                order[name] = order[name.removesuffix(OUT_OF_FOLD)]
        rows = [self.rows[name] for name in sorted(self.rows, key=order.__getitem__)]
        finished = (plan.dataset, rows, plan.given, plan.protocol, self.groupings, self.errors)
        if not final:
            return assemble_evaluation(*finished, given=self.given)
        named_systems = [(name, system) for name, system in self.fitted if name in self.rows]
        systems = [system for _, system in named_systems]
        solvers = [system.solver for system in systems]
        warnings = [*plan.notes, *data_warnings(plan.dataset, solvers), *plan.overlap]
        if plan.protocol.drop_overlap:
            warnings += saved_warnings(self.fitted, self.rows)
        warnings += fit_warnings(named_systems)
        warnings += fold_warnings(systems, plan)
        return assemble_evaluation(
            *finished,
            warnings=warnings,
            unused=tuple(unused_warnings(systems, plan)),
            notes=() if self.oracle is None else (self.oracle.note,),
        )


def assemble_evaluation(
    dataset: Dataset,
    rows: Sequence[Row],
    systems: Sequence[System],
    protocol: Protocol,
    groupings: Sequence[Grouping],
    errors: Mapping[str, ClassicRCError],
    *,
    warnings: Sequence[str] = (),
    unused: Sequence[str] = (),
    notes: Sequence[str] = (),
    given: Mapping[str, tuple[GivenNumber, ...]] | None = None,
) -> Evaluation:
    """Join the rows of systems, their runs and the numbers next to them.

    Without `given`, the results are final: the given numbers are measured, and the notes of the
    groupings and on trivial systems are added.
    """
    joined = join_runs(rows, systems)
    columns = next((groups for groups in groupings if groups.key == protocol.by), None)
    if given is None:
        masks = {} if columns is None else columns.masks
        given = measure_given(systems, dataset, protocol, {**group_without_copies(joined), **masks})
        on_groups = None if columns is None else columns.note
        remarks = (on_groups, *notes, trivial_note(dataset, joined))
        notes = [note for note in remarks if note is not None]
    return Evaluation(
        dataset,
        joined,
        {groups.key: groups.masks for groups in groupings},
        protocol.by,
        (*warnings, *unused),
        tuple(notes),
        systems=tuple(systems),
        protocol=protocol,
        errors=dict(errors),
        metrics=protocol.metrics,
        unused=tuple(unused),
        given=given,
    )


def _next_batch(solvers: Sequence[Solver], dataset: Dataset, is_large: bool) -> tuple[int, bool]:
    """Return how many systems are scored together on each block, and whether a block may be a part
    of the dataset.

    Generated spans are made once for all systems, and the texts of a part are read and cut once for
    all systems that can score it. Else one system is finished before the next one starts, and its
    encoding is freed if no other system needs it.
    """
    if dataset.span_generator is not None:
        return len(solvers), True
    together = [scores_in_parts(solver, dataset) for solver in solvers if is_large]
    n = together.index(False) if False in together else len(together)
    return (n, True) if n else (1, scores_in_parts(solvers[0], dataset))


def _tally_block(
    system: FittedSystem, block: QuestionBlock, tally: OutcomeTally, jobs: int
) -> None:
    scores = system.score(block, jobs)
    predictions = system.decide_in_expectation(block, scores)
    tally.add(block.places, block.questions, predictions, scores, are_draws=system.expected)
    system.compare_members(block, predictions)
    system.compare_option_orders(block, scores)


def fit_systems(
    name: str, solver: Solver, plan: EvaluationPlan, shared: EncodingCache
) -> list[tuple[str, FittedSystem]]:
    """Return a row's system; if it is tuned on the data it reports, also its cross-fitted
    system.
    """

    def fit(row: str = name, **how: bool) -> tuple[str, FittedSystem]:
        return row, FittedSystem(
            solver, plan.dataset, plan.separated, shared=shared, name=row, **how
        )

    with solver.failures(name):
        needs_tuning = FittedSystem.needs_tuning(solver, plan.dataset)
    if not needs_tuning:
        return [fit()]
    if plan.separated.tune is None:
        return [fit(cross_fit=True)]
    tuned = fit(tune=True)
    return [tuned, fit(name + OUT_OF_FOLD, cross_fit=True)] if tuned[1].tuned_here else [tuned]


def _expected_f1_facts(decision: Decision) -> dict[str, Any]:
    if not isinstance(decision, ExpectedF1):
        return {}
    return {
        "decision": "expected-f1",
        "f1_scale": decision.scale,
        "f1_exact": decision.exact,
    }


def _make_row(system: FittedSystem, outcomes: Outcomes, read_seconds: float) -> Row:
    solver, facts = system.fitted_solver, system.facts()
    variant = solver.variant_name() if solver.variants else None
    signature = _row_signature(system, variant, facts)
    published = solver.published_tuning()
    if published and facts["tuned_on"] is None:
        facts["tuned_on"] = " + ".join(published.values())
        facts["tuned_here"] = system.dataset.fingerprint in published
    elif facts["tuned_on"] is None and (
        split := solver.default_tuning().get(system.dataset.fingerprint)
    ):
        facts["tuned_on"], facts["tuned_here"] = split, True
    answers = getattr(solver, "answers_", None)
    return Row(
        solver=solver.name,
        variant=variant,
        params=plain_params(solver),
        signature=str(signature),
        short_signature=signature.short,
        outcomes=outcomes,
        block=Block.of(solver),
        caveats=system.caveats,
        answers=answers if isinstance(answers, AnswerCounts) else None,
        seconds={"read": read_seconds, **system.seconds},
        **facts,
    )


def _row_signature(
    system: FittedSystem, variant: str | None, facts: Mapping[str, Any]
) -> Signature:
    solver, decision, copied = system.fitted_solver, system.decision, facts["copied"]
    # A tuned threshold follows from its tuning data; a given one is a parameter.
    threshold = None if isinstance(decision, TunedThreshold) else facts["threshold"]
    margin = None if system.expected else getattr(decision, "margin", None)
    cuts = getattr(decision, "cuts", "exact")
    return Signature.of(
        solver.name,
        variant,
        changed_params(solver, variant),
        system.dataset,
        ties=facts["ties"],
        tie_tolerance=_tie_tolerance(system),
        seed=facts["seed"],
        **system.origins(dataset_signature),
        copied=None if copied is None else int(copied.sum()),
        folds=FOLDS_VERSION if system.uses_folds else None,
        groups=system.fold_groups,
        **solver.signature_facts(),
        threshold=threshold,
        tuned_for=getattr(decision, "metric", None),
        relative_threshold=margin,
        max_spans=getattr(decision, "max_spans", None),
        **_expected_f1_facts(decision),
        tuned_cuts=None if cuts == "exact" else cuts,
        expected="yes" if system.expected else None,
    )


def _tie_tolerance(system: FittedSystem) -> float | str | None:
    """Return the tolerance of ties for the signature; None for the default and for rules without
    one.
    """
    tolerance = getattr(system.decision, "tie_tolerance", None)
    if tolerance is None or tolerance != ABSOLUTE_TIE_TOLERANCE:
        return tolerance
    return (
        f"{RELATIVE_TIE_TOLERANCE:g} relative"
        if system.relative_ties and not system.expected
        else None
    )


def measure_given(
    systems: Sequence[System],
    dataset: Dataset,
    protocol: Protocol,
    groups: Mapping[str, NDArray[np.bool_]],
) -> dict[str, tuple[GivenNumber, ...]]:
    """Return the numbers of the systems that are given, or whose files answer a sample of the
    questions.

    The intervals of a sample follow from its own passages.
    """
    return {
        str(s.name): _measure_given(s, dataset, protocol, groups) for s in systems if s.is_given
    }


def _measure_given(
    system: System, dataset: Dataset, protocol: Protocol, groups: Mapping[str, NDArray[np.bool_]]
) -> tuple[GivenNumber, ...]:
    assert dataset.task is not None
    primary = metric_of_task(dataset, next(iter(protocol.metrics), None))
    if system.number is not None:
        return (GivenNumber(primary.name, None, float(system.number) / 100, system.number),)
    predictions = cast(Sequence[Prediction], system.read(dataset, []))
    is_sampled = np.array([prediction.n_samples > 0 for prediction in predictions], dtype=np.bool_)
    metrics = measured_metrics(dataset, protocol.metrics)
    row = _row_of_predictions(dataset, predictions, metrics, system, 0.0)
    measured = [(METRICS[name], rows) for name, rows in row.outcomes.statistics.items()]
    passages = passage_groups(dataset, protocol.group)
    settings = Resampling.of(passages, protocol.resamples or DEFAULT_RESAMPLES, protocol.seed or 0)
    sampled_groups = {group: is_sampled & mask for group, mask in groups.items()}
    numbers = []
    for group, mask in [(None, is_sampled), *sampled_groups.items()]:
        n_questions = int(mask.sum())
        if not n_questions:
            continue
        intervals = subset_intervals(measured, passages, mask, settings)
        for (metric, rows), interval in zip(measured, intervals, strict=True):
            score = metric.aggregate(rows[mask])
            numbers.append(GivenNumber(metric.name, group, score, None, interval, n_questions))
    return tuple(numbers)


def _check_has_unanswerable(dataset: Dataset, metrics: Sequence[str]) -> None:
    """Refuse metrics of questions with and without an answer if all questions have one."""
    special = [name for name in metrics if METRICS[name].needs_unanswerable]
    if special and not has_unanswerable(dataset):
        raise UsageError(
            f"metric {special[0]!r} needs questions without an answer, and all of {dataset.name} "
            "have one",
            field="metric",
            found=special[0],
            expected="em or f1",
        )


def _row_of_predictions(
    dataset: Dataset,
    predictions: Sequence[Prediction],
    metrics: Sequence[Metric],
    system: System,
    read_seconds: float,
) -> Row:
    start, source = time.perf_counter(), str(system.path)
    tally = OutcomeTally(metrics, len(dataset))
    tally.add(np.arange(len(dataset)), dataset, predictions, None)
    is_detected = system.format is None or get_format(system.format).is_detected
    format_option = {} if is_detected else {"format": system.format}
    options = {**format_option, **system.options}
    params: dict[str, Any] = {"path": source, **options}
    settings = read_settings(source)
    if settings is not None:
        params["settings"] = dict(settings.facts)
    signature = Signature.of("score-file", None, {"file": file_digest(source), **options}, dataset)
    # The file's format has answered with the first of several best candidates.
    has_ties = any(p.n_tied > max(len(p.answers), 1) for p in predictions)
    return Row(
        solver="score-file",
        variant=None,
        params=params,
        signature=str(signature),
        short_signature=signature.short,
        outcomes=tally.outcomes(),
        ties="first" if has_ties else None,
        block=Block.GIVEN,
        answers=AnswerCounts.of(predictions),
        seconds={
            "read": read_seconds,
            "encode": 0.0,
            "fit": 0.0,
            "score": time.perf_counter() - start,
        },
    )


@dataclass(frozen=True)
class PredictionRun:
    """A solver's output on a dataset, or on a block of it."""

    questions: Sequence[Question]
    # Candidates that tie for the best score have equal ones, so that a file of them decides as the
    # solver does. None for generated spans, whose scores are dropped block by block.
    scores: Scores | None
    predictions: Sequence[Prediction] | None  # None if only scores were requested
    warnings: tuple[
        str, ...
    ] = ()  # for the reader of the numbers; those of blocks come with the last one

    @property
    def n_tied(self) -> int:
        """Number of questions with more than one best candidate."""
        return sum(p.n_tied > 1 for p in self.predictions or ())


def predict(
    dataset: Dataset, solver: SystemLike, protocol: Protocol | None = None, **settings: Any
) -> PredictionRun:
    """Score a dataset's candidates and answer its questions: :func:`predict_blocks`, with all
    blocks as one.
    """
    blocks = list(predict_blocks(dataset, solver, protocol, **settings))
    scores = [block.scores for block in blocks if block.scores is not None]
    answers = [block.predictions for block in blocks if block.predictions is not None]
    joined_scores = Scores.concatenate(scores) if scores else None
    predictions = list(itertools.chain.from_iterable(answers)) if answers else None
    return PredictionRun(dataset, joined_scores, predictions, blocks[-1].warnings)


def predict_blocks(
    dataset: Dataset,
    solver: SystemLike,
    protocol: Protocol | None = None,
    *,
    decide: bool = True,
    jobs: int = 1,
    shared: EncodingCache | None = None,
    **settings: Any,
) -> Iterator[PredictionRun]:
    """Score a dataset's candidates and, unless `decide` is false, answer its questions, block by
    block in order.

    Gold may be hidden. A solver is cloned, never changed; a file of predictions has its answers
    already. Scores need no threshold. `jobs` and the settings are as in
    :func:`classic_rc.evaluate`; `shared` has encodings to share with other calls on the same
    datasets. A block has all questions, unless the dataset is large and the solver needs no other
    question. A UsageError says that a threshold or a parameter must be tuned, but that there is no
    tuning data and gold is hidden.
    """
    dataset = require_dataset(dataset, "dataset")
    _check_jobs(jobs)
    plan = make_plan(dataset, [solver], Protocol.of(protocol, settings))
    dataset, ready = plan.dataset, plan.systems[0]
    if ready.solver is None:
        yield PredictionRun(dataset, None, list(ready.predictions), plan.notes)
        return
    solver = ready.solver
    tunes = solver.tunes_parameters or (decide and FittedSystem.needs_tuning(solver, dataset))
    cross_fit = tunes and plan.separated.tune is None
    shared = shared or EncodingCache()
    system = FittedSystem(
        solver,
        dataset,
        plan.separated,
        tune=tunes,
        cross_fit=cross_fit,
        shared=shared,
        name=ready.name,
    )
    blocks = iter_blocks(dataset, shared, in_parts=scores_in_parts(solver, dataset))
    for block in tracked(blocks, len(dataset), lambda block: len(block.places)):
        scores = system.score(block, jobs)
        predictions = system.decide(block, scores) if decide else None
        block_scores = scores if dataset.span_generator is None else None
        if block_scores is not None and isinstance(system.decision, Argmax):
            block_scores = block_scores.with_equal_ties(system.decision.tie_tolerance)
        warnings: tuple[str, ...] = ()
        if block.places[-1] == len(dataset) - 1:
            fitted = fit_warnings([(ready.name, system)])
            warnings = (*plan.overlap, *fitted, *unused_warnings([system], plan))
        yield PredictionRun(block.questions, block_scores, predictions, warnings)
