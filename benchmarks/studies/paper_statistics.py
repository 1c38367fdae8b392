"""The tables of statistics that papers print about their datasets, with each paper's own
definitions.

Run ``python -m benchmarks.studies.paper_statistics DATA…``: our figures and the paper's. MCTest
(Richardson et al. 2013, Table 3), RACE (Lai et al. 2017, Tables 2 and 3), MultiRC (Khashabi et al.
2018, Table 2), ReCoRD (Zhang et al. 2018, Table 1).

RACE's lengths count the spaces between Treebank tokens, one less than the tokens, as its released
preprocessing does; sentences are this package's, not Punkt's, which needs a download. MCTest and
ReCoRD do not define a word, and whitespace-separated ones come closest. MultiRC's numbers of
options differ from the release's; it does not define distance or verbatim, and no rule tried gives
its share of yes/no questions (27.57 %). Figures of papers that cover test data may differ in the
last digit from those of train and dev.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

import classic_rc
from classic_rc.datasets.official import match_official_parts
from classic_rc.datasets.statistics import (
    COMMON_STATISTICS,
    DatasetContents,
    Measure,
    MeasuredValues,
)
from classic_rc.equality import normalised_text
from classic_rc.questions import Dataset, Question
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.text.encode import TextEncoder

_COMMON = {statistic.label: statistic.measure for statistic in COMMON_STATISTICS}
Figure = float | tuple[float, float] | None


class Row(NamedTuple):
    """A statistic as a paper defines it, with the paper's figures: a value, or a mean and a
    standard deviation.
    """

    label: str
    measure: Callable[[DatasetContents], Measure]
    published: tuple[Figure, ...]  # of each column
    split: str | None = None  # the only split that it counts


class Paper(NamedTuple):
    """A paper's own table."""

    datasets: tuple[str, ...]  # by the names of `match_official_parts`
    columns: tuple[str, ...]
    column_of: Callable[[str, str | None, Question], str | None]  # from dataset, split and question
    analyzer: str
    rows: tuple[Row, ...]


def blanks_between(
    measure: Callable[[DatasetContents], Measure],
) -> Callable[[DatasetContents], MeasuredValues]:
    """Return a measure of the blanks between tokens, one less than the tokens (RACE's released
    preprocess.py).
    """

    def blanks(contents: DatasetContents) -> MeasuredValues:
        counted = measure(contents)
        assert isinstance(counted, MeasuredValues)
        return MeasuredValues(counted.numbers - 1)

    return blanks


def used_sentences(contents: DatasetContents) -> MeasuredValues:
    """Total the sentences that each question needs, as annotated."""
    used = [len(q.meta["sentences_used"]) for q in contents.dataset if q.meta.get("sentences_used")]
    return MeasuredValues(np.array(used, dtype=np.int64))


def sentence_distance(contents: DatasetContents) -> MeasuredValues:
    """Return the distances from one needed sentence to the next: 1 for neighbours."""
    used = (q.meta.get("sentences_used") for q in contents.dataset)
    gaps = [np.diff(sorted(own)) for own in used if own]
    return MeasuredValues(np.concatenate([np.empty(0, dtype=np.int64), *gaps]))


def verbatim(right: bool) -> Callable[[DatasetContents], MeasuredValues]:
    """Return a measure of whether the paragraph contains each right (wrong) option, ignoring
    case.
    """

    def measure(contents: DatasetContents) -> MeasuredValues:
        passages = {id(p): normalised_text(p.text) for p in contents.dataset.passages}
        found = [
            normalised_text(candidate.text) in passages[id(q.passage)]
            for q in contents.dataset
            if q.gold is not None
            for i, candidate in enumerate(q.candidates)
            if (i in q.gold) is right
        ]
        return MeasuredValues(np.array(found, dtype=np.bool_))

    return measure


def record_entities(contents: DatasetContents) -> MeasuredValues:
    """Total the entity mentions of each passage, including repeated names."""
    mentions = {id(q.passage): len(q.candidates) for q in contents.dataset}
    return MeasuredValues(np.array(list(mentions.values()), dtype=np.int64))


_LEVELS = {"middle": "RACE-M", "high": "RACE-H"}
_PASSAGE, _QUESTION, _OPTION = (
    _COMMON[f"tokens a {kind}"] for kind in ("passage", "question", "candidate")
)

