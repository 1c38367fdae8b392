"""The reader of our own CSV and TSV, and of other tables with ``fields``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from classic_rc.datasets.base import Reading
from classic_rc.datasets.fields import OWN_FIELDS
from classic_rc.datasets.rows import RowReader, is_own_row
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value, parse_json
from classic_rc.io.text import table_records

_JSON_LIST = re.compile(r"\[.*\]", re.DOTALL)
_JSON_GOLD = re.compile(r'null|\[.*\]|".*"', re.DOTALL)
_CANDIDATE_COLUMN = re.compile(r"candidate_([0-9]{1,6})")


class TableReader(RowReader):
    """A comma- or tab-separated table with a header and one row per question.

    Columns are keys of our JSON lines (:class:`~classic_rc.datasets.jsonl.JsonLinesReader`). Candidates are in
    columns ``candidate_0``, ``candidate_1``, … (the last ones empty if a question has fewer) or in one column
    ``candidates`` as a JSON list. ``gold`` is an index from 0, the text of a candidate, or a JSON list of these:
    ``2``, ``Ann``, ``[0, 2]``, ``["Ann", "Bob"]``. All rows together show whether numbers are indices or texts; if
    both fit and differ, ``gold_as`` must say it. An empty cell is hidden gold. ``sentences`` and ``meta`` are JSON.
    All other columns become meta. Fields that contain the separator, quotes or line ends are quoted, with quotes
    doubled.
    """

    name: ClassVar[str] = "table"
    title: ClassVar[str] = "CSV or TSV"
    description: ClassVar[str] = (
        "Your own table: passage, question, candidate_0, …, gold; or other columns with --fields."
    )

    has_types: ClassVar[bool] = False

    def recognises(self, file: InputFile) -> bool:
        """Return whether the columns are those of our schema."""
        columns = header(file)
        return is_own_row(
            dict.fromkeys("candidates" if _CANDIDATE_COLUMN.fullmatch(column) else column for column in columns)
        )

    def has_rows(self, file: InputFile) -> bool:
        """Return whether the file has a header of several columns."""
        return len(header(file)) > 1

    def rows(self, file: InputFile, reading: Reading) -> Iterator[Node]:
        """Yield one row per record, with its cells parsed."""
        fields = reading.options.fields
        columns = header(file)
        candidate_columns = [] if fields else _find_candidate_columns(columns, file)
        for node in table_rows(file, columns, reading):
            with reading.at(node):
                yield _parse_cells(node, candidate_columns, fields or OWN_FIELDS)


def header(file: InputFile) -> list[str]:
    """Return the column names of a table; none if the file looks like JSON or XML."""
    if file.text.lstrip()[0] in "{[<":
        return []
    return next((cells for _, cells in table_records(file.text, file.name) if cells), [])


def table_rows(file: InputFile, columns: list[str], reading: Reading) -> Iterator[Node]:
    """Yield the rows below the header of a table, each an object with the text of every column.

    Raises
    ------
    DataError
        Two columns have one name, or a row has more or fewer cells than the header.
    """
    counts = Counter(columns)
    if len(counts) < len(columns):
        duplicate = next(column for column in columns if counts[column] > 1)
        raise DataError(
            "duplicate column", source=file.name, where="line 1", found=repr(duplicate), expected="unique names"
        )
    seen_header = False
    for number, cells in table_records(file.text, file.name, reading.guard):
        if not cells:
            file.blank_lines += 1
            continue
        if not seen_header:
            seen_header = True
            continue
        if not any(cell.strip() for cell in cells):
            with reading.at(f"line {number}"):
                reading.repair("rows of empty cells skipped", file.name)
            continue
        node = Node(dict(zip(columns, cells, strict=False)), file.name, number)
        with reading.at(node):
            if len(cells) != len(columns):
                expected = f"{len(columns)}, as in the header"
                raise node.error("wrong number of columns", found=str(len(cells)), expected=expected)
            yield node


def _find_candidate_columns(columns: list[str], file: InputFile) -> list[str]:
    """Return the columns that have one candidate each."""
    numbered = sorted(
        (int(match[1]), column) for column in columns if (match := _CANDIDATE_COLUMN.fullmatch(column))
    )
    if numbered and ("candidates" in columns or [number for number, _ in numbered] != list(range(len(numbered)))):
        raise DataError(
            "the candidate columns are not numbered from 0",
            source=file.name,
            where="line 1",
            found=", ".join(column for column in columns if column.startswith("candidate")),
            expected="candidate_0, candidate_1, …, or only candidates",
        )
    return [column for _, column in numbered]


def _parse_cells(node: Node, candidate_columns: list[str], fields: Mapping[str, str]) -> Node:
    """Return a row with its cells parsed: lists, objects, quoted texts, or None."""
    row: dict[str, Any] = dict(node.value)
    own = fields is OWN_FIELDS
    for role in ("candidates", "sentences", "meta", "gold", "task", "id", "passage_id"):
        column = fields.get(role)
        if column not in row:
            continue
        cell = row[column]
        if not cell.strip():
            row[column] = None
        elif role == "candidates" and not own:
            if _JSON_LIST.fullmatch(cell):
                with suppress(DataError):  # Python's list, or options that labels or bars separate
                    row[column] = _parse_json_cell(node, column)
        elif role in ("candidates", "sentences", "meta"):
            row[column] = _parse_json_cell(node, column)
        elif role == "gold" and (_JSON_GOLD if own else _JSON_LIST).fullmatch(cell):
            with suppress(DataError):  # Text that only looks like JSON is the gold text.
                row[column] = _parse_json_cell(node, column)
    if candidate_columns:
        texts = [node.text(column) for column in candidate_columns]
        while texts and not texts[-1]:
            texts.pop()
        if "" in texts:
            raise node.error(
                "empty candidate before another one",
                field=candidate_columns[texts.index("")],
                found="''",
                expected="text",
            )
        for column in candidate_columns:
            del row[column]
        row["candidates"] = texts
    return node.with_value(row)


def _parse_json_cell(node: Node, column: str) -> Any:
    try:
        return parse_json(node.value[column], node.source)
    except DataError as error:
        found = describe_value(node.value[column])
        raise node.error(
            error.problem, field=column, found=found, expected='JSON, such as [0, 2] or ["a", "b"]'
        ) from None
