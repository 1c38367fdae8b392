"""The datasheet: one page for the appendix of a dataset's paper, in Markdown, LaTeX and HTML; in
JSON and CSV, its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from classic_rc._version import __version__
from classic_rc.commands.check.audit import CheckReport, labelled_part
from classic_rc.commands.check.tables import (
    cue_table,
    duplicates_table,
    header_table,
    integrity_table,
)
from classic_rc.datasets.statistics import (
    QUESTION_WORDS,
    DatasetStatistics,
    Measure,
    MeasuredValues,
    Statistic,
    StatisticsRow,
    measure_label_balance,
)
from classic_rc.io.json import render_json
from classic_rc.io.text import printable
from classic_rc.questions import Dataset
from classic_rc.reports.html import fill_template
from classic_rc.reports.references import Citable, bibliography, citables
from classic_rc.reports.result_tables import breakdown_table, breakdown_tables, cross_table
from classic_rc.results.breakdown import Breakdown, CrossTabulation
from classic_rc.results.evaluation import Evaluation
from classic_rc.results.published import results_table
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.tables.latex import latex_escape, latex_preamble, latex_tabular
from classic_rc.tables.markup import markdown_block, markdown_escape
from classic_rc.tables.model import EMPTY_CELL

_SIZES = ("passages", "questions", "candidates", "vocabulary")
_MAX_FILES = 3
_PACKAGE = "classic_rc"


@dataclass(frozen=True)
class Datasheet:
    """The content of a datasheet."""

    dataset: Dataset
    statistics: DatasetStatistics  # of the dataset; its splits become columns
    train_statistics: DatasetStatistics | None = (
        None  # of the training data, for more columns of sizes
    )
    check: CheckReport | None = None  # partial inputs, defects and duplicates
    # The floors: what simple systems reach, with intervals if it has them. None if gold is hidden.
    evaluation: Evaluation | None = None
    scores_without: Breakdown | None = None  # the floors without the questions that are copies
    # that the package cannot know: licence, language
    facts: Mapping[str, str] = field(default_factory=dict)
    command: str = ""  # that makes the page again
    title: str | None = None  # by default the dataset's name
    published: bool = False  # whether the floors have published figures of the same data
    breakdowns: Sequence[Breakdown] = ()  # of no system: how many questions each group has
    crosses: Sequence[CrossTabulation] = ()


def render_datasheet(sheet: Datasheet, form: str) -> str:
    """Return the datasheet in a format of :data:`DATASHEET_FORMATS`.

    Parameters
    ----------
    sheet : Datasheet
    form : str
        ``"markdown"``, ``"latex"``, ``"html"``, ``"json"`` or ``"csv"``.

    Returns
    -------
    str
        The same content always gives the same text.

    Raises
    ------
    KeyError
        The format is unknown.
    """
    return DATASHEET_FORMATS[form](sheet)


def datasheet_facts(sheet: Datasheet) -> list[tuple[str, str]]:
    """Return the names and values above the tables."""
    dataset = sheet.dataset
    source = _source(dataset)
    # the path of a folder is private
    shown_files = []
    for file in dataset.sources[:_MAX_FILES]:
        name = re.split(r"[\\/]", file.path)[-1]
        shown_files.append(f"{name} (sha256 {file.sha256[:12]})")
    if (n_more := len(dataset.sources) - _MAX_FILES) > 0:
        shown_files.append(f"and {n_more:,} more")
    facts = [
        ("Task", str(dataset.task).replace("-", " ")),
        ("Split", dataset.split or ""),
        ("Format", dataset.reader or ""),
        ("Citation", source.citation if source else ""),
        *sheet.facts.items(),
        ("Files", ", ".join(shown_files)),
        ("Fingerprint", dataset.fingerprint[:16]),
        ("Made by", f"classic_rc {__version__}"),
    ]
    return [(printable(name), printable(value)) for name, value in facts if value]


def datasheet_tables(sheet: Datasheet) -> list[Table]:
    """Return the tables of the datasheet, in their order; those without content are left out.

    Sizes, lengths, first words of questions, positions of the right options, floors, partial
    inputs, findings, duplicates, and scores without duplicates.
    """
    tables = count_tables(sheet)
    tables += breakdown_tables(sheet.breakdowns)
    tables += map(cross_table, sheet.crosses)
    if sheet.evaluation is not None and sheet.evaluation.rows:
        tables.append(_floor_table(sheet.evaluation, sheet.published))
    if sheet.check is not None:
        tables += _check_tables(sheet.check)
    if sheet.scores_without is not None:
        tables.append(replace(breakdown_table(sheet.scores_without), title="Floors without copies"))
    return tables


def count_tables(sheet: Datasheet) -> list[Table]:
    """Return what is counted in any dataset: sizes, lengths, first words, positions of the right
    options.
    """
    return [_size_table(sheet), _length_table(sheet), *_shape_tables(sheet)]


def _size_table(sheet: Datasheet) -> Table:
    statistics = [sheet.statistics, *([sheet.train_statistics] if sheet.train_statistics else [])]
    columns: dict[str, list[int | float]] = {}
    for i, dataset_statistics in enumerate(statistics):
        rows_by_label = {row.statistic.label: row for row in dataset_statistics.rows}
        for j, name in enumerate(dataset_statistics.columns):
            measures = [
                rows_by_label[label].measures[j] if label in rows_by_label else None
                for label in _SIZES
            ]
            counts = [(m.value if m is not None else None) or 0 for m in measures]
            columns[f"{name} (training)" if i else name] = counts
    rows = [[name, *counts] for name, counts in columns.items()]
    count_columns = [Column(name, "count") for name in _SIZES]
    return Table("Size", [Column("part"), *count_columns], [RowGroup(rows)])


def _own_rows(sheet: Datasheet) -> Iterator[tuple[StatisticsRow, MeasuredValues]]:
    """Yield the rows of the common table that have a value per text, over all splits together."""
    for row in sheet.statistics.rows:
        measure = row.measures[-1]  # with several splits, the last column pools them
        if isinstance(measure, MeasuredValues) and len(measure.numbers):
            yield row, measure


def _length_table(sheet: Datasheet) -> Table:
    rows = []
    for row, measure in _own_rows(sheet):
        if not row.statistic.is_share:
            low, median, high = np.quantile(
                measure.numbers.astype(float), (0.05, 0.5, 0.95)
            ).tolist()
            rows.append([row.statistic.label, measure.value, median, low, high])
    columns = [Column(""), Column("mean", "number", 1)]
    columns += [Column(name, "number", 0) for name in ("median", "5 %", "95 %")]
    return Table("Lengths", columns, [RowGroup(rows)], [_tokens_note(sheet.statistics)])


def statistics_table(statistics: DatasetStatistics) -> Table:
    """Return the table of all statistics of some datasets: means with standard deviations, and
    counts.
    """
    rows = []
    for row in statistics.rows:
        cells = [_measure_cell(row.statistic, measure) for measure in row.measures]
        rows.append([row.statistic.label, *cells])
    columns = [Column(""), *(Column(name, "count") for name in statistics.columns)]
    return Table("Statistics", columns, [RowGroup(rows)], [_tokens_note(statistics)])


def _measure_cell(statistic: Statistic, measure: Measure) -> str:
    if measure.value is None:
        return EMPTY_CELL
    if not isinstance(measure, MeasuredValues):
        return f"{measure.value:,}"
    if statistic.is_share:
        return f"{100 * measure.value:.{statistic.decimals}f}"
    return f"{measure.value:,.{statistic.decimals}f} ({measure.spread:.{statistic.decimals}f})"


def _tokens_note(statistics: DatasetStatistics) -> str:
    return f"Tokens come from the analyzer {statistics.analyzer}."


def _shape_tables(sheet: Datasheet) -> Iterator[Table]:
    """Yield the shares of questions by their first word, and the positions of right options."""
    shares = {row.statistic.label: measure.value or 0.0 for row, measure in _own_rows(sheet)}
    by_word = {word: shares.get(f"questions with {word} %", 0.0) for word in QUESTION_WORDS}
    by_word["other"] = max(1 - sum(by_word.values()), 0.0)
    if by_word["other"] < 1:  # else the questions are in another language
        yield _shares_table("First words of questions", "% of questions", by_word)
    if balance := measure_label_balance(labelled_part(sheet.dataset)):
        total = sum(balance.positions) or 1
        shares = {str(i): n / total for i, n in enumerate(balance.positions, 1)}
        notes = [f"chi-square {balance.chi_square:.1f}, p {balance.p:.2g}"]
        yield replace(
            _shares_table("Positions of right options", "% of right options", shares), notes=notes
        )


def _shares_table(title: str, name: str, shares: Mapping[str, float]) -> Table:
    """Return a table of one row."""
    columns = [Column(""), *(Column(label, "percent", 1) for label in shares)]
    return Table(title, columns, [RowGroup([[name, *shares.values()]])])


def _floor_table(evaluation: Evaluation, published: bool) -> Table:
    metrics = evaluation.results.metrics
    floors = results_table(evaluation, published).select("system", *metrics, "trained_on")
    return replace(floors, title="Floors: what simple systems reach", signatures={})


def _check_tables(check: CheckReport) -> Iterator[Table]:
    if check.header:
        yield replace(header_table(check), title="What it takes to answer")
    if check.n_features:
        columns = ("kind", "name", "direction", "coverage", "precision", "chance")
        note = f"{check.n_features:,} features; the bound holds for all of them together at 5 %"
        yield replace(
            cue_table(check).select(*columns), title="Cues: artifacts and shortcuts", notes=[note]
        )
    yield replace(
        integrity_table(check).select("severity", "finding", "count"), title="Findings", notes=()
    )
    if (duplicates := duplicates_table(check.defects, max_pairs=1)) is not None:
        title = "Duplicates: the least similar pair of each kind"
        yield replace(duplicates.select("id", "same as", "similarity"), title=title, notes=())


def _title(sheet: Datasheet) -> str:
    return printable(sheet.title or sheet.dataset.name)


def _source(dataset: Dataset) -> Citable | None:
    """Return what to cite for a published dataset; None for a user's own data, whose format is
    only ours.
    """
    matching = (c for c in citables() if c.kind == "dataset" and c.name == dataset.reader)
    return next((c for c in matching if set(c.cites) - {_PACKAGE}), None)


def _bibtex(sheet: Datasheet) -> str:
    source = _source(sheet.dataset)
    return bibliography((_PACKAGE,) if source is None else (_PACKAGE, source.name))


def _markdown(sheet: Datasheet) -> str:
    lines = [f"# {markdown_escape(_title(sheet))}", ""]
    for name, value in datasheet_facts(sheet):
        lines.append(f"- **{markdown_escape(name)}:** {markdown_escape(value)}")
    parts = ["\n".join(lines) + "\n"]
    parts += [render(table, "markdown") for table in datasheet_tables(sheet)]
    if sheet.command:
        parts.append(
            f"{markdown_block('To make this page again:')}\n\n{_code_block(sheet.command)}"
        )
    return "\n".join([*parts, _code_block(_bibtex(sheet).rstrip(), "bibtex")])


def _code_block(text: str, language: str = "") -> str:
    """Return a fenced block; the fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{printable(text, keep=chr(10))}\n{fence}\n"


