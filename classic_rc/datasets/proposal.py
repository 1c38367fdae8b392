"""The error for rows that no reader recognises: their columns, and the command that reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from classic_rc.datasets.fields import CONSTANT, find_families, find_paths, find_value, format_fields, list_options
from classic_rc.datasets.specification import quote_argument
from classic_rc.encodings import READINGS
from classic_rc.errors import ClassicRCError, DataError
from classic_rc.io.json import Node, describe_value

COLUMN, CODING = "COLUMN", "CODING"
"""What a user replaces in a proposed command."""

_NAMES = {
    "passage": "passage context article text story paragraph document ctx premise support sent1",
    "question": "question query questionstem questiontext stem q goal sent2",
    "candidates": "candidates options choices answerchoices answeroptions endings "
    "distractors wronganswers incorrectanswers",
    "gold": "gold answer answers label labels answerkey answeridx answerindex answerid "
    "correct correctanswer correctanswers correctoption",
    "id": "id qid questionid exampleid uid guid idx",
}
"""The names of columns that say which role they have, in lower case and without blanks and signs."""

_STEMS = "candidate option opt op choice answer ans ending sol distractor wrong wronganswer incorrectanswer"
"""The names of columns with one option each, without their number or letter."""

_WRONG_OPTIONS = ("distractor", "wrong", "incorrect")
_SHOWN_COLUMNS = 24
_SHOWN_VALUES = 3
_LONGEST_VALUE = 40
_LONGEST_NAME = 100  # of a column

Trial = Callable[[Mapping[str, str], str | None], None]
"""Reads rows with fields and a coding of gold, or raises an error of this package."""


def unrecognised_rows_error(rows: Sequence[Node], source: str, trial: Trial, command: bool = True) -> DataError:
    """Return the error for rows, the first of a file, that no reader recognises.

    Fields are proposed as a whole only if `trial` can read the rows with them. Without `command`, the hint is a
    Python call.
    """
    shown: dict[str, dict[str, None]] = {}
    for row in rows:
        for path, value in find_paths(row.value).items():
            values = shown.setdefault(path, {})
            if len(values) < _SHOWN_VALUES and not _is_empty(value):
                values[_show(value)] = None
    unnamed = (key for key in shown if len(key) > _LONGEST_NAME or key.rstrip().endswith("?"))
    if rows and rows[0].line not in (None, 1) and (text := next(unnamed, None)):
        return DataError(
            "the table has no header",
            source=source,
            where="line 1",
            found=describe_value(text),
            expected="names of columns",
            hint="Put a line before it, such as passage,question,candidate_0,candidate_1,gold",
        )
    fields = name_columns(rows)
    codings: list[str | None] = []
    if {"passage", "question", "candidates", "gold"} <= fields.keys():
        codings = [coding for coding in (None, *READINGS) if _is_read(trial, fields, coding)]
        if not codings:  # the names are as usual, and the values are not
            fields = {role: path for role, path in fields.items() if role not in ("candidates", "gold")}
    gold_as = CODING if codings and codings[0] is not None else None
    says = "Read the rows with"
    if not codings:
        says = f"Put a column in place of each {COLUMN} ({CONSTANT} for no passage)"
    elif gold_as is not None:
        says = f"Put what gold is in place of {CODING} ({' or '.join(filter(None, codings))})"
    call = _write_call(fields, gold_as, source if command else None)
    columns = [f"{name} ({', '.join(values) or 'nothing'})" for name, values in shown.items()]
    return DataError(
        "unknown format",
        source=source,
        found="rows with " + ", ".join([*columns[:_SHOWN_COLUMNS], *["…"] * (len(columns) > _SHOWN_COLUMNS)]),
        expected="a known format",
        hint=f"{says}: {call}",
    )


def name_columns(rows: Sequence[Node]) -> dict[str, str]:
    """Return the fields that the names of columns say for certain.

    A role has a field if exactly one column has one of its usual names, and all values of this column fit the role.
    Columns of one family (``option1``, ``option2``, …) are candidates together. Without any column that may be
    the passage, questions have none.

    Examples
    --------
    >>> row = {"context": "It rained.", "q": {"text": "Did it?"}, "choices": ["no", "yes"], "label": 1}
    >>> name_columns([Node(row, "rows")])
    {'passage': 'context', 'question': 'q.text', 'candidates': 'choices', 'gold': 'label'}
    >>> name_columns([Node({**row, "text": "It snowed."}, "rows")])
    {'question': 'q.text', 'candidates': 'choices', 'gold': 'label'}
    """
    columns: dict[str, Any] = {}
    for row in rows:
        for name, value in row.value.items():
            if _is_empty(columns.get(name)):
                columns[name] = value
    named = {role: [name for name in columns if _fold(name) in names.split()] for role, names in _NAMES.items()}
    families = find_families(name for name, value in columns.items() if isinstance(value, str))
    named["candidates"] += ["+".join(family) for family in families if _has_options(family[0])]
    fields: dict[str, str] = {}
    for role, found in named.items():
        paths = [f"{found[0]}{member}" for member in ("", ".text", ".stem")] if len(found) == 1 else []
        if (path := next((path for path in paths if _fits(role, path, rows)), None)) is not None:
            fields[role] = path
    if _fold(fields.get("candidates", "")).startswith(_WRONG_OPTIONS):
        wrong = fields.pop("candidates")
        if "gold" in fields:
            fields["candidates"] = f"{fields['gold']}+{wrong}"
    known = {name for found in named.values() for path in found for name in (path, *path.split("+"))}
    if not named["passage"] and known >= columns.keys():
        fields["passage"] = CONSTANT
    return {role: fields[role] for role in _NAMES if role in fields}


def _write_call(fields: Mapping[str, str], gold_as: str | None, source: str | None) -> str:
    """Return the command that reads a file, or the Python call if there is none, with what is to be filled in."""
    filled = {role: fields.get(role, COLUMN) for role in _NAMES if role != "id" or role in fields}
    text = format_fields(filled)
    if source is None:
        return f"classic_rc.from_rows(rows, fields={text!r}{'' if gold_as is None else f', gold_as={gold_as!r}'})"
    coding = "" if gold_as is None else f" --gold-as {gold_as}"
    return f"classic-rc run {quote_argument(source)} --fields {quote_argument(text)}{coding}"


def _is_read(trial: Trial, fields: Mapping[str, str], gold_as: str | None) -> bool:
    try:
        trial(fields, gold_as)
    except ClassicRCError:
        return False
    return True


def _fits(role: str, path: str, rows: Sequence[Node]) -> bool:
    """Return whether the values at a path can have a role; ids are one for each row."""
    found = [node.value for row in rows if (node := find_value(row, path)) is not None]
    values = [value for value in found if not _is_empty(value)]
    if role == "id":
        return len({str(value) for value in values if isinstance(value, (str, int))}) == len(rows)
    if role == "candidates":
        return bool(values) and all(_is_list_of_texts(list_options(value)) for value in values)
    may_be_list = role == "passage"
    return bool(values) and all(
        role == "gold" or isinstance(value, str) or (may_be_list and _is_list_of_texts(value)) for value in values
    )


def _fold(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def _has_options(name: str) -> bool:
    """Return whether the first column of a family says that the family has options: ``option_a``, ``A``."""
    stem = re.sub(r"([0-9]+|[a-z])$", "", _fold(name))
    return stem in _STEMS.split() or (_fold(name) == "a" and name != "a")


def _show(value: Any) -> str:
    """Return a value as it is written, cut off where it is long."""
    is_number = isinstance(value, (int, float)) and abs(value) < 10**18
    text = repr(value) if is_number or isinstance(value, str) or _is_list_of_texts(value) else describe_value(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [])


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(element, str) for element in value)
