"""What answers in words mean, and the format of files that have them: a letter, a text, a
model's whole output.
"""

from __future__ import annotations

import copy
import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

from classic_rc.encodings import (
    GOLD_AS,
    READINGS,
    ReadingOption,
    Written,
    decide_mixed_reading,
    explain,
    match_text,
)
from classic_rc.equality import TextLadder, normalised_text
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.formats.base import AnswerFile, Format, SystemOutput, first_answer, format_option
from classic_rc.formats.extraction import (
    ANSWER_KEYS,
    Place,
    find_ordinal,
    find_places,
    plain_text,
    without_reasoning,
)
from classic_rc.formats.layouts import (
    AnswerRow,
    Layout,
    find_layout,
    find_positions,
    has_answers,
    read_rows,
)
from classic_rc.io.json import Node, describe_value, parse_json, read_literal
from classic_rc.option_labels import OPTION_LABELS, CutOptions, cut_labels
from classic_rc.predictions import WHOLE_TEXT, Answer, Prediction, ReadAnswer
from classic_rc.questions import Question, Task, candidate_texts

_PREFIX = re.compile(
    r"^(?:(?:sure|so|thus|hence|therefore)[,!.:]? )?(?:the |my )?(?:(?:correct|right|best|final) )?"
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
_LONGEST_PREFIX = 80
"""Characters that an option may have around it where it is an answer by itself: ``The correct
option is: (B)``.
"""
_SHOWN_EXAMPLES = 3
_SHOWN_TEXT = 60


Samples: TypeAlias = "Sequence[Sequence[tuple[Node, Any]]]"
"""For each question its answers, one or several, each with its place."""


class AnswersFormat(Format):
    """Rows with the id of a question and its answer: a table with a header, JSON lines, or a JSON
    list of objects.

    One JSON object that maps ids to answers is read too, and so are the layouts of
    :data:`classic_rc.formats.layouts.LAYOUTS`: the output of OpenAI's and Anthropic's batches, and
    logs of inspect_ai. Any other JSON lines need the paths of ids and texts:
    ``FILE,id=PATH,text=PATH``. Columns are recognised by name, in any case: ``id``,
    ``question_id``, ``qid``, ``example_id`` or ``idx``, and ``prediction`` (or ``predicted``,
    ``pred``, ``predicted_answer``, ``model_answer``), else one of ``answer``, ``output``,
    ``response``, ``text``, ``generation``, ``generated_text`` and ``model_output``. Other columns
    are ignored. A file with predictions next to ``answer`` has gold there, so the predictions are
    read. A table without ids has an answer for each question, alone or after the question's number
    from 0 or 1.

    ================ ===============================================================================
    single choice    a letter (``B``, ``(B)``, ``B.``, ``B. text``), the text of an option, equal up
    to blanks,
                     case, quotes and a last period, or its index; or a text with the answer in a
                     final form (:mod:`classic_rc.formats.extraction`) or a line of its own; all
                     that a text states must agree
    multiple answers several of these: joined letters (``AC``), joined by commas or semicolons, or a
    JSON list; true
                     or false for each option; ``none`` or an empty list; or a text with these in a
                     final form
    cloze and spans  the text; for several spans a JSON list, or one text
    ================ ===============================================================================

    ``FILE,sample=N`` says that the file answers N of the questions, a sample: its numbers are shown
    next to the systems, and are not compared. What a model wrote before ``</think>`` is not part of
    its answer. With ``FILE,pattern=REGEX`` the answer is what the first group of a regular
    expression finds (the whole match without groups), and nothing else.

    An answer that says none of this counts as wrong. ``null`` is no answer. Several rows for one
    question are samples of one system: their mean counts. All answers together show how they name
    options. If an answer can be read in two ways, such as a number that may count from 0 or from 1,
    and the others do not show which, the file is refused, and ``FILE,reading=index0``,
    ``reading=letter``, ``reading=text`` and so on declare it
    (:data:`classic_rc.encodings.READINGS`).
    """

    name = "answers"
    reading: str | None = None
    """How answers name options, if it is declared: one of :data:`classic_rc.encodings.READINGS`."""
    layout: Layout | None = None
    pattern: re.Pattern[str] | None = None
    sample: str | None = None
    """How many of the questions the file answers, if it is a sample."""

    def with_options(self, options: Mapping[str, str]) -> Self:
        """Return the format with what a specification says of ids, texts, patterns, samples and
        readings.
        """
        format = copy.copy(super().with_options(options))
        format.sample, format.reading = options.get("sample"), options.get("reading")
        if format.reading is not None and format.reading not in READINGS:
            raise unknown_name("reading", format.reading, READINGS)
        if ("id" in options) != ("text" in options):
            raise UsageError(
                "id= and text= belong together: FILE,id=PATH,text=PATH",
                field="id" if "id" in options else "text",
                expected="both paths",
            )
        if "id" in options:
            format.layout = Layout("file with these paths", options["id"], (options["text"],))
        if "pattern" in options:
            try:
                format.pattern = re.compile(options["pattern"])
            except re.error as error:
                raise UsageError(
                    f"pattern= is not a regular expression: {error}",
                    field="pattern",
                    found=options["pattern"],
                    expected=r"such as pattern=Answer: ([A-D])",
                ) from None
        return format

    def recognises(self, text: str) -> bool:
        """Return whether the first row has a column of ids and one of answers, or the text is
        one object.
        """
        return self.layout is not None or has_answers(text)

    def parse(self, file: AnswerFile) -> list[Prediction]:
        """Parse the answers of a text; see :meth:`read`."""
        text, questions, source, partial, notes = file
        layout = self.layout or find_layout(text)
        rows, id_column, column = read_rows(text, source, layout, notes)
        by_id = {question.id: _Item(question) for question in questions}
        for row in find_positions(rows, list(by_id), notes) if layout is None and rows else rows:
            if row.id in by_id:
                by_id[row.id].add(row, self.pattern)
            elif not partial:
                raise row.node.error(
                    "unknown question id",
                    field=id_column,
                    found=repr(row.id),
                    expected=f"one of {len(by_id):,} ids such as {next(iter(by_id))!r}"
                    if by_id
                    else "no row",
                    hint="Is it a file for another split?",
                )
        items = [by_id[question.id] for question in questions]
        missing = [item.question.id for item in items if not item.samples]
        n_answered = len(items) - len(missing)
        if self.sample is not None and self.sample != str(n_answered):
            raise DataError(
                "wrong number of questions",
                source=source,
                found=str(n_answered),
                expected=self.sample,
            )
        if missing and self.sample is None:
            raise DataError(
                f"{len(missing):,} of {len(items):,} questions have no row",
                source=source,
                found=f"none for {missing[0]!r}",
                expected="a row for each question, with null if there is no answer",
                hint=(layout and layout.hint)
                or "Is it a file for another split? "
                f"For a sample: -s NAME={source},sample={n_answered}",
            )
        option = ReadingOption(f"-s answers:{shlex.quote(source)},reading={{}}")
        return _decide(items, self.reading, column, option, source, notes)

    def render(self, output: SystemOutput) -> str:
        """Return JSON lines with a row for each question; see :meth:`write`."""
        rows = (
            {"id": question.id, "answer": _write_answer(question, prediction)}
            for question, prediction in zip(output.questions, output.predictions or (), strict=True)
        )
        return "".join(json.dumps(row) + "\n" for row in rows)


# --------------------------------------------------------------------------------------------------
# Answers


class _Parts(NamedTuple):
    """An answer taken apart. Each part has the option that it is in each reading."""

    ways: Sequence[
        Sequence[dict[str, int]]
    ] = ()  # to take it apart, the first one that says something counts
    selected: frozenset[int] | None = None  # the options, whatever the reading is
    flags: frozenset[int] | None = None  # those marked with 1 in a list of 0 and 1 for each option


class _Sample(NamedTuple):
    """One answer to a question, with its place in the file."""

    node: Node
    value: Any
    model: str | None
    form: str  # of the first statement
    shown: str  # the text around it
    stated: Sequence[Any]  # options taken apart, or texts; all must be the same answer


class _Item:
    """A question with the answers to it, and what its options are called."""

    __slots__ = ("labels", "longest", "names", "options", "order", "question", "samples")

    def __init__(self, question: Question, option_texts: Sequence[str] | None = None) -> None:
        self.question = question
        self.samples: list[_Sample] = []
        self.order: Sequence[int] = range(len(question.candidates))
        texts = candidate_texts(question.candidates) if option_texts is None else option_texts
        cut = cut_labels(texts) if self.has_choices else None
        self.labels: Sequence[str] | None = None
        if isinstance(cut, CutOptions):
            self.labels, texts = cut
        elif option_texts is None:
            self.labels = question.meta.get(OPTION_LABELS)
        self.options = TextLadder(texts if self.has_choices else ())
        self.names = [" ".join(text.lower().split()).strip(_QUOTES + ".") for text in self.texts]
        self.longest = max(map(len, self.texts), default=0) + _LONGEST_PREFIX

    @property
    def texts(self) -> Sequence[str]:
        """The options' texts."""
        return self.options.texts

    @property
    def has_choices(self) -> bool:
        """Whether an answer is options."""
        return self.question.task.has_choices

    def add(self, row: AnswerRow, pattern: re.Pattern[str] | None = None) -> None:
        """Add the samples of a row."""
        in_row_order = self if row.options is None or not self.has_choices else self._in_order(row)
        for value in row.samples:
            self.samples.append(
                _Sample(row.node, value, row.model, *_find_stated(value, in_row_order, pattern))
            )

    def _in_order(self, row: AnswerRow) -> _Item:
        """Return the question with its options in the order in which a row has them."""
        reordered = _Item(self.question, row.options)
        order = self.options.order(reordered.texts)
        if order is None and row.options:
            raise row.node.error(
                "the row's options differ from the question's",
                field="options",
                found=", ".join(map(describe_value, row.options or ())),
                expected=f"the options of {self.question.id!r}, in any order",
                hint="Is it a file for other data?",
            )
        reordered.order = order or ()
        if reordered.labels is None and [*reordered.order] == [*range(len(self.texts))]:
            return self
        return reordered


def decide_answers(
    questions: Sequence[Question],
    samples: Samples,
    source: str,
    notes: list[str],
    reading: str | None = None,
) -> list[Prediction]:
    """Return the predictions that answers in words mean, as the format ``answers`` reads them.

    `samples` has for each question its answers, one or several, each with its place; `source` is
    the file's name, `notes` gets what a user should know, and `reading` is the declared one.
    Without it, DataError says that answers can be read in several ways.
    """
    return _decide(_ask(questions, samples), reading, "answer", GOLD_AS, source, notes)


def decide_samples(
    questions: Sequence[Question],
    samples: Samples,
    field: str,
    option: ReadingOption,
) -> str | None:
    """Return the reading of answers in words; see
    :func:`classic_rc.encodings.decide_mixed_reading`.
    """
    return _find_reading(_ask(questions, samples), field, option)


def _ask(questions: Sequence[Question], samples: Samples) -> list[_Item]:
    items = [_Item(question) for question in questions]
    for item, question_samples in zip(items, samples, strict=True):
        for node, value in question_samples:
            item.add(AnswerRow(node, item.question.id, (value,)))
    return items


def _find_reading(items: Sequence[_Item], field: str, option: ReadingOption) -> str | None:
    """Return the reading of a file's answers, which all of them decide together; None if no
    choice is needed.
    """
    samples = [(sample, item) for item in items if item.has_choices for sample in item.samples]
    has_words = any(not _are_numbers(sample) for sample, _ in samples)
    strict, mixed = list[Written](), list[Written]()
    for sample, item in samples:
        if has_words and sample.form != WHOLE_TEXT and _are_numbers(sample):
            continue  # other answers name options by words: a number in a text does not decide how
        for written, may_mix in ((strict, False), (mixed, True)):
            readings = {name: _agree(sample, name, item, may_mix) for name in READINGS}
            meanings = {name: options for name, options in readings.items() if options is not None}
            written.append(Written(sample.node, sample.value, item.texts, meanings))
        if not mixed[-1].meanings:
            del strict[-1], mixed[-1]
    return decide_mixed_reading(strict, mixed, field=field, option=option)


def _are_numbers(sample: _Sample) -> bool:
    return all(
        meanings.keys() <= {*_NUMBERS}
        for statement in sample.stated
        for way in statement.ways
        for meanings in way
    )


def _agree(sample: _Sample, reading: str, item: _Item, may_mix: bool) -> frozenset[int] | None:
    """Return the options that all statements of an answer name in a reading, or None."""
    meanings = {_resolve(parts, reading, item, may_mix) for parts in sample.stated}
    return meanings.pop() if len(meanings) == 1 else None


def _decide(
    items: Sequence[_Item],
    declared: str | None,
    field: str,
    option: ReadingOption,
    source: str,
    notes: list[str],
) -> list[Prediction]:
    """Return the prediction of each question, the mean of its samples."""
    reading = declared or _find_reading(items, field, option)
    predictions = []
    unparsed: list[tuple[_Item, _Sample]] = []
    n_of_form: Counter[str] = Counter()
    n_samples = n_null = 0
    for item in items:
        counts: Counter[Answer] = Counter()
        n_others = len(unparsed)
        read = []
        answered = [sample for sample in item.samples if sample.value is not None]
        for sample in answered:
            form, answer = sample.form, _parse_answer(sample, item, reading)
            if answer is None:
                form = ""
                unparsed.append((item, sample))
            else:
                counts[answer] += 1
            n_of_form[form] += 1
            example = _show(sample, answer, item) if n_of_form[form] <= _SHOWN_EXAMPLES else ""
            read.append(ReadAnswer(form, example, sample.model))
        n_samples += len(item.samples)
        n_null += bool(item.samples) and not answered
        weights = tuple(count / len(item.samples) for count in counts.values())
        predictions.append(
            Prediction(
                item.question.id,
                tuple(counts),
                weights if weights not in ((), (1.0,)) else None,
                n_candidates=len(item.question.candidates),
                n_samples=len(item.samples),
                n_unparsed=len(unparsed) - n_others,
                read=tuple(read),
            )
        )
    if unparsed:
        item, sample = unparsed[0]
        notes.append(
            f"{source}: {len(unparsed):,} of {n_samples:,} answers could not be parsed and count "
            f"as wrong: first at id {item.question.id!r} ({sample.node.where}): "
            f"{describe_value(sample.value)}"
        )
    if n_null:
        notes.append(f"{source}: {n_null:,} of {len(items):,} questions have no answer and score 0")
    if sampled := [item.question.id for item in items if len(item.samples) > 1]:
        notes.append(
            f"{source}: {len(sampled):,} of {len(items):,} questions have several answers, and "
            f"their mean counts: first at id {sampled[0]!r}"
        )
    return predictions


def _show(sample: _Sample, answer: Answer | None, item: _Item) -> str:
    """Return the part of a text that has its answer, and what it was read as."""
    text = " ".join(sample.shown.split())
    text = text if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT]}…"
    if not isinstance(answer, frozenset):
        return repr(text)
    options = [_write_option(item.question, i) for i in sorted(answer)]
    return f"{text!r} -> {', '.join(options) or 'none'}"


