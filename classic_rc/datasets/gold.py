"""The codings of gold in files (index from 0 or from 1, letter, text, flags): decode gold, and infer its coding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from classic_rc.errors import DataError, unknown_name
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import normalised_text

CODINGS = ("index0", "index1", "letter", "text", "flags")
"""The values of ``gold_as``: index from 0 or from 1, letter, candidate text, one true or false per candidate."""

_MEANINGS = {
    "index0": "an index counted from 0",
    "index1": "an index counted from 1",
    "letter": "a letter",
    "text": "a candidate's text",
    "flags": "a list with true or false for each candidate",
}


_NUMBER = re.compile(r"[0-9]{1,9}(?:\.0{1,9})?", re.ASCII)
_LETTER = re.compile(r"([A-Za-z])|[(\[]?([A-Za-z])[).:\]](.*)", re.DOTALL)
"""A letter, or a letter as a label: ``(A)``, or ``A. red`` with the candidate's own text."""

_PART = re.compile(r"\b[A-Za-z]\b|[0-9]+")
_BETWEEN = r"(?:\s*(?:[,;/|&+ ]|,?\s+and\s)\s*)"
_JOINED = {
    "letter": re.compile(rf"(?:[A-Za-z](?:{_BETWEEN}[A-Za-z])+)|([A-Z]{{2,26}}|[a-z]{{2,26}})"),
    "index0": (_INDICES := re.compile(rf"[0-9]{{1,4}}(?:{_BETWEEN}[0-9]{{1,4}})+()??")),
    "index1": _INDICES,
}
"""Several letters or indices in one text; the group is the letters if nothing separates them."""


