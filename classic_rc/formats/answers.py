"""Files with an id and an answer in each row, as scripts around language models write them: CSV, TSV or JSON."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from classic_rc.encodings import (
    GOLD_AS,
    OPTION_LABELS,
    READINGS,
    Option,
    Written,
    bare_text,
    decide_mixed_reading,
    explain,
    find_inline_labels,
    match_text,
)
from classic_rc.errors import DataError
from classic_rc.formats.base import Content, Format, first_answer, first_row, format_option, iter_members
from classic_rc.io.json import Node, describe_value, json_lines, parse_json
from classic_rc.io.text import table_records
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question, Task

_ID_COLUMNS = ("id", "question_id", "qid", "example_id", "idx")
_PREDICTION_COLUMNS = ("prediction", "predicted", "pred", "predicted_answer", "model_answer")
_ANSWER_COLUMNS = ("answer", "output", "response")
_OTHER_LAYOUT = {"candidate", "selected"}  # columns of the rows of candidates of the format jsonl

_PREFIX = re.compile(
    r"(?:(?:sure|so|thus|hence|therefore)[,!.:]? )?(?:the |my )?(?:(?:correct|right|best|final) )?"
    r"(?:answers?|options?|choices?)(?: is| are)?\s*[:=]?\s*",
    re.I,
)
_FENCE = re.compile(r"\s*```\w*\n(.*)\n```\s*", re.S)
_JOINED_LETTERS = re.compile(r"[A-Z]{2,}")
_NOTHING = {"none", "none of them", "none of the above"}
_QUOTES = " \t\n*_`\"'“”‘’"
_NUMBERS = ("index0", "index1")
_WORDS = ("letter", "label", "text")
"""The readings of words, which a file may mix: some answers are letters and others texts."""


class AnswersFormat(Format):
    """Rows with the id of a question and its answer: a table with a header, JSON lines, or a JSON list of objects.

    One JSON object that maps ids to answers is read too. Columns are recognised by name, in any case: ``id``,
    ``question_id``, ``qid``, ``example_id`` or ``idx``, and ``prediction`` (or ``predicted``, ``pred``,
    ``predicted_answer``, ``model_answer``), else one of ``answer``, ``output`` and ``response``. Other columns are
    ignored. A file with predictions next to ``answer`` has gold there, so the predictions are read.

    ================ ===========================================================================================
    single choice    a letter (``B``, ``(B)``, ``B.``, ``Answer: B``, ``B. text``), the text of an option, equal up
                     to blanks, case, quotes and a last period, or its index; of several lines, those that say an
                     option must agree
    multiple answers several of these: joined letters (``AC``), joined by commas or semicolons, or a JSON list; true
                     or false for each option; ``none`` or an empty list
    cloze and spans  the text; for several spans a JSON list, or one text
    ================ ===========================================================================================

    An answer that says none of this counts as wrong. ``null`` is no answer. Several rows for one question are
    samples of one system: their mean counts. All answers together show how they name options. If an answer can be
    read in two ways, such as a number that may count from 0 or from 1, and the others do not show which, the file
    is refused: the formats ``answers-index0``, ``answers-letter``, ``answers-text`` and so on declare it.
    """

    name = "answers"
    description = "CSV, TSV or JSON lines with a row for each answer: id, answer (a letter, the text, or a list)"
    citation = "classic_rc"
    tasks = frozenset(Task)
    holds: ClassVar[frozenset[Content]] = frozenset({"decisions"})
    reading: str | None = None
    """How answers name options, if it is declared: one of :data:`classic_rc.encodings.READINGS`."""

    def recognises(self, text: str) -> bool:
        """Return whether the first row has a column of ids and one of answers, or the text is one object."""
        if not self.is_detected:
            return False
        names = {name.strip().lower() for name in _first_names(text)}
        if names.isdisjoint(_ID_COLUMNS):
            return _is_one_object(text)
        has_answers = not names.isdisjoint((*_PREDICTION_COLUMNS, *_ANSWER_COLUMNS))
        return has_answers and names.isdisjoint(_OTHER_LAYOUT)

    def parse(
        self, text: str, questions: Sequence[Question], source: str, *, partial: bool = False
    ) -> list[Prediction]:
        """Parse the answers of a text; see :meth:`read`."""
        return self._parse_with_notes(text, questions, source, partial, [])

    def render(
        self, questions: Sequence[Question], scores: Scores | None, predictions: Sequence[Prediction] | None
    ) -> str:
        """Return JSON lines with a row for each question; see :meth:`write`."""
        rows = (
            {"id": question.id, "answer": _write_answer(question, prediction)}
            for question, prediction in zip(questions, predictions or (), strict=True)
        )
        return "".join(json.dumps(row) + "\n" for row in rows)

    def _parse_with_notes(
        self, text: str, questions: Sequence[Question], source: str, partial: bool, notes: list[str]
    ) -> list[Prediction]:
        rows = _read_rows(text, source)
        column_of_ids, column = _find_columns(rows, source, notes)
        by_id = {question.id: _Asked(question) for question in questions}
        for row in rows:
            name = row.name(column_of_ids)
            if name in by_id:
                by_id[name].add(row, row.get(column))
            elif not partial:
                raise row.error(
                    "unknown question id",
                    field=column_of_ids,
                    found=repr(name),
                    expected=f"one of {len(by_id):,} ids such as {next(iter(by_id))!r}" if by_id else "no row",
                    hint="Is it a file for another split?",
                )
        asked = [by_id[question.id] for question in questions]
        missing = [one.question.id for one in asked if not one.samples]
        if missing:
            raise DataError(
                f"{len(missing):,} of {len(asked):,} questions have no row",
                source=source,
                found=f"none for {missing[0]!r}",
                expected="a row for each question, with null if there is no answer",
                hint="Is it a file for another split?",
            )
        option = Option(f"-s answers-{{}}:{shlex.quote(source)}")
        return _decide(asked, self.reading, column, option, source, notes)


class DeclaredAnswersFormat(AnswersFormat):
    """The format ``answers`` with a declared reading, for answers that can be read in several ways."""

    is_detected = False

    def __init__(self, reading: str) -> None:
        self.reading = reading
        self.name = f"answers-{reading}"  # type: ignore[misc]
        self.description = (  # type: ignore[misc]
            f"the format answers, where an answer that can be read in several ways is {READINGS[reading]} (never "
            "detected: name it)"
        )


# ------------------------------------------------------------------------------------------------------------------
# Rows


def _first_names(text: str) -> Sequence[str]:
    """Return the names of the first row's columns; none if the text does not start as a table or as JSON does."""
    content = text.lstrip()
    if content.startswith("["):
        with suppress(ValueError, RecursionError):
            row, _ = json.JSONDecoder().raw_decode(content, content.index("{"))
            return list(row)
        return ()
    if content.startswith("{"):
        row = first_row(text)
        return list(row) if isinstance(row, Mapping) else ()
    try:
        return next((cells for _, cells in table_records(content.partition("\n")[0], "")), [])
    except DataError:
        return ()


