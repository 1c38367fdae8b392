"""One reading of a source: the options of the caller, and the state that its files share, with
ids made unique and what was left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike, fspath
from typing import Any

from classic_rc.datasets.text_store import TextStore
from classic_rc.errors import DataError, unknown_name
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.io.json import Node
from classic_rc.protocol import SKIPPED
from classic_rc.questions import Passage, Question, ReadingLog, candidate_texts

_SHOWN_PLACES = 3


def check_skipped(skip: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return what to leave out, given as names or as one text with commas, or raise UsageError."""
    if isinstance(skip, str):
        names = [name.strip() for name in skip.split(",")]
    else:
        names = list(skip or ())
    for name in names:
        if name not in SKIPPED:
            raise unknown_name("kind of questions to skip", name, SKIPPED)
    return tuple(name for name in SKIPPED if name in names)


@dataclass(frozen=True)
class Options:
    """The options of :func:`classic_rc.datasets.load` apart from the path and the reader."""

    split: str | None = (
        None  # the split to read ("val" is "dev"), or the split's name if the source has no names
    )
    subset: str | None = None  # the subset to read
    answers: str | PathLike[str] | None = None  # the file of gold answers, or its folder
    fields: Mapping[str, str] | None = None  # for the user's own file: role to dotted path
    gold_as: str | None = None  # for the user's own file: the coding of gold
    skip: tuple[str, ...] = ()  # what to leave out: of SKIPPED
    scorer: str | None = None  # of span questions: names joined by plus signs

    @property
    def skip_bad(self) -> bool:
        """Whether to leave out what cannot be read, instead of raising the error."""
        return "bad" in self.skip

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data."""
        answers = None if self.answers is None else fspath(self.answers)
        fields = None if self.fields is None else dict(self.fields)
        return {**vars(self), "answers": answers, "fields": fields, "skip": list(self.skip)}


class Reading(AbstractContextManager["Reading"]):
    """The state of one call of :meth:`~classic_rc.datasets.base.Reader.read`, shared by its files;
    and the context in which a part is read, see :meth:`at`.

    `split` is the split of the current file. With `mark_split`, the source has several, and each
    question's meta names its own. `used` are other files that were read, such as gold; `others`
    were skipped. With ``skip="bad"``, `left_out` has what could not be read, and `repaired` what
    was repaired. `texts` keeps texts.
    """

    source: InputFiles  # of :meth:`~classic_rc.datasets.base.Reader.read`

    def __init__(self, options: Options) -> None:
        self.options, self.mark_split = options, False
        self.split: str | None = None
        self.used: list[InputFile] = []
        self.others: list[InputFile] = []
        self.texts = TextStore()
        self._passages: dict[str, Passage] = {}
        self._by_text: dict[str | bytes, Passage] = {}
        self._no_facts: dict[str, Any] = {}  # one object for all questions
        self._counts: Counter[str] = Counter()
        self._facts: list[str] = []
        self.left_out: list[DataError] = []
        self.repaired: list[DataError] = []
        self._place: Node | str = ""
        self._id: str | None = None

    def at(self, place: Node | str, id: str | None = None) -> AbstractContextManager[object]:
        """Return the context in which a part is read: a line, a passage with its questions, a
        question.

        Strict reading passes an error of the part on. With ``skip="bad"`` the part is left out, the
        error is kept in :attr:`left_out`, and reading continues after the ``with`` block. A
        question may be yielded inside it. `id` is the question's id, if the part does not show it.
        """
        self._place, self._id = place, id
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not (self.options.skip_bad and isinstance(error, DataError)):
            return False
        self.left_out.append(self._with_place(error))
        return True

    @property
    def guard(self) -> AbstractContextManager[object]:
        """The context of what is left out as a whole if it is malformed."""
        return self

    @property
    def where(self) -> str:
        """The place in the current file: a line, a JSON path, or both."""
        return self._place if isinstance(self._place, str) else self._place.where

    def repair(
        self, what: str, source: str, actual: str | None = None, expected: str | None = None
    ) -> None:
        """Count a defect that reading repairs; with ``skip="bad"``, also keep its place."""
        self.count(what)
        if self.options.skip_bad:
            error = DataError(
                what, source=source, where=self.where, found=actual, expected=expected
            )
            self.repaired.append(self._with_place(error))

    def _with_place(self, error: DataError) -> DataError:
        # An unparsable line has its own place, and the id of the part before it says nothing.
        if error.question is None and (
            not error.where or re.match(re.escape(self.where) + r"(\W|$)", error.where)
        ):
            error.question = self._id or (None if isinstance(self._place, str) else self._place.id)
        return error.with_traceback(None)  # A traceback would keep the whole file in memory.

    def passage(
        self,
        id: str | None,
        text: str,
        source: str,
        where: str,
        sentences: Sequence[tuple[int, int]] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Passage:
        """Return the shared object of a passage. Without an id, equal texts are one passage."""
        earlier = self._by_text.get(text) if id is None else self._passages.get(id)
        key: str | bytes = text
        # a copy of the text would stay in memory
        if earlier is None and id is None and self.texts.is_open:
            key = sha256(text.encode("utf-8", "surrogatepass")).digest()
            earlier = self._by_text.get(key)
        if earlier is not None:
            if earlier.text == text:
                return earlier
            raise DataError(
                "a passage id has two texts",
                source=source,
                where=where,
                found=repr(id),
                expected="one text for each id",
            )
        name = id if id is not None else self._free_id()
        marks = None if sentences is None else tuple(sentences)
        passage = self.texts.make_passage(name, text, marks, meta)
        self._passages[name] = passage
        if id is None:
            self._by_text[key] = passage
        return passage

    @property
    def passages(self) -> int:
        """The number of passages so far."""
        return len(self._passages)

    def _free_id(self) -> str:
        number = len(self._by_text) + 1
        while f"passage-{number}" in self._passages:
            number += 1
        return f"passage-{number}"

    def meta(self, **facts: Any) -> dict[str, Any]:
        """Return a question's meta: these facts, and the split if the source has several."""
        if self.mark_split and self.split:
            facts["split"] = self.split
        return facts or self._no_facts

    def count(self, what: str, number: int = 1) -> None:
        """Count something that the user should know about."""
        self._counts[what] += number

    def note(self, text: str) -> None:
        """Note something that the user should know about, once."""
        if text not in self._facts:
            self._facts.append(text)

    @property
    def notes(self) -> tuple[str, ...]:
        """The counts and the skipped files, as notes for the user."""
        used = {file.name for file in self.used}
        if others := [file.base for file in self.others if file.name not in used]:
            examples = ", ".join(others[:5]) + ", …" * (len(others) > 5)
            self._counts[f"other files skipped ({examples})"] = len(others)
        counts = (f"{what}: {number:,}" for what, number in self._counts.items())
        return (*self._left_out_notes(), *counts, *self._facts)

    def _left_out_notes(self) -> Iterator[str]:
        by_problem: dict[str, list[DataError]] = {}
        for error in self.left_out:
            by_problem.setdefault(error.kind, []).append(error)
        for problem, errors in by_problem.items():
            places = "; ".join(error.place for error in errors[:_SHOWN_PLACES])
            ellipsis = "; …" * (len(errors) > _SHOWN_PLACES)
            yield f"left out: {problem}: {len(errors):,} ({places}{ellipsis})"

    def log(self, places: Mapping[str, str]) -> ReadingLog | None:
        """Return what was left out and repaired, and the places of questions; None for strict
        reading.
        """
        if not self.options.skip_bad:
            return None
        return ReadingLog(tuple(self.left_out), tuple(self.repaired), places)


