"""Make text of unknown origin safe to print."""

from __future__ import annotations

import unicodedata

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI_CONTROLS = frozenset({"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"})


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


def _is_unsafe(character: str) -> bool:
    return (
        unicodedata.category(character) in _UNSAFE_CATEGORIES
        or unicodedata.bidirectional(character) in _BIDI_CONTROLS
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