def _is_one_object(text: str) -> bool:
    """Return whether a text looks like one JSON object that maps ids to answers, and not like rows."""
    content = text.strip()
    is_row = isinstance(first_row(content), Mapping) and "\n" in content
    names = {name.strip().lower() for name in _first_names(content)}
    return content.startswith("{") and not is_row and names.isdisjoint(_ID_COLUMNS)


def _read_rows(text: str, source: str) -> list[Node]:
    content = text.lstrip()
    if content.startswith("["):
        return list(Node(parse_json(text, source), source).elements())
    if content.startswith("{"):
        if not _is_one_object(text):
            return list(json_lines(text, source))
        members = iter_members(Node(parse_json(text, source), source))
        return [node.with_value({"id": name, "answer": node.value}) for name, node in members]
    records = [(line, cells) for line, cells in table_records(text, source) if any(cells)]
    columns = [column.strip() for _, cells in records[:1] for column in cells]
    if len(set(columns)) < len(columns):
        found = describe_value(",".join(columns))
        raise DataError("duplicate column", source=source, where="line 1", found=found, expected="unique names")
    rows = []
    for line, cells in records[1:]:
        row = Node(dict(zip(columns, cells, strict=False)), source, line)
        if len(cells) != len(columns):
            expected = f"{len(columns)}, as in the header"
            raise row.error("wrong number of columns", found=str(len(cells)), expected=expected)
        rows.append(row)
    return rows


