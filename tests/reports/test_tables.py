"""Tables in every format, exact to the letter; any text is literal in Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.io.text import printable
from classic_rc.tables import TABLE_FORMATS, Cell, Column, RowGroup, Table, records_csv, render
from classic_rc.tables.latex import latex_escape, latex_preamble
from classic_rc.tables.markup import markdown_block, markdown_escape
from classic_rc.tables.text import (
    column_width,
    isolate_direction,
    render_text,
    terminal_width,
    wrap,
)
from tests.tables import texts

PLAIN = Table(
    "mini · 2 questions",
    [Column("system"), Column("Acc.", "percent")],
    [RowGroup([["random", 0.25], ["sw+d", 0.075]])],
    signatures={"sw+d": "sw+d|a:word"},
)


def table_of(names, *rows, notes=()):
    """A table of texts."""
    return Table("t", [Column(name) for name in names], [RowGroup(rows)], notes)


def test_plain_text_shows_signatures_only_if_asked():
    assert "sw+d|a:word" not in render(PLAIN, "table")
    for form in TABLE_FORMATS.keys() - {"table", "csv"}:
        assert "a:word" in render(PLAIN, form)


COLUMNS = [
    Column("name"),
    Column("%", "percent"),
    Column("points", "points", group="G"),
    Column("n", "count", group="G"),
    Column("x", "number", 1),
    Column("p", "p"),
    Column("hidden", hidden=True),
]
BEST, LOSS = Cell(0.5, (0.25, 0.75), "*", bold=True), Cell(-0.1, (-0.2, 0.0))
FIRST = ["a", BEST, LOSS, 1234, 2.25, 0.00001, 7]
SECOND = ["b", Cell(Decimal("0.579"), faint=True), None, float("nan"), "?", 0.5, 8]
GROUPS = [RowGroup([FIRST], "A"), RowGroup([SECOND], "B")]
EVERY = Table("every kind", COLUMNS, GROUPS, facts={"dataset": "d"})


def test_the_kind_of_a_column_writes_its_values():
    assert texts(EVERY) == [
        ["a", "50.00* [25.0, 75.0]", "-10.00 [-20.0, +0.0]", "1,234", "2.2", "1.0e-05"],
        ["b", "(57.9)", "–", "–", "?", "0.5000"],
    ]
    assert EVERY["%"]["a"].interval == (0.25, 0.75)


def test_csv_has_bounds_and_marks_in_columns_of_their_own():
    first, second = csv.DictReader(io.StringIO(render(EVERY, "csv")))
    assert first == {
        "dataset": "d",
        "block": "A",
        "name": "a",
        "%": "0.5",
        "%_low": "0.25",
        "%_high": "0.75",
        "%_mark": "*",
        "G points": "-0.1",
        "G points_low": "-0.2",
        "G points_high": "0.0",
        "G n": "1234",
        "x": "2.25",
        "p": "1e-05",
        "hidden": "7",
    }
    assert (second["%"], second["G points"], second["x"]) == ("0.579", "", "?")


def test_csv_keeps_columns_of_one_name_apart():
    table = table_of(["a", "a"], ["1", "2"])
    assert list(table.records()[0].values()) == ["1", "2"]


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_every_format_has_every_value(form):
    rendered = render(EVERY, form)
    assert all(text in rendered for text in ("A", "B", "75", "57.9" if form != "csv" else "0.579"))


@pytest.mark.parametrize("style", ["lines", "pm", "none"])
def test_intervals_in_each_style(style):
    column = Column("x", "percent", 1, intervals=style)
    expected = {"lines": "50.0 [25.0, 60.0]", "pm": "50.0 ± 25.0", "none": "50.0"}
    assert column.text(Cell(0.5, (0.25, 0.6))) == expected[style]


# --------------------------------------------------------------------------------------------------
# The width of plain text


def wide_table(n_columns, n_rows=3):
    metrics = [Column(f"metric {j}", "percent") for j in range(n_columns)]
    columns = [Column("system"), *metrics, Column("notes", "note")]
    rows = []
    for i in range(n_rows):
        marks = ["", *"*" * (n_columns - 1)]
        cells = [Cell((i + j) / 100, (0.0, 0.5), mark) for j, mark in enumerate(marks)]
        rows.append([f"system {i}", *cells, "a note " * 9])
    return Table("A title", columns, [RowGroup(rows, "a heading")], ["A note of some words " * 9])


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
@pytest.mark.parametrize("n_columns", [1, 4, 9])
def test_text_fits_and_nothing_is_cut(width, n_columns):
    table = wide_table(n_columns)
    rendered = render_text(table, width=width)
    assert max(map(column_width, rendered.splitlines())) <= width
    words = "".join(rendered.split())
    for cells in texts(table):
        for text in cells:
            assert "".join(text.split()) in words
    n_panels = sum(set(line) == {"-"} for line in rendered.splitlines())
    assert rendered.count("[a heading]") == n_panels
    assert sum(line.startswith("system 1") for line in rendered.splitlines()) == n_panels


def test_notes_are_numbered_below_a_table_that_is_too_wide():
    columns = [Column("system"), Column("x", "count"), Column("notes", "note")]
    tuned = "tuned " * 8
    rows = [["a", 1, tuned], ["b", 2, "other"], ["c", 3, tuned], ["d", 4, ""]]
    table = Table("t", columns, [RowGroup(rows)])
    lines = render_text(table, width=30).splitlines()
    assert lines[3:7] == ["a [1]   1", "b [2]   2", "c [1]   3", "d       4"]
    assert "[2] other" in lines
    assert "notes" in render_text(table, width=80)


def test_panels_repeat_all_names_of_a_row():
    numbers = [Column(f"n{j}", "count") for j in range(9)]
    rows = [["a", name, *[10**6] * 9] for name in "bc"]
    table = Table("t", [Column("first"), Column("second"), *numbers], [RowGroup(rows)])
    lines = render_text(table, width=60).splitlines()
    names = [line[:8] for line in lines if line.startswith("a ")]
    assert names == ["a      b", "a      c"] * 3


def test_the_width_is_that_of_the_environment_or_a_hundred(monkeypatch):
    monkeypatch.setenv("COLUMNS", "67")
    assert terminal_width() == 67


@given(st.text(alphabet="ab ,;日本\u0301"), st.integers(2, 9))
def test_wrapped_lines_have_every_character_and_fit(text, width):
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(column_width(line) <= width for line in lines)


def cell(text: str, form: str) -> str:
    """A cell's text in the only row of a table."""
    lines = render(table_of(["x"], [text]), form).splitlines()
    return lines[-6].removesuffix(r" \\") if form == "latex" else lines[-1][2:-2]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("50 % & more", r"50 \% \& more"),
        ("f1_a #1 $x$", r"f1\_a \#1 \$x\$"),
        ("{a}~b^c", r"\{a\}\textasciitilde{}b\textasciicircum{}c"),
        ("C:\\data", r"C:\textbackslash{}data"),
        ("a<b>c|d", r"a\textless{}b\textgreater{}c\textbar{}d"),
        ("[option]", "{[}option]"),
        ("a\nb", r"a\textbackslash{}nb"),
    ],
)
def test_special_characters_are_escaped_in_latex(text, printed):
    assert cell(text, "latex") == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("*x* `y`", r"\*x\* \`y\`"),
        ("<b>", r"\<b>"),
        ("f1_a", "f1_a"),
    ],
)
def test_special_characters_are_escaped_in_markdown(text, printed):
    assert cell(text, "markdown") == printed


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html"])
def test_control_characters_are_spelled_out_everywhere(form):
    title, header, content, note = (f"{place}\x1b[31m\n\u202e" for place in "thcn")
    table = Table(title, [Column(header)], [RowGroup([[content]])], [note])
    rendered = render(table, form)
    assert "\x1b" not in rendered
    assert "\u202e" not in rendered
    assert rendered.count("\n") == render(table_of(["h"], ["c"], notes=["n"]), form).count("\n")
    escaped = {"markdown": r"\\x1b", "latex": r"\textbackslash{}x1b"}.get(form, r"\x1b")
    assert rendered.count(escaped) >= 3


