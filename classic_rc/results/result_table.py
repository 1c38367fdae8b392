"""The table of one dataset's results: a row per system, in blocks, with notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

from classic_rc.datasets.registry import is_log
from classic_rc.metrics.base import METRICS, Metric
from classic_rc.predictions import ANSWER_COUNTS
from classic_rc.questions import Task
from classic_rc.results.dataset_titles import dataset_sizes, dataset_title
from classic_rc.results.grouping import MIN_GROUP_QUESTIONS, WITHOUT_COPIES, group_without_copies
from classic_rc.results.measure import Measured
from classic_rc.results.outcomes import N_ORDERS, Block, Row
from classic_rc.tables import Cell, Column, RowGroup, Table
from classic_rc.tables.model import Value, baseline_letter, format_count

if TYPE_CHECKING:
    from classic_rc.results.evaluation import Evaluation

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
    places = sorted(
        range(len(evaluation.rows)), key=lambda i: order.index(evaluation.rows[i].block)
    )
    rows = [evaluation.rows[i] for i in places]
    columns = list(_result_columns(evaluation, places))
    shown, width = [column for column, _ in columns if not column.hidden], len(columns)
    hidden: Sequence[Value] = [None] * (width - len(shown))
    measured = list(zip(*(cells for _, cells in columns), strict=True))
    of_block: dict[str, list[Sequence[Cell | Value]]] = {block.heading: [] for block in order}
    for row, cells in zip(rows, measured, strict=True):
        of_block[row.block.heading].append(cells)
    of_block[Block.PUBLISHED.heading] += [[*cells, *hidden] for cells in published]
    of_block[_GIVEN] = []
    for name, numbers in evaluation.given.items():
        by_column = {(number.metric, number.group): number.measured for number in numbers}
        about = [
            f"{number.questions:,} of the questions"
            for number in numbers[:1]
            if number.questions is not None
        ]
        shown_columns = evaluation.results.columns
        values = [
            _given_cell(by_column.get((metric.name, group))) for metric, group in shown_columns
        ]
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
        _protocol_caption(
            evaluation, f"{dataset.name}: {dataset_sizes(dataset, candidates)}", has_bold
        ),
        {row.name: row.short_signature for row in rows},
        {"dataset": dataset.name, "split": dataset.split, "questions": len(dataset)},
    )


def _given_cell(number: Measured | None) -> Cell:
    if number is None:
        return Cell(None)
    return Cell(
        number.value if number.printed is None else Decimal(number.printed).scaleb(-2),
        number.interval,
    )


def _result_columns(
    evaluation: Evaluation, places: Sequence[int]
) -> Iterator[tuple[Column, list[Cell]]]:
    """Yield the columns of a result table with their cells: those that people see, then those
    for programs.

    `places` are the places of the rows in the evaluation.
    """
    results, rows = evaluation.results, [evaluation.rows[i] for i in places]
    selects = evaluation.dataset.task is Task.MULTIPLE_ANSWER
    made = evaluation.significance
    bases = made.baselines if made is not None and made.has_letters else ()
    names = [
        f"{row.name} {baseline_letter(bases.index(row.name))}" if row.name in bases else row.name
        for row in rows
    ]
    yield Column("system"), list(map(Cell, names))
    for metric, group in results.columns:
        yield _metric_column(evaluation, places, metric, group)
    shares = [row.selected_share if selects else row.tie_rate for row in rows]
    key = "selected_share" if selects else "tie_rate"
    yield Column("selected" if selects else "ties", "percent", 1, key), list(map(Cell, shares))
    yield Column("notes", "note"), [Cell("; ".join(row_notes(row))) for row in rows]
    statistics = dict.fromkeys(name for row in rows for name in row.statistics)
    for name, group in product(statistics, (None, *results.shown_groups)):
        if (METRICS[name], group) not in results.columns:
            column, cells = _metric_column(evaluation, places, METRICS[name], group)
            yield replace(column, hidden=True), cells
    if evaluation.significance is not None:
        tested = METRICS[evaluation.significance.metric]
        tests = {
            tested.name + ("" if group is None else evaluation.group_key(group)): [
                results.measure(tested, group)[i].test for i in places
            ]
            for group in (None, *results.shown_groups)
        }
        for key, column_tests in tests.items() if evaluation.significance.has_letters else ():
            beaten = (evaluation.better_than(test)["better_than"] for test in column_tests)
            yield _fact(f"{key}_better_than", [", ".join(names) for names in beaten])
        for key, column_tests in tests.items():
            yield _fact(f"{key}_p", [test.p_value for test in column_tests])
    other = "tie_rate" if selects else "selected_share"
    for key in ("solver", "variant", "block", "expected", other, "ties"):
        yield _fact(key, [getattr(row, key) for row in rows])
    yield _fact("threshold", list(map(_threshold_text, rows)))
    for key in ("tuned_on", "tuned_here", "trained_on"):
        yield _fact(key, [getattr(row, key) for row in rows])
    for key in ANSWER_COUNTS:
        yield _fact(key, [row.answers and getattr(row.answers, key) for row in rows])
    yield _fact("signature", [row.signature for row in rows])


def _fact(key: str, values: Sequence[Value]) -> tuple[Column, list[Cell]]:
    return Column(key, hidden=True), list(map(Cell, values))


def _threshold_text(row: Row) -> float | str | None:
    return ";".join(map(repr, row.threshold)) if isinstance(row.threshold, list) else row.threshold


def _metric_column(
    evaluation: Evaluation, places: Sequence[int], metric: Metric, group: str | None
) -> tuple[Column, list[Cell]]:
    """Return the column of a metric on all questions or on a group; the best values are bold."""
    results = evaluation.results
    label, key, is_small = metric.label, metric.name, False
    if group is not None:
        n_questions = int(results.mask(group).sum())
        is_small = n_questions < MIN_GROUP_QUESTIONS
        label, key = f"{label} {group} ({n_questions})", key + evaluation.group_key(group)
    measured = results.measure(metric, group)
    cells = [
        Cell(number.value, number.interval, number.mark, number.is_best, is_small)
        for number in (measured[i] for i in places)
    ]
    return Column(label, "percent", key=key), cells


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
    results = evaluation.results
    notes += copies_notes(evaluation.rows)
    notes += [DEFINING_NOTE] if any(map(results.defining, results.shown_groups)) else []
    sizes = [mask.sum() for mask in results.shown_groups.values()]
    return (
        [*notes, SMALL_NOTE]
        if min(sizes, default=MIN_GROUP_QUESTIONS) < MIN_GROUP_QUESTIONS
        else notes
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
