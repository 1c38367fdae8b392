"""The pipeline: check and fit; encode, score, decide and tally block by block; then make the rows.

:func:`evaluate` measures solvers, :func:`evaluate_predictions` given answers; :func:`predict` answers only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.joined import TrainingData, as_dataset, require_dataset
from classic_rc.decisions import (
    Argmax,
    Cuts,
    TiePolicy,
    TunedThreshold,
)
from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.evaluation.fitted_system import EncodingCache, FittedSystem, QuestionBlock, iter_blocks
from classic_rc.evaluation.grouping import group_masks
from classic_rc.evaluation.outcomes import Outcomes, OutcomeTally
from classic_rc.evaluation.plan import EvaluationPlan, LearningData, Overrides, default_analyzer, require_gold
from classic_rc.evaluation.results import Block, Evaluation, Row
from classic_rc.evaluation.signature import (
    Signature,
    changed_params,
    dataset_signature,
    file_digest,
    plain_params,
)
from classic_rc.evaluation.span_oracle import SpanOracle
from classic_rc.evaluation.systems import OUT_OF_FOLD, SystemLike, Systems
from classic_rc.folds import FOLDS_VERSION
from classic_rc.formats.harness_settings import read_settings
from classic_rc.formats.registry import get_format
from classic_rc.io.progress import Progress, progress_bar
from classic_rc.metrics.registry import METRICS, has_unanswerable, metric_of_task
from classic_rc.predictions import (
    ABSOLUTE_TIE_TOLERANCE,
    RELATIVE_TIE_TOLERANCE,
    AnswerCounts,
    Prediction,
    Scores,
)
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver, is_integer
from classic_rc.text.analyzers import get_analyzer, get_tokenizer
from classic_rc.text.spans import SpanGenerator
from classic_rc.text.tokenizers import unspaced_share


def evaluate(
    dataset: Dataset,
    systems: Systems,
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
    analyzer: str | None = None,
    spans: SpanGenerator | None = None,
    group_by: str | None = None,
    metrics: Sequence[str] = (),
    jobs: int = 1,
    read_seconds: float = 0.0,
    progress: bool = False,
    shared: EncodingCache | None = None,
    on_row: Callable[[Evaluation], None] | None = None,
) -> Evaluation:
    """Run systems on a dataset and measure their answers with the task's metrics.

    Parameters
    ----------
    dataset : Dataset
        Its gold answers must be known.
    systems : mapping or sequence
        Solvers, specifications of solvers (``"sw+d,window=30"``) and paths of files of predictions; in a mapping,
        by name. Solvers are cloned, never changed. Of several systems, those that do not answer such questions, or
        fail, are in :attr:`Evaluation.errors`, with the reason.
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
    analyzer : str, optional
        The analyzer of all solvers that have one and were not given another, by a parameter or a variant.
    spans : SpanGenerator, optional
        Makes the candidates of span questions.
    group_by : str, optional
        The key to break the metrics down by: a key of the questions' or passages' `meta`, or a derived property of
        questions (:data:`~classic_rc.evaluation.grouping.DERIVED_KEYS`).
    metrics : sequence of str
        The metrics to report. The first is the primary one, which significance tests use. By default all metrics of
        the task; the primary one is then the task's main metric.
    jobs : int
        Number of processes that score, -1 for all cores. The results do not depend on it. On Linux, solvers that
        need only arrays and learn nothing from gold score in forks of this process. joblib runs the others: with
        loky by default, on a cluster inside ``joblib.parallel_config(backend="dask")`` and the like.
    read_seconds : float
        Seconds that reading the dataset took, for the report.
    progress : bool
        Whether to show progress on stderr during long runs.
    shared : EncodingCache, optional
        Encodings to share with other calls on the same dataset.
    on_row : callable, optional
        Called with the evaluation so far whenever a system is finished, or has failed.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        No system answers the task, or all need data that was not given.
    SystemFailedError
        All systems fail: the error of the first one.
    DataError
        Gold answers are hidden.

    Examples
    --------
    >>> import classic_rc
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = classic_rc.evaluate(dataset, {"SW": "sliding-window", "SW+D": "sw+d"})
    >>> [row.name for row in evaluation.rows]
    ['SW', 'SW+D']
    """
    require_dataset(dataset, "dataset")
    _check_types(tune, spans, group_by, jobs)
    if isinstance(metrics, str):
        raise _wrong_type("metrics", metrics, f"a list of names, such as [{metrics!r}]")
    require_gold(dataset, "nothing can be measured: `classic-rc predict` writes a submission instead")
    if dataset.task is not None:  # without questions, the plan raises an error
        metrics = tuple(dict.fromkeys(metric_of_task(dataset.task, name).name for name in metrics))
        _check_has_unanswerable(dataset, metrics)
    groups = {} if group_by is None else group_masks(dataset, group_by)
    shared = EncodingCache() if shared is None else shared
    with progress_bar(dataset.name, None, progress) as advance:
        advance.stage("comparing with the data to learn from" if train or tune else "")
        plan = EvaluationPlan.check(
            dataset,
            systems,
            LearningData(as_dataset(train), tune, cv, group, drop_overlap),
            Overrides(ties, threshold, tune_metric, seed, tune_cuts, relative_threshold, analyzer),
            spans=spans,
            options={"group_by": group_by, "metrics": list(metrics)},
            needs_system=False,
        )
    run = _Run(plan, groups, group_by, tuple(metrics), read_seconds)
    with progress_bar(plan.dataset.name, len(plan.systems) * len(plan.dataset), progress) as advance:
        for name, result in run.finish_systems(shared, jobs, advance):
            run.add(name, result)
            if on_row is not None:
                on_row(run.evaluation())
    if run.errors and not run.rows:
        raise next(iter(run.errors.values()))
    return run.evaluation(final=True)


def _check_types(tune: Any, spans: Any, group_by: Any, jobs: Any) -> None:
    """Raise an error that names the right type for an argument of the wrong one."""
    if tune is not None:
        require_dataset(tune, "tune")
    if spans is not None and not isinstance(spans, SpanGenerator):
        raise _wrong_type("spans", spans, "a generator, such as classic_rc.text.SpanGenerator(max_tokens=10)")
    if group_by is not None and not isinstance(group_by, str):
        raise _wrong_type("group_by", group_by, 'the name of one key, such as "type"')
    if not is_integer(jobs, -(2**31), 2**31):
        raise _wrong_type("jobs", jobs, "a number of processes, such as 2")


def _wrong_type(name: str, value: Any, expected: str) -> UsageError:
    found = repr(value)[:40]
    return UsageError(f"{name} is {found}, expected {expected}", field=name, found=found, expected=expected)


class _Run:
    """The rows of an evaluation, and the reasons why systems have none, as they are finished."""

    def __init__(
        self,
        plan: EvaluationPlan,
        groups: Mapping[str, NDArray[np.bool_]],
        group_by: str | None,
        metrics: tuple[str, ...],
        read_seconds: float,
    ) -> None:
        self.plan, self.metrics, self.read_seconds = plan, metrics, read_seconds
        self.groups, self.group_by = groups, group_by
        self.fitted: list[tuple[str, FittedSystem]] = []
        self.rows: dict[str, Row] = {}
        self.errors: dict[str, ClassicRCError] = {}
        has_spans = plan.dataset.task is not None and plan.dataset.task.has_spans
        self.oracle = SpanOracle() if has_spans and any(ready.solver for ready in plan.systems) else None

    def add(self, name: str, result: Row | ClassicRCError) -> None:
        """Add the result of a system."""
        if isinstance(result, Row):
            self.rows[name] = replace(result, label=name)
        else:
            self.errors[name] = result

    def finish_systems(
        self, shared: EncodingCache, jobs: int, advance: Progress
    ) -> Iterator[tuple[str, Row | ClassicRCError]]:
        """Fit, score and measure the systems; yield the name and the row, or the error, of each finished one."""
        plan, dataset = self.plan, self.plan.dataset
        yield from plan.errors.items()
        for ready in plan.systems:
            if ready.solver is None:
                yield (
                    ready.name,
                    _row_of_predictions(dataset, ready.predictions, ready.path, self.read_seconds, ready.format),
                )
        # Generated spans are made once for all systems. All other candidates are in memory, so one system is
        # finished before the next one starts, and its encoding is freed if no other system needs it.
        left = [(ready.name, ready.solver) for ready in plan.systems if ready.solver is not None]
        batch_size = 1 if dataset.span_generator is None else len(left)
        while left:
            batch, left = left[:batch_size], left[batch_size:]
            fitted: list[tuple[str, FittedSystem]] = []
            for name, solver in batch:
                advance.stage(f"fitting {name}")
                try:
                    fitted += fit_systems(name, solver, plan, shared)
                except ClassicRCError as error:
                    yield name, error
            self.fitted += fitted
            if not left:
                shared.keep_only(dataset)
            for name, result in self._score(fitted, shared, jobs, advance):
                yield name, result
                if isinstance(result, Row):
                    advance.finished(self._describe(name, result))
            shared.keep_analyzers([solver for _, solver in left])

    def _score(
        self, systems: Sequence[tuple[str, FittedSystem]], shared: EncodingCache, jobs: int, advance: Progress
    ) -> Iterator[tuple[str, Row | ClassicRCError]]:
        """Score, decide and measure fitted systems, all of them on a block before the next one."""
        dataset = self.plan.dataset
        assert dataset.task is not None
        about = dataset.task, len(dataset), has_unanswerable(dataset)
        running = {name: (system, OutcomeTally(*about)) for name, system in systems}
        for block in iter_blocks(dataset, shared):
            if self.oracle is not None:
                self.oracle.add(block.questions)
            for name, (system, tally) in list(running.items()):
                advance.stage(f"scoring {name}")
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
        metric = metric_of_task(dataset.task, self.metrics[0] if self.metrics else None)
        return f"{dataset.name}: {name}: {metric.label} {100 * row.metrics()[metric.name]:.2f}"

    def evaluation(self, *, final: bool = False) -> Evaluation:
        """Return the finished rows in the order of the systems; the warnings need the last one."""
        plan = self.plan
        names = [ready.name for ready in plan.systems]
        order = {name: names.index(name) for name in names}
        order |= {name: order[name.removesuffix(OUT_OF_FOLD)] for name, _ in self.fitted if name not in order}
        rows = tuple(self.rows[name] for name in sorted(self.rows, key=lambda name: order[name]))
        systems = [system for name, system in self.fitted if name in self.rows]
        warnings = (
            *_data_warnings(plan.dataset, [system.solver for system in systems]),
            *plan.learning.notes,
            *_fit_warnings([(name, system) for name, system in self.fitted if name in self.rows]),
            *_fold_warnings(systems, plan),
        )
        unused = tuple(_unused_warnings(systems, plan)) if final else ()
        return Evaluation(
            plan.dataset,
            rows,
            self.groups,
            self.group_by,
            (*plan.notes, *warnings, *unused) if final else (),
            (self.oracle.note,) if final and self.oracle is not None else (),
            protocol=plan.protocol,
            errors=dict(self.errors),
            metrics=self.metrics,
            unused=unused,
        )


def _tally_block(system: FittedSystem, block: QuestionBlock, tally: OutcomeTally, jobs: int) -> None:
    scores = system.score(block, jobs)
    predictions = system.decide_in_expectation(block, scores)
    tally.add(block.places, block.questions, predictions, scores)
    system.compare_members(block, predictions)


def fit_systems(
    name: str, solver: Solver, plan: EvaluationPlan, shared: EncodingCache
) -> list[tuple[str, FittedSystem]]:
    """Return a row's system; if it is tuned on the data it reports, also its cross-fitted system."""

    def fit(row: str = name, **how: bool) -> tuple[str, FittedSystem]:
        return row, FittedSystem(solver, plan.dataset, plan.learning, shared=shared, name=row, **how)

    with solver.failures(name):
        needs_tuning = FittedSystem.needs_tuning(solver, plan.dataset)
    if not needs_tuning:
        return [fit()]
    if plan.learning.tune is None:
        return [fit(cross_fit=True)]
    tuned = fit(tune=True)
    return [tuned, fit(name + OUT_OF_FOLD, cross_fit=True)] if tuned[1].tuned_here else [tuned]


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
        answers=counts if isinstance(counts := getattr(solver, "answers_", None), AnswerCounts) else None,
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
    format: str | None = None,
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
    format : str, optional
        The name of the file's format, which becomes part of the signature if the content does not tell it.
    group_by, read_seconds
        As in :func:`classic_rc.evaluate`.

    Returns
    -------
    Evaluation
        It has one row.
    """
    require_gold(dataset, "nothing can be measured")
    groups = group_masks(dataset, group_by) if group_by is not None else {}
    row = _row_of_predictions(dataset, predictions, source, read_seconds, format)
    return Evaluation(dataset, (row,), groups, group_by)


def _check_has_unanswerable(dataset: Dataset, metrics: Sequence[str]) -> None:
    """Refuse metrics of questions with and without an answer if all questions have one."""
    special = [name for name in metrics if METRICS[name].needs_unanswerable]
    if special and not has_unanswerable(dataset):
        raise UsageError(
            f"metric {special[0]!r} needs questions without an answer, and all of {dataset.name} have one",
            field="metric",
            found=special[0],
            expected="em or f1",
        )


def _row_of_predictions(
    dataset: Dataset,
    predictions: Sequence[Prediction],
    source: str,
    read_seconds: float,
    format: str | None = None,
) -> Row:
    start = time.perf_counter()
    assert dataset.task is not None
    tally = OutcomeTally(dataset.task, len(dataset), has_unanswerable(dataset))
    tally.add(np.arange(len(dataset)), dataset, predictions, None)
    named = {} if format is None or get_format(format).is_detected else {"format": format}
    settings = read_settings(source)
    signature = Signature.of("score-file", None, {"file": file_digest(source), **named}, dataset)
    return Row(
        solver="score-file",
        variant=None,
        params={"path": source, **named, **({} if settings is None else {"settings": dict(settings.facts)})},
        signature=str(signature),
        short_signature=signature.short,
        outcomes=tally.outcomes(),
        block=Block.GIVEN,
        answers=AnswerCounts.of(predictions),
        seconds={"read": read_seconds, "encode": 0.0, "fit": 0.0, "score": time.perf_counter() - start},
    )


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
    solver: SystemLike,
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
    solver : Solver, str or System
        A solver, which is cloned and never changed, or its specification, or a file of predictions.
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
    PredictionRun

    Raises
    ------
    UsageError
        A threshold or a parameter must be tuned, but there is no tuning data and gold is hidden.
    """
    require_dataset(dataset, "dataset")
    _check_types(tune, spans, None, jobs)
    plan = EvaluationPlan.check(
        dataset, [solver], LearningData(as_dataset(train), tune, cv, group, drop_overlap), overrides, spans=spans
    )
    dataset, ready = plan.dataset, plan.systems[0]
    if ready.solver is None:
        return PredictionRun(None, list(ready.predictions), plan.notes)
    solver = ready.solver
    tunes = solver.tunes_parameters or (decide and FittedSystem.needs_tuning(solver, dataset))
    cross_fit = tunes and tune is None
    shared = shared or EncodingCache()
    system = FittedSystem(
        solver, dataset, plan.learning, tune=tunes, cross_fit=cross_fit, shared=shared, name=ready.name
    )
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
        (*plan.learning.notes, *_fit_warnings([(ready.name, system)]), *_unused_warnings([system], plan)),
    )


