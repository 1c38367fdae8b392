"""Rows with the keys of a published dataset: what identifies them, and their conversion to our
own schema.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from classic_rc.datasets.base import Reader
from classic_rc.datasets.own_files import header, read_table
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.rows import is_own_row, read_questions
from classic_rc.encodings import MismatchError, decode
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.io.values import read_columns
from classic_rc.questions import Question, Task

HAN = re.compile("[\u4e00-\u9fff]")

Convert: TypeAlias = "Callable[[Iterable[Node], Reading], Iterator[Node]]"
"""A function from the rows of a file to rows of our own schema."""


def convert_fields(
    id: str | Callable[[Node, int, str | None], str | None],
    *,
    group: Callable[[Node], str] = lambda row: "",
    task: Task = Task.SINGLE_CHOICE,
    **fields: str | Callable[[Node], Any],
) -> Convert:
    """Return the conversion of rows with one question each that these fields declare.

    `id` is the key of the id, or a function of the row, its number from 0 among those of its group,
    and the split; `group` names a row's group, such as its passage. The fields have, for each key
    of our schema, the key of a text or a function of the row.
    """

    def convert(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
        numbers: Counter[str] = Counter()
        for row in rows:
            with reading.at(row):
                name = group(row)
                number = numbers[name]
                numbers[name] += 1
                question_id = (
                    row.name(id) if isinstance(id, str) else id(row, number, reading.split)
                )
                values: dict[str, Any] = {}
                for key, field in fields.items():
                    values[key] = row.text(field) if isinstance(field, str) else field(row)
                yield make_row(row, id=question_id, task=task.value, **values)

    return convert


@dataclass(frozen=True)
class Schema:
    """A row schema: the keys that identify it, and the conversion of its rows to our schema."""

    name: str  # in error messages
    # the keys that a row must have, with the keys of the object at each
    keys: Mapping[str, AbstractSet[str]]
    convert: Convert
    # What else must hold. It is asked only of rows that have the keys.
    check: Callable[[Mapping[str, Any]], bool] = lambda row: True

    def fits(self, row: Any) -> bool:
        """Return whether a row has this schema."""
        if not isinstance(row, Mapping) or not self.keys.keys() <= row.keys():
            return False
        for key, inner_keys in self.keys.items():
            inner = row[key]
            if inner_keys and not (isinstance(inner, Mapping) and inner_keys <= inner.keys()):
                return False
        return not is_own_row(row) and self.check(row)


class SchemaReader(Reader):
    """The base class of readers of one dataset whose files have a row for each question.

    A file has JSON lines or a JSON list; if the cells of a table are enough to tell the schema,
    also a table.
    """

    schemas: ClassVar[tuple[Schema, ...]]
    """The forms of the rows; the first one that fits the first row applies to all."""

    takes_tables: ClassVar[bool] = False

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first row has one of the schemas."""
        return self._schema_of(file) is not None

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield one question per row."""
        schema = self._schema_of(file)
        if schema is None:
            row = first_row(file, self.takes_tables)
            expected = " or ".join(", ".join(schema.keys) for schema in self.schemas)
            raise DataError(
                f"no row of {self.title}",
                source=file.name,
                found=describe_value(row),
                expected=expected,
            )
        is_json = file.head is not None
        rows = file.records(reading.guard) if is_json else read_table(file, reading)
        return read_questions(schema.convert(read_columns(rows), reading), reading)

    def _schema_of(self, file: InputFile) -> Schema | None:
        row = first_row(file, self.takes_tables)
        return next((schema for schema in self.schemas if schema.fits(row)), None)


def first_row(file: InputFile, takes_tables: bool = False) -> Any:
    """Return the first JSON record of a file, or the columns of a table with empty cells; None
    for other files.
    """
    if file.head is not None:
        row = next(file.records(suppress(DataError)), None)
        return None if row is None else row.value
    if takes_tables:
        with suppress(DataError):  # the file may have any other form
            return dict.fromkeys(header(file), "") or None
    return None


def make_row(node: Node, **roles: Any) -> Node:
    """Return a row of our schema at the place of the row that it is made of."""
    gold = roles.get("gold")
    if isinstance(gold, frozenset):
        roles["gold"] = sorted(gold)
    return node.with_value(roles)


def required_keys(*plain: str, **objects: set[str]) -> dict[str, AbstractSet[str]]:
    """Return the `keys` of a :class:`Schema`: plain ones, and those of objects with the keys
    inside.
    """
    return {**dict.fromkeys(plain, frozenset()), **objects}


def read_gold(
    row: Node, key: str, texts: Sequence[str], reading: str, labels: Sequence[str] | None = None
) -> frozenset[int] | None:
    """Return the position of the one right candidate; None (hidden gold) without a value.

    Where gold is an index, -1 is hidden gold too. `reading` is one of
    :data:`classic_rc.encodings.READINGS`.
    """
    value = row.value.get(key)
    if not texts:
        raise row.error("no candidates", found="none", expected="at least one")
    hidden = ("", "-1", "-1.0") if reading.startswith("index") else ("",)
    if value is None or str(value).strip() in hidden:
        return None
    problem = "gold is not a candidate"
    if labels is not None and len(set(labels)) < len(labels):
        actual = f"the labels {', '.join(labels)}"[:120]
        raise row.error(
            problem, field=key, found=actual, expected="a label of its own for each candidate"
        )
    try:
        return decode([value], texts, reading, labels)
    except MismatchError as mismatch:
        raise row.error(
            problem, field=key, found=mismatch.found, expected=mismatch.expected
        ) from None