def _find_columns(rows: Sequence[Node], source: str, notes: list[str]) -> tuple[str, str]:
    """Return the names of the columns of ids and of answers."""
    first = rows[0].value if rows else {}
    names = {str(name).strip().lower(): str(name) for name in (first if isinstance(first, Mapping) else ())}
    ids = [names[name] for name in _ID_COLUMNS if name in names]
    predictions = [names[name] for name in _PREDICTION_COLUMNS if name in names]
    answers = [names[name] for name in _ANSWER_COLUMNS if name in names]
    if rows and not (ids and (predictions or answers)):
        raise rows[0].error(
            "no column of ids" if not ids else "no column of answers",
            found=describe_value(first),
            expected=" or ".join(_ID_COLUMNS if not ids else (*_PREDICTION_COLUMNS, *_ANSWER_COLUMNS)),
        )
    found = predictions or answers
    if len(found) > 1:
        raise DataError(
            "several columns may be the answers",
            source=source,
            found=", ".join(found),
            expected="one of them",
            hint="Rename the column with the answers of the system to prediction, and remove the others",
        )
    if predictions and answers:
        notes.append(f"{source}: the answers are the column {found[0]!r}, and {', '.join(answers)} is not read")
    return (ids or ["id"])[0], (found or ["answer"])[0]


# ------------------------------------------------------------------------------------------------------------------
# Answers


class _Asked:
    """A question with the rows of the file that answer it."""

    __slots__ = ("bare", "labels", "options", "question", "samples", "texts")

    def __init__(self, question: Question) -> None:
        self.question = question
        self.samples: list[tuple[Node, Any]] = []
        self.texts = [candidate.text for candidate in question.candidates] if question.task.has_choices else []
        self.options = [fold_text(text) for text in self.texts]
        self.bare = [bare_text(text) for text in self.texts]
        labels = question.meta.get(OPTION_LABELS)
        self.labels = find_inline_labels(self.texts) if labels is None else labels

    def add(self, row: Node, value: Any) -> None:
        """Add a sample."""
        self.samples.append((row, _unwrap(value) if self.question.task.has_choices else value))


def decide_answers(
    questions: Sequence[Question],
    samples: Sequence[Sequence[tuple[Node, Any]]],
    source: str,
    notes: list[str],
    reading: str | None = None,
) -> list[Prediction]:
    """Return the predictions that answers in words mean, as the format ``answers`` reads them.

    Parameters
    ----------
    questions : sequence of Question
    samples : sequence of sequence of (Node, object)
        For each question its answers, one or several samples, each with its place.
    source : str
        The name of the file in messages.
    notes : list of str
        Receives the numbers of answers that say nothing and of questions without an answer.
    reading : str, optional
        The declared reading of answers that can be read in several ways.

    Raises
    ------
    DataError
        Answers can be read in several ways, and nothing shows which one is meant.
    """
    return _decide(_ask(questions, samples), reading, "answer", GOLD_AS, source, notes)


def decide_samples(
    questions: Sequence[Question],
    samples: Sequence[Sequence[tuple[Node, Any]]],
    field: str,
    option: Option,
) -> str | None:
    """Return the reading of answers in words; see :func:`classic_rc.encodings.decide_mixed_reading`."""
    return _find_reading(_ask(questions, samples), field, option)


def _ask(questions: Sequence[Question], samples: Sequence[Sequence[tuple[Node, Any]]]) -> list[_Asked]:
    asked = [_Asked(question) for question in questions]
    for one, own in zip(asked, samples, strict=True):
        one.samples.extend(own)
    return asked


