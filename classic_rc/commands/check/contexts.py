"""Positions of options in their context (order, ids, fields), and fields that reveal an option."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.measurements import Measurement, point_in_time
from classic_rc.commands.check.option_arrays import Floats, Integers, OptionTable
from classic_rc.datasets.fields import ANNOTATORS
from classic_rc.equality import folded_text
from classic_rc.errors import unknown_name
from classic_rc.kernels.arrays import ragged_indices

_TOKEN = re.compile(r"[^\W_]+")
_INTEGER = re.compile(r"\d+")
_PART = re.compile(r"\d+|[^\W\d_]+")
_DIGEST = re.compile(r"(?i)[0-9a-f]{8}")
_MOST_POSITIONS = 12
"""With more options a question, positions are not crossed with contexts."""
_MOST_FIELDS = 60
_MOST_TOKENS = 20
_MOST_COMPARED = 8
"""How many fields are compared with entries."""
_FLAGS = re.compile(r"[01]+|[TF]+|[tf]+|[YN]+|[yn]+|[+-]+")
_SHORT = 40  # characters: a value of a field that is compared as a whole
_MODULI = (2, 3, 4, 5)
_LEAST_NUMBERS, _MOST_NUMBERS = 6, 6  # different numbers of a field; places in its texts


OptionPairs = tuple[NDArray[np.integer], NDArray[np.integer]]
"""The numbers of options, and codes of what they have."""


@dataclass
class FieldSources:
    """What the fields of a dataset say about its options."""

    scalars: dict[str, list[Any]] = field(default_factory=dict)
    """The values of fields with one value per question, by name; None for a missing value."""
    flags: list[tuple[str, Integers]] = field(default_factory=list)
    """A property that a field gives to some options, and these options."""
    measured: list[Measurement] = field(default_factory=list)
    """Numbers in fields that have one entry per option."""

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """The fields whose values are mostly numbers."""
        numbers = {
            name: np.array([_as_number(value) for value in values])
            for name, values in self.scalars.items()
        }
        return {name: own for name, own in numbers.items() if np.isfinite(own).sum() > len(own) / 2}


def sources_of_fields(table: OptionTable, without: Iterable[str] = ()) -> FieldSources:
    """Read the ids and all fields of the questions and passages, without those named."""
    found = FieldSources()
    lists: dict[str, list[Sequence[Any] | None]] = {}
    fields = _field_values(table)
    hidden: set[str] = set()
    for key in without:
        names = {name for name in fields if name == key or name.startswith(f"{key}.")}
        if not names and key != ANNOTATORS:  # votes may all be of questions without gold
            raise unknown_name("field", key, fields)
        hidden |= names
    fields = {name: values for name, values in fields.items() if name not in hidden}
    folded_texts = [*map(folded_text, table.distinct_texts)]
    for name, values in fields.items():
        listed = [_entries(value, table, i) for i, value in enumerate(values)]
        n_listed = sum(own is not None for own in listed)
        if n_listed > len(values) / 2:
            lists[name] = listed
        else:
            found.scalars[name] = values
            found.flags += _option_in_field(table, folded_texts, name, values)
    for name, listed in lists.items():
        _add_entries(found, table, name, listed)
    return found


def _field_values(table: OptionTable) -> dict[str, list[Any]]:
    """Return the values of each field; those of mappings under the names of both keys."""
    n = len(table)
    values: dict[str, list[Any]] = {"id": [q.id for q in table.questions]}
    passage_ids = [q.passage.id for q in table.questions]
    if len(set(passage_ids)) > 1 and passage_ids != values["id"]:
        values["passage id"] = passage_ids
    for i, question in enumerate(table.questions):
        for meta in (question.passage.meta, question.meta):
            for key, value in _flatten(meta):
                if key not in values:
                    if len(values) >= _MOST_FIELDS:
                        continue
                    values[key] = [None] * n
                values[key][i] = value
    return values


def _flatten(meta: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in meta.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value and len(value) <= _MOST_POSITIONS:
            yield name, list(value.values())
            yield from _flatten(value, f"{name}.")
        elif value is not None:
            yield name, value


def _entries(value: Any, table: OptionTable, question: int) -> Sequence[Any] | None:
    """Return a field's entries if it has one for each option."""
    size = int(table.sizes[question])
    if isinstance(value, list | tuple) and len(value) == size:
        return value
    if isinstance(value, str) and value.count(",") == size - 1 and size > 2:
        return [part.strip() for part in value.split(",")]
    return (
        value
        if isinstance(value, str) and len(value) == size > 1 and _FLAGS.fullmatch(value)
        else None
    )


