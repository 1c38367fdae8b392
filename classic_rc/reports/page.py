"""The one-page report: everything about a dataset and its baselines in a single file of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from classic_rc._version import __version__
from classic_rc.audit.check import CheckReport
from classic_rc.audit.statistics.tables import DatasetStatistics
from classic_rc.evaluation.breakdown import Breakdown
from classic_rc.evaluation.curves import AVERAGES, PrecisionRecallCurve
from classic_rc.evaluation.results import Evaluation
from classic_rc.metrics.registry import metrics_for
from classic_rc.questions import Dataset
from classic_rc.reports.beside import published_warning
from classic_rc.reports.breakdown import breakdown_table
from classic_rc.reports.checks import check_tables
from classic_rc.reports.html import escaped, html_document, html_notes, html_table
from classic_rc.reports.numbers import percent
from classic_rc.reports.page_curve import curve_html
from classic_rc.reports.page_data import page_data, system_names
from classic_rc.reports.references import bibliography, citables
from classic_rc.reports.results import results_table
from classic_rc.reports.statistics import statistics_tables
from classic_rc.reports.tables import Table
from classic_rc.solvers.explanation import Explanation

_MOST_GROUPS = 12
_PACKAGE = "classic_rc"
_MOST_FILES = 5


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
    breakdowns : sequence of Breakdown
        The results by groups, which questions can be chosen by, too.
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
    breakdowns: Sequence[Breakdown] = ()
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
    groupings = [breakdown.grouping for breakdown in content.breakdowns]
    data = page_data(content.evaluation, content.explanations, groupings)
    return html_document(f"{title}: classical baselines", "\n".join(body), data=data)


def usual_keys(dataset: Dataset) -> list[str]:
    """The keys of `meta` that tell from 2 to 12 groups of questions apart."""
    known = dict.fromkeys(key for q in dataset for key in (*q.meta, *q.passage.meta))
    return [key for key in known if 2 <= len({str(q.meta_value(key)) for q in dataset}) <= _MOST_GROUPS]


def _facts(dataset: Dataset, date: str | None) -> str:
    kind = str(dataset.task).replace("-", " ")
    facts = [f"{len(dataset):,} {kind} questions", f"{len(dataset.passages):,} passages"]
    facts += [] if dataset.split is None else [f"split {dataset.split}"]
    return " · ".join([*facts, f"data {dataset.fingerprint[:8]}", *([date] if date else [])])


def _results(content: PageContent) -> Iterator[str]:
    evaluation = content.evaluation
    table = results_table(evaluation, content.published)
    yield html_table(_with_protocol(table), "results-table")
    warning = published_warning(evaluation) if content.published else None
    warnings = (*evaluation.warnings, *([warning] if warning else []))
    for name, lines in (("Warnings", warnings), ("Notes", (*evaluation.notes, *evaluation.dataset.notes))):
        if lines:
            yield f"<h3>{name}</h3>"
            yield html_notes(lines, "plain")


def _breakdown(content: PageContent) -> Iterator[str]:
    for number, table in enumerate(map(breakdown_table, content.breakdowns)):
        yield html_table(_with_protocol(table), f"groups-{number}")


def _with_protocol(table: Table) -> Table:
    """The table with all that makes its caption for its notes, but no signatures: they have their own section."""
    said = (table.caption or "").removeprefix(table.title).removeprefix(". ")
    return replace(table, notes=[said] if said else [])


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
    known = {citable.name: citable for citable in citables()}
    cited = [_PACKAGE]
    yield '<dl class="sources">'
    for name, row in zip(system_names(evaluation.rows), evaluation.rows, strict=True):
        source = known.get(row.name)
        cited += [row.name] if source else []
        signature = escaped(row.signature).replace("|", "|<wbr>")
        yield f"<dt>{escaped(name)}</dt><dd>{escaped(source.citation if source else 'not of this package')}</dd>"
        yield f"<dd><code>{signature}</code></dd>"
    yield "</dl>"
    rows = []
    if dataset.reader in known:
        rows.append([dataset.name, known[dataset.reader].citation])
        cited.append(dataset.reader)
    assert dataset.task is not None
    for metric in metrics_for(dataset.task):
        rows.append([metric.label, metric.citation])
        cited.append(metric.name)
    # A folder's path is the reader's own affair.
    names = [re.split(r"[\\/]", source.path)[-1] for source in dataset.sources[:_MOST_FILES]]
    rows += [[name, f"sha256 {source.sha256}"] for name, source in zip(names, dataset.sources, strict=False)]
    n_more = len(dataset.sources) - len(names)
    rows += [[f"and {n_more:,} files more", ""]] if n_more else []
    yield html_table(Table("data and metrics", ["what", "source"], rows, frozenset({0, 1})), "cite-others")
    yield f"<details><summary>BibTeX</summary><pre>{escaped(bibliography(tuple(cited)))}</pre></details>"


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
<noscript><p>Browsing the questions takes JavaScript, which is turned off; all else does without.</p></noscript>"""