def _latex(sheet: Datasheet) -> str:
    """Return a page that compiles by itself and that another document can also ``\\input``."""
    body = [
        rf"\section*{{\raggedright {_breakable(_title(sheet))}}}",
        r"\begin{multicols}{2}\footnotesize\raggedright",
        r"\setlength{\parindent}{0pt}\setlength{\tabcolsep}{3pt}",
    ]
    facts = [
        rf"\textbf{{{_breakable(name)}:}} {_breakable(value)}"
        for name, value in datasheet_facts(sheet)
    ]
    body += ["; ".join(facts) + r"\par"]
    for table in datasheet_tables(sheet):
        # A table stays in one column with its heading and notes.
        body += [r"\smallskip\begin{minipage}{\linewidth}\raggedright"]
        body += [
            rf"\textbf{{{_breakable(printable(table.title))}}}\par",
            *latex_tabular(table),
            r"\par",
        ]
        notes = (*table.note_lines, *table.signature_lines)
        body += [rf"{{\scriptsize {_breakable(note)}\par}}" for note in notes]
        body += [r"\end{minipage}\par"]
    if sheet.command:
        body += [
            r"\medskip",
            r"\textbf{To make this page again:}\par",
            rf"{{\ttfamily {_breakable(sheet.command)}}}\par",
        ]
    body += [r"\end{multicols}"]
    remarks = [f"% {note}" for note in (*latex_preamble(body), r"\usepackage{multicol}")]
    head = [*remarks, *_LATEX_HEAD, *_declared_characters(body), *_LATEX_START]
    return "\n".join([*head, *body, r"\datasheetend", ""])


