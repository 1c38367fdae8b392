"""The results of an evaluation: one row per system, with the per-question statistics behind
every number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.registry import is_log
from classic_rc.errors import ClassicRCError, InterruptedRunError
from classic_rc.io.json import Seconds
from classic_rc.metrics.base import METRICS, Metric, has_unanswerable, metric_of_task, metrics_for
from classic_rc.predictions import ANSWER_COUNTS
from classic_rc.protocol import Protocol
from classic_rc.questions import SHORT_FINGERPRINT, Dataset, Task
from classic_rc.results.grouping import (
    MIN_GROUP_QUESTIONS,
    WITHOUT_COPIES,
    find_defining,
    find_learned,
    group_without_copies,
)
from classic_rc.results.measure import find_best
from classic_rc.results.outcomes import N_ORDERS, Block, Row, to_plain
from classic_rc.results.resampling import ALPHA, Interval, Resampling
from classic_rc.systems import System
from classic_rc.tables import Cell, Column, RowGroup, Table, render
from classic_rc.tables.model import LETTERS, Value, baseline_letter, format_count, frame_of_records

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Significance:
    """The settings of the significance tests of an evaluation."""

    # The rows that the others are compared with. With several, all pairs with one of them are a
    # family.
    baselines: tuple[str, ...]
    metric: str = ""  # the primary metric, the only one that is tested
    tests: int = 1  # number of tests: the family that Holm's method adjusts for
    n: int = 10_000  # random swaps of whole groups of passages, unless all swaps are fewer
    seed: int = 0
    group: str | None = (
        None  # the key of `meta` whose equal values stay together, as equal passages do
    )

    @property
    def has_letters(self) -> bool:
        """Whether a letter for each of several baselines takes the place of asterisks."""
        return len(self.baselines) > 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        facts, (first, *others) = asdict(self), self.baselines
        del facts["baselines"]
        return {"baseline": first, **facts, **({"others": others} if others else {})}

    @property
    def note(self) -> str:
        """A sentence that explains the mark in a table."""
        what = "passages" if self.group is None else f"groups of passages ({self.group})"
        kind = "pairs" if self.has_letters else "systems"
        systems = (
            f"Holm over the {self.tests:,} {kind} of a column"
            if self.tests > 1
            else "one test per column"
        )
        label = METRICS[self.metric].label
        mark = f"*: {label} differs from {self.baselines[0]}"
        if self.has_letters:
            named = ", ".join(
                f"{name} ({letter})" for name, letter in zip(self.baselines, LETTERS, strict=False)
            )
            mark = f"letters: {label} is better than that of {named}"
        return (
            f"{mark}, p < {ALPHA:g} "
            f"(two-sided, up to {self.n:,} swaps of whole {what}, seed {self.seed}; {systems}; "
            "other metrics are not tested)"
        )


@dataclass(frozen=True, slots=True)
class GivenNumber:
    """A number next to the rows: given, or measured on a sample of the questions."""

    metric: str
    group: str | None  # of questions; None for all
    value: float  # as a fraction
    printed: str | None = None  # in percent with its digits; None for a sample
    interval: Interval | None = None  # of a sample
    questions: int | None = None  # of a sample


# The keys of a row in JSON, in order; most are fields and properties of :class:`Row`.
_ROW_FACTS = (
    *(
        "name",
        "solver",
        "variant",
        "block",
        "signature",
        "short_signature",
        "params",
        "metrics",
        "intervals",
    ),
    *(
        "expected",
        "tie_rate",
        "ties",
        "selected_share",
        "seed",
        "threshold",
        "tuned_on",
        "tuned_here",
    ),
    *(
        "tuned_params",
        "trained_on",
        "trained_elsewhere",
        "runs",
        "option_orders",
        "caveats",
        "answers",
    ),
    *("questions", "no_evidence", "seconds"),
)


@dataclass(frozen=True)
class Evaluation:
    """All the rows of one dataset."""

    dataset: Dataset
    rows: tuple[Row, ...]
    # of questions, by value of `group_by`
    groups: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    group_by: str | None = None  # the key of the breakdown
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
    # Masks of the groups of other keys, which have tables of their own, by key and value.
    groupings: Mapping[str, Mapping[str, NDArray[np.bool_]]] = field(default_factory=dict)

    @property
    def shown_groups(self) -> Mapping[str, NDArray[np.bool_]]:
        """The groups that have a column: `groups`, and before them the questions without copies,
        if rows have any.
        """
        return {**group_without_copies(self.rows), **self.groups}

    def defining(self, group: str | None) -> set[str]:
        """Return the names of the rows whose answers define a group of questions."""
        assert self.dataset.task is not None
        if group is None:
            return set()
        return find_defining(self.dataset.task, self.rows, self.shown_groups, group)

    def incomparable(self, group: str | None) -> set[str]:
        """Return the names of the rows that are neither ranked nor tested on a group, or on all
        questions: they define it, or learned from some of its questions.
        """
        return self.defining(group) | find_learned(self.rows, self.masks[group])

    def group_key(self, group: str) -> str:
        """Return what the keys of a group's columns end with."""
        return f"[{group}]" if group == WITHOUT_COPIES else f"[{self.group_by}={group}]"

    def interrupted(self) -> Evaluation:
        """Return the evaluation with an error for each system that was not finished, and without
        it otherwise.
        """
        done = {*self.errors, *self.given, *(row.name for row in self.rows)}
        left = [
            str(system.name)
            for system in self.systems
            if done.isdisjoint({system.name, system.run_of})
        ]
        errors = {**self.errors, **{name: InterruptedRunError() for name in left}}
        systems = tuple(system for system in self.systems if system.name not in left)
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

    @property
    def masks(self) -> dict[str | None, NDArray[np.bool_]]:
        """Masks of all questions, under None, and of each group."""
        everything: dict[str | None, NDArray[np.bool_]] = {
            None: np.ones(len(self.dataset), dtype=np.bool_)
        }
        return everything | dict(self.shown_groups)

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
            **({} if self.significance is None else {"significance": self.significance.to_dict()}),
            **(
                {"given": {name: list(map(asdict, of)) for name, of in self.given.items()}}
                if self.given
                else {}
            ),
            "rows": [self._row_record(row) for row in self.rows],
            "missing": [
                {"name": name, "reason": str(error)} for name, error in self.errors.items()
            ],
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
            records = [{"dataset": self.dataset.name, **self._row_record(row)} for row in self.rows]
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

    def _row_record(self, row: Row) -> dict[str, Any]:
        own = {
            "metrics": row.metrics(),
            "questions": len(self.dataset),
            "seconds": Seconds(row.seconds),
        }
        names = (name for name in _ROW_FACTS if name != "runs" or row.runs > 1)
        record = {
            name: own[name] if name in own else to_plain(getattr(row, name)) for name in names
        }
        if row.copied is not None:
            record["copied"] = int(row.copied.sum())
        groups = self.shown_groups
        if self.group_by is not None or groups:
            record["groups"] = {
                value: self._group_record(row, value, mask) for value, mask in groups.items()
            }
        if self.significance is not None:
            record |= {"p_values": dict(row.p_values), **self.beaten(row, None)}
        return record

    def beaten(self, row: Row, group: str | None) -> dict[str, list[str]]:
        """Return the baselines, if there are several, that a row is significantly better than."""
        made = self.significance
        if made is None or not made.has_letters:
            return {}
        return {"better_than": [made.baselines[i] for i in row.test(group).beats]}

    def _group_record(self, row: Row, value: str, mask: NDArray[np.bool_]) -> dict[str, Any]:
        record: dict[str, Any] = {"questions": int(mask.sum()), "metrics": row.metrics(mask)}
        if self.resampling is not None:
            record["intervals"] = to_plain(row.group_intervals.get(value, {}))
        if (p_value := row.test(value).p_value) is not None:
            record["p_value"] = p_value
        return {**record, **self.beaten(row, value)}


