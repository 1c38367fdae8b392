"""The main job: score every candidate, decide, measure; for several solvers on one dataset."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from classic_rc.decisions import Argmax, Decision, Threshold, TiePolicy, TunedThreshold, describe
from classic_rc.errors import UsageError, unknown_name
from classic_rc.evaluation.blocks import blocks
from classic_rc.evaluation.outcomes import OutcomeTally
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.evaluation.scoring import score_in_shards
from classic_rc.evaluation.signature import long_signature, short_signature, signature_parts
from classic_rc.evaluation.tuning import cross_fit_decision, cross_fit_solver
from classic_rc.evaluation.caveats import data_warnings, overlap_warnings
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import encode
from classic_rc.text.spans import SpanGenerator

__all__ = ["configured", "evaluate", "fitted", "group_masks", "with_spans"]

CROSS_FITTED = "cv5"


def evaluate(
    dataset: Dataset,
    solvers: Sequence[Solver],
    *,
    train: Dataset | None = None,
    tune: Dataset | None = None,
    ties: TiePolicy | None = None,
    threshold: float | None = None,
    tune_metric: str | None = None,
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
        With gold answers.
    solvers : sequence of Solver
        They are cloned, never changed.
    train : Dataset, optional
        What solvers learn from; see :attr:`Solver.learns_from`.
    tune : Dataset, optional
        What thresholds and tuned parameters are chosen on. Without it they are chosen out of fold: for each
        fifth of the passages on the other four (the row says ``cv5``). On the data itself, the row is marked
        and followed by its out-of-fold row.
    ties : {"partial", "first", "random", "strict"}, optional
        Overrides the solvers' tie policy.
    threshold : float, optional
        Takes the place of thresholds that would be tuned.
    tune_metric : str, optional
        What thresholds are tuned for; by default F1a.
    seed : int, optional
        Overrides the seed of everything drawn.
    spans : SpanGenerator, optional
        Makes the candidates of span questions.
    group_by : str, optional
        A key of the questions' or passages' `meta` to break the metrics down by.
    jobs : int
        Processes to score with; the results do not depend on it.
    read_seconds : float
        How long reading the dataset took, to be reported.
    progress : bool
        Show a progress bar on stderr when it takes long.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        A solver cannot be used for the task, or needs data that was not given.
    DataError
        Gold answers are hidden.
    """
    if not len(dataset):
        raise UsageError(f"{dataset.name} has no question to evaluate on")
    dataset = with_spans(dataset, spans)
    if tune is not None:
        tune = with_spans(tune, spans)
    groups = group_masks(dataset, group_by) if group_by is not None else {}
    runs: list[_Run] = []
    for solver in solvers:
        solver = configured(solver, dataset, ties=ties, threshold=threshold, tune_metric=tune_metric, seed=seed)
        wants_tuning = solver.tunes_parameters or solver.decision_for(_task(dataset)).needs_fit
        if wants_tuning and tune is not None:
            runs.append(_Run(solver, dataset, train, tune))
        if not wants_tuning or tune is None or tune.fingerprint == dataset.fingerprint:
            runs.append(_Run(solver, dataset, train, None, cross_fit=wants_tuning))

    with _progress_bar(len(runs) * len(dataset), progress) as bar:
        for index, questions in blocks(dataset):
            encodings: dict[Analyzer, tuple[Any, float]] = {}
            for run in runs:
                run.take(index, questions, encodings, jobs)
                bar.update(len(index))
    warnings = [*data_warnings(dataset, solvers), *overlap_warnings(dataset, train=train, tune=tune)]
    rows = tuple(run.row(read_seconds) for run in runs)
    return Evaluation(dataset, rows, groups, group_by, tuple(warnings))


def with_spans(dataset: Dataset, spans: SpanGenerator | None = None) -> Dataset:
    """The dataset, its span questions given the generator's candidates if they have none yet."""
    task = dataset.task
    if task is None or not task.has_spans or dataset.span_generator is not None:
        return dataset
    generator = spans if spans is not None else SpanGenerator()
    return dataset.with_candidates(generator, generator.signature)


