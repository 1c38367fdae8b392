"""Floors of known datasets, in a file that comes with the package; and how far a value is above
them.

Nothing is computed and no data is read, so this module imports neither NumPy nor the datasets'
readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.cache import cache_folder
from classic_rc.results.literature import PublishedRow, load_published
from classic_rc.tables import Cell, Column, RowGroup, Table, render
from classic_rc.tables.model import fill_rows, frame_of_records
from classic_rc.text.scorers import SCORERS

if TYPE_CHECKING:
    import pandas


SCHEMA = 2
"""The version of the format of ``floor.json``."""

UNTRAINED, TRAINED, PUBLISHED = "learns nothing", "trained", "published"
"""The blocks of rows, as :class:`classic_rc.results.outcomes.Block` names them."""

WITHOUT_COPIES = "without copies"
"""The group that :data:`classic_rc.results.grouping.WITHOUT_COPIES` names."""

_MAX_SHOWN = 8  # splits, in messages

PRIOR = "prior"
"""The row of a ranker that learned from another dataset, whose fitted file does not ship."""

CHANCE = "random"
"""The system whose expectation is chance."""

METRIC_NAMES: Mapping[str, str] = {
    "accuracy": "Acc.",
    "f1_a": "F1a",
    "f1_m": "F1m",
    "em0": "EM0",
    "em1": "EM1",
    **{name: label for scorer in SCORERS.values() for name, label in scorer.labels.items()},
    "superglue_f1_m": "F1m (SuperGLUE)",
    "quoref_em": "EM",
    "quoref_f1": "F1",
}
"""The headers of metrics, as :data:`classic_rc.metrics.base.METRICS` has them."""


@dataclass(frozen=True, slots=True)
class FloorGroup:
    """The results of a system on some of a dataset's questions."""

    questions: int
    metrics: Mapping[str, float]
    intervals: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class FloorRow:
    """The results of one system on a dataset. Numbers are shares of 1."""

    system: str  # a specification, as `-s` takes it
    learns: bool  # from gold answers
    signature: str
    metrics: Mapping[str, float]
    intervals: Mapping[str, Sequence[float]]  # 95 %
    above: Mapping[str, Sequence[float]]  # the intervals of its distances from chance and floor
    expected: bool  # an expectation in closed form
    ties: str | None  # the tie policy
    tie_rate: float | None
    trained_on: str | None
    tuned_on: str | None
    tuned_here: bool  # on the data that it reports
    version: str  # of classic_rc
    outdated: bool  # whether that version made it, and today's gives other digits
    # by value of the dataset's key `by`, and without copies if a row has any
    groups: Mapping[str, FloorGroup]

    @property
    def is_out_of_fold(self) -> bool:
        """Whether it learned in folds of the data that it reports."""
        return re.match(r"cv\d+\b", self.trained_on or "") is not None

    @property
    def has_copies(self) -> bool:
        """Whether it learned from some of the questions."""
        return "|copied:" in self.signature


