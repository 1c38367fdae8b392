"""The audit of a dataset: what it takes to answer, cues, defects and copies, in one report."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.accepted import match_accepted, without_cues
from classic_rc.commands.check.annotators import Agreement, measure_agreement
from classic_rc.commands.check.conditional_logit import fit_model
from classic_rc.commands.check.cues import (
    Cue,
    describe_steps,
    order_features,
    rank_suspects,
)
from classic_rc.commands.check.features import build_features
from classic_rc.commands.check.header import INPUTS, Header, HeaderRow, share_found, spread_evenly
from classic_rc.commands.check.integrity import Finding, find_copies, find_own_defects, in_order
from classic_rc.commands.check.option_arrays import Floats, OptionTable
from classic_rc.commands.check.score_test import DRAWS, ScoreTest
from classic_rc.commands.check.span_views import MOST_QUESTIONS as MOST_SPAN_QUESTIONS
from classic_rc.commands.check.span_views import find_span_cues
from classic_rc.datasets.fields import ANNOTATORS
from classic_rc.datasets.known_sketches import known_sketches
from classic_rc.datasets.registry import TrainingData, as_dataset, dataset_names
from classic_rc.errors import DataError, UsageError
from classic_rc.folds import FoldPlan
from classic_rc.io.json import Seconds
from classic_rc.io.memory import release_memory
from classic_rc.io.progress import progress_bar
from classic_rc.questions import Dataset
from classic_rc.results.result_table import dataset_record
from classic_rc.solvers.learning import one_thread
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.tables.model import frame_of_records
from classic_rc.text.languages import dataset_language

if TYPE_CHECKING:
    import pandas

LEAST_QUESTIONS = 20
"""Cues are searched for in at least this many questions."""

_WHOLE_SHARE = 0.9
"""A split finds at least this share of its own questions by its sketch."""

MOST_QUESTIONS = 100_000
"""Cues are searched for in at most this many questions; more would add only rare or weak cues."""


@dataclass(frozen=True)
class CheckReport:
    """The results of a check."""

    dataset: Dataset
    header: tuple[
        HeaderRow, ...
    ] = ()  # how far a learner gets with parts of the input; empty if none could learn
    annotators: Agreement | None = None  # None if the data has no votes
    cues: tuple[Cue, ...] = ()  # by kind, and in the order in which each adds most
    without: float | None = (
        None  # options only without the cues that it can see: chance, and what it has beyond
    )
    defects: tuple[Finding, ...] = ()  # copies included
    n_features: int = 0  # how many features were tested
    analyzer: str = "word"
    seconds: float = 0.0
    accepted: Mapping[str, str] = field(default_factory=dict)  # findings left out, with reasons
    # names of accepted findings that are no feature's, each with the nearest one
    unknown: Mapping[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what was not done, and why
    leaking_fields: tuple[
        str, ...
    ] = ()  # that know options, also those that say what a chosen cue says
    missing: tuple[str, ...] = ()  # what an interrupted check did not do
    suspects: tuple[tuple[str, float], ...] = field(default=(), repr=False)
    """The questions that the cues answer best: the id, and the probability that the cues give to
    gold.
    """

    def _repr_html_(self) -> str:
        """Show the findings as a table in a notebook."""
        columns = [Column("the option that …"), Column("is"), Column("kind")]
        columns += [Column("coverage", "percent", 1), Column("precision", "percent", 1)]
        rows = [[c.label, c.direction, str(c.kind), c.coverage, c.precision] for c in self.cues]
        title = (
            f"{self.dataset.name} · {len(self.dataset):,} questions · {self.n_features:,} features"
        )
        return render(Table(title, columns, [RowGroup(rows)]), "html")

    def to_frame(self) -> pandas.DataFrame:
        """Return the cues as a pandas frame, one row per cue.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        return frame_of_records([cue.to_dict() for cue in self.cues])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "dataset": dataset_record(self.dataset),
            "header": [row.to_dict() for row in self.header],
            "annotators": self.annotators and self.annotators.to_dict(),
            "findings": [cue.to_dict() for cue in self.cues],
            "accepted": dict(self.accepted),
            "without": None if self.without is None else round(self.without, 6),
            "defects": [finding.to_dict() for finding in self.defects],
            "features": self.n_features,
            "suspects": [{"id": id_, "p": round(p, 6)} for id_, p in self.suspects],
            "notes": list(self.notes),
            "missing": list(self.missing),
            "seconds": Seconds(check=self.seconds),
        }