def configured(
    solver: Solver,
    dataset: Dataset,
    *,
    ties: TiePolicy | None = None,
    threshold: float | None = None,
    tune_metric: str | None = None,
    seed: int | None = None,
) -> Solver:
    """A clone of the solver with its decision for the dataset's task written out, and overrides applied."""
    task = _task(dataset)
    if task not in solver.tasks:
        raise UsageError(
            f"solver {solver.name!r} is for {', '.join(sorted(solver.tasks))} questions; {dataset.name} has {task}"
        )
    solver = clone(solver)
    decision: Decision = clone(solver.decision_for(task))
    if isinstance(decision, Argmax):
        changes = {"ties": ties, "seed": seed}
        decision.set_params(**{name: value for name, value in changes.items() if value is not None})
    elif decision.needs_fit and threshold is not None:
        decision = Threshold(value=threshold)
    elif isinstance(decision, TunedThreshold) and tune_metric is not None:
        decision.set_params(metric=tune_metric)
    if seed is not None and "seed" in solver.get_params(deep=False):
        solver.set_params(seed=seed)
    return solver.set_params(decision=decision)


def fitted(solver: Solver, dataset: Dataset, train: Dataset | None) -> Solver:
    """A clone of the solver, fitted as its `learns_from` says.

    Raises
    ------
    UsageError
        It learns from gold and there is no training data.
    """
    solver = clone(solver)
    if solver.learns_from == "gold":
        if train is None:
            raise UsageError(f"{solver.name} learns from gold answers: give training data (--train DATA)")
        return solver.fit(train)
    if solver.learns_from == "passages":
        return solver.fit([*_texts_only(train or ()), *_texts_only(dataset)])
    return solver.fit(dataset)


def _texts_only(questions: Sequence[Question]) -> list[Question]:
    """The questions without gold and candidates: what may be learned from the data that is evaluated."""
    return [replace(q, gold=None, candidates=()) for q in questions]


