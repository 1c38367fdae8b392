"""Rows with one question each: the paths of their fields, their conversion to questions, and their base reader."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.datasets.gold import GoldMismatchError, check_coding_name, decode_gold, infer_coding
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import (
    PLACEHOLDER,
    Candidate,
    Gold,
    Passage,
    Question,
    Task,
    TextCandidates,
    candidate_texts,
)

ROLES = ("id", "passage", "passage_id", "question", "candidates", "gold", "task", "sentences", "meta")
"""The roles of the values in a row, which are also the keys of our own JSON lines."""

OWN_FIELDS = {role: role for role in ROLES}
"""The fields of our own schema: each role is its own key."""

_TASKS = {task.value: task for task in Task}
_TASK_HINT = f"Give each row a task: {', '.join(_TASKS)} (with --fields, for example task=multi-span)"


def parse_fields(fields: str | Mapping[str, str]) -> dict[str, str]:
    """Parse the mapping of roles to paths.

    Parameters
    ----------
    fields : str or mapping
        ``"passage=context,question=q.text,candidates=choices,gold=label"`` or the same as a mapping. A path goes
        through objects by key and through lists by position (``"answers.0"``). A key after a list is looked up in
        each element (``"choices.text"``). ``"option_a+option_b"`` collects several values in a list. For `task`,
        the name of a task means that task.

    Returns
    -------
    dict of str to str
        Role to path.

    Raises
    ------
    UsageError
        A role is unknown, repeated or without a path, or `passage` or `question` is missing.

    Examples
    --------
    >>> parse_fields("passage=context,question=q.text")
    {'passage': 'context', 'question': 'q.text'}
    """
    if isinstance(fields, str):
        pairs = [part.partition("=")[::2] for part in fields.split(",") if part.strip()]
    else:
        pairs = list(fields.items())
    parsed: dict[str, str] = {}
    for role, path in ((role.strip(), str(path).strip()) for role, path in pairs):
        if role not in ROLES:
            raise unknown_name("field", role, ROLES)
        if not path or role in parsed:
            raise UsageError(
                f"fields: {role!r} needs exactly one path, for example {role}=key.inner",
                field="fields",
                found=f"{role}={path}",
                expected=f"one path for {role}",
            )
        parsed[role] = path
    if missing := [role for role in ("passage", "question") if role not in parsed]:
        raise UsageError(
            f"fields: no path for {' and '.join(missing)}: write for example passage=context,question=q.text",
            field="fields",
            found=",".join(f"{role}={path}" for role, path in parsed.items()),
            expected=f"a path for {' and '.join(missing)}",
        )
    return parsed


def find_value(node: Node, path: str) -> Node | None:
    """Return the value at a path (see :func:`parse_fields`), or None if the row has no such key.

    Examples
    --------
    >>> row = Node({"q": {"choices": [{"text": "yes"}, {"text": "no"}]}}, "rows")
    >>> find_value(row, "q.choices.text").value, find_value(row, "q.choices.1.text").value
    (['yes', 'no'], 'no')
    >>> find_value(row, "q.label")
    """
    if isinstance(node.value, dict) and path in node.value:
        return node.at(path)
    if "+" in path:
        return _gather_list(node, path, [find_value(node, part.strip()) for part in path.split("+")])
    return _follow_path(node, path)


def is_own_row(row: Any) -> bool:
    """Return whether a row has our own schema: a passage, a question, and candidates, gold or a task."""
    return (
        isinstance(row, dict)
        and {"passage", "question"} <= row.keys()
        and bool({"candidates", "gold", "task"} & row.keys())
    )


def parse_task(name: str) -> Task:
    """Return the task with this name, or raise UsageError."""
    if name not in _TASKS:
        raise unknown_name("task", name, _TASKS)
    return _TASKS[name]


def read_questions(
    rows: Iterable[Node],
    reading: Reading,
    fields: Mapping[str, str] | None = None,
    gold_as: str | None = None,
    task: Task | None = None,
) -> Iterator[Question]:
    """Yield the questions of rows, which all have one task.

    Parameters
    ----------
    rows : iterable of Node
        Objects, one per question.
    reading : Reading
    fields : mapping of str to str, optional
        Role to path (:func:`~classic_rc.datasets.rows.parse_fields`). None means our own schema.
    gold_as : str, optional
        The coding of gold. None means the coding of our own schema; with `fields`, the one coding that fits all
        rows.
    task : Task, optional
        The task. It overrides the task in the rows.

    Raises
    ------
    DataError
        A row is malformed, or the rows do not determine the task or the coding of gold.
    UsageError
        The coding is unknown, or does not apply to the task.
    """
    if gold_as is not None:
        check_coding_name(gold_as)
    roles = fields or OWN_FIELDS
    used = _used_keys(roles)
    # All rows are read before the first question: the task and the coding of gold are facts about all rows.
    read_rows = [_read_row(node, number, reading, roles, used) for number, node in enumerate(rows)]
    if fields:
        _check_paths(read_rows, fields)
    own = fields is None and gold_as is None
    task = task or _determine_task(read_rows, own)
    if task.has_spans and gold_as not in (None, "text"):
        raise UsageError(
            f"gold_as={gold_as} does not apply to {task} questions, whose gold is text",
            field="gold_as",
            found=gold_as,
            expected="text",
        )
    coding = "own" if own else gold_as or _determine_coding(read_rows, task)
    for row in read_rows:
        gold = _decode_gold(row, task, coding)
        yield Question(row.id, row.passage, row.question, row.candidates, gold, task, row.meta)


class RowReader(Reader):
    """The base class of readers of one question per row, in our own schema or with ``fields`` and ``gold_as``."""

    citation: ClassVar[str] = "classic_rc, its own format"
    cites = ("classic_rc",)
    takes: ClassVar[frozenset[str]] = frozenset({"fields", "gold_as"})
    is_dataset: ClassVar[bool] = False

    @abstractmethod
    def has_rows(self, file: InputFile) -> bool:
        """Return whether a file has rows in this form, with any keys."""

    @abstractmethod
    def rows(self, file: InputFile, reading: Reading) -> Iterator[Node]:
        """Yield the rows of a file."""

    def accepts(self, file: InputFile, reading: Reading) -> bool:
        """Return whether the file has rows in this form and, without ``fields``, in our own schema."""
        return self.has_rows(file) if reading.options.fields else self.recognises(file)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield one question per row."""
        return read_questions(self.rows(file, reading), reading, reading.options.fields, reading.options.gold_as)


