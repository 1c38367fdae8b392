"""Rows with one question each: the paths of their fields, their conversion to questions, and
their base reader.
"""

from __future__ import annotations

import itertools
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.datasets.fields import (
    ANNOTATORS,
    OWN_FIELDS,
    PROPOSAL_ROWS,
    find_families,
    find_labels,
    find_value,
    find_votes,
    find_whole_family,
    format_fields,
    is_list_of,
    list_options,
    name_columns,
    split_path,
)
from classic_rc.datasets.nested_rows import split_rows
from classic_rc.datasets.specification import quote_argument
from classic_rc.encodings import (
    GOLD_AS,
    READINGS,
    MismatchError,
    Written,
    ambiguity_error,
    check_reading,
    decide_reading,
    decode,
    explain,
    find_difference,
    fitting_readings,
)
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.io.values import are_mixed_json, find_lost_form, option_texts
from classic_rc.option_labels import OPTION_LABELS, cut_labels, name_other_places
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
from classic_rc.work import tracked

_DIGITS = re.compile(r"[0-9]+(?:\.0+)?", re.ASCII)
_MANY_ROWS = 10
_FEW_SEVERAL = 0.1
_SORTED = (
    "the candidates are in alphabetical order, because the right answer has its own column, "
    "whose place would give it away"
)
TASKS = {task.value: task for task in Task}
_TASK_HINT = (
    f"Give each row a task: {', '.join(TASKS)} (with --fields, for example task=multi-span)"
)


def is_own_row(row: Any) -> bool:
    """Return whether a row has our own schema: a passage, a question, and candidates, gold or a
    task.

    A question with candidates may have no passage, if all its keys are ours: in another schema, an
    unknown key may be the passage.
    """
    if (
        not isinstance(row, dict)
        or "question" not in row
        or not {"candidates", "gold", "task"} & row.keys()
    ):
        return False
    return "passage" in row or ("candidates" in row and row.keys() <= OWN_FIELDS.keys() | {"meta"})


