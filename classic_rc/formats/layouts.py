"""The layouts of files of answers: where the id of a question and the answer, or a model's text,
are in a row.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from classic_rc.datasets.fields import find_paths, find_value
from classic_rc.errors import DataError
from classic_rc.formats.base import first_row, format_option, iter_members, read_declarations
from classic_rc.formats.harness_settings import find_part
from classic_rc.io.files import archive_format, read_unpacked
from classic_rc.io.json import Node, describe_value, json_lines, parse_json, table_rows
from classic_rc.io.members import archive_members
from classic_rc.io.text import decode_text, table_records


class Layout(NamedTuple):
    """A layout of JSON lines. Paths are as in :func:`classic_rc.datasets.fields.find_value`."""

    title: str
    id: str
    texts: Sequence[str]  # the first that a row has; a list of texts is several samples
    marks: Sequence[str] = ()  # what a row has that is recognised
    model: str | None = None
    options: str | None = None  # the options in the order in which the model saw them
    hint: str | None = None  # why a question may have no row


LAYOUTS = [Layout(**declared) for declared in read_declarations("layouts.toml")["layout"]]

_LOG_OF_INSPECT = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:')
_HEADERS = (("header.json",), ("_journal", "start.json"))


class AnswerRow(NamedTuple):
    """A row of a file: the question's id, and what the model said."""

    node: Node
    id: str
    samples: tuple[Any, ...]  # texts; None where there is none
    model: str | None = None
    options: tuple[str, ...] | None = None


def find_layout(text: str) -> Layout | None:
    """Return the layout whose marks the first row has, or None."""
    row = Node(first_row(text), "")
    if not isinstance(row.value, Mapping):
        return None
    fitting = (layout for layout in LAYOUTS if all(find_value(row, mark) for mark in layout.marks))
    return next(fitting, None)


def read_rows(
    text: str, source: str, layout: Layout | None, notes: list[str]
) -> tuple[list[AnswerRow], str, str]:
    """Return the rows of a file, and the names of its ids and answers; without a layout, columns
    have them, or answers are numbered.
    """
    if layout is None and has_numbers(text):
        return _read_numbered(text, source), "number", "answer"
    if layout is None:
        nodes = _read_rows(text, source)
        ids, column = _find_columns(nodes, source, notes)
        column_rows = [AnswerRow(node, node.name(ids), (node.get(column),)) for node in nodes]
        return column_rows, ids, column
    rows = [_read_row(node, layout) for node in json_lines(text, source)]
    status = rows[0].node.value.get("status") if rows and layout.options else None
    if status not in (None, "success"):
        notes.append(
            f"{source}: the status of this run is {status}, so that answers may be missing"
        )
    if rows and all(sample is None for row in rows for sample in row.samples):
        raise rows[0].node.error(
            "no text",
            field=layout.texts[0],
            found=f"the paths {', '.join(find_paths(rows[0].node.value))}",
            expected="a path",
        )
    return rows, layout.id, "answer"


def _read_row(node: Node, layout: Layout) -> AnswerRow:
    name = _find(node, layout.id)
    if type(name) not in (str, int):
        raise node.error(
            "no id",
            field=layout.id,
            found=f"the paths {', '.join(find_paths(node.value))}",
            expected="a text or a whole number",
        )
    texts = next((path for path in layout.texts if find_value(node, path)), None)
    samples = tuple(_samples(_find(node, texts)))
    model, options = _find(node, layout.model), _find(node, layout.options)
    return AnswerRow(
        node,
        str(name),
        samples,
        model if isinstance(model, str) else None,
        tuple(map(str, options)) if isinstance(options, list) else None,
    )


def _find(node: Node, path: str | None) -> Any:
    """Return the value at a path, or None."""
    value = find_value(node, path) if path else None
    return value.value if value else None


def _samples(value: Any) -> Iterator[Any]:
    """Yield the texts of a value: of one text, of blocks that make one, or of several samples."""
    blocks = [value] if isinstance(value, Mapping) else value
    if not isinstance(blocks, list):
        yield value
    elif all(isinstance(block, Mapping) for block in blocks):
        yield "".join(map(_text_of_block, blocks)) or None
    else:
        for item in blocks:
            yield from _samples(item)


def _text_of_block(block: Any) -> str:
    """Return the text of a block; reasoning, refusals and calls of tools have none."""
    match block:
        case {"type": "text" | "output_text", "text": str(text)}:
            return text
        case {"type": "message", "content": [*blocks]}:
            return "".join(map(_text_of_block, blocks))
    return ""


