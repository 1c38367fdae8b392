"""The table of one dataset's results: its title, a row per system, in blocks, and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from classic_rc.datasets.known_scorers import describe_scorers
from classic_rc.datasets.registry import is_log
from classic_rc.metrics.base import METRICS, Metric
from classic_rc.predictions import ANSWER_COUNTS
from classic_rc.questions import SHORT_FINGERPRINT, Dataset, Task
from classic_rc.results.grouping import MIN_GROUP_QUESTIONS, WITHOUT_COPIES, group_without_copies
from classic_rc.results.measure import GIVEN, Figure, Measured
from classic_rc.results.outcomes import N_ORDERS, Block, Row
from classic_rc.results.shared_results import SharedResults
from classic_rc.tables import Cell, Column, RowGroup, Table
from classic_rc.tables.model import baseline_letter, fill_rows, format_count
from classic_rc.text.scorers import DEFAULT_SCORER

SMALL_NOTE = f"in parentheses: groups of fewer than {MIN_GROUP_QUESTIONS} questions"

COPIES_NOTE = (
    f"{WITHOUT_COPIES}: only the questions that no system here learned from, nor from their "
    "passages"
)

DEFINING_NOTE = (
    "§: by construction: the group is the questions that this system solves, or does not solve"
)

_GIVEN, _MISSING = "given numbers, not compared", "not measured"
_FACTS = (
    "solver variant block expected tie_rate selected_share ties tuned_on tuned_here trained_on "
    "signature"
).split()
_TIES = {
    "partial": "tied best candidates share the credit",
    "first": "the first of the tied best candidates is the answer",
    "random": "one of the tied best candidates is drawn",
    "strict": "questions with tied best candidates count as wrong",
}


def result_table(
    dataset: Dataset,
    results: SharedResults,
    remarks: Sequence[str] = (),
    figures: Iterable[Figure] = (),
) -> Table:
    """Return the results of one dataset as a table: a row per system, metrics in percent, groups by
    main metric.

    Systems that learn nothing, trained systems, given scores and published figures are separate
    blocks of rows (:class:`~classic_rc.results.outcomes.Block`), with headings if there are
    several. Rows keep their order within a block. On the questions of a model's log, given scores
    come first. `remarks` are the first notes.
    """
    measures, order = list(_measures(results)), list(Block)
    if is_log(dataset):  # the model whose log the questions are from comes first
        order.sort(key=lambda block: block is not Block.GIVEN)
    blocks: dict[str, list[dict[str, Any]]] = {block.heading: [] for block in order}
    blocks[_GIVEN] = []
    blocks[_MISSING] = [{"system": name, "notes": why} for name, why in results.missing.items()]
    for i, row in enumerate(results.systems):
        blocks[row.block.heading].append(_system_cells(results, i, measures))
    # A system's figures from one source share a row.
    of_others: dict[tuple[str, str], dict[str, Any]] = {}
    for key, figure in results.place_figures(figures):
        head = {"system": figure.system, "notes": figure.note}
        cells = of_others.setdefault((figure.system, figure.source), head)
        cells[key] = _figure_cell(figure.number.measured)
    for (_, source), cells in of_others.items():
        blocks[_GIVEN if source == GIVEN else Block.PUBLISHED.heading].append(cells)
    columns = list(_result_columns(results, measures))
    filled = {heading: fill_rows(columns, rows) for heading, rows in blocks.items() if rows}
    has_headings = len(filled.keys() - {_MISSING}) > 1
    candidates = format_count(results.n_candidates, "candidate")
    notes = [*remarks, *_protocol_notes(results)]
    # A paper's caption has no fingerprint: signatures, which are comments in LaTeX, have it.
    described = f"{dataset.name}: {dataset_sizes(dataset, candidates)}"
    caption = f"{described}. {'; '.join([*_caption_items(results), *notes])}."
    groups = []
    for heading, rows in filled.items():
        is_shown = has_headings or heading == _MISSING
        groups.append(RowGroup(rows, heading if is_shown else None))
    rows_in_order = sorted(results.systems, key=lambda row: order.index(row.block))
    signatures = {row.name: row.short_signature for row in rows_in_order}
    facts = {"dataset": dataset.name, "split": dataset.split, "questions": len(dataset)}
    title = dataset_title(dataset, candidates)
    return Table(title, columns, groups, notes, caption, signatures, facts)


class _Measure(NamedTuple):
    """A metric on all questions or on a group, with its column."""

    metric: Metric
    group: str | None
    column: Column
    is_small: bool


def _measures(results: SharedResults) -> Iterator[_Measure]:
    """Yield the metrics and groups that people see, then those that only programs do."""
    visible = results.columns
    statistics = dict.fromkeys(name for row in results.systems for name in row.statistics)
    measured = product(map(METRICS.__getitem__, statistics), (None, *results.shown_groups))
    for metric, group in dict.fromkeys([*visible, *measured]):
        key, hidden = results.column_key(metric.name, group), (metric, group) not in visible
        size = "" if group is None else f" {group} ({results.mask(group).sum()})"
        column = Column(metric.label + size, "percent", key=key, hidden=hidden)
        yield _Measure(metric, group, column, results.is_small(group))


def _result_columns(results: SharedResults, measures: Sequence[_Measure]) -> Iterator[Column]:
    """Yield the columns of a result table: those that people see, then those for programs."""
    name, shares = "ties", ["tie_rate", "selected_share"]
    if results.task is Task.MULTIPLE_ANSWER:
        name, shares = "selected", shares[::-1]
    yield Column("system")
    yield from (measure.column for measure in measures if not measure.column.hidden)
    yield from (Column(name, "percent", 1, shares[0]), Column("notes", "note"))
    yield from (measure.column for measure in measures if measure.column.hidden)
    keys: list[str] = []
    if (tests := results.tests) is not None:
        tested = [measure.column.key for measure in measures if measure.metric.name == tests.metric]
        keys += [f"{key}_better_than" for key in tested] if tests.has_letters else []
        keys += [f"{key}_p" for key in tested]
    keys += ["solver", "variant", "block", "expected", shares[1], "ties", "threshold"]
    keys += ["tuned_on", "tuned_here", "trained_on", *ANSWER_COUNTS, "signature"]
    yield from (Column(key, hidden=True) for key in keys)


def _system_cells(results: SharedResults, i: int, measures: Sequence[_Measure]) -> dict[str, Any]:
    """Return the cells of a system's row by the keys of their columns; the best values are bold."""
    row, tests = results.systems[i], results.tests
    cells: dict[str, Any] = {key: getattr(row, key) for key in _FACTS}
    cells |= {key: row.answers and getattr(row.answers, key) for key in ANSWER_COUNTS}
    cells |= {"threshold": _threshold_text(row), "notes": "; ".join(row_notes(row))}
    bases = tests.baselines if tests is not None and tests.has_letters else ()
    letter = f" {baseline_letter(bases.index(row.name))}" if row.name in bases else ""
    cells["system"] = Cell(row.name + letter)
    for metric, group, column, is_small in measures:
        number, key = results.measure(metric, group)[i], column.key
        cells[key] = Cell(number.value, number.interval, number.mark, number.is_best, is_small)
        cells[f"{key}_p"] = number.test.p_value
        cells[f"{key}_better_than"] = ", ".join(bases[place] for place in number.test.beats)
    return cells