def parse_task(name: str) -> Task:
    """Return the task with this name, or raise UsageError."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]


def read_questions(
    rows: Iterable[Node],
    reading: Reading,
    fields: Mapping[str, str] | None = None,
    gold_as: str | None = None,
    task: Task | None = None,
    *,
    has_types: bool = True,
) -> Iterator[Question]:
    """Yield the questions of rows, which all have one task.

    `fields` maps roles to paths (:func:`~classic_rc.datasets.fields.parse_fields`); None means our
    own schema. `gold_as` is the coding of gold; None means that of our own schema or, with
    `fields`, the one that fits all rows. `task` overrides the task in the rows. `has_types` tells
    whether rows tell numbers from texts, as those of JSON do and cells of a table do not.
    """
    if gold_as is not None:
        check_reading(gold_as)
    if fields:
        rows, fields = split_rows(rows, fields, reading)
    roles = fields or OWN_FIELDS
    used = _used_keys(roles)
    # All rows are read before the first question: the task and the coding of gold are facts about
    # all rows.
    nodes, read_rows = _with_passages(rows, fields), list[_RawRow]()
    if fields:
        listed = list(nodes)
        _check_columns_of_family(listed, fields)
        nodes = tracked(listed, len(listed), share=0.8)
    for number, node in enumerate(nodes):
        with reading.at(node):
            read_rows.append(_read_row(node, number, reading, roles, used))
    if fields:
        _check_paths(read_rows, fields)
        _check_json_texts(read_rows)
    is_own_schema = fields is None and gold_as is None
    is_inferred = task is None and not any(row.task for row in read_rows)
    if task is None:
        read_rows, task = _agree_on_task(read_rows, is_own_schema, reading)
    if task.has_spans and gold_as not in (None, "text"):
        raise UsageError(
            f"gold_as={gold_as} does not apply to {task} questions, whose gold is text",
            field="gold_as",
            found=gold_as,
            expected="text",
        )
    coding = gold_as or _determine_coding(read_rows, task, reading, is_own_schema, has_types)
    vote_coding = _determine_vote_coding(read_rows, task, reading, coding)
    decoded: list[tuple[_RawRow, Gold]] = []
    shared_golds: dict[Gold, Gold] = {}  # one object for each choice of options
    for row in read_rows:
        with reading.at(row.node, row.id):
            gold = _decode_gold(row, task, coding)
            decoded.append(
                (row, shared_golds.setdefault(gold, gold) if isinstance(gold, frozenset) else gold)
            )
    with_several = [row for row, gold in decoded if len(gold or ()) > 1]
    if is_inferred and task is Task.SINGLE_CHOICE and with_several:
        task = Task.MULTIPLE_ANSWER  # letters or indices joined in one text
        if len(with_several) < _FEW_SEVERAL * len(decoded):
            reading.note(
                f"read as multiple-answer questions: {len(with_several):,} of {len(decoded):,} "
                f"have several right answers (the first: {with_several[0].node.where})"
            )
    if fields and task.has_choices:
        _check_mapping(decoded, fields)
    read_rows.clear()
    decoded.reverse()
    while decoded:  # each row is freed when its question is there
        row, gold = decoded.pop()
        with reading.at(row.node, row.id):
            meta = {**row.meta, **_decode_votes(row, task, vote_coding)} if row.votes else row.meta
            yield Question(row.id, row.passage, row.question, row.candidates, gold, task, meta)


def _with_passages(rows: Iterable[Node], fields: Mapping[str, str] | None) -> Iterable[Node]:
    """Return the rows; those of our own schema get an empty passage if none of them has one."""

    def lacks_passage(node: Node) -> bool:
        return isinstance(node.value, dict) and "passage" not in node.value

    nodes = iter(rows)
    listed = list(itertools.islice(nodes, 1))
    if fields or not all(map(lacks_passage, listed)):
        return itertools.chain(listed, nodes)
    listed += nodes
    if not all(map(lacks_passage, listed)):
        return listed
    return [node.with_value({**node.value, "passage": ""}) for node in listed]


class RowReader(Reader):
    """The base class of readers of one question per row, in our own schema or with ``fields``
    and ``gold_as``.
    """

    citation: ClassVar[str] = "classic_rc, its own format"
    cites = ("classic_rc",)
    takes: ClassVar[frozenset[str]] = frozenset({"fields", "gold_as"})
    is_dataset: ClassVar[bool] = False
    has_types: ClassVar[bool] = True
    """Whether rows tell numbers from texts."""

    @abstractmethod
    def has_rows(self, file: InputFile) -> bool:
        """Return whether a file has rows in this form, with any keys."""

    @abstractmethod
    def rows(self, file: InputFile, reading: Reading) -> Iterator[Node]:
        """Yield the rows of a file."""

    def fields(self, file: InputFile, reading: Reading) -> Mapping[str, str] | None:
        """Return the paths of the roles in the rows of a file."""
        return reading.options.fields

    def accepts(self, file: InputFile, reading: Reading) -> bool:
        """Return whether the file has rows in this form and, without ``fields``, in our own
        schema.
        """
        return self.has_rows(file) if reading.options.fields else self.recognises(file)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield one question per row."""
        fields, gold_as = self.fields(file, reading), reading.options.gold_as
        return read_questions(
            self.rows(file, reading), reading, fields, gold_as, has_types=self.has_types
        )


@dataclass(frozen=True, slots=True)
class _RawRow:
    """The values of a row. Gold is still raw, because its meaning depends on the task and coding
    of all rows.
    """

    node: Node
    id: str
    passage: Passage
    question: str
    candidates: Sequence[Candidate]
    labels: Sequence[str] | None  # of the candidates
    gold: Any
    task: Task | None
    meta: dict[str, Any]
    votes: dict[str, Any]  # raw, as gold

    @property
    def texts(self) -> list[str]:
        return list(candidate_texts(self.candidates))

    def error(
        self, problem: str, field: str, actual: str, expected: str, hint: str | None = None
    ) -> DataError:
        return self.node.error(problem, field=field, found=actual, expected=expected, hint=hint)