_PIECES = re.compile(r"[^/=_.,:-]{0,20}[/=_.,:-]+|[^/=_.,:-]{1,20}")


def _breakable(text: str) -> str:
    """Escape text for LaTeX, where a long word, such as a path, may also end a line inside."""
    words = []
    for word in re.split(r"(\s+)", text):
        pieces = _PIECES.findall(word) if len(word) > 20 else [word]
        words.append(r"\allowbreak{}".join(map(latex_escape, pieces)))
    return "".join(words)


_LATEX_HEAD = (
    "% This file is a document of its own; in another document, \\input it.",
    r"\makeatletter",
    r"\ifx\@nodocument\relax\def\datasheetbegin{}\gdef\datasheetend{}\else",
    r"\documentclass[10pt]{article}",
    r"\usepackage[T1]{fontenc}\usepackage{textcomp,booktabs,adjustbox,tabularx,xcolor,multicol,iftex}",
    r"\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}",
    r"\usepackage[margin=15mm]{geometry}\pagestyle{empty}",
)
_LATEX_START = (
    r"\gdef\datasheetbegin{\begin{document}}\gdef\datasheetend{\end{document}}\fi",
    r"\makeatother",
    r"\datasheetbegin",
)
_PDFTEX_PUNCTUATION = "–—‘’“”„…•†‡"