def _parse_answer(sample: _Sample, item: _Item, reading: str | None) -> Answer | None:
    if item.has_choices:
        return _agree(sample, reading or "text", item, may_mix=True)
    if len({str(value) for value in sample.stated}) != 1:
        return None
    value = sample.stated[0]
    texts = _evaluate(value, list) if item.question.task is Task.MULTI_SPAN else None
    if not isinstance(texts, list):
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, (list, dict)):
            return None
        texts = [value]
    answer = tuple(map(_as_text, texts))
    return answer if all(text.strip() for text in answer) else None


# --------------------------------------------------------------------------------------------------
# What an answer states


def _find_stated(
    value: Any, item: _Item, pattern: re.Pattern[str] | None
) -> tuple[str, str, Sequence[Any]]:
    """Return where an answer is in its text, that part of it, and all that the text states."""
    text = _as_text(value)
    value = without_reasoning(value) if isinstance(value, str) else value
    if pattern is not None:
        statements = (
            next((group for group in match.groups() if group is not None), match[0])
            for match in pattern.finditer(_as_text(value))
        )
        return (
            "the pattern",
            text,
            [
                _split(statement, item) if item.has_choices else statement
                for statement in statements
            ],
        )
    if not item.has_choices:
        return WHOLE_TEXT, text, [value]
    value = _unwrap(value)
    whole_text = _split(value, item)
    if not isinstance(value, str) or _says_any(whole_text, item):
        return WHOLE_TEXT, text, [whole_text]
    plain = plain_text(value)
    is_single = item.question.task is Task.SINGLE_CHOICE
    read = [
        (place, parts)
        for place in find_places(plain, item.names)
        if is_single or not place.is_line
        for parts in _read_place(place, item)
    ]
    lines = [parts for place, parts in read if place.is_line]
    # Lines that say three options are a list of them, unless nothing else is stated.
    if len(lines) < len(read) and len({str(parts.ways) for parts in lines}) > 2:
        read = [(place, parts) for place, parts in read if not place.is_line]
    first = next((place for place, _ in read if not place.is_rival), None)
    if first is None:
        return WHOLE_TEXT, text, []
    return first.way, plain[first.start :], [parts for _, parts in read]


