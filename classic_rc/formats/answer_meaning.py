"""What answers in words mean: the options, or the text, that a letter, a text or a model's
whole output says.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

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
from classic_rc.errors import DataError
from classic_rc.formats.base import format_option
from classic_rc.formats.extraction import (
    ANSWER_KEYS,
    Place,
    find_ordinal,
    find_places,
    plain_text,
    without_reasoning,
)
from classic_rc.formats.layouts import AnswerRow
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


class AnsweredQuestion:
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
        folded_texts = (" ".join(text.lower().split()) for text in self.texts)
        self.names = [text.strip(_QUOTES + ".") for text in folded_texts]
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
            statement = _find_stated(value, in_row_order, pattern)
            self.samples.append(_Sample(row.node, value, row.model, *statement))

    def _in_order(self, row: AnswerRow) -> AnsweredQuestion:
        """Return the question with its options in the order in which a row has them."""
        reordered = AnsweredQuestion(self.question, row.options)
        order = self.options.order(reordered.texts)
        if order is None and row.options:
            raise row.node.error(
                "the row's options differ from the question's",
                field="options",
                found=", ".join(map(describe_value, row.options)),
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
    return decide_together(_ask(questions, samples), reading, "answer", GOLD_AS, source, notes)


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


def _ask(questions: Sequence[Question], samples: Samples) -> list[AnsweredQuestion]:
    items = [AnsweredQuestion(question) for question in questions]
    for answered, question_samples in zip(items, samples, strict=True):
        for node, value in question_samples:
            answered.add(AnswerRow(node, answered.question.id, (value,)))
    return items


def _find_reading(
    questions: Sequence[AnsweredQuestion], field: str, option: ReadingOption
) -> str | None:
    """Return the reading of a file's answers, which all of them decide together; None if no
    choice is needed.
    """
    samples = [
        (sample, answered)
        for answered in questions
        if answered.has_choices
        for sample in answered.samples
    ]
    has_words = any(not _are_numbers(sample) for sample, _ in samples)
    strict, mixed = list[Written](), list[Written]()
    for sample, answered in samples:
        if has_words and sample.form != WHOLE_TEXT and _are_numbers(sample):
            continue  # other answers name options by words: a number in a text does not decide how
        for written, may_mix in ((strict, False), (mixed, True)):
            readings = {name: _agree(sample, name, answered, may_mix) for name in READINGS}
            meanings = {name: options for name, options in readings.items() if options is not None}
            written.append(Written(sample.node, sample.value, answered.texts, meanings))
        if not mixed[-1].meanings:
            del strict[-1], mixed[-1]
    return decide_mixed_reading(strict, mixed, field=field, option=option)


def _are_numbers(sample: _Sample) -> bool:
    ways = (way for statement in sample.stated for way in statement.ways)
    return all(meanings.keys() <= {*_NUMBERS} for way in ways for meanings in way)


def _agree(
    sample: _Sample, reading: str, answered: AnsweredQuestion, may_mix: bool
) -> frozenset[int] | None:
    """Return the options that all statements of an answer name in a reading, or None."""
    meanings = {_resolve(parts, reading, answered, may_mix) for parts in sample.stated}
    return meanings.pop() if len(meanings) == 1 else None


def decide_together(
    questions: Sequence[AnsweredQuestion],
    declared: str | None,
    field: str,
    option: ReadingOption,
    source: str,
    notes: list[str],
) -> list[Prediction]:
    """Return the prediction of each question, the mean of its samples."""
    reading = declared or _find_reading(questions, field, option)
    predictions = []
    unparsed: list[tuple[AnsweredQuestion, _Sample]] = []
    n_of_form: Counter[str] = Counter()
    n_samples = n_null = 0
    for answered in questions:
        counts: Counter[Answer] = Counter()
        n_others = len(unparsed)
        read = []
        non_null = [sample for sample in answered.samples if sample.value is not None]
        for sample in non_null:
            form, answer = sample.form, _parse_answer(sample, answered, reading)
            if answer is None:
                form = ""
                unparsed.append((answered, sample))
            else:
                counts[answer] += 1
            n_of_form[form] += 1
            example = _show(sample, answer, answered) if n_of_form[form] <= _SHOWN_EXAMPLES else ""
            read.append(ReadAnswer(form, example, sample.model))
        n_samples += len(answered.samples)
        n_null += bool(answered.samples) and not non_null
        question = answered.question
        # The weights sum to less than 1 where samples say nothing: those count as wrong.
        weights = tuple(count / len(answered.samples) for count in counts.values())
        prediction = Prediction(
            question.id,
            tuple(counts),
            None if weights in ((), (1.0,)) else weights,
            n_candidates=len(question.candidates),
            n_samples=len(answered.samples),
            n_unparsed=len(unparsed) - n_others,
            read=tuple(read),
        )
        predictions.append(prediction)
    if unparsed:
        answered, sample = unparsed[0]
        notes.append(
            f"{source}: {len(unparsed):,} of {n_samples:,} answers could not be parsed and count "
            f"as wrong: first at id {answered.question.id!r} ({sample.node.where}): "
            f"{describe_value(sample.value)}"
        )
    if n_null:
        notes.append(
            f"{source}: {n_null:,} of {len(questions):,} questions have no answer and score 0"
        )
    if sampled := [answered.question.id for answered in questions if len(answered.samples) > 1]:
        notes.append(
            f"{source}: {len(sampled):,} of {len(questions):,} questions have several answers, and "
            f"their mean counts: first at id {sampled[0]!r}"
        )
    return predictions


def _show(sample: _Sample, answer: Answer | None, answered: AnsweredQuestion) -> str:
    """Return the part of a text that has its answer, and what it was read as."""
    text = " ".join(sample.shown.split())
    text = text if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT]}…"
    if not isinstance(answer, frozenset):
        return repr(text)
    options = [write_option(answered.question, i) for i in sorted(answer)]
    return f"{text!r} -> {', '.join(options) or 'none'}"


def _parse_answer(
    sample: _Sample, answered: AnsweredQuestion, reading: str | None
) -> Answer | None:
    if answered.has_choices:
        return _agree(sample, reading or "text", answered, may_mix=True)
    if len({str(value) for value in sample.stated}) != 1:
        return None
    value = sample.stated[0]
    texts = _evaluate(value, list) if answered.question.task is Task.MULTI_SPAN else None
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
    value: Any, answered: AnsweredQuestion, pattern: re.Pattern[str] | None
) -> tuple[str, str, Sequence[Any]]:
    """Return where an answer is in its text, that part of it, and all that the text states."""
    text = _as_text(value)
    value = without_reasoning(value) if isinstance(value, str) else value
    if pattern is not None:
        stated: list[Any] = [_first_group(match) for match in pattern.finditer(_as_text(value))]
        if answered.has_choices:
            stated = [_split(statement, answered) for statement in stated]
        return "the pattern", text, stated
    if not answered.has_choices:
        return WHOLE_TEXT, text, [value]
    value = _unwrap(value)
    whole_text = _split(value, answered)
    if not isinstance(value, str) or _says_any(whole_text, answered):
        return WHOLE_TEXT, text, [whole_text]
    plain = plain_text(value)
    is_single = answered.question.task is Task.SINGLE_CHOICE
    read = []
    for place in find_places(plain, answered.names):
        if is_single or not place.is_line:
            read += [(place, parts) for parts in _read_place(place, answered)]
    lines = [parts for place, parts in read if place.is_line]
    # Lines that say three options are a list of them, unless nothing else is stated.
    if len(lines) < len(read) and len({str(parts.ways) for parts in lines}) > 2:
        read = [(place, parts) for place, parts in read if not place.is_line]
    first = next((place for place, _ in read if not place.is_rival), None)
    if first is None:
        return WHOLE_TEXT, text, []
    return first.way, plain[first.start :], [parts for _, parts in read]


def _first_group(match: re.Match[str]) -> str:
    """Return the first group that matched; without groups the whole match."""
    return next((group for group in match.groups() if group is not None), match[0])


def _says_any(parts: _Parts, answered: AnsweredQuestion) -> bool:
    return any(_resolve(parts, name, answered, may_mix=True) is not None for name in READINGS)


def _read_place(place: Place, answered: AnsweredQuestion) -> list[_Parts]:
    """Return what a place states: nothing, or one answer or several."""
    is_single = answered.question.task is Task.SINGLE_CHOICE or place.is_rival
    read = [_split(text, answered) for text in (place.options if is_single else (place.said,))]
    # The label of no option is an answer too, and another one than those that may be stated
    # elsewhere.
    return [parts for parts in read if place.is_label or _says_any(parts, answered)]


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
    answers = [member for name, member in content.items() if name in ANSWER_KEYS]
    return answers[0] if len(answers) == 1 else value


def _split(value: Any, answered: AnsweredQuestion) -> _Parts:
    value = _evaluate(value, list)
    if answered.question.task is Task.SINGLE_CHOICE:
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if isinstance(value, (list, dict)):
            return _Parts()
        statement = _say(value, answered)
        return _Parts([[statement]] if statement else [])
    if isinstance(value, list):
        flags = explain(value, answered.texts, readings=("flags",)).get("flags")
        if all(isinstance(entry, bool) for entry in value):
            return _Parts(selected=flags if value else frozenset())
        return _Parts([[_say(entry, answered) for entry in value]], flags=flags)
    if isinstance(value, str) and len(value) > len(answered.texts) * answered.longest:
        return _Parts()
    ways = [[as_one]] if (as_one := _say(value, answered)) else []
    text = _PREFIX.sub("", _as_text(value).strip(_QUOTES), count=1).strip(_QUOTES)
    if not ways and normalised_text(text).rstrip(".") in _NOTHING:
        return _Parts(selected=frozenset())
    if _JOINED_LETTERS.fullmatch(text):
        ways.append([_say(letter, answered) for letter in text])
    # The rarest separators first: an option's text may have commas, blanks and "and".
    for separator in (r"[;|\n]", r",|;|\band\b|&", r"[\s,;&]+"):
        pieces = [piece for piece in re.split(separator, text) if piece.strip()]
        if len(pieces) > 1:
            ways.append([_say(piece, answered) for piece in pieces])
    return _Parts(ways)


def _say(value: Any, answered: AnsweredQuestion) -> dict[str, int]:
    """Return the option that a word, a text or a number is in each reading; empty if it is none."""
    plain = " ".join(_as_text(value).split())
    if len(plain) > answered.longest:
        return {}
    stripped = _PREFIX.sub("", plain.strip(_QUOTES), count=1).strip(_QUOTES)
    if (ordinal := find_ordinal(stripped)) is not None and ordinal < len(answered.order):
        return dict.fromkeys(_WORDS, answered.order[ordinal])
    labelled = ("letter", "label") if answered.labels else ("letter",)
    options_of = explain([value], answered.texts, (), _NUMBERS)
    options_of |= explain([stripped], answered.texts, answered.labels, labelled)
    meanings = {name: next(iter(options)) for name, options in options_of.items()}
    texts = answered.options.find(plain) or match_text(stripped, answered.options)
    if len(texts) == 1:
        (meanings["text"],) = texts
    return {name: answered.order[option] for name, option in meanings.items()}


def _resolve(
    parts: _Parts, reading: str, answered: AnsweredQuestion, may_mix: bool
) -> frozenset[int] | None:
    """Return the options that an answer names in a reading, or None.

    With `may_mix`, a word that is one option in every reading that it has is that option in this
    reading too.
    """
    if parts.selected is not None or reading == "flags":
        return parts.flags if parts.selected is None else parts.selected
    is_single = answered.question.task is Task.SINGLE_CHOICE
    for mixing in (False, True) if may_mix else (False,):
        for way in parts.ways:
            options = [_resolve_word(meanings, reading, mixing) for meanings in way]
            named_options = frozenset(option for option in options if option is not None)
            if not named_options or None in options:
                continue
            is_repeated = reading in _NUMBERS and len(named_options) < len(options)
            if len(named_options) == 1 if is_single else not is_repeated:
                return named_options
    return None


def _resolve_word(meanings: dict[str, int], reading: str, mixing: bool) -> int | None:
    if reading in meanings or not mixing:
        return meanings.get(reading)
    options = {meanings[name] for name in _WORDS if name in meanings}
    return options.pop() if len(options) == 1 else None


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


def write_option(question: Question, i: int) -> str:
    """Return the letter of an option, or its text if it comes after Z."""
    return format_option(i) if i < 26 else question.candidates[i].text
