"""The error for rows that no reader recognises: their columns, and the command that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from classic_rc.datasets.base import Options, Reading
from classic_rc.datasets.fields import (
    COLUMN_NAMES,
    CONSTANT,
    find_paths,
    format_fields,
    is_empty,
    is_list_of_texts,
    name_columns,
)
from classic_rc.datasets.rows import read_questions
from classic_rc.datasets.specification import quote_argument
from classic_rc.encodings import READINGS
from classic_rc.errors import ClassicRCError, DataError
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Dataset

COLUMN, CODING = "COLUMN", "CODING"
"""What a user replaces in a proposed command."""

_SHOWN_COLUMNS = 24
_SHOWN_VALUES = 3
_LONGEST_VALUE = 40
_LONGEST_NAME = 100  # of a column


def unknown_rows_error(rows: Sequence[Node], source: str, command: bool = True) -> DataError:
    """Return the error for rows, the first of a file, that no reader recognises.

    Fields are proposed as a whole only if the rows can be read with them. Without `command`, the
    hint is a Python call.
    """
    shown: dict[str, dict[str, None]] = {}
    for row in rows:
        for path, value in find_paths(row.value).items():
            values = shown.setdefault(path, {})
            if len(values) < _SHOWN_VALUES and not is_empty(value):
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
        codings = [coding for coding in (None, *READINGS) if _are_read(rows, fields, coding)]
        if not codings:  # the names are as usual, and the values are not
            fields = {
                role: path for role, path in fields.items() if role not in ("candidates", "gold")
            }
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
        found="rows with "
        + ", ".join([*columns[:_SHOWN_COLUMNS], *["…"] * (len(columns) > _SHOWN_COLUMNS)]),
        expected="a known format",
        hint=f"{says}: {call}",
    )


def _write_call(fields: Mapping[str, str], gold_as: str | None, source: str | None) -> str:
    """Return the command that reads a file, or the Python call if there is none, with what is to
    be filled in.
    """
    filled = {
        role: fields.get(role, COLUMN) for role in COLUMN_NAMES if role != "id" or role in fields
    }
    text = format_fields(filled)
    if source is None:
        return (
            "classic_rc.from_rows(rows, "
            f"fields={text!r}{'' if gold_as is None else f', gold_as={gold_as!r}'})"
        )
    coding = "" if gold_as is None else f" --gold-as {gold_as}"
    return f"classic-rc run {quote_argument(source)} --fields {quote_argument(text)}{coding}"


def _are_read(rows: Sequence[Node], fields: Mapping[str, str], gold_as: str | None) -> bool:
    reading = Reading(Options(fields=fields, gold_as=gold_as))
    try:
        Dataset(list(read_questions(rows, reading, fields, gold_as)), "")
    except ClassicRCError:
        return False
    return True


def _show(value: Any) -> str:
    """Return a value as it is written, cut off where it is long."""
    is_number = isinstance(value, (int, float)) and abs(value) < 10**18
    text = (
        repr(value)
        if is_number or isinstance(value, str) or is_list_of_texts(value)
        else describe_value(value)
    )
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