def _says_any(parts: _Parts, item: _Item) -> bool:
    return any(_resolve(parts, name, item, may_mix=True) is not None for name in READINGS)


def _read_place(place: Place, item: _Item) -> list[_Parts]:
    """Return what a place states: nothing, or one answer or several."""
    is_single = item.question.task is Task.SINGLE_CHOICE or place.is_rival
    read = [_split(text, item) for text in (place.options if is_single else (place.said,))]
    # The label of no option is an answer too, and another one than those that may be stated
    # elsewhere.
    return [parts for parts in read if place.is_label or _says_any(parts, item)]


def _unwrap(value: Any) -> Any:
    """Return the answer in a fenced block or in an object with a column of answers, or the value
    as it is.
    """
    if isinstance(value, str):
        fence = _FENCE.fullmatch(value)
        value = fence[1] if fence else value
    content = _evaluate(value, dict)
    if not isinstance(content, dict):
        return value
    answers = [item for name, item in content.items() if name in ANSWER_KEYS]
    return answers[0] if len(answers) == 1 else value


def _split(value: Any, item: _Item) -> _Parts:
    value = _evaluate(value, list)
    if item.question.task is Task.SINGLE_CHOICE:
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, (list, dict)):
            return _Parts()
        return _Parts([[statement]] if (statement := _say(value, item)) else [])
    if isinstance(value, list):
        flags = explain(value, item.texts, readings=("flags",)).get("flags")
        if all(isinstance(entry, bool) for entry in value):
            return _Parts(selected=flags if value else frozenset())
        return _Parts([[_say(entry, item) for entry in value]], flags=flags)
    if isinstance(value, str) and len(value) > len(item.texts) * item.longest:
        return _Parts()
    ways = [[as_one]] if (as_one := _say(value, item)) else []
    text = _PREFIX.sub("", _as_text(value).strip(_QUOTES), count=1).strip(_QUOTES)
    if not ways and normalised_text(text).rstrip(".") in _NOTHING:
        return _Parts(selected=frozenset())
    if _JOINED_LETTERS.fullmatch(text):
        ways.append([_say(letter, item) for letter in text])
    for separator in (r"[;|\n]", r",|;|\band\b|&", r"[\s,;&]+"):
        pieces = [piece for piece in re.split(separator, text) if piece.strip()]
        if len(pieces) > 1:
            ways.append([_say(piece, item) for piece in pieces])
    return _Parts(ways)


