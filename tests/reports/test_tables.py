"""Tables in every format, exact to the letter; any text is literal in Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.io.printable import printable
from classic_rc.reports import TABLE_FORMATS, Table, render
from classic_rc.reports.tables import (
    isolate_direction,
    latex_escape,
    latex_preamble,
    markdown_block,
    markdown_escape,
    records_csv,
)

PLAIN = Table(
    "mini · 2 questions",
    ["system", "Acc.", "notes"],
    [["random", "25.00", ""], ["sw+d", "7.50", "ties: first"]],
    frozenset({0, 2}),
    ["Signatures", "sw+d = sw+d|a:word"],
)


def test_text():
    assert render(PLAIN, "table") == (
        "mini · 2 questions\n"
        "system   Acc.  notes\n"
        "--------------------------\n"
        "random  25.00\n"
        "sw+d     7.50  ties: first\n"
        "\n"
        "Signatures\n"
        "sw+d = sw+d|a:word\n"
    )


def test_markdown():
    assert render(PLAIN, "markdown") == (
        "**mini · 2 questions**\n"
        "\n"
        "| system | Acc. | notes |\n"
        "|---|---:|---|\n"
        "| random | 25.00 |  |\n"
        "| sw+d | 7.50 | ties: first |\n"
        "\n"
        "Signatures\n"
        "\n"
        "sw+d = sw+d\\|a:word\n"
    )


def test_latex():
    assert render(PLAIN, "latex") == (
        "% Signatures\n"
        "% sw+d = sw+d|a:word\n"
        "% \\usepackage{booktabs}\n"
        "\\begin{table}\n"
        "\\centering\n"
        "\\caption{mini · 2 questions}\n"
        "\\begin{tabular}{lrl}\n"
        "\\toprule\n"
        "system & Acc. & notes \\\\\n"
        "\\midrule\n"
        "random & 25.00 &  \\\\\n"
        "sw+d & 7.50 & ties: first \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\\end{table}\n"
    )


def cell(text: str, form: str) -> str:
    """A cell's text in the only row of a table."""
    lines = render(Table("t", ["x"], [[text]]), form).splitlines()
    return {"table": lines[-1], "markdown": lines[-1][2:-2], "latex": lines[-4].removesuffix(r" \\")}[form]


@pytest.mark.parametrize(
    ("text", "shown"),
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
def test_latex_specials(text, shown):
    assert cell(text, "latex") == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a|b", r"a\|b"), ("a\\|b", r"a\\\|b"), ("*x* `y`", r"\*x\* \`y\`"), ("<b>", r"\<b>"), ("f1_a", "f1_a")],
)
def test_markdown_specials(text, shown):
    assert cell(text, "markdown") == shown


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_control_characters_are_spelled_out_everywhere(form):
    evil = "\x1b[31m\n\u202e"
    shown = render(Table(f"t{evil}", [f"h{evil}"], [[f"c{evil}"]], notes=[f"n{evil}"]), form)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("\n") == render(Table("t", ["h"], [["c"]], notes=["n"]), form).count("\n")
    escaped = r"\x1b" if form == "table" else r"\\x1b" if form == "markdown" else r"\textbackslash{}x1b"
    assert shown.count(escaped) >= 3


def test_wide_and_zero_width_characters_line_up():
    rows = [["日本", "1"], ["ab", "22"], ["e\u0301e\u0301", "3"], ["👩\u200d", "4"], ["ﾊﾞ", "5"]]
    lines = render(Table("t", ["name", "n"], rows), "table").splitlines()[3:]
    assert lines == ["日本   1", "ab    22", "e\u0301e\u0301     3", "👩\u200d     4", "ﾊﾞ     5"]


def test_a_table_without_rows_or_notes():
    assert render(Table("t", ["a", "bb"], []), "table") == "t\na  bb\n-----\n"
    for form in TABLE_FORMATS:
        assert render(Table("t", ["a"], []), form).endswith("\n")


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
    """What LaTeX would set: fails on any command, group or active character that is no escape of a letter."""
    shown, at = [], 0
    token = re.compile(r"\\([a-z]+)\{\}|\\([&%$#_{}])|\{([\[*])\}|([-,'])\{\}|([^\\{}$&#^_~%`<>|\[*])")
    while at < len(escaped):
        found = token.match(escaped, at)
        assert found, escaped[at:]
        name, *rest = found.groups()
        shown.append(NAMED[name] if name else next(filter(None, rest)))
        at = found.end()
    return "".join(shown)


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
    ("text", "shown"),
    [
        ("[click](javascript:x)", r"[click\](javascript:x)"),
        ("![x][y]", r"![x\][y]"),
        ("[x]: http://x", r"[x\]: http://x"),
        ("57.9 [55.1, 60.6]", "57.9 [55.1, 60.6]"),
        ("<script>&lt;", r"\<script>\&lt;"),
        ("f1_a __init__ _x", r"f1_a \_\_init__ \_x"),
    ],
)
def test_markdown_has_no_links_html_or_emphasis(text, shown):
    assert markdown_escape(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
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
def test_a_line_of_markdown_is_a_plain_paragraph(text, shown):
    assert markdown_block(text) == shown


def test_letters_from_right_to_left_are_isolated():
    assert isolate_direction("sw+d – 57.9") == "sw+d – 57.9"
    for text in ("שלום", "a مرحبا 1"):
        assert isolate_direction(text) == f"\u2068{text}\u2069"


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4))
def test_every_cell_keeps_its_place_in_a_line_of_text(cells):
    """With isolates, a line is a sequence of closed units: no cell's direction reaches over its border."""
    lines = render(Table("t", cells, [cells]), "table").splitlines()
    for character in lines[1]:
        assert unicodedata.category(character) not in ("Cc", "Zl", "Zp")
    assert lines[1].count("\u2068") == lines[1].count("\u2069") == sum(map(is_right_to_left, cells))


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)


def test_remarks_name_what_a_document_needs():
    assert latex_preamble(["a"]) == [r"\usepackage{booktabs}"]
    assert latex_preamble([r"\textcolor{gray}{(1)}"]) == [r"\usepackage{booktabs,xcolor}"]
    for text in ("日本", "שלום", "👩"):
        assert "XeLaTeX" in latex_preamble([text])[1]
    assert len(latex_preamble(["naïve – “Ł”…"])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "-", "--1", "+-1",
        "-1 ", "=", "\uff1d1", "\uff0bcmd", "\uff0d1", "\uff20x", "-inf", "-1\n", "+1-1", "-\u0663",
    ],
)  # fmt: skip
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