def _find_reading(asked: Sequence[_Asked], field: str, option: Option) -> str | None:
    """Return the reading of a file's answers, which all of them decide together; None if no choice is needed."""
    strict, mixed = list[Written](), list[Written]()
    for one in asked if asked and asked[0].question.task.has_choices else ():
        for row, value in one.samples:
            parts = _split(value, one)
            meanings = [
                {name: found for name in READINGS if (found := _resolve(parts, name, one, may_mix)) is not None}
                for may_mix in (False, True)
            ]
            if meanings[1]:
                strict.append(Written(row, value, one.texts, meanings[0]))
                mixed.append(Written(row, value, one.texts, meanings[1]))
    return decide_mixed_reading(strict, mixed, field=field, option=option)


def _decide(
    asked: Sequence[_Asked], declared: str | None, field: str, option: Option, source: str, notes: list[str]
) -> list[Prediction]:
    """Return the prediction of each question, the mean of its samples."""
    reading = declared or _find_reading(asked, field, option)
    predictions = []
    unparsed: list[tuple[_Asked, Node, Any]] = []
    n_samples = n_null = n_sampled = 0
    for one in asked:
        counts: Counter[Answer] = Counter()
        n_others = len(unparsed)
        for row, value in one.samples:
            answer = None if value is None else _parse_answer(value, one, reading)
            if answer is not None:
                counts[answer] += 1
            elif value is not None:
                unparsed.append((one, row, value))
        n_samples += len(one.samples)
        n_sampled += len(one.samples) > 1
        n_null += all(value is None for _, value in one.samples)
        weights = tuple(count / len(one.samples) for count in counts.values())
        predictions.append(
            Prediction(
                one.question.id,
                tuple(counts),
                weights if weights not in ((), (1.0,)) else None,
                n_candidates=len(one.question.candidates),
                n_samples=len(one.samples),
                n_unparsed=len(unparsed) - n_others,
            )
        )
    if unparsed:
        one, row, value = unparsed[0]
        notes.append(
            f"{source}: {len(unparsed):,} of {n_samples:,} answers could not be parsed and count as wrong: first "
            f"at id {one.question.id!r} ({row.where}): {describe_value(value)}"
        )
    if n_null:
        notes.append(f"{source}: {n_null:,} of {len(asked):,} questions have no answer and score 0")
    if n_sampled:
        notes.append(
            f"{source}: {n_sampled:,} of {len(asked):,} questions have several answers, and their mean counts"
        )
    return predictions


def _parse_answer(value: Any, one: _Asked, reading: str | None) -> Answer | None:
    task = one.question.task
    if task.has_choices:
        return _resolve(_split(value, one), reading or "text", one, may_mix=True)
    if task is Task.MULTI_SPAN and isinstance(_as_list(value), list):
        texts = [_as_text(item) for item in _as_list(value)]
        return tuple(texts) if all(text.strip() for text in texts) else None
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, (list, dict)):
        return None
    text = _as_text(value)
    return (text,) if text.strip() else None


def _unwrap(value: Any) -> Any:
    """Return the answer in a fenced block or in an object with a column of answers, or the value as it is."""
    if isinstance(value, str):
        fence = _FENCE.fullmatch(value)
        value = fence[1] if fence else value
    content = _evaluate(value, "{")
    if not isinstance(content, dict):
        return value
    named = [item for name, item in content.items() if name in (*_PREDICTION_COLUMNS, *_ANSWER_COLUMNS)]
    return named[0] if len(named) == 1 else value


class _Parts(NamedTuple):
    """An answer taken apart. Each part has the option that it is in each reading."""

    ways: Sequence[Sequence[dict[str, int]]] = ()  # to take it apart, the first one that says something counts
    selected: frozenset[int] | None = None  # the options, whatever the reading is
    flags: frozenset[int] | None = None  # those marked with 1 in a list of 0 and 1 for each option


