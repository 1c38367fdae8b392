"""The results of an evaluation: one row per system, with the per-question statistics behind every number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.display import (
    EMPTY_CELL,
    Table,
    format_count,
    format_percent,
    frame_of_records,
    html_table,
    render_text,
)
from classic_rc.errors import ClassicRCError, InterruptedRunError
from classic_rc.evaluation.grouping import MIN_GROUP_QUESTIONS
from classic_rc.evaluation.option_orders import N_ORDERS
from classic_rc.evaluation.outcomes import Outcomes
from classic_rc.evaluation.resampling import Interval, Resampling
from classic_rc.evaluation.systems import System
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import METRICS, has_unanswerable, metric_of_task, metrics_for
from classic_rc.predictions import AnswerCounts
from classic_rc.protocol import Protocol
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.base import Solver

if TYPE_CHECKING:
    import pandas

ALPHA = 0.05
"""Adjusted p-values below this level are marked in tables."""


class Block(StrEnum):
    """What a system had learned from before it answered. Comparing systems of different blocks is not fair.

    Tables show the blocks in this order.
    """

    UNTRAINED = "learns nothing"
    TRAINED = "trained"
    GIVEN = "given scores"
    PUBLISHED = "published"

    @classmethod
    def of(cls, solver: Solver) -> Block:
        """Return the block of a fitted solver's row."""
        if solver.is_trained:
            return cls.TRAINED
        return cls.GIVEN if solver.has_given_scores else cls.UNTRAINED

    @property
    def heading(self) -> str:
        """The line above the block's rows in a table."""
        return _HEADINGS[self]


_HEADINGS = {
    Block.UNTRAINED: "learns nothing from gold answers",
    Block.TRAINED: "trained on gold answers",
    Block.GIVEN: "given scores or answers, of unknown training",
    Block.PUBLISHED: "published by others",
}


@dataclass(frozen=True)
class Row:
    """One system's results on one dataset.

    Parameters
    ----------
    solver, variant : str
        Names; `variant` is None if the parameters are not those of a published variant.
    params : mapping
        All constructor parameters.
    signature, short_signature : str
        The full and the abbreviated signature: everything that is needed to reproduce the numbers.
    expected : bool
        Whether the metrics are expectations over random draws, in closed form.
    ties : str or None
        The tie policy; None if answers come from a threshold.
    seed : int or None
        The seed of the random draws; None without draws.
    threshold : float, list of float or None
        The threshold that was used; a list with one per fold if it was cross-fitted.
    tuned_on, trained_on : str or None
        Names of the data; ``"cv5"`` if tuned or learned out of fold.
    tuned_here : bool
        Whether it was tuned on the same data that it reports.
    trained_elsewhere : bool
        Whether it learned from gold of other datasets only, and not from another split of the one that it reports.
    option_orders : tuple of float or None
        The lowest and the highest primary metric over several orders of the options
        (:mod:`classic_rc.evaluation.option_orders`); None if it learned nothing, or its scores do not depend on
        the order.
    tuned_params : mapping
        The chosen value of each tuned parameter, by name; a list with one per fold if tuned out of fold.
    block : Block
        Whether it learned from gold, from nothing, or its scores were given.
    outcomes : Outcomes
    caveats : tuple of str
        Warnings from fitting, for example that a learner stopped before it converged.
    answers : AnswerCounts, optional
        Of a file of answers: how many of them say something.
    seconds : mapping of str to float
        Wall time of ``read``, ``encode``, ``fit`` and ``score``.
    intervals : mapping of str to Interval
        The metrics' intervals, by name; see :func:`classic_rc.evaluation.with_intervals`.
    group_intervals : mapping of str to mapping of str to Interval
        The same for each of the evaluation's groups of questions.
    p_values : mapping of str to float
        The adjusted p-value of the difference from a baseline row, by the name of the primary metric; see
        :func:`classic_rc.evaluation.with_significance`.
    group_p_values : mapping of str to float
        The same for each of the evaluation's groups of questions.
    label : str, optional
        The name of the row, if it is not that of its solver and variant.
    """

    solver: str
    variant: str | None
    params: Mapping[str, Any]
    signature: str
    short_signature: str
    outcomes: Outcomes
    expected: bool = False
    ties: str | None = None
    seed: int | None = None
    threshold: float | list[float] | None = None
    tuned_on: str | None = None
    tuned_here: bool = False
    tuned_params: Mapping[str, Any] = field(default_factory=dict)
    trained_on: str | None = None
    trained_elsewhere: bool = False
    option_orders: tuple[float, float] | None = None
    block: Block = Block.UNTRAINED
    caveats: tuple[str, ...] = ()
    answers: AnswerCounts | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    group_intervals: Mapping[str, Mapping[str, Interval]] = field(default_factory=dict)
    p_values: Mapping[str, float] = field(default_factory=dict)
    group_p_values: Mapping[str, float] = field(default_factory=dict)
    label: str | None = None

    @property
    def name(self) -> str:
        """The name in tables and records; no two rows of an evaluation share one."""
        if self.label is not None:
            return self.label
        return f"{self.solver}:{self.variant}" if self.variant else self.solver

    def metrics(self, questions: NDArray[np.bool_] | slice = slice(None)) -> dict[str, float]:
        """Return every metric by name, as a fraction, over all questions or over those of a mask."""
        return {name: METRICS[name].aggregate(rows[questions]) for name, rows in self.outcomes.statistics.items()}

    @property
    def tie_rate(self) -> float | None:
        """The share of questions with several best candidates; None if no best candidate is chosen."""
        return None if self.ties is None else _mean(self.outcomes.n_tied > 1)

    @property
    def selected_share(self) -> float | None:
        """The share of all candidates that are in the answers; None if there are no candidates."""
        total = self.outcomes.n_candidates.sum()
        return float(self.outcomes.n_selected.sum() / total) if total else None

    @property
    def no_evidence(self) -> int | None:
        """Number of questions where the passage contributed to no candidate's score; None if unknown."""
        return None if self.outcomes.evidence is None else int((~self.outcomes.evidence).sum())


