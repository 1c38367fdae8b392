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
        numbers = {}
        for name, values in self.scalars.items():
            column = np.array([*map(_as_number, values)])
            if np.isfinite(column).sum() > len(column) / 2:
                numbers[name] = column
        return numbers


def sources_of_fields(table: OptionTable, excluded: Iterable[str] = ()) -> FieldSources:
    """Read the ids and all fields of the questions and passages, without those named."""
    sources = FieldSources()
    lists: dict[str, list[Sequence[Any] | None]] = {}
    fields = _field_values(table)
    hidden: set[str] = set()
    for key in excluded:
        names = {name for name in fields if name == key or name.startswith(f"{key}.")}
        if not names and key != ANNOTATORS:  # votes may all be of questions without gold
            raise unknown_name("field", key, fields)
        hidden |= names
    fields = {name: values for name, values in fields.items() if name not in hidden}
    folded_texts = [*map(folded_text, table.distinct_texts)]
    for name, values in fields.items():
        listed = [_entries(value, table, i) for i, value in enumerate(values)]
        n_listed = sum(entries is not None for entries in listed)
        if n_listed > len(values) / 2:
            lists[name] = listed
        else:
            sources.scalars[name] = values
            sources.flags += _option_in_field(table, folded_texts, name, values)
    for name, listed in lists.items():
        _add_entries(sources, table, name, listed)
    return sources


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
    if not isinstance(value, str):
        return None
    if value.count(",") == size - 1 and size > 2:
        return [entry.strip() for entry in value.split(",")]
    return value if len(value) == size > 1 and _FLAGS.fullmatch(value) else None


def _add_entries(
    sources: FieldSources, table: OptionTable, name: str, listed: Sequence[Sequence[Any] | None]
) -> None:
    entries: list[Any] = []
    for option_text, size in zip(listed, table.sizes.tolist(), strict=True):
        entries += [None] * size if option_text is None else option_text
    numbers = np.array([_as_number(entry) for entry in entries])
    if np.isfinite(numbers).any():
        values = np.where(np.isfinite(numbers), numbers, np.nanmin(numbers) - 1)
        sources.measured.append(
            Measurement(
                f'has the largest entry in the field "{name}"|has the smallest entry in the field '
                f'"{name}"',
                values,
                ("fields",),
            )
        )
    texts = [None if entry is None else str(entry) for entry in entries]
    lengths = np.array([len(text or "") for text in texts], dtype=np.float64)
    sources.measured.append(Measurement(f'characters in the field "{name}"', lengths, ("fields",)))
    options_by_entry: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        if text is not None:
            options_by_entry.setdefault(text[:_SHORT], []).append(i)
    equal = (
        text is not None and folded_text(text) == folded_text(option_text)
        for text, option_text in zip(texts, table.texts, strict=True)
    )
    sources.flags.append((f'is its own entry in the field "{name}"', _true_places(equal)))
    for scalar_name, scalars in [*sources.scalars.items()][:_MOST_COMPARED]:
        scalar_texts = np.array([*map(_as_text, scalars)], dtype=object)[table.question]
        equal = (
            text == scalar and len(scalar) > 1
            for text, scalar in zip(texts, scalar_texts, strict=True)
        )
        relation = f'has in the field "{name}" what the field "{scalar_name}" is'
        sources.flags.append((relation, _true_places(equal)))
    most_frequent = sorted(options_by_entry.items(), key=lambda entry: -len(entry[1]))[:50]
    for text, where in most_frequent:
        sources.flags.append((f'has the entry {text!r} in the field "{name}"', _as_places(where)))


def _true_places(flags: Iterable[bool]) -> Integers:
    return _as_places([i for i, flag in enumerate(flags) if flag])


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
    options_by_relation: dict[str, list[int]] = {}
    digests = any(_DIGEST.search(text) for text in texts[:1000])
    for i, text in enumerate(texts):
        if not text:
            continue
        tokens = set(_TOKEN.findall(text))
        numbers = {int(t) for t in tokens if t.isdecimal() and len(t) < 6}
        is_short = len(text) <= _SHORT or len(tokens) < 4
        has_letters = is_short and table.sizes[i] <= 26
        bare, folded = folded_text(text), text.lower()
        first, last = table.offsets[i : i + 2].tolist()
        for j, option_text in enumerate(
            map(folded_texts.__getitem__, table.text_index[first:last])
        ):
            is_in_text = len(option_text) > 2 and option_text in folded
            says = {
                "index from 0": j in numbers,
                "index from 1": j + 1 in numbers,
                "letter": has_letters and (chr(65 + j) in tokens or chr(97 + j) in tokens),
                "text": is_in_text or (option_text == bare and bare != ""),
            }
            if digests:
                raw = table.texts[first + j].encode("utf-8", "surrogatepass")
                for kind in ("MD5", "SHA1", "SHA256"):
                    digest = hashlib.new(kind, raw, usedforsecurity=False).hexdigest()
                    says[f"{kind} digest"] = digest[:8] in folded
            for what, holds in says.items():
                if holds:
                    options_by_relation.setdefault(what, []).append(first + j)
    for what, where in options_by_relation.items():
        yield f'has its {what} in the field "{name}"', _as_places(where)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple | set | frozenset):
        return " ".join(map(str, value))
    return str(value)


