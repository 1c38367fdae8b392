"""Rules of ids and meta data: what is written there names the right option, describes it, or lists it."""

from __future__ import annotations

import base64
import datetime
import hashlib
import itertools
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules.partial_input import Measure, PartialInput, has, ordered
from classic_rc.questions import normalised_text

_MOST_FIELDS = 300
_MOST_LISTED = 12
"""Longer lists are read as a whole, not entry by entry."""

_DEEPEST = 4


def raw_fields(table: OptionTable) -> dict[str, list[Any]]:
    """Return the values of ids and meta data by name; fields with one value for all questions are left out.

    Entries of mappings and of short lists are fields too: ``meta info.source``, ``meta flags[0]``.
    """
    if "fields" not in table.memory:
        found: dict[str, list[Any]] = {
            "id": [q.id for q in table.questions],
            "passage id": [q.passage.id for q in table.questions],
        }
        for label, metas in (
            ("meta", [q.meta for q in table.questions]),
            ("passage meta", [q.passage.meta for q in table.questions]),
        ):
            for key in dict.fromkeys(key for meta in metas for key in meta):
                for path, values in _entries([meta.get(key) for meta in metas], 0):
                    if len(found) < _MOST_FIELDS:
                        found[f"{label} {key}{path}"] = values
        table.memory["fields"] = {name: own for name, own in found.items() if len(set(map(as_text, own))) > 1}
    return table.memory["fields"]


def _entries(values: list[Any], depth: int) -> Iterator[tuple[str, list[Any]]]:
    """Yield values, and those inside of them, with their paths."""
    yield "", values
    if depth == _DEEPEST:
        return
    keys = dict.fromkeys(key for value in values if isinstance(value, Mapping) for key in value)
    for key in keys if len(keys) <= _MOST_FIELDS else ():
        inner = [value.get(key) if isinstance(value, Mapping) else None for value in values]
        yield from ((f".{key}{path}", own) for path, own in _entries(inner, depth + 1))
    lists = [value if isinstance(value, list | tuple) else () for value in values]
    longest = max(map(len, lists), default=0)
    for i in range(longest if longest <= _MOST_LISTED else 0):
        inner = [value[i] if i < len(value) else None for value in lists]
        yield from ((f"[{i}]{path}", own) for path, own in _entries(inner, depth + 1))


def as_text(value: Any) -> str:
    """Return a value of meta data as text; empty for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_INTEGERS = re.compile(r"\d+")
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")


def integers(value: Any) -> list[int]:
    """Return the integers in a value: a number rounded down, or all runs of digits of its text."""
    if isinstance(value, str) and "." not in value:  # most values, such as ids
        return [int(found[-18:]) for found in _INTEGERS.findall(value)]
    if isinstance(value, bool | int):
        return [int(value)]
    if not isinstance(value, float) and isinstance(value, str) and re.fullmatch(r"\s*\d*\.\d+\s*", value):
        value = float(value)
    if isinstance(value, float):
        return [math.floor(value)] if math.isfinite(value) else []
    return [int(found[-18:]) for found in _INTEGERS.findall(as_text(value))]


def weekday(value: Any) -> int:
    """Return the day of the week of the date that starts a value, from 0 for Monday; -1 without one."""
    found = _DATE.match(as_text(value).strip('" '))
    if not found:
        return -1
    try:
        return datetime.date(*map(int, found.groups())).weekday()
    except ValueError:
        return -1


def _letter_index(value: Any) -> int:
    found = _LETTER.findall(as_text(value))
    return ord(found[-1].casefold()) - ord("a") if found else -1


def _at(places: Sequence[int]) -> Callable[[OptionTable], Floats]:
    wanted = np.array([max(min(place, 1000), -1) for place in places], dtype=np.int64)
    return lambda table: (table.position == wanted[table.question]).astype(np.float64)


# Texts of options in a field, as they are or in another form


def _stripped(text: str) -> str:
    return normalised_text(text).strip(" .,;:!?")


def text_in(values: Sequence[str]) -> Callable[[OptionTable], Floats]:
    """Return the score of options by the length of their text if a text of their question has it, else 0."""
    folded = [normalised_text(value) for value in values]

    def score(table: OptionTable) -> Floats:
        texts = [_stripped(text) for text in table.distinct_texts]
        pairs = zip(table.text_index.tolist(), table.question.tolist(), strict=True)
        # The longest text counts: short ones are often part of others.
        return np.array([len(texts[i]) if texts[i] and texts[i] in folded[q] else 0 for i, q in pairs], np.float64)

    return score


def _letters_and_digits(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _shifts(text: str) -> str:
    """Return the distances between neighbouring letters, which are the same in every shifted alphabet."""
    codes = [ord(c) - ord("a") if "a" <= c <= "z" else None for c in text.casefold()]
    pairs = itertools.pairwise(codes)
    return "".join("." if a is None or b is None else chr(ord("a") + (b - a) % 26) for a, b in pairs)


_FOLDED: tuple[Callable[[str], str], ...] = (_letters_and_digits, _shifts)
"""Forms that the field is brought into too."""

_FORMS: dict[str, Callable[[str], str]] = {
    "without blanks": _letters_and_digits,
    "without vowels": lambda text: re.sub("[aeiou]", "", text.casefold()),
    "by its initials": lambda text: "".join(word[0] for word in text.casefold().split()),
    "with its letters sorted": lambda text: "".join(sorted(_letters_and_digits(text))),
    "in reverse": lambda text: text.casefold()[::-1],
    "in base64": lambda text: base64.b64encode(text.encode("utf-8", "replace")).decode().rstrip("=").casefold(),
    "in hexadecimal": lambda text: text.encode("utf-8", "replace").hex(),
    "in a shifted alphabet (as in ROT13)": _shifts,
    "as MD5": lambda text: hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(),
    "as SHA-1": lambda text: hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(),
    "as SHA-256": lambda text: hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
    "as SHA-512": lambda text: hashlib.sha512(text.encode("utf-8", "replace")).hexdigest(),
    "as CRC-32": lambda text: str(zlib.crc32(text.encode("utf-8", "replace"))),
}
"""Forms of an option's text that a field may have, as a whole or its beginning."""