class _Run:
    """One row in the making: a solver on a dataset, tuned on a split, out of fold, or not at all."""

    def __init__(
        self,
        solver: Solver,
        dataset: Dataset,
        train: Dataset | None,
        tune: Dataset | None,
        cross_fit: bool = False,
    ) -> None:
        self._dataset, self._train, self._tune, self._cross_fit = dataset, train, tune, cross_fit
        self._unfitted = solver
        start = time.perf_counter()
        self._solver = fitted(solver, dataset, train)
        if tune is not None:
            self._solver.tune(tune)
        self._seconds = {"encode": 0.0, "fit": time.perf_counter() - start, "score": 0.0}
        self._tally = OutcomeTally(_task(dataset), len(dataset))
        self._learned: Sequence[Any] = ()
        self._expected = False

    def take(
        self,
        index: NDArray[np.int64],
        questions: Sequence[Question],
        encodings: dict[Analyzer, tuple[Any, float]],
        jobs: int,
    ) -> None:
        """Score, decide and measure one part of the dataset."""
        prepared = questions
        if self._solver.analyzer is not None:
            analyzer = get_analyzer(self._solver.analyzer)
            if analyzer not in encodings:
                start = time.perf_counter()
                encodings[analyzer] = encode(questions, analyzer), time.perf_counter() - start
            prepared, seconds = encodings[analyzer]
            self._seconds["encode"] += seconds
        start = time.perf_counter()
        if self._cross_fit and self._solver.tunes_parameters:
            scores = None
            predictions, self._learned = cross_fit_solver(
                lambda: fitted(self._unfitted, self._dataset, self._train), questions
            )
        else:
            scores = score_in_shards(self._solver, prepared, jobs)
            predictions = self._decide(scores, questions)
        self._tally.add(index, questions, predictions, scores)
        self._seconds["score"] += time.perf_counter() - start

    def _decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        expectation = self._solver.expectation(questions)
        if expectation is not None:
            self._expected = True
            return expectation
        if self._cross_fit:
            predictions, self._learned = cross_fit_decision(self._decision, scores, questions)
            return predictions
        return self._decision.decide(scores, questions)

    @property
    def _decision(self) -> Decision:
        return getattr(self._solver, "decision_", None) or self._solver.decision_for(_task(self._dataset))

    def row(self, read_seconds: float) -> Row:
        """The finished row."""
        solver, decision = self._solver, self._decision
        variant = solver.variant_name()
        published = solver.variants[variant].tuned_on if variant else {}
        tuned_on = CROSS_FITTED if self._cross_fit else self._tune.name if self._tune else None
        tuned_here = self._tune is not None and self._tune.fingerprint == self._dataset.fingerprint
        facts = {
            "ties": decision.ties if isinstance(decision, Argmax) and not self._expected else None,
            "seed": self._seed(decision),
            "threshold": self._threshold(decision),
            "tuned_on": tuned_on or ", ".join(published.values()) or None,
            "trained_on": self._trained_on(),
        }
        parts = signature_parts(
            solver.name,
            variant,
            _changed_params(solver, variant),
            self._dataset,
            **{**facts, "threshold": facts["threshold"] if tuned_on is None else None},
            metric=getattr(decision, "metric", None),
            expected="yes" if self._expected else None,
        )
        return Row(
            solver=solver.name,
            variant=variant,
            params=_plain_params(solver),
            signature=long_signature(parts),
            short_signature=short_signature(parts),
            outcomes=self._tally.outcomes(),
            expected=self._expected,
            tuned_here=tuned_here or self._dataset.fingerprint in published,
            seconds={"read": read_seconds, **self._seconds},
            **facts,
        )

    def _seed(self, decision: Decision) -> int | None:
        if self._expected:
            return None
        drawn = isinstance(decision, Argmax) and decision.ties == "random"
        return decision.seed if drawn else getattr(self._solver, "seed", None)

    def _threshold(self, decision: Decision) -> float | list[float] | None:
        if isinstance(decision, Threshold):
            return float(decision.value)
        if isinstance(decision, TunedThreshold):
            folds = [d.best_threshold_ for d in self._learned if isinstance(d, TunedThreshold)]
            return folds or getattr(decision, "best_threshold_", None)
        return None

    def _trained_on(self) -> str | None:
        learns_from = self._solver.learns_from
        if learns_from == "nothing":
            return None
        names = [self._train.name] if self._train is not None else []
        if learns_from == "passages":
            return "passages of " + " + ".join([*names, self._dataset.name])
        return names[0]


def _task(dataset: Dataset) -> Any:
    return dataset.task


def _changed_params(solver: Solver, variant: str | None) -> dict[str, Any]:
    """What the signature says of the parameters: the analyzer always, others where no variant says them."""
    params = {k: v for k, v in _plain_params(solver).items() if k not in ("decision", "seed")}
    defaults = _plain_params(type(solver)())
    return {
        name: value
        for name, value in params.items()
        if name == "analyzer" or (variant is None and value != defaults[name])
    }


def _plain_params(solver: Solver) -> dict[str, Any]:
    return {name: _plain(value) for name, value in solver.get_params(deep=False).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Decision):
        return describe(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def group_masks(dataset: Dataset, key: str) -> Mapping[str, NDArray[np.bool_]]:
    """Masks over the questions by the value of a key of their, or their passage's, meta."""
    values = []
    for question in dataset:
        meta = {**question.passage.meta, **question.meta}
        if key not in meta:
            known = sorted({k for q in dataset for k in (*q.passage.meta, *q.meta)})
            if key not in known:
                raise unknown_name(f"meta key of {dataset.name}", key, known)
        values.append(str(meta.get(key, "?")))
    labels = np.array(values)
    return {value: labels == value for value in sorted(set(values))}


def _progress_bar(total: int, wanted: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, unit="question", delay=1, leave=False, disable=not wanted)