def _read_row(
    node: Node, number: int, reading: Reading, fields: Mapping[str, str], used: AbstractSet[str]
) -> _RawRow:
    if not isinstance(node.value, dict):
        raise node.error(
            "wrong type", found=describe_value(node.value), expected="an object for each question"
        )
    is_own = fields is OWN_FIELDS
    if is_own:
        row_values = {role: node.value[role] for role in fields if role in node.value}
    else:
        row_values = {
            path: value.value
            for path in fields.values()
            if (value := find_value(node, path)) is not None
        }
    for role in ("passage", "question"):
        if fields[role] not in row_values:
            node.get(fields[role], f"the {role}")  # raises the error
    gold_path, labels = fields.get("gold", ""), None
    options_path = fields.get("candidates", "")
    options = row_values.get(options_path)
    if not is_own and options is not None:
        columns = split_path(options_path)
        options, labels = _read_options(node, options_path, options)
        if len(columns) > 1:
            if gold_path in columns and is_list_of(options, str):
                options, labels = sorted(options), None
                reading.note(_SORTED)
            check_columns(node, columns, options)
        if row_values.get(gold_path) in (-1, "-1") and row_values[gold_path] not in options:
            row_values[gold_path] = None
            reading.count("gold -1, read as hidden")
    elif isinstance(options, list) and not is_list_of(options, str):
        options, labels = _read_options(node, options_path, options)
    elif isinstance(options, str):
        _check_form(node, options_path, options, is_list=True)
    if options is not None:
        row_values[options_path], labels = _cut_labels(options, labels, reading)
    lines = row_values.get(fields["passage"])
    if not is_own and isinstance(lines, list) and all(isinstance(line, str) for line in lines):
        row_values[fields["passage"]] = "\n".join(
            lines
        )  # a dialogue, sentences, or several columns
    values = node.with_value(row_values)

    def has(role: str) -> bool:
        return role in fields and values.has(fields[role])

    text = values.text(fields["passage"])
    passage_id = values.name(fields["passage_id"]) if has("passage_id") else None
    sentences = None
    if has("sentences"):
        sentences = _read_sentences(values.child(fields["sentences"]), text)
    passage = reading.passage(passage_id, text, node.source, node.where, sentences)
    candidates = _read_candidates(values.child(options_path), text) if has("candidates") else ()
    candidates = reading.texts.keep_candidates(candidates)
    gold = row_values.get(gold_path)
    if not is_own:
        _check_form(node, gold_path, gold, is_list=True)
    # An empty text is no candidate's name, but it is an answer to a span question: that there is
    # none.
    has_empty_gold = not is_own and bool(candidates) and gold == ""
    if isinstance(gold, list) and labels == list(map(str, gold)):
        labels = None  # they say which options are right
    id = values.name(fields["id"]) if has("id") else None
    if id is not None and len(id) > 9 and id.isdecimal():
        _check_form(node, fields["id"], id)
    facts = _collect_meta(node, values, fields, used)
    if labels is not None and name_other_places(labels):
        facts[OPTION_LABELS] = tuple(labels)
    return _RawRow(
        node.with_value(None) if is_own and reading.texts.is_open else node,
        id or (f"line-{node.line}" if node.line else f"row-{number}"),
        passage,
        values.text(fields["question"]),
        candidates,
        labels,
        None if has_empty_gold else gold,
        _read_task(values, fields["task"]) if has("task") else TASKS.get(fields.get("task", "")),
        reading.meta(**facts),
        find_votes(node, fields[ANNOTATORS]) if ANNOTATORS in fields else {},
    )


def _read_options(node: Node, path: str, value: Any) -> tuple[Any, Sequence[str] | None]:
    """Return the options in a value, without absent ones at the end, and their labels."""
    options = list_options(value)
    if not isinstance(options, list):
        _check_form(node, path, options, is_list=True)
        return options, None
    labels, texts = find_labels(node, path, options), option_texts(options)
    for text in texts:
        if isinstance(text, str) and text.isdecimal():
            _check_form(node, path, text)
    return texts, labels and labels[: len(texts)]


def _cut_labels(
    options: Any, labels: Sequence[str] | None, reading: Reading
) -> tuple[Any, Sequence[str] | None]:
    """Return options without the labels in their texts, and their labels."""
    cut = cut_labels(options) if is_list_of(options, str) else None
    if cut == "some":
        reading.count("questions with a label in some of their options, where no label is cut")
    elif cut is not None:
        reading.count("questions whose options begin with labels, which are cut")
        return cut.texts, cut.labels
    return options, labels


