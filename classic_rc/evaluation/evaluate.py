"""The main job: score every candidate, decide, measure; for several solvers on one dataset."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from classic_rc.decisions import TIE_TOLERANCE, Cuts, TiePolicy, TunedThreshold
from classic_rc.evaluation.breakdown import group_masks
from classic_rc.evaluation.fitted_system import Encodings, System, blocks
from classic_rc.evaluation.learning import Learning, data_warnings, fit_warnings, unused_warnings
from classic_rc.evaluation.plan import Overrides, configured, require_gold, with_spans
from classic_rc.evaluation.protocol import Protocol
from classic_rc.evaluation.results import Evaluation, Outcomes, OutcomeTally, Row
from classic_rc.evaluation.signature import (
    changed_params,
    dataset_signature,
    file_digest,
    long_signature,
    plain_params,
    short_signature,
    signature_parts,
)
from classic_rc.evaluation.span_oracle import SpanOracle
from classic_rc.io.progress import progress_bar
from classic_rc.predictions import Prediction
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.spans import SpanGenerator


def evaluate(
    dataset: Dataset,
    solvers: Sequence[Solver],
    *,
    train: Dataset | None = None,
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
        With gold answers.
    solvers : sequence of Solver
        They are cloned, never changed.
    train : Dataset, optional
        What solvers learn from; see :attr:`Solver.learns_from`.
    tune : Dataset, optional
        What thresholds and tuned parameters are chosen on. Without it they are chosen out of fold: for each
        fifth of the passages on the other four (the row says ``cv5``). On the data itself, the row is marked
        and followed by its out-of-fold row.
    cv : int, optional
        Solvers that learn from gold learn out of fold, in so many folds of whole passages, in place of `train`;
        what is tuned out of fold has as many folds (without it, five).
    group : str, optional
        A key of `meta` (article, author) whose equal values stay in one fold, as equal passages do.
    drop_overlap : bool
        Take out of `train` and `tune` the passages and questions that stand in `dataset` too.
    ties : {"partial", "first", "random", "strict"}, optional
        Overrides the solvers' tie policy.
    threshold : float, optional
        Takes the place of thresholds that would be tuned.
    tune_metric : str, optional
        What thresholds are tuned for; by default F1a.
    tune_cuts : {"exact", "multirc2018"}, optional
        Which thresholds are tried: by default all that make a difference; see
        :class:`~classic_rc.decisions.TunedThreshold`.
    relative_threshold : float, optional
        Answers questions that several spans may answer with all spans that score so close to the best one, and do
        not overlap (:class:`~classic_rc.decisions.RelativeThreshold`), in place of that one.
    seed : int, optional
        Overrides the seed of everything drawn.
    spans : SpanGenerator, optional
        Makes the candidates of span questions.
    group_by : str, optional
        What to break the metrics down by: a key of the questions' or passages' `meta`, or one that follows from
        every question (:data:`~classic_rc.evaluation.derived.DERIVED_KEYS`).
    jobs : int
        Processes to score with, -1 for all cores; the results do not depend on it. They are joblib's: loky by
        default, those of a cluster inside ``joblib.parallel_config(backend="dask")`` and the like.
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
    dataset = with_spans(dataset, spans)
    require_gold(dataset, "nothing can be measured: `classic-rc predict` writes a submission instead")
    overrides = Overrides(ties, threshold, tune_metric, seed, tune_cuts, relative_threshold)
    groups = {} if group_by is None else group_masks(dataset, group_by)
    train, tune = (other and with_spans(other, spans) for other in (train, tune))
    learning = Learning(train, tune, cv, group, drop_overlap).apart_from(dataset)
    systems = [
        system
        for solver in solvers
        for system in _systems(configured(solver, dataset, overrides), dataset, learning)
    ]
    assert dataset.task is not None
    oracle = SpanOracle() if dataset.task.has_spans else None
    tallies = [OutcomeTally(dataset.task, len(dataset)) for _ in systems]
    with progress_bar(dataset.name, len(systems) * len(dataset), progress) as advance:
        for index, questions in blocks(dataset):
            if oracle is not None:
                oracle.add(questions)
            encodings = Encodings(questions, index)
            for system, tally in zip(systems, tallies, strict=True):
                predictions, scores = system.expectation(encodings, jobs)
                tally.add(index, questions, predictions, scores)
                advance(len(index))
    rows = tuple(
        _row(system, tally.outcomes(), read_seconds) for system, tally in zip(systems, tallies, strict=True)
    )
    warnings = (
        *data_warnings(dataset, solvers),
        *learning.notes,
        *fit_warnings(systems),
        *unused_warnings(systems, overrides, learning),
    )
    notes = () if oracle is None else (oracle.note,)
    options = {"cv": cv, "group": group, "drop_overlap": drop_overlap, "group_by": group_by, **vars(overrides)}
    protocol = Protocol(tuple(solvers), options, train, tune, spans)
    return Evaluation(dataset, rows, groups, group_by, warnings, notes, protocol=protocol)


def _systems(solver: Solver, dataset: Dataset, learning: Learning) -> list[System]:
    """A row's system; where it is tuned on what it reports, an honest one after it."""
    if not System.wants_tuning(solver, dataset):
        return [learning.system(solver, dataset)]
    systems = [] if learning.tune is None else [learning.system(solver, dataset, tune=True)]
    if not systems or systems[0].tuned_here:
        systems.append(learning.system(solver, dataset, cross_fit=True))
    return systems