SMALL_NOTE = f"in parentheses: groups of fewer than {MIN_GROUP_QUESTIONS} questions"

COPIES_NOTE = (
    f"{WITHOUT_COPIES}: only the questions that no system here learned from, nor from their "
    "passages"
)

DEFINING_NOTE = (
    "§: by construction: the group is the questions that this system solves, or does not solve"
)

_GIVEN = "given numbers, not compared"
_TIES = {
    "partial": "tied best candidates share the credit",
    "first": "the first of the tied best candidates is the answer",
    "random": "one of the tied best candidates is drawn",
    "strict": "questions with tied best candidates count as wrong",
}
_BOLD = "bold: the best row, without expectations and rows tuned on this data"


def evaluation_table(
    evaluation: Evaluation, published: Sequence[Sequence[Cell | Value]] = ()
) -> Table:
    """Return the results of one dataset as a table: a row per system, metrics in percent, groups by
    main metric.

    Systems that learn nothing, trained systems, given scores and published figures are separate
    blocks of rows (:class:`~classic_rc.results.outcomes.Block`), with headings if there are
    several. Rows keep their order within a block. On the questions of a model's log, given scores
    come first. `published` has rows of published figures, in the columns that people see.
    """
    dataset = evaluation.dataset
    order = list(Block)
    if is_log(dataset):  # the model whose log the questions are from comes first
        order.sort(key=lambda block: block is not Block.GIVEN)
    rows = sorted(evaluation.rows, key=lambda row: order.index(row.block))
    columns = list(_result_columns(evaluation, rows))
    shown, width = [column for column, _ in columns if not column.hidden], len(columns)
    hidden: Sequence[Value] = [None] * (width - len(shown))
    measured = list(zip(*(cells for _, cells in columns), strict=True))
    of_block: dict[str, list[Sequence[Cell | Value]]] = {block.heading: [] for block in order}
    for row, cells in zip(rows, measured, strict=True):
        of_block[row.block.heading].append(cells)
    of_block[Block.PUBLISHED.heading] += [[*cells, *hidden] for cells in published]
    of_block[_GIVEN] = []
    places: list[tuple[str, str | None]] = [
        (metric.name, None) for metric in evaluation.reported_metrics
    ]
    places += [(evaluation.primary.name, group) for group in evaluation.shown_groups]
    for name, numbers in evaluation.given.items():
        own = {(of.metric, of.group): of for of in numbers}
        about = [
            f"{of.questions:,} of the questions" for of in numbers[:1] if of.questions is not None
        ]
        values = [_given_cell(own.get(place)) for place in places]
        of_block[_GIVEN] += [
            [name, *values, None, *about, *[None] * (width - len(values) - 2 - len(about))]
        ]
    of_block["not measured"] = [
        [name, *[None] * (len(shown) - 2), str(error), *hidden]
        for name, error in evaluation.errors.items()
    ]
    blocks = {heading: lines for heading, lines in of_block.items() if lines}
    several = len(blocks.keys() - {"not measured"}) > 1
    candidates = format_count(evaluation.n_candidates, "candidate")
    has_bold = any(cell.bold for cells in measured for cell in cells)
    return Table(
        dataset_title(dataset, candidates),
        [column for column, _ in columns],
        [
            RowGroup(of, name if several or name == "not measured" else None)
            for name, of in blocks.items()
        ],
        _protocol_notes(evaluation),
        # A paper's caption has no fingerprint: signatures, which are comments in LaTeX, have it.
        _protocol_caption(evaluation, f"{dataset.name}: {_sizes(dataset, candidates)}", has_bold),
        {row.name: row.short_signature for row in rows},
        {"dataset": dataset.name, "split": dataset.split, "questions": len(dataset)},
    )