@dataclass(frozen=True)
class FloorDataset:
    """A dataset and the results on it."""

    name: str
    reader: str | None
    split: str | None
    task: str
    language: str
    fingerprint: str
    passages: int
    questions: int
    candidates: int
    metric: str  # the primary one
    by: str | None  # the key of the groups
    cv: int | None  # the folds of rows that are trained or tuned out of fold
    group: str | None  # the key of what never straddles folds; None for passages
    official: Sequence[str] | None  # the dataset and split as published figures name them
    cites: Sequence[str]  # keys of references
    verified: str  # how it is known that today's code makes the rows
    date: str
    notes: Sequence[str]
    # of the floor, if it is chosen on this data: each resample has its own best system
    floor_interval: Sequence[float] | None
    left_out: Sequence[str]  # the systems whose rows of earlier code today's code does not make
    rows: Sequence[FloorRow]
    dev: FloorDataset | None = None  # the development split of the same dataset

    @cached_property
    def chance(self) -> FloorRow:
        """The row of random choice."""
        return next(row for row in self.rows if row.system == CHANCE)

    @cached_property
    def floor(self) -> FloorRow:
        """The best row that learns nothing and was not tuned on this data. It is chosen on the
        development split, if there is one.
        """
        untrained = {row.system: row for row in self.rows if not row.learns}
        judged = self if self.dev is None else self.dev
        best = judged.best(row for row in judged.rows if row.system in untrained)
        return self.chance if best is None else untrained[best.system]

    def trained(self, *, out_of_fold: bool) -> FloorRow | None:
        """Return the best row that learned from training data, or in folds of this data."""
        learned = (row for row in self.rows if row.learns and row.system != PRIOR)
        return self.best(row for row in learned if row.is_out_of_fold == out_of_fold)

    @property
    def prior(self) -> FloorRow | None:
        """The row of a ranker that learned from another dataset; None if it was not run."""
        return next((row for row in self.rows if row.system == PRIOR), None)

    def best(self, rows: Iterable[FloorRow]) -> FloorRow | None:
        """Return the row with the highest value in the primary metric on questions that are not
        copied, of those not tuned on this data.
        """
        untuned = [row for row in rows if not row.tuned_here]
        fair = [row for row in untuned if WITHOUT_COPIES in row.groups or not row.has_copies]
        return max(fair, key=self.fair_value, default=None)

    def value(self, row: FloorRow) -> float:
        """Return a row's value in the primary metric."""
        return row.metrics[self.metric]

    def fair_value(self, row: FloorRow) -> float:
        """Return a row's value on the questions that are not copied from training data."""
        return row.groups.get(WITHOUT_COPIES, row).metrics[self.metric]

    def fair_interval(self, row: FloorRow) -> tuple[float, float] | None:
        """Return the interval of :meth:`fair_value`, or None."""
        return bounds(row.groups.get(WITHOUT_COPIES, row).intervals, self.metric)

    @cached_property
    def published(self) -> list[PublishedRow]:
        """The published figures of all questions in the primary metric."""
        about = (*(self.official or ()), self.metric, None)
        figures = []
        for figure in load_published().rows:
            if figure.value is None or figure.status == "unverified":
                continue
            if (figure.dataset, figure.split, figure.metric, figure.subset) == about:
                figures.append(figure)
        return figures

    def best_published(self, kind: str) -> PublishedRow | None:
        """Return the highest published figure of ``"human"`` or ``"classical"``, that is
        non-neural, systems.

        Where papers print several figures for one system, its lowest counts.
        """
        lowest: dict[str, PublishedRow] = {}
        for figure in sorted(self.published, key=lambda figure: figure.share):
            if load_published().kind(figure.system) == kind:
                lowest.setdefault(figure.system, figure)
        return max(lowest.values(), key=lambda figure: figure.share, default=None)


SHIPPED = Path(__file__).with_name("floor.json")
"""The file of floors that comes with the package."""


def user_file() -> Path:
    """Return the place of the user's own file of floors, whether it is there or not."""
    return cache_folder() / "floors.json"


def load_floors() -> Mapping[str, FloorDataset]:
    """Return the datasets that come with the package and those of the user's file, by name.

    A dataset of the user's file replaces the one of the same name. A file that is damaged is a
    DataError.
    """
    paths = [path for path in (SHIPPED, user_file()) if path.exists()]
    # A file is read again after it changed.
    return _load(*((path, path.stat().st_mtime_ns) for path in paths))