def _row(system: System, outcomes: Outcomes, read_seconds: float) -> Row:
    solver, facts = system.fitted_solver, system.facts()
    variant = solver.variant_name() if solver.variants else None
    published = solver.published_tuning()
    tolerance = getattr(system.decision, "tie_tolerance", TIE_TOLERANCE)
    parts = signature_parts(
        solver.name,
        variant,
        changed_params(solver, variant),
        system.dataset,
        ties=facts["ties"],
        tie_tolerance=None if tolerance == TIE_TOLERANCE else tolerance,
        seed=facts["seed"],
        **system.origins(dataset_signature),
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
    return Row(
        solver=solver.name,
        variant=variant,
        params=plain_params(solver),
        signature=long_signature(parts),
        short_signature=short_signature(parts),
        outcomes=outcomes,
        caveats=system.caveats,
        seconds={"read": read_seconds, **system.seconds},
        **facts,
    )


def evaluate_predictions(
    dataset: Dataset,
    predictions: Sequence[Prediction],
    *,
    source: str,
    group_by: str | None = None,
    read_seconds: float = 0.0,
) -> Evaluation:
    """Measure predictions of all the dataset's questions, in its order.

    Parameters
    ----------
    dataset : Dataset
        With gold answers.
    predictions : sequence of Prediction
    source : str
        Where they come from; a part of the signature.
    group_by, read_seconds
        As in :func:`classic_rc.evaluate`.

    Returns
    -------
    Evaluation
        Of one row.
    """
    start = time.perf_counter()
    require_gold(dataset, "nothing can be measured")
    assert dataset.task is not None
    tally = OutcomeTally(dataset.task, len(dataset))
    tally.add(np.arange(len(dataset)), dataset, predictions, None)
    parts = signature_parts("score-file", None, {"file": file_digest(source)}, dataset)
    row = Row(
        solver="score-file",
        variant=None,
        params={"path": source},
        signature=long_signature(parts),
        short_signature=short_signature(parts),
        outcomes=tally.outcomes(),
        seconds={"read": read_seconds, "encode": 0.0, "fit": 0.0, "score": time.perf_counter() - start},
    )
    groups = group_masks(dataset, group_by) if group_by is not None else {}
    return Evaluation(dataset, (row,), groups, group_by)