def _given_cell(number: GivenNumber | None) -> Cell:
    if number is None:
        return Cell(None)
    return Cell(
        number.value if number.printed is None else Decimal(number.printed).scaleb(-2),
        number.interval,
    )


def _result_columns(
    evaluation: Evaluation, rows: Sequence[Row]
) -> Iterator[tuple[Column, list[Cell]]]:
    """Yield the columns of a result table with their cells: those that people see, then those
    for programs.
    """
    selects = evaluation.dataset.task is Task.MULTIPLE_ANSWER
    made = evaluation.significance
    bases = made.baselines if made is not None and made.has_letters else ()
    names = [
        f"{row.name} {baseline_letter(bases.index(row.name))}" if row.name in bases else row.name
        for row in rows
    ]
    yield Column("system"), list(map(Cell, names))
    for metric in evaluation.reported_metrics:
        yield _metric_column(evaluation, rows, metric)
    groups = list(evaluation.shown_groups)
    for group in groups:
        yield _metric_column(evaluation, rows, evaluation.primary, group)
    shares = [row.selected_share if selects else row.tie_rate for row in rows]
    key = "selected_share" if selects else "tie_rate"
    yield Column("selected" if selects else "ties", "percent", 1, key), list(map(Cell, shares))
    yield Column("notes", "note"), [Cell("; ".join(row_notes(row))) for row in rows]
    shown = {metric.name for metric in evaluation.reported_metrics}
    measured = dict.fromkeys(name for row in rows for name in row.outcomes.statistics)
    for name in measured:
        if name not in shown:
            yield _hide(_metric_column(evaluation, rows, METRICS[name]))
        for group in groups:
            if name != evaluation.primary.name:
                yield _hide(_metric_column(evaluation, rows, METRICS[name], group))
    if evaluation.significance is not None:
        tested = evaluation.significance.metric
        parts: dict[str | None, str] = {
            None: "",
            **{group: evaluation.group_key(group) for group in groups},
        }
        for value, part in parts.items() if evaluation.significance.has_letters else ():
            beaten = (evaluation.beaten(row, value)["better_than"] for row in rows)
            yield _fact(f"{tested}{part}_better_than", [", ".join(of) for of in beaten])
        for value, part in parts.items():
            yield _fact(f"{tested}{part}_p", [row.test(value).p_value for row in rows])
    other = "tie_rate" if selects else "selected_share"
    for key in ("solver", "variant", "block", "expected", other, "ties"):
        yield _fact(key, [getattr(row, key) for row in rows])
    yield _fact("threshold", list(map(_threshold_text, rows)))
    for key in ("tuned_on", "tuned_here", "trained_on"):
        yield _fact(key, [getattr(row, key) for row in rows])
    for key in ANSWER_COUNTS:
        yield _fact(key, [row.answers and getattr(row.answers, key) for row in rows])
    yield _fact("signature", [row.signature for row in rows])