def _check_form(node: Node, path: str, value: Any, *, is_list: bool = False) -> None:
    """Refuse what a program wrote in a form that lost the value."""
    if isinstance(value, str) and (lost := find_lost_form(value, is_list=is_list)):
        actual, expected = describe_value(value), "a list in JSON" if is_list else "text"
        raise node.error(
            f"the value is {lost[0]}", field=path, found=actual, expected=expected, hint=lost[1]
        )


def _read_candidates(values: Node, passage: str) -> Sequence[Candidate]:
    """Return the candidates from a list of strings, or of objects with text, start and end."""
    if is_list_of(values.value, str) or values.value == []:
        return TextCandidates(values.value)
    candidates = []
    for i, node in enumerate(values.elements()):
        text = node.text("text") if isinstance(node.value, dict) else values.text(i)
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


def check_columns(node: Node, columns: Sequence[str], texts: Any) -> None:
    """Refuse an empty candidate before another one: the gold index or letter would mean another
    candidate.
    """
    if isinstance(texts, list):
        for text, column in zip(texts, columns, strict=False):
            if text in (None, ""):
                raise node.error(
                    "empty candidate before another one",
                    field=column,
                    found="nothing" if text is None else "''",
                    expected="text",
                )


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
    if name not in TASKS:
        raise values.error(
            "unknown task", field=key, found=describe_value(name), expected=", ".join(TASKS)
        )
    return TASKS[name]


def _used_keys(fields: Mapping[str, str]) -> AbstractSet[str]:
    paths = {key for path in fields.values() for key in (path, *split_path(path))}
    return paths | {path.partition(".")[0] for path in paths}


def _collect_meta(
    node: Node, values: Node, fields: Mapping[str, str], used: AbstractSet[str]
) -> dict[str, Any]:
    """Return the other facts of a row: the keys that no path uses, and the members of its meta."""
    meta = {key: value for key, value in node.value.items() if key not in used}
    if "meta" in fields and values.has(fields["meta"]):
        inner = values.child(fields["meta"])
        if not isinstance(inner.value, dict):
            raise inner.error("wrong type", found=describe_value(inner.value), expected="an object")
        meta.update(inner.value)
    return meta


def _check_paths(rows: Sequence[_RawRow], fields: Mapping[str, str]) -> None:
    """Refuse a path that no row has: a misspelt path of gold must not be read as hidden gold."""
    for role, path in fields.items():
        is_literal = role == "task" and path in TASKS
        # A key of some rows may have plus signs.
        for column in min((split_path(path, row.node) for row in rows), key=len, default=()):
            if not is_literal and all(find_value(row.node, column) is None for row in rows):
                actual = describe_value(rows[0].node.value)
                raise rows[0].error("no row has this key", column, actual, f"the {role}")


def _check_json_texts(rows: Sequence[_RawRow]) -> None:
    """Refuse texts of JSON, which `datasets` writes for columns of texts and numbers."""
    for position in range(len(rows[0].candidates) if rows else 0):
        texts = (row.texts[position] for row in rows if len(row.candidates) > position)
        if are_mixed_json(texts):
            raise rows[0].error(
                "the options are JSON texts",
                "candidates",
                describe_value(rows[0].texts[position]),
                "the texts themselves",
                "Write them as JSON lines, or decode them: frame[name].map(json.loads)",
            )


def _check_columns_of_family(nodes: Sequence[Node], fields: Mapping[str, str]) -> None:
    """Refuse columns of candidates that leave out one of their family or change their order, or
    that are gold.
    """
    path, gold = fields.get("candidates", ""), fields.get("gold", "")
    columns = split_path(path)
    if gold in columns and any(gold in family for family in find_families(columns)):
        raise nodes[0].error(
            "gold is one of the columns of candidates, so that it would be right in every row",
            field="gold",
            found=gold,
            expected="the key of the right answer",
        )
    if family_path := find_whole_family(path, nodes):
        meant = quote_argument(format_fields({**fields, "candidates": family_path}))
        raise nodes[0].error(
            "the candidates leave out or reorder columns of their family",
            field="candidates",
            found=path,
            expected=family_path,
            hint=f"Write --fields {meant}",
        )


