"""Tables in Markdown and HTML. Both escape their markup, so that any text is shown literally."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape

from classic_rc.io.text import printable
from classic_rc.tables.model import Cell, Column, Table
from classic_rc.tables.text import isolate_direction

# --------------------------------------------------------------------------------------------------
# Markdown


def write_markdown(tables: Sequence[Table], signatures: bool) -> str:
    """Return tables as Markdown below each other, with their signatures."""
    return "\n".join(map(render_markdown, tables))


def write_html(tables: Sequence[Table], signatures: bool) -> str:
    """Return tables as HTML below each other, with their signatures."""
    return "\n".join(map(render_html, tables))


def render_markdown(table: Table) -> str:
    """Return a table as Markdown."""
    lines = [f"**{markdown_escape(printable(table.title))}**", "", *markdown_lines(table)]
    notes = (*table.note_lines, *table.signature_lines)
    return "\n".join([*lines, *(f"\n{markdown_block(note)}" for note in notes)]) + "\n"


def markdown_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table without its title and notes. Only the number of a bold cell is
    bold.
    """

    def text(content: str) -> str:
        return isolate_direction(markdown_escape(content))

    def shown(column: Column, cell: Cell) -> str:
        parts = column.parts(cell)
        if cell.bold:
            return f"**{text(parts.number)}**{text(parts.mark + parts.interval)}"
        return text(str(parts))

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    yield line([text(column.heading) for column in table.shown])
    yield "|" + "|".join("---" if column.is_text else "---:" for column in table.shown) + "|"
    empty = [""] * (len(table.shown) - 1)
    for heading, cells in table.lines():
        if heading is not None:
            yield line([f"*{text(heading)}*", *empty])
        yield line([shown(column, cell) for column, cell in zip(table.shown, cells, strict=True)])


_MARKDOWN_SPECIALS = re.compile(
    r"[\\|*`<~&$]"
    r"|(?<![^\W_])_(?=\S)"  # "_" that could begin emphasis; within a word it is literal
    r"|\](?=[(\[:])"  # "]" that would turn the text before it into a link
)
_MARKDOWN_BLOCK = re.compile(r"([#+=>-]|[0-9]+(?=[.)]))")


def markdown_escape(text: str) -> str:
    r"""Escape text for use within a line of Markdown: no markup, no HTML, no link, no entity.

    Examples
    --------
    >>> print(markdown_escape("<b>f1_a</b> &amp; [x](y) __init__"))
    \<b>f1_a\</b> \&amp; [x\](y) \_\_init__
    """
    return _MARKDOWN_SPECIALS.sub(r"\\\g<0>", text)


def markdown_block(text: str) -> str:
    r"""Escape text like :func:`markdown_escape` for a line of its own: also no heading, list or
    rule.

    Examples
    --------
    >>> print(markdown_block("# 1"), markdown_block("2. x"))
    \# 1 2\. x
    """
    escaped = markdown_escape(text.lstrip())
    match = _MARKDOWN_BLOCK.match(escaped)
    if match is None:
        return escaped
    if match[1].isdecimal():
        return f"{match[1]}\\{escaped[match.end() :]}"
    return f"\\{escaped}"


# --------------------------------------------------------------------------------------------------
# HTML

_LONG = 30
"""The characters from which on a text may take several lines."""

_STYLES = {
    "left": "text-align: left",
    "long": "min-width: 14rem",
    "middle": "text-align: center",
    "grey": "color: GrayText",
    "block": "font-style: italic; font-weight: normal",
    "notes": "font-size: smaller; overflow-wrap: anywhere",
}
"""The looks of cells without a style sheet; the reports' style sheet has classes of these names."""


def render_html(table: Table) -> str:
    """Return a table as an HTML element that needs no style sheet, with every text escaped.

    Examples
    --------
    >>> from classic_rc.tables import RowGroup, Column
    >>> print(render_html(Table("1 < 2", [Column("system")], [RowGroup([["<b>"]])])), end="")
    <table style="text-align: right"><caption>1 &lt; 2</caption><thead>
    <tr><th scope="col" style="text-align: left">system</th></tr>
    </thead><tbody>
    <tr><th scope="row" style="text-align: left">&lt;b&gt;</th></tr>
    </tbody></table>
    """
    signatures = "<br>".join(map(escape, table.signature_lines))
    notes = [*map(escape, table.note_lines), *([signatures] if signatures else [])]
    cell = f'<td colspan="{len(table.shown)}"{_inline("left", "notes")}>'
    caption = f"<caption>{escape(printable(table.title))}</caption>"
    lines = [f'<table style="text-align: right">{caption}<thead>', *html_lines(table, _inline)]
    if notes:
        lines.append("</tbody><tfoot>")
        lines += [f"<tr>{cell}{note}</td></tr>" for note in notes]
        lines.append("</tfoot></table>")
    else:
        lines.append("</tbody></table>")
    return "\n".join(lines) + "\n"


def html_lines(table: Table, look: Callable[..., str]) -> Iterator[str]:
    """Yield the rows of a table's head and body as HTML; `look` makes the attribute of an
    element of its looks.
    """

    def of(column: Column, *others: str) -> str:
        return look(*(["left"] if column.is_text else []), *others)

    def of_cell(column: Column, cell: Cell) -> str:
        is_long = column.is_text and len(column.parts(cell)[0]) > _LONG
        return of(column, *["long"] * is_long, *["grey"] * cell.faint)

    def shown(column: Column, cell: Cell) -> str:
        number, mark, interval = map(escape, column.parts(cell))
        text = f"<strong>{number}</strong>" if cell.bold else number
        if mark:
            text += f"<sup>{mark}</sup>"
        if interval:
            text += f"<wbr><small>{interval}</small>"
        return text

    has_two_lines = any(column.group and column.name for column in table.shown)
    if has_two_lines:
        groups = ""
        for name, n in table.column_groups:
            place = f'scope="colgroup" colspan="{n}"{look("middle")}'
            groups += f"<th {place}>{escape(printable(name))}</th>"
        yield f"<tr>{groups}</tr>"
    headers = ""
    for column in table.shown:
        name = printable(column.name) if has_two_lines else column.heading
        headers += f'<th scope="col"{of(column)}>{escape(name)}</th>'
    yield f"<tr>{headers}</tr>"
    yield "</thead><tbody>"
    for heading, (first, *others) in table.lines():
        if heading is not None:
            place = f'scope="rowgroup" colspan="{len(table.shown)}"{look("left", "block")}'
            yield f"<tr><th {place}>{escape(heading)}</th></tr>"
        faint = look("left", *["grey"] * first.faint)
        cells = f'<th scope="row"{faint}>{shown(table.shown[0], first)}</th>'
        for column, cell in zip(table.shown[1:], others, strict=True):
            cells += f"<td{of_cell(column, cell)}>{shown(column, cell)}</td>"
        yield f"<tr>{cells}</tr>"


def _inline(*looks: str) -> str:
    return f' style="{"; ".join(_STYLES[look] for look in looks)}"' if looks else ""