def _data_warnings(dataset: Dataset, solvers: Sequence[Solver]) -> Iterator[str]:
    """Say what the tokens of scripts without spaces between words are."""
    tokenizers = {get_analyzer(s.analyzer).tokenizer for s in solvers if s.analyzer is not None}
    if not tokenizers or default_analyzer(dataset) == "word":
        return
    about = f"{dataset.name} is in a script without spaces between words"
    if "char" in tokenizers:
        yield f"{about}: each character is a token (analyzer=char; analyzer=jieba has Chinese words)"
    texts = [passage.text[:_EXAMINED_CHARACTERS] for passage in dataset.passages[:_EXAMINED_PASSAGES]]
    if others := sorted(name for name in tokenizers if _leaves_sentences(name, texts)):
        yield f"{about}: with the analyzer {', '.join(others)}, a token can be a whole sentence; use analyzer=char"


_EXAMINED_PASSAGES = 20
_EXAMINED_CHARACTERS = 1000
_LONG_WORD = 4
"""Characters of a word in a script without spaces: in none of them are words that long on average."""


def _leaves_sentences(tokenizer: str, texts: Sequence[str]) -> bool:
    """Return whether a tokenizer leaves runs of scripts without spaces in one token."""
    tokens = (token for text in texts for token in get_tokenizer(tokenizer).tokenize(text))
    lengths = [len(token) for token in tokens if unspaced_share([token]) > 0.5]
    return sum(lengths) > _LONG_WORD * len(lengths)


