"""The reader and writer of our own JSON lines. The reader also takes other JSON rows with ``fields``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from classic_rc.datasets.base import Reading
from classic_rc.datasets.rows import RowReader, is_own_row
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node
from classic_rc.questions import Candidate, Dataset, Question


class JsonLinesReader(RowReader):
    """One JSON object per question, one per line (or in one JSON list), in UTF-8.

    ============== =================================================================================
    key            value
    ============== =================================================================================
    ``passage``    the passage's text; questions with equal texts, or one ``passage_id``, share it; absent
                   from all rows if the questions have candidates and no passage, and no other key
    ``question``   the question; for cloze the query, with ``@placeholder`` in place of the entity
    ``candidates`` a list of strings, or of ``{"text", "start", "end"}`` with ``end`` exclusive;
                   absent for span questions
    ``gold``       a number: the index, from 0, of the right candidate; a list of numbers: the
                   indices of all right ones; a string or a list of strings: texts; ``null`` or
                   absent: hidden
    ``task``       ``single-choice``, ``multiple-answer``, ``cloze``, ``span`` or ``multi-span``; may
                   be left out if gold is a number (single-choice) or a list of numbers
                   (multiple-answer)
    ``id``         optional: the question's id; without it, its line (``line-3``)
    ``passage_id`` optional: the passage's id
    ``sentences``  optional: the passage's sentences, a list of ``[start, end]`` character offsets
    ``meta``       optional: an object with anything else, such as keys to group results by; the
                   row's other keys are added to it
    ============== =================================================================================

    All questions of a file have one task. ``--split`` selects rows by the ``split`` in their ``meta``.
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
        """Return whether the file is JSON."""
        return file.head is not None

    def rows(self, file: InputFile, reading: Reading) -> Iterator[Node]:
        """Return the records of the file; those of an object by id, or of one with other facts, are its rows."""
        records = file.records(reading.guard)
        if not file.is_one_value or not isinstance(file.head, dict) or is_own_row(file.head):
            return records
        first = next(records, None)
        return iter(()) if first is None else itertools.chain(_find_inner_rows(first), records)


def _find_inner_rows(root: Node) -> list[Node]:
    """Return the rows in an object: its one list of objects with questions, or its objects with questions by id."""
    members = root.value
    if not isinstance(members, dict):
        return [root]
    lists = [key for key, value in members.items() if isinstance(value, list) and _are_rows(value)]
    if len(lists) == 1:
        return list(root.at(lists[0]).elements())
    if _are_rows(list(members.values())):
        return [root.at(key).with_value({"id": key, **value}) for key, value in members.items()]
    return [root]


def _are_rows(values: Sequence[Any]) -> bool:
    """Return whether these are several objects that all have a question and something else."""
    if len(values) < 2 or not all(isinstance(value, dict) for value in values):
        return False
    shared = set(values[0]).intersection(*values[1:])
    return len(shared) > 1 and any("question" in str(key).lower() for key in shared)


def to_jsonl(dataset: Dataset) -> str:
    """Return the dataset in the schema of :class:`JsonLinesReader`, one line per question.

    The text is ASCII. A dataset read from it has the same content fingerprint and the same `meta`, except that a
    question's `meta` then includes its passage's, and the dataset's split as ``split`` if it has one. Generated
    candidates are left out.

    Examples
    --------
    >>> from classic_rc import from_rows
    >>> row = {"id": "q1", "passage": "It rained.", "question": "Did it?", "candidates": ["no", "yes"], "gold": 1}
    >>> print(to_jsonl(from_rows([row])), end="")  # doctest: +ELLIPSIS
    {"id": "q1", "passage_id": "passage-1", "passage": "It rained.", "question": "Did it?", "task": ...
    """
    return "".join(json.dumps(_question_row(question, dataset.split)) + "\n" for question in dataset)


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
        row["sentences"] = [list(marks) for marks in passage.sentences]
    if not question.task.has_spans:
        row["candidates"] = [_candidate_value(candidate) for candidate in question.candidates]
    gold = question.gold
    row["gold"] = None if gold is None else sorted(gold) if isinstance(gold, frozenset) else list(gold)
    if meta:
        row["meta"] = meta
    return row


def _candidate_value(candidate: Candidate) -> str | dict[str, Any]:
    if candidate.start is None or candidate.end is None:
        return candidate.text
    return {"text": candidate.text, "start": candidate.start, "end": candidate.end}
