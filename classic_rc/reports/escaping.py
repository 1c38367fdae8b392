"""Text of unknown origin as literal text of Markdown and LaTeX, and beside text of the other direction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after a line's end it would be taken for that line's option
    "*": "{*}",  # and this for a line's end that allows no page break
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_LIGATURE = re.compile(r"([-,'])(?=\1)")
_RIGHT_TO_LEFT = frozenset({"R", "AL", "RLE", "RLO", "RLI"})
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"

_MARKDOWN_SPECIALS = re.compile(
    r"[\\|*`<~&$]"
    r"|(?<![^\W_])_(?=\S)"  # what could begin emphasis: within a word it stands for itself
    r"|\](?=[(\[:])"  # what would make the text before it a link
)
_MARKDOWN_BLOCK = re.compile(r"([#+=>-]|[0-9]+(?=[.)]))")


def latex_escape(text: str) -> str:
    r"""The text as LaTeX sets it literally: nothing in it is a command, and no two characters become one.

    Examples
    --------
    >>> print(latex_escape(r"50 % of \input{x} -- [a]"))
    50 \% of \textbackslash{}input\{x\} -{}- {[}a]
    """
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return _LIGATURE.sub(r"\1{}", escaped)


def latex_preamble(lines: Iterable[str]) -> list[str]:
    """What lines of LaTeX need that a plain document does not have, as remarks."""
    text = "\n".join(lines)
    packages = ["booktabs", *(["xcolor"] if r"\textcolor" in text else [])]
    remarks = [rf"\usepackage{{{','.join(packages)}}}"]
    if any(not _is_latin(character) for character in text):
        remarks.append("has letters beyond Latin: compile with XeLaTeX or LuaLaTeX, and a font that has them")
    return remarks


def _is_latin(character: str) -> bool:
    return character < "\u0250" or "\u2010" <= character <= "\u2044"


def markdown_escape(text: str) -> str:
    r"""The text as Markdown shows it literally within a line: no markup, no HTML, no link, no entity.

    Examples
    --------
    >>> print(markdown_escape("<b>f1_a</b> &amp; [x](y) __init__"))
    \<b>f1_a\</b> \&amp; [x\](y) \_\_init__
    """
    return _MARKDOWN_SPECIALS.sub(r"\\\g<0>", text)


def markdown_block(text: str) -> str:
    r"""As :func:`markdown_escape`, for a line of its own, which is no heading, list or rule either.

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


def isolated(text: str) -> str:
    """The text so that letters written from right to left do not reorder the numbers beside it.

    Isolates (Unicode Standard Annex 9) are put around it where it has such letters; they take no room.
    """
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}"
    return text