def _figure_cell(number: Measured) -> Cell:
    is_unknown = number.value != number.value
    return Cell("?" if is_unknown else number.shown(), number.interval)


def _threshold_text(row: Row) -> float | str | None:
    return ";".join(map(repr, row.threshold)) if isinstance(row.threshold, list) else row.threshold


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
    for name, value in row.tuned_params.items():
        if not isinstance(value, list):
            notes.append(f"{name} {_format_tuned(value)}")
    if row.copied is not None:
        if row.trained_on is not None:
            notes.append(f"trained on {row.trained_on}")
        sizes = f"{row.copied.sum():,} of these {len(row.copied):,} questions"
        notes.append(f"learned from {sizes} (same passage or question)")
    elif row.trained_on is not None:
        limit = ", not from this dataset" if row.trained_elsewhere else ""
        notes.append(f"learned from {row.trained_on}{limit}")
    if row.option_orders is not None:
        low, high = row.option_orders
        bounds = f"{100 * low:.2f} to {100 * high:.2f}"
        notes.append(f"{bounds} over {1 + N_ORDERS} orders of the options")
    return notes


def _deviations(row: Row) -> str:
    """Return the standard deviations of the metrics over the runs of a row."""
    deviations = {}
    for name in row.outcomes.statistics:
        metric = METRICS[name]
        deviation = row.deviation(metric)
        if deviation is not None:
            deviations[metric.label] = f"{100 * deviation:.2f} ({metric.label})"
    return f", SD {', '.join(deviations.values())}"