def field_measurements(table: OptionTable, fields: FieldSources) -> Iterator[Measurement]:
    """Yield what ranks options by fields: entries, and words shared with fields that are texts."""
    yield from fields.measured
    all_questions = np.arange(len(table))
    for name, values in fields.scalars.items():
        texts = [_as_text(value) for value in values]
        if sum(text.count(" ") >= 2 for text in texts) > len(texts) / 2:
            yield Measurement(
                f'words of the field "{name}"',
                table.count_shared(texts, all_questions),
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
    table: OptionTable, fields: FieldSources, min_questions: int
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
        codes = np.concatenate([table.position, np.full(len(is_last), size)])
        pairs = np.concatenate([options, is_last]), codes
    yield names, [""] * len(names), pairs, "options"
    if not 2 <= size <= _MOST_POSITIONS:
        return
    names, subjects, pairs = _cross(table, _question_contexts(table), size, min_questions)
    # what classes say is not one order of options
    yield names, [""] * len(names) if table.classes else subjects, pairs, "question"
    if table.has_same_options:
        names, _, pairs = _cross(table, _question_words(table), size, min_questions)
        yield names, [""] * len(names), pairs, "question"
    moduli = sorted({*_MODULI, size})
    yield (*_cross(table, _order_contexts(table, moduli), size, min_questions), "order")
    for name, values in fields.scalars.items():
        yield (*_cross(table, _field_contexts(name, values, moduli), size, min_questions), "fields")


_Context = tuple[int, str, str]
"""A question, what says something of it, and what that says."""


def _cross(
    table: OptionTable, contexts: Iterator[_Context], size: int, min_questions: int
) -> tuple[list[str], list[str], OptionPairs]:
    """Cross each context of enough questions with the positions of options."""
    code_of: dict[tuple[str, str], int] = {}
    question_numbers, codes = array("i"), array("i")
    for i, subject, statement in contexts:
        question_numbers.append(i)
        codes.append(code_of.setdefault((subject, statement), len(code_of)))
    question = np.frombuffer(question_numbers, dtype=np.int32).astype(np.int64)
    code = np.frombuffer(codes, dtype=np.int32).astype(np.int64)
    counts = np.bincount(code, minlength=len(code_of))
    # what all questions have is no context
    frequent = np.flatnonzero((counts >= min_questions) & (counts < len(table)))
    place = np.full(len(code_of), -1, dtype=np.int64)
    place[frequent] = np.arange(len(frequent))
    is_frequent = place[code] >= 0
    question, code = question[is_frequent], place[code[is_frequent]]
    labels = list(code_of)
    place_names = [*map(table.place_name, range(size))]
    names, subjects = list[str](), list[str]()
    for subject, statement in (labels[i] for i in frequent.tolist()):
        names += (f"is {name} where {subject} {statement}" for name in place_names)
        subjects += [subject] * size
    sizes = table.sizes[question]
    options = ragged_indices(table.offsets[question], sizes).astype(np.int32)
    code = np.repeat(code.astype(np.int32), sizes) * np.int32(size)
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
        for statement in _said(value, moduli):
            yield i, subject, statement
    numbers = np.full((len(values), _MOST_NUMBERS + 1), np.nan)
    numbers[:, 0] = [*map(_as_number, values)]
    for i, value in enumerate(values):
        digits = _INTEGER.findall(value) if isinstance(value, str) else []
        if len(digits) != 1:
            digits = [float(number) for number in digits if len(number) < 18][:_MOST_NUMBERS]
            numbers[i, 1 : 1 + len(digits)] = digits
        elif not np.isfinite(numbers[i, 0]) and len(digits[0]) < 18:
            numbers[i, 0] = float(digits[0])
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
            yield from (f"has {piece!r} in place {place}" for place, piece in enumerate(parts, 1))
    yield f"ends with {text[-1]!r}"
    numbers = _INTEGER.findall(text)
    if numbers and len(numbers[-1]) < 18:
        yield from (f"modulo {m} is {int(numbers[-1]) % m}" for m in moduli)


def _thirds(numbers: Floats) -> list[int]:
    """Return in which third each number is; -1 if there are few different numbers."""
    finite = numbers[np.isfinite(numbers)]
    if len(np.unique(finite)) < _LEAST_NUMBERS:
        return []
    cuts = np.quantile(finite, [1 / 3, 2 / 3])
    thirds = np.where(np.isfinite(numbers), np.searchsorted(cuts, numbers), -1)
    return list(thirds.tolist())