def _hide(column: tuple[Column, list[Cell]]) -> tuple[Column, list[Cell]]:
    return replace(column[0], hidden=True), column[1]


def _fact(key: str, values: Sequence[Value]) -> tuple[Column, list[Cell]]:
    return Column(key, hidden=True), list(map(Cell, values))


def _threshold_text(row: Row) -> float | str | None:
    return ";".join(map(repr, row.threshold)) if isinstance(row.threshold, list) else row.threshold


def _metric_column(
    evaluation: Evaluation, rows: Sequence[Row], metric: Metric, group: str | None = None
) -> tuple[Column, list[Cell]]:
    """Return the column of a metric on all questions or on a group, the best of its printed values
    in bold.

    Four kinds of rows cannot be compared and are never the best: expectations, rows tuned on the
    data that they report, those whose answers define the group, and those that learned from some of
    its questions. No cell is the best if fewer than two rows are left, or in a small group.
    """
    mask = None if group is None else evaluation.shown_groups[group]
    is_small = mask is not None and int(mask.sum()) < MIN_GROUP_QUESTIONS
    values = [row.metrics(slice(None) if mask is None else mask)[metric.name] for row in rows]
    defining = evaluation.defining(group)
    best = set() if is_small else find_best(rows, values, evaluation.incomparable(group))
    cells = []
    for i, (row, value) in enumerate(zip(rows, values, strict=True)):
        intervals = row.group_intervals.get(group, {})
        cells.append(
            Cell(
                value,
                intervals.get(metric.name),
                _mark(evaluation, row, metric, group) + "§" * (row.name in defining),
                i in best,
                is_small,
            )
        )
    label, key = metric.label, metric.name
    if mask is not None:
        label, key = f"{label} {group} ({mask.sum()})", key + evaluation.group_key(str(group))
    return Column(label, "percent", key=key), cells


def _mark(evaluation: Evaluation, row: Row, metric: Metric, group: str | None) -> str:
    """Return the mark of a cell: an asterisk, or a letter for each baseline that it is better
    than.
    """
    if evaluation.significance is None or metric.name != evaluation.significance.metric:
        return ""
    return row.test(group).mark


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
    """Return the title of a dataset's table: its name, sizes (and the counts in `more`) and
    fingerprint.
    """
    name = dataset.name + (f" ({dataset.reader})" if dataset.reader else "")
    return " · ".join(
        [name, _sizes(dataset, *more), f"data {dataset.fingerprint[:SHORT_FINGERPRINT]}"]
    )


def _sizes(dataset: Dataset, *more: str) -> str:
    return ", ".join([format_count(len(dataset), "question"), count_passages(dataset), *more])


def count_passages(dataset: Dataset) -> str:
    """Return the number of passages in words."""
    return format_count(len(dataset.passages) if has_passages(dataset) else 0, "passage")


def has_passages(dataset: Dataset) -> bool:
    """Return whether there is any text to read."""
    return any(passage.text.strip() for passage in dataset.passages)


