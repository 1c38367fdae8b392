"""Files with an id and an answer in each row, as scripts around language models write them: CSV, TSV or JSON."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

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
_LETTER = re.compile(r"(?:([a-z])|\(([a-z])\)|\[([a-z])\])[.):!;]?", re.I)
_LETTER_AND_TEXT = re.compile(r"(?:([a-z])[.):]|\(([a-z])\)[.:]?|\[([a-z])\][.:]?)[*_]*\s+(.+)", re.I)
_FENCE = re.compile(r"\s*```\w*\n(.*)\n```\s*", re.S)
_JOINED_LETTERS = re.compile(r"[A-Z]{2,}")
_NOTHING = {"none", "none of them", "none of the above"}
_QUOTES = " \t\n*_`\"'“”‘’"


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
    samples of one system: their mean counts. Numbers are indices if most answers are numbers and most of them are
    not the text of an option; whether they count from 0 or from 1 must follow from the file, or be declared by the
    format's name.
    """

    name = "answers"
    description = "CSV, TSV or JSON lines with a row for each answer: id, answer (a letter, the text, or a list)"
    citation = "classic_rc"
    tasks = frozenset(Task)
    holds: ClassVar[frozenset[Content]] = frozenset({"decisions"})
    first_index: ClassVar[int | None] = None
    """The index of the first option, if it is declared."""

    def recognises(self, text: str) -> bool:
        """Return whether the first row has a column of ids and one of answers, or the text is one object."""
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
        return _decide(asked, _find_coding(asked, self.first_index, column), source, notes)


class AnswersFromIndex0(AnswersFormat):
    """The format ``answers`` with indices of options that count from 0."""

    name = "answers-index0"
    description = "the format answers, with the indices of options from 0 (never detected: name it)"
    first_index = 0
    is_detected = False

    def recognises(self, text: str) -> bool:
        """Return False: it must be named."""
        return False


class AnswersFromIndex1(AnswersFromIndex0):
    """The format ``answers`` with indices of options that count from 1."""

    name = "answers-index1"
    description = "the format answers, with the indices of options from 1 (never detected: name it)"
    first_index = 1


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

    __slots__ = ("options", "question", "samples")

    def __init__(self, question: Question) -> None:
        self.question = question
        self.samples: list[tuple[Node, Any]] = []
        self.options = [fold_text(c.text) for c in question.candidates] if question.task.has_choices else []

    def add(self, row: Node, value: Any) -> None:
        """Add a sample."""
        self.samples.append((row, _unwrap(value) if self.question.task.has_choices else value))


@dataclass(frozen=True)
class _Coding:
    """How a file says which option it means, where an answer can be read in several ways."""

    first_index: int | None = None  # of the first option; None if numbers are not indices
    letters: bool = True  # whether a letter that is also the text of another option is a letter


def decide_answers(
    questions: Sequence[Question],
    samples: Sequence[Sequence[tuple[Node, Any]]],
    source: str,
    notes: list[str],
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

    Raises
    ------
    DataError
        Answers are indices of options, and may count from 0 or from 1.
    """
    asked = [_Asked(question) for question in questions]
    for one, own in zip(asked, samples, strict=True):
        one.samples.extend(own)
    return _decide(asked, _find_coding(asked, None, "answer"), source, notes)


def _find_coding(asked: Sequence[_Asked], first_index: int | None, column: str) -> _Coding:
    """Return the coding of a file's answers, which all of them decide together."""
    n_letters = n_texts = n_numbers = n_number_texts = n_items = 0
    of_index: dict[str, Node] = {}  # where the file shows that its indices count from 0, or from 1
    first_number: Node | None = None
    for one in asked if asked and asked[0].question.task.has_choices else ():
        for row, value in one.samples:
            for item in _items(value, one.question.task):
                n_items += 1
                text = fold_text(_as_text(item))
                n_letters += _letter(text, one.options) is not None
                n_texts += text in one.options
                number = _as_index(item)
                if number is None:
                    continue
                first_number = first_number or row
                n_numbers += 1
                n_number_texts += text in one.options
                if number in (0, len(one.options)):
                    of_index.setdefault("0" if number == 0 else "1", row)
    letters = n_letters >= n_texts
    are_indices = 2 * n_numbers > n_items and 2 * n_number_texts < n_numbers
    if first_index is not None or not are_indices or first_number is None:
        return _Coding(first_index, letters)
    if len(of_index) != 1:
        where = list(of_index.values())[-1] if of_index else first_number
        raise where.error(
            "indices of options may count from 0 or from 1",
            field=column,
            found="both 0 and the number of options" if of_index else "neither 0 nor the number of options",
            expected="letters, texts of options, or a declared first index",
            hint="Name the format: --as answers-index0 or --as answers-index1",
        )
    return _Coding(int(next(iter(of_index))), letters)


def _decide(asked: Sequence[_Asked], coding: _Coding, source: str, notes: list[str]) -> list[Prediction]:
    """Return the prediction of each question, the mean of its samples."""
    predictions = []
    unparsed: list[tuple[_Asked, Node, Any]] = []
    n_samples = n_null = n_sampled = 0
    for one in asked:
        counts: Counter[Answer] = Counter()
        n_others = len(unparsed)
        for row, value in one.samples:
            answer = None if value is None else _parse_answer(value, one, coding, row)
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


def _parse_answer(value: Any, one: _Asked, coding: _Coding, row: Node) -> Answer | None:
    task = one.question.task
    if task is Task.MULTIPLE_ANSWER:
        return _parse_selection(_as_list(value), one.options, coding, row)
    if task is Task.MULTI_SPAN and isinstance(_as_list(value), list):
        texts = [_as_text(item) for item in _as_list(value)]
        return tuple(texts) if all(text.strip() for text in texts) else None
    value = _as_list(value) if task is Task.SINGLE_CHOICE else value
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, (list, dict)):
        return None
    if task is Task.SINGLE_CHOICE:
        option = _parse_option(value, one.options, coding)
        if option is None:
            # An explanation may come before or after the answer; lines with different options say nothing.
            said = {_parse_option(line, one.options, coding) for line in _as_text(value).splitlines()} - {None}
            option = said.pop() if len(said) == 1 else None
        return None if option is None else frozenset({option})
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


