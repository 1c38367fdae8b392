"""JSON parsed strictly: what Python's parser lets pass, and what breaks it, is an error with its place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from classic_rc.errors import DataError
from classic_rc.files.decoding import line_and_column
from classic_rc.files.nodes import Node, describe

_HALF_PAIR = re.compile(r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])")
_MAX_DIGITS = 4000  # Python refuses to convert longer ones, with an error that has no position


class _RefusedError(Exception):
    """A hook met what strict JSON has not; the place is looked for only then."""


class _Fault:
    """Stands in the parsed value for what was refused, to find its path by."""

    def __init__(self, problem: str, found: str, expected: str) -> None:
        self.problem, self.found, self.expected = problem, found, expected


def _constant(token: str) -> _Fault:
    return _Fault("not a JSON value", token, "a finite number or null")


def _integer(token: str) -> int | _Fault:
    if len(token) > _MAX_DIGITS:
        return _Fault("number too large", f"an integer of {len(token):,} digits", f"at most {_MAX_DIGITS:,}")
    return int(token)


def _real(token: str) -> float | _Fault:
    number = float(token)
    return number if math.isfinite(number) else _Fault("number too large", token[:30], "a finite number")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Fault:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    keys = [key for key, _ in pairs]
    twice = next(key for key in members if keys.count(key) > 1)
    return _Fault("a key stands twice in one object", describe(twice), "each key once")


def _decoder(strict: bool) -> json.JSONDecoder:
    def refuse(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def checked(token: Any) -> Any:
            value = hook(token)
            if isinstance(value, _Fault):
                raise _RefusedError
            return value

        return checked if strict else hook

    return json.JSONDecoder(
        object_pairs_hook=refuse(_members),
        parse_constant=refuse(_constant),
        parse_int=refuse(_integer),
        parse_float=refuse(_real),
    )


_STRICT, _FINDING = _decoder(strict=True), _decoder(strict=False)


def parse_json(text: str, source: str, line: int | None = None) -> Any:
    """The value of a JSON text.

    Parameters
    ----------
    text : str
    source : str
        What messages call the file.
    line : int, optional
        The line of the file that `text` is, when it is one of many.

    Raises
    ------
    DataError
        `text` is not JSON: also where it says NaN or Infinity, gives a key twice, is nested too deeply, or has
        half of a surrogate pair or a number that Python cannot hold.
    """
    start = len(text) - len(text.lstrip(" \t\n"))
    value, end = parse_json_prefix(text, source, line, start)
    if rest := text[end:].lstrip(" \t\n"):
        raise _syntax_error("more text after the JSON value", text, len(text) - len(rest), source, line)
    return value


def parse_json_prefix(text: str, source: str, line: int | None = None, start: int = 0) -> tuple[Any, int]:
    """The first JSON value of a text, and the offset at which it ends; as :func:`parse_json`."""
    try:
        try:
            value, end = _STRICT.raw_decode(text, start)
        except _RefusedError:
            value, end = _FINDING.raw_decode(text, start)
            fault = _fault_in(value, source, line)
            assert fault is not None
            raise fault from None
    except json.JSONDecodeError as error:
        raise _syntax_error(error.msg, text, error.pos, source, line) from None
    except RecursionError:
        raise DataError("JSON nested too deeply", source=source, where=_line(line)) from None
    # Only escapes can make half of a surrogate pair, and few files have any.
    if _HALF_PAIR.search(text) and (fault := _fault_in(value, source, line)):
        raise fault
    return value, end


def _syntax_error(problem: str, text: str, offset: int, source: str, line: int | None) -> DataError:
    where = line_and_column(text, offset) if line is None else f"line {line} column {offset + 1}"
    found = describe(text[offset : offset + 20]) if text[offset:].strip() else "the end of the text"
    problem = problem[:1].lower() + problem[1:].rstrip(":")
    return DataError(f"not valid JSON ({problem})", source=source, where=where, found=found)


def _fault_in(value: Any, source: str, line: int | None) -> DataError | None:
    """The first fault of a parsed value as an error, found without recursion."""
    stack = [Node(value, source, line)]
    while stack:
        node = stack.pop()
        if isinstance(node.value, _Fault):
            fault = node.value
            return node.error(fault.problem, found=fault.found, expected=fault.expected)
        if isinstance(node.value, str) and not _is_text(node.value):
            return node.error("half of a surrogate pair", found=ascii(node.value)[:40], expected="whole characters")
        if isinstance(node.value, dict):
            for key in node.value:
                if not _is_text(key):
                    return node.error("half of a surrogate pair in a key", found=ascii(key)[:40])
            stack += [node.at(key) for key in reversed(node.value)]
        elif isinstance(node.value, list):
            stack += [node.at(i) for i in range(len(node.value) - 1, -1, -1)]
    return None


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _line(line: int | None) -> str | None:
    return None if line is None else f"line {line}"