def test_wide_and_zero_width_characters_line_up():
    rows = [["日本", "1"], ["ab", "22"], ["e\u0301e\u0301", "3"], ["👩\u200d", "4"], ["ﾊﾞ", "5"]]
    columns = [Column("name"), Column("n", "count")]
    lines = render(Table("t", columns, [RowGroup(rows)]), "table").splitlines()[3:]
    assert lines == ["日本   1", "ab    22", "e\u0301e\u0301     3", "👩\u200d     4", "ﾊﾞ     5"]


def test_a_table_without_rows_or_notes():
    assert render(table_of(["a", "bb"]), "table") == "t\na  bb\n-----\n"
    for form in TABLE_FORMATS:
        assert render(table_of(["a"]), form).endswith("\n")


NAMED = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textasciigrave": "`",
}


def latex_read(escaped: str) -> str:
    """What LaTeX would set: fails on any command, group or active character that is no escape of
    a letter.
    """
    printed, at = [], 0
    token = re.compile(
        r"\\([a-z]+)\{\}|\\([&%$#_{}])|\{([\[*])\}|([-,'])\{\}|([^\\{}$&#^_~%`<>|\[*])"
    )
    while at < len(escaped):
        match = token.match(escaped, at)
        assert match, escaped[at:]
        name, *rest = match.groups()
        printed.append(NAMED[name] if name else next(filter(None, rest)))
        at = match.end()
    return "".join(printed)