def _check_mapping(decoded: Sequence[tuple[_RawRow, Gold]], fields: Mapping[str, str]) -> None:
    """Refuse fields that make all options of all questions right."""
    labelled = [(row, gold) for row, gold in decoded if gold is not None]
    if len(labelled) < 2 or not all(len(gold) == len(row.candidates) > 1 for row, gold in labelled):
        return
    path = fields["gold"]
    usual = name_columns([row.node for row, _ in labelled[:PROPOSAL_ROWS]]).get("gold", path)
    meant = quote_argument(format_fields({**fields, "gold": usual}))
    raise labelled[0][0].error(
        "every candidate of every question is right",
        "gold",
        path,
        "the key of the right answer",
        f"Write --fields {meant}" if usual != path else None,
    )


def _agree_on_task(
    rows: Sequence[_RawRow], is_own_schema: bool, reading: Reading
) -> tuple[list[_RawRow], Task]:
    """Return the one task that the rows name, or that their gold implies, and the rows that have
    it.
    """
    tasks: list[tuple[_RawRow, Task | None]] = []
    has_indices = any(row.gold is not None and not _are_texts(row.gold) for row in rows)
    is_cloze = any(PLACEHOLDER in row.question for row in rows)
    for row in rows:
        with reading.at(row.node, row.id):
            if is_own_schema and has_indices and row.task is None and _are_words(row.gold):
                actual = f"{describe_value(row.gold)}, and indices in other rows"
                raise row.error(
                    "gold is coded in several ways", "gold", actual, "an index from 0 in all rows"
                )
            tasks.append((row, row.task or _infer_task(row, is_own_schema and is_cloze)))
    counts = Counter(task for _, task in tasks if task is not None)
    if not counts and tasks:
        problem = "the task is unknown: all gold is hidden"
        raise rows[0].error(problem, "task", "none", "a task", _TASK_HINT)
    have_choices = counts.keys() == {Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER}
    if have_choices and not is_own_schema and not any(row.task for row in rows):
        return [row for row, _ in tasks], Task.MULTIPLE_ANSWER
    # In strict reading, the first row with another task than the first one is the error.
    ordered = [task for task, _ in counts.most_common()] if reading.options.skip_bad else counts
    common = next(iter(ordered), Task.SINGLE_CHOICE)
    alike: list[_RawRow] = []
    for row, task in tasks:
        with reading.at(row.node, row.id):
            if task not in (None, common):
                actual = f"{task} after {common}"
                raise row.error(
                    "the rows have different tasks", "task", actual, "one task", _TASK_HINT
                )
            alike.append(row)
    return alike, common


def _infer_task(row: _RawRow, may_be_cloze: bool) -> Task | None:
    if row.gold is None:
        return None
    if _are_words(row.gold) and (may_be_cloze or not row.candidates):
        actual = f"none, with gold {describe_value(row.gold)}"
        raise row.error("the task is unknown", "task", actual, "a task", _TASK_HINT)
    return Task.MULTIPLE_ANSWER if isinstance(row.gold, (list, tuple)) else Task.SINGLE_CHOICE


def _determine_coding(
    rows: Sequence[_RawRow], task: Task, reading: Reading, is_own_schema: bool, has_types: bool
) -> str:
    """Return the coding of gold in rows for which the user gave none."""
    with_gold = [row for row in rows if row.gold is not None]
    are_texts = all(_are_texts(row.gold) for row in with_gold)
    are_words = all(_are_words(row.gold) for row in with_gold)
    # Rows of JSON that name their task, as those that we write, follow our schema to the letter.
    is_declared = is_own_schema and has_types and all(row.task is not None for row in with_gold)
    if task.has_spans or (
        task is Task.CLOZE and are_texts and (are_words or not is_own_schema or is_declared)
    ):
        return "text"
    is_declared = is_declared and not are_texts
    if is_declared and not reading.options.skip_bad:
        return "own"
    readings = ("index0", "index1") if is_declared else tuple(READINGS)
    written = _explain_gold(with_gold, task, readings, reading)
    if is_own_schema and {"index0", "text"}.isdisjoint(fitting_readings(written)):
        written = _explain_gold(with_gold, task, readings, reading, narrow=False)
    if is_own_schema:
        return _own_coding(written, are_words)
    return decide_reading(written, option=GOLD_AS, skip_bad=reading.options.skip_bad)


