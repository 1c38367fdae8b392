"""Strict JSON, and JSON values that know their place in the file, so that errors can name it;
results as JSON.
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeVar

from classic_rc._version import __version__
from classic_rc.errors import DataError
from classic_rc.io.text import is_encodable, line_and_column, split_lines, table_records
from classic_rc.work import tracked

_Value = TypeVar("_Value")
_LONE_SURROGATE = re.compile(
    r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])"
)
_STRING = frozenset({str})
_LONG_LIST = 100  # a bar moves within longer ones
_ID_KEYS = ("row[]", "id", "qid", "question_id", "uid", "guid", "idx", "example_id")
_MAX_DIGITS = (
    4000  # Python refuses to convert much longer integers, with an error that has no position.
)


class Node:
    """A JSON value with its place. Its methods return a value of the expected type or raise
    DataError.

    `line` is the line of the root value, or another name for it in error messages ("row 3"); None
    for a whole file. `key` is the key or the position of the value in its `parent`.

    Examples
    --------
    >>> node = Node({"qas": [{"id": 7}]}, "a.json")
    >>> [qa.text("id") for qa in node.items("qas")]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    classic_rc.errors.DataError: a.json, $.qas[0], field 'id': wrong type: ...
    """

    __slots__ = ("_key", "_line", "_parent", "source", "value")

    def __init__(
        self,
        value: Any,
        source: str,
        line: int | str | None = None,
        parent: Node | None = None,
        key: int | str | None = None,
    ) -> None:
        self.value, self.source, self._line = value, source, line
        self._parent, self._key = parent, key

    @property
    def line(self) -> int | None:
        """The line of the root value; None if values are not one per line."""
        node = self
        while node._parent is not None:
            node = node._parent
        return node._line if isinstance(node._line, int) else None

    @property
    def where(self) -> str:
        """The line, the JSON path, or both."""
        steps: list[str] = []
        node = self
        while node._parent is not None:
            steps.append(_path_step(node._key))
            node = node._parent
        path = "$" + "".join(reversed(steps))
        if node._line is None:
            return path
        line = node._line if isinstance(node._line, str) else f"line {node._line}"
        return f"{line}, {path}" if steps else line

    @property
    def id(self) -> str | None:
        """The id of the nearest object around this value that has one, for messages; None
        without one.
        """
        node: Node | None = self
        while node is not None:
            if isinstance(node.value, dict):
                for value in map(node.value.get, _ID_KEYS):
                    if type(value) in (str, int) and value != "":
                        return str(value)[:200]
            node = node._parent
        return None

    def error(
        self, problem: str, *, field: int | str | None = None, **facts: str | None
    ) -> DataError:
        """Return a DataError for this place; a number as `field` is a position in a list.

        `facts` are further parameters of :class:`~classic_rc.errors.DataError`.
        """
        key = f"[{field}]" if isinstance(field, int) else field
        return DataError(problem, source=self.source, where=self.where, field=key, **facts)

    def at(self, key: int | str) -> Node:
        """Return the value at a key or a position that is known to exist."""
        return Node(self.value[key], self.source, None, self, key)

    def with_value(self, value: Any) -> Node:
        """Return another value with the same place."""
        return Node(value, self.source, self._line, self._parent, self._key)

    def has(self, key: str) -> bool:
        """Return whether this is an object that has the key with a value other than null."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def get(self, key: int | str, expected: str = "a value") -> Any:
        """Return the value at a key of an object, or at a position of a list."""
        fits = isinstance(self.value, dict if isinstance(key, str) else (list, tuple))
        try:
            if fits:
                return self.value[key]
        except (KeyError, IndexError):
            raise self.error(
                "missing", field=key, found=describe_value(self.value), expected=expected
            ) from None
        kind = "an object" if isinstance(key, str) else "a list"
        raise self.error("wrong type", found=describe_value(self.value), expected=kind)

    def child(self, key: int | str) -> Node:
        """Return the object or list at a key."""
        self._typed(key, (dict, list, tuple), "an object or a list")
        return self.at(key)

    def _typed(
        self, key: int | str, kind: type[_Value] | tuple[type[_Value], ...], expected: str
    ) -> _Value:
        value = self.get(key, expected)
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        raise self._type_error(key, expected)

    def text(self, key: int | str) -> str:
        """Return the string at a key."""
        return self._typed(key, str, "a string")

    def integer(self, key: int | str) -> int:
        """Return the whole number at a key. true and false are not numbers."""
        return self._typed(key, int, "a whole number")

    def flag(self, key: int | str) -> bool:
        """Return the true or false at a key."""
        return self._typed(key, bool, "true or false")

    def name(self, key: int | str) -> str:
        """Return the id at a key, as a string: a non-empty string or a whole number."""
        value = self.get(key, "a string or a whole number")
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise self._type_error(key, "a non-empty string or a whole number")

    def sequence(self, key: int | str) -> Sequence[Any]:
        """Return the list at a key, unchanged."""
        return self._typed(key, (list, tuple), "a list")

    def items(self, key: int | str) -> Iterator[Node]:
        """Return the elements of the list at a key, with their places."""
        self.sequence(key)
        return self.at(key).elements()

    def elements(self) -> Iterator[Node]:
        """Return the elements of this list, with their places."""
        if not isinstance(self.value, (list, tuple)):
            raise self.error("wrong type", found=describe_value(self.value), expected="a list")
        values: Iterable[Any] = self.value
        if len(self.value) > _LONG_LIST:
            values = tracked(values, len(self.value), share=0.5)
        return (Node(value, self.source, None, self, i) for i, value in enumerate(values))

    def texts(self, key: int | str) -> Sequence[str]:
        """Return the list of strings at a key."""
        values = self.get(key, "a list")
        if type(values) is list and _STRING.issuperset(map(type, values)):
            return values
        return self._typed_elements(key, Node.text)

    def integers(self, key: int | str) -> Sequence[int]:
        """Return the list of whole numbers at a key."""
        return self._typed_elements(key, Node.integer)

    def _typed_elements(self, key: int | str, read: Callable[[Node, int], _Value]) -> list[_Value]:
        n_values, values = len(self.sequence(key)), self.at(key)
        return [read(values, i) for i in range(n_values)]

    def _type_error(self, key: int | str, expected: str) -> DataError:
        return self.error(
            "wrong type", field=key, found=describe_value(self.value[key]), expected=expected
        )


