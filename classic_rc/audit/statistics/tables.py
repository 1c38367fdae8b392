"""Tables of statistics: a common table for any data, and each paper's own table with its published figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from classic_rc.audit.statistics.measures import (
    COMMON_STATISTICS,
    AnalyzerCounter,
    DatasetContents,
    Measure,
    MeasuredValues,
    Statistic,
    TokenCounter,
    pool_measures,
)
from classic_rc.audit.statistics.papers import PAPER_TABLES, PaperRow, PaperTable, PublishedValue
from classic_rc.datasets.official import OfficialPart, match_official_parts
from classic_rc.questions import Dataset

_ALL = "all"
_SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class StatisticsRow:
    """A statistic with its measure in each column.

    Parameters
    ----------
    statistic : Statistic
    measures : tuple of Measure or None
        One per column; None if the column has nothing to measure.
    published : tuple of number, (mean, s.d.) or None
        The paper's figures, one per column.
    """

    statistic: Statistic
    measures: tuple[Measure | None, ...]
    published: tuple[PublishedValue | None, ...]


@dataclass(frozen=True)
class StatisticsTable:
    """A table of statistics, without layout.

    Parameters
    ----------
    title : str
    columns : tuple of str
        The columns' headings.
    rows : tuple of StatisticsRow
    notes : tuple of str
        Sentences below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[StatisticsRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def has_published(self) -> bool:
        """Whether any row has a published figure, as in a paper's table."""
        return any(figure is not None for row in self.rows for figure in row.published)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; shares are fractions, published figures are as printed."""
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [
                {
                    "statistic": row.statistic.label,
                    "definition": row.statistic.definition,
                    "values": [measure and measure.to_dict() for measure in row.measures],
                    "published": [list(f) if isinstance(f, tuple) else f for f in row.published],
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class DatasetStatistics:
    """All statistics of some datasets.

    Parameters
    ----------
    common : StatisticsTable
        One column per dataset and split and, if all are of one dataset, a column for all.
    papers : tuple of StatisticsTable
        The papers' own tables about these datasets.
    lengths : dict of str to dict of str to Values
        For histograms: by dataset and split, the tokens per passage, question and candidate.
    """

    common: StatisticsTable
    papers: tuple[StatisticsTable, ...]
    lengths: dict[str, dict[str, MeasuredValues]]

    @property
    def tables(self) -> tuple[StatisticsTable, ...]:
        """The papers' tables, then the common one."""
        return (*self.papers, self.common)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the lengths."""
        return {"common": self.common.to_dict(), "papers": [table.to_dict() for table in self.papers]}


def describe_datasets(datasets: Sequence[Dataset], analyzer: str = "word") -> DatasetStatistics:
    """Compute the statistics of datasets.

    Parameters
    ----------
    datasets : sequence of Dataset
        Splits of one dataset, or different datasets. A dataset with several splits is divided into them.
    analyzer : str
        The analyzer that defines tokens in the common table. Papers' tables have their own definitions.

    Returns
    -------
    DatasetStatistics

    Raises
    ------
    UsageError
        The analyzer is unknown.

    Examples
    --------
    >>> from classic_rc.datasets import load
    >>> table = describe_datasets([load("sample:single-choice")]).common
    >>> [(row.statistic.label, row.measures[0].value) for row in table.rows[:2]]
    [('passages', 6), ('questions', 24)]
    """
    parts = [part for dataset in datasets for part in sorted(match_official_parts(dataset), key=_sort_key)]
    counter = AnalyzerCounter(analyzer)
    splits = [split for _, part in parts for split in _iter_splits(part)]
    kinds = {(origin.dataset if origin else part.reader, part.task) for origin, part in parts}
    contents = [DatasetContents(split, counter) for split in splits]
    together = len(splits) > 1 and len(kinds) == 1
    common = _common_table([split.name for split in splits], contents, together, analyzer)
    lengths = {
        split.name: {
            "passage": MeasuredValues(content.passages.lengths),
            "question": MeasuredValues(content.questions.lengths),
            "candidate": MeasuredValues(content.candidates.lengths),
        }
        for split, content in zip(splits, contents, strict=True)
    }
    papers = tuple(
        _paper_table(paper, own)
        for paper in PAPER_TABLES
        if (own := [(origin, part) for origin, part in parts if origin and origin.dataset in paper.datasets])
    )
    return DatasetStatistics(common, papers, lengths)


def _sort_key(part: tuple[OfficialPart | None, Dataset]) -> tuple[str, int]:
    origin, dataset = part
    known = dataset.split in _SPLITS
    return origin.dataset if origin else "", _SPLITS.index(str(dataset.split)) if known else len(_SPLITS)


def _iter_splits(dataset: Dataset) -> Iterator[Dataset]:
    """Yield the dataset, or its splits if its questions' `meta` names several."""
    names = list(dict.fromkeys(str(question.meta["split"]) for question in dataset if "split" in question.meta))
    if len(names) < 2:
        yield dataset
        return
    for name in names:
        own = dataset.filter(lambda question, name=name: str(question.meta.get("split")) == name)  # type: ignore[misc]
        yield replace(own, name=f"{dataset.name}.{name}", split=name)


def _common_table(
    names: list[str], contents: list[DatasetContents], together: bool, analyzer: str
) -> StatisticsTable:
    rows = []
    for statistic in COMMON_STATISTICS:
        measures = [statistic.measure(content) for content in contents]
        if together:
            measures.append(pool_measures(measures))
        if any(not isinstance(m, MeasuredValues) or len(m.numbers) for m in measures):
            rows.append(StatisticsRow(statistic, tuple(measures), (None,) * len(measures)))
    columns = (*names, _ALL) if together else tuple(names)
    return StatisticsTable("Statistics", columns, tuple(rows), (f"Tokens come from the analyzer {analyzer}.",))


def _paper_table(paper: PaperTable, parts: list[tuple[OfficialPart, Dataset]]) -> StatisticsTable:
    counter = paper.counter()
    columns = [(name, list(_column_contents(paper, name, parts, counter))) for name in paper.columns]
    if paper.total is not None:
        columns.append((paper.total, [content for _, contents in columns for content in contents]))
    printed = {name for row in paper.rows for name in row.published}
    columns = [(name, contents) for name, contents in columns if contents or name in printed]
    rows = tuple(
        StatisticsRow(
            row,
            tuple(_pool_measures(row, contents) for _, contents in columns),
            tuple(row.published.get(name) for name, _ in columns),
        )
        for row in paper.rows
    )
    notes = (*paper.notes, *_missing_splits(paper, parts))
    return StatisticsTable(paper.title, tuple(name for name, _ in columns), rows, notes)


_Content = tuple["str | None", DatasetContents]
"""A split's name and the part of its contents that belongs to one column."""


def _column_contents(
    paper: PaperTable, column: str, parts: list[tuple[OfficialPart, Dataset]], counter: TokenCounter
) -> Iterator[_Content]:
    for origin, part in parts:
        questions = [q for q in part if paper.column_of(origin.dataset, origin.split, q) == column]
        if questions:
            yield origin.split, DatasetContents(replace(part, questions=questions), counter)


def _pool_measures(row: PaperRow, contents: list[_Content]) -> Measure | None:
    measures = [row.measure(content) for split, content in contents if row.split in (None, split)]
    return pool_measures(measures) if measures else None


def _missing_splits(paper: PaperTable, parts: list[tuple[OfficialPart, Dataset]]) -> Iterator[str]:
    available = {origin.split for origin, _ in parts}
    missing = [split for split in paper.splits if split not in available]
    if missing:
        yield (
            f"The paper's figures cover {', '.join(paper.splits)}; these are without {', '.join(missing)}, so they "
            "may differ in the last digit."
        )
