"""Renderings of a table, to the letter."""

from __future__ import annotations

import pytest

from classic_rc.reports import FORMATS, Table, render

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


@pytest.mark.parametrize("form", FORMATS)
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
    for form in FORMATS:
        assert render(Table("t", ["a"], []), form).endswith("\n")
