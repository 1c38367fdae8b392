"""The one-page HTML report of a dataset and its results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc._version import __version__
from classic_rc.commands.check.audit import CheckReport
from classic_rc.commands.check.cues import CueKind
from classic_rc.commands.check.integrity import Severity
from classic_rc.commands.check.page import check_part, other_defects
from classic_rc.commands.check.without_copies import copied_questions
from classic_rc.commands.report.datasheet import (
    Datasheet,
    count_tables,
    datasheet_facts,
    statistics_table,
)
from classic_rc.datasets.statistics import DatasetStatistics
from classic_rc.metrics.base import has_unanswerable, metrics_for
from classic_rc.questions import Dataset
from classic_rc.reports.explanations import question_values
from classic_rc.reports.html import fill_template, safe_markup
from classic_rc.reports.references import bibliography, citables
from classic_rc.reports.result_tables import breakdown_table, perturbation_table
from classic_rc.reports.verdict import PARTLY, RIGHT, WRONG, candidate_label, outcomes, short
from classic_rc.results.breakdown import Breakdown
from classic_rc.results.evaluation import Evaluation
from classic_rc.results.grouping import Grouping
from classic_rc.results.outcomes import Row
from classic_rc.results.published import published_warning, results_table
from classic_rc.results.result_table import count_passages
from classic_rc.running.perturbed import PerturbedEvaluation
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.trivial import Random
from classic_rc.tables import Column, RowGroup, Table
from classic_rc.tables.model import format_count, format_percent

_MAX_GROUPS = 12
_PACKAGE = "classic_rc"
_MAX_FILES = 5


@dataclass(frozen=True)
class PageContent:
    """The content of a one-page report."""

    evaluation: Evaluation  # the results; if they have intervals, the report shows them
    check: CheckReport | None = None  # the audit of the dataset: leaks and integrity
    statistics: DatasetStatistics | None = None
    # For the index of a row, the explanations of `shown_questions`, in order.
    explanations: Mapping[int, Iterable[Explanation]] = field(default_factory=dict)
    breakdowns: Sequence[
        Breakdown
    ] = ()  # results by groups, by which the reader can also choose questions
    published: bool = (
        False  # whether the table of results has the published figures of the same data
    )
    title: str | None = None  # by default the dataset's name
    scores_without: Breakdown | None = None  # the systems without the questions that are copies
    perturbed: PerturbedEvaluation | None = None  # the systems on perturbed copies
    # that the package cannot know: licence, language
    facts: Mapping[str, str] = field(default_factory=dict)


def page_html(content: PageContent) -> str:
    """Return the report as one HTML document that needs no other file and no network.

    Parameters
    ----------
    content : PageContent

    Returns
    -------
    str
        HTML; the same content always gives the same HTML.
    """
    dataset, check = content.evaluation.dataset, content.check
    groupings = [breakdown.grouping for breakdown in content.breakdowns]
    places = {dataset[i].id: f"q{i}" for i in shown_questions(dataset)}
    groups = [_with_one_note(breakdown_table(breakdown)) for breakdown in content.breakdowns]
    overview = {
        "tiles": [] if check is None else audit_tiles(check),
        "drawing": overview_drawing(content.evaluation),
    }
    questions = questions_section(content.evaluation, content.explanations, groupings)
    return fill_template(
        "report.html",
        __package__,
        title=content.title or dataset.name,
        facts=_dataset_facts(dataset),
        version=__version__,
        overview=overview,
        results=_results_section(content),
        groups=groups or None,
        check=None if check is None else check_part(check, content.scores_without, places),
        perturbed=None if content.perturbed is None else [perturbation_table(content.perturbed)],
        statistics=_statistics_section(content),
        sources=_sources_section(content.evaluation),
        questions=questions,
        own_style=safe_markup(questions["style"]),
    )


def default_breakdown_keys(dataset: Dataset) -> list[str]:
    """Return the keys of `meta` that divide the questions into 2 to 12 groups."""
    keys = dict.fromkeys(key for q in dataset for key in (*q.meta, *q.passage.meta))
    dividing_keys = []
    for key in keys:
        n_groups = len({str(question.meta_value(key)) for question in dataset})
        if 2 <= n_groups <= _MAX_GROUPS:
            dividing_keys.append(key)
    return dividing_keys


def _dataset_facts(dataset: Dataset) -> str:
    kind = str(dataset.task).replace("-", " ")
    facts = [format_count(len(dataset), f"{kind} question"), count_passages(dataset)]
    facts += [] if dataset.split is None else [f"split {dataset.split}"]
    return " · ".join([*facts, f"data {dataset.fingerprint[:8]}"])


def _results_section(content: PageContent) -> dict[str, Any]:
    evaluation = content.evaluation
    warning = published_warning(evaluation) if content.published else None
    table = results_table(evaluation, content.published)
    # Signatures have their own section on the page; its head has the sizes of the data.
    notes = [table.caption] if table.caption else []
    warnings = [*evaluation.warnings, warning] if warning else [*evaluation.warnings]
    return {
        "table": replace(table, title="all systems", notes=notes),
        "warnings": warnings,
        "notes": evaluation.dataset.notes,
    }


def _with_one_note(table: Table) -> Table:
    return replace(table, notes=[f"{'; '.join(table.notes)}."] if table.notes else [])


def _statistics_section(content: PageContent) -> dict[str, Any] | None:
    """Return the facts and counts of the datasheet, then all statistics."""
    if content.statistics is None:
        return None
    sheet = Datasheet(
        content.evaluation.dataset, content.statistics, facts=content.facts, title=content.title
    )
    return {
        "facts": datasheet_facts(sheet),
        "tables": [*count_tables(sheet), statistics_table(content.statistics)],
    }


def _sources_section(evaluation: Evaluation) -> dict[str, Any]:
    dataset = evaluation.dataset
    citable_by_name = {citable.name: citable for citable in citables()}
    cited = [_PACKAGE]
    systems = []
    for row in evaluation.rows:
        source = citable_by_name.get(row.kind)
        cited += [row.kind] if source else []
        citation = "not part of this package"
        if source is not None:
            citation = source.citation or "read from a file"
        systems.append({"name": row.name, "citation": citation, "signature": row.signature})
    rows = []
    if dataset.reader in citable_by_name:
        rows.append([dataset.name, citable_by_name[dataset.reader].citation])
        cited.append(dataset.reader)
    assert dataset.task is not None
    for metric in metrics_for(dataset, unanswerable=has_unanswerable(dataset)):
        rows.append([metric.label, metric.citation])
        cited.append(metric.name)
    # File names only: the path of a folder is private.
    for file in dataset.sources[:_MAX_FILES]:
        name = re.split(r"[\\/]", file.path)[-1]
        rows.append([name, f"sha256 {file.sha256}"])
    n_more = len(dataset.sources) - _MAX_FILES
    if n_more > 0:
        rows.append([f"and {n_more:,} more files", ""])
    columns = [Column("what"), Column("source")]
    return {
        "systems": systems,
        "table": Table("data and metrics", columns, [RowGroup(rows)]),
        "bibtex": bibliography(tuple(cited)),
    }


MOST_QUESTIONS = 1_000
"""How many can be browsed on one page."""

_LOOKS = {RIGHT: "right", PARTLY: "partly", WRONG: "wrong"}


def shown_questions(dataset: Dataset) -> list[int]:
    """Return the questions that the page shows: all, or as many as it can, evenly spread."""
    n = min(len(dataset), MOST_QUESTIONS)
    return [k * len(dataset) // n for k in range(n)]


class _Judged(NamedTuple):
    """A row of the results, question by question."""

    row: Row
    outcomes: Sequence[str]
    credits: NDArray[np.float64]

    def badges(self, i: int) -> list[tuple[str, str]]:
        """Return the look and the text of what the answer to a question is."""
        outcome = text = self.outcomes[i]
        if outcome == PARTLY:
            credit = round(float(self.credits[i]), 2)
            text = f"{outcome}: {short(credit)}"
        badges = [(_LOOKS[outcome], text)]
        n_tied = int(self.row.outcomes.n_tied[i])
        if n_tied > 1:
            badges.append(("", f"tie of {n_tied}"))
        return badges

    def answer(self, i: int) -> str:
        answer = self.row.outcomes.answers[i]
        if answer is None:
            return "–"
        if not answer:
            return "nothing"
        separator = " / " if isinstance(answer[0], str) else ", "
        return separator.join(map(_label, answer))


def _label(answer: int | str) -> str:
    return answer if isinstance(answer, str) else candidate_label(answer)


def questions_section(
    evaluation: Evaluation,
    explanations: Mapping[int, Iterable[Explanation]],
    groupings: Sequence[Grouping] = (),
) -> dict[str, Any]:
    """Return the questions of the page, what chooses among them, and the style that hides the
    others.

    `explanations` has those of :func:`shown_questions` for the indices of some rows. They are used
    one question after the other, so generators keep memory small. Readers can choose questions by
    the groupings.
    """
    dataset = evaluation.dataset
    assert dataset.task is not None
    judged = {}
    for k, row in enumerate(evaluation.rows):
        if not row.expected:
            judged[k] = _Judged(row, *outcomes(dataset, row.outcomes.statistics))
    # The explained systems come first.
    order = dict.fromkeys([*explanations, *judged])
    systems = [judged[k] for k in order if k in judged]
    numbers = shown_questions(dataset)
    hidden = []
    for n in range(len(systems)):
        for look in (*_LOOKS.values(), "tied"):
            chosen_look = f".filters:has(.s{n}:checked):has(.{look}:checked)"
            hidden.append(f"{chosen_look} ~ ol > :not(.{look}{n})")
    for name in chain.from_iterable(_group_classes(groupings)):
        hidden.append(f".filters:has(.{name}:checked) ~ ol > :not(.{name})")
    return {
        "counts": (len(numbers), len(dataset)),
        "systems": [system.row.name for system in systems],
        "groups": [(grouping.key, list(grouping.masks)) for grouping in groupings],
        "style": f"{', '.join(hidden)} {{ display: none; }}" if hidden else "",
        "questions": _entries(evaluation, explanations, groupings, systems, numbers),
    }


def _group_classes(groupings: Sequence[Grouping]) -> list[list[str]]:
    """Return the CSS class of each group of each grouping."""
    classes = []
    for g, grouping in enumerate(groupings):
        classes.append([f"g{g}-{v}" for v in range(len(grouping.masks))])
    return classes


def _entries(
    evaluation: Evaluation,
    explanations: Mapping[int, Iterable[Explanation]],
    groupings: Sequence[Grouping],
    systems: Sequence[_Judged],
    numbers: Sequence[int],
) -> Iterator[dict[str, Any]]:
    """Yield the values of each question; a solver that failed has no explanations from there on."""
    names = [evaluation.rows[row].name for row in explanations]
    masks: list[tuple[str, NDArray[np.bool_]]] = []
    for classes, grouping in zip(_group_classes(groupings), groupings, strict=True):
        masks += zip(classes, grouping.masks.values(), strict=True)
    of_all: list[Iterable[Any]] = list(explanations.values())
    for i, *question_explanations in zip_longest(numbers, *of_all):
        question = evaluation.dataset[i]
        named_explanations = []
        for explanation, name in zip(question_explanations, names, strict=True):
            if explanation is not None:
                named_explanations.append(replace(explanation, solver=name))
        looks, answers = [], []
        for n, system in enumerate(systems):
            badges = system.badges(i)
            looks += [f"{look or 'tied'}{n}" for look, _ in badges]
            answers.append((system.row.name, system.answer(i), badges))
        looks += [name for name, mask in masks if mask[i]]
        yield {
            "place": f"q{i}",
            "id": question.id,
            "text": question.text,
            "looks": looks,
            "view": question_values(*named_explanations, question=question, digits=None),
            "answers": answers,
        }


# --------------------------------------------------------------------------------------------------
# Figures: numbers that the templates draw as SVG, readable without colours

_WIDTH = 100
"""The length of an axis from 0 to 100 %, in units of its drawing."""


def overview_drawing(evaluation: Evaluation) -> dict[str, Any]:
    """Return the values that the chart of all systems needs: a bar and an interval each, and the
    line of chance.
    """
    metric = evaluation.results.primary
    rows = []
    chance = None
    for row, number in zip(evaluation.rows, evaluation.measure(), strict=True):
        value, interval = number.value or 0.0, number.interval
        if row.solver == Random.name:
            chance = round(_WIDTH * value, 2)
        bounds = None
        if interval is not None:
            bounds = (round(_WIDTH * interval.low, 2), round(_WIDTH * interval.high, 2))
        rows.append((row.name, round(_WIDTH * value, 2), bounds, format_percent(value, 1)))
    has_intervals = any(bounds is not None for _, _, bounds, _ in rows)
    return {"metric": metric.label, "rows": rows, "chance": chance, "has_intervals": has_intervals}


_COUNTED = ((CueKind.ARTIFACT, "artifacts"), (CueKind.SHORTCUT, "shortcuts"))


class Tile(NamedTuple):
    """A number at the top of the page, with a link to its section."""

    section: str
    number: str
    name: str
    is_bad: bool


def audit_tiles(check: CheckReport) -> list[Tile]:
    """Return the numbers of findings that open the page."""
    n_copies = int(copied_questions(check.dataset, check.defects).sum())
    n_errors = sum(f.count for f in other_defects(check) if f.kind.severity is Severity.ERROR)
    tiles = []
    if check.n_features:
        for kind, name in _COUNTED:
            n = sum(cue.kind is kind for cue in check.cues)
            tiles.append(Tile("leaks", f"{n:,}", name, n > 0))
    # A page without duplicates has no section of them to link to.
    section = "duplicates" if n_copies else "defects"
    tiles.append(Tile(section, f"{n_copies:,}", "copied questions", n_copies > 0))
    tiles.append(Tile("defects", f"{n_errors:,}", "errors in the data", n_errors > 0))
    return tiles
