"""Labels at the start of options' texts: ``(A) red``, ``A．red``, ``1) red``.

An option is a label and a text. Reading cuts the labels from the texts once, and gold and answers
are read with them; solvers never see them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

OPTION_LABELS = "option_labels"
"""The key of a question's meta for the labels of its options, unless they are A, B, C, … or
numbers in order.
"""

_OPEN, _CLOSE, _STOP = r"[(\[（［【]", r"[)\]）］】]", r"[.:．：、]"
_MARK = r"([A-Za-zＡ-Ｚａ-ｚ]|[0-9０-９]{1,2})"
_LABELLED = re.compile(
    rf"\s*(?:{_OPEN}\s*{_MARK}\s*{_CLOSE}{_STOP}?"
    rf"|{_MARK}\s*(?:{_CLOSE}{_STOP}?|{_STOP}(?!(?<=[0-9][.:])[0-9])))\s*(\S.*)",
    re.DOTALL,
)
"""A label and the text of its option. A full stop or a colon between digits is part of a number."""

_ALONE = re.compile(rf"(?:(\w{{1,3}}){_CLOSE}?|{_OPEN}(\w{{1,3}}){_CLOSE})[.:．：、!;]?")
_BEFORE_TEXT = re.compile(
    rf"(?:(\w{{1,3}})\s?(?:{_CLOSE}{_STOP}?|{_STOP})|{_OPEN}(\w{{1,3}}){_CLOSE}{_STOP}?)[*_]*\s*(.+)",
    re.DOTALL,
)


class CutOptions(NamedTuple):
    """The texts of options without their labels, and the labels."""

    labels: Sequence[str]
    texts: Sequence[str]


def cut_labels(texts: Sequence[str]) -> CutOptions | Literal["some"] | None:
    """Cut the labels from the texts of a question's options.

    They are cut if each text has another one. Without brackets around them, they must also count
    the options, in any order, and leave different texts: *A. Smith* and *I. Newton* are names,
    and *1. May* and *2. May* are dates.

    Returns
    -------
    CutOptions, "some" or None
        The labels and texts; ``"some"`` if only some of the texts have a label that counts them;
        None if they have none.

    Examples
    --------
    >>> cut_labels(["(A)red", "(C)blue", "(B)green"])
    CutOptions(labels=['A', 'C', 'B'], texts=['red', 'blue', 'green'])
    >>> cut_labels(["A. red", "B. blue", "none"]), cut_labels(["A. Smith", "I. Newton"])
    ('some', None)
    """
    # A look at two of them is enough for nearly all questions without labels.
    if not any(map(_LABELLED.match, (*texts[:1], *texts[-1:]))):
        return None
    matches = [match for match in map(_LABELLED.match, texts) if match]
    labels = [bare_label(match[1] or match[2]).upper() for match in matches]
    cut, n = [match[3] for match in matches], len(texts)
    counts = (LETTERS[:n], range(1, n + 1), range(n))
    fits = any(set(labels) <= set(map(str, count)) for count in counts)
    if n < 2 or len(set(labels)) < len(labels) or not (fits or all(match[1] for match in matches)):
        return None
    if len(matches) < n:
        return "some"
    is_certain = all(match[1] for match in matches) or len(set(cut)) == n
    return CutOptions(labels, cut) if is_certain else None


def split_label(text: str) -> tuple[str, str] | None:
    """Return the bare label at the start of a text, and the rest; None if it has none.

    Examples
    --------
    >>> split_label("(B) red"), split_label("B．red"), split_label("red")
    (('b', 'red'), ('b', 'red'), None)
    """
    match = _BEFORE_TEXT.fullmatch(text.strip())
    return match and (bare_label(match[1] or match[2]), match[3])


def bare_label(text: str) -> str:
    """Return a label without brackets, marks, case and width: ``(Ａ)`` is ``a``."""
    match = _ALONE.fullmatch(text.strip())
    label = match[1] or match[2] if match else text.strip()
    return unicodedata.normalize("NFKC", label).casefold()


@lru_cache(maxsize=64)
def bare_labels(labels: tuple[str, ...]) -> list[str]:
    """Return labels as they are compared."""
    return list(map(bare_label, labels))


def name_other_places(labels: Sequence[str]) -> bool:
    """Return whether labels are letters or numbers that do not just count the options in their
    order.
    """
    n = len(labels)
    numbers = list(map(str, range(n + 1)))
    in_order = (numbers[:n], numbers[1:], list(LETTERS[:n]))
    are_short = all(len(label) < 3 for label in labels)
    return are_short and [label.upper() for label in labels] not in in_order
