"""Our own files of labels: tables with a header, JSON lines, and JSON objects by question id."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from classic_rc.datasets.labelled import LabelFile, LabelledQuestion
from classic_rc.errors import DataError
from classic_rc.io.json import Node, describe, parse_json

_IDS = ("id", "question_id")
_UNNAMED = "labels"
_NO_LABEL = "-"
_EXPECTED = "a label, or a list of labels"


def label_table(text: str, source: str) -> LabelFile:
    """A comma- or tab-separated table: an id, and a column of labels for each name.

    Several labels in a cell are separated by semicolons. An empty cell is no entry; ``-`` says that there is none.
    """
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = _records(records, source)
    header = [column.strip() for _, cells in rows[:1] for column in cells]
    key = next((key for key in _IDS if key in header), None)
    if key is None or len(set(header)) < len(header):
        raise DataError(
            "no header of a table of labels",
            source=source,
            where="line 1",
            found=describe(text.partition("\n")[0]),
            expected="id and other columns, each name once; or JSON",
        )
    return LabelFile(source, list(_table_rows(rows[1:], header, key, source)))


def _records(records: Any, source: str) -> list[tuple[int, list[str]]]:
    """The records that are not empty, with the lines at which they end."""
    try:
        return [(records.line_num, cells) for cells in records if any(cells)]
    except csv.Error as error:
        where = f"line {records.line_num}"
        raise DataError(f"not a table ({error})", source=source, where=where) from None


def _table_rows(
    rows: Iterable[tuple[int, list[str]]], header: list[str], key: str, source: str
) -> Iterator[LabelledQuestion]:
    for number, cells in rows:
        row = Node(dict(zip(header, cells, strict=False)), source, number)
        if len(cells) != len(header):
            expected = f"{len(header)}, as in the header"
            raise row.error("wrong number of columns", found=str(len(cells)), expected=expected)
        labels = {name: _several(cell) for name, cell in row.value.items() if name != key and cell.strip()}
        yield LabelledQuestion(row.name(key), row.where, labels)


def _several(cell: str) -> tuple[str, ...]:
    return () if cell.strip() == _NO_LABEL else tuple(part.strip() for part in cell.split(";") if part.strip())


def label_rows(rows: Iterable[Node], source: str) -> LabelFile:
    """Objects with an id and, by name, a label or a list of labels; null is no entry."""
    return LabelFile(source, [_row(row) for row in rows])


def is_row(node: Node) -> bool:
    """Whether this is an object with a question's id and its labels, not one of labels by id."""
    return isinstance(node.value, dict) and any(key in node.value for key in _IDS)


def _row(row: Node) -> LabelledQuestion:
    key = next((key for key in _IDS if row.has(key)), _IDS[0])
    id_ = row.name(key)
    return LabelledQuestion(id_, row.where, _named({k: v for k, v in row.value.items() if k != key}, row))


def label_object(root: Node, source: str) -> LabelFile:
    """An object that gives each question's id a label, a list of labels, or an object of those by name."""
    questions = []
    for id_ in root.value:
        entry = root.at(id_)
        if isinstance(entry.value, dict):
            labels = _named(entry.value, entry)
        else:
            labels = _named({_UNNAMED: entry.value}, root)
        questions.append(LabelledQuestion(id_, entry.where, labels))
    return LabelFile(source, questions)


def _named(values: Mapping[str, Any], node: Node) -> dict[str, tuple[str, ...]]:
    return {name: _labels(value, name, node) for name, value in values.items() if value is not None}


def _labels(value: Any, name: str, node: Node) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    for label in several:
        if not isinstance(label, (str, int, float)) or not str(label).strip():
            raise node.error("not a label", field=name, found=describe(label), expected=_EXPECTED)
    return tuple(_text(label) for label in several)


def _text(label: Any) -> str:
    if isinstance(label, bool):
        return "yes" if label else "no"
    return str(label).strip()


def json_lines(text: str, source: str) -> Iterator[Node]:
    """The objects of a text that has one on each line, blank lines passed over."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Node(parse_json(line, source, number), source, number)
