"""The results of an evaluation: one row per system, with the per-question statistics behind
every number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import ClassicRCError, InterruptedRunError, UsageError, unknown_name
from classic_rc.folds import passage_groups
from classic_rc.io.json import Seconds
from classic_rc.io.progress import progress_bar
from classic_rc.metrics.base import METRICS, has_unanswerable, metrics_for
from classic_rc.protocol import Protocol
from classic_rc.questions import Dataset
from classic_rc.results.measure import Figure, GivenNumber, Measured, given_figures
from classic_rc.results.outcomes import UNTESTED, Row, Tested, to_plain
from classic_rc.results.resampling import Resampling
from classic_rc.results.result_table import dataset_record, has_passages, result_table
from classic_rc.results.shared_results import SharedResults
from classic_rc.results.significance import Significance, family_pairs
from classic_rc.systems import System
from classic_rc.tables import Table, render
from classic_rc.tables.model import frame_of_records
from classic_rc.work import tracked

if TYPE_CHECKING:
    import pandas


# The keys of a row in JSON, in order; most are fields and properties of :class:`Row`.
_ROW_FACTS = (
    "name solver variant block signature short_signature params metrics intervals expected "
    "tie_rate ties selected_share seed threshold tuned_on tuned_here tuned_params trained_on "
    "trained_elsewhere runs option_orders caveats answers questions no_evidence seconds"
).split()


@dataclass(frozen=True)
class Evaluation:
    """All the rows of one dataset."""

    dataset: Dataset
    rows: tuple[Row, ...]
    # Masks of groups of questions, by key and value.
    groupings: Mapping[str, Mapping[str, NDArray[np.bool_]]] = field(default_factory=dict)
    group_by: str | None = None  # the key whose groups have columns; others have tables
    warnings: tuple[str, ...] = ()  # for the reader of the numbers
    notes: tuple[
        str, ...
    ] = ()  # bounds on the numbers: the score of a perfect choice among the candidate spans
    resampling: Resampling | None = None  # how the rows' intervals were made
    systems: tuple[System, ...] = ()  # that ran or were to run, with their names
    protocol: Protocol = field(default_factory=Protocol)  # how they ran
    significance: Significance | None = None  # the settings of the tests behind the rows' p-values
    # why other systems have no row, by name
    errors: Mapping[str, ClassicRCError] = field(default_factory=dict)
    metrics: tuple[
        str, ...
    ] = ()  # the names of those to report, the primary one first; none means all of the task
    unused: tuple[str, ...] = ()  # the warnings about data and options that no system uses
    # also those of samples
    given: Mapping[str, tuple[GivenNumber, ...]] = field(default_factory=dict)

    @property
    def group(self) -> str | None:
        """The key of `meta` whose equal values are one group of passages in intervals and tests."""
        return (self.resampling or self.significance or self.protocol).group

    @cached_property
    def results(self) -> SharedResults:
        """The rows with their groups and settings, ready to be measured and compared."""
        dataset = self.dataset
        assert dataset.task is not None  # an evaluation has questions
        run_metrics = [METRICS[name] for name in self.metrics]
        reported = run_metrics or metrics_for(dataset, unanswerable=has_unanswerable(dataset))
        missing = {name: str(error) for name, error in self.errors.items()}
        ids = tuple(question.id for question in dataset)
        return SharedResults(
            dataset=dataset.name,
            fingerprint=dataset.fingerprint,
            task=dataset.task,
            find_groups=lambda: passage_groups(dataset, self.group),
            systems=self.rows,
            group=self.group,
            groupings=self.groupings,
            by=self.group_by,
            metrics=tuple(metric.name for metric in reported),
            primary_metric=next(iter(self.metrics), None),
            resampling=self.resampling,
            tests=self.significance,
            missing=missing,
            read=lambda: dataset,
            ids=ids,
            scorers=dataset.scorers,
        )

    def measure(self, metric: str | None = None, group: str | None = None) -> list[Measured]:
        """Measure every row.

        Parameters
        ----------
        metric : str, optional
            A metric's name; by default the primary one.
        group : str, optional
            A value of `group_by`, or "without copies"; by default all questions.

        Returns
        -------
        list of Measured
            In the order of the rows: value, interval, test and more.
        """
        results = self.results
        return results.measure(METRICS[metric] if metric else results.primary, group)

    def interrupted(self) -> Evaluation:
        """Return the evaluation with an error for each system that was not finished, and without
        it otherwise.
        """
        done = {*self.errors, *self.given, *(row.name for row in self.rows)}
        unfinished = [
            str(system.name)
            for system in self.systems
            if done.isdisjoint({system.name, system.run_of})
        ]
        errors = {**self.errors, **{name: InterruptedRunError() for name in unfinished}}
        systems = tuple(system for system in self.systems if system.name not in unfinished)
        return replace(self, errors=errors, systems=systems)

    @property
    def unfinished(self) -> list[str]:
        """The systems, each after the dataset, that an interruption left without a result."""
        errors = self.errors.items()
        return [
            f"{self.dataset.name}: {name}"
            for name, e in errors
            if isinstance(e, InterruptedRunError)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON, in the schema of ``--format json``."""
        dataset, results = self.dataset, self.results
        dataset_facts = {
            **dataset_record(dataset),
            "candidates": results.n_candidates,
            "spans": dataset.span_generator,
            "primary_metric": results.primary.name,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }
        optional: dict[str, Any] = {}
        if self.significance is not None:
            optional["significance"] = self.significance.to_dict()
        if self.given:
            optional["given"] = {
                name: list(map(asdict, numbers)) for name, numbers in self.given.items()
            }
        missing = [{"name": name, "reason": str(error)} for name, error in self.errors.items()]
        return {
            "dataset": dataset_facts,
            "resampling": self.resampling and self.resampling.to_dict(),
            **optional,
            "rows": self._row_records(),
            "missing": missing,
        }

    def to_frame(self, full: bool = False) -> pandas.DataFrame:
        """Return a pandas frame with one row per system.

        Parameters
        ----------
        full : bool
            Return all that :meth:`to_dict` has, with nested keys joined into column names:
            ``metrics.accuracy``, ``params.window``.

        Returns
        -------
        pandas.DataFrame
            By default the columns of ``run --format csv``: the table's, with metrics as fractions,
            each followed by the bounds of its interval (``accuracy_low``, ``accuracy_high``), then
            what people do not see in the table, such as ``trained_on`` and ``signature``.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        if full:
            records = [{"dataset": self.dataset.name, **record} for record in self._row_records()]
            return frame_of_records(records)
        return frame_of_records(evaluation_table(self).records())

    def __str__(self) -> str:
        """Return the table that ``classic-rc run`` prints."""
        return render(evaluation_table(self), "table").rstrip("\n")

    def __repr__(self) -> str:
        names = ", ".join(row.name for row in self.rows)
        return f"<Evaluation of {self.dataset.name}: {names}>"

    def _repr_html_(self) -> str:
        """Return the table that notebooks show: that of ``run``, without its notes."""
        title = f"{self.dataset.name} · {len(self.dataset):,} questions"
        return render(replace(evaluation_table(self), title=title, notes=(), signatures={}), "html")

    def _row_records(self) -> list[dict[str, Any]]:
        return [self._row_record(i, row) for i, row in enumerate(self.rows)]

    def _row_record(self, index: int, row: Row) -> dict[str, Any]:
        results = self.results
        computed = {
            **self._measured_record(index, None),
            "questions": len(self.dataset),
            "seconds": Seconds(row.seconds),
        }
        p_value, better_than = computed.pop("p_value", None), computed.pop("better_than", None)
        record: dict[str, Any] = {}
        for name in _ROW_FACTS:
            if name in computed:
                record[name] = computed[name]
            elif name != "runs" or row.runs > 1:
                record[name] = to_plain(getattr(row, name))
        if row.copied is not None:
            record["copied"] = int(row.copied.sum())
        if self.group_by is not None or results.shown_groups:
            record["groups"] = groups = {}
            for group, mask in results.shown_groups.items():
                measured = self._measured_record(index, group)
                groups[group] = {"questions": int(mask.sum()), **measured}
        if self.significance is not None:
            record["p_values"] = {} if p_value is None else {self.significance.metric: p_value}
            record |= {} if better_than is None else {"better_than": better_than}
        return record

    def _measured_record(self, index: int, group: str | None) -> dict[str, Any]:
        """Return what is measured of a row on a group of questions."""
        results, row = self.results, self.rows[index]
        measured = {name: results.measure(METRICS[name], group)[index] for name in row.statistics}
        record: dict[str, Any] = {"metrics": row.metrics(results.mask(group))}
        if group is None or self.resampling is not None:
            record["intervals"] = {
                name: list(measurement.interval)
                for name, measurement in measured.items()
                if measurement.interval is not None
            }
        for measurement in measured.values():
            test = measurement.test
            if test is UNTESTED:
                continue
            record |= {} if test.p_value is None else {"p_value": test.p_value}
            record |= self.better_than(test)
        return record

    def better_than(self, test: Tested) -> dict[str, list[str]]:
        """Return the baselines, if there are several, that a row is significantly better than."""
        settings = self.significance
        if settings is None or not settings.has_letters:
            return {}
        return {"better_than": [settings.baselines[i] for i in test.beats]}


def evaluation_table(evaluation: Evaluation, published: Sequence[Figure] = ()) -> Table:
    """Return the table of an evaluation, see :func:`classic_rc.results.result_table.result_table`,
    with its given numbers.
    """
    figures = given_figures(evaluation.given, evaluation.group_by)
    return result_table(
        evaluation.dataset, evaluation.results, evaluation.notes, [*published, *figures]
    )


def with_intervals(
    evaluation: Evaluation,
    n: int = 10_000,
    *,
    seed: int = 0,
    level: float = 0.95,
    group: str | None = None,
) -> Evaluation:
    """Add an interval for every metric of every row; questions are grouped by passages.

    Answers stay as they are: the interval measures the uncertainty about which passages the dataset
    has, not about what a system would learn from others. A mean over questions, such as accuracy,
    has the bounds of :func:`~classic_rc.results.mean_intervals.mean_interval`. A ratio of means,
    such as F1a, is resampled, all rows on the same passages. For a row that is an expectation over
    draws, it is the interval of the expectation.

    Parameters
    ----------
    evaluation : Evaluation
    n : int
        Number of resamples of ratios.
    seed : int
        The seed of the resamples.
    level : float
        The level of the intervals, above 0 and below 1.
    group : str, optional
        A key of `meta` (article, author) whose equal values stay together, as equal passages do.

    Returns
    -------
    Evaluation
        With a warning if a ratio is resampled over fewer groups than
        :data:`~classic_rc.results.resampling.MIN_RELIABLE_GROUPS`; without
        intervals, and with the reason, if there are fewer than two.

    Raises
    ------
    UsageError
        `n` is below 1, `level` is not between 0 and 1, or no question has the `group`.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.results import with_intervals
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = with_intervals(classic_rc.evaluate(dataset, [classic_rc.parse_solver("sw+d")]))
    >>> (measured,) = evaluation.measure("accuracy")
    >>> low, high = measured.interval
    >>> low < measured.value < high
    True
    """
    _require_group(evaluation.significance, group)
    groups = passage_groups(evaluation.dataset, group)
    unit = "passages" if has_passages(evaluation.dataset) else "questions"
    resampling = Resampling.of(groups, n, seed, level, group, unit)
    warning = resampling.warning(
        METRICS[name] for row in evaluation.rows for name in row.statistics
    )
    warnings = evaluation.warnings if warning is None else (*evaluation.warnings, warning)
    return replace(evaluation, resampling=resampling, warnings=warnings)


def with_significance(
    evaluation: Evaluation,
    baseline: str | Sequence[str],
    n: int = 10_000,
    *,
    metric: str | None = None,
    seed: int = 0,
    group: str | None = None,
) -> Evaluation:
    """Add Holm-adjusted p-values against `baseline` for the primary metric of every other row.

    The test is the paired permutation test that swaps the two rows' outcomes for whole passages
    (:func:`~classic_rc.results.resampling.permutation_test`). One metric is tested, named before
    the results are seen. Holm's method adjusts the p-values of all rows together. Each group of the
    evaluation (a column of the table) is a family of its own.

    Parameters
    ----------
    evaluation : Evaluation
    baseline : str or sequence of str
        The name of a row. With several, all pairs of a row and a baseline are one family, and a row
        has those that it is significantly better than.
    n : int
        Number of random permutations.
    metric : str, optional
        The metric to test; by default the evaluation's primary one.
    seed : int
        The seed of the permutations.
    group : str, optional
        A key of `meta` whose equal values stay together, as equal passages do.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        No row, or more than one, has the name, or there is no other row, or the metric is not one
        of the task.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.results import with_significance
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = with_significance(classic_rc.evaluate(dataset, ["longest", "sw+d"]), "longest")
    >>> longest, sw_d = evaluation.measure("accuracy")
    >>> longest.test.p_value, sw_d.test.p_value > 0.05
    (None, True)
    """
    names = [row.name for row in evaluation.rows]
    baselines = (baseline,) if isinstance(baseline, str) else tuple(dict.fromkeys(baseline))
    for name in baselines:
        if name not in names:
            raise unknown_name(f"row of {evaluation.dataset.name}", name, names)
        if names.count(name) > 1:
            raise UsageError(
                f"baseline {name!r} is ambiguous: {names.count(name)} rows have that name",
                field="baseline",
                found=name,
            )
    if len(names) == 1:
        raise UsageError(
            f"nothing to compare with baseline {names[0]!r}: it is the only row",
            field="baseline",
            found=names[0],
        )
    _require_group(evaluation.resampling, group)
    passage_groups(evaluation.dataset, group)  # refuses an unknown key
    n_tests = len(family_pairs(names, baselines))
    tested = evaluation.results.metric(metric or evaluation.results.primary.name).name
    settings = Significance(baselines, tested, n_tests, n, seed, group)
    return replace(evaluation, significance=settings)


def _require_group(settings: Resampling | Significance | None, group: str | None) -> None:
    """Refuse other groups of passages for tests than for intervals."""
    if settings is None or settings.group == group:
        return
    raise UsageError(
        f"intervals and tests need the same groups of passages, and one is grouped by {group}, the "
        f"other by {settings.group}",
        field="group",
        found=str(group),
        expected=str(settings.group),
    )


def with_statistics(
    evaluation: Evaluation, protocol: Protocol, *, progress: bool = False
) -> Evaluation:
    """Add the intervals and p-values that a protocol requests.

    If the baseline has no row, or is the only row, a warning takes the place of the tests: the
    other results are not lost.
    """
    seed, group = protocol.seed or 0, protocol.group
    names = [row.name for row in evaluation.rows]
    baselines = [name for name in protocol.baselines if name in names]
    if protocol.resamples is not None:
        evaluation = with_intervals(evaluation, protocol.resamples, seed=seed, group=group)
    if baselines and len(names) > 1:
        evaluation = with_significance(evaluation, baselines, seed=seed, group=group)
    warnings = list(evaluation.warnings)
    for name in dict.fromkeys(protocol.baselines):
        if name not in names or len(names) == 1:
            reason = "it is the only row" if name in names else "it has no row here"
            warnings.append(f"nothing is tested against the baseline {name}: {reason}")
    evaluation = replace(evaluation, warnings=tuple(warnings))
    with progress_bar(f"resampling {evaluation.dataset.name}", None, progress):
        results = evaluation.results
        metrics = dict.fromkeys(name for row in evaluation.rows for name in row.statistics)
        measured = [(name, group) for name in metrics for group in (None, *results.shown_groups)]
        # The results keep what is measured, so tables and records need not wait.
        for metric, group in tracked(measured, len(measured)):
            results.measure(METRICS[metric], group)
    return evaluation
