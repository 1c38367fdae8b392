"""The error for rows that no reader recognises: the keys found, and a command that reads them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from classic_rc.datasets.fields import (
    CONSTANT,
    USUAL_NAMES,
    find_families,
    find_labels,
    find_paths,
    find_value,
    format_fields,
    list_options,
)
from classic_rc.encodings import READINGS, Written, explain, find_difference, fitting_readings
from classic_rc.errors import ClassicRCError, DataError
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import normalised_text

UNKNOWN = "KEY"
"""The place of a key in proposed fields if no key fits."""

_CLEAR_NAMES = 6
"""The first names of candidates, which a text with all options has too."""

_LISTS_OF_PARTS = {"context", "contexts", "dialogue", "documents", "paragraphs", "passage", "sentences", "story"}
"""Names of columns whose lists of texts are the parts of a passage."""

_EXPLANATION = re.compile(r"rationale|explanation|\bexp\b|long_answer|solution|reason|hint", re.IGNORECASE)
"""In names of columns that explain the right answer, and are no passages."""

_WRONG_OPTIONS = re.compile("distract|wrong|incorrect|false", re.IGNORECASE)
"""In names of columns that have only the wrong options."""

_MOST_OPTIONS = 26
_SHOWN_KEYS = 24
_MOST_PATHS = 10_000
_LONGEST_NAME = 100  # of a column
_YES_NO = (("no", "yes"), ("false", "true"), ("no", "yes", "maybe"))

Trial = Callable[[Mapping[str, str], str | None], None]
"""Reads rows with fields and a coding of gold, or raises an error of this package."""


def unrecognised_rows_error(rows: Sequence[Node], source: str, trial: Trial, command: bool = True) -> DataError:
    """Return the error for rows that no reader recognises.

    Parameters
    ----------
    rows : sequence of Node
        The first rows.
    source : str
        The file.
    trial : callable
        Tries the proposal: only fields that read the rows are proposed as a command.
    command : bool
        Whether to propose a command line; otherwise the hint is a Python call.
    """
    keys = list(find_paths(rows[0].value)) if rows else []
    unnamed = (key for key in keys if len(key) > _LONGEST_NAME or key.rstrip().endswith("?"))
    if rows and rows[0].line not in (None, 1) and (text := next(unnamed, None)):
        return DataError(
            "the table has no header",
            source=source,
            where="line 1",
            found=describe_value(text),
            expected="names of columns",
            hint="Put a line before it, such as passage,question,candidate_0,candidate_1,gold",
        )
    fields, gold_as = propose_fields(rows)
    found = (
        "rows with " + ", ".join(keys[:_SHOWN_KEYS]) + (", …" if len(keys) > _SHOWN_KEYS else "")
        if keys
        else "no rows"
    )
    tried, problem = _find_working(rows, fields, gold_as, trial)
    rivals = [] if tried[1] is None else _rival_codings(rows, tried[0], tried[1])
    if command:
        # Only `check` works without gold.
        does = "run" if "gold" in tried[0] else "check"
        call = f"classic-rc {does} {quote_argument(source)} --fields {quote_argument(format_fields(tried[0]))}"
        call += "" if tried[1] is None else f" --gold-as {tried[1]}"
    else:
        coding = "" if tried[1] is None else f", gold_as={tried[1]!r}"
        call = f"from_rows(rows, fields={tried[0]!r}{coding})"
    if problem is None:
        doubt = ""
        if rivals:
            others = " or ".join(f"--gold-as {coding}" if command else f"gold_as={coding!r}" for coding in rivals)
            doubt = f" (its answers fit {others} as well: choose the right one)"
        elif "gold" not in tried[0]:
            doubt = " (no key looks like the right answers, which are hidden here: add gold=KEY)"
        hint = f"Map roles to keys, for example{doubt}: {call}"
    else:
        hint = f"Map roles to keys; the nearest guess, {call}, fails: {problem}"
    return DataError("unknown format", source=source, found=found, expected="a known format", hint=hint)


def propose_fields(rows: Sequence[Node]) -> tuple[dict[str, str], str]:
    """Return the best guess at the fields of some rows and at their coding of gold.

    Columns of one family (``option1``, ``option2``, …) are candidates together, in natural order. Gold is a key
    next to the candidates rather than one inside them.

    Examples
    --------
    >>> row = {"context": "It rained.", "q": {"text": "Did it?"}, "choices": ["no", "yes"], "label": 1}
    >>> propose_fields([Node(row, "rows")])
    ({'passage': 'context', 'question': 'q.text', 'candidates': 'choices', 'gold': 'label'}, 'index0')
    """
    paths = {path: value for path, value in _collect_paths(rows).items() if not _EXPLANATION.search(path)}
    texts = {path: value for path, value in paths.items() if isinstance(value, str)}
    lists = {path: value for path, value in paths.items() if _is_list_of_texts(value)}
    named = USUAL_NAMES["candidates"].split()[:_CLEAR_NAMES]
    lists |= {
        path: options
        for path, value in paths.items()
        if path.split(".")[-1].lower() in named and _is_list_of_texts(options := list_options(value))
    }
    fields = {"passage": "", "question": ""}  # in this order in the command
    of_gold = _find_named("gold", {path: value for path, value in lists.items() if path not in named})
    parts = {path: value for path, value in lists.items() if path.split(".")[-1].lower() in _LISTS_OF_PARTS}
    long = None if _find_named("passage", texts) else _find_named("passage", parts)
    lists = {path: value for path, value in lists.items() if path not in (of_gold, long) or len(lists) == 1}
    candidates = _find_named("candidates", lists)
    family = [] if candidates else _choose_family(texts)
    if lists and not (family and family[0].rpartition(".")[0].lower() in named):
        candidates, family = candidates or next(iter(lists)), []
    others = {path: value for path, value in texts.items() if path not in family and path != candidates}
    gold_name = _find_named("gold", {path: value for path, value in paths.items() if path not in family})
    questions = {path: text for path, text in others.items() if path != gold_name}
    asked = USUAL_NAMES["question"].split()
    apart = {p: value for p, value in others.items() if not any(key.lower() in asked for key in p.split(".")[1:])}
    passage = _find_named("passage", apart) or _find_named("passage", others) or long
    question = _find_named("question", {path: text for path, text in questions.items() if path != passage})
    if question is None:
        asking = (path for path, text in questions.items() if path != passage and text.rstrip().endswith("?"))
        question = next(asking, None)
    rest = {path: text for path, text in questions.items() if path not in (passage, question, *_id_paths(paths))}
    if passage is None:
        passage = max(rest, key=lambda path: len(rest[path]), default=None)
        if passage is not None and question is not None and len(rest[passage]) <= len(texts[question]):
            passage = None  # a topic or a source: passages are longer than their questions
        rest.pop(passage or "", None)
    if question is None:
        question = next(iter(rest), None)
    if question is None:  # one text only: a question without a passage
        passage, question = None, passage
    fields["passage"], fields["question"] = passage or CONSTANT, question or UNKNOWN
    if family:
        candidates = "+".join(family)
    if candidates:
        fields["candidates"] = candidates
    used = {part for path in fields.values() for part in (path, *path.split("+"))}
    golds = {path: value for path, value in paths.items() if path not in used and not isinstance(value, Mapping)}
    gold = _find_gold(golds, candidates)
    if gold is None and candidates and not family and _are_answers(rows, fields):
        del fields["candidates"]  # all accepted answers to a span question
        gold, candidates = candidates, None
    elif gold is not None and not any(row.meanings for row in _iter_gold(rows, {**fields, "gold": gold})):
        constant = _find_constant(rows, gold)
        if constant:
            fields["candidates"] = f"{CONSTANT}{'|'.join(constant)}"
    if gold is not None and candidates and _WRONG_OPTIONS.search(candidates) and gold in texts:
        fields["candidates"] = f"{gold}+{candidates}"
    fields["gold"] = gold or UNKNOWN
    if (id := _find_named("id", golds)) and id != gold and _are_unique(rows, id):
        fields["id"] = id
    return fields, _best_coding(rows, fields)


def quote_argument(text: str) -> str:
    """Return a word for a command line: unchanged, in double quotes (all shells), or quoted for POSIX shells.

    Examples
    --------
    >>> quote_argument("passage=a,question=b"), quote_argument("my file.csv")
    ('passage=a,question=b', '"my file.csv"')
    """
    if text and not re.search(r"[^\w./:\\@~,=+-]", text, re.ASCII) and not text.startswith("~"):
        return text
    return shlex.quote(text) if re.search(r'["$`!\\]', text) else f'"{text}"'


def _find_working(
    rows: Sequence[Node], fields: dict[str, str], gold_as: str, trial: Trial
) -> tuple[tuple[dict[str, str], str | None], ClassicRCError | None]:
    """Return the first variant of a guess that reads the rows, with its coding; else the guess and its error."""
    fields = {role: path for role, path in fields.items() if path != UNKNOWN or role != "gold"}
    has_choices = "candidates" in fields
    first = _check_constant(rows, fields)
    variants: list[tuple[dict[str, str], str | None]] = []
    if "gold" in fields and has_choices:
        variants = [(fields, coding) for coding in (gold_as, *(c for c in READINGS if c != gold_as))]
    elif "gold" in fields:
        variants = [({**fields, "task": "span"}, None)]
    else:
        variants = [({**fields, "task": "single-choice" if has_choices else "span"}, None)]
    for variant, coding in variants if first is None else ():
        try:
            if not has_choices:
                _check_spans(rows, fields)
            trial(variant, coding)
        except ClassicRCError as error:
            first = first or error
        else:
            return (variant, coding), None
    return variants[0], first


def _check_constant(rows: Sequence[Node], fields: Mapping[str, str]) -> ClassicRCError | None:
    """Return the error for rows that say whether one answer is right: yes and no are not what is chosen from."""
    if not fields.get("candidates", "").startswith(CONSTANT):
        return None
    texts = [name for name in ("answer", "option", "choice", "candidate") if name not in fields.values()]
    for name in texts:
        found = find_value(rows[0], name)
        if found is not None and isinstance(found.value, str) and _find_constant(rows, name) is None:
            return DataError(
                "each row seems to be one option of its question",
                found=f"the key {name}, and whether it is right",
                expected="a row for each question, with a list of its options",
            )
    return None


def _check_spans(rows: Sequence[Node], fields: Mapping[str, str]) -> None:
    """Refuse to read rows without candidates as span questions whose answers the passages do not have."""
    found = missing = 0
    for row in rows:
        gold, passage = (find_value(row, fields.get(role, UNKNOWN)) for role in ("gold", "passage"))
        answers = None if gold is None else gold.value if isinstance(gold.value, list) else [gold.value]
        if answers and passage is not None and any(isinstance(a, str) and len(a.strip()) > 1 for a in answers):
            text = normalised_text(str(passage.value))
            is_there = any(normalised_text(answer) in text for answer in answers if isinstance(answer, str))
            found, missing = found + is_there, missing + (not is_there)
        elif answers and answers != [""]:
            missing += 1
    if found <= missing:
        raise DataError(
            "no key looks like the candidates, and the passages do not have the answers",
            found=", ".join(find_paths(rows[0].value))[:200] if rows else "no rows",
            expected="candidates=KEY, or answers that are texts of the passage",
        )


def _rival_codings(rows: Sequence[Node], fields: Mapping[str, str], coding: str) -> list[str]:
    """Return the other codings that fit the gold of all rows too, but mean other candidates."""
    golds = list(_iter_gold(rows, fields))
    fitting = [reading for reading in fitting_readings(golds) if reading != coding]
    return [reading for reading in fitting if find_difference(golds, (coding, reading)) is not None]


def _collect_paths(rows: Sequence[Node]) -> dict[str, Any]:
    """Return the paths of all rows, each with the first value that is not empty."""
    collected: dict[str, Any] = {}
    for row in rows:
        for path, value in find_paths(row.value).items():
            if collected.get(path) in (None, "", []) and (path in collected or len(collected) < _MOST_PATHS):
                collected[path] = value
    return collected


def _id_paths(paths: Mapping[str, Any]) -> list[str]:
    return [path for path in paths if path.split(".")[-1].lower() in USUAL_NAMES["id"].split()]


def _find_named(role: str, paths: Mapping[str, Any]) -> str | None:
    """Return the path whose last key, or else first key, is a usual name of a role; None if there is none."""
    for position in (-1, 0):
        keys: dict[str, str] = {}
        for path in sorted(paths, key=lambda path: path.count(".")):  # objects inside a row often only describe it
            keys.setdefault(path.split(".")[position].lower(), path)
        for name in USUAL_NAMES[role].split():
            if name in keys:
                return keys[name]
    return None


def _find_gold(paths: Mapping[str, Any], candidates: str | None) -> str | None:
    """Return the path of gold: a key of the row before one inside the candidates, such as the options' labels."""
    container = (candidates or "").partition("+")[0].rpartition(".")[0]
    outside = {path: v for path, v in paths.items() if not container or not path.startswith(f"{container}.")}
    inside = {path: v for path, v in paths.items() if path not in outside and _are_flags(v)}
    top = {path: value for path, value in outside.items() if "." not in path}
    for choice in (top, inside, outside):
        named = _find_named("gold", choice)
        if named is None:
            named = next((path for path in choice if path.split(".")[-1].lower().startswith("correct")), None)
        if named is not None:
            return named
    return next(iter(inside), None)


