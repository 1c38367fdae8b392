"""How a file codes gold: by index from 0 or from 1, letter, text or flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from classic_rc.errors import unknown_name
from classic_rc.io.json import Node, describe

CODINGS = ("index0", "index1", "letter", "text", "flags")
"""What ``gold_as`` may be: index from 0 or from 1, letter, a candidate's text, a true or false a candidate."""

_MEANING = {
    "index0": "an index counted from 0",
    "index1": "an index counted from 1",
    "letter": "a letter",
    "text": "a candidate's text",
    "flags": "a true or false a candidate",
}


class GoldMismatchError(Exception):
    """A value is not gold in a coding: what was found, and what the coding expects."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


def check_coding(gold_as: str) -> None:
    """Raise UsageError for a coding that there is not."""
    if gold_as not in CODINGS:
        raise unknown_name("gold coding", gold_as, CODINGS)


def decode(value: Any, texts: Sequence[str], coding: str) -> frozenset[int]:
    """The positions of the right candidates.

    Parameters
    ----------
    value : object
        One index, letter or text, or a list of them; a list of true and false (or 1 and 0) for ``"flags"``.
    texts : sequence of str
        The candidates' texts.
    coding : str
        One of :data:`CODINGS`, or ``"own"``: numbers are indices from 0, strings are texts.

    Raises
    ------
    GoldMismatchError
        The value is not gold in this coding.

    Examples
    --------
    >>> sorted(decode(["A", "C"], ["red", "blue", "green"], "letter"))
    [0, 2]
    """
    if coding == "flags":
        if not isinstance(value, (list, tuple)) or len(value) != len(texts) or not all(map(_is_flag, value)):
            raise GoldMismatchError(describe(value), f"a list of {len(texts)} true or false, or 1 or 0")
        return frozenset(i for i, flag in enumerate(value) if flag)
    one = _ONE[coding]
    if not isinstance(value, (list, tuple)):
        return frozenset((one(value, texts),))
    positions = [one(element, texts) for element in value]
    if len(set(positions)) < len(positions):
        raise GoldMismatchError(f"{describe(value)} that names a candidate twice", "each right candidate once")
    return frozenset(positions)


def fitting(value: Any, texts: Sequence[str]) -> list[str]:
    """The codings that a value may be in."""
    return [coding for coding in CODINGS if _fits(value, texts, coding)]


def infer(golds: Iterable[tuple[Node, Any, Sequence[str]]]) -> str:
    """The one coding that all these values are in.

    Whether indices count from 0 or from 1 is never concluded from those that happen to occur.

    Parameters
    ----------
    golds : iterable of (Node, object, sequence of str)
        Rows, their gold and their candidates' texts.

    Raises
    ------
    DataError
        No coding fits, or it takes the user to say which does.
    """
    possible = list(CODINGS)
    example: tuple[Node, Any] | None = None
    for node, value, texts in golds:
        fits = [coding for coding in possible if coding in fitting(value, texts)]
        if not fits:
            raise node.error(
                "gold that fits no coding of gold" if example is None else "gold in another coding than before",
                field="gold",
                found=f"{describe(value)} beside the candidates {', '.join(describe(text) for text in texts[:4])}",
                expected=" or ".join(_MEANING[coding] for coding in possible),
            )
        if fits != possible or example is None:
            possible, example = fits, (node, value)
    if example is None or possible in (["letter"], ["text"], ["flags"]):
        return possible[0]
    node, value = example
    # An index that the values rule out may still be what was meant: of data with mistakes, or not all seen.
    indices = [coding for coding in ("index0", "index1") if {"index0", "index1"} & set(possible)]
    named = possible + [coding for coding in indices if coding not in possible]
    raise node.error(
        "the coding of gold is ambiguous",
        field="gold",
        found=describe(value),
        expected=" or ".join(_MEANING[coding] for coding in named),
        hint=f"Say which it is: {' or '.join(f'--gold-as {coding}' for coding in named)} (in Python, gold_as=)",
    )


def _index(value: Any, texts: Sequence[str], first: int) -> int:
    digits = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10
    if digits or (isinstance(value, float) and value.is_integer()):  # frames make such floats of gaps
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and first <= value < first + len(texts):
        return value - first
    raise GoldMismatchError(describe(value), f"an index from {first} to {first + len(texts) - 1}")


def _letter(value: Any, texts: Sequence[str]) -> int:
    if isinstance(value, str) and len(value) == 1 and value.isascii() and value.isalpha():
        index = ord(value.upper()) - ord("A")
        if index < len(texts):
            return index
    raise GoldMismatchError(describe(value), f"a letter from A to {chr(ord('A') + min(len(texts), 26) - 1)}")


def _text(value: Any, texts: Sequence[str]) -> int:
    if isinstance(value, str) and texts.count(value) == 1:
        return texts.index(value)
    times = f", the text of {texts.count(value)} candidates" if isinstance(value, str) else ""
    raise GoldMismatchError(describe(value) + times, "the text of exactly one candidate")


def _own(value: Any, texts: Sequence[str]) -> int:
    return _text(value, texts) if isinstance(value, str) else _index(value, texts, 0)


_ONE: dict[str, Callable[[Any, Sequence[str]], int]] = {
    "index0": lambda value, texts: _index(value, texts, 0),
    "index1": lambda value, texts: _index(value, texts, 1),
    "letter": _letter,
    "text": _text,
    "own": _own,
}


def _fits(value: Any, texts: Sequence[str], coding: str) -> bool:
    try:
        decode(value, texts, coding)
    except GoldMismatchError:
        return False
    return True


def _is_flag(value: Any) -> bool:
    return isinstance(value, int) and value in (0, 1)  # true and false are 1 and 0
