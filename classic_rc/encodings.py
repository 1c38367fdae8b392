"""How gold and answers name options: the readings of a value, and the reading that all rows of a
file have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from classic_rc.equality import TextLadder
from classic_rc.errors import DataError, unknown_name
from classic_rc.io.json import Node, describe_value
from classic_rc.option_labels import LETTERS, bare_label, bare_labels, split_label

READINGS = {
    "index0": "an index counted from 0",
    "index1": "an index counted from 1",
    "letter": "a letter by position",
    "label": "an option's label",
    "text": "an option's text",
    "flags": "a list with true or false for each option",
}
"""The ways in which gold or an answer may name an option, each with what a value then is."""

_NUMBER = re.compile(r"[0-9]{1,9}(?:\.0{1,9})?", re.ASCII)
_PART = re.compile(r"\b[A-Za-z]\b|[0-9]+")
_BETWEEN = r"(?:\s*(?:[,;/|&+ ]|,?\s+and\s)\s*)"
_JOINED_LETTERS = re.compile(rf"(?:[A-Za-z](?:{_BETWEEN}[A-Za-z])+)|([A-Z]{{2,26}}|[a-z]{{2,26}})")
_JOINED_NUMBERS = re.compile(rf"[0-9]{{1,4}}(?:{_BETWEEN}[0-9]{{1,4}})+()??")
_JOINED = {
    "letter": (_JOINED_LETTERS,),
    "label": (_JOINED_LETTERS, _JOINED_NUMBERS),
    "index0": (_JOINED_NUMBERS,),
    "index1": (_JOINED_NUMBERS,),
}
"""Several letters or indices in one text; the group is the letters if nothing separates them."""

_SAME_WORDS = {"true": "yes", "yes": "true", "false": "no", "no": "false"}


class MismatchError(Exception):
    """A value is not valid in a reading. It keeps the value, and describes it only in a message.

    Readings are tried on each row of a file, so most of these errors are never shown.
    """

    def __init__(self, value: Any, expected: str, detail: str = "") -> None:
        super().__init__()
        self.expected, self._value, self._detail = expected, value, detail

    @property
    def found(self) -> str:
        """What was found."""
        return describe_value(self._value) + self._detail

    def __str__(self) -> str:
        return f"found {self.found}, expected {self.expected}"


class Written(NamedTuple):
    """A value of a file with its place, the options of its question, and what it means in each
    reading.

    It may be the first of several values that mean the same.
    """

    node: Node
    value: Any
    texts: Sequence[str]
    meanings: Mapping[str, frozenset[int]]
    n_alike: int = 1


class ReadingOption(NamedTuple):
    """The option that chooses a reading, for messages."""

    form: str
    elsewhere: str = ""  # what does the same where there is no such option

    def choose(self, reading: str) -> str:
        """Return the option with a reading: ``--gold-as letter``."""
        return reading.join(self.form.rsplit("{}", 1))


GOLD_AS = ReadingOption("--gold-as {}", " (in Python, gold_as=)")


def check_reading(name: str) -> None:
    """Raise UsageError for an unknown reading."""
    if name not in READINGS:
        raise unknown_name("gold coding", name, READINGS)


def decode(
    value: Any, texts: Sequence[str], reading: str, labels: Sequence[str] | None = None
) -> frozenset[int]:
    """Return the positions of the options that a value names; MismatchError if it is not valid in
    this reading.

    A value is one index, letter, label or text, or a list of them. Letters, labels and indices may
    be joined in one text: ``"A, C"``, ``"AC"``, ``"0;2"``. A letter is a label where the options
    have letters as `labels`. A text may differ from the option as
    :mod:`classic_rc.equality` says. Of ``"flags"`` it is a list of true and false (or 1 and 0).

    Examples
    --------
    >>> [
    ...     sorted(decode(gold, ["red", "blue", "green"], "letter"))
    ...     for gold in (["A", "C"], "AC", "A, C")
    ... ]
    [[0, 2], [0, 2], [0, 2]]
    >>> sorted(decode("A", ["red", "blue"], "letter", labels=["B", "A"]))
    [1]
    """
    if reading == "flags":
        if (
            not isinstance(value, (list, tuple))
            or len(value) != len(texts)
            or not all(map(_is_flag, value))
        ):
            expected = f"a list of {len(texts)} values, each true or false (or 1 or 0)"
            raise MismatchError(value, expected)
        return frozenset(i for i, flag in enumerate(value) if flag)
    if reading == "letter" and labels and {*map(str.upper, labels)} <= {*LETTERS[: len(texts)]}:
        reading = "label"
    if isinstance(value, str):
        for pattern in _JOINED.get(reading, ()):
            is_label = (
                reading == "label"
                and labels is not None
                and bare_label(value) in bare_labels(tuple(labels))
            )
            if not is_label and (match := pattern.fullmatch(value.strip())):
                value = _PART.findall(match[0]) if match[1] is None else list(match[1])
                break
    if not isinstance(value, (list, tuple)):
        return frozenset((_decode_one(value, texts, reading, labels),))
    positions = [_decode_one(element, texts, reading, labels) for element in value]
    if len(set(positions)) < len(positions):
        raise MismatchError(value, "each right candidate once", " with a repeated candidate")
    return frozenset(positions)


def explain(
    value: Any,
    texts: Sequence[str],
    labels: Sequence[str] | None = None,
    readings: Iterable[str] = READINGS,
) -> dict[str, frozenset[int]]:
    """Return the readings in which a value is valid, with the options that it then names.

    Examples
    --------
    >>> explain("B", ["B", "A"])
    {'letter': frozenset({1}), 'text': frozenset({0})}
    """
    meanings = {}
    for reading in readings:
        try:
            meanings[reading] = decode(value, texts, reading, labels)
        except MismatchError:
            continue
    return meanings


def fitting_readings(rows: Iterable[Written]) -> list[str]:
    """Return the readings that explain every row that any reading explains; empty if no row can
    be explained.
    """
    explained = [row.meanings for row in rows if row.meanings]
    return [
        reading
        for reading in READINGS
        if explained and all(reading in meanings for meanings in explained)
    ]


def find_difference(rows: Iterable[Written], readings: Sequence[str]) -> Written | None:
    """Return the first row that means different options in some readings that fit, or None."""
    for row in rows:
        if (
            row.meanings
            and len({row.meanings[reading] for reading in readings if reading in row.meanings}) > 1
        ):
            return row
    return None


def decide_reading(
    rows: Sequence[Written], *, option: ReadingOption, skip_bad: bool = False, field: str = "gold"
) -> str:
    """Return the reading of all rows, or raise DataError where none fits, or several that mean
    different options.

    All rows together decide it: an index 0 cannot be counted from 1, and an index that is the
    number of options cannot be counted from 0. Readings that fit all rows and mean the same options
    in all are one reading. With `skip_bad`, rows that no reading explains are left out later.
    """
    fitting = fitting_readings(rows)
    bad = next((row for row in rows if not row.meanings), None)
    if bad is not None and not (skip_bad and any(row.meanings for row in rows)):
        raise _no_reading_error(rows, bad, field)
    if not fitting and rows:
        raise _conflict_error(rows, option, skip_bad, field)
    differing = find_difference(rows, fitting)
    if differing is not None:
        raise ambiguity_error(differing, fitting, field, option)
    return fitting[0] if fitting else "text"


def decide_mixed_reading(
    strict: Sequence[Written], mixed: Sequence[Written], *, field: str, option: ReadingOption
) -> str | None:
    """Return the reading of answers, some of which may be letters and others texts; None without
    answers.

    A reading that explains every answer wins over one that does so only if words that have one
    meaning keep it. `strict` and `mixed` are the same answers, with what they mean in each reading
    alone, and with such words added.
    """
    is_strict = all(row.meanings for row in strict)
    fitting = (fitting_readings(strict) if is_strict else []) or fitting_readings(mixed)
    differing = find_difference(mixed, fitting or list(READINGS))
    if fitting and differing is None:
        return fitting[0]
    if not mixed:
        return None
    possible = {name for row in strict for name in row.meanings}.union(fitting)
    candidates = [name for name in READINGS if name in possible]
    if differing is None:
        first_names = mixed[0].meanings.keys()
        conflicting = (row for row in mixed if not row.meanings.keys() & first_names)
        differing = next(conflicting, mixed[0])
    raise ambiguity_error(differing, candidates, field, option)


def ambiguity_error(
    row: Written, readings: Sequence[str], field: str, option: ReadingOption
) -> DataError:
    """Return the error for values with several readings: one of them in each, and the options to
    choose.
    """
    meant = [f"{name}: {_describe_options(row, name)}" for name in readings if name in row.meanings]
    choices = " or ".join(map(option.choose, readings))
    return row.node.error(
        f"the coding of {field} is ambiguous",
        field=field,
        found=f"{describe_value(row.value)}, which means, as {'; '.join(meant)}",
        expected=_describe_readings(readings),
        hint=f"Choose one: {choices}{option.elsewhere}",
    )


def _describe_readings(readings: Iterable[str]) -> str:
    return " or ".join(READINGS[reading] for reading in readings)


def _describe_with_options(row: Written) -> str:
    options = ", ".join(map(describe_value, row.texts[:4]))
    return f"{describe_value(row.value)} with the options {options}"


def _describe_options(row: Written, reading: str) -> str:
    positions = sorted(row.meanings[reading])
    if not positions:
        return "none"
    described = " and ".join(describe_value(row.texts[i]) for i in positions[:3])
    return f"{described}, …" if len(positions) > 3 else described


def _no_reading_error(rows: Sequence[Written], bad: Written, field: str) -> DataError:
    """Return the error for a value that no reading explains; the rows before it say what was
    expected.
    """
    message = f"{field} fits no known coding"
    possible = list(READINGS)
    if bad is not rows[0]:
        message = f"{field} does not fit the coding of earlier rows"
        possible = fitting_readings([row for row in rows if row is not bad]) or possible
    return bad.node.error(
        message,
        field=field,
        found=_describe_with_options(bad),
        expected=_describe_readings(possible),
    )


def _conflict_error(
    rows: Sequence[Written], option: ReadingOption, skip_bad: bool, field: str
) -> DataError:
    """Return the error for rows that each have a reading, and not all the same."""
    possible = list(READINGS)
    for row in rows:
        remaining = [reading for reading in possible if reading in row.meanings]
        if row.meanings and not remaining:
            break
        possible = remaining or possible
    counts = Counter(dict.fromkeys(READINGS, 0))  # of equal counts, the first stays first
    for written in rows:
        counts.update(dict.fromkeys(written.meanings, written.n_alike))
    n_rows = sum(written.n_alike for written in rows)
    choices = " or ".join(
        f"{option.choose(name)} ({count:,} of {n_rows:,} rows)"
        for name, count in counts.most_common()
        if count
    )
    hint = f"To leave out the rows that do not fit, add --skip bad and one of {choices}"
    if skip_bad:
        hint = f"Choose what fits, and the other rows are left out: {choices}"
    return row.node.error(
        f"{field} does not fit the coding of earlier rows",
        field=field,
        found=_describe_with_options(row),
        expected=_describe_readings(possible),
        hint=hint,
    )


def _decode_one(
    value: Any, texts: Sequence[str], reading: str, labels: Sequence[str] | None
) -> int:
    if reading == "text":
        matching = match_text(value, TextLadder(texts))
        if len(matching) == 1:
            return matching[0]
        if labels is not None and not matching:
            with suppress(MismatchError):  # the text with the label that was cut
                return _match_label(value, labels, texts, "", is_text=True)
        raise MismatchError(
            value, "the text of exactly one candidate", f", the text of {len(matching)} candidates"
        )
    if reading == "letter":
        expected = f"a letter from A to {LETTERS[: len(texts)][-1:]}"
        if not isinstance(value, str):
            raise MismatchError(value, expected)
        return _match_label(value, LETTERS[: len(texts)], texts, expected)
    if reading == "label":
        if labels is None:
            raise MismatchError(value, "a label, which these options do not have")
        return _match_label(
            value, labels, texts, f"one of the labels {', '.join(map(str, labels[:8]))}"
        )
    return _decode_index(value, texts, int(reading == "index1"))


def _decode_index(value: Any, texts: Sequence[str], first: int) -> int:
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value
    # pandas stores integers with gaps as floats.
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if (
        isinstance(number, int)
        and not isinstance(number, bool)
        and first <= number < first + len(texts)
    ):
        return number - first
    raise MismatchError(value, f"an index from {first} to {first + len(texts) - 1}")


def _match_label(
    value: Any, labels: Sequence[str], texts: Sequence[str], expected: str, *, is_text: bool = False
) -> int:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = f"{value:g}" if is_number else value
    if isinstance(text, str):
        bare = bare_labels(tuple(map(str, labels)))
        if not is_text and (label := bare_label(text)) in bare:
            return bare.index(label)
        if (parts := split_label(text)) and parts[0] in bare:
            position = bare.index(parts[0])
            if position in TextLadder(texts).find(parts[1]):
                return position
    raise MismatchError(value, expected)


def match_text(value: Any, options: TextLadder) -> list[int]:
    """Return the positions of the options that are the text of a value.

    Numbers are written out. True and false also mean the options yes and no.
    """
    if isinstance(value, bool):
        written = ["true" if value else "false"]
    elif isinstance(value, (int, float)):
        written = list(dict.fromkeys((str(value), f"{value:g}")))
    elif isinstance(value, str):
        written = [value]
    else:
        return []
    positions = {position for text in written for position in options.find(text)}
    if not positions and (word := _SAME_WORDS.get(written[0].strip().casefold())):
        positions = set(options.find(word))
    return sorted(positions)


def _is_flag(value: Any) -> bool:
    # In Python, True and False are the integers 1 and 0.
    return isinstance(value, int) and value in (0, 1)