def read_answer_text(path: str | Path) -> str:
    """Return the text of a file of answers; of a log of inspect_ai the samples as lines."""
    data, source = read_unpacked(path), str(path)
    samples: Iterable[dict[str, Any]]
    if archive_format(data) == "zip":
        members = dict(archive_members(data, source))
        headers = [members[name] for name in _HEADERS if name in members]
        if not headers:
            first_names = ", ".join(map("/".join, [*members][:3]))
            raise DataError(
                "not a file of answers",
                source=source,
                found=f"a zip archive with {first_names}",
                expected="a text file, or a log of inspect_ai (.eval)",
                hint="Unpack it",
            )
        log = _parse_log(headers[0](), source)
        names = [name for name in members if name[0] == "samples"]
        samples = (_parse_log(members[name](), f"{source}/{'/'.join(name)}") for name in names)
    else:
        text = decode_text(data, source)
        if not _LOG_OF_INSPECT.match(text):
            return text
        log = _parse_log(text, source)
        samples = _objects(log.get("samples"))
    steps = _objects(find_part(log, "plan", "steps"))
    is_shuffled = any(find_part(step, "params", "shuffle") for step in steps)
    status = log.get("status")
    rows = []
    for sample in samples:
        row = {key: sample.get(key) for key in ("id", "epoch", "output")}
        rows.append(row | {"choices": _shown_choices(sample, is_shuffled), "status": status})
    if not any(find_part(row, "output", "choices") for row in rows):
        reason = str(find_part(log, "error", "message") or "no error")[:80]
        raise DataError(
            "the run of inspect_ai has no answers",
            source=source,
            found=f"status {status}, {reason}, {len(rows):,} samples",
            expected="samples with an output",
            hint=f"Run the rest of it: inspect eval-retry {source}",
        )
    return "".join(json.dumps(row) + "\n" for row in rows)


def _shown_choices(sample: Mapping[str, Any], is_shuffled: bool) -> list[str] | None:
    """Return the choices of a sample in the order of its prompt, in which a letter means one.

    ``multiple_choice(shuffle=True)`` leaves them in the order of the data. It rewrites the prompt
    and the output in that order too, if it could parse the output, and else neither of them. An
    order that the prompt does not show is empty: no answer can be read.
    """
    choices = sample.get("choices")
    if not isinstance(choices, list):
        return None
    choices = list(map(str, choices))
    prompt = "\n"
    for message in _objects(sample.get("messages")):
        if message.get("role") != "assistant":
            prompt += "".join(f"{text}\n" for text in _samples(message.get("content")))
    letters = map(format_option, range(len(choices)))
    pairs = itertools.product(letters, dict.fromkeys(choices))
    displayed = [choice for letter, choice in pairs if f"\n{letter}) {choice}\n" in prompt]
    if sorted(displayed) == sorted(choices):
        return displayed
    return [] if is_shuffled else choices


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _parse_log(text: str | bytes, source: str) -> dict[str, Any]:
    try:  # these logs may have NaN, which is not JSON
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError("not valid JSON", source=source, found=str(error)[:80]) from None
    return content if isinstance(content, dict) else {}


# --------------------------------------------------------------------------------------------------
# Columns with a name


_ID_COLUMNS = "id question_id qid example_id idx".split()
_PREDICTION_COLUMNS = "prediction predicted pred predicted_answer model_answer".split()
_OTHER_COLUMNS = "answer output response text generation generated_text model_output".split()
_ANSWER_COLUMNS = _PREDICTION_COLUMNS + _OTHER_COLUMNS
_WHOLE = re.compile(r"[0-9]{1,9}")
_SHORT = re.compile(r"[0-9]{1,2}|[A-Za-z]")
_START, _FIRST_LINES = 1000, 20  # enough to recognise numbered answers
_OTHER_LAYOUT = {"candidate", "selected"}  # columns of the rows of candidates of the format jsonl


def has_answers(text: str) -> bool:
    """Return whether the first row has a layout, or columns of ids and answers, or the text is
    one object by id, or answers are numbered.
    """
    if find_layout(text) is not None or has_numbers(text):
        return True
    names = _first_names(text)
    if names.isdisjoint(_ID_COLUMNS):
        return _is_one_object(text)
    return names.isdisjoint(_OTHER_LAYOUT) and not names.isdisjoint(_ANSWER_COLUMNS)


def has_numbers(text: str) -> bool:
    """Return whether a text is a table of short answers without ids: a number from 0 or 1 and the
    answer, or the answer alone.
    """
    stripped_lines = map(str.strip, text[:_START].splitlines())
    lines = list(filter(None, stripped_lines))[:_FIRST_LINES]
    if lines and lines[0].lower() in (*_ANSWER_COLUMNS, "label"):
        del lines[0]
    cells = [re.split(r"[,\t]", line) for line in lines]
    answers = [row.pop() for row in cells]
    if not answers or not all(map(_SHORT.fullmatch, answers)):
        return False
    start = int(cells[0] == ["1"])
    numbers = [[str(number)] for number in range(start, start + len(cells))]
    return cells in (numbers, [[]] * len(cells))


