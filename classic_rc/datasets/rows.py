"""Questions from rows: our own schema, and rows of any other with a word on where they keep what."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.datasets.fields import ROLES, lookup
from classic_rc.datasets.files import File
from classic_rc.datasets.gold import GoldMismatch, check_coding, decode, infer
from classic_rc.datasets.json_values import Node, describe
from classic_rc.errors import DataError
from classic_rc.questions import PLACEHOLDER, Candidate, Gold, Question, Task

__all__ = ["RowReader", "is_own_row", "questions_of"]

_OWN_FIELDS = {role: role for role in ROLES}
_TASKS = {task.value: task for task in Task}


class RowReader(Reader):
    """A format of one question a row, our own or described by ``fields`` and ``gold_as``."""

    citation: ClassVar[str] = "classic_rc, our own format"
    takes: ClassVar[frozenset[str]] = frozenset({"fields", "gold_as"})
    is_dataset: ClassVar[bool] = False

    @abstractmethod
    def is_form(self, file: File) -> bool:
        """Whether a file has rows of this form, whatever their keys."""

    @abstractmethod
    def rows(self, file: File, reading: Reading) -> Iterator[Node]:
        """The rows of a file."""

    def accepts(self, file: File, reading: Reading) -> bool:
        return self.is_form(file) if reading.options.fields else self.recognises(file)

    def questions(self, file: File, reading: Reading) -> Iterator[Question]:
        options = reading.options
        return questions_of(self.rows(file, reading), reading, options.fields, options.gold_as)


def is_own_row(row: Any) -> bool:
    """Whether a row is in our own schema: it has a passage, a question, and candidates, gold or a task."""
    return isinstance(row, Mapping) and {"passage", "question"} <= row.keys() and not row.keys().isdisjoint(
        ("candidates", "gold", "task")
    )


@dataclass(frozen=True, slots=True)
class _Row:
    node: Node
    id: str
    question: str
    passage: Any
    candidates: tuple[Candidate, ...]
    gold: Any
    task: Task | None
    meta: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return [candidate.text for candidate in self.candidates]

    def error(self, problem: str, field: str, found: Any, expected: str, hint: str | None = None) -> DataError:
        return self.node.error(problem, field=field, found=describe(found), expected=expected, hint=hint)


def questions_of(
    rows: Iterable[Node],
    reading: Reading,
    fields: Mapping[str, str] | None = None,
    gold_as: str | None = None,
    task: Task | None = None,
) -> Iterator[Question]:
    """The questions of rows.

    Parameters
    ----------
    rows : iterable of Node
        Objects.
    reading : Reading
    fields : mapping of str to str, optional
        Role to path; our own schema when None.
    gold_as : str, optional
        How gold is coded; as in our own schema when neither it nor `fields` is given, and otherwise the one coding
        that fits.
    task : Task, optional
        The task of all the rows, whatever they say.

    Raises
    ------
    DataError
        A row is malformed, or its task or coding of gold is open.
    """
    if gold_as is not None:
        check_coding(gold_as)
    read = [_row(node, reading, fields or _OWN_FIELDS, task) for node in rows]
    if fields is not None:
        _check_paths(read, fields)
    coding = gold_as or ("own" if fields is None else None)
    tasks = _tasks(read, fields is not None)
    if coding is None:
        coding = infer((r.node, r.gold, r.texts) for r, t in zip(read, tasks, strict=True) if _is_coded(r, t))
    for row, its_task in zip(read, tasks, strict=True):
        gold = None if row.gold is None else _gold(row, its_task, coding)
        _check_shape(row, its_task)
        yield Question(row.id, row.passage, row.question, row.candidates, gold, its_task, row.meta)


def _row(node: Node, reading: Reading, fields: Mapping[str, str], task: Task | None) -> _Row:
    if not isinstance(node.value, Mapping):
        raise node.error("wrong type", found=describe(node.value), expected="an object, one a question")
    found = {role: value for role, path in fields.items() if (value := lookup(node, path)) is not None}
    if fields.get("task") in _TASKS and "task" not in found:
        task = task or _TASKS[fields["task"]]
    values = Node({role: value.value for role, value in found.items()}, node.source, node.where)
    for role in ("passage", "question"):
        if role not in found:
            raise node.error(
                "missing", field=fields[role], found=describe(node.value), expected=f"the {role}, a string"
            )
    text = values.text("passage")
    sentences = _sentences(values, text) if values.has("sentences") else None
    id = values.name("passage_id") if values.has("passage_id") else None
    passage = reading.passage(id, text, node.source, node.where, sentences)
    used = {path.partition(".")[0] for route in fields.values() for path in (route, *route.split("+"))}
    meta = {str(key): value for key, value in node.value.items() if key not in used and key not in fields.values()}
    if values.has("meta"):
        meta |= values.mapping("meta")
    return _Row(
        node,
        values.name("id") if values.has("id") else re.sub(r"[^a-z0-9]+", "-", node.where).strip("-"),
        values.text("question"),
        passage,
        _candidates(values, text) if values.has("candidates") else (),
        values.value.get("gold"),
        task or _task(values),
        reading.meta(**meta),
    )