def _parse_selection(value: Any, options: Sequence[str], coding: _Coding, row: Node) -> frozenset[int] | None:
    """Return the selected options of a list or a text, or None if it says something else."""
    if isinstance(value, list):
        if value and all(isinstance(item, bool) for item in value):
            return frozenset(i for i, flag in enumerate(value) if flag) if len(value) == len(options) else None
        numbers = [_as_index(item) for item in value]
        if None not in numbers and len(set(numbers)) < len(numbers):
            raise row.error(
                "repeated index of an option",
                found=str(value)[:50],
                expected="each selected option once; labels of all options are true or false",
            )
        return _all_options(value, options, coding)
    option = _parse_option(value, options, coding)
    if option is not None:
        return frozenset({option})
    text = _PREFIX.sub("", _as_text(value).strip(_QUOTES), count=1).strip(_QUOTES)
    if fold_text(text).rstrip(".") in _NOTHING:
        return frozenset()
    if _JOINED_LETTERS.fullmatch(text):
        return _all_options(list(text), options, coding)
    for separator in (r"[;|\n]", r",|;|\band\b|&", r"[\s,;&]+"):
        parts = [part for part in re.split(separator, text) if part.strip()]
        selected = _all_options(parts, options, coding) if len(parts) > 1 else None
        if selected is not None:
            return selected
    return None


def _all_options(parts: Sequence[Any], options: Sequence[str], coding: _Coding) -> frozenset[int] | None:
    found = [_parse_option(part, options, coding) for part in parts]
    return None if None in found else frozenset(option for option in found if option is not None)


def _parse_option(value: Any, options: Sequence[str], coding: _Coding) -> int | None:
    """Return the option that a letter, a text or an index means, or None if it means none."""
    number = _as_index(value)
    if number is not None and coding.first_index is not None:
        option = number - coding.first_index
        return option if 0 <= option < len(options) else None
    whole = _as_text(value)
    said = fold_text(_PREFIX.sub("", whole.strip(_QUOTES), count=1).strip(_QUOTES))
    letter = _letter(said, options)
    texts = [i for i, option in enumerate(options) if option in (fold_text(whole), said)]
    if not texts and (bare := _bare(said)):
        texts = [i for i, option in enumerate(options) if _bare(option) == bare]
    if letter is not None and (not texts or letter in texts or coding.letters):
        return letter
    if texts:
        return texts[0]
    match = _LETTER_AND_TEXT.fullmatch(said)
    if match:
        letter = _letter(match[1] or match[2] or match[3], options)
        return letter if letter is not None and _bare(options[letter]) == _bare(match[4]) else None
    return None


def _letter(text: str, options: Sequence[str]) -> int | None:
    match = _LETTER.fullmatch(text)
    if not match:
        return None
    option = ord((match[1] or match[2] or match[3]).lower()) - ord("a")
    return option if option < len(options) else None


def _items(value: Any, task: Task) -> Iterator[Any]:
    """Yield the parts of an answer that may be letters, texts or indices."""
    if task is Task.MULTIPLE_ANSWER:
        value = _as_list(value)
        if isinstance(value, str) and re.fullmatch(r"[\d\s,;|]+", value):
            value = re.findall(r"\d+", value)
    yield from value if isinstance(value, list) else () if value is None else (value,)


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


def _as_index(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}\s*", value, re.ASCII):
        return int(value)
    if isinstance(value, float) and value.is_integer():  # pandas stores integers with gaps as floats
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def fold_text(text: str) -> str:
    """Return a text without case and with single blanks, for comparisons."""
    return " ".join(text.split()).casefold()


def _bare(text: str) -> str:
    """Return a text without what a sentence adds to an option: quotes and a last period."""
    return text.strip(_QUOTES).rstrip(".").strip(_QUOTES)


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
