"""Tables in Markdown and HTML. Both escape their markup, so that any text is shown literally."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape

from classic_rc.io.text import printable
from classic_rc.tables.model import Cell, Column, Table
from classic_rc.tables.text import isolate_direction


def _lines(
    table: Table,
    shown: Callable[[Column, Cell], str],
    line: Callable[[Sequence[str]], str],
    head: Callable[[str], str],
) -> Iterator[str]:
    """Yield the rows and headings: `shown` makes a cell, `line` joins cells, `head` makes a heading."""
    for heading, cells in table.lines():
        if heading is not None:
            yield head(heading)
        yield line([shown(column, cell) for column, cell in zip(table.shown, cells, strict=True)])


# ------------------------------------------------------------------------------------------------------------------
# Markdown


def render_markdown(table: Table) -> str:
    """Return a table as Markdown."""
    lines = [f"**{markdown_escape(printable(table.title))}**", "", *markdown_lines(table)]
    notes = (*table.note_lines, *table.signature_lines)
    return "\n".join([*lines, *(f"\n{markdown_block(note)}" for note in notes)]) + "\n"


def markdown_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table without its title and notes. Only the number of a bold cell is bold."""

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
    yield from _lines(table, shown, line, lambda heading: line([f"*{text(heading)}*", *empty]))


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
    r"""Escape text like :func:`markdown_escape` for a line of its own: also no heading, list or rule.

    Examples
    --------
    >>> print(markdown_block("# 1"), markdown_block("2. x"))
    \# 1 2\. x
    """
    escaped = markdown_escape(text.lstrip())
    match = _MARKDOWN_BLOCK.match(escaped)
    if match is None:
        return escaped
    return f"\\{escaped}" if not match[1].isdecimal() else f"{match[1]}\\{escaped[match.end() :]}"


# ------------------------------------------------------------------------------------------------------------------
# HTML

_LEFT = "text-align: left"
_HEADING = f"{_LEFT}; font-style: italic; font-weight: normal"
_NOTES = f"{_LEFT}; font-size: smaller"


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
    width = len(table.shown)

    def shown(column: Column, cell: Cell) -> str:
        number, mark, interval = map(escape, column.parts(cell))
        text = f"<strong>{number}</strong>" if cell.bold else number
        return text + (f"<sup>{mark}</sup>" if mark else "") + (f"<small>{interval}</small>" if interval else "")

    def line(cells: Sequence[str]) -> str:
        first, *others = cells
        pairs = zip(table.shown[1:], others, strict=True)
        own = "".join(f"<td{_style(column)}>{cell}</td>" for column, cell in pairs)
        return f'<tr><th scope="row" style="{_LEFT}">{first}</th>{own}</tr>'

    def heading(text: str) -> str:
        return f'<tr><th scope="rowgroup" colspan="{width}" style="{_HEADING}">{escape(text)}</th></tr>'

    notes = [f'<tr><td colspan="{width}" style="{_NOTES}">{escape(note)}</td></tr>' for note in table.note_lines]
    signatures = "<br>".join(map(escape, table.signature_lines))
    notes += [f'<tr><td colspan="{width}" style="{_NOTES}">{signatures}</td></tr>'] if signatures else []
    return (
        "\n".join(
            [
                f'<table style="text-align: right"><caption>{escape(printable(table.title))}</caption><thead>',
                *_html_header(table),
                "</thead><tbody>",
                *_lines(table, shown, line, heading),
                *(["</tbody><tfoot>", *notes, "</tfoot></table>"] if notes else ["</tbody></table>"]),
            ]
        )
        + "\n"
    )


def _style(column: Column) -> str:
    """Return the alignment of a column of text; the table's is that of numbers."""
    return f' style="{_LEFT}"' if column.is_text else ""


def _html_header(table: Table) -> Iterator[str]:
    """Yield the line of the groups of columns, if there are any, and the line of their names."""
    has_two_lines = any(column.group and column.name for column in table.shown)
    if has_two_lines:
        groups = "".join(
            f'<th scope="colgroup" colspan="{n}" style="text-align: center">{escape(printable(name))}</th>'
            for name, n in table.column_groups
        )
        yield f"<tr>{groups}</tr>"
    names = "".join(
        f'<th scope="col"{_style(column)}>{escape(name)}</th>'
        for column in table.shown
        for name in [printable(column.name) if has_two_lines else column.heading]
    )
    yield f"<tr>{names}</tr>"
