"""Text that could be markup, code or a terminal command is intact and harmless in every format."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pytest

from classic_rc import evaluate
from classic_rc.commands.check import check_dataset
from classic_rc.commands.compare import comparison_tables
from classic_rc.commands.explain.page import explanation_html
from classic_rc.commands.report.datasheet import statistics_table
from classic_rc.commands.report.page import PageContent, page_html
from classic_rc.datasets.labels import Labels
from classic_rc.datasets.statistics import describe_datasets
from classic_rc.io.text import printable
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.result_tables import breakdown_tables, cross_table
from classic_rc.results import (
    break_down,
    compare,
    cross_tabulate,
    group_questions,
    results_table,
    with_intervals,
    with_significance,
)
from classic_rc.solvers import Solver
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.tables.latex import latex_text
from classic_rc.tables.markup import markdown_block, markdown_escape
from classic_rc.tables.text import render_text
from tests.tables import header, texts

HOSTILE = {
    "html": "<script>alert('x')</script><img src=x onerror=y>&amp;",
    "latex": r"\input{/etc/passwd} $x^2$ 50% _a_ #1 ~{} \\[2cm] -- ``q''",
    "markdown": "**b** [a](javascript:x) `c` | d __e__ # f",
    "right to left": "שלום 12 مرحبا",
    "emoji": "👩\u200d🔬🏳️\u200d🌈 ﷽ e\u0301",
    "document": "</script><!-- </style></title> ]]> ' onload=alert(1) x=\" onerror='alert(2)' {{ 7 "
    "* 7 }}",
    "control": "\x1b[31mred\x07\r\n\t\x00\x85\u2028\u202e\u2066x",
    "table": 'a,b;"c"\td',
}
"""What data may be called, by what it could do."""


class Named(Solver):
    """Scores by length, under any name."""

    name = "to be named"
    parameter_sign = 1

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        rows = [[float(len(c.text)) for c in question.candidates] for question in questions]
        scores = Scores.from_lists(rows)
        return replace(scores, values=self.parameter_sign * scores.values)


def named(text: str, sign: int) -> Solver:
    return type("Named", (Named,), {"name": text, "parameter_sign": sign})()


def dataset(text: str) -> Dataset:
    options = tuple(Candidate(f"{text}{i * 'x'}") for i in range(3))
    questions = []
    for i in range(30):
        passage = Passage(f"p{i} {text}", f"Passage {i}: {text}")
        gold, meta = frozenset({i % 3}), {text: f"{text} {i % 2}"}
        question = Question(f"q{i} {text}", passage, text, options, gold, Task.SINGLE_CHOICE, meta)
        questions.append(question)
    return Dataset(questions, text, text, text)


@pytest.fixture(scope="module", params=HOSTILE)
def text(request) -> str:
    return HOSTILE[request.param]


@pytest.fixture(scope="module")
def rendered_reports(text):
    """Tables, CSV and plain data of every report, by its name."""
    data = dataset(text)
    solvers = [named(f"{text} long", 1), named(f"{text} short", -1)]
    evaluation = evaluate(data, solvers, by=text)
    evaluation = with_significance(with_intervals(evaluation, 50), f"{text} long", 50)
    results = evaluation.results
    comparison = compare(results, n=50)
    kinds = {}
    for i, question in enumerate(data):
        kinds[question.id] = frozenset({f"{text} label", f"{i % 3}"})
    labels = [Labels(f"{text} kind", kinds, (), text)]
    grouping = group_questions(data, f"{text} kind", labels)
    breakdown, cross = break_down(results, grouping, n=50), cross_tabulate(grouping, grouping)
    counted = describe_datasets([data])
    return {
        "results": (
            [results_table(evaluation)],
            render(results_table(evaluation), "csv"),
            evaluation.to_dict(),
        ),
        "comparison": (
            comparison_tables(comparison),
            render(comparison_tables(comparison), "csv"),
            comparison.to_dict(),
        ),
        "breakdown": (
            [*breakdown_tables([breakdown]), cross_table(cross)],
            render([*breakdown_tables([breakdown]), cross_table(cross)], "csv"),
            {"breakdown": breakdown.to_dict(), "cross": cross.to_dict()},
        ),
        "statistics": (
            [statistics_table(counted)],
            render(statistics_table(counted), "csv"),
            counted.to_dict(),
        ),
    }


REPORTS = ("results", "comparison", "breakdown", "statistics")

ESCAPES: dict[str, Callable[[str], str]] = {
    "table": str,
    "markdown": markdown_escape,
    "latex": latex_text,
}


def harmless(table: Table) -> Table:
    """A table of the same shape."""
    columns = [Column("x", "text" if column.is_text else "count") for column in table.shown]
    rows = RowGroup([["x"] * len(columns)] * len(texts(table)))
    signatures = {str(i): "x" for i in range(len(table.signatures))}
    return Table("x", columns, [rows], ["x"] * len(table.notes), signatures=signatures)


def rendered_as(table: Table, form: str) -> str:
    """The table, as wide as it needs."""
    return render_text(table, width=10_000) if form == "table" else render(table, form)


def visible(rendered: str) -> str:
    """Without isolates, which take no room."""
    return re.sub("[\u2068\u2069]", "", rendered)


@pytest.mark.parametrize("form", ESCAPES)
@pytest.mark.parametrize("report", REPORTS)
def test_tables_are_intact_and_harmless(rendered_reports, text, report, form):
    for table in rendered_reports[report][0]:
        rendered = rendered_as(table, form)
        assert_no_control(rendered)
        visible_text = visible(rendered)
        names = [cells[0] for cells in texts(table)]
        for text_of_cell in (*header(table), *names):
            assert ESCAPES[form](text_of_cell) in visible_text
        remarks = rendered.count("% has non-Latin characters")
        if form != "latex":  # there, intervals have lines of their own
            plain = rendered_as(harmless(table), form)
            assert rendered.count("\n") == plain.count("\n") + remarks  # no text makes a line
    shown_texts = "".join(
        visible(rendered_as(table, form)) for table in rendered_reports[report][0]
    )
    assert (
        ESCAPES[form](printable(text)) in shown_texts
        or markdown_block(printable(text)) in shown_texts
    )


def assert_no_control(rendered: str) -> None:
    """No character that controls a terminal or reorders its neighbours, except line ends and
    closed isolates.
    """
    for character in set(rendered) - {"\n"}:
        assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in (
            "LRO",
            "RLO",
            "LRE",
            "RLE",
            "PDF",
            "LRI",
            "RLI",
        )
    for line in rendered.split("\n"):
        isolates = "".join(re.findall("[\u2068\u2069]", line))
        assert isolates == "\u2068\u2069" * (len(isolates) // 2)


@pytest.mark.parametrize("report", REPORTS)
def test_latex_has_no_command_but_the_tables_own(rendered_reports, report):
    table_commands = set(
        "begin end centering caption toprule midrule bottomrule textbf multicolumn hspace "
        "tabcolsep rlap scriptsize small linewidth raggedright arraybackslash textbackslash "
        "textasciitilde textasciicircum textless textgreater textbar textasciigrave".split()
    )
    for table in rendered_reports[report][0]:
        body = [line for line in render(table, "latex").split("\n") if not line.startswith("% ")]
        for line in body:
            line = line.removeprefix(r"\begin{tabularx}").replace(
                r">{\raggedright\arraybackslash}X", ""
            )
            # Marks and p-values are mathematics of the table's own.
            own_signs = r"\\\\(\[1pt\])?$|\$\^\{(\*|\\S)+\}\$|\$p < 0\.05\$"
            unescaped = re.sub(r"\\[&%$#_{}]", "", re.sub(own_signs, "", line))
            assert set(re.findall(r"\\([a-zA-Z]+|.)", unescaped)) <= table_commands
            assert not set(re.sub(r"\\[a-z]+", "", unescaped)) & set("%$#_^~\\|<>`")
            assert unescaped.count("{") == unescaped.count("}")
        # nothing is a line end's option
        assert not [line for line in body if re.match(r"\s*[\[*]", line)]


@pytest.mark.parametrize("report", REPORTS)
def test_markdown_has_no_html_and_no_columns_but_the_tables_own(rendered_reports, report):
    for table in rendered_reports[report][0]:
        lines = render(table, "markdown").split("\n")
        assert not [line for line in lines if re.search(r"(?<!\\)(\\\\)*<", line)]
        rows = [line for line in lines if line.startswith("| ")]
        assert len(rows) == 1 + len(texts(table))
        for line in rows:
            assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == len(table.shown) + 1


@pytest.mark.parametrize("report", REPORTS)
def test_csv_is_intact_and_harmless(rendered_reports, text, report):
    content = rendered_reports[report][1]
    assert_no_control(content)
    header, *records = csv.reader(io.StringIO(content, newline=""))
    assert {len(record) for record in records} == {len(header)}
    cells = [cell for record in (header, *records) for cell in record]
    assert any(printable(text) in cell for cell in cells)


@pytest.mark.parametrize("report", REPORTS)
def test_json_keeps_every_character(rendered_reports, text, report):
    plain = rendered_reports[report][2]
    written = json.dumps(plain, ensure_ascii=True, allow_nan=False)
    assert written.isascii()
    assert written.isprintable()
    assert any(text in string for string in strings(json.loads(written)))


def strings(value: object) -> list[str]:
    """All the keys and texts in plain data."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.items() for pair in item for text in strings(pair)]
    return [text for pair in value for text in strings(pair)] if isinstance(value, list) else []


