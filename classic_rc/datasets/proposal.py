"""The error for rows that no reader recognises: their columns, and the command that reads them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from classic_rc.datasets.fields import (
    COLUMN_NAMES,
    CONSTANT,
    find_paths,
    find_value,
    format_fields,
    is_empty,
    is_list_of,
    name_columns,
)
from classic_rc.datasets.nested_rows import MARK, find_question_lists, show_questions
from classic_rc.datasets.reading import Options, Reading
from classic_rc.datasets.rows import read_questions
from classic_rc.datasets.specification import quote_argument
from classic_rc.encodings import READINGS
from classic_rc.errors import ClassicRCError, DataError
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Dataset, Task

COLUMN, CODING, TASK = "COLUMN", "CODING", "TASK"
"""What a user replaces in a proposed command."""

_MARKS = "0123456789 123456789 ABCDEFGHI"  # of gold in tables without a header
_LEAST_LOCATED = 0.5
_SHOWN_COLUMNS = 24
_SHOWN_VALUES = 3
_LONGEST_VALUE = 40
_LONGEST_NAME = 100  # of a column


def unknown_rows_error(rows: Sequence[Node], source: str, command: bool = True) -> DataError:
    """Return the error for rows, the first of a file, that no reader recognises.

    Fields are proposed as a whole only if the rows can be read with them. Without `command`, the
    hint is a Python call.
    """
    row_fields = name_columns(rows)
    nested = [] if "question" in row_fields else find_question_lists(rows)
    leaves = show_questions(rows, nested[0]) if len(nested) == 1 else rows
    columns: dict[str, dict[str, None]] = {}
    for row in leaves:
        for path, value in find_paths(row.value).items():
            values = columns.setdefault(path, {})
            if len(values) < _SHOWN_VALUES and not is_empty(value):
                values[_show(value)] = None
    are_numbered = bool(rows) and all(name.startswith("#") for name in rows[0].value)
    fields = _guess_fields(rows) if are_numbered else name_columns(leaves)
    if "id" in row_fields and not are_numbered:
        fields.setdefault("id", row_fields["id"])
    tasks: list[Task] = []
    codings: list[str | None] = []
    if {"passage", "question", "gold"} <= fields.keys():
        if leaves is not rows and "candidates" not in fields:
            tasks = _find_span_tasks(leaves, fields)
        tried = {**fields, "task": tasks[0]} if tasks else fields
        if tasks or "candidates" in fields:
            codings = [coding for coding in (None, *READINGS) if _are_read(rows, tried, coding)]
            # Without any, the names are as usual, and the values are not.
            doubtful = fields if are_numbered else ("candidates", "gold", "task")
            if not codings:
                fields = {role: path for role, path in fields.items() if role not in doubtful}
            elif tasks:
                fields["task"] = tasks[0] if len(tasks) == 1 else TASK
    gold_as = CODING if codings and codings[0] is not None else None
    says = "Read the rows with"
    if not codings and len(nested) > 1:
        innermost = itertools.chain.from_iterable(levels[-1] for levels in nested)
        lists = ", ".join(sorted(path + MARK for path in innermost))
        says = f"Put paths of one list of questions ({lists}) in place of each {COLUMN}"
    elif not codings:
        says = f"Put a column in place of each {COLUMN} ({CONSTANT} for no passage)"
    elif len(tasks) > 1:
        first, second = tasks
        says = f"Put {first} in place of {TASK} if one of several answers is enough, or {second}"
    elif gold_as is not None:
        says = f"Put what gold is in place of {CODING} ({' or '.join(filter(None, codings))})"
    call = _write_call(fields, gold_as, source if command else None)
    described = []
    for name, values in columns.items():
        examples = ", ".join(values) or "nothing"
        described.append(f"{name} ({examples})")
    described[_SHOWN_COLUMNS:] = ["…"] * (len(described) > _SHOWN_COLUMNS)
    hint = f"{says}: {call}"
    if are_numbered:
        hint = f"The table has no header. {hint}"
    return DataError(
        "unknown format",
        source=source,
        found=f"rows with {', '.join(described)}",
        expected="a known format",
        hint=hint,
    )


def _write_call(fields: Mapping[str, str], gold_as: str | None, source: str | None) -> str:
    """Return the command that reads a file, or the Python call if there is none, with what is to
    be filled in.
    """
    has_spans = {"gold", "task"} <= fields.keys()
    optional = ("id", "task", "candidates") if has_spans else ("id", "task")
    roles = [role for role in (*COLUMN_NAMES, "task") if role in fields or role not in optional]
    text = format_fields({role: fields.get(role, COLUMN) for role in roles})
    if source is None:
        coding = "" if gold_as is None else f", gold_as={gold_as!r}"
        return f"classic_rc.from_rows(rows, fields={text!r}{coding})"
    coding = "" if gold_as is None else f" --gold-as {gold_as}"
    return f"classic-rc run {quote_argument(source)} --fields {quote_argument(text)}{coding}"


def _guess_fields(rows: Sequence[Node]) -> dict[str, str]:
    """Return the fields of a table without a header, if only one choice of columns can be read.

    One column has numbers or letters of the options in the columns before it, which follow the
    question. One other column may have longer texts than the question: the passage.
    """
    names = list(rows[0].value)
    lengths = dict.fromkeys(names, 0)
    for row in rows:
        for name in names:
            lengths[name] += len(row.value.get(name, ""))
    choices = []
    for place, gold in enumerate(names):
        marks = "".join(sorted({row.value.get(gold, "").strip() for row in rows}))
        start = place - len(marks)
        if start > 0 and len(marks) > 1 and marks in _MARKS:
            question, options = names[start - 1], "+".join(names[start:place])
            others = names[: start - 1] + names[place + 1 :]
            passages = [name for name in others if lengths[name] > lengths[question]]
            choices += [(passage, question, options, gold) for passage in passages or [CONSTANT]]
    roles = ("passage", "question", "candidates", "gold")
    return dict(zip(roles, choices[0], strict=True)) if len(choices) == 1 else {}


def _find_span_tasks(rows: Sequence[Node], fields: Mapping[str, str]) -> list[Task]:
    """Return the tasks that rows without options may have, because passages have their answers;
    none for other rows.
    """
    located: list[bool] = []
    has_several = False
    for row in rows:
        passage, gold = (find_value(row, fields[role]) for role in ("passage", "gold"))
        if passage is None or gold is None or not isinstance(passage.value, str):
            continue
        if isinstance(gold.value, Mapping):
            return [Task.MULTI_SPAN]
        texts = [gold.value] if isinstance(gold.value, str) else gold.value
        if not is_list_of(texts, str):
            return []
        has_several = has_several or len(set(texts)) > 1
        located += [text in passage.value for text in texts]
    if not located or sum(located) < _LEAST_LOCATED * len(located):
        return []
    is_mrqa = any(".detected_answers" in path for path in find_paths(rows[0].value))
    return [Task.SPAN, Task.MULTI_SPAN] if has_several and not is_mrqa else [Task.SPAN]


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
    is_short = is_number or isinstance(value, str) or is_list_of(value, str)
    text = repr(value) if is_short else describe_value(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