@given(st.text() | st.text(alphabet="\\{}$&#^_~%`<>|[]*-,'\"!?a "))
def test_latex_sets_the_text_and_nothing_but_the_text(text):
    escaped = latex_escape(text)
    assert latex_read(escaped) == text
    assert not re.search(r"--|''|,,|[?!]`", escaped)  # what fonts would make one character of


@given(st.text() | st.text(alphabet="\\|*`<>[]()!_~&$#+-=1. \ta"))
def test_markdown_loses_nothing_but_backslashes(text):
    escaped = markdown_escape(text)
    assert re.sub(r"\\([\\|*`<~&$_\]])", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)(\\\\)*[|*`<~&$]", escaped)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("[click](javascript:x)", r"[click\](javascript:x)"),
        ("![x][y]", r"![x\][y]"),
        ("[x]: http://x", r"[x\]: http://x"),
        ("57.9 [55.1, 60.6]", "57.9 [55.1, 60.6]"),
        ("<script>&lt;", r"\<script>\&lt;"),
        ("f1_a __init__ _x", r"f1_a \_\_init__ \_x"),
    ],
)
def test_markdown_has_no_links_html_or_emphasis(text, printed):
    assert markdown_escape(text) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("# no heading", r"\# no heading"),
        ("- no list", r"\- no list"),
        ("+ x", r"\+ x"),
        ("> no quote", r"\> no quote"),
        ("===", r"\==="),
        ("12. x", r"12\. x"),
        ("3) x", r"3\) x"),
        ("12.5 x", r"12\.5 x"),
        ("95 % interval", "95 % interval"),
        ("    no code", "no code"),
        ("", ""),
    ],
)
def test_a_line_of_markdown_is_a_plain_paragraph(text, printed):
    assert markdown_block(text) == printed


def test_letters_from_right_to_left_are_isolated():
    assert isolate_direction("sw+d – 57.9") == "sw+d – 57.9"
    for text in ("שלום", "a مرحبا 1"):
        assert isolate_direction(text) == f"\u2068{text}\u2069"


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4))
def test_every_cell_keeps_its_place_in_a_line_of_text(cells):
    """With isolates, a line is a sequence of closed units: no cell's direction reaches over its
    border.
    """
    lines = render_text(table_of(cells, cells), width=10_000).splitlines()
    for character in lines[1]:
        assert unicodedata.category(character) not in ("Cc", "Zl", "Zp")
    n_isolates = sum(map(is_right_to_left, cells))
    assert lines[1].count("\u2068") == n_isolates
    assert lines[1].count("\u2069") == n_isolates


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)


def test_remarks_name_what_a_document_needs():
    assert latex_preamble(["a"]) == [r"\usepackage{booktabs,adjustbox}"]
    for text in ("日本", "שלום", "👩"):
        assert "XeLaTeX" in latex_preamble([text])[1]
    assert len(latex_preamble(["naïve – “Ł”…"])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "=HYPERLINK(1)",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "\u00a0=1",
        "-",
        "--1",
        "+-1",
        "-1 ",
        "=",
        "\uff1d1",
        "\uff0bcmd",
        "\uff0d1",
        "\uff20x",
        "-inf",
        "-1\n",
        "+1-1",
        "-\u0663",
    ],
)
def test_no_text_of_a_csv_cell_is_run(text):
    """Names and values of groups come from the data of others."""
    rows = list(csv.reader(io.StringIO(records_csv([{"name": text, text: 1}]))))
    for cell in (rows[0][1], rows[1][0]):
        assert cell.startswith("'")
        assert cell[1:] == printable(text)


@pytest.mark.parametrize(
    "value", [-1, -0.5, -1e-300, float("-inf"), "-0.5", "+3.25", "-1e-05", "-.5", "-7", "+12."]
)
def test_numbers_in_csv_are_untouched(value):
    rows = list(csv.reader(io.StringIO(records_csv([{"difference": value}]))))
    assert rows == [["difference"], [str(value)]]


def test_columns_whose_names_are_shown_alike_stay_apart():
    records = [{"=a": 1, "'=a": 2}, {"'=a": 3, "b": None}]
    rows = list(csv.reader(io.StringIO(records_csv(records))))
    assert rows == [["'=a", "'=a", "b"], ["1", "2", ""], ["", "3", ""]]
