"""Rows with many questions: the lists in a row whose elements are its questions, and one row for
each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from classic_rc.datasets.fields import (
    find_value,
    find_values,
    is_empty,
    is_question,
    split_path,
    split_question,
)
from classic_rc.datasets.reading import Reading
from classic_rc.errors import DataError
from classic_rc.io.json import Node, describe_value
from classic_rc.io.values import read_nested

MARK = "[]"
"""What follows a list in a path if each of its elements is a question."""

ROW_ID = "row[]"
"""The key of the id that a question gets from its row and its number from 0."""

_OPTIONS = "options in the question"  # the key of those that end its text
_DEPTH = 3
_HEADER = {"header"}
_DATE = ("day", "month", "year")

Levels = Sequence[Sequence[str]]
"""The lists to split rows at, the outermost first; the lists of one level are parallel."""


def split_rows(
    rows: Iterable[Node], fields: Mapping[str, str], reading: Reading
) -> tuple[Iterator[Node], dict[str, str]]:
    """Return one row for each question, and the fields of these rows.

    ``questions[].text`` is the member ``text`` of each element of the list ``questions``, and
    ``questions[]`` the element itself. Lists of one depth are parallel. All other members of a row
    are those of each of its questions. Without an id in the list, a question has the id of its row
    (or of its passage, or the row's number) and its number from 0. If `question` and `candidates`
    have one path, its text ends with the options.

    Examples
    --------
    >>> from classic_rc.datasets.reading import Options
    >>> row = {"text": "It rained.", "qs": [{"q": "Did it?"}, {"q": "When?"}]}
    >>> fields = {"passage": "text", "question": "qs[].q"}
    >>> rows, fields = split_rows([Node(row, "rows")], fields, Reading(Options()))
    >>> [(row.value["row[]"], row.value["qs[]"]["q"]) for row in rows], fields["id"]
    ([('row-0-0', 'Did it?'), ('row-0-1', 'When?')], 'row[]')
    """
    levels, changed = find_levels(fields.values()), dict(fields)
    named_by = fields.get("id") or fields.get("passage_id", "")
    depth = named_by.count(MARK)
    inherits_id = bool(levels) and ("id" not in fields or depth < len(levels))
    if inherits_id:
        changed["id"] = ROW_ID
    if fields["question"] == fields.get("candidates"):
        changed["candidates"] = _OPTIONS

    def make_id(row: Node, number: int, leaf: Node, places: Sequence[int]) -> str:
        names = [name for name in find_values([leaf], named_by) if not is_empty(name)]
        place = f"row-{number}" if row.line is None else f"line-{row.line}"
        return "-".join(map(str, [*(names or [place]), *places[depth:]]))

    def split() -> Iterator[Node]:
        for number, row in enumerate(rows):
            with reading.at(row):
                if not (levels and isinstance(row.value, dict)):
                    if number == 0:
                        _refuse_unmarked(row, fields["question"])
                    yield _read_texts(row, fields)
                    continue
                if number == 0 and row.value.keys() == _HEADER:
                    reading.note("the first line, a header, is left out")
                    continue
                n_questions = 0
                for places, leaf in split_row(row, levels):
                    with reading.at(leaf):
                        n_questions += 1
                        if inherits_id:
                            leaf.value[ROW_ID] = make_id(row, number, leaf, places)
                        leaf.value = {**_find_facts(leaf, levels, fields), **leaf.value}
                        yield _read_texts(leaf, fields)
                if not n_questions:
                    reading.count("rows without questions")

    return split(), changed


def _refuse_unmarked(row: Node, path: str) -> None:
    """Refuse a path of several questions that marks no list."""
    questions = find_value(row, path)
    if questions is not None and isinstance(questions.value, list) and "+" not in path:
        lists = [name + MARK for levels in find_question_lists([row]) for name in levels[-1]]
        marks = ", ".join(lists) or MARK
        raise row.error(
            "a row has several questions",
            field=path,
            found=describe_value(questions.value),
            expected="one text",
            hint=f"Mark lists of questions in the paths: {marks}",
        )


def find_levels(paths: Iterable[str]) -> Levels:
    """Return the lists that paths mark."""
    columns = [column for path in paths for column in split_path(path)]
    lists: dict[str, None] = {}
    for column in columns:
        lists |= dict.fromkeys(column[: mark.start()] for mark in re.finditer(r"\[\]", column))
    depths = sorted({path.count(MARK) for path in lists})
    return [[path for path in lists if path.count(MARK) == depth] for depth in depths]


def split_row(row: Node, levels: Levels) -> Iterator[tuple[tuple[int, ...], Node]]:
    """Yield a row for each question, with its positions in the lists of all levels."""
    if not levels:
        yield (), row
        return
    lists = {path: _list_elements(row, path) for path in levels[0]}
    _check_lengths(row, lists)
    for number, elements in enumerate(zip(*lists.values(), strict=True)):
        value = row.value
        for path, element in zip(lists, elements, strict=True):
            value = _replace_list(row, value, path, element.value)
        for places, leaf in split_row(elements[0].with_value(value), levels[1:]):
            yield (number, *places), leaf


def _list_elements(row: Node, path: str) -> list[Node]:
    """Return the elements of a list, which older versions of ``datasets`` store as an object of
    lists, and tables as text.
    """
    node = find_value(row, path)
    if node is None:
        raise row.error(
            "missing",
            field=path + MARK,
            found=describe_value(row.value),
            expected="a list with an element for each question",
        )
    value = read_nested(node.value) if isinstance(node.value, str) else node.value
    if isinstance(value, Mapping):
        if all(isinstance(member, list) for member in value.values()):
            _check_lengths(node, value)
            columns = zip(*value.values(), strict=True)
            value = [dict(zip(value, cells, strict=True)) for cells in columns]
        else:
            value = [value]  # the only element, in XML
    return list(node.with_value([] if value is None else value).elements())


def _check_lengths(node: Node, lists: Mapping[str, Sequence[Any]]) -> None:
    if len({len(values) for values in lists.values()}) > 1:
        actual = ", ".join(f"{len(values)} of {name}" for name, values in lists.items())
        expected = "one of each for each question"
        raise node.error("lists of different lengths", found=actual, expected=expected)


def _replace_list(row: Node, value: Any, path: str, element: Any) -> Any:
    """Return the value of a row with one element in place of a list."""
    if not isinstance(value, dict):
        actual, expected = describe_value(value), "an object, or [] after its list"
        raise row.error("wrong type", field=path + MARK, found=actual, expected=expected)
    key, _, rest = path.partition(".")
    if rest and path not in value:
        return {**value, key: _replace_list(row, value[key], rest, element)}
    others = {name: member for name, member in value.items() if name != path}
    return {**others, path + MARK: element}


def _find_facts(leaf: Node, levels: Levels, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the members of the elements that no path uses, by their names or, if the row has
    these, by their paths.
    """
    facts: dict[str, Any] = {}
    for name in (name for level in levels for name in level):
        before = f"{name}{MARK}."
        rests = [
            column.partition(before) for path in fields.values() for column in split_path(path)
        ]
        used = {rest.partition(".")[0] for start, _, rest in rests if not start}
        for element in find_values([leaf], name + MARK):
            for key, value in element.items() if isinstance(element, dict) else ():
                if key in used or key.endswith(MARK):
                    continue
                is_taken = key in leaf.value or key in facts
                facts[before + key if is_taken else key] = value
    return facts


def _read_texts(row: Node, fields: Mapping[str, str]) -> Node:
    """Return a row with the options that end its question's text, and with the one answer that an
    object has.
    """
    values: dict[str, Any] = {}
    gold = find_value(row, fields["gold"]) if "gold" in fields else None
    if gold is not None and isinstance(gold.value, dict):
        values[fields["gold"]] = _answer_in(gold.value)
    path = fields["question"]
    if path == fields.get("candidates"):
        text = next(iter(find_values([row], path)), "")
        parts = split_question(text) if isinstance(text, str) else None
        if parts is None:
            raise row.error(
                "no options in the text of the question",
                field=path,
                found=describe_value(text),
                expected="labelled options on lines of their own after the question: A. …",
            )
        values[path], values[_OPTIONS] = parts
    return row.with_value({**row.value, **values}) if values else row


def _answer_in(value: Any) -> Any:
    """Return the only member of an object that says something, or None; a date is one text. Other
    values are returned unchanged.
    """
    if not isinstance(value, Mapping):
        return value
    if value.keys() == set(_DATE):
        return " ".join(str(value[key]) for key in _DATE if value[key])
    answers = []
    for member in value.values():
        is_date = isinstance(member, Mapping) and member.keys() == set(_DATE)
        answer = _answer_in(member) if is_date else member
        if not is_empty(answer):
            answers.append(answer)
    return value if len(answers) > 1 else next(iter(answers), None)


def find_question_lists(rows: Sequence[Node]) -> list[Levels]:
    """Return the lists that may have the questions of rows, each with the lists around it, and
    with those that are parallel to it.
    """
    paths = dict.fromkeys(path for row in rows for path in _list_paths(row.value, ""))
    return [find_levels([path + MARK, *_parallel_lists(path, rows)]) for path in paths]


def _list_paths(value: Any, before: str, depth: int = 0) -> Iterator[str]:
    """Yield the paths of lists of objects with a question, and of texts with a question's name."""
    for key, member in value.items() if isinstance(value, Mapping) and depth <= _DEPTH else ():
        path, element = f"{before}{key}", member
        if isinstance(member, list) and member:
            path, element = f"{path}{MARK}", member[0]
        elif isinstance(member, Mapping) and all(isinstance(v, list) for v in member.values()):
            path = f"{path}{MARK}"
            element = {name: column[0] for name, column in member.items() if column}
        members = element if isinstance(element, Mapping) else {path: element}
        kinds = str if members is not element else (str, Mapping)
        has_question = any(
            is_question(name) and isinstance(members[name], kinds) for name in members
        )
        if path.endswith(MARK) and has_question:
            yield path.removesuffix(MARK)
        else:
            yield from _list_paths(element, f"{path}.", depth + 1)


def _parallel_lists(name: str, rows: Sequence[Node]) -> Iterator[str]:
    """Yield the marked paths of the lists that have an element for each text of a list."""
    values = [row.value for row in rows if isinstance(row.value.get(name), list)]
    if any(isinstance(element, Mapping) for value in values for element in value[name]):
        return
    for key in values[0] if values else ():
        lists = [(value[name], value.get(key)) for value in values]
        if key != name and all(
            isinstance(parallel, list) and len(texts) == len(parallel) for texts, parallel in lists
        ):
            yield key + MARK


def show_questions(rows: Iterable[Node], levels: Levels) -> list[Node]:
    """Return a row for each question of the rows that have the lists."""
    leaves: list[Node] = []
    for row in rows:
        with suppress(DataError):
            leaves += [leaf for _, leaf in split_row(row, levels)]
    return leaves