def _mean(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


@dataclass(frozen=True, slots=True)
class Significance:
    """The settings of the significance tests of an evaluation."""

    baseline: str  # the name of the row that the others are compared with
    metric: str  # the primary metric, the only one that is tested
    tests: int  # number of tests: the family that Holm's method adjusts for
    n: int = 10_000  # random swaps of whole groups of passages, unless all swaps are fewer
    seed: int = 0
    group: str | None = None  # the key of `meta` whose equal values stay together, as equal passages do

    @property
    def note(self) -> str:
        """A sentence that explains the mark in a table."""
        what = "passages" if self.group is None else f"groups of passages ({self.group})"
        systems = f"Holm over the {self.tests:,} systems of a column" if self.tests > 1 else "one test a column"
        return (
            f"*: {METRICS[self.metric].label} differs from {self.baseline}, p < {ALPHA:g} "
            f"(two-sided, up to {self.n:,} swaps of whole {what}, seed {self.seed}; {systems}; other metrics are "
            "not tested)"
        )


@dataclass(frozen=True)
class Evaluation:
    """All the rows of one dataset.

    Parameters
    ----------
    dataset : Dataset
    rows : tuple of Row
    groups : mapping of str to ndarray of bool
        Masks over the questions, by value of `group_by`.
    group_by : str, optional
        The key of the breakdown.
    warnings : tuple of str
        Warnings for the reader of the numbers.
    unused : tuple of str
        The warnings among them about data and options that no system uses.
    notes : tuple of str
        Bounds on the numbers: the score of a perfect choice among the candidate spans.
    resampling : Resampling, optional
        How the rows' intervals were made.
    systems : tuple of System
        The systems that ran or were to run, with their names.
    protocol : Protocol, optional
        How they ran; None if the answers come from elsewhere.
    significance : Significance, optional
        The settings of the tests behind the rows' p-values.
    errors : mapping of str to ClassicRCError
        Why the other systems have no row, by name.
    metrics : tuple of str
        The names of the metrics to report, the primary one first; none means all of the task.
    """

    dataset: Dataset
    rows: tuple[Row, ...]
    groups: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    group_by: str | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    resampling: Resampling | None = None
    systems: tuple[System, ...] = ()
    protocol: Protocol | None = None
    significance: Significance | None = None
    errors: Mapping[str, ClassicRCError] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def interrupted(self) -> Evaluation:
        """Return the evaluation with an error for each system that was not finished, and without it otherwise."""
        done = {*self.errors, *(row.name for row in self.rows)}
        names = [str(system.name) for system in self.systems]
        errors = {**self.errors, **{name: InterruptedRunError() for name in names if name not in done}}
        systems = tuple(system for system in self.systems if system.name in done)
        return replace(self, errors=errors, systems=systems)

    @property
    def primary(self) -> Metric:
        """The metric that is tested and that groups of questions are reported in."""
        assert self.dataset.task is not None  # an evaluation has questions
        return metric_of_task(self.dataset.task, self.metrics[0] if self.metrics else None)

    @property
    def reported_metrics(self) -> tuple[Metric, ...]:
        """The metrics to report, in the order of a table's columns."""
        assert self.dataset.task is not None
        chosen = tuple(METRICS[name] for name in self.metrics)
        return chosen or metrics_for(self.dataset.task, unanswerable=has_unanswerable(self.dataset))

    @property
    def n_candidates(self) -> int:
        """Number of candidates of all questions, as the first row counted them; 0 without rows."""
        return int(self.rows[0].outcomes.n_candidates.sum()) if self.rows else 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON, in the schema of ``--format json``."""
        dataset = self.dataset
        return {
            "dataset": {
                **dataset_record(dataset),
                "candidates": self.n_candidates,
                "spans": dataset.span_generator,
                "primary_metric": self.primary.name if dataset.task is not None else None,
                "warnings": list(self.warnings),
                "notes": list(self.notes),
            },
            "resampling": self.resampling and self.resampling.to_dict(),
            **({} if self.significance is None else {"significance": asdict(self.significance)}),
            "rows": [self._row_record(row) for row in self.rows],
            "missing": [{"name": name, "reason": str(error)} for name, error in self.errors.items()],
        }

    def to_frame(self, full: bool = False) -> pandas.DataFrame:
        """Return a pandas frame with one row per system.

        Parameters
        ----------
        full : bool
            Return all that :meth:`to_dict` has, with nested keys joined into column names: ``metrics.accuracy``,
            ``params.window``.

        Returns
        -------
        pandas.DataFrame
            By default these columns, if they apply: ``system``, ``block``, each metric as a fraction, followed by
            the bounds of its interval (``accuracy_low``, ``accuracy_high``) and the adjusted p-value of its
            difference from the baseline (``accuracy_p``); ``ties`` (the share of questions with tied best
            candidates) or ``selected`` (the share of candidates that are selected), ``tuned_on``, ``trained_on``,
            ``questions``, ``signature`` (the short one).

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        if full:
            records = [{"dataset": self.dataset.name, **self._row_record(row)} for row in self.rows]
            return frame_of_records(records)
        return frame_of_records([self._summary(row) for row in self.rows])

    def _summary(self, row: Row) -> dict[str, Any]:
        """Return the numbers of a row that readers look at first."""
        record: dict[str, Any] = {"system": row.name, "block": str(row.block)}
        values = row.metrics()
        for metric in self.reported_metrics:
            record[metric.name] = values[metric.name]
            if self.resampling is not None:
                low, high = row.intervals.get(metric.name) or (None, None)
                record |= {f"{metric.name}_low": low, f"{metric.name}_high": high}
            if self.significance is not None and metric.name == self.significance.metric:
                record[f"{metric.name}_p"] = row.p_values.get(metric.name)
        several = self.dataset.task is Task.MULTIPLE_ANSWER
        record["selected" if several else "ties"] = row.selected_share if several else row.tie_rate
        facts = {"tuned_on": row.tuned_on, "trained_on": row.trained_on, "questions": len(self.dataset)}
        return {**record, **facts, "signature": row.short_signature}

    def __str__(self) -> str:
        """Return the table that ``classic-rc run`` prints."""
        return render_text(evaluation_table(self)).rstrip("\n")

    def __repr__(self) -> str:
        names = ", ".join(row.name for row in self.rows)
        return f"<Evaluation of {self.dataset.name}: {names}>"

    def _repr_html_(self) -> str:
        """Return the table that notebooks show: that of ``run``, without its notes."""
        table = evaluation_table(self)
        caption = f"{self.dataset.name} · {len(self.dataset):,} questions"
        return html_table(caption, table.header, table.rows, table.headings)

    def _row_record(self, row: Row) -> dict[str, Any]:
        record = {
            "name": row.name,
            "solver": row.solver,
            "variant": row.variant,
            "block": str(row.block),
            "signature": row.signature,
            "short_signature": row.short_signature,
            "params": dict(row.params),
            "metrics": row.metrics(),
            "intervals": {name: list(interval) for name, interval in row.intervals.items()},
            "expected": row.expected,
            "tie_rate": row.tie_rate,
            "ties": row.ties,
            "selected_share": row.selected_share,
            "seed": row.seed,
            "threshold": row.threshold,
            "tuned_on": row.tuned_on,
            "tuned_here": row.tuned_here,
            "tuned_params": dict(row.tuned_params),
            "trained_on": row.trained_on,
            "trained_elsewhere": row.trained_elsewhere,
            "option_orders": None if row.option_orders is None else list(row.option_orders),
            "caveats": list(row.caveats),
            "answers": row.answers and row.answers._asdict(),
            "questions": len(self.dataset),
            "no_evidence": row.no_evidence,
            "seconds": dict(row.seconds),
        }
        if self.group_by is not None:
            record["groups"] = {value: self._group_record(row, value, mask) for value, mask in self.groups.items()}
        if self.significance is not None:
            record["p_values"] = dict(row.p_values)
        return record

    def _group_record(self, row: Row, value: str, mask: NDArray[np.bool_]) -> dict[str, Any]:
        record: dict[str, Any] = {"questions": int(mask.sum()), "metrics": row.metrics(mask)}
        if self.resampling is not None:
            record["intervals"] = {name: list(of) for name, of in row.group_intervals.get(value, {}).items()}
        if value in row.group_p_values:
            record["p_value"] = row.group_p_values[value]
        return record


SMALL_NOTE = f"in parentheses: groups of fewer than {MIN_GROUP_QUESTIONS} questions"

_SHORT_FINGERPRINT = 8
_TIES = {
    "partial": "tied best candidates share the credit",
    "first": "the first of the tied best candidates is the answer",
    "random": "one of the tied best candidates is drawn",
    "strict": "questions with tied best candidates count as wrong",
}
_BOLD = "bold: the best row, without expectations and rows tuned on this data"


def evaluation_table(evaluation: Evaluation, published: Sequence[Sequence[str]] = ()) -> Table:
    """Return the results of one dataset as a table: a row per system, metrics in percent, groups by main metric.

    Systems that learn nothing, trained systems, given scores and published figures are separate blocks of rows
    (:class:`~classic_rc.evaluation.results.Block`), with headings if there are several. Rows keep their order
    within a block. On the questions of a model's log, given scores come first.

    Parameters
    ----------
    evaluation : Evaluation
    published : sequence of sequence of str
        The cells of more rows: published figures of the same data and metrics.

    Returns
    -------
    Table
    """
    task = evaluation.dataset.task
    assert task is not None
    order = list(Block)
    if evaluation.dataset.reader == "harness":  # the model whose log the questions are from comes first
        order.sort(key=lambda block: block is not Block.GIVEN)
    evaluation = replace(evaluation, rows=tuple(sorted(evaluation.rows, key=lambda row: order.index(row.block))))
    blocks = [row.block for row in evaluation.rows]
    metrics = [metric.name for metric in evaluation.reported_metrics]
    main = evaluation.primary
    header = ["system", *(METRICS[name].label for name in metrics)]
    header += [f"{main.label} {value} ({mask.sum()})" for value, mask in evaluation.groups.items()]
    header += ["selected" if task is Task.MULTIPLE_ANSWER else "ties", "notes"]
    rows: list[Sequence[str]] = []
    for row in evaluation.rows:
        values = row.metrics()
        cells = [row.name, *(_metric_cell(row, name, values[name]) for name in metrics)]
        cells += [_group_cell(row, value, mask, main.name) for value, mask in evaluation.groups.items()]
        share = row.selected_share if task is Task.MULTIPLE_ANSWER else row.tie_rate
        rows.append([*cells, format_percent(share, 1), "; ".join(row_notes(row))])
    rows += published
    blocks += [Block.PUBLISHED] * len(published)
    headings = _headings(blocks)
    for name, error in evaluation.errors.items():
        headings.setdefault(len(rows), "not measured") if name == next(iter(evaluation.errors)) else None
        rows.append([name, *[EMPTY_CELL] * (len(header) - 2), str(error)])
    signatures = [f"{row.name} = {row.short_signature}" for row in evaluation.rows]
    dataset, candidates = evaluation.dataset, format_count(evaluation.n_candidates, "candidate")
    title = dataset_title(dataset, candidates)
    return Table(
        title,
        header,
        rows,
        frozenset({0, len(header) - 1}),
        [*protocol_notes(evaluation), "Signatures", *signatures],
        # A paper's caption has no fingerprint: signatures, which are comments in LaTeX, have it.
        caption=protocol_caption(evaluation, f"{dataset.name}: {_sizes(dataset, candidates)}"),
        bold=best_places(evaluation),
        faint=small_places(evaluation),
        headings=headings,
    )


def _headings(blocks: Sequence[Block]) -> dict[int, str]:
    """Return the heading of each block by the index of its first row; none if all rows are in one block."""
    if len(set(blocks)) < 2:
        return {}
    return {blocks.index(block): block.heading for block in Block if block in blocks}


def dataset_record(dataset: Dataset) -> dict[str, Any]:
    """Return what JSON says of a dataset, whatever was measured on it."""
    return {
        "name": dataset.name,
        "reader": dataset.reader,
        "split": dataset.split,
        "task": None if dataset.task is None else str(dataset.task),
        "fingerprint": dataset.fingerprint,
        "passages": len(dataset.passages),
        "questions": len(dataset),
    }


def dataset_title(dataset: Dataset, *more: str) -> str:
    """Return the title of a dataset's table: its name, sizes (and the counts in `more`) and fingerprint."""
    name = dataset.name + (f" ({dataset.reader})" if dataset.reader else "")
    return " · ".join([name, _sizes(dataset, *more), f"data {dataset.fingerprint[:_SHORT_FINGERPRINT]}"])


def _sizes(dataset: Dataset, *more: str) -> str:
    return ", ".join([format_count(len(dataset), "question"), count_passages(dataset), *more])


def count_passages(dataset: Dataset) -> str:
    """Return the number of passages in words."""
    return format_count(len(dataset.passages) if has_passages(dataset) else 0, "passage")


def has_passages(dataset: Dataset) -> bool:
    """Return whether there is any text to read."""
    return any(passage.text.strip() for passage in dataset.passages)


def _metric_cell(row: Row, metric: str, value: float) -> str:
    differs = row.p_values.get(metric, 1.0) < ALPHA
    return format_percent(value, interval=row.intervals.get(metric), mark="*" if differs else "")


def _group_cell(row: Row, group: str, mask: NDArray[np.bool_], metric: str) -> str:
    differs = row.group_p_values.get(group, 1.0) < ALPHA
    interval = row.group_intervals.get(group, {}).get(metric)
    return format_percent(row.metrics(mask)[metric], interval=interval, mark="*" if differs else "")


def row_notes(row: Row) -> list[str]:
    """Return the notes of a row: how it was decided, tuned and trained."""
    notes = [row.answers.note] if row.answers and row.answers.note else []
    if row.expected:
        notes.append("expectation")
    if row.ties is not None and row.ties != "partial":
        notes.append(f"ties: {row.ties}")
    if row.tuned_on is not None:
        notes.append(f"tuned on {row.tuned_on}" + (" = THIS DATA" if row.tuned_here else ""))
    if isinstance(row.threshold, float):
        notes.append(f"threshold {row.threshold:.6g}")
    notes += [
        f"{name} {_format_tuned(value)}" for name, value in row.tuned_params.items() if not isinstance(value, list)
    ]
    if row.trained_on is not None:
        notes.append(f"learned from {row.trained_on}" + ", not from this dataset" * row.trained_elsewhere)
    if row.option_orders is not None:
        low, high = row.option_orders
        notes.append(f"{100 * low:.2f} to {100 * high:.2f} over {1 + N_ORDERS} orders of the options")
    return notes


def _format_tuned(value: Any) -> str:
    """Format the tuned value of a parameter; numbers in a tuple have four significant digits each."""
    return "; ".join(f"{number:.4g}" for number in value) if isinstance(value, tuple) else str(value)


def best_places(evaluation: Evaluation) -> set[tuple[int, int]]:
    """Return the (row, column) places of the cells with the best printed value of their metric or group.

    Two kinds of rows cannot be compared and are left out: expectations, and rows tuned on the data that they
    report. No cell is best if fewer than two rows are left, or in a small group.
    """
    compared = [(i, row) for i, row in enumerate(evaluation.rows) if not (row.expected or row.tuned_here)]
    if len(compared) < 2:
        return set()
    shown = np.round([_row_values(evaluation, row) for _, row in compared], 4)  # as many decimals as are printed
    best = shown == np.fmax.reduce(shown, axis=0)
    small = {j for _, j in small_places(evaluation)}
    return {
        (i, 1 + j)
        for (i, _), of_row in zip(compared, best, strict=True)
        for j in np.flatnonzero(of_row).tolist()
        if 1 + j not in small
    }


def _row_values(evaluation: Evaluation, row: Row) -> list[float]:
    """Return a row's numbers in the order of the columns after its name."""
    main = evaluation.primary.name
    values = row.metrics()
    return [
        *(values[metric.name] for metric in evaluation.reported_metrics),
        *(row.metrics(mask)[main] for mask in evaluation.groups.values()),
    ]


def small_places(evaluation: Evaluation) -> set[tuple[int, int]]:
    """Return the (row, column) places of the cells of small groups."""
    first = 1 + len(evaluation.reported_metrics)
    small = [j for j, mask in enumerate(evaluation.groups.values(), first) if mask.sum() < MIN_GROUP_QUESTIONS]
    return {(i, j) for i in range(len(evaluation.rows)) for j in small}


def protocol_notes(evaluation: Evaluation) -> list[str]:
    """Return the notes that every form of the table needs: on ties, intervals, significance and small groups."""
    notes = _tie_notes(evaluation.rows)
    notes += [] if evaluation.resampling is None else [evaluation.resampling.note]
    if evaluation.significance is not None:
        notes.append(evaluation.significance.note)
    return [*notes, SMALL_NOTE] if small_places(evaluation) else notes


def _tie_notes(rows: Sequence[Row]) -> list[str]:
    """Return a note if rows that have ties have different policies for them; else none."""
    tied = [row for row in rows if row.tie_rate]
    policies = list(dict.fromkeys(row.ties for row in tied if row.ties is not None))
    if len(policies) < 2:
        return []
    names = {policy: ", ".join(row.name for row in tied if row.ties == policy) for policy in policies}
    described = "; ".join(f"{names[policy]}: {_TIES[policy]}" for policy in policies)
    fixed = next((row.ties for row in tied if row.block is Block.GIVEN), "partial")
    return [f"rows treat ties differently ({described}): --ties {fixed} makes them alike"]


def protocol_caption(evaluation: Evaluation, title: str) -> str:
    """Return a caption that makes the table complete without the text of a paper."""
    return ". ".join([title, "; ".join([*_protocol_items(evaluation), *protocol_notes(evaluation)])]) + "."


def _protocol_items(evaluation: Evaluation) -> Iterator[str]:
    yield "Metrics in percent"
    ties = {row.ties for row in evaluation.rows if row.ties is not None}
    if len(ties) == 1 and evaluation.dataset.task is not Task.MULTIPLE_ANSWER:
        yield _TIES[ties.pop()]
    if any(row.expected for row in evaluation.rows):
        yield "expectations are in closed form"
    if best_places(evaluation):
        yield _BOLD