@cache
def _load(*versions: tuple[Path, int]) -> Mapping[str, FloorDataset]:
    entries = [entry for path, _ in versions for entry in read_entries(path)]
    return parse_floors({entry["name"]: entry for entry in entries}.values())


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file of floors; none if there is no file. Another form is a
    DataError.
    """
    if not path.exists():
        return []
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        schema, entries = plain["schema"], list(plain["datasets"])
        if schema == SCHEMA:
            parse_floors(entries)
            return entries
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        schema = f"{type(error).__name__}: {error}"
    raise DataError(
        "not a file of floors that this version reads",
        source=str(path),
        field="schema",
        found=str(schema),
        expected=str(SCHEMA),
        hint="Move it away, and add the records again: classic-rc floor --add RECORD",
    )


def parse_floors(entries: Iterable[Mapping[str, Any]]) -> dict[str, FloorDataset]:
    """Return the datasets of entries in the form of ``floor.json``, by name; another form is a
    TypeError or KeyError.
    """
    floors = {}
    for entry in entries:
        rows = tuple(map(row_from_entry, entry["rows"]))
        floors[entry["name"]] = FloorDataset(**{**entry, "rows": rows})
    return {
        name: replace(floor_dataset, dev=find_dev(name, floors))
        for name, floor_dataset in floors.items()
    }


def find_dev(name: str, floors: Mapping[str, FloorDataset]) -> FloorDataset | None:
    """Return the floor of the development split that belongs to a test split, or None."""
    stem, split = name[: -len("test")], name[-len("test") :]
    return floors.get(f"{stem}dev") if split == "test" and stem.endswith((":", ".")) else None


def floor(name: str) -> Floor:
    """Return the floor of a dataset that is known: results, intervals and signatures, without any
    data.

    Parameters
    ----------
    name : str
        ``NAME:SPLIT``, such as ``"race:test"``; see ``classic-rc floor`` for the list.

    Raises
    ------
    UsageError
        The package has no results for it.

    Examples
    --------
    >>> found = floor("race:test")
    >>> found.dataset.questions, found.dataset.floor.system
    (4934, 'lexical')
    """
    floors = load_floors()
    dataset, _, split = name.lower().partition(":")
    split = {"val": "dev", "validation": "dev", "valid": "dev"}.get(split, split)
    floor_dataset = floors.get(name) or floors.get(f"{dataset}:{split}")
    if floor_dataset is not None:
        return Floor(floor_dataset)
    from classic_rc.datasets.fetch import named_datasets  # it loads NumPy

    siblings = [known_name for known_name in floors if known_name.partition(":")[0] == dataset]
    fetched = named_datasets().get(dataset)
    if not siblings and fetched is None:
        names = {known_name.partition(":")[0] for known_name in (*floors, *named_datasets())}
        raise unknown_name("dataset", dataset, sorted(names))
    others = f"; there are {', '.join(siblings)}" if siblings else ""
    splits = () if fetched is None else fetched.splits
    if split in splits:
        problem = f"{name} is not computed yet: classic-rc floor {dataset}:{split} --compute"
    else:
        choices = ", ".join(f"{dataset}:{split_name}" for split_name in list(splits)[:_MAX_SHOWN])
        can_be = f"; --compute can be given for {choices}" if choices else ""
        problem = f"no results of {name} come with the package{can_be}"
    raise UsageError(
        f"{problem}{others}",
        field="dataset",
        found=name,
        expected=", ".join(siblings) or "a dataset of the list",
    )


@dataclass(frozen=True)
class Floor:
    """The floor of one dataset: a table, a data frame, and the rows behind them."""

    dataset: FloorDataset
    by: str | None = field(default=None)  # also a column for each group

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas frame with a row per system, with numbers as shares and what people do
        not see.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        return frame_of_records(self.table().records())

    def __str__(self) -> str:
        return render(self.table(), "table").rstrip("\n")

    def _repr_html_(self) -> str:
        return render(self.table(), "html")

    def table(self) -> Table:
        """Return the rows as a table: those that learn nothing, those that are trained, and
        published ones.
        """
        dataset = self.dataset
        if self.by is not None and self.by != dataset.by:
            raise UsageError(
                f"the results of {dataset.name} are not kept by {self.by}",
                field="--by",
                found=self.by,
                expected=dataset.by or "no --by",
            )
        title = (
            f"{dataset.name} · {dataset.questions:,} questions, {dataset.passages:,} passages · "
            f"data {dataset.fingerprint[:8]}"
        )
        # The primary metric comes first.
        metrics = sorted(dataset.chance.metrics, key=lambda name: name != dataset.metric)
        columns = [Column("system")]
        columns += [Column(METRIC_NAMES[name], "percent", key=name) for name in metrics]
        columns += above_columns()
        for value, group in dataset.chance.groups.items():
            if self.by is not None or value == WITHOUT_COPIES:
                columns.append(Column(f"{value} ({group.questions})", "percent", key=value))
        columns += [Column("ties", "percent", 1, "tie_rate"), Column("notes", "note")]
        columns += [Column(key, hidden=True) for key in _HIDDEN]
        untrained = [self._cells(row) for row in dataset.rows if not row.learns]
        trained = [self._cells(row) for row in dataset.rows if row.learns]
        published = [self._published_cells(figure) for figure in dataset.published]
        blocks = {UNTRAINED: untrained, TRAINED: trained, PUBLISHED: published}
        groups = [RowGroup(fill_rows(columns, rows), name) for name, rows in blocks.items() if rows]
        signatures = {row.system: row.signature for row in dataset.rows}
        facts = {"dataset": dataset.name, "split": dataset.split, "questions": dataset.questions}
        return Table(title, columns, groups, self.notes, signatures=signatures, facts=facts)

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers must know."""
        dataset = self.dataset
        best, label = dataset.floor, METRIC_NAMES[dataset.metric]
        chance = dataset.value(dataset.chance)
        below = [row.system for row in dataset.rows if dataset.value(row) < chance]
        n_untrained = sum(not row.learns for row in dataset.rows)
        notes = [
            f"chance: random; floor: {best.system}, the best in {label} of the {n_untrained} rows "
            f"that learn nothing: {self._choice()}",
            "above chance: (value - chance) / (1 - chance); above floor: (value - floor) / (1 - "
            "floor)",
            "in brackets: 95 % interval; of distances, and of test sets, the percentiles of 10,000 "
            "resamples of passages",
        ]
        if below:
            notes.append(f"below chance: {', '.join(below)}")
        notes += dataset.notes
        notes.append(f"{dataset.verified} (classic_rc {best.version}, {dataset.date})")
        if dataset.left_out:
            left_out = ", ".join(dataset.left_out)
            notes.append(f"left out, because today's code gives other rows: {left_out}")
        keys = [best.system.partition(",")[0]]
        if dataset.cites:
            keys.append(str(dataset.reader))
        notes.append(
            f"to cite: classic-rc list --bibtex {' '.join(dict.fromkeys(keys))}; classic-rc floor "
            f"{dataset.name} -v for signatures"
        )
        return notes

    def _choice(self) -> str:
        """Return on which data the floor was chosen."""
        dataset = self.dataset
        if dataset.dev is not None:
            return f"it was chosen on {dataset.dev.name}"
        if dataset.floor_interval is None:
            return "it was chosen on this data"
        low, high = (f"{100 * bound:.1f}" for bound in dataset.floor_interval)
        return f"it was chosen on this data, and [{low}, {high}] if each resample chooses again"

    def _cells(self, row: FloorRow) -> dict[str, Any]:
        dataset, is_floor = self.dataset, row is self.dataset.floor
        cells = {key: getattr(row, key) for key in ("system", "tie_rate", *_HIDDEN)}
        for value, group in row.groups.items():
            interval = bounds(group.intervals, dataset.metric)
            cells[value] = Cell(group.metrics[dataset.metric], interval)
        for name, share in row.metrics.items():
            cells[name] = Cell(share, bounds(row.intervals, name), bold=is_floor)
        distances = self._above(dataset.value(row))
        interval = bounds(row.above, "above_floor")
        distances["above_floor"] = Cell(distances["above_floor"], interval)
        return {**cells, **distances, "notes": "; ".join(_row_notes(row))}

    def _published_cells(self, figure: PublishedRow) -> dict[str, Any]:
        status = None if figure.status == "verified" else figure.status
        notes = "; ".join(filter(None, [status, figure.note, figure.source]))
        cells = {"system": figure.system, self.dataset.metric: figure.share}
        return {**cells, **self._above(float(figure.share)), "notes": notes}

    def _above(self, value: float) -> dict[str, Any]:
        dataset = self.dataset
        distances = above(value, dataset.value(dataset.chance), dataset.value(dataset.floor))
        return dict(zip(("above_chance", "above_floor"), distances, strict=True))