def _determine_vote_coding(
    rows: Sequence[_RawRow], task: Task, reading: Reading, coding: str
) -> str:
    """Return the coding of all votes: that of gold if it fits, else the only one that does.

    Gold and votes do not count from different numbers.
    """
    ballots = [replace(row, gold=vote) for row in rows for vote in row.votes.values()]
    ballots = [ballot for ballot in ballots if ballot.gold is not None]
    if not task.has_choices or not ballots:
        return coding
    is_known = any(row.gold is not None for row in rows)
    rivals = {"index0", "index1"} if is_known and coding in ("index0", "index1") else {""}
    readings = [name for name in READINGS if name == coding or name not in rivals]
    written = _explain_gold(ballots, task, readings, reading)
    skip_bad = reading.options.skip_bad
    other_index = (
        {"index0": "index1", "index1": "index0"}.get(coding) if is_known and skip_bad else None
    )
    counted = (
        _explain_gold(ballots, task, [other_index], reading, narrow=False) if other_index else []
    )
    unread = next((row for row in written if coding not in row.meanings), None)
    # Of votes that all count from the other number, those that fit both would be read wrongly.
    if counted and unread is not None and all(row.meanings for row in counted):
        raise unread.node.error(
            "votes count from another number than gold",
            field=ANNOTATORS,
            found=describe_value(unread.value),
            expected=READINGS[coding],
        )
    if is_known and coding in fitting_readings(written):
        return coding
    option = GOLD_AS._replace(elsewhere=", with gold written so too")
    return decide_reading(written, field=ANNOTATORS, option=option, skip_bad=skip_bad)


def _explain_gold(
    rows: Sequence[_RawRow],
    task: Task,
    readings: Sequence[str],
    reading: Reading,
    *,
    narrow: bool = True,
) -> list[Written]:
    """Return what gold means, once for rows with equal meanings.

    With `narrow`, a row is read in the readings that fit all rows before it, unless none fits all:
    an error needs the meanings of each row in all readings.
    """
    fitting, first, counts = readings, dict[tuple[Any, ...], Written](), Counter[tuple[Any, ...]]()
    for row in rows:
        # decoding reports the error
        with nullcontext() if not reading.options.skip_bad else suppress(DataError):
            _check_candidates(row, task)
            meanings = explain(row.gold, texts := row.texts, row.labels, fitting)
            if narrow and not meanings:
                return _explain_gold(rows, task, readings, reading, narrow=False)
            fitting = tuple(meanings) if narrow else readings
            counts[key := tuple(meanings.items())] += 1
            if key not in first:
                first[key] = Written(row.node, row.gold, texts, meanings)
    return [row._replace(n_alike=counts[key]) for key, row in first.items()]


def _own_coding(rows: Sequence[Written], are_words: bool) -> str:
    """Return the coding of our own schema, which other readings of the rows must not contradict.

    Our schema has indices from 0 and texts. Cells of a table do not say which of the two a number
    is.
    """
    fitting = fitting_readings(rows)
    documented = [
        reading for reading in ("text" if are_words else "index0", "text") if reading in fitting
    ]
    if fitting and not documented:
        row = next(
            row for row in rows if row.meanings and not {"index0", "text"} & row.meanings.keys()
        )
        counts_from_1 = fitting == ["index1"]
        problem = "gold is neither an index from 0 nor a text"
        raise row.node.error(
            "gold counts from 1" if counts_from_1 else problem,
            field="gold",
            found=describe_value(row.value),
            expected="an index from 0, or the text of a candidate",
            hint=f"Add {' or '.join(map(GOLD_AS.choose, fitting))}",
        )
    # Of many rows, one should have the first candidate right if indices count from 0.
    n_rows = sum(row.n_alike for row in rows)
    rivals = [reading for reading in fitting if reading != "index1" or n_rows >= _MANY_ROWS]
    differing = find_difference(rows, rivals)
    if differing is not None:
        raise ambiguity_error(differing, rivals, "gold", GOLD_AS)
    if documented:
        return documented[0]
    own_readings = []
    for row in rows:
        documented_meanings = {n: row.meanings[n] for n in ("index0", "text") if n in row.meanings}
        own_readings.append(row._replace(meanings=documented_meanings))
    # No reading fits: gold that only others explain is wrong, and decoding says so.
    return (
        decide_reading(own_readings, option=GOLD_AS, skip_bad=True)
        if any(row.meanings for row in own_readings)
        else "own"
    )


