"""Whether two texts are the same: one ladder for gold, answers, audits, copies and repairs.

Texts may have the same characters, or be equal in their composed form (NFC), then up to blanks,
then up to quotes around them and marks at their end, and then up to case. The first rung on which
something matches decides, so that *GG* is the option *GG* where *gg* is another one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

_QUOTES = "\"'`*_“”‘’‚„«»‹›「」『』"
_QUOTED = re.compile(rf"[{_QUOTES}]+\s*(.*[^\s{_QUOTES}])\s*[{_QUOTES}]+", re.DOTALL)
_MARKS = " .,;:!。．，、；：！"  # a question mark says that nothing is stated


def _compose(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _join_blanks(text: str) -> str:
    return " ".join(_compose(text).split())


def bare_text(text: str) -> str:
    """Return a text in composed form, with single blanks, without quotes around it and marks at
    its end; a text of nothing else keeps them.

    Examples
    --------
    >>> bare_text('"The  end."'), bare_text("f'"), bare_text("..!")
    ('The end', "f'", '..!')
    """
    bare = _join_blanks(text)
    while True:
        match = _QUOTED.fullmatch(bare) if bare[:1] in _QUOTES else None
        shorter = match[1] if match else bare.rstrip(_MARKS)
        if shorter in ("", bare):
            return bare
        bare = shorter


def folded_text(text: str) -> str:
    """Return a text as the last rung compares it: bare, and in one case."""
    return _compose(bare_text(text).casefold())


def normalised_text(text: str) -> str:
    """Return a text in one case, in composed form and with single blanks, as passages and
    questions are compared.
    """
    return " ".join(_compose(text.casefold()).split())


_RUNGS: tuple[Callable[[str], str], ...] = (_compose, _join_blanks, bare_text)
"""What is compared after the characters and before case; each form follows from the one before."""


class TextLadder:
    """Texts, such as the options of a question, among which others are looked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    @cached_property
    def _folded(self) -> list[str]:
        return list(map(folded_text, self.texts))

    def find(self, text: str) -> list[int]:
        """Return the positions of the texts that are the same as a text, on the first rung on
        which any is.

        Examples
        --------
        >>> TextLadder(["Aa", "AA", "aa"]).find("aa"), TextLadder(["Aa", "AA"]).find("aa.")
        ([2], [0, 1])
        """
        matching = [i for i, candidate in enumerate(self.texts) if candidate == text]
        if matching:
            return matching
        folded = folded_text(text)
        near = [i for i, candidate in enumerate(self._folded) if candidate == folded]
        for form in _RUNGS if len(near) > 1 else ():
            matching = [i for i in near if form(self.texts[i]) == form(text)]
            if matching:
                return matching
        return near

    def order(self, texts: Iterable[str]) -> list[int] | None:
        """Return the position here of each of some texts; None unless they are these texts in any
        order. Equal texts keep their order.
        """
        remaining = list(range(len(self.texts)))
        order = []
        for text in texts:
            matching = TextLadder([self.texts[i] for i in remaining]).find(text)
            if not matching or len({self.texts[remaining[i]] for i in matching}) > 1:
                return None
            order.append(remaining.pop(matching[0]))
        return None if remaining else order


def option_forms(texts: Sequence[str]) -> list[str]:
    """Return the forms in which the options of a question are compared: those of the last rung,
    but bare where options differ in case alone.

    Examples
    --------
    >>> option_forms(["Red.", "blue"]), option_forms(["Red", "red!"]), option_forms(["GG", "gg"])
    (['red', 'blue'], ['red', 'red'], ['GG', 'gg'])
    """
    folded = list(map(folded_text, texts))
    if len(set(folded)) == len(folded):
        return folded
    cased: dict[str, set[str]] = {}
    for text in texts:
        cased.setdefault(normalised_text(text), set()).add(_join_blanks(text))
    by_case = {folded_text(form) for form, written in cased.items() if len(written) > 1}
    pairs = zip(texts, folded, strict=True)
    return [bare_text(text) if form in by_case else form for text, form in pairs]