def report_page(text: str) -> str:
    """A page with every section that single choices can have."""
    data = dataset(text)
    solvers = [named(f"{text} long", 1), named(f"{text} short", -1)]
    evaluation = with_significance(with_intervals(evaluate(data, solvers), 50), f"{text} long", 50)
    breakdown = break_down(evaluation.results, group_questions(data, text), n=50)
    content = PageContent(
        replace(evaluation, notes=(text,), warnings=(text,)),
        check_dataset(data),
        describe_datasets([data]),
        explanations={0: map(solvers[0].explain, data)},
        breakdowns=[breakdown],
        published=True,
        title=text,
    )
    return page_html(content)


def explanation_page(text: str) -> str:
    """An explained question with terms, a quote, and marks that end wherever they like."""
    question = dataset(text)[0]
    marks = (Mark(0, 14, "window"), Mark(11, 13, "question", -0.5), Mark(12, 15, "candidate", 2.0))
    candidates = []
    for i, candidate in enumerate(question.candidates):
        head = candidate.text, float(i), bool(i), marks[i:], {text: i + 0.5}
        candidates.append(CandidateExplanation(*head, text if i else None, text))
    return explanation_html(Explanation(text, question, tuple(candidates)))


PAGES = {"report": report_page, "explanation": explanation_page}


@cache
def harmless_page(name: str) -> str:
    return PAGES[name]("harmless")


def markup(outline) -> set[tuple[str, str]]:
    """All elements with the names of their attributes."""
    return {(tag, name) for tag, attributes in outline.elements for name in ("", *attributes)}


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_intact_and_harmless(text, name, outline):
    page = PAGES[name](text)
    for character in page:
        assert character in "\t\n" or printable(character) == character
    page_outline, plain = outline(page), outline(harmless_page(name))
    # Only the hostile options are so much alike that there are duplicates.
    of_duplicates = {("th", "colspan"), ("br", ""), ("del", ""), ("ins", "")}
    assert markup(page_outline) <= markup(plain) | of_duplicates
    scripts = [attributes for tag, attributes in page_outline.elements if tag == "script"]
    assert scripts == [attributes for tag, attributes in plain.elements if tag == "script"]
    printed = printable(text, keep="\t\n")
    assert printed in page_outline.text or printable(text) in page_outline.text
    attributes = [
        value or "" for _, attributes in page_outline.elements for value in attributes.values()
    ]
    assert not [value for value in attributes if printed in value or printable(text) in value]