_LEAST_CUT = 4
"""Fields of fewer characters are no beginnings of forms: they begin others by chance."""


def _has_form(value: str, text: str) -> bool:
    return len(text) > 1 and (text in value or (len(value) >= _LEAST_CUT and text.startswith(value)))


def _form_in(values: Sequence[str], form: Callable[[str], str]) -> Callable[[OptionTable], NDArray[np.bool_]]:
    fold = form if form in _FOLDED else str.casefold
    folded = [fold(value) for value in values]

    def score(table: OptionTable) -> NDArray[np.bool_]:
        texts = [form(text) for text in table.distinct_texts]
        pairs = zip(table.text_index.tolist(), table.question.tolist(), strict=True)
        return np.array([_has_form(folded[q], texts[i]) for i, q in pairs], dtype=np.bool_)

    return score


_SAMPLE = 400
_LEAST_SHARE = 0.04


def _sample(table: OptionTable) -> list[int]:
    return np.unique(np.linspace(0, len(table) - 1, min(_SAMPLE, len(table))).astype(np.int64)).tolist()


def _is_frequent(agrees: Iterable[bool]) -> bool:
    """Return whether enough questions of a sample agree."""
    known = list(agrees)
    return sum(known) >= max(_LEAST_SHARE * len(known), 2)


def _occurs(table: OptionTable, values: Sequence[str], form: Callable[[str], str]) -> bool:
    """Return whether a field has the text of an option in some questions of a sample. Gold is not read."""
    forms = table.memory.setdefault("forms", {})  # fields ask for the same ones
    if form not in forms:
        forms[form] = [[form(text) for text in table.options_of(q)] for q in _sample(table)]
    fold = form if form in _FOLDED else normalised_text
    folded = [fold(values[q]) for q in _sample(table)]
    pairs = zip(folded, forms[form], strict=True)
    return _is_frequent(any(_has_form(value, text) for text in texts) for value, texts in pairs)


def _place_in(values: Sequence[str]) -> Callable[[OptionTable], Floats]:
    """The place of an option's text in a field; options that are not there come last."""
    folded = [normalised_text(value) for value in values]

    def score(table: OptionTable) -> Floats:
        texts = [_stripped(text) for text in table.distinct_texts]
        pairs = zip(table.text_index.tolist(), table.question.tolist(), strict=True)
        places = np.array([folded[q].find(texts[i]) if texts[i] else -1 for i, q in pairs], dtype=np.float64)
        return np.where(places >= 0, -places, -1e9)

    return score


class _Part:
    """Whether an option's text starts with a field's text, or has it anywhere; a single letter is no text."""

    def __init__(self, values: Sequence[str], agrees: Callable[[str, str], bool]) -> None:
        self._parts, self._agrees = [normalised_text(value) if len(value) > 1 else "" for value in values], agrees

    def holds(self, question: int, text: str) -> bool:
        """Return whether it is so for a text of a question's options."""
        part = self._parts[question]
        return bool(part) and self._agrees(_stripped(text), part)

    def __call__(self, table: OptionTable) -> NDArray[np.bool_]:
        pairs = zip(table.question.tolist(), table.texts, strict=True)
        return np.array([self.holds(q, text) for q, text in pairs], dtype=np.bool_)


