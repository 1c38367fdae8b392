"""What the theme's pages lack for keyboards and screen readers."""

from __future__ import annotations

import re

LINE, LINES = 60, 24
"""A block of code this long or longer can scroll in a window that is wider than a phone's."""

LACKING = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer"': '<aside class="sidebar-drawer" aria-label="Site"',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div class="table-wrapper': '<div tabindex="0" role="group" aria-label="Table" '
    'class="table-wrapper',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}
"""What stands in a page, and what has to."""


def reachable(page: str) -> str:
    """Return a page whose headings have levels, whose landmarks have names, and whose scrolling
    parts take the keyboard's focus.
    """
    for text, whole in LACKING.items():
        page = page.replace(text, whole)
    return re.sub(r"<pre>(.*?)</pre>", _code, page, flags=re.DOTALL)


def _code(block: re.Match[str]) -> str:
    lines = re.sub("<[^>]*>", "", block[1]).splitlines()
    if len(lines) < LINES and max(map(len, lines), default=0) < LINE:
        return block[0]
    return f'<pre tabindex="0" role="group" aria-label="Code">{block[1]}</pre>'
