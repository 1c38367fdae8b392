"""Our own formats: JSON lines and tables, read as they are or with ``fields``; and the writer of
JSON lines.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from classic_rc.datasets.fields import (
    CONSTANT,
    OWN_FIELDS,
    PROPOSAL_ROWS,
    find_value,
    is_list_of,
    name_columns,
    split_path,
)
from classic_rc.datasets.gold import TASKS
from classic_rc.datasets.nested_rows import find_levels, find_question_lists
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.rows import RowReader, check_columns, is_own_row
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value, name_cells, parse_json, table_rows
from classic_rc.io.text import table_records
from classic_rc.io.values import read_columns, read_nested
from classic_rc.io.xml import is_xml, parse_xml, plain_document
from classic_rc.questions import Candidate, Dataset, Question

# --------------------------------------------------------------------------------------------------
# JSON lines.


class JsonLinesReader(RowReader):
    """One JSON object per question, one per line (or in one JSON list), in UTF-8.

    ============== =================================================================================
    key            value
    ============== =================================================================================
    ``passage``    the passage's text; questions with equal texts, or one ``passage_id``, share it;
                   absent from all rows if the questions have candidates and no passage, and
                   no other key
    ``question``   the question; for cloze the query, with ``@placeholder`` in place of the entity
    ``candidates`` a list of strings, or of ``{"text", "start", "end"}`` with ``end`` exclusive;
                   absent for span questions
    ``gold``       a number: the index, from 0, of the right candidate; a list of numbers: the
                   indices of all right ones; a string or a list of strings: texts; ``null`` or
                   absent: hidden
    ``task``       ``single-choice``, ``multiple-answer``, ``cloze``, ``span`` or ``multi-span``;
                   may be left out if gold is a number (single-choice) or a list of numbers
                   (multiple-answer)
    ``id``         optional: the question's id; without it, its line (``line-3``)
    ``passage_id`` optional: the passage's id
    ``sentences``  optional: the passage's sentences, a list of ``[start, end]`` character offsets
    ``meta``       optional: an object with anything else, such as keys to group results by; the
                   row's other keys are added to it
    ============== =================================================================================

    All questions of a file have one task. ``--split`` selects rows by the ``split`` in their
    ``meta``. With ``fields``, a file may be XML: attributes and child elements are keys.
    """

    name: ClassVar[str] = "jsonl"
    title: ClassVar[str] = "JSON lines"
    description: ClassVar[str] = (
        "Your own JSON lines: passage, question, candidates, gold; or other keys with --fields."
    )

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first row has our schema."""
        first = next(file.records(suppress(DataError)), None) if self.has_rows(file) else None
        return first is not None and is_own_row(first.value)

    def has_rows(self, file: InputFile) -> bool:
        """Return whether the file is JSON, or XML."""
        if file.head is not None:
            return True
        with suppress(DataError):  # it may be HTML
            return is_xml(file) and bool(parse_xml(file.text, file.name).children)
        return False

    def rows(self, file: InputFile, reading: Reading) -> Iterator[Node]:
        """Return the records of the file; those of an object by id, or of one with other facts,
        are its rows. XML is one object.
        """
        if file.head is None and is_xml(file):
            return iter([Node(plain_document(parse_xml(file.text, file.name)), file.name)])
        fields = reading.options.fields or {}
        if file.is_one_value and _marks_lists_of(file.head, fields):
            return read_columns([file.root()])
        records = file.records(reading.guard)
        if not fields and is_own_row(file.head):
            return records  # their candidates are one list, and no column
        records = read_columns(records)
        if not file.is_one_value or not isinstance(file.head, dict) or is_own_row(file.head):
            return records
        inner_rows = [_find_inner_rows(root, fields) for root in itertools.islice(records, 1)]
        return itertools.chain(*inner_rows, records)


def _marks_lists_of(value: Any, fields: Mapping[str, str]) -> bool:
    """Return whether the lists that fields mark are those of an object."""
    levels, root = find_levels(fields.values()), Node(value, "")
    has_lists = bool(levels) and isinstance(value, dict)
    return has_lists and all(find_value(root, path) is not None for path in levels[0])


def _find_inner_rows(root: Node, fields: Mapping[str, str]) -> list[Node]:
    """Return the rows in an object: its one list of objects with questions, or its objects with
    questions by id; the object itself if it has the passage of its questions.
    """
    members = root.value
    if not any(fields.values()) and "passage" in name_columns([root]):
        return [root]
    document = Node(members, root.source)  # without its line, which all rows may share
    lists = [key for key, value in members.items() if _are_rows(value)]
    if len(lists) == 1:
        return list(document.at(lists[0]).elements())
    if _are_rows(list(members.values())):
        return [document.at(key).with_value({"id": key, **value}) for key, value in members.items()]
    return [root]