def describe_value(value: Any) -> str:
    """Describe a JSON value in a few words, for messages.

    Examples
    --------
    >>> [describe_value(v) for v in (None, True, 3, "three", [3], {"a": 1, "b": 2})]
    ['null', 'true', 'the number 3', "'three'", 'a list of 1', 'an object with a, b']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        is_long = isinstance(value, int) and abs(value) >= 10**18
        return "a number with over 18 digits" if is_long else f"the number {value}"
    if isinstance(value, str):
        return repr(value if len(value) <= 50 else value[:47] + "...")
    if isinstance(value, dict):
        keys = [str(key)[:30] for key in value]
        more = f" and {len(keys) - 12} more keys" if len(keys) > 12 else ""
        return f"an object with {', '.join(keys[:12])}{more}" if keys else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    return f"a {type(value).__name__}"


def read_literal(text: str) -> Any:
    """Return the Python value that a text writes, as pandas writes lists; the text itself if it
    writes none.
    """
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(text.strip())
    return text


def parse_json(text: str, source: str, line: int | None = None) -> Any:
    """Return the value of a JSON text, which is line `line` of the file `source` if it is one line
    of it.

    NaN, Infinity, a repeated key, deep nesting, a lone surrogate and a number that Python cannot
    hold are errors.
    """
    start = len(text) - len(text.lstrip(" \t\n"))
    value, end = parse_json_prefix(text, source, line, start)
    if rest := text[end:].lstrip(" \t\n"):
        raise _syntax_error(
            "more text after the JSON value", text, len(text) - len(rest), source, line
        )
    return value


def parse_json_prefix(
    text: str, source: str, line: int | None = None, start: int = 0
) -> tuple[Any, int]:
    """Return the first JSON value of a text and the offset of its end. Errors are as in
    :func:`parse_json`.
    """
    before = next(_Fault.numbers)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _syntax_error(error.msg, text, error.pos, source, line) from None
    except RecursionError:
        raise DataError(
            "JSON nested too deeply", source=source, where=None if line is None else f"line {line}"
        ) from None
    is_marked = next(_Fault.numbers) > before + 1
    # Only escapes can spell a lone surrogate, and few files have any, so the slow checks are rare.
    if is_marked or ("\\u" in text and _LONE_SURROGATE.search(text)):
        _check_values(Node(value, source, line))
    return value, end


def json_lines(text: str, source: str) -> Iterator[Node]:
    """Yield the values of a text with one JSON value per line. Blank lines are skipped."""
    for number, line in enumerate(split_lines(text), start=1):
        if line.strip():
            yield Node(parse_json(line, source, number), source, number)


def table_rows(
    table: str | Iterable[str],
    source: str,
    guard: AbstractContextManager[object] | None = None,
    at: Callable[[Node], AbstractContextManager[object]] = lambda row: nullcontext(),
    on_blank: Callable[[int, list[str]], object] = lambda line, cells: None,
    columns: list[str] | None = None,
) -> Iterator[Node]:
    """Yield the rows below the header of a table, each an object with the text of every column.

    A column without a name has its number, ``#1``. With `columns` the table has no header.

    See :func:`~classic_rc.io.text.table_records` for the first three parameters. Each row is
    checked, and yielded, in the context that `at` gives for it. `on_blank` gets the line and the
    cells of a row without text.
    """
    for line, cells in table_records(table, source, guard):
        if not any(cell.strip() for cell in cells):
            on_blank(line, cells)
        elif columns is None:
            columns = name_cells(cells)
            if len(set(columns)) < len(columns):
                repeated = describe_value(next(name for name in columns if columns.count(name) > 1))
                problem, expected = "duplicate column", "unique names"
                raise DataError(
                    problem, source=source, where=f"line {line}", found=repeated, expected=expected
                )
        else:
            row = Node(dict(zip(columns, cells, strict=False)), source, line)
            with at(row):
                if len(cells) != len(columns):
                    expected = f"{len(columns)}, as in the header"
                    raise row.error(
                        "wrong number of columns", found=str(len(cells)), expected=expected
                    )
                yield row


def name_cells(cells: Iterable[str]) -> list[str]:
    """Return the names of columns in a header; a column without a name has its number, ``#1``."""
    return [cell.strip() or f"#{number}" for number, cell in enumerate(cells, 1)]


