"""The error for rows that no reader recognises: the keys found, and a command that may read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from classic_rc.datasets.gold import CODINGS, fitting_codings
from classic_rc.datasets.rows import find_value
from classic_rc.errors import DataError
from classic_rc.io.json import Node

_NAMES = {
    "passage": "passage context article text story paragraph document content background dialogue body",
    "question": "question query stem prompt q ask",
    "candidates": "candidates options choices option choice answers endings alternatives answer_choices texts text",
    "gold": "gold label answer answerkey answer_key correct correct_answer correct_option target solution key",
    "id": "id qid question_id example_id uid guid",
}
_UNKNOWN = "KEY"
_SHOWN_KEYS = 24
_WIDE_COLUMN = re.compile(r"(.*?)[_ -]?([A-Ja-j0-9])")


def unrecognised_rows_error(rows: Sequence[Node], source: str, command: bool = True) -> DataError:
    """Return the error for rows that no reader recognises.

    Parameters
    ----------
    rows : sequence of Node
        The first rows.
    source : str
        The file.
    command : bool
        Whether to propose a command line; otherwise the hint is a Python call.
    """
    fields, gold_as = propose_fields(rows)
    keys = list(_find_paths(rows[0].value)) if rows else []
    found = (
        "rows with " + ", ".join(keys[:_SHOWN_KEYS]) + (", …" if len(keys) > _SHOWN_KEYS else "")
        if keys
        else "no rows"
    )
    has_gold = "gold" in fields and fields["gold"] != _UNKNOWN
    if command:
        path = f'"{source}"' if re.search(r"[^\w./:\\@~-]", source) else source
        fields_text = ",".join(f"{role}={key}" for role, key in fields.items())
        fields_text = f'"{fields_text}"' if re.search(r"[^\w.,=+-]", fields_text) else fields_text
        call = f"classic-rc run {path} --fields {fields_text}" + (f" --gold-as {gold_as}" if has_gold else "")
    else:
        call = f"from_rows(rows, fields={fields!r}" + (f", gold_as={gold_as!r})" if has_gold else ")")
    hint = f"Map roles to keys, for example: {call}"
    return DataError("unknown format", source=source, found=found, expected="a known format", hint=hint)


def propose_fields(rows: Sequence[Node]) -> tuple[dict[str, str], str]:
    """Return the best guess at the fields of some rows and at their coding of gold.

    Examples
    --------
    >>> row = {"context": "It rained.", "q": {"text": "Did it?"}, "choices": ["no", "yes"], "label": 1}
    >>> propose_fields([Node(row, "rows")])
    ({'passage': 'context', 'question': 'q.text', 'candidates': 'choices', 'gold': 'label'}, 'index0')
    """
    paths = _find_paths(rows[0].value) if rows else {}
    texts = {path: value for path, value in paths.items() if isinstance(value, str)}
    lists = {path: value for path, value in paths.items() if _is_list_of_texts(value)}
    fields: dict[str, str] = {}
    longest = max(texts, key=lambda path: len(texts[path]), default=_UNKNOWN)
    fields["passage"] = _find_named("passage", texts) or longest
    texts.pop(fields["passage"], None)
    first_question = next((path for path, text in texts.items() if text.rstrip().endswith("?")), _UNKNOWN)
    fields["question"] = _find_named("question", texts) or first_question
    texts.pop(fields["question"], None)
    candidates = _find_named("candidates", lists) or next(iter(lists), None) or _guess_candidate_columns(texts)
    if candidates:
        fields["candidates"] = candidates
    used = {part for path in fields.values() for part in path.split("+")}
    golds = {path: value for path, value in paths.items() if path not in used and not isinstance(value, Mapping)}
    fields["gold"] = _find_named("gold", golds) or _UNKNOWN
    if (id := _find_named("id", golds)) and id != fields["gold"]:
        fields["id"] = id
    return fields, _best_coding(rows, fields)


def _find_paths(value: Any, before: str = "", depth: int = 0) -> dict[str, Any]:
    """Return the paths of a row and their values."""
    paths: dict[str, Any] = {}
    inner: Iterator[tuple[str, Any]] = iter(())
    if isinstance(value, Mapping):
        inner = ((str(key), element) for key, element in value.items())
    elif isinstance(value, list) and value and all(isinstance(element, Mapping) for element in value):
        keys = [key for key in value[0] if all(key in element for element in value)]
        inner = ((str(key), [element[key] for element in value]) for key in keys)
    for key, element in inner:
        path = f"{before}{key}"
        further = _find_paths(element, f"{path}.", depth + 1) if depth < 3 else {}
        paths.update(further or {path: element})
    return paths


def _find_named(role: str, paths: dict[str, Any]) -> str | None:
    """Return the path whose last key, or else first key, is a usual name of a role; None if there is none."""
    for position in (-1, 0):
        keys = {path.split(".")[position].lower(): path for path in reversed(paths)}
        for name in _NAMES[role].split():
            if name in keys:
                return keys[name]
    return None


def _guess_candidate_columns(texts: dict[str, str]) -> str | None:
    """Return columns such as option_a, option_b or A, B, C, D, joined by plus signs; None if there are none."""
    groups: dict[str, list[str]] = {}
    for path in texts:
        if match := _WIDE_COLUMN.fullmatch(path):
            groups.setdefault(match[1], []).append(path)
    largest = max(groups.values(), key=len, default=[])
    return "+".join(largest) if len(largest) > 1 else None


def _best_coding(rows: Sequence[Node], fields: Mapping[str, str]) -> str:
    """Return the coding that fits most rows; among equals, the first of :data:`CODINGS`."""
    votes = dict.fromkeys(CODINGS, 0)
    for row in rows:
        candidates, gold = (find_value(row, fields.get(role, _UNKNOWN)) for role in ("candidates", "gold"))
        if candidates is not None and gold is not None and _is_list_of_texts(candidates.value):
            for coding in fitting_codings(gold.value, candidates.value):
                votes[coding] += 1
    return max(votes, key=votes.__getitem__)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(element, str) for element in value)
