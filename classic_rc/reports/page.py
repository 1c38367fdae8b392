"""The one-page report: everything about a dataset and its baselines in a single file of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from classic_rc._version import __version__
from classic_rc.analysis.check import CheckReport
from classic_rc.analysis.statistics import DatasetStatistics
from classic_rc.datasets import READERS
from classic_rc.evaluation.curves import AVERAGES, PrecisionRecallCurve
from classic_rc.evaluation.evaluate import group_masks
from classic_rc.evaluation.results import Evaluation
from classic_rc.metrics import metrics_for, primary_metric
from classic_rc.questions import Dataset, Task
from classic_rc.reports.checks import check_tables
from classic_rc.reports.html import escaped, html_document, html_notes, html_table
from classic_rc.reports.numbers import percent
from classic_rc.reports.page_curve import curve_html
from classic_rc.reports.page_data import page_data, system_names
from classic_rc.reports.results import results_table
from classic_rc.reports.statistics import statistics_tables
from classic_rc.reports.tables import Table
from classic_rc.solvers import SOLVERS
from classic_rc.solvers.explanation import Explanation

__all__ = ["PageContent", "page_html", "question_groups"]

_MOST_GROUPS = 12
_MOST_FILES = 5
_FEW = 10
"""Groups of fewer questions are shown in grey."""


@dataclass(frozen=True)
class PageContent:
    """What a report shows.

    Parameters
    ----------
    evaluation : Evaluation
        With intervals, if they are to be shown.
    check : CheckReport, optional
        Whether the dataset leaks.
    statistics : DatasetStatistics, optional
    curves : sequence of PrecisionRecallCurve
        Macro averages, named as the rows.
    explanations : mapping of int to iterable of Explanation
        By the index of a row, the explanations of all questions, in order.
    groups : mapping of str to mapping of str to ndarray of bool
        What to break the results down by, as :func:`question_groups` finds it.
    published : bool
        Whether published figures stand beside ours.
    title, date : str, optional
        What to call the page (by default the dataset's name), and the date to give it (by default none, so that
        the same data and systems make the same file).
    """

    evaluation: Evaluation
    check: CheckReport | None = None
    statistics: DatasetStatistics | None = None
    curves: Sequence[PrecisionRecallCurve] = ()
    explanations: Mapping[int, Iterable[Explanation]] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, NDArray[Any]]] = field(default_factory=dict)
    published: bool = False
    title: str | None = None
    date: str | None = None


def page_html(content: PageContent) -> str:
    """The report as one document that needs no other file and no network.

    Parameters
    ----------
    content : PageContent

    Returns
    -------
    str
        HTML; the same for the same content.
    """
    dataset = content.evaluation.dataset
    title = content.title or dataset.name
    sections = [
        ("results", "Results", _results(content)),
        ("groups", "Breakdown", _breakdown(content)),
        ("curve", "Precision and recall", _curve(content)),
        ("leaks", "Does the data leak?", _leaks(content)),
        ("statistics", "Statistics", _statistics(content)),
        ("questions", "Questions", [_BROWSER]),
        ("cite", "Signatures and sources", _sources(content)),
    ]
    shown = [(id, name, html) for id, name, lines in sections if (html := "\n".join(lines))]
    links = "".join(f'<li><a href="#{id}">{name}</a></li>' for id, name, _ in shown)
    body = [
        '<a class="skip" href="#results">Skip to the results</a>',
        "<header>",
        '<p class="above">Classical baselines</p>',
        f"<h1><bdi>{escaped(title)}</bdi></h1>",
        f"<p>{escaped(_facts(dataset, content.date))}</p>",
        "</header>",
        f'<nav aria-label="Contents"><ul>{links}</ul></nav>',
        "<main>",
        *(
            f'<section aria-labelledby="{id}"><h2 id="{id}" tabindex="-1">{name}</h2>\n{html}\n</section>'
            for id, name, html in shown
        ),
        "</main>",
        f"<footer><p>Made by classic_rc {__version__}. This file holds everything it shows.</p></footer>",
    ]
    data = page_data(content.evaluation, content.explanations, content.groups)
    return html_document(f"{title}: classical baselines", "\n".join(body), data=data)


def question_groups(dataset: Dataset, *keys: str) -> dict[str, Mapping[str, NDArray[Any]]]:
    """Masks over the questions, by the keys of `meta` and by their values.

    Parameters
    ----------
    dataset : Dataset
    *keys : str
        By default all whose values tell from 2 to 12 groups apart.

    Raises
    ------
    UsageError
        No question has the key.
    """
    known = dict.fromkeys(key for q in dataset for key in (*q.meta, *q.passage.meta))
    found = {key: group_masks(dataset, key) for key in keys or filter(lambda key: _is_label(dataset, key), known)}
    return found if keys else {key: masks for key, masks in found.items() if 2 <= len(masks) <= _MOST_GROUPS}


def _is_label(dataset: Dataset, key: str) -> bool:
    values = (question.meta_value(key) for question in dataset)
    return all(isinstance(value, str | int) or value is None for value in values)


def _facts(dataset: Dataset, date: str | None) -> str:
    kind = str(dataset.task).replace("-", " ")
    facts = [f"{len(dataset):,} {kind} questions", f"{len(dataset.passages):,} passages"]
    facts += [] if dataset.split is None else [f"split {dataset.split}"]
    return " · ".join([*facts, f"data {dataset.fingerprint[:8]}", *([date] if date else [])])


def _results(content: PageContent) -> Iterator[str]:
    evaluation = content.evaluation
    table = results_table(evaluation, content.published)
    notes = [] if evaluation.resampling is None else [evaluation.resampling.note]  # signatures have their own section
    yield html_table(replace(table, notes=notes), "results-table")
    for name, lines in (("Warnings", evaluation.warnings), ("Notes", (*evaluation.notes, *evaluation.dataset.notes))):
        if lines:
            yield f"<h3>{name}</h3>"
            yield html_notes(lines, "plain")


def _breakdown(content: PageContent) -> Iterator[str]:
    evaluation = content.evaluation
    assert evaluation.dataset.task is not None
    main = primary_metric(evaluation.dataset.task)
    for number, (key, masks) in enumerate(content.groups.items()):
        rows = [
            [name, *(percent(row.metrics(mask)[main.name]) for mask in masks.values())]
            for name, row in zip(system_names(evaluation.rows), evaluation.rows, strict=True)
        ]
        few = frozenset(i for i, mask in enumerate(masks.values(), 1) if mask.sum() < _FEW)
        header = ["system", *(f"{value} ({mask.sum():,})" for value, mask in masks.items())]
        notes = [f"grey: fewer than {_FEW} questions"] if few else []
        yield html_table(Table(f"{main.label} by {key}", header, rows, notes=notes), f"groups-{number}", grey=few)


def _curve(content: PageContent) -> Iterator[str]:
    if not content.curves:
        return
    rows, metric = content.evaluation.rows, AVERAGES["macro"]
    points = []
    for name, row in zip(system_names(rows), rows, strict=True):
        means = row.outcomes.statistics[metric.name].mean(axis=0, keepdims=True)
        points.append(PrecisionRecallCurve(name, "macro", *metric.precision_and_recall(means)))
    yield curve_html(content.curves, points)
    cells = [[p.name, *(percent(float(v[0])) for v in (p.precision, p.recall, p.f1))] for p in points]
    title = "where each system decides: means over the questions"
    yield html_table(Table(title, ["system", "precision", "recall", metric.label], cells), "curve-table")


def _leaks(content: PageContent) -> Iterator[str]:
    if content.check is None:
        return
    leaks, tried = content.check.leaks(), content.check.partial_inputs.results
    if tried:
        yield f"<p>{len(leaks)} of {len(tried)} partial inputs surely gain more than 5 points over chance.</p>"
    for number, table in enumerate(check_tables(content.check)):
        yield html_table(table, f"leaks-{number}")


def _statistics(content: PageContent) -> Iterator[str]:
    if content.statistics is not None:
        for number, table in enumerate(statistics_tables(content.statistics)):
            yield html_table(table, f"statistics-{number}")


def _sources(content: PageContent) -> Iterator[str]:
    evaluation = content.evaluation
    dataset = evaluation.dataset
    yield "<p>Give the signature with each number, and cite what you report.</p>"
    yield '<dl class="sources">'
    for name, row in zip(system_names(evaluation.rows), evaluation.rows, strict=True):
        solver = SOLVERS.get(row.solver)
        variant = solver and row.variant and solver.variants[row.variant]
        source = variant.citation if variant else solver.citation if solver else "not of this package"
        signature = escaped(row.signature).replace("|", "|<wbr>")
        yield f"<dt>{escaped(name)}</dt><dd>{escaped(source)}</dd><dd><code>{signature}</code></dd>"
    yield "</dl>"
    rows = [["classic_rc", f"version {__version__}; see CITATION.cff of the repository"]]
    if dataset.reader in READERS:
        rows.append([dataset.name, READERS[dataset.reader].citation])
    assert dataset.task is not None
    labels: dict[str, list[str]] = {}
    for metric in metrics_for(dataset.task):
        labels.setdefault(metric.citation, []).append(metric.label)
    rows += [[", ".join(of), citation] for citation, of in labels.items()]
    # A folder's path is the reader's own affair.
    names = [re.split(r"[\\/]", source.path)[-1] for source in dataset.sources[:_MOST_FILES]]
    rows += [[name, f"sha256 {source.sha256}"] for name, source in zip(names, dataset.sources, strict=False)]
    n_more = len(dataset.sources) - len(names)
    rows += [[f"and {n_more:,} files more", ""]] if n_more else []
    yield html_table(Table("software, data, metrics", ["what", "source"], rows, frozenset({0, 1})), "cite-others")


_BROWSER = """<form id="filters" role="search" aria-label="Questions" hidden>
<p><label for="find">Search</label> <input id="find" type="search" autocomplete="off" spellcheck="false"></p>
<p><label for="system">System</label> <select id="system"></select></p>
<p><label for="show">Answers</label> <select id="show">
<option value="">all</option><option value="r">right</option><option value="p">partly right</option>
<option value="w">wrong</option><option value="t">chosen in a tie</option></select></p>
</form>
<p id="count" role="status" aria-live="polite"></p>
<ol id="list"></ol>
<p id="pages" hidden><button type="button" id="back">Back</button> <span id="page"></span>
<button type="button" id="next">Next</button></p>
<noscript><p>Browsing the questions takes JavaScript, which is turned off here. All of the above does without.</p></noscript>"""