def _follow_path(node: Node, path: str) -> Node | None:
    if isinstance(node.value, dict):
        if path in node.value:  # The path itself may be a key that has dots.
            return node.at(path)
        key, _, rest = path.partition(".")
        return _follow_path(node.at(key), rest) if rest and key in node.value else None
    if isinstance(node.value, (list, tuple)):
        position, _, rest = path.partition(".")
        if position.isascii() and position.isdigit():
            if len(position) > 9 or int(position) >= len(node.value):
                return None
            element = node.at(int(position))
            return _follow_path(element, rest) if rest else element
        return _gather_list(node, path, [_follow_path(element, path) for element in node.elements()])
    return None


def _gather_list(node: Node, path: str, parts: list[Node | None]) -> Node | None:
    if any(part is None for part in parts):
        return None
    return Node([part.value for part in parts if part is not None], node.source, None, node, path)


@dataclass(frozen=True, slots=True)
class _Row:
    """The values of a row. Gold is still raw, because its meaning depends on the task and coding of all rows."""

    node: Node
    id: str
    passage: Passage
    question: str
    candidates: Sequence[Candidate]
    gold: Any
    task: Task | None
    meta: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(candidate_texts(self.candidates))

    def error(self, problem: str, field: str, found: str, expected: str, hint: str | None = None) -> DataError:
        return self.node.error(problem, field=field, found=found, expected=expected, hint=hint)