class CheckInterrupted(KeyboardInterrupt):
    """A check was interrupted.

    Attributes
    ----------
    report : CheckReport
        What was found before.
    """

    def __init__(self, report: CheckReport) -> None:
        super().__init__(f"the check of {report.dataset.name} was interrupted")
        self.report = report


def labelled_part(dataset: Dataset) -> Dataset:
    """Return the questions whose gold is known; all questions if all gold is hidden."""
    n_labelled = sum(question.gold is not None for question in dataset)
    if n_labelled in (0, len(dataset)):
        return dataset
    return dataset.filter(lambda question: question.gold is not None)


def check_dataset(
    dataset: Dataset,
    *,
    train: TrainingData | None = None,
    folds: int = 5,
    group: str | None = None,
    analyzer: str | None = None,
    header: bool = True,
    duplicates: bool = True,
    accepted: Mapping[str, str] | None = None,
    without_fields: Iterable[str] = (),
    draws: int = DRAWS,
    seed: int = 0,
    progress: bool = False,
) -> CheckReport:
    """Check whether a dataset can be answered without comprehension, and whether its data is sound.

    Questions whose gold is hidden are only searched for defects and copies.

    Parameters
    ----------
    dataset : Dataset
    train : Dataset or sequence of Dataset, optional
        Training data, which is searched for copies.
    folds : int
        The number of folds of passages in which the header's learners learn.
    group : str, optional
        A field whose equal values stay in one fold.
    analyzer : str, optional
        Makes words of the texts; by default ``word``, or ``char`` for scripts without spaces
        between words.
    header : bool
        Whether learners measure what it takes to answer.
    duplicates : bool
        Whether to search for copies.
    accepted : Mapping of str to str, optional
        Names or ids of cues that are accepted, with the reason of each. They are neither found
        nor a part of the model.
    without_fields : iterable of str
        Fields that are not searched for cues.
    draws : int
        How often gold is drawn for the bound.
    seed : int
    progress : bool
        Whether to show progress on stderr during long checks.

    Returns
    -------
    CheckReport

    Raises
    ------
    CheckInterrupted
        The user interrupted the check (Ctrl-C). It has the report of what was found so far.
    """
    start, train = time.perf_counter(), as_dataset(train)
    labelled = labelled_part(dataset)
    analyzer = analyzer or dataset_language(labelled).analyzer
    contents: dict[str, Any] = {"analyzer": analyzer}
    missing = ["defects", "cues", "header", "copies"]
    with progress_bar(dataset.name, len(missing), progress) as advance, one_thread():

        def begin(stage: str) -> None:
            release_memory()
            advance.stage(stage)

        try:
            begin("defects")
            findings = contents["defects"] = find_own_defects(dataset)
            missing.remove("defects")
            remarks: tuple[str, ...] = ()
            try:
                contents["annotators"] = measure_agreement(dataset, FoldPlan(folds, group))
            except DataError as error:
                remarks = (f"no annotators: {error}",)
            advance(1)
            learners = (folds, group) if header else None
            agreement = contents.get("annotators")
            hidden_fields = [*without_fields]
            if agreement:
                hidden_fields.append(ANNOTATORS)
            names = accepted or {}, hidden_fields
            for name, more in _find_cues(
                labelled, agreement, analyzer, learners, names, draws, seed, begin
            ):
                contents |= more
                if name:
                    missing.remove(name)
                    advance(1)
            contents["notes"] = (*contents.get("notes", ()), *remarks)
            missing = [name for name in missing if name == "copies"]
            begin("copies")
            if duplicates:
                contents["defects"] = in_order((*findings, *find_copies(dataset, train)))
                release_memory()
                contents["notes"] = (*contents["notes"], *_known_copies(dataset))
            missing = []
        except KeyboardInterrupt:
            seconds, contents["missing"] = time.perf_counter() - start, tuple(missing)
            raise CheckInterrupted(CheckReport(dataset, **contents, seconds=seconds)) from None
    return CheckReport(dataset, **contents, seconds=time.perf_counter() - start)