def _declared_characters(lines: Sequence[str]) -> Iterator[str]:
    """Yield declarations for pdfLaTeX: a character that its fonts do not have is shown as its
    code.
    """
    characters = {c for line in lines for c in line if c > "\u017f"}
    for character in sorted(characters - set(_PDFTEX_PUNCTUATION)):
        code = f"{ord(character):04X}"
        yield rf"\ifPDFTeX\DeclareUnicodeCharacter{{{code}}}{{{{\tiny U+{code}}}}}\fi"


def _html(sheet: Datasheet) -> str:
    return fill_template(
        "datasheet.html",
        __package__,
        title=_title(sheet),
        facts=datasheet_facts(sheet),
        tables=datasheet_tables(sheet),
        command=sheet.command,
        bibtex=_bibtex(sheet),
        version=__version__,
    )


def _json(sheet: Datasheet) -> str:
    """Return everything as JSON: counts in full precision, and how many texts have each length
    in tokens.
    """
    groups = []
    if sheet.breakdowns or sheet.crosses:
        breakdowns = [breakdown.to_dict() for breakdown in sheet.breakdowns]
        crosses = [cross.to_dict() for cross in sheet.crosses]
        groups.append({"breakdowns": breakdowns, "cross": crosses})
    histograms = {
        name: {kind: _histogram(lengths) for kind, lengths in lengths_by_kind.items()}
        for name, lengths_by_kind in sheet.statistics.lengths.items()
    }
    train = sheet.train_statistics
    plain = {
        "title": _title(sheet),
        "facts": dict(datasheet_facts(sheet)),
        "statistics": sheet.statistics.to_dict(),
        "training": None if train is None else train.to_dict(),
        "lengths": histograms,
        "groups": groups,
        "floors": None if sheet.evaluation is None else sheet.evaluation.to_dict(),
        "check": None if sheet.check is None else sheet.check.to_dict(),
        "without_copies": sheet.scores_without and sheet.scores_without.to_dict(),
        "command": sheet.command,
    }
    return render_json(plain, times=False)


def _histogram(lengths: MeasuredValues) -> list[list[int]]:
    """Return pairs of a length in tokens and the number of texts that have it."""
    distinct_lengths, counts = np.unique(lengths.numbers, return_counts=True)
    return [
        [int(length), int(count)] for length, count in zip(distinct_lengths, counts, strict=True)
    ]


DATASHEET_FORMATS: Mapping[str, Callable[[Datasheet], str]] = {
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
    "json": _json,
}
"""The formats of a datasheet, each with its renderer."""