class GoldMismatchError(Exception):
    """A value is not valid gold in a coding. Its attributes are what was found and what the coding expects."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


def check_coding_name(gold_as: str) -> None:
    """Raise UsageError for an unknown coding."""
    if gold_as not in CODINGS:
        raise unknown_name("gold coding", gold_as, CODINGS)


def decode_gold(value: Any, texts: Sequence[str], coding: str) -> frozenset[int]:
    """Return the positions of the right candidates.

    Parameters
    ----------
    value : object
        One index, letter or text, or a list of them. Letters and indices may be joined in one text: ``"A, C"``,
        ``"AC"``, ``"0;2"``. Texts may differ from the candidate in case and blanks. For ``"flags"``, a list of true
        and false (or 1 and 0).
    texts : sequence of str
        The candidates' texts.
    coding : str
        One of :data:`CODINGS`, or ``"own"``: numbers are indices from 0, strings are texts.

    Raises
    ------
    GoldMismatchError
        The value is not valid gold in this coding.

    Examples
    --------
    >>> [sorted(decode_gold(gold, ["red", "blue", "green"], "letter")) for gold in (["A", "C"], "AC", "A, C")]
    [[0, 2], [0, 2], [0, 2]]
    """
    if coding == "flags":
        if not isinstance(value, (list, tuple)) or len(value) != len(texts) or not all(map(_is_flag, value)):
            raise GoldMismatchError(
                describe_value(value), f"a list of {len(texts)} values, each true or false (or 1 or 0)"
            )
        return frozenset(i for i, flag in enumerate(value) if flag)
    decode_one = _DECODERS[coding]
    if isinstance(value, str) and coding in _JOINED and (match := _JOINED[coding].fullmatch(value.strip())):
        value = _PART.findall(match[0]) if match[1] is None else list(match[1])
    if not isinstance(value, (list, tuple)):
        return frozenset((decode_one(value, texts),))
    positions = [decode_one(element, texts) for element in value]
    if len(set(positions)) < len(positions):
        raise GoldMismatchError(f"{describe_value(value)} with a repeated candidate", "each right candidate once")
    return frozenset(positions)


def fitting_codings(value: Any, texts: Sequence[str]) -> list[str]:
    """Return the codings in which a value is valid gold: as a text that differs in case, only if no other fits."""
    fitting = [coding for coding in CODINGS if _fits(value, texts, coding)]
    if len(fitting) > 1 and "text" in fitting and isinstance(value, str) and value not in texts:
        fitting.remove("text")
    return fitting


def infer_common_coding(golds: Sequence[tuple[Node, Any, Sequence[str]]]) -> tuple[str, bool]:
    """Return the coding that fits most values, for data with some wrong gold; see :func:`infer_coding`.

    Returns
    -------
    coding : str
    is_mixed : bool
        Whether some values can only be indices from 0, and others only indices from 1. All others are then
        doubtful.
    """
    fits = [set(fitting_codings(value, texts)) for _, value, texts in golds]
    counts = {coding: sum(coding in fitting for fitting in fits) for coding in CODINGS}
    best = [coding for coding in CODINGS if counts[coding] == max(counts.values())]
    if not golds or counts[best[0]] == 0:
        return infer_coding(golds), False
    if len(best) > 1:
        # Either a row fits several codings, or the rows are divided equally between them.
        unclear = (gold for gold, fitting in zip(golds, fits, strict=True) if fitting.issuperset(best))
        node, value, _ = next(unclear, golds[0])
        raise ambiguous_coding_error(node, value, best)
    indices = [fitting & {"index0", "index1"} for fitting in fits]
    return best[0], {"index0"} in indices and {"index1"} in indices


def infer_coding(golds: Iterable[tuple[Node, Any, Sequence[str]]]) -> str:
    """Return the one coding that fits all values.

    All values together decide whether indices count from 0 or from 1: a 0 cannot be counted from 1, and the number
    of candidates cannot be counted from 0. The user must choose if no value shows it.

    Parameters
    ----------
    golds : iterable of (Node, object, sequence of str)
        The rows, their gold and their candidates' texts.

    Raises
    ------
    DataError
        No coding fits, or the user must choose between several.
    """
    possible = list(CODINGS)
    example: tuple[Node, Any] | None = None
    for node, value, texts in golds:
        fits = [coding for coding in possible if coding in fitting_codings(value, texts)]
        if not fits:
            raise node.error(
                "gold fits no known coding" if example is None else "gold does not fit the coding of earlier rows",
                field="gold",
                found=f"{describe_value(value)} with the candidates {', '.join(map(describe_value, texts[:4]))}",
                expected=" or ".join(_MEANINGS[coding] for coding in possible),
            )
        if fits != possible or example is None:
            possible, example = fits, (node, value)
    if example is None or len(possible) == 1:
        return possible[0]
    raise ambiguous_coding_error(*example, possible)


def ambiguous_coding_error(node: Node, value: Any, possible: Sequence[str]) -> DataError:
    """Return the error for gold that has several codings, with the options to choose one."""
    return node.error(
        "the coding of gold is ambiguous",
        field="gold",
        found=describe_value(value),
        expected=" or ".join(_MEANINGS[coding] for coding in possible),
        hint=f"Choose one: {' or '.join(f'--gold-as {coding}' for coding in possible)} (in Python, gold_as=)",
    )


def _decode_index(value: Any, texts: Sequence[str], first: int) -> int:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, float) and value.is_integer():  # pandas stores integers with gaps as floats.
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and first <= value < first + len(texts):
        return value - first
    raise GoldMismatchError(describe_value(value), f"an index from {first} to {first + len(texts) - 1}")


def _decode_letter(value: Any, texts: Sequence[str]) -> int:
    if isinstance(value, str) and (match := _LETTER.fullmatch(value.strip())):
        index = ord((match[1] or match[2]).upper()) - ord("A")
        if index < len(texts) and (not match[3] or normalised_text(match[3]) == normalised_text(texts[index])):
            return index
    raise GoldMismatchError(describe_value(value), f"a letter from A to {chr(ord('A') + min(len(texts), 26) - 1)}")


def _decode_text(value: Any, texts: Sequence[str]) -> int:
    if not isinstance(value, str):
        raise GoldMismatchError(describe_value(value), "the text of exactly one candidate")
    matching = [i for i, text in enumerate(texts) if text == value]
    if not matching:
        normalised = normalised_text(value)
        matching = [i for i, text in enumerate(texts) if normalised_text(text) == normalised]
    if len(matching) == 1:
        return matching[0]
    matches = f", the text of {len(matching)} candidates"
    raise GoldMismatchError(describe_value(value) + matches, "the text of exactly one candidate")


def _decode_own(value: Any, texts: Sequence[str]) -> int:
    return _decode_text(value, texts) if isinstance(value, str) else _decode_index(value, texts, 0)


_DECODERS: dict[str, Callable[[Any, Sequence[str]], int]] = {
    "index0": lambda value, texts: _decode_index(value, texts, 0),
    "index1": lambda value, texts: _decode_index(value, texts, 1),
    "letter": _decode_letter,
    "text": _decode_text,
    "own": _decode_own,
}


def _fits(value: Any, texts: Sequence[str], coding: str) -> bool:
    try:
        decode_gold(value, texts, coding)
    except GoldMismatchError:
        return False
    return True


def _is_flag(value: Any) -> bool:
    return isinstance(value, int) and value in (0, 1)  # In Python, True and False are the integers 1 and 0.