def _add_entries(
    found: FieldSources, table: OptionTable, name: str, listed: Sequence[Sequence[Any] | None]
) -> None:
    entries: list[Any] = []
    for own, size in zip(listed, table.sizes.tolist(), strict=True):
        entries += [None] * size if own is None else own
    numbers = np.array([_as_number(entry) for entry in entries])
    if np.isfinite(numbers).any():
        values = np.where(np.isfinite(numbers), numbers, np.nanmin(numbers) - 1)
        found.measured.append(
            Measurement(
                f'has the largest entry in the field "{name}"|has the smallest entry in the field '
                f'"{name}"',
                values,
                ("fields",),
            )
        )
    texts = [None if entry is None else str(entry) for entry in entries]
    lengths = np.array([len(text or "") for text in texts], dtype=np.float64)
    found.measured.append(Measurement(f'characters in the field "{name}"', lengths, ("fields",)))
    known: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        if text is not None:
            known.setdefault(text[:_SHORT], []).append(i)
    pairs = list(zip(texts, table.texts, strict=True))
    equal = [
        i
        for i, (text, own) in enumerate(pairs)
        if text is not None and folded_text(text) == folded_text(own)
    ]
    found.flags.append((f'is its own entry in the field "{name}"', _as_places(equal)))
    for other, scalars in [*found.scalars.items()][:_MOST_COMPARED]:
        said = np.array([_as_text(value) for value in scalars], dtype=object)[table.question]
        same = [
            i
            for i, (text, own) in enumerate(zip(texts, said, strict=True))
            if text == own and len(own) > 1
        ]
        found.flags.append(
            (f'has in the field "{name}" what the field "{other}" is', _as_places(same))
        )
    for text, where in sorted(known.items(), key=lambda item: -len(item[1]))[:50]:
        found.flags.append((f'has the entry {text!r} in the field "{name}"', _as_places(where)))


def _as_places(options: list[int]) -> Integers:
    return np.array(options, dtype=np.int64)


def _as_number(value: Any) -> float:
    try:
        return float(value) if not isinstance(value, list | tuple) else np.nan
    except (TypeError, ValueError):
        return point_in_time(_as_text(value))


def _option_in_field(
    table: OptionTable, folded_texts: Sequence[str], name: str, values: Sequence[Any]
) -> Iterator[tuple[str, Integers]]:
    """Yield whether a field has the index, the letter, the text or an encoding of each option."""
    texts = [_as_text(value) for value in values]
    found: dict[str, list[int]] = {}
    digests = any(_DIGEST.search(text) for text in texts[:1000])
    for i, text in enumerate(texts):
        if not text:
            continue
        tokens = set(_TOKEN.findall(text))
        numbers = {int(t) for t in tokens if t.isdecimal() and len(t) < 6}
        has_letters = table.sizes[i] <= 26 and (len(text) <= _SHORT or len(tokens) < 4)
        bare, folded = folded_text(text), text.lower()
        first, last = table.offsets[i : i + 2].tolist()
        for j, known in enumerate(map(folded_texts.__getitem__, table.text_index[first:last])):
            says = []
            if j in numbers:
                says.append("index from 0")
            if j + 1 in numbers:
                says.append("index from 1")
            if has_letters and (chr(65 + j) in tokens or chr(97 + j) in tokens):
                says.append("letter")
            if known and (bare == known or (len(known) > 2 and known in folded)):
                says.append("text")
            if digests:
                raw = table.texts[first + j].encode("utf-8", "surrogatepass")
                for kind in ("MD5", "SHA1", "SHA256"):
                    if hashlib.new(kind, raw, usedforsecurity=False).hexdigest()[:8] in folded:
                        says.append(f"{kind} digest")
            for what in says:
                found.setdefault(what, []).append(first + j)
    yield from (
        (f'has its {what} in the field "{name}"', _as_places(where))
        for what, where in found.items()
    )


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple | set | frozenset):
        return " ".join(map(str, value))
    return str(value)