def _read_row(node: Node, number: int, reading: Reading, fields: Mapping[str, str], used: AbstractSet[str]) -> _Row:
    if not isinstance(node.value, dict):
        raise node.error("wrong type", found=describe_value(node.value), expected="an object for each question")
    found = {path: value.value for path in fields.values() if (value := find_value(node, path)) is not None}
    for role in ("passage", "question"):
        if fields[role] not in found:
            raise node.error(
                "missing", field=fields[role], found=describe_value(node.value), expected=f"the {role}"
            )
    values = node.with_value(found)

    def has(role: str) -> bool:
        return role in fields and values.has(fields[role])

    text = values.text(fields["passage"])
    passage = reading.passage(
        values.name(fields["passage_id"]) if has("passage_id") else None,
        text,
        node.source,
        node.where,
        _read_sentences(values.child(fields["sentences"]), text) if has("sentences") else None,
    )
    return _Row(
        node,
        values.name(fields["id"]) if has("id") else f"line-{node.line}" if node.line else f"row-{number}",
        passage,
        values.text(fields["question"]),
        _read_candidates(values.child(fields["candidates"]), text) if has("candidates") else (),
        found.get(fields.get("gold", "")),
        _read_task(values, fields["task"]) if has("task") else _TASKS.get(fields.get("task", "")),
        reading.meta(**_collect_meta(node, values, fields, used)),
    )


def _read_candidates(values: Node, passage: str) -> Sequence[Candidate]:
    """Return the candidates from a list of strings, or of objects with text, start and end."""
    nodes = list(values.elements())
    if all(isinstance(node.value, str) for node in nodes):
        return TextCandidates(values.value)
    candidates = []
    for i, node in enumerate(nodes):
        if not isinstance(node.value, dict):
            candidates.append(Candidate(values.text(i)))
            continue
        text = node.text("text")
        if not (node.has("start") or node.has("end")):
            candidates.append(Candidate(text))
            continue
        start, end = node.integer("start"), node.integer("end")
        if not 0 <= start <= end <= len(passage) or passage[start:end] != text:
            span = describe_value(passage[max(start, 0) : max(end, 0)])
            raise node.error(
                "the candidate's text is not at its offsets",
                found=f"{describe_value(text)}, with {span} from {start} to {end}",
                expected="the passage's text from start to end (exclusive)",
            )
        candidates.append(Candidate(text, start, end))
    return tuple(candidates)


def _read_sentences(values: Node, passage: str) -> list[tuple[int, int]]:
    sentences, last = [], 0
    for i, node in enumerate(values.elements()):
        marks = values.integers(i)
        if len(marks) != 2 or not last <= marks[0] <= marks[1] <= len(passage):
            raise node.error(
                "invalid sentence offsets",
                found=str(list(marks))[:60],
                expected=f"[start, end] in order, from {last} to {len(passage)}",
            )
        last = marks[1]
        sentences.append((marks[0], marks[1]))
    return sentences


def _read_task(values: Node, key: str) -> Task:
    name = values.text(key)
    if name not in _TASKS:
        raise values.error("unknown task", field=key, found=describe_value(name), expected=", ".join(_TASKS))
    return _TASKS[name]


def _used_keys(fields: Mapping[str, str]) -> AbstractSet[str]:
    """Return the keys of a row that occur in paths."""
    paths = {part for path in fields.values() for part in (path, *path.split("+"))}
    return paths | {path.strip().partition(".")[0] for path in paths}


def _collect_meta(node: Node, values: Node, fields: Mapping[str, str], used: AbstractSet[str]) -> dict[str, Any]:
    """Return the other facts of a row: the keys that no path uses, and the members of its meta."""
    meta = {str(key): value for key, value in node.value.items() if key not in used}
    if "meta" in fields and values.has(fields["meta"]):
        inner = values.child(fields["meta"])
        if not isinstance(inner.value, dict):
            raise inner.error("wrong type", found=describe_value(inner.value), expected="an object")
        meta.update({str(key): value for key, value in inner.value.items()})
    return meta