def _text_rules(table: OptionTable, key: str, values: Sequence[str]) -> Iterator[PartialInput]:
    sees = ("options", f"fields: {key}")
    if _occurs(table, values, _stripped):
        score = text_in(values)
        yield has(f"has its text in {key}", "fields", f"does not have its text in {key}", score, sees)
        for name, own in (
            (f"is the longest text in {key}", score),
            (f"is the first text in {key}", _place_in(values)),
        ):
            yield PartialInput(name, sees, "fields", name, name.replace("is", "is never or seldom", 1), own)
    for form, make in _FORMS.items():
        if _occurs(table, values, make):
            name = f"has its text, {form}, in {key}"
            yield has(name, "fields", f"does not have its text, {form}, in {key}", _form_in(values, make), sees)
    for part, lack, agrees in (
        (f"starts with the text of {key}", f"does not start with the text of {key}", str.startswith),
        (f"has the text of {key}", f"does not have the text of {key}", str.__contains__),
    ):
        measure = _Part(values, agrees)
        if _is_frequent(any(measure.holds(q, text) for text in table.options_of(q)) for q in _sample(table)):
            yield has(part, "fields", lack, measure, sees)
    if sum(any(map(str.isalpha, value)) for value in values) > _LEAST_SHARE * len(values):

        def shared(own: OptionTable) -> Floats:
            return (own.count_shared(values, np.arange(len(own))) / np.maximum(own.word_counts, 1)).round(9)

        yield from ordered(
            shared,
            "fields",
            f"one with the largest share of words of {key}",
            f"one with the smallest share of words of {key}",
            sees,
        )


# Numbers and lists


def _description_rules(table: OptionTable, key: str, raw: Sequence[Any]) -> Iterator[PartialInput]:
    """Yield rules of fields that describe an option: its length, its first letter, its place in the passage."""
    sees = ("options", f"fields: {key}")
    numbers = np.array([(integers(value) or [-1])[-1] for value in raw], dtype=np.float64)
    if (numbers >= 0).mean() > _LEAST_SHARE:
        for what, measure in _MEASURES.items():
            lack = f"does not have {what} {key} says"
            yield has(f"has {what} {key} says", "fields", lack, _equal_to(numbers, measure), sees)
        if numbers.max() > table.sizes.max():  # small numbers are counts or indices
            for name, lack, is_at in _PLACES:
                place = _Place(numbers, is_at)
                # To search all passages for each of hundreds of fields would take long.
                if _is_frequent(
                    any(place.holds(table, q, text) for text in table.options_of(q)) for q in _sample(table)
                ):
                    name, lack = f"{name} that {key} gives", f"{lack} that {key} gives"
                    yield has(name, "fields", lack, place, ("passage", *sees))
    letters = [as_text(value).strip().casefold() for value in raw]
    if sum(len(letter) == 1 and letter.isalpha() for letter in letters) > _LEAST_SHARE * len(letters):
        name = f"starts with the letter in {key}"

        def starts(own: OptionTable) -> NDArray[np.bool_]:
            first = np.array([text.lstrip()[:1].casefold() for text in own.distinct_texts])[own.text_index]
            return first == np.array([letter[:2] for letter in letters])[own.question]

        yield has(name, "fields", f"does not start with the letter in {key}", starts, sees)


def _code_sums(table: OptionTable) -> Floats:
    if "code sums" not in table.memory:  # fields ask for the same ones
        table.memory["code sums"] = table.of_texts(lambda text: sum(map(ord, text)))
    return table.memory["code sums"]


_MEASURES: dict[str, Measure] = {
    "as many characters as": lambda table: table.lengths,
    "as many words as": lambda table: table.word_counts,
    "the sum of character codes that": _code_sums,
}


def _equal_to(numbers: Floats, measure: Measure) -> Callable[[OptionTable], NDArray[np.bool_]]:
    return lambda table: np.asarray(measure(table)) == numbers[table.question]


_PLACES: tuple[tuple[str, str, Callable[[str, int, str], bool]], ...] = (
    (
        "is in the passage at the character",
        "is not in the passage at the character",
        lambda passage, place, text: passage.startswith(text, place),
    ),
    (
        "ends in the passage at the character",
        "does not end in the passage at the character",
        lambda passage, place, text: passage.endswith(text, 0, place),
    ),
    (
        "is in the passage at the word",
        "is not in the passage at the word",
        lambda passage, place, text: _is_at_word(passage, place, text.split()),
    ),
)
"""Whether an option's text is at a place of a passage, with words for it and for its absence."""


def _is_at_word(passage: str, place: int, words: Sequence[str]) -> bool:
    found = passage.split(maxsplit=place + len(words))[place : place + len(words)]
    return bool(words) and [word.strip(".,;:!?") for word in found] == [word.strip(".,;:!?") for word in words]


