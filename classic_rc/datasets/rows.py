"""Rows with one question each: the fields of a row, the questions of rows, and the base class of
their readers.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from classic_rc.datasets.base import Reader
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
from classic_rc.datasets.gold import (
    TASKS,
    RawRow,
    agree_on_task,
    decode_gold,
    decode_votes,
    determine_coding,
    determine_vote_coding,
)
from classic_rc.datasets.nested_rows import split_rows
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.specification import quote_argument
from classic_rc.encodings import check_reading
from classic_rc.errors import UsageError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.io.values import are_mixed_json, find_lost_form, option_texts
from classic_rc.option_labels import OPTION_LABELS, cut_labels, name_other_places
from classic_rc.questions import Candidate, Gold, Question, Task, TextCandidates
from classic_rc.work import tracked

_FEW_SEVERAL = 0.1  # a smaller share with several right answers may be an error: a note says so
_SORTED = (
    "the candidates are in alphabetical order, because the right answer has its own column, "
    "whose place would give it away"
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
    nodes, read_rows = _with_passages(rows, fields), list[RawRow]()
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
        read_rows, task = agree_on_task(read_rows, is_own_schema, reading)
    if task.has_spans and gold_as not in (None, "text"):
        raise UsageError(
            f"gold_as={gold_as} does not apply to {task} questions, whose gold is text",
            field="gold_as",
            found=gold_as,
            expected="text",
        )
    coding = gold_as or determine_coding(read_rows, task, reading, is_own_schema, has_types)
    vote_coding = determine_vote_coding(read_rows, task, reading, coding)
    decoded: list[tuple[RawRow, Gold]] = []
    shared_golds: dict[Gold, Gold] = {}  # one object for each choice of options
    for row in read_rows:
        with reading.at(row.node, row.id):
            gold = decode_gold(row, task, coding)
            if isinstance(gold, frozenset):
                gold = shared_golds.setdefault(gold, gold)
            decoded.append((row, gold))
    with_several = [row for row, gold in decoded if len(gold or ()) > 1]
    if is_inferred and task is Task.SINGLE_CHOICE and with_several:
        task = Task.MULTIPLE_ANSWER  # letters or indices joined in one text
        if len(with_several) < _FEW_SEVERAL * len(decoded):
            share = f"{len(with_several):,} of {len(decoded):,}"
            reading.note(
                f"read as multiple-answer questions: {share} have several right answers (the "
                f"first: {with_several[0].node.where})"
            )
    if fields and task.has_choices:
        _check_mapping(decoded, fields)
    read_rows.clear()
    decoded.reverse()
    while decoded:  # each row is freed when its question is there
        row, gold = decoded.pop()
        with reading.at(row.node, row.id):
            meta = row.meta
            if row.votes:
                meta = meta | decode_votes(row, task, vote_coding)
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


def _read_row(
    node: Node, number: int, reading: Reading, fields: Mapping[str, str], used: AbstractSet[str]
) -> RawRow:
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
    # A date in milliseconds has 11 digits or more; most ids are shorter, and need no look.
    if id is not None and len(id) > 9 and id.isdecimal():
        _check_form(node, fields["id"], id)
    facts = _collect_meta(node, values, fields, used)
    if labels is not None and name_other_places(labels):
        facts[OPTION_LABELS] = tuple(labels)
    default_id = f"line-{node.line}" if node.line else f"row-{number}"
    question = values.text(fields["question"])
    task = TASKS.get(fields.get("task", ""))  # fields may name the task in place of a path
    if has("task"):
        task = _read_task(values, fields["task"])
    votes = find_votes(node, fields[ANNOTATORS]) if ANNOTATORS in fields else {}
    # The values of a large dataset would stay in memory. Checks of fields need them.
    row_node = node.with_value(None) if is_own and reading.texts.is_open else node
    return RawRow(
        row_node,
        id or default_id,
        passage,
        question,
        candidates,
        labels,
        None if has_empty_gold else gold,
        task,
        reading.meta(**facts),
        votes,
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


def _check_paths(rows: Sequence[RawRow], fields: Mapping[str, str]) -> None:
    """Refuse a path that no row has: a misspelt path of gold must not be read as hidden gold."""
    for role, path in fields.items():
        is_literal = role == "task" and path in TASKS
        # A key of some rows may have plus signs.
        for column in min((split_path(path, row.node) for row in rows), key=len, default=()):
            if not is_literal and all(find_value(row.node, column) is None for row in rows):
                actual = describe_value(rows[0].node.value)
                raise rows[0].error("no row has this key", column, actual, f"the {role}")


def _check_json_texts(rows: Sequence[RawRow]) -> None:
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


def _check_mapping(decoded: Sequence[tuple[RawRow, Gold]], fields: Mapping[str, str]) -> None:
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
