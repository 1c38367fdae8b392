"""HTML: escaping, template values, content security, and colours with enough contrast."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

import classic_rc
from classic_rc.reports.html import SignedBar, escape_html, json_for_script, template_environment
from classic_rc.tables import Cell, Column, RowGroup, Table

PACKAGE = Path(classic_rc.__file__).parent


@given(st.text())
def test_escaped_text_comes_back_and_brings_no_markup(outline, text):
    parsed = outline(f'<p title="{escape_html(text)}">{escape_html(text)}</p>')
    ((tag, attributes),) = parsed.elements
    assert (tag, list(attributes)) == ("p", ["title"])
    assert parsed.text == (attributes["title"] or "")
    if text.isprintable():
        assert parsed.text == text


@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda values: st.lists(values, max_size=3))
)
def test_embedded_json_comes_back_and_cannot_end_its_element(outline, value):
    text = json_for_script(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert "<" not in text
    parsed = outline(f'<script type="application/json">{text}</script>')
    assert json.loads(parsed.text) == value


@given(st.text())
def test_whatever_a_template_writes_is_escaped(text):
    source = (
        '<p title="{{ text }}">{{ text }}{% for c in [text] %}{{ c }}{% endfor %}{{ [text] | join '
        "}}</p>"
    )
    escaped = escape_html(text)
    assert (
        template_environment().from_string(source).render(text=text)
        == f'<p title="{escaped}">{3 * escaped}</p>'
    )


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("templates/*.html")), ids=lambda path: path.stem
)
def test_no_template_turns_escaping_off(path):
    source = path.read_text(encoding="utf-8")
    assert re.findall(r"\b(safe|autoescape|escape|e)\b(?=[^{}]*[%}]\})", source) == []


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("templates/*.html")), ids=lambda path: path.stem
)
def test_landmarks_and_what_scrolls_can_be_reached(path):
    source = path.read_text(encoding="utf-8")
    assert source.count("<main>") == ('extends "document.html"' in source)
    assert source.count("<h1") == source.count("<main>")
    for scrolls in re.findall(r'<div class="wide"[^>]*>', source):
        assert re.search(r' role="\w+"', scrolls)
        assert re.search(r' aria-label(ledby)?="', scrolls)
        assert ' tabindex="0"' in scrolls
    assert all("aria-level" in tag for tag in re.findall(r'<[^>]*role="heading"[^>]*>', source))


def test_code_wraps_and_needs_no_scrolling():
    style = (PACKAGE / "reports" / "templates" / "document.css").read_text(encoding="utf-8")
    rules = re.findall(r"^pre\b[^{]*\{([^}]*)\}", style, re.MULTILINE)
    assert rules
    assert all("white-space: pre-wrap" in rule and "overflow" not in rule for rule in rules)


@pytest.mark.parametrize(
    "source", ["{{ table.no_such }}", "{% if no_such %}{% endif %}", "{{ no_such | join }}"]
)
def test_what_is_not_there_is_an_error(source):
    with pytest.raises(jinja2.UndefinedError, match="no_such"):
        template_environment().from_string(source).render(table=Table("t", [Column("a")], []))


@pytest.mark.ci
def test_jinja_loads_with_the_first_page():
    code = (
        "import pkgutil, sys\n"
        "from importlib import import_module\n"
        "import classic_rc.reports\n"
        "assert not [name for name in sys.modules if name.startswith('classic_rc.reports.')]\n"
        "for name in classic_rc.reports.__all__:\n"
        "    getattr(classic_rc.reports, name)\n"
        "for module in pkgutil.iter_modules(classic_rc.reports.__path__, 'classic_rc.reports.'):\n"
        "    import_module(module.name)\n"
        "assert not {'jinja2', 'markupsafe', 'matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numbers_that_json_lacks_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        json_for_script([float("nan")])


def test_a_table_has_a_caption_and_headed_rows_and_columns(html_part, outline):
    rows = [
        ["<a>", Cell(0.01, (0.005, 0.015), bold=True), "note"],
        ["b", Cell(0.02, faint=True), ""],
    ]
    columns = [Column("system"), Column("Acc.", "percent"), Column("notes", "note")]
    table = Table("T & U", columns, [RowGroup(rows)], ["n < 3"])
    html = html_part("table", table, "here")
    parsed = outline(html)
    scopes = [attributes.get("scope") for tag, attributes in parsed.elements if tag == "th"]
    assert scopes == ["col"] * 3 + ["row"] * 2
    assert ("caption", {"id": "here"}) in parsed.elements
    region = parsed.elements[0][1]
    assert region["role"] == "region"
    assert region["aria-labelledby"] == "here"
    assert region["tabindex"] == "0"
    assert "<strong>1.00</strong><wbr><small> [0.5, 1.5]</small>" in html
    assert '<td class="grey">(2.00)</td>' in html
    assert parsed.text.split("\n")[-1] == "n < 3"


def test_no_notes_take_no_room(html_part):
    assert html_part("notes", []) == ""


@pytest.mark.parametrize(
    ("value", "largest", "shape"),
    [
        (2.0, 2.0, ("plus", 60, 60)),
        (-1.0, 2.0, ("minus", 30, 30)),
        (0.0, 0.0, ("plus", 60, 0)),
        (float("inf"), float("inf"), ("plus", 60, 0)),
        (float("nan"), 1.0, ("plus", 60, 0)),
    ],
)
def test_a_bar_is_as_long_as_its_share_of_the_largest(value, largest, shape):
    assert SignedBar.of(value, largest) == shape


def document(title, **values):
    """A document with a title and a line."""
    title_block = "{% block title %}{{ title }}{% endblock %}"
    body_block = "{% block body %}<p>body</p>\n{% endblock %}"
    template = template_environment().from_string(
        f'{{% extends "document.html" %}}{title_block}{body_block}'
    )
    return template.render(title=title, **values)


def test_a_document_allows_only_its_own_style_and_script(outline):
    html = document(
        "a</title><script>",
        data={"text": "</script>"},
        script=Markup("'use strict'"),
        own_style=Markup("p {}"),
    )
    parsed = outline(html)
    headers = {a["http-equiv"]: a["content"] for _, a in parsed.elements if "http-equiv" in a}
    policy = headers["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        content = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules.pop(name) == f"'sha256-{digest}'"
    assert rules == {}
    assert len([tag for tag, _ in parsed.elements if tag == "script"]) == 2
    without_namespace = html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(?:src|href)\s*=|url\(|@import|https?:", without_namespace)


def test_a_document_may_have_no_script():
    html = document("t")
    assert "<script" not in html
    assert "script-src" not in html


def _luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = [channel / 255 for channel in bytes.fromhex(digits)]
    linear = [
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(foreground: str, background: str) -> float:
    dark, light = sorted((_luminance(foreground), _luminance(background)))
    return (light + 0.05) / (dark + 0.05)


TEXTS = [
    ("ink", "ground"),
    ("ink", "window"),
    ("pale", "ground"),
    ("pale", "raised"),
    ("link", "ground"),
]
TEXTS += [(word, ground) for word in ("question", "candidate") for ground in ("ground", "window")]
TEXTS += [(verdict, f"{verdict}-ground") for verdict in ("right", "wrong", "partly")]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_read(scheme):
    """WCAG 2, level AA: 4.5 to 1 for text, 3 to 1 for what else has a meaning."""
    style = (
        files("classic_rc.reports")
        .joinpath("templates", "explained.css")
        .read_text(encoding="utf-8")
    )
    colour_pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\);", style)
    colours = {name: pair[scheme] for name, *pair in colour_pairs}
    marks = [(line, ground) for line in ("pair", "frame") for ground in ("ground", "window")]
    for pairs, minimum in ((TEXTS, 4.5), (marks, 3)):
        for foreground, background in pairs:
            contrast = _contrast(colours[foreground], colours[background])
            assert contrast >= minimum, (foreground, background)