def _format_tuned(value: Any) -> str:
    """Format the tuned value of a parameter; numbers in a tuple have four significant digits
    each.
    """
    if isinstance(value, tuple):
        return "; ".join(f"{number:.4g}" for number in value)
    return str(value)


def _protocol_notes(results: SharedResults) -> list[str]:
    """Return the notes that every form of the table needs: on ties, intervals, significance and
    small groups.
    """
    notes = _tie_notes(results.systems)
    notes += [
        settings.note for settings in (results.resampling, results.tests) if settings is not None
    ]
    notes += copies_notes(results.systems)
    notes += [DEFINING_NOTE] if any(map(results.defining, results.shown_groups)) else []
    sizes = [mask.sum() for mask in results.shown_groups.values()]
    is_small = min(sizes, default=MIN_GROUP_QUESTIONS) < MIN_GROUP_QUESTIONS
    return [*notes, SMALL_NOTE] if is_small else notes


def copies_notes(rows: Sequence[Row]) -> list[str]:
    """Return a note on how rows that learned from some of the questions are compared; none if no
    row did.
    """
    if all(row.copied is None for row in rows):
        return []
    remark = COPIES_NOTE if group_without_copies(rows) else f"{WITHOUT_COPIES}: no question is left"
    return [f"{remark}; no system is ranked or tested on questions that it learned from"]


def _tie_notes(rows: Sequence[Row]) -> list[str]:
    """Return a note if rows that have ties have different policies for them; else none."""
    tied = [row for row in rows if row.tie_rate]
    policies = list(dict.fromkeys(row.ties for row in tied if row.ties is not None))
    if len(policies) < 2:
        return []
    descriptions = []
    for policy in policies:
        names = [row.name for row in tied if row.ties == policy]
        descriptions.append(f"{', '.join(names)}: {_TIES[policy]}")
    described = "; ".join(descriptions)
    fixed = next((row.ties for row in tied if row.block is Block.GIVEN), "partial")
    return [f"rows treat ties differently ({described}): --ties {fixed} makes them alike"]


def _caption_items(results: SharedResults) -> Iterator[str]:
    """Yield what makes the table complete without the text of a paper."""
    yield "Metrics in percent"
    ties = {row.ties for row in results.systems if row.ties is not None}
    if len(ties) == 1 and results.task is not Task.MULTIPLE_ANSWER:
        yield _TIES[ties.pop()]
    if any(row.expected for row in results.systems):
        yield "expectations are in closed form"
    columns = (results.measure(*column) for column in results.columns)
    if any(number.is_best for numbers in columns for number in numbers):
        yield "bold: the best row, without expectations and rows tuned on this data"


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
        **scorers_record(dataset),
    }


def scorers_record(dataset: Dataset) -> dict[str, Any]:
    """Return what JSON says of the scorers of span questions."""
    if dataset.task is not Task.SPAN:
        return {}
    scorers = list(dataset.scorers or (DEFAULT_SCORER,))
    return {"scorers": scorers, "scorers_proposed": dataset.scorers_proposed}


def dataset_title(dataset: Dataset, *more: str) -> str:
    """Return the title of a dataset's table: its name, sizes (and the counts in `more`) and
    fingerprint.
    """
    name = dataset.name + (f" ({dataset.reader})" if dataset.reader else "")
    parts = [name, dataset_sizes(dataset, *more)]
    if scorers := describe_scorers(dataset):
        parts.append(scorers)
    parts.append(f"data {dataset.fingerprint[:SHORT_FINGERPRINT]}")
    return " · ".join(parts)


def dataset_sizes(dataset: Dataset, *more: str) -> str:
    """Return the numbers of questions and passages in words, and the counts in `more`."""
    return ", ".join([format_count(len(dataset), "question"), count_passages(dataset), *more])


def count_passages(dataset: Dataset) -> str:
    """Return the number of passages in words."""
    return format_count(len(dataset.passages) if has_passages(dataset) else 0, "passage")


def has_passages(dataset: Dataset) -> bool:
    """Return whether there is any text to read."""
    return any(passage.text.strip() for passage in dataset.passages)
