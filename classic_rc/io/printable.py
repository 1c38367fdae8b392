"""Make text of unknown origin safe to print."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI_CONTROLS = frozenset({"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"})

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
"""The start of a cell that a spreadsheet may run; some accept the full-width forms of the signs too."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def printable(text: str, keep: str = "") -> str:
    r"""Return the text with control characters escaped, so that a file's content cannot control a terminal.

    Escaped are control characters (the terminal's escape character and line breaks among them), lone surrogates,
    line and paragraph separators, and the bidirectional controls that reorder the text around them. Joiners stay,
    because emoji and many scripts need them.

    Parameters
    ----------
    text : str
    keep : str
        Characters that are never escaped.

    Examples
    --------
    >>> print(printable("red: \x1b[31m, new line: \n"))
    red: \x1b[31m, new line: \n
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not _is_unsafe(c) else _escape(c) for c in text)


def csv_cell(value: Any) -> Any:
    """Return a value as a cell of a CSV file that no spreadsheet runs as a formula.

    A text that begins like a formula gets an apostrophe in front, so it is shown as text. Numbers stay as they are,
    also in text. Control characters are escaped.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("-2.5"), csv_cell(-2.5), csv_cell("a-b")
    ("'=1+1", '-2.5', -2.5, 'a-b')
    """
    if not isinstance(value, str):
        return value
    shown = printable(value)
    return f"'{shown}" if _FORMULA.match(value) and not _NUMBER.fullmatch(value) else shown


def _is_unsafe(character: str) -> bool:
    return (
        unicodedata.category(character) in _UNSAFE_CATEGORIES
        or unicodedata.bidirectional(character) in _BIDI_CONTROLS
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