def field_measurements(table: OptionTable, fields: FieldSources) -> Iterator[Measurement]:
    """Yield what ranks options by fields: entries, and words shared with fields that are texts."""
    yield from fields.measured
    each = np.arange(len(table))
    for name, values in fields.scalars.items():
        texts = [_as_text(value) for value in values]
        if sum(text.count(" ") >= 2 for text in texts) > len(texts) / 2:
            yield Measurement(
                f'words of the field "{name}"',
                table.count_shared(texts, each),
                ("options", "fields"),
            )


def known_measurement(
    table: OptionTable, fields: FieldSources, measured: Measurement
) -> Iterator[tuple[int, str, Integers]]:
    """Yield whether a field of numbers has the length, or the place in the passage, of each
    option.
    """
    name = measured.name
    what = f"number of {name}" if "|" not in name else "place" if "mentioned" in name else ""
    if what and "fields" not in measured.sees:
        for i, (field_name, numbers) in enumerate(fields.numbers.items()):
            equal = np.flatnonzero(measured.values == numbers[table.question])
            yield i, f'has its {what} in the field "{field_name}"', equal


# Positions


def position_features(
    table: OptionTable, fields: FieldSources, least: int
) -> Iterator[tuple[list[str], list[str], OptionPairs, str]]:
    """Yield positions of options, alone and in contexts: names, contexts, pairs of option and
    code, inputs.
    """
    size = int(table.sizes.max(initial=0))
    options = np.arange(len(table.texts))
    last = table.sizes[table.question] - 1
    names = [f"is {table.place_name(i)}" for i in range(size)]
    pairs: OptionPairs = options, table.position
    if (table.sizes != size).any():
        is_last = np.flatnonzero(table.position == last)
        names.append(f"is {table.nouns[2]}")
        pairs = (
            np.concatenate([options, is_last]),
            np.concatenate([table.position, np.full(len(is_last), size)]),
        )
    yield names, [""] * len(names), pairs, "options"
    if not 2 <= size <= _MOST_POSITIONS:
        return
    names, subjects, pairs = _cross(table, _question_contexts(table), size, least)
    # what classes say is not one order of options
    yield names, [""] * len(names) if table.classes else subjects, pairs, "question"
    if table.has_same_options:
        names, _, pairs = _cross(table, _question_words(table), size, least)
        yield names, [""] * len(names), pairs, "question"
    moduli = sorted({*_MODULI, size})
    yield (*_cross(table, _order_contexts(table, moduli), size, least), "order")
    for name, values in fields.scalars.items():
        yield (*_cross(table, _field_contexts(name, values, moduli), size, least), "fields")


_Context = tuple[int, str, str]
"""A question, what says something of it, and what that says."""