def _say(value: Any, item: _Item) -> dict[str, int]:
    """Return the option that a word, a text or a number is in each reading; empty if it is none."""
    plain = " ".join(_as_text(value).split())
    if len(plain) > item.longest:
        return {}
    stripped = _PREFIX.sub("", plain.strip(_QUOTES), count=1).strip(_QUOTES)
    if (ordinal := find_ordinal(stripped)) is not None and ordinal < len(item.order):
        return dict.fromkeys(_WORDS, item.order[ordinal])
    labelled = ("letter", "label") if item.labels else ("letter",)
    options_of = explain([value], item.texts, (), _NUMBERS)
    options_of |= explain([stripped], item.texts, item.labels, labelled)
    meanings = {name: next(iter(options)) for name, options in options_of.items()}
    texts = item.options.find(plain) or match_text(stripped, item.options)
    if len(texts) == 1:
        (meanings["text"],) = texts
    return {name: item.order[option] for name, option in meanings.items()}


def _resolve(parts: _Parts, reading: str, item: _Item, may_mix: bool) -> frozenset[int] | None:
    """Return the options that an answer names in a reading, or None.

    With `may_mix`, a word that is one option in every reading that it has is that option in this
    reading too.
    """
    if parts.selected is not None or reading == "flags":
        return parts.flags if parts.selected is None else parts.selected
    is_single = item.question.task is Task.SINGLE_CHOICE
    for mixing in (False, True) if may_mix else (False,):
        for way in parts.ways:
            options = []
            for meanings in way:
                words = {meanings[name] for name in _WORDS if name in meanings} if mixing else set()
                options.append(meanings.get(reading, words.pop() if len(words) == 1 else None))
            named_options = frozenset(option for option in options if option is not None)
            is_repeated = reading in _NUMBERS and len(named_options) < len(options)
            if (
                named_options
                and None not in options
                and (len(named_options) == 1 if is_single else not is_repeated)
            ):
                return named_options
    return None


def _evaluate(value: Any, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    """Return the list or the object that a text is in JSON, or in Python, as pandas writes lists;
    else the value.
    """
    if not isinstance(value, str) or not value.strip().startswith("[" if kind is list else "{"):
        return value
    try:
        content = parse_json(value, "")
    except DataError:
        content = read_literal(value)
    return content if isinstance(content, kind) else value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
