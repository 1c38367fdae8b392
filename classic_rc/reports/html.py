"""Self-contained HTML: escaped text, tables for eyes and for screen readers, documents that fetch nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from classic_rc.io.printable import printable
from classic_rc.reports.tables import Table

_BAR = 60
"""The length of the longest bar, in pixels."""


def escaped(text: str) -> str:
    r"""Text for an element or a quoted attribute; control characters are spelled out, line breaks stay.

    Examples
    --------
    >>> escaped('<b title="x">\x1b')
    '&lt;b title=&quot;x&quot;&gt;\\x1b'
    """
    return html.escape(printable(text, keep="\t\n"))


def embedded_json(value: Any) -> str:
    r"""JSON that can stand in a ``<script type="application/json">`` whatever texts it holds.

    All of it is ASCII, and no ``<`` is left that could begin ``</script>`` or ``<!--``.

    Examples
    --------
    >>> print(embedded_json(["</script>", "caf\u00e9"]))
    ["\u003c/script>","caf\u00e9"]
    """
    compact = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return compact.replace("<", "\\u003c")  # outside strings JSON has none


def html_table(table: Table, id: str) -> str:
    """A table with a caption and headed rows and columns; it scrolls by itself where it is too wide.

    Parameters
    ----------
    table : Table
        Its notes follow it.
    id : str
        Of the caption, unique in the document.
    """
    faint_columns = {j for _, j in table.faint if all((i, j) in table.faint for i in range(len(table.rows)))}

    def cell(tag: str, column: int, content: str, faint: bool, scope: str = "") -> str:
        classes = " ".join(name for name, of in (("left", column in table.left), ("grey", faint)) if of)
        look = f' class="{classes}"' if classes else ""
        return f"<{tag}{scope}{look}>{content}</{tag}>"

    def line(i: int, row: Sequence[str]) -> str:
        cells = []
        for j, text in enumerate(row):
            bold, faint = ((i, j) in places for places in (table.bold, table.faint))
            content = escaped(f"({text})" if faint else text).replace(" [", " <wbr>[")  # room for an interval
            content = f"<strong>{content}</strong>" if bold else content
            cells.append(cell("td", j, content, faint) if j else cell("th", j, content, faint, ' scope="row"'))
        return f"<tr>{''.join(cells)}</tr>"

    head = "".join(
        cell("th", j, escaped(text), j in faint_columns, ' scope="col"') for j, text in enumerate(table.header)
    )
    return "\n".join(
        [
            f'<div class="wide" role="region" tabindex="0" aria-labelledby="{id}">',
            f'<table><caption id="{id}"><span>{escaped(table.title)}</span></caption>',
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *(line(i, row) for i, row in enumerate(table.rows)),
            "</tbody></table></div>",
            html_notes(table.notes),
        ]
    )


def html_notes(notes: Iterable[str], look: str = "notes") -> str:
    """Lines of small print, or in another look of the style sheet; nothing where there is none."""
    items = "".join(f"<li>{escaped(note)}</li>" for note in notes)
    return f'<ul class="{look}">{items}</ul>' if items else ""


def html_bar(value: float, largest: float) -> str:
    """A bar as long as a number is large beside the largest, to the left of zero where it is negative.

    Parameters
    ----------
    value : float
    largest : float
        The largest magnitude that is to be shown, in the same unit.
    """
    length = round(min(abs(value) / largest, 1) * _BAR) if 0 < largest < float("inf") and value == value else 0
    start, sign = (_BAR - length, "minus") if value < 0 else (_BAR, "plus")
    return (
        f'<svg class="bar" width="{2 * _BAR}" height="10" aria-hidden="true">'
        f'<rect class="{sign}" x="{start}" width="{length}" height="10"/></svg>'
    )


def html_document(title: str, body: str, *, data: Mapping[str, Any] | None = None) -> str:
    """A whole document with the package's style and, where there is data, the script that browses it.

    Style and script stand in the document, and its content security policy allows these two alone, by their
    hashes: nothing is fetched or sent, and no markup that came with the data could run.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    data : mapping, optional
        What the script reads.
    """
    style, script = _resource("report.css"), "" if data is None else _resource("report.js")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="format-detection" content="telephone=no">',
        f"<title>{escaped(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        body,
    ]
    if script:
        lines += [
            f'<script type="application/json" id="data">{embedded_json(data)}</script>',
            f"<script>{script}</script>",
        ]
    return "\n".join([*lines, "</body>", "</html>", ""])


@cache
def _resource(name: str) -> str:
    return files("classic_rc.reports").joinpath("page", name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