def _read_numbered(text: str, source: str) -> list[AnswerRow]:
    """Return the rows of numbered answers; without numbers, their places are their ids."""
    n_cells = len(re.split(r"[,\t]", text.strip().partition("\n")[0]))
    nodes = list(table_rows(text, source, columns=["number", "answer"][-n_cells:]))
    if not _SHORT.fullmatch(nodes[0].value["answer"].strip()):
        del nodes[0]  # the column's name
    rows = []
    for node in nodes:
        number = node.value.get("number", "").strip()
        rows.append(AnswerRow(node, number, (node.get("answer"),)))
    return rows


def find_positions(
    rows: Sequence[AnswerRow], ids: Sequence[str], notes: list[str]
) -> list[AnswerRow]:
    """Return the rows with the ids of questions in place of numbers from 0 or 1, with a note."""
    numbers = [row.id or str(place) for place, row in enumerate(rows)]
    are_ids = all(row.id for row in rows) and not set(ids).isdisjoint(numbers)
    if are_ids or not all(map(_WHOLE.fullmatch, numbers)):
        return list(rows)
    for start in (0, 1):
        if sorted(map(int, numbers)) == list(range(start, start + len(ids))):
            source = rows[0].node.source
            notes.append(f"{source}: answers are matched by number: {start} is {ids[0]!r}")
            row_ids = [ids[int(number) - start] for number in numbers]
            return [row._replace(id=id_) for row, id_ in zip(rows, row_ids, strict=True)]
    raise DataError(
        "the numbers of the answers are not those of the questions",
        source=rows[0].node.source,
        found=f"{len(rows):,} answers, the first with the number {numbers[0]}",
        expected=f"{len(ids):,} answers with numbers from 0 or 1",
        hint="Is it a file for another split?",
    )


def _first_names(text: str) -> set[str]:
    """Return the names of the first row's columns in lower case; none if the text does not start
    as a table or as JSON does.
    """
    content = text.lstrip()
    row: Iterable[str] | None = None
    if content.startswith("["):
        with suppress(ValueError, RecursionError):
            row, _ = json.JSONDecoder().raw_decode(content, content.index("{"))
    elif content.startswith("{"):
        row = first_row(text)
        row = row if isinstance(row, Mapping) else None
    else:
        with suppress(DataError):
            row = next((cells for _, cells in table_records(content.partition("\n")[0], "")), None)
    return {name.strip().lower() for name in row or ()}


def _is_one_object(text: str) -> bool:
    """Return whether a text looks like one JSON object that maps ids to answers, and not like
    rows.
    """
    content = text.strip()
    is_row = isinstance(first_row(content), Mapping) and "\n" in content
    return content.startswith("{") and not is_row and _first_names(content).isdisjoint(_ID_COLUMNS)


def _read_rows(text: str, source: str) -> list[Node]:
    content = text.lstrip()
    if content.startswith("["):
        return list(Node(parse_json(text, source), source).elements())
    if content.startswith("{"):
        if not _is_one_object(text):
            return list(json_lines(text, source))
        members = iter_members(Node(parse_json(text, source), source))
        return [node.with_value({"id": name, "answer": node.value}) for name, node in members]
    return list(table_rows(text, source))


def _find_columns(rows: Sequence[Node], source: str, notes: list[str]) -> tuple[str, str]:
    """Return the names of the columns of ids and of answers."""
    first = rows[0].value if rows else {}
    columns = map(str, first if isinstance(first, Mapping) else ())
    names = {name.strip().lower(): name for name in columns}
    ids = [names[name] for name in _ID_COLUMNS if name in names]
    predictions = [names[name] for name in _PREDICTION_COLUMNS if name in names]
    others = [names[name] for name in _OTHER_COLUMNS if name in names]
    answers = predictions or others
    if rows and not (ids and answers):
        kind, usual_names = ("answers", _ANSWER_COLUMNS) if ids else ("ids", _ID_COLUMNS)
        raise rows[0].error(
            f"no column of {kind}", found=describe_value(first), expected=" or ".join(usual_names)
        )
    if len(answers) > 1:
        raise DataError(
            "several columns may be the answers",
            source=source,
            found=", ".join(answers),
            expected="one of them",
            hint="Rename the column with the answers of the system to prediction, and remove the "
            "others",
        )
    if predictions and others:
        notes.append(
            f"{source}: the answers are the column {answers[0]!r}, and {', '.join(others)} is not "
            "read"
        )
    return (ids or ["id"])[0], (answers or ["answer"])[0]