PAPERS: dict[str, Paper] = {
    "MCTest": Paper(
        ("MC160", "MC500"),
        ("MC160", "MC500"),
        lambda dataset, split, question: dataset,
        "whitespace",
        (
            Row("stories", _COMMON["passages"], (160, 500)),
            Row("words a story", _PASSAGE, (204, 212)),
            Row("words a question", _QUESTION, (8.0, 7.7)),
            Row("words an answer", _OPTION, (3.4, 3.4)),
        ),
    ),
    "RACE": Paper(
        ("RACE",),
        ("RACE-M", "RACE-H", "all"),
        lambda dataset, split, question: _LEVELS.get(str(question.meta_value("level"))),
        "treebank",
        (
            Row("questions, train", _COMMON["questions"], (25421, 62445, 87866), "train"),
            Row("questions, dev", _COMMON["questions"], (1436, 3451, 4887), "dev"),
            Row("questions, test", _COMMON["questions"], (1436, 3498, 4934), "test"),
            Row("passage length", blanks_between(_PASSAGE), (231.1, 353.1, 321.9)),
            Row("question length", blanks_between(_QUESTION), (9.0, 10.4, 10.0)),
            Row("option length", blanks_between(_OPTION), (3.9, 5.8, 5.3)),
            Row("vocabulary", _COMMON["vocabulary"], (32811, 125120, 136629)),
        ),
    ),
    "MultiRC": Paper(
        ("MultiRC",),
        ("all",),
        lambda dataset, split, question: "all",
        "whitespace",
        (
            Row("tokens a paragraph", _PASSAGE, ((263.1, 92.4),)),
            Row("sentences a paragraph", _COMMON["sentences a passage"], ((14.3, 4.1),)),
            Row("tokens a question", _QUESTION, ((10.9, 4.8),)),
            Row("tokens an option", _OPTION, ((4.7, 5.5),)),
            Row("sentences used", used_sentences, ((2.37, 0.63),)),
            Row("distance between them", sentence_distance, ((2.4, 2.58),)),
            Row("options a question", _COMMON["candidates a question"], (5.44,)),
            Row("right options a question", _COMMON["right ones a question"], (2.58,)),
            Row("right options verbatim", verbatim(right=True), (0.3496,)),
            Row("wrong options verbatim", verbatim(right=False), (0.2584,)),
        ),
    ),
    "ReCoRD": Paper(
        ("ReCoRD",),
        ("train", "dev", "test"),
        lambda dataset, split, question: split,
        "whitespace",
        (
            Row("queries", _COMMON["questions"], (100730, 10000, 10000)),
            Row("unique passages", _COMMON["passages"], (65709, 7133, 7279)),
            Row("tokens a passage", _PASSAGE, (169.5, 168.6, 168.1)),
            Row("entities a passage", record_entities, (17.8, 17.5, 17.3)),
            Row("tokens a query", _QUESTION, (21.3, 22.1, 22.2)),
        ),
    ),
}


def measure_paper(
    paper: Paper, datasets: Iterable[Dataset]
) -> dict[str, dict[str, tuple[Measure | None, Figure]]]:
    """Return our measure and the paper's figure, by row and column."""
    encoder = TextEncoder(paper.analyzer)
    by_column: dict[str, list[tuple[str | None, DatasetContents]]] = {
        name: [] for name in paper.columns
    }
    for dataset in datasets:
        for origin, part in match_official_parts(dataset):
            if origin is None or origin.dataset not in paper.datasets:
                continue
            for name in paper.columns:
                own = [
                    q
                    for q in part
                    if name in ("all", paper.column_of(origin.dataset, origin.split, q))
                ]
                if own:
                    contents = DatasetContents(replace(part, questions=own), encoder)
                    by_column[name].append((origin.split, contents))
    found: dict[str, dict[str, tuple[Measure | None, Figure]]] = {}
    for row in paper.rows:
        for name, figure in zip(paper.columns, row.published, strict=True):
            measures = [
                row.measure(own) for split, own in by_column[name] if row.split in (None, split)
            ]
            found.setdefault(row.label, {})[name] = (
                reduce(add, measures) if measures else None,
                figure,
            )
    return found


def paper_table(name: str, datasets: Sequence[Dataset]) -> Table:
    """Return a paper's table, each of our figures next to the paper's."""
    paper = PAPERS[name]
    columns = [Column(name), *(Column(n) for column in paper.columns for n in (column, "paper"))]
    rows = [
        [
            label,
            *(
                text
                for measure, figure in cells.values()
                for text in (_shown(measure), _printed(figure))
            ),
        ]
        for label, cells in measure_paper(paper, datasets).items()
    ]
    return Table(name, columns, [RowGroup(rows)])


def _shown(measure: Measure | None) -> str:
    if measure is None or measure.value is None:
        return "–"
    if isinstance(measure, MeasuredValues):
        return f"{measure.value:,.2f} ({measure.spread:.2f})"
    return f"{measure.value:,}"


def _printed(figure: Figure) -> str:
    return (
        "–"
        if figure is None
        else f"{figure[0]} ({figure[1]})"
        if isinstance(figure, tuple)
        else f"{figure:,}"
    )


def main(paths: Sequence[str]) -> None:
    """Print the tables of the papers about the data."""
    datasets = [classic_rc.load(path) for path in paths]
    known = {
        origin.dataset
        for d in datasets
        for origin, _ in match_official_parts(d)
        if origin is not None
    }
    for name, paper in PAPERS.items():
        if known.intersection(paper.datasets):
            print(render(paper_table(name, datasets), "table"))


if __name__ == "__main__":
    main(sys.argv[1:])
