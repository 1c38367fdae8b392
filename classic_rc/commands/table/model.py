"""The table of a paper as data: columns, rows in blocks, and cells; and the choice of what it
shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal

from classic_rc.commands.table.data import PaperDataset
from classic_rc.errors import unknown_name
from classic_rc.metrics.base import Metric
from classic_rc.results.grouping import MIN_GROUP_QUESTIONS
from classic_rc.results.measure import Measured
from classic_rc.results.outcomes import Block


@dataclass(frozen=True)
class PaperColumn:
    """One metric on the questions of one dataset, or on a group of them."""

    dataset: str  # its label in the header
    metric: Metric
    metric_label: str
    group: str | None = None  # the value of the group as recorded; None for all questions
    group_label: str | None = None
    questions: int = 0
    is_tested: bool = False  # whether its systems were tested against the baseline
    # that choose the column: of its dataset, or of dataset and metric or group
    names: frozenset[str] = frozenset()
    above: str | None = None  # "chance" or "floor" if its values are measured from there

    @property
    def is_small(self) -> bool:
        """Whether the group is too small to call a number the best."""
        return self.group is not None and self.questions < MIN_GROUP_QUESTIONS


@dataclass(frozen=True)
class PaperRow:
    """One system, or the published figures of one system in one source."""

    name: str
    block: Block
    cells: tuple[Measured, ...]  # one per column
    cites: str | None = None  # key of a published row's BibTeX entry
    names: frozenset[str] = frozenset()  # that choose the row
    is_given: bool = False  # numbers that a suite gives


@dataclass(frozen=True)
class PaperTable:
    """A table of systems and datasets; :mod:`classic_rc.commands.table.formats` renders it."""

    columns: tuple[PaperColumn, ...]  # those of one dataset are next to each other
    rows: tuple[PaperRow, ...]  # those of one block are next to each other
    datasets: tuple[PaperDataset, ...]  # what the table is made of
    baselines: tuple[
        str, ...
    ] = ()  # the systems that others are tested against; see `Tested.beats`
    decimals: int = 1  # digits after the decimal point; equal printed numbers are equally good
    by: str | None = None  # the key of the groups
    layout: Literal["systems", "groups"] = "systems"  # what the rows are when it is rendered
    notes: tuple[str, ...] = ()  # what the reader of the table need not know and its author should

    @property
    def family(self) -> str:
        """What has the numbers of all systems on the same questions: a column or a row."""
        return "column" if self.layout == "systems" else "row"

    @property
    def has_letters(self) -> bool:
        """Whether a letter for each baseline takes the place of asterisks."""
        return len(self.baselines) > 1

    @property
    def cells(self) -> Iterator[Measured]:
        """All cells."""
        return (cell for row in self.rows for cell in row.cells)

    @property
    def shown_datasets(self) -> list[PaperDataset]:
        """The datasets that have a column, in the order of the columns."""
        by_label = {dataset.label: dataset for dataset in self.datasets}
        return [
            by_label[label] for label in dict.fromkeys(column.dataset for column in self.columns)
        ]

    @property
    def missing(self) -> list[str]:
        """A sentence for each reason why rows have no number on some datasets."""
        names_by_reason: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for row in self.rows:
            if row.block is Block.PUBLISHED:
                continue
            datasets_by_reason: dict[str, dict[str, None]] = {}
            for column, cell in zip(self.columns, row.cells, strict=True):
                if cell.value is None:
                    reason = cell.reason or "not in the record"
                    datasets_by_reason.setdefault(reason, {})[column.dataset] = None
            for reason, labels in datasets_by_reason.items():
                names_by_reason.setdefault((tuple(labels), reason), []).append(row.name)
        sentences = []
        for (datasets, reason), names in names_by_reason.items():
            sentences.append(f"no result of {', '.join(names)} on {', '.join(datasets)}: {reason}")
        return sentences

    def select(self, rows: str | None = None, columns: str | None = None) -> PaperTable:
        """Return the table with only some rows and columns, in the order of their names; no mark
        changes.

        Parameters
        ----------
        rows : str, optional
            Names of systems separated by commas; a name may have commas itself. Rows stay in
            blocks. By default all that have a number in the columns.
        columns : str, optional
            Datasets, ``DATASET:METRIC`` or ``DATASET:GROUP``, separated by commas.

        Raises
        ------
        UsageError
            A name is unknown.
        """
        table = self
        if columns is not None:
            column_indices = _choose("column", columns, [column.names for column in self.columns])
            labels = [self.columns[j].dataset for j in column_indices]
            column_indices.sort(key=lambda j: labels.index(self.columns[j].dataset))
            shown_columns = tuple(self.columns[j] for j in column_indices)
            shown_rows = []
            for row in self.rows:
                cells = tuple(row.cells[j] for j in column_indices)
                shown_rows.append(replace(row, cells=cells))
            table = replace(table, columns=shown_columns, rows=tuple(shown_rows))
        if rows is None:
            filled = (
                row for row in table.rows if any(cell.value is not None for cell in row.cells)
            )
            table = replace(table, rows=tuple(filled))
        else:
            row_indices = _choose("row", rows, [row.names for row in self.rows])
            row_indices.sort(key=lambda i: list(Block).index(self.rows[i].block))
            table = replace(table, rows=tuple(table.rows[i] for i in row_indices))
        without_best = []
        for j, column in enumerate(table.columns):
            if any(row.cells[j].is_best for row in table.rows):
                continue
            all_cells = [row.cells[self.columns.index(column)] for row in self.rows]
            if any(cell.is_best for cell in all_cells):
                without_best.append(f"{column.dataset} {column.group_label or column.metric_label}")
        notes = [*self.notes]
        if without_best:
            names = ", ".join(without_best)
            notes.append(f"no number is bold in {names}: the best system is not in the table")
        return replace(table, notes=tuple(notes))


def _choose(kind: str, text: str, names: Sequence[AbstractSet[str]]) -> list[int]:
    """Return the indices of what is named in a list separated by commas; names may have commas
    themselves.
    """
    known_names = set().union(*names)
    pieces = text.split(",")
    indices: list[int] = []
    while pieces:
        for length in range(len(pieces), 0, -1):
            name = ",".join(pieces[:length]).strip()
            if name in known_names:
                break
        else:
            raise unknown_name(kind, pieces[0].strip(), known_names)
        matching = [i for i, known in enumerate(names) if name in known]
        indices += [i for i in matching if i not in indices]
        pieces = pieces[length:]
    return indices
