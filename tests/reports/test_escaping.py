"""Text as literal text of Markdown and LaTeX."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.reports import Table, render
from classic_rc.reports.tables import isolated, latex_escape, latex_preamble, markdown_block, markdown_escape

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
    assert isolated("sw+d – 57.9") == "sw+d – 57.9"
    for text in ("שלום", "a مرحبا 1"):
        assert isolated(text) == f"\u2068{text}\u2069"


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4))
def test_every_cell_keeps_its_place_in_a_line_of_text(cells):
    """With isolates, a line is a sequence of closed units: no cell's direction reaches over its border."""
    lines = render(Table("t", cells, [cells]), "table").splitlines()
    for character in lines[1]:
        assert unicodedata.category(character) not in ("Cc", "Zl", "Zp")
    assert lines[1].count("\u2068") == lines[1].count("\u2069") == sum(map(is_right_to_left, cells))


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)


def test_what_a_document_needs_is_said():
    assert latex_preamble(["a"]) == [r"\usepackage{booktabs}"]
    assert latex_preamble([r"\textcolor{gray}{(1)}"]) == [r"\usepackage{booktabs,xcolor}"]
    for text in ("日本", "שלום", "👩"):
        assert "XeLaTeX" in latex_preamble([text])[1]
    assert len(latex_preamble(["naïve – “Ł”…"])) == 1