def _check_paths(rows: Sequence[_Row], fields: Mapping[str, str]) -> None:
    """Refuse a path that no row has: a misspelt path of gold must not be read as hidden gold."""
    for role, path in fields.items():
        literal = role == "task" and path in _TASKS
        if rows and not literal and all(find_value(row.node, path) is None for row in rows):
            raise rows[0].error("no row has this key", path, describe_value(rows[0].node.value), f"the {role}")


def _determine_task(rows: Sequence[_Row], own: bool) -> Task:
    """Return the one task that the rows name, or that their gold implies."""
    common_task: Task | None = None
    for row in rows:
        task = row.task or _infer_task(row, own)
        if task is not None and common_task is not None and task != common_task:
            raise row.error(
                "the rows have different tasks", "task", f"{task} after {common_task}", "one task", _TASK_HINT
            )
        common_task = common_task or task
    if common_task is None and rows:
        raise rows[0].error("the task is unknown: all gold is hidden", "task", "none", "a task", _TASK_HINT)
    return common_task or Task.SINGLE_CHOICE


def _infer_task(row: _Row, own: bool) -> Task | None:
    """Return the task that a row's gold implies; None for hidden gold, which fits the task of the other rows."""
    if row.gold is None:
        return None
    if _are_texts(row.gold) and (own or not row.candidates):
        raise row.error(
            "the task is unknown", "task", f"none, with gold {describe_value(row.gold)}", "a task", _TASK_HINT
        )
    return Task.MULTIPLE_ANSWER if isinstance(row.gold, (list, tuple)) else Task.SINGLE_CHOICE


def _determine_coding(rows: Sequence[_Row], task: Task) -> str:
    """Return the coding of gold in rows for which the user gave fields but no coding."""
    rows_with_gold = [row for row in rows if row.gold is not None]
    if task.has_spans or (task is Task.CLOZE and all(_are_texts(row.gold) for row in rows_with_gold)):
        return "text"
    for row in rows_with_gold:
        _check_candidates(row, task)
    return infer_coding((row.node, row.gold, row.texts) for row in rows_with_gold)


def _decode_gold(row: _Row, task: Task, coding: str) -> Gold:
    _check_candidates(row, task)
    if row.gold is None:
        return None
    if not task.has_choices and _are_texts(row.gold) and coding in ("own", "text"):
        return (row.gold,) if isinstance(row.gold, str) else tuple(row.gold)
    if task.has_spans:
        raise row.error(
            "wrong type", "gold", describe_value(row.gold), "a string, or a list of at least one string"
        )
    try:
        right = decode_gold(row.gold, row.texts, coding)
    except GoldMismatchError as mismatch:
        raise row.error("gold is not among the candidates", "gold", mismatch.found, mismatch.expected) from None
    if not right and task is not Task.MULTIPLE_ANSWER:
        raise row.error("no right answer", "gold", describe_value(row.gold), "at least one")
    return right if task.has_choices else tuple(dict.fromkeys(row.texts[i] for i in sorted(right)))


def _are_texts(gold: Any) -> bool:
    values = gold if isinstance(gold, (list, tuple)) else [gold]
    return bool(values) and all(isinstance(value, str) for value in values)


def _check_candidates(row: _Row, task: Task) -> None:
    if task.has_spans and row.candidates:
        found = f"{len(row.candidates)} candidates"
        raise row.error(f"{task} questions cannot have candidates", "candidates", found, "none")
    if not task.has_spans and not row.candidates:
        raise row.error("no candidates", "candidates", "none", f"at least one for a {task} question", _TASK_HINT)
    if task is Task.CLOZE and PLACEHOLDER not in row.question:
        raise row.error("no placeholder in the query", "question", describe_value(row.question), PLACEHOLDER)