_HIDDEN = "expected ties trained_on tuned_on tuned_here version signature".split()


def bounds(intervals: Mapping[str, Sequence[float]], metric: str) -> tuple[float, float] | None:
    """Return the interval of a metric, or None."""
    low_high = intervals.get(metric)
    return None if low_high is None else (low_high[0], low_high[1])


def _row_notes(row: FloorRow) -> Iterator[str]:
    if row.expected:
        yield "expectation"
    if row.ties not in (None, "partial"):
        yield f"ties: {row.ties}"
    if row.tuned_on is not None:
        yield f"tuned on {row.tuned_on}" + (" = THIS DATA" if row.tuned_here else "")
    if row.outdated:
        yield f"made with {row.version}; today's code differs"
    if row.trained_on is not None:
        yield f"learned from {row.trained_on}" + ", some of these questions" * row.has_copies


def above(value: float, *bases: float) -> list[float | None]:
    """Return how far a value is from each base to 1: 0 at the base, 1 at the top, negative below
    the base.

    Examples
    --------
    >>> above(0.4, 0.25, 0.4), above(1.0, 1.0)
    ([0.2, 0.0], [None])
    """
    return [None if base >= 1 else round((value - base) / (1 - base), 12) for base in bases]


def above_columns() -> list[Column]:
    """Return the columns of :func:`above` for chance and floor."""
    return [
        Column("above chance", "percent", 1, "above_chance"),
        Column("above floor", "percent", 1, "above_floor"),
    ]


def find_by_fingerprint(fingerprint: str) -> FloorDataset | None:
    """Return the dataset with this content, whatever the name of its file; None if it is not
    known.
    """
    datasets = load_floors().values()
    return next((dataset for dataset in datasets if dataset.fingerprint == fingerprint), None)


def row_from_entry(entry: Mapping[str, Any]) -> FloorRow:
    """Return the row of an entry of ``floor.json``."""
    groups = {name: FloorGroup(**group) for name, group in entry["groups"].items()}
    return FloorRow(**{**entry, "groups": groups})
