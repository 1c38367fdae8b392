"""The gold of rows: the one task of all rows, the coding of their gold and votes, and what
these mean.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from classic_rc.datasets.fields import ANNOTATORS, is_list_of
from classic_rc.datasets.reading import Reading
from classic_rc.encodings import (
    GOLD_AS,
    READINGS,
    MismatchError,
    Written,
    ambiguity_error,
    decide_reading,
    decode,
    explain,
    find_difference,
    fitting_readings,
)
from classic_rc.errors import DataError, unknown_name
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import PLACEHOLDER, Candidate, Gold, Passage, Task, candidate_texts

_DIGITS = re.compile(r"[0-9]+(?:\.0+)?", re.ASCII)
_MANY_ROWS = 10
_OWN_READINGS = frozenset({"index0", "text"})
TASKS = {task.value: task for task in Task}
_TASK_HINT = (
    f"Give each row a task: {', '.join(TASKS)} (with --fields, for example task=multi-span)"
)


def parse_task(name: str) -> Task:
    """Return the task with this name, or raise UsageError."""
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name]


@dataclass(frozen=True, slots=True)
class RawRow:
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
        """The texts of the candidates."""
        return list(candidate_texts(self.candidates))

    def error(
        self, problem: str, field: str, actual: str, expected: str, hint: str | None = None
    ) -> DataError:
        """Return an error at this row."""
        return self.node.error(problem, field=field, found=actual, expected=expected, hint=hint)


def agree_on_task(
    rows: Sequence[RawRow], is_own_schema: bool, reading: Reading
) -> tuple[list[RawRow], Task]:
    """Return the one task that the rows name, or that their gold implies, and the rows that have
    it.
    """
    tasks: list[tuple[RawRow, Task | None]] = []
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
    alike: list[RawRow] = []
    for row, task in tasks:
        with reading.at(row.node, row.id):
            if task not in (None, common):
                actual = f"{task} after {common}"
                raise row.error(
                    "the rows have different tasks", "task", actual, "one task", _TASK_HINT
                )
            alike.append(row)
    return alike, common


def _infer_task(row: RawRow, may_be_cloze: bool) -> Task | None:
    if row.gold is None:
        return None
    if _are_words(row.gold) and (may_be_cloze or not row.candidates):
        actual = f"none, with gold {describe_value(row.gold)}"
        raise row.error("the task is unknown", "task", actual, "a task", _TASK_HINT)
    return Task.MULTIPLE_ANSWER if isinstance(row.gold, (list, tuple)) else Task.SINGLE_CHOICE


def determine_coding(
    rows: Sequence[RawRow], task: Task, reading: Reading, is_own_schema: bool, has_types: bool
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
    if is_own_schema and _OWN_READINGS.isdisjoint(fitting_readings(written)):
        written = _explain_gold(with_gold, task, readings, reading, narrow=False)
    if is_own_schema:
        return _own_coding(written, are_words)
    return decide_reading(written, option=GOLD_AS, skip_bad=reading.options.skip_bad)


def determine_vote_coding(rows: Sequence[RawRow], task: Task, reading: Reading, coding: str) -> str:
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
    rows: Sequence[RawRow],
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
    fitting = readings
    first: dict[tuple[Any, ...], Written] = {}
    counts: Counter[tuple[Any, ...]] = Counter()
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
        contradictions = (
            row for row in rows if row.meanings and not _OWN_READINGS & row.meanings.keys()
        )
        row = next(contradictions)
        problem = "gold is neither an index from 0 nor a text"
        if fitting == ["index1"]:
            problem = "gold counts from 1"
        options = " or ".join(map(GOLD_AS.choose, fitting))
        raise row.node.error(
            problem,
            field="gold",
            found=describe_value(row.value),
            expected="an index from 0, or the text of a candidate",
            hint=f"Add {options}",
        )
    # Of many rows, one should have the first candidate right if indices count from 0.
    n_rows = sum(row.n_alike for row in rows)
    rivals = [reading for reading in fitting if reading != "index1" or n_rows >= _MANY_ROWS]
    differing = find_difference(rows, rivals)
    if differing is not None:
        raise ambiguity_error(differing, rivals, "gold", GOLD_AS)
    if documented:
        return documented[0]
    # No reading fits: gold that only others explain is wrong, and decoding says so.
    own_readings = []
    for row in rows:
        meanings = {name: row.meanings[name] for name in ("index0", "text") if name in row.meanings}
        own_readings.append(row._replace(meanings=meanings))
    if not any(row.meanings for row in own_readings):
        return "own"
    return decide_reading(own_readings, option=GOLD_AS, skip_bad=True)


def decode_gold(row: RawRow, task: Task, coding: str) -> Gold:
    """Return the gold of a question, or raise DataError if the row's gold does not fit the task,
    the candidates or the coding.
    """
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
    if task.has_choices:
        return right
    texts = row.texts
    return tuple(dict.fromkeys(texts[i] for i in sorted(right)))


def decode_votes(row: RawRow, task: Task, coding: str) -> dict[str, Any]:
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


def _decode_vote(value: Any, row: RawRow, task: Task, coding: str) -> Any:
    if not task.has_choices:
        if isinstance(value, str) or (task is Task.MULTI_SPAN and is_list_of(value, str)):
            return value
        raise MismatchError(value, "a text")
    options = sorted(decode(value, row.texts, coding, row.labels))
    if task is Task.SINGLE_CHOICE and len(options) != 1:
        raise MismatchError(value, "one option")
    return options[0] if task is Task.SINGLE_CHOICE else options


def _own_indices(row: RawRow) -> frozenset[int] | None:
    """Return gold that is one index from 0, or different ones; None for any other gold."""
    indices = row.gold if isinstance(row.gold, (list, tuple)) else [row.gold]
    n = len(row.candidates)
    # Not isinstance: true and false are no indices.
    if not all(type(index) is int and 0 <= index < n for index in indices):
        return None
    return frozenset(indices) if len(set(indices)) == len(indices) else None


def _decode_written(row: RawRow, coding: str) -> frozenset[int]:
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


def _check_candidates(row: RawRow, task: Task) -> None:
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