def _path_step(key: int | str | None) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    key = str(key)
    if key.endswith("[]"):  # an element in place of its list, which the place has
        return ""
    return f".{key}" if key.replace("_", "").isalnum() else f"[{key[:40]!r}]"


class _Fault:
    """A marker in the parsed value where strict JSON forbids something. Its path is the place of
    the error.
    """

    # One step is atomic, so threads that parse at the same time do not disturb it.
    numbers = itertools.count()

    def __init__(self, problem: str, found: str, expected: str) -> None:
        self.problem, self.found, self.expected = problem, found, expected
        next(self.numbers)


def _refuse_constant(token: str) -> _Fault:
    return _Fault("not a JSON value", token, "a finite number or null")


def _parse_integer(token: str) -> int | _Fault:
    if len(token) > _MAX_DIGITS:
        return _Fault(
            "number too large", f"an integer of {len(token):,} digits", f"at most {_MAX_DIGITS:,}"
        )
    return int(token)


def _parse_real(token: str) -> float | _Fault:
    number = float(token)
    if math.isfinite(number):
        return number
    return _Fault("number too large", token[:30], "a finite number")


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Fault:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counts = Counter(key for key, _ in pairs)
    duplicate = next(key for key in members if counts[key] > 1)
    return _Fault("duplicate key in an object", describe_value(duplicate), "each key once")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_make_object,
    parse_constant=_refuse_constant,
    parse_int=_parse_integer,
    parse_float=_parse_real,
)


def _syntax_error(problem: str, text: str, offset: int, source: str, line: int | None) -> DataError:
    where = line_and_column(text, offset) if line is None else f"line {line} column {offset + 1}"
    actual = (
        describe_value(text[offset : offset + 20])
        if text[offset:].strip()
        else "the end of the text"
    )
    problem = problem[:1].lower() + problem[1:].rstrip(":")
    return DataError(f"not valid JSON ({problem})", source=source, where=where, found=actual)


def _check_values(root: Node) -> None:
    """Raise the error for the first fault in a parsed value. No recursion: nesting can be deep."""
    stack = [root]
    while stack:
        node = stack.pop()
        value = node.value
        if isinstance(value, _Fault):
            raise node.error(value.problem, found=value.found, expected=value.expected)
        for text in (
            (value,) if isinstance(value, str) else value if isinstance(value, dict) else ()
        ):
            if not is_encodable(text):
                problem = "lone surrogate in a key" if text is not value else "lone surrogate"
                raise node.error(problem, found=ascii(text)[:40], expected="complete characters")
        if isinstance(value, dict):
            stack += [node.at(key) for key in reversed(value)]
        elif isinstance(value, list):
            stack += map(node.at, reversed(range(len(value))))


class Seconds(dict[str, float]):
    """How long things took, by their names. :func:`render_json` keeps times apart from results."""


JSON_SCHEMA = 1
"""The version of the schema of ``--format json``: it changes when a key goes or means something
else.
"""


def render_json(plain: Mapping[str, Any], *, times: bool = True, infinite: bool = False) -> str:
    """Return a command's result as JSON: the versions of package and schema, the command's own
    keys, and its times.

    Equal calls give equal bytes, except for ``times``: it has the :class:`Seconds` of all depths,
    by the path of the object that they are about. With `infinite`, infinite numbers are written as
    ``Infinity``, which JSON lacks.
    """
    seconds: dict[str, Any] = {}
    document = {"version": __version__, "schema": JSON_SCHEMA, **_take_seconds(plain, "", seconds)}
    if seconds and times:
        document["times"] = seconds
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=infinite) + "\n"


def _take_seconds(plain: Any, path: str, seconds: dict[str, Any]) -> Any:
    """Return plain data without times, which are moved to `seconds`."""
    if isinstance(plain, Mapping):
        without_times = {}
        for key, value in plain.items():
            if isinstance(value, Seconds):
                seconds[path] = value
            else:
                without_times[key] = _take_seconds(value, f"{path}/{key}", seconds)
        return without_times
    if isinstance(plain, list | tuple):
        return [_take_seconds(value, f"{path}/{i}", seconds) for i, value in enumerate(plain)]
    return plain