def _are_rows(values: Any) -> bool:
    """Return whether these are objects that have questions and something else, or several ones
    that have a question.
    """
    if not is_list_of(values, dict):
        return False
    shared = set(values[0]).intersection(*values[1:])
    if len(shared) < 2:
        return False
    is_flat = len(values) > 1 and any("question" in key.lower() for key in shared)
    return is_flat or bool(find_question_lists([Node(values[0], "")]))


def to_jsonl(dataset: Dataset) -> str:
    """Return the dataset in the schema of :class:`JsonLinesReader`, one line per question.

    The text is ASCII. A dataset read from it has the same content fingerprint and the same `meta`,
    except that a question's `meta` then includes its passage's, and the dataset's split as
    ``split`` if it has one. Generated candidates are left out.

    Examples
    --------
    >>> from classic_rc import from_rows
    >>> row = {
    ...     "id": "q1",
    ...     "passage": "It rained.",
    ...     "question": "Did it?",
    ...     "candidates": ["no", "yes"],
    ...     "gold": 1,
    ... }
    >>> print(to_jsonl(from_rows([row])), end="")  # doctest: +ELLIPSIS
    {"id": "q1", "passage_id": "passage-1", "passage": "It rained.", "question": "Did it?", ...
    """
    return "".join(
        json.dumps(_question_row(question, dataset.split)) + "\n" for question in dataset
    )


def _question_row(question: Question, split: str | None) -> dict[str, Any]:
    passage = question.passage
    meta = {**({} if split is None else {"split": split}), **passage.meta, **question.meta}
    row: dict[str, Any] = {
        "id": question.id,
        "passage_id": passage.id,
        "passage": passage.text,
        "question": question.text,
        "task": question.task.value,
    }
    if passage.sentences is not None:
        row["sentences"] = passage.sentences
    if not question.task.has_spans:
        row["candidates"] = [_candidate_value(candidate) for candidate in question.candidates]
    gold = question.gold
    row["gold"] = sorted(gold) if isinstance(gold, frozenset) else gold
    if meta:
        row["meta"] = meta
    return row


def _candidate_value(candidate: Candidate) -> str | dict[str, Any]:
    if candidate.start is None or candidate.end is None:
        return candidate.text
    return {"text": candidate.text, "start": candidate.start, "end": candidate.end}


# --------------------------------------------------------------------------------------------------
# Tables.


_JSON_GOLD = re.compile(r'null|\[.*\]|".*"', re.DOTALL)
_NUMBER = re.compile(r"#[1-9][0-9]{0,4}")
_LONGEST_NAME = 100
_SHOWN_CELLS = 8
_CANDIDATE_COLUMN = re.compile(r"candidate_([0-9]{1,6})")