class _Place:
    """Whether an option's text is at the place of the passage that a field's number gives."""

    def __init__(self, numbers: Floats, is_at: Callable[[str, int, str], bool]) -> None:
        self._places, self._is_at = numbers.astype(np.int64).tolist(), is_at

    def holds(self, table: OptionTable, question: int, text: str) -> bool:
        """Return whether it is so for a text of a question's options."""
        place = self._places[question]
        return place >= 0 and self._is_at(table.questions[question].passage.text, place, text)

    def __call__(self, table: OptionTable) -> NDArray[np.bool_]:
        pairs = zip(table.question.tolist(), table.texts, strict=True)
        return np.array([self.holds(table, q, text) for q, text in pairs], dtype=np.bool_)


def _per_option(value: Any, texts: Sequence[str]) -> list[Any] | None:
    """Return the entries of a value that has one for each option, in the order of the options, else None."""
    if not isinstance(value, list | tuple | Mapping) or len(value) != len(texts):
        return None
    if isinstance(value, Mapping):
        return [value[text] for text in texts] if all(text in value for text in texts) else list(value.values())
    return list(value)


def _listed(table: OptionTable, raw: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Return what a field lists for each option, by the key inside the entries ("" for the entries themselves)."""
    found: dict[str, list[Any]] = {}
    for q, value in enumerate(raw):
        start, stop = int(table.offsets[q]), int(table.offsets[q + 1])
        for i, entry in enumerate(_per_option(value, table.texts[start:stop]) or ()):
            for key, inner in entry.items() if isinstance(entry, Mapping) else (("", entry),):
                found.setdefault(str(key), [None] * len(table.texts))[start + i] = inner
    return {key: np.array([_scalar(entry) for entry in entries], dtype=object) for key, entries in found.items()}


def _scalar(entry: Any) -> Any:
    """Return an entry as a number if it is one, else as text."""
    if isinstance(entry, bool | int | float):
        return float(np.nan_to_num(float(entry), posinf=1e9, neginf=-1e9))
    try:
        return float(entry) if isinstance(entry, str) and math.isfinite(float(entry)) else as_text(entry)
    except ValueError:
        return as_text(entry)


_MOST_VALUES = 10


def _list_rules(table: OptionTable, key: str, raw: Sequence[Any]) -> Iterator[PartialInput]:
    """Yield rules of fields that list something for each option."""
    sees = (f"fields: {key}",)
    for inner, entries in _listed(table, raw).items():
        where = f"{key}: {inner}" if inner else key
        is_number = np.array([isinstance(entry, float) for entry in entries], dtype=np.bool_)
        if is_number.any():
            numbers = np.where(is_number, entries, 0.0).astype(np.float64)
            for word, sign in (("largest", 1), ("smallest", -1)):
                name = f"has the {word} number in {where}"
                below = name.replace("has", "never or seldom has", 1)
                yield PartialInput(name, sees, "fields", name, below, _constant(sign * numbers))
        words, counts = np.unique(entries[~is_number].astype(str), return_counts=True)
        for word in words[np.argsort(-counts, kind="stable")][:_MOST_VALUES].tolist():
            if word and counts.max() > 2:
                flags = np.array([entry == word for entry in entries], dtype=np.float64)
                yield has(
                    f"has {word!r} in {where}",
                    "fields",
                    f"does not have {word!r} in {where}",
                    _constant(flags),
                    sees,
                )


def _constant(values: Floats) -> Callable[[OptionTable], Floats]:
    return lambda table: values


def field_rules(table: OptionTable) -> Iterator[PartialInput]:
    """Yield the rules of ids and meta data."""
    for key, raw in raw_fields(table).items():
        sees = (f"fields: {key}",)
        found = [integers(value) for value in raw]
        for name, places in (
            (f"has its letter in {key}", [_letter_index(value) for value in raw]),
            (f"has its number in {key}, from 1", [own[-1] - 1 if own else -1 for own in found]),
            (f"has its number in {key}, from 0", [own[-1] if own else -1 for own in found]),
        ):
            if _is_somewhere(table, places):
                below = name.replace("has", "never or seldom has", 1)
                yield PartialInput(name, sees, "fields", name, below, _at(places))
        yield from _text_rules(table, key, [as_text(value) for value in raw])
        if key not in ("id", "passage id"):
            yield from _description_rules(table, key, raw)
            yield from _list_rules(table, key, raw)


def _is_somewhere(table: OptionTable, places: Sequence[int]) -> bool:
    within = np.array([0 <= place < size for place, size in zip(places, table.sizes.tolist(), strict=True)])
    return bool(within.any())