def _are_answers(rows: Sequence[Node], fields: Mapping[str, str]) -> bool:
    """Return whether the lists that would be candidates are answers: texts of the passage, often a single one."""
    lists = [found.value for row in rows if (found := find_value(row, fields["candidates"])) is not None]
    if not any(isinstance(texts, list) and len(texts) < 2 for texts in lists):
        return False
    try:
        _check_spans(rows, {"passage": fields["passage"], "gold": fields["candidates"]})
    except DataError:
        return False
    return True


def _are_flags(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, int) and v in (0, 1) for v in value)


def _choose_family(texts: Mapping[str, str]) -> list[str]:
    """Return the columns of one family that are most likely the candidates; none without a family."""
    names = USUAL_NAMES["candidates"].split()

    def rank(family: list[str]) -> tuple[bool, bool, int]:
        stem = re.sub(r"[\W_]*([0-9]+|[A-Za-z])$", "", family[0]).split(".")[-1].lower()
        is_named = (
            stem in names or stem.rstrip("s") in names or stem in ("", "answer", "ending", "opt", "ans", "alt")
        )
        return is_named, len(family) <= _MOST_OPTIONS, len(family)

    return max(find_families(texts), key=rank, default=[])


def _find_constant(rows: Sequence[Node], gold: str) -> tuple[str, ...] | None:
    """Return the candidates of questions whose gold is yes or no, or true or false; None for other gold."""
    values = [found.value for row in rows if (found := find_value(row, gold)) is not None]
    values = [value for value in values if value is not None and value != ""]
    if values and all(isinstance(value, (int, str)) and value in (0, 1, "0", "1") for value in values):
        return _YES_NO[0]
    if not values or not all(isinstance(value, str) for value in values):
        return None
    given = {normalised_text(value) for value in values}
    return next((constant for constant in _YES_NO if given <= {*constant}), None)