class TableReader(RowReader):
    """A comma- or tab-separated table with a header and one row per question.

    Columns are keys of our JSON lines (:class:`~classic_rc.datasets.own_files.JsonLinesReader`).
    Candidates are in columns ``candidate_0``, ``candidate_1``, … (the last ones empty if a question
    has fewer) or in one column ``candidates`` as a JSON list. ``gold`` is an index from 0, the text
    of a candidate, or a JSON list of these: ``2``, ``Ann``, ``[0, 2]``, ``["Ann", "Bob"]``. All
    rows together show whether numbers are indices or texts; if both fit and differ, ``gold_as``
    must say it. An empty cell is hidden gold. ``sentences`` and ``meta`` are JSON. All other
    columns become meta. Fields that contain the separator, quotes or line ends are quoted, with
    quotes doubled.
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
            dict.fromkeys(
                "candidates" if _CANDIDATE_COLUMN.fullmatch(column) else column
                for column in columns
            )
        )

    def has_rows(self, file: InputFile) -> bool:
        """Return whether the file has a header of several columns."""
        return len(header(file)) > 1

    def fields(self, file: InputFile, reading: Reading) -> Mapping[str, str] | None:
        """Return the fields with names in place of the numbers of columns, if there are names."""
        fields = reading.options.fields
        if not fields or _are_numbered(file, fields):
            return fields
        names = {f"#{number}": name for number, name in enumerate(header(file), 1)}
        named_fields: dict[str, str] = {}
        for role, path in fields.items():
            columns = [names.get(column, column) for column in split_path(path)]
            named_fields[role] = "+".join(columns)
        return named_fields

    def rows(self, file: InputFile, reading: Reading) -> Iterator[Node]:
        """Yield one row per record, with its cells parsed."""
        fields = self.fields(file, reading)
        candidate_columns = [] if fields else _find_candidate_columns(header(file), file)
        are_numbered = bool(fields) and _are_numbered(file, fields or {})
        if are_numbered:
            reading.note("the table has no header: its first line is a question too")
        for node in read_table(file, reading, are_numbered=are_numbered):
            with reading.at(node):
                yield _parse_cells(node, candidate_columns, fields or OWN_FIELDS)


def header(file: InputFile) -> list[str]:
    """Return the column names of a table, numbers where there is no name; none if the file looks
    like JSON or XML.
    """
    return name_cells(next(_list_records(file), []))


def _list_records(file: InputFile) -> Iterator[list[str]]:
    if file.first_text.lstrip()[0] not in "{[<":
        for _, cells in table_records(file.first_text, file.name):
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield stripped


def _are_numbered(file: InputFile, fields: Mapping[str, str]) -> bool:
    """Return whether fields name columns by numbers, because the table has no header."""
    paths = [path for path in fields.values() if path and not path.startswith(CONSTANT)]
    columns = [column for path in paths for column in split_path(path)]
    if any(not _NUMBER.fullmatch(column) for column in columns if column not in TASKS):
        return False
    has_names = _has_header(file)
    if has_names is None and columns:
        first_cells = header(file)[:_SHOWN_CELLS]
        raise DataError(
            "the first line may be a header or a question",
            source=file.name,
            where="line 1",
            found=", ".join(map(describe_value, first_cells)),
            expected="names of columns, such as question and answer",
            hint="Put a line with names before it",
        )
    return has_names is False


def _has_header(file: InputFile) -> bool | None:
    """Return whether the first line of a table has names of columns; None if that is unclear.

    It has none if one of its cells is a sentence, or is in the column below it, or a number over
    numbers.
    """
    with suppress(DataError):
        names, *rows = itertools.islice(_list_records(file), PROPOSAL_ROWS)
        n_known = len(name_columns([Node(dict.fromkeys(names, "x"), "")]).keys() - {"passage"})
        if not names[0] or n_known > 1 or names == list(map(str, range(len(names)))):
            return True
        for name, *cells in zip(names, *rows, strict=False):
            is_sentence = len(name) > _LONGEST_NAME or name.endswith("?")
            are_numbers = name.isdecimal() and all(cell.isdecimal() for cell in cells)
            if is_sentence or (name and name in cells) or (are_numbers and cells):
                return False
    return None


def read_table(file: InputFile, reading: Reading, *, are_numbered: bool = False) -> Iterator[Node]:
    """Return the rows of a table; those without text are counted.

    With `are_numbered` the table has no header, and its columns are ``#1``, ``#2`` and so on.
    """

    def count(line: int, cells: list[str]) -> None:
        if cells:
            with reading.at(f"line {line}"):
                reading.repair("rows of empty cells skipped", file.name)
        else:
            file.blank_lines += 1

    names = name_cells("" for _ in header(file)) if are_numbered else None
    rows = table_rows(file.lines(), file.name, reading.guard, reading.at, count, names)
    return read_columns(rows, are_cells=True)


def _find_candidate_columns(columns: list[str], file: InputFile) -> list[str]:
    """Return the columns that have one candidate each."""
    matches = filter(None, map(_CANDIDATE_COLUMN.fullmatch, columns))
    numbered = sorted((int(match[1]), match[0]) for match in matches)
    numbers = [number for number, _ in numbered]
    if numbers and ("candidates" in columns or numbers != list(range(len(numbers)))):
        candidate_columns = [column for column in columns if column.startswith("candidate")]
        raise DataError(
            "the candidate columns are not numbered from 0",
            source=file.name,
            where="line 1",
            found=", ".join(candidate_columns),
            expected="candidate_0, candidate_1, …, or only candidates",
        )
    return [column for _, column in numbered]


def _parse_cells(node: Node, candidate_columns: list[str], fields: Mapping[str, str]) -> Node:
    """Return a row with its cells parsed: lists, objects, quoted texts, or None."""
    row: dict[str, Any] = dict(node.value)
    is_own = fields is OWN_FIELDS
    for role in ("candidates", "sentences", "meta", "gold", "task", "id", "passage_id"):
        column = fields.get(role)
        if column not in row:
            continue
        cell = row[column]
        if not isinstance(cell, str):  # the column of another role too
            continue
        if not cell.strip():
            row[column] = None
        elif is_own and role == "gold" and _JSON_GOLD.fullmatch(cell):
            with suppress(DataError):  # Text that only looks like JSON is the gold text.
                row[column] = parse_json(cell, node.source)
        elif role in ("candidates", "sentences", "meta", "gold"):
            row[column] = read_nested(cell)
    if candidate_columns:
        texts = [node.text(column) for column in candidate_columns]
        while texts and not texts[-1]:
            texts.pop()
        check_columns(node, candidate_columns, texts)
        for column in candidate_columns:
            del row[column]
        row["candidates"] = texts
    return node.with_value(row)