def _decode_gold(row: _RawRow, task: Task, coding: str) -> Gold:
    _check_candidates(row, task)
    if row.gold is None:
        return None
    if not task.has_choices and _are_texts(row.gold) and coding in ("own", "text"):
        return (row.gold,) if isinstance(row.gold, str) else tuple(row.gold)
    if task.has_spans:
        expected = "a string, or a list of at least one string"
        raise row.error("wrong type", "gold", describe_value(row.gold), expected)
    right = _own_indices(row) if coding == "own" else None
    right = _decode_written(row, coding) if right is None else right
    if not right and task is not Task.MULTIPLE_ANSWER:
        raise row.error("no right answer", "gold", describe_value(row.gold), "at least one")
    return right if task.has_choices else tuple(dict.fromkeys(row.texts[i] for i in sorted(right)))


def _decode_votes(row: _RawRow, task: Task, coding: str) -> dict[str, Any]:
    """Return what the meta of a question says about its votes."""
    votes: dict[str, Any] = {}
    for name, value in row.votes.items():
        try:
            votes[name] = None if value is None else _decode_vote(value, row, task, coding)
        except MismatchError as mismatch:
            raise row.error(
                "a vote is no answer", name, mismatch.found, mismatch.expected
            ) from None
    return {ANNOTATORS: votes}


def _decode_vote(value: Any, row: _RawRow, task: Task, coding: str) -> Any:
    if not task.has_choices:
        if isinstance(value, str) or (task is Task.MULTI_SPAN and is_list_of(value, str)):
            return value
        raise MismatchError(value, "a text")
    options = sorted(decode(value, row.texts, coding, row.labels))
    if task is Task.SINGLE_CHOICE and len(options) != 1:
        raise MismatchError(value, "one option")
    return options[0] if task is Task.SINGLE_CHOICE else options


def _own_indices(row: _RawRow) -> frozenset[int] | None:
    """Return gold that is one index from 0, or different ones; None for any other gold."""
    indices = row.gold if isinstance(row.gold, (list, tuple)) else [row.gold]
    n = len(row.candidates)
    if not all(type(index) is int and 0 <= index < n for index in indices):
        return None
    distinct = frozenset(indices)
    return distinct if len(distinct) == len(indices) else None


def _decode_written(row: _RawRow, coding: str) -> frozenset[int]:
    if coding == "own":
        coding = "text" if _are_words(row.gold) else "index0"
    try:
        return decode(row.gold, row.texts, coding, row.labels)
    except MismatchError as mismatch:
        others = [GOLD_AS.choose(reading) for reading in explain(row.gold, row.texts, row.labels)]
        hint = f"If all rows are written so, add {' or '.join(others)}" if others else None
        raise row.error(
            "gold is not among the candidates", "gold", mismatch.found, mismatch.expected, hint
        ) from None


def _are_texts(gold: Any) -> bool:
    return isinstance(gold, str) or is_list_of(gold, str)


def _are_words(gold: Any) -> bool:
    """Return whether gold is strings, and at least one is not a number; cells of a table are
    strings.
    """
    values = [gold] if isinstance(gold, str) else gold
    return _are_texts(gold) and not all(_DIGITS.fullmatch(value.strip()) for value in values)


def _check_candidates(row: _RawRow, task: Task) -> None:
    if task.has_spans and row.candidates:
        actual = f"{len(row.candidates)} candidates"
        raise row.error(f"{task} questions cannot have candidates", "candidates", actual, "none")
    if not task.has_spans and not row.candidates:
        expected = f"at least one for a {task} question"
        raise row.error("no candidates", "candidates", "none", expected, _TASK_HINT)
    if task is Task.CLOZE and PLACEHOLDER not in row.question:
        raise row.error(
            "no placeholder in the query", "question", describe_value(row.question), PLACEHOLDER
        )