def _known_copies(dataset: Dataset) -> Iterator[str]:
    """Yield how much of a dataset is in each published split that has a sketch, except where it is
    this split or a part of it.
    """
    names = set(dataset_names(dataset))
    for sketch in known_sketches():
        questions = sketch.copied(dataset)
        shares_name = not names.isdisjoint(dataset_names(Dataset((), sketch.name)))
        if not questions.any() or (shares_name and questions.mean() >= _WHOLE_SHARE):
            continue
        passages = sketch.copied_passages(dataset)
        copied, unit = (passages, "passages") if passages.any() else (questions, "questions")
        verb = "is" if copied.sum() == 1 else "are"
        yield f"{copied.sum():,} of {len(copied):,} {unit} {verb} in {sketch.name} (sketch)"


def _find_cues(
    dataset: Dataset,
    agreement: Agreement | None,
    analyzer: str,
    learners: tuple[int, str | None] | None,  # the header's number of folds, and its grouping key
    names: tuple[Mapping[str, str], Iterable[str]],  # of accepted cues, and fields to leave out
    draws: int,
    seed: int,
    advance: Callable[[str], None],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cues and the header of a report part by part, each with the name of the finished
    part.

    The features fill the memory; they are gone before copies are looked for.
    """
    if dataset.task is not None and dataset.task.has_spans:
        yield from _find_span_cues(dataset, analyzer, learners, names, draws, seed, advance)
        return
    sample = _represent(dataset, MOST_QUESTIONS)
    table, reason = _table_of(sample, analyzer)
    if len(sample) < len(dataset):
        reason = _part_note(sample, dataset)
    notes = (reason,) if reason else ()
    yield "", {"notes": notes}
    if table is None:
        return
    base_columns, chance = _given(table)
    if learners is not None:
        FoldPlan(*learners).groups(sample)  # its texts are gone before features fill the memory
    advance("features")
    reasons, without_fields = names
    features = build_features(table, without_fields)
    accepted, unknown = match_accepted(features, reasons)
    searched = features
    accepted_seen = [j for j in accepted if j < len(features) and features.is_seen[j]]
    if (rest := without_cues(features, accepted)) is not None:
        searched = build_features(rest, without_fields)
        accepted, _ = match_accepted(searched, reasons)
    test = ScoreTest(
        searched,
        order_features(table),
        base_columns,
        accepted=accepted,
        known=features.columns(accepted_seen),
        draws=draws,
        seed=seed,
        advance=advance,
    )
    test.run()
    contents = {
        "n_features": len(searched) + len(test.observed_order),
        "cues": describe_steps(test, chance),
        "suspects": rank_suspects(table, test),
        "accepted": {name: why for name, why in reasons.items() if name not in unknown},
        "unknown": unknown,
        "leaking_fields": test.leaking_fields,
    }
    yield "cues", contents
    advance("header")
    if learners is not None:
        more = _measure_header(features, chance, test, agreement, *learners)
        yield "header", {**more, "notes": (*notes, *more.get("notes", ()))}


def _represent(dataset: Dataset, max_questions: int) -> Dataset:
    """Return the dataset, or whole passages of a larger one, evenly spread over it."""
    if len(dataset) <= max_questions:
        return dataset
    has_passages = any(question.passage is not dataset[0].passage for question in dataset)
    groups = [
        id(question.passage) if has_passages else number for number, question in enumerate(dataset)
    ]
    sizes = Counter(groups)
    is_kept_group = spread_evenly(np.array([*sizes.values()]), max_questions)
    of_group = dict(zip(sizes, is_kept_group.tolist(), strict=True))
    is_kept = iter([of_group[group] for group in groups])
    return dataset.filter(lambda question: next(is_kept))


def _table_of(dataset: Dataset, analyzer: str) -> tuple[OptionTable | None, str]:
    if dataset.task is None:
        return None, "no cues: questions have no options"
    if any(question.gold is None for question in dataset):
        return None, _HIDDEN
    table = OptionTable.of(dataset, analyzer)
    if len(table) < LEAST_QUESTIONS:
        return None, f"no cues: {len(table)} questions with right and wrong options are too few"
    return table, ""


_HIDDEN = "no cues: gold is hidden"


def _part_note(sample: Dataset, dataset: Dataset) -> str:
    return f"cues: searched for in {len(sample):,} of {len(dataset):,} questions, by whole passages"


def _find_span_cues(
    dataset: Dataset, analyzer: str, *settings: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cues and the header of span data, if there is enough of it."""
    reason = ""
    if any(question.gold is None for question in dataset):
        reason = _HIDDEN
    elif len(dataset) < LEAST_QUESTIONS:
        reason = f"no cues: {len(dataset)} questions are too few"
    if reason:
        yield "", {"notes": (reason,)}
        return
    sample = _represent(dataset, MOST_SPAN_QUESTIONS)
    notes = (_part_note(sample, dataset),) if len(sample) < len(dataset) else ()
    for name, values in find_span_cues(sample, analyzer, *settings):
        if "notes" in values:
            values = {**values, "notes": (*notes, *values["notes"])}
        yield name, values


def _given(table: OptionTable) -> tuple[Floats | None, Floats]:
    """Return the features that count as chance (answers of all questions), and how often
    guessing is right.
    """
    text = table.normalised[0]
    chance: Floats = table.n_right / table.sizes
    k = int(table.sizes[0])
    if (table.sizes != k).any() or (table.n_right != 1).any():
        return None, chance
    rows = np.sort(text.reshape(-1, k), axis=1)
    if (rows != rows[0]).any() or len(np.unique(rows[0])) < k:
        return None, chance
    classes: NDArray[np.int64] = np.searchsorted(rows[0], text)
    share = np.bincount(classes[table.right], minlength=k) / len(table)
    base_columns = (classes[:, None] == np.arange(1, k)).astype(np.float64)
    return base_columns, np.full(len(table), share.max())


def _measure_header(
    features: Any,
    chance: Floats,
    test: ScoreTest,
    agreement: Agreement | None,
    folds: int,
    group: str | None,
) -> dict[str, Any]:
    try:
        header = Header(features, chance, folds=folds, group=group)
    except UsageError as error:
        if group is not None and error.field != "questions":
            raise
        return {"notes": (f"no header: {error}",)}
    rows = header.measure()
    contents: dict[str, Any] = {"header": rows}
    if agreement is not None and rows:
        hits = header.predict(INPUTS[rows[-1].input]).tolist()
        ids = [header.table.questions[i].id for i in header.asked.tolist()]
        contents["annotators"] = agreement.with_learner(dict(zip(ids, hits, strict=True)))
    families = test.features.families
    of_matrix = (step.feature for step in test.steps if step.feature < len(families))
    seen = [j for j in of_matrix if families[j].sees == INPUTS["options only"]]
    if not seen or not rows or rows[0].input != "options only":
        return contents
    columns = np.column_stack([test.given, test.columns(seen)])
    model, _ = fit_model(test.table, columns)
    share = share_found(np.round(model.p, 9), test.table.right, test.table.sizes)
    reached = float(share[header.asked].mean())
    without_cues = rows[0].chance + max(rows[0].accuracy - reached, 0.0)
    return {**contents, "without": without_cues}