def _fit_warnings(named: Sequence[tuple[str, FittedSystem]]) -> Iterator[str]:
    """Yield each system's caveats once."""
    yield from dict.fromkeys(f"{name}: {caveat}" for name, system in named for caveat in system.caveats)


def _fold_warnings(systems: Sequence[FittedSystem], plan: EvaluationPlan) -> Iterator[str]:
    """Warn if folds could not keep near duplicates together."""
    if any(system.uses_folds for system in systems):
        warning = plan.learning.folds.groups(plan.dataset).warning
        yield from [warning] if warning else []


def _unused_warnings(systems: Sequence[FittedSystem], plan: EvaluationPlan) -> Iterator[str]:
    """Warn about data and options that no solver used."""
    learning, overrides = plan.learning, plan.overrides
    train, tune = learning.train, learning.tune
    if not systems:
        return
    if train is not None and all(system.solver.learns_from == "nothing" for system in systems):
        yield f"training data {train.name} is not used: no solver here learns"
    cross_fitted = any(system.cross_fit for system in systems)
    if learning.cv is not None and not cross_fitted and all(s.solver.learns_from != "gold" for s in systems):
        yield f"the {learning.cv} folds are not used: no solver learns from gold or is tuned out of fold"
    if tune is not None and all(system.tune is None for system in systems):
        yield f"tuning data {tune.name} is not used: no solver is tuned"
    for _, sentence in overrides.unused([s.decision for s in systems], [s.solver for s in systems]):
        yield sentence