def _cross(
    table: OptionTable, contexts: Iterator[_Context], size: int, least: int
) -> tuple[list[str], list[str], OptionPairs]:
    """Cross each context of enough questions with the positions of options."""
    known: dict[tuple[str, str], int] = {}
    asked, codes = array("i"), array("i")
    for i, subject, said in contexts:
        asked.append(i)
        codes.append(known.setdefault((subject, said), len(known)))
    question, code = (
        np.frombuffer(values, dtype=np.int32).astype(np.int64) for values in (asked, codes)
    )
    counts = np.bincount(code, minlength=len(known))
    # what all questions have is no context
    kept = np.flatnonzero((counts >= least) & (counts < len(table)))
    place = np.full(len(known), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    question, code = question[place[code] >= 0], place[code[place[code] >= 0]]
    labels = list(known)
    places = [*map(table.place_name, range(size))]
    names = [f"is {place} where {' '.join(labels[c])}" for c in kept.tolist() for place in places]
    subjects = [labels[c][0] for c in kept.tolist() for p in range(size)]
    n = table.sizes[question]
    options = ragged_indices(table.offsets[:-1][question], n).astype(np.int32)
    code = np.repeat(code.astype(np.int32), n) * np.int32(size)
    return names, subjects, (options, code + table.position[options].astype(np.int32))


def _question_contexts(table: OptionTable) -> Iterator[_Context]:
    for i, question in enumerate(table.questions):
        words = _TOKEN.findall(question.query.lower())
        if words:
            yield i, "the question begins with", f'"{words[0]}"'
            yield i, "the question ends with", f'"{words[-1]}"'


def _question_words(table: OptionTable) -> Iterator[_Context]:
    """Yield pairs of neighbouring words of the questions, then words.

    A pair comes first: if both say the same, it says more.
    """
    tokens, offsets = table.encode([question.query for question in table.questions])
    words, bounds = table.encoder.vocabulary, offsets.tolist()
    texts = [[words[t] for t in tokens[a:b].tolist()] for a, b in pairwise(bounds)]
    for i, text in enumerate(texts):
        for pair in set(pairwise(text)):
            yield i, "the question has the words", f'"{" ".join(pair)}"'
    for i, text in enumerate(texts):
        for word in set(text):
            yield i, "the question has the word", f'"{word}"'


def _order_contexts(table: OptionTable, moduli: Sequence[int]) -> Iterator[_Context]:
    n, seen = len(table), Counter[int]()
    remainders = {m: [f"modulo {m} is {r}" for r in range(m)] for m in moduli}
    for i, (row, passage) in enumerate(
        zip(table.rows.tolist(), table.passages[1].tolist(), strict=True)
    ):
        for m, names in remainders.items():
            yield i, "the question's number in the file", names[row % m]
        yield i, "the question's place in the file", f"is tenth {10 * i // n + 1}"
        seen[passage] += 1
        yield i, "the question's number in its passage", f"is {seen[passage]}"


def _field_contexts(name: str, values: Sequence[Any], moduli: Sequence[int]) -> Iterator[_Context]:
    subject = f'the field "{name}"'
    for i, value in enumerate(values):
        for said in _said(value, moduli):
            yield i, subject, said
    numbers = np.full((len(values), _MOST_NUMBERS + 1), np.nan)
    numbers[:, 0] = [*map(_as_number, values)]
    for i, value in enumerate(values):
        parts = _INTEGER.findall(value) if isinstance(value, str) else []
        if len(parts) != 1:
            parts = [float(part) for part in parts if len(part) < 18][:_MOST_NUMBERS]
            numbers[i, 1 : 1 + len(parts)] = parts
        elif not np.isfinite(numbers[i, 0]) and len(parts[0]) < 18:
            numbers[i, 0] = float(parts[0])
    for place, column in enumerate(numbers.T):
        what = f"has its number {place}" if place else "is"
        for i, third in enumerate(_thirds(column)):
            if third >= 0:
                yield i, subject, f"{what} in the {('lower', 'middle', 'upper')[third]} third"


def _said(value: Any, moduli: Sequence[int]) -> Iterator[str]:
    text = _as_text(value)
    if not text:
        return
    if len(text) <= _SHORT:
        yield f"is {text!r}"
    if " " in text.strip():
        tokens = _TOKEN.findall(text)
        if 1 < len(tokens) <= _MOST_TOKENS:
            yield from (f"has {token!r}" for token in dict.fromkeys(tokens))
    else:  # in an id or a date, each position has one meaning
        parts = _PART.findall(text)
        if 1 < len(parts) <= _MOST_TOKENS:
            yield from (f"has {part!r} in place {place}" for place, part in enumerate(parts, 1))
    yield f"ends with {text[-1]!r}"
    numbers = _INTEGER.findall(text)
    if numbers and len(numbers[-1]) < 18:
        yield from (f"modulo {m} is {int(numbers[-1]) % m}" for m in moduli)


def _thirds(numbers: Floats) -> list[int]:
    """Return in which third each number is; -1 if there are few different numbers."""
    known = numbers[np.isfinite(numbers)]
    if len(np.unique(known)) < _LEAST_NUMBERS:
        return []
    cuts = np.quantile(known, [1 / 3, 2 / 3])
    return [int(np.searchsorted(cuts, x)) if np.isfinite(x) else -1 for x in numbers.tolist()]