def row_notes(row: Row) -> list[str]:
    """Return the notes of a row: how it was decided, tuned and trained."""
    notes = [row.answers.note] if row.answers and row.answers.note else []
    if row.runs > 1:
        notes.append(f"mean of {row.runs} runs{_deviations(row)}")
    if row.expected:
        notes.append("expectation")
    if row.ties is not None and row.ties != "partial":
        notes.append(f"ties: {row.ties}")
    if row.tuned_on is not None:
        notes.append(f"tuned on {row.tuned_on}" + (" = THIS DATA" if row.tuned_here else ""))
    if isinstance(row.threshold, float):
        notes.append(f"threshold {row.threshold:.6g}")
    notes += [
        f"{name} {_format_tuned(value)}"
        for name, value in row.tuned_params.items()
        if not isinstance(value, list)
    ]
    if row.copied is not None:
        notes += [] if row.trained_on is None else [f"trained on {row.trained_on}"]
        notes.append(
            f"learned from {row.copied.sum():,} of these {len(row.copied):,} questions (same "
            "passage or question)"
        )
    elif row.trained_on is not None:
        notes.append(
            f"learned from {row.trained_on}" + ", not from this dataset" * row.trained_elsewhere
        )
    if row.option_orders is not None:
        low, high = row.option_orders
        notes.append(
            f"{100 * low:.2f} to {100 * high:.2f} over {1 + N_ORDERS} orders of the options"
        )
    return notes


def _deviations(row: Row) -> str:
    """Return the standard deviations of the metrics over the runs of a row."""
    named = {METRICS[name].label: row.deviation(METRICS[name]) for name in row.outcomes.statistics}
    return (
        ", SD "
        f"{', '.join(f'{100 * of:.2f} ({label})' for label, of in named.items() if of is not None)}"
    )


def _format_tuned(value: Any) -> str:
    """Format the tuned value of a parameter; numbers in a tuple have four significant digits
    each.
    """
    return (
        "; ".join(f"{number:.4g}" for number in value) if isinstance(value, tuple) else str(value)
    )


def _protocol_notes(evaluation: Evaluation) -> list[str]:
    """Return the notes that every form of the table needs: on ties, intervals, significance and
    small groups.
    """
    notes = [*evaluation.notes, *_tie_notes(evaluation.rows)]
    notes += [] if evaluation.resampling is None else [evaluation.resampling.note]
    if evaluation.significance is not None:
        notes.append(evaluation.significance.note)
    groups = evaluation.shown_groups
    masks = groups.values()
    notes += copies_notes(evaluation.rows)
    notes += [DEFINING_NOTE] if any(map(evaluation.defining, groups)) else []
    return (
        [*notes, SMALL_NOTE] if any(mask.sum() < MIN_GROUP_QUESTIONS for mask in masks) else notes
    )


def copies_notes(rows: Sequence[Row]) -> list[str]:
    """Return a note on how rows that learned from some of the questions are compared; none if no
    row did.
    """
    if all(row.copied is None for row in rows):
        return []
    left = COPIES_NOTE if group_without_copies(rows) else f"{WITHOUT_COPIES}: no question is left"
    return [f"{left}; no system is ranked or tested on questions that it learned from"]


def _tie_notes(rows: Sequence[Row]) -> list[str]:
    """Return a note if rows that have ties have different policies for them; else none."""
    tied = [row for row in rows if row.tie_rate]
    policies = list(dict.fromkeys(row.ties for row in tied if row.ties is not None))
    if len(policies) < 2:
        return []
    names = {
        policy: ", ".join(row.name for row in tied if row.ties == policy) for policy in policies
    }
    described = "; ".join(f"{names[policy]}: {_TIES[policy]}" for policy in policies)
    fixed = next((row.ties for row in tied if row.block is Block.GIVEN), "partial")
    return [f"rows treat ties differently ({described}): --ties {fixed} makes them alike"]


def _protocol_caption(evaluation: Evaluation, title: str, has_bold: bool) -> str:
    """Return a caption that makes the table complete without the text of a paper."""
    items = ["Metrics in percent"]
    ties = {row.ties for row in evaluation.rows if row.ties is not None}
    if len(ties) == 1 and evaluation.dataset.task is not Task.MULTIPLE_ANSWER:
        items.append(_TIES[ties.pop()])
    if any(row.expected for row in evaluation.rows):
        items.append("expectations are in closed form")
    items += [_BOLD] if has_bold else []
    return ". ".join([title, "; ".join([*items, *_protocol_notes(evaluation)])]) + "."
