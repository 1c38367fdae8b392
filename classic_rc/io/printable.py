"""Text of unknown origin made harmless where people read it."""

from __future__ import annotations

import unicodedata

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI_CONTROLS = frozenset({"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"})


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters spelled out, so that a file's content cannot drive a terminal.

    Escapes are written for control characters (the one that starts a terminal's commands, line breaks), halves
    of surrogate pairs, line and paragraph separators, and the overrides that reorder what stands beside them.
    Joiners, which emoji and many scripts need, stay.

    Parameters
    ----------
    text : str
    keep : str
        Characters to leave as they are.

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