def _are_unique(rows: Sequence[Node], path: str) -> bool:
    """Return whether each row has an own id at a path."""
    found = [find_value(row, path) for row in rows]
    ids = [str(node.value) for node in found if node is not None and _is_id(node.value)]
    return len(set(ids)) == len(rows)


def _is_id(value: Any) -> bool:
    return (isinstance(value, str) and value != "") or (isinstance(value, int) and not isinstance(value, bool))


def _best_coding(rows: Sequence[Node], fields: Mapping[str, str]) -> str:
    """Return a coding that fits all rows that some coding fits, texts first; where none does, one of the first."""
    golds = list(_iter_gold(rows, fields))
    fitting = fitting_readings(golds) or list(next((row.meanings for row in golds if row.meanings), READINGS))
    return "text" if "text" in fitting else fitting[0]


def _iter_gold(rows: Sequence[Node], fields: Mapping[str, str]) -> Iterator[Written]:
    """Yield the gold of rows with its readings; rows that hide it are left out."""
    path = fields.get("candidates", UNKNOWN)
    for row in rows:
        candidates, gold = find_value(row, path), find_value(row, fields.get("gold", UNKNOWN))
        options = None if candidates is None else list_options(candidates.value)
        if gold is not None and gold.value not in (None, "", -1, "-1") and _is_list_of_texts(options):
            meanings = explain(gold.value, options, find_labels(row, path, options))
            yield Written(row, gold.value, options, meanings)


def _is_list_of_texts(value: Any) -> TypeGuard[Sequence[str]]:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(element, str) for element in value)