def gather(
    questions: Iterable[Question],
    source: str,
    reading: Reading,
    seen: dict[str, tuple[str, *tuple[Question, ...]]],
    places: dict[str, str],
) -> list[Question]:
    """Return the questions of one file, each with an id of its own.

    Published files repeat ids on different questions. Those after the first become ``ID (2)``, ``ID
    (3)``, and so on, and are counted. A repeated question is an error, and so is an id that another
    file has. `seen` has the file of each id so far, and the questions of this file with it;
    `places`, with ``skip="bad"``, the place of each question by id.
    """
    gathered: list[Question] = []
    keep_candidates, skip_bad = reading.texts.keep_candidates, reading.options.skip_bad
    for question in questions:
        own_id = question.id
        earlier_entry = seen.get(own_id)
        file, earlier = (earlier_entry[0], earlier_entry[1:]) if earlier_entry else (source, ())
        if file != source or (
            earlier
            and any(
                content_of(earlier_question) == content_of(question) for earlier_question in earlier
            )
        ):
            with reading.guard:
                raise _duplicate_id_error(question, source, file, reading)
            continue
        if (candidates := keep_candidates(question.candidates)) is not question.candidates:
            # The reader has just made it: no copy.
            object.__setattr__(question, "candidates", candidates)
        if earlier:
            number = len(earlier) + 1
            while f"{own_id} ({number})" in seen:
                number += 1
            question = replace(question, id=f"{own_id} ({number})")
            what = (
                "question ids that an earlier, different question has (made unique: ID (2), ID "
                "(3), …)"
            )
            reading.repair(what, source, own_id, question.id)
            seen[question.id] = source, question
        seen[own_id] = source, *earlier, question
        if skip_bad:
            places[question.id] = ", ".join(filter(None, (source, reading.where)))
        gathered.append(question)
    return gathered


def content_of(question: Question) -> tuple[str, str, tuple[str, ...]]:
    """Return the passage, the question and the options; equal for a question that is there
    twice.
    """
    options = () if question.task.has_spans else tuple(candidate_texts(question.candidates))
    return question.passage.text, question.text, options


def _duplicate_id_error(question: Question, source: str, first: str, reading: Reading) -> DataError:
    where, actual, hint = reading.where, None, None
    if not reading.options.skip_bad:
        where += f", question {question.id}"
    if first != source:
        actual = f"the same id in {first}"
        hint = "If the rows have no ids, load one of the files"
    return DataError(
        "duplicate question id",
        source=source,
        where=where,
        found=actual,
        expected="unique ids",
        hint=hint,
        question=question.id,
    )


def no_questions_error(source: str, left_out: Sequence[DataError]) -> DataError:
    """Return the error for a source without questions: the only or first thing that was left
    out, if any.
    """
    if len(left_out) == 1:
        return left_out[0]
    expected = "at least one question"
    if not left_out:
        return DataError("no questions", source=source, expected=expected)
    actual = f"{len(left_out):,} defects, the first: {left_out[0]}"
    return DataError("no question can be read", source=source, found=actual, expected=expected)


def keep_labelled(questions: Sequence[Question], source: str, reading: Reading) -> list[Question]:
    """Return the questions whose gold is known, and count the others."""
    labelled = [question for question in questions if question.gold is not None]
    if not labelled:
        raise DataError(
            "all gold is hidden",
            source=source,
            expected="a question with gold, to skip those without",
        )
    if hidden := [question.id for question in questions if question.gold is None]:
        first_ids = ", ".join(hidden[:_SHOWN_PLACES]) + ", …" * (len(hidden) > _SHOWN_PLACES)
        reading.count(f"questions left out because their gold is hidden ({first_ids})", len(hidden))
    return labelled