def _split(value: Any, one: _Asked) -> _Parts:
    value = _as_list(value)
    if one.question.task is Task.SINGLE_CHOICE:
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, (list, dict)):
            return _Parts()
        if whole := _say(value, one):
            return _Parts([[whole]])
        # An explanation may come before or after the answer.
        return _Parts([[said for line in _as_text(value).splitlines() if (said := _say(line, one))]])
    if isinstance(value, list):
        flags = explain(value, one.texts, readings=("flags",)).get("flags")
        if all(isinstance(item, bool) for item in value):
            return _Parts(selected=flags if value else frozenset())
        return _Parts([[_say(item, one) for item in value]], flags=flags)
    ways = [[whole]] if (whole := _say(value, one)) else []
    text = _PREFIX.sub("", _as_text(value).strip(_QUOTES), count=1).strip(_QUOTES)
    if not ways and fold_text(text).rstrip(".") in _NOTHING:
        return _Parts(selected=frozenset())
    if _JOINED_LETTERS.fullmatch(text):
        ways.append([_say(letter, one) for letter in text])
    for separator in (r"[;|\n]", r",|;|\band\b|&", r"[\s,;&]+"):
        parts = [part for part in re.split(separator, text) if part.strip()]
        if len(parts) > 1:
            ways.append([_say(part, one) for part in parts])
    return _Parts(ways)


def _say(value: Any, one: _Asked) -> dict[str, int]:
    """Return the option that a word, a text or a number is in each reading; empty if it is none."""
    whole = _as_text(value)
    said = _PREFIX.sub("", whole.strip(_QUOTES), count=1).strip(_QUOTES)
    meanings = {name: next(iter(found)) for name, found in explain([value], one.texts, (), _NUMBERS).items()}
    labelled = ("letter", "label") if one.labels else ("letter",)
    meanings |= {
        name: next(iter(found)) for name, found in explain([said], one.texts, one.labels, labelled).items()
    }
    texts = [i for i, option in enumerate(one.options) if option in (fold_text(whole), fold_text(said))]
    if not texts and (bare := bare_text(said)):
        texts = [i for i, option in enumerate(one.bare) if option == bare] or match_text(said, one.texts)
    if texts:
        meanings["text"] = texts[0]
    return meanings


def _resolve(parts: _Parts, reading: str, one: _Asked, may_mix: bool) -> frozenset[int] | None:
    """Return the options that an answer names in a reading, or None.

    With `may_mix`, a word that is one option in every reading that it has is that option in this reading too.
    """
    if parts.selected is not None or reading == "flags":
        return parts.flags if parts.selected is None else parts.selected
    is_single = one.question.task is Task.SINGLE_CHOICE
    for mixing in (False, True) if may_mix else (False,):
        for way in parts.ways:
            options = []
            for part in way:
                words = {part[name] for name in _WORDS if name in part} if mixing else set()
                options.append(part.get(reading, words.pop() if len(words) == 1 else None))
            found = frozenset(option for option in options if option is not None)
            is_repeated = reading in _NUMBERS and len(found) < len(options)
            if found and None not in options and (len(found) == 1 if is_single else not is_repeated):
                return found
    return None


def _as_list(value: Any) -> Any:
    """Return the list that a text such as ``["A", "C"]`` or ``['A', 'C']`` is, or the value as it is."""
    content = _evaluate(value, "[")
    return content if isinstance(content, list) else value


def _evaluate(value: Any, start: str) -> Any:
    """Return what a text from a bracket on is in JSON, or in Python, as pandas writes lists; else the value."""
    if not isinstance(value, str) or not value.strip().startswith(start):
        return value
    with suppress(DataError):
        return parse_json(value, "")
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(value.strip())
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def fold_text(text: str) -> str:
    """Return a text without case and with single blanks, for comparisons."""
    return " ".join(text.split()).casefold()


def _write_answer(question: Question, prediction: Prediction) -> Any:
    if not prediction.answers and prediction.selection_probability is None:
        return None
    answer = first_answer(prediction)
    if isinstance(answer, frozenset):
        options = [_write_option(question, i) for i in sorted(answer)]
        return options if question.task is Task.MULTIPLE_ANSWER else options[0]
    return list(answer) if question.task is Task.MULTI_SPAN else next(iter(answer))


def _write_option(question: Question, i: int) -> str:
    return format_option(i) if i < 26 else question.candidates[i].text
