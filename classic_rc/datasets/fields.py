"""Where a file of one's own keeps what: roles, and dotted paths to their values."""

from __future__ import annotations

from collections.abc import Mapping

from classic_rc.errors import UsageError, unknown_name
from classic_rc.io.json import Node

ROLES = ("id", "passage", "passage_id", "question", "candidates", "gold", "task", "sentences", "meta")
"""What a row may hold; the keys of our own JSON lines."""


def parse_fields(fields: str | Mapping[str, str]) -> dict[str, str]:
    """Roles and their paths.

    Parameters
    ----------
    fields : str or mapping
        ``"passage=context,question=q.text,candidates=choices,gold=label"`` or the same as a mapping. A path goes
        through objects by key and through lists by position (``"answers.0"``); a key after a list is looked up in
        each of its elements (``"choices.text"``). ``"option_a+option_b"`` gathers several values in a list. For
        `task`, the name of a task stands for itself.

    Raises
    ------
    UsageError
        A role is unknown, given twice or without a path, or `passage` or `question` is missing.

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
            raise UsageError(f"fields: {role!r} needs one path, as in {role}=key.inner")
        parsed[role] = path
    if missing := [role for role in ("passage", "question") if role not in parsed]:
        raise UsageError(f"fields: say where {' and '.join(missing)} is, as in passage=context,question=q.text")
    return parsed


def lookup(node: Node, path: str) -> Node | None:
    """The value at a path (see :func:`parse_fields`); None where the row has no such key.

    Examples
    --------
    >>> row = Node({"q": {"choices": [{"text": "yes"}, {"text": "no"}]}}, "rows")
    >>> lookup(row, "q.choices.text").value, lookup(row, "q.choices.1.text").value, lookup(row, "q.label")
    (['yes', 'no'], 'no', None)
    """
    if isinstance(node.value, dict) and path in node.value:
        return node.at(path)
    if "+" in path:
        return _gathered(node, path, [lookup(node, part.strip()) for part in path.split("+")])
    return _follow(node, path)


def _follow(node: Node, path: str) -> Node | None:
    if isinstance(node.value, dict):
        if path in node.value:  # the whole of it may be a key with dots in it
            return node.at(path)
        key, _, rest = path.partition(".")
        return _follow(node.at(key), rest) if rest and key in node.value else None
    if isinstance(node.value, (list, tuple)):
        position, _, rest = path.partition(".")
        if position.isascii() and position.isdigit():
            if len(position) > 9 or int(position) >= len(node.value):
                return None
            element = node.at(int(position))
            return _follow(element, rest) if rest else element
        return _gathered(node, path, [_follow(element, path) for element in node.elements()])
    return None


def _gathered(node: Node, path: str, parts: list[Node | None]) -> Node | None:
    if any(part is None for part in parts):
        return None
    return Node([part.value for part in parts if part is not None], node.source, None, node, path)
