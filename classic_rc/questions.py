"""The model: passages, candidates, questions and datasets, in the words of the field.

Everything here is immutable and cheap to make; what the text *means* (tokens, ids) is worked out in bulk
by :mod:`classic_rc.text`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from classic_rc.errors import DataError, MissingPackageError

if TYPE_CHECKING:
    import pandas

PLACEHOLDER = "@placeholder"
"""What stands for the missing entity in a cloze question; readers of other notations convert to it."""

Gold: TypeAlias = "frozenset[int] | tuple[str, ...] | None"
"""The right answer: candidate indices for choices, texts for cloze and spans, None where hidden."""

_COLUMNS = ("id", "passage_id", "passage", "question", "candidates", "gold", "task", "split")


class Task(StrEnum):
    """What a question asks for, which decides how gold is read and which metrics apply."""

    SINGLE_CHOICE = "single-choice"
    """One candidate is right; gold is the set of its index (some datasets accept several)."""
    MULTIPLE_ANSWER = "multiple-answer"
    """Each candidate is right or wrong by itself; gold is the set of the right ones and may be empty."""
    CLOZE = "cloze"
    """An entity fills the placeholder; gold is the accepted texts, any one of which suffices."""
    SPAN = "span"
    """A span of the passage answers; gold is the accepted texts, any one of which suffices."""
    MULTI_SPAN = "multi-span"
    """One or more spans answer; gold is the texts of all of them, together one answer."""

    @property
    def has_choices(self) -> bool:
        """Whether gold and predictions are candidate indices (else they are texts)."""
        return self in (Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER)

    @property
    def has_spans(self) -> bool:
        """Whether candidates are spans that a generator makes, not the dataset."""
        return self in (Task.SPAN, Task.MULTI_SPAN)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Passage:
    """A text that questions are asked about.

    Parameters
    ----------
    id : str
        Unique within its dataset.
    text : str
        The text, without the dataset's markup.
    sentences : sequence of (int, int), optional
        The dataset's own sentence marks, as character offsets (start, end) into `text`; None where it has
        none, and sentences are then found by :mod:`classic_rc.text.sentences`.
    meta : mapping
        Anything else that the dataset says of the passage.
    """

    id: str
    text: str
    sentences: tuple[tuple[int, int], ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Candidate:
    """A possible answer: an option, an entity mention or a span.

    Parameters
    ----------
    text : str
        The candidate's text.
    start, end : int, optional
        For a mention or a span, its character offsets in the passage; `end` is exclusive.
    """

    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Question:
    """A question about a passage, its candidates and, unless hidden, its gold answer.

    Parameters
    ----------
    id : str
        Unique within its dataset.
    passage : Passage
        Shared by all the questions about it.
    text : str
        The question; for cloze the query, with :data:`PLACEHOLDER` where the entity belongs.
    candidates : sequence of Candidate
        In the dataset's order; empty for span questions until a generator is applied.
    gold : frozenset of int, tuple of str, or None
        See :class:`Task` for how it is read.
    task : Task
    meta : mapping
        Anything else that the dataset says of the question: level, required sentences, type.
    """

    id: str
    passage: Passage
    text: str
    candidates: Sequence[Candidate]
    gold: Gold
    task: Task
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def query(self) -> str:
        """Its words: the text, a cloze query's without the placeholder."""
        return self.text.replace(PLACEHOLDER, " ") if self.task is Task.CLOZE else self.text

    @property
    def gold_texts(self) -> tuple[str, ...]:
        """The texts of the right candidates, or the accepted texts; empty where gold is hidden."""
        if self.task.has_choices:
            return tuple(self.candidates[i].text for i in sorted(self.gold or ()) if isinstance(i, int))
        return tuple(map(str, self.gold or ()))

    def meta_value(self, key: str, default: Any = None) -> Any:
        """What its `meta`, or else its passage's, says under a key."""
        return self.meta.get(key, self.passage.meta.get(key, default))


@dataclass(frozen=True, slots=True)
class Source:
    """A file that a dataset was read from: provenance, never identity."""

    path: str
    sha256: str


@dataclass(frozen=True, eq=False)
class Dataset(Sequence[Question]):
    """A sequence of questions of one task, with a name and a content fingerprint.

    Slicing and :meth:`filter` give datasets that share the questions.

    Parameters
    ----------
    questions : sequence of Question
    name : str
        Such as ``"mc500.dev"``; for people, not for identity.
    split : str, optional
        ``"train"``, ``"dev"``, ``"test"`` or whatever the source calls it.
    reader : str, optional
        The name of the reader that built it.
    sources : tuple of Source
        The files it was read from.
    notes : tuple of str
        What the reader has to say to the user: files passed over, offsets relocated, with counts.

    Raises
    ------
    DataError
        Two questions have one id, questions have different tasks, or gold names a candidate that is not there.
    """

    questions: Sequence[Question]
    name: str = "questions"
    split: str | None = None
    reader: str | None = None
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    span_generator: str | None = None
    """The signature of the generator whose spans are the candidates, if one was applied."""
    read_with: Mapping[str, Any] | None = None
    """What :func:`classic_rc.load` was asked for, as plain data; None for parts of it and questions in memory."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", tuple(self.questions))
        _check(self.questions, self.name)

    def __len__(self) -> int:
        return len(self.questions)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset: ...
    def __getitem__(self, index: int | slice) -> Question | Dataset:
        if isinstance(index, slice):
            return replace(self, questions=self.questions[index], read_with=None)
        return self.questions[index]

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {len(self)} {self.task or ''} questions>".replace("  ", " ")

    @property
    def task(self) -> Task | None:
        """The task of all its questions; None when it has no question."""
        return self.questions[0].task if self.questions else None

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The distinct passages (by identity), in the order of their first question."""
        return tuple({id(q.passage): q.passage for q in self.questions}.values())

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """Its questions by id."""
        return {q.id: q for q in self.questions}

    @cached_property
    def fingerprint(self) -> str:
        """Hex sha256 of the content: ids, texts, candidates and gold in order, whatever the files' form.

        A generator's spans are not content: with or without them the fingerprint is the same.
        """
        return _fingerprint(self.questions)

    def filter(self, keep: Callable[[Question], bool]) -> Dataset:
        """The questions for which `keep` is true, as a dataset."""
        return replace(self, questions=[q for q in self.questions if keep(q)], read_with=None)

    def with_candidates(self, generator: Callable[[Passage], Sequence[Candidate]], signature: str) -> Dataset:
        """The same span questions, with `generator`'s spans of their passage as candidates.

        Parameters
        ----------
        generator : callable
            Takes a passage, gives its candidates; called once a passage, when they are first looked at.
        signature : str
            The generator's parameters, for the reproducibility signature.
        """
        lazy = {id(p): LazyCandidates(p, generator) for p in self.passages}
        questions = [replace(q, candidates=lazy[id(q.passage)]) for q in self.questions]
        return replace(self, questions=questions, span_generator=signature)

    def to_frame(self) -> pandas.DataFrame:
        """The questions as a pandas frame, one a row.

        ``from_rows(frame.to_dict("records"))`` reads the questions back; only mentions lose their offsets.

        Returns
        -------
        pandas.DataFrame
            Its columns, in this order:

            ``id``, ``passage_id``, ``passage``, ``question``
                Texts; the passage's is repeated for each of its questions.
            ``candidates``
                A tuple of texts. It is empty for span questions: what a generator made is left out.
            ``gold``
                A tuple: the indices of the right candidates from 0, or the accepted texts; None where it is hidden.
            ``task``
                Such as ``"single-choice"``.
            ``split``
                The question's own where its `meta` has one, else that of the dataset.
            ``meta.KEY``
                A column for each other key of the questions' and the passages' `meta`, None where a question has
                no such key. A question's own value comes before that of its passage.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingPackageError("pandas", needed_for="to_frame()", extra="pandas") from error
        keys = dict.fromkeys(key for q in self.questions for key in (*q.passage.meta, *q.meta) if key != "split")
        rows = [
            (
                q.id,
                q.passage.id,
                q.passage.text,
                q.text,
                () if q.task.has_spans else tuple(candidate.text for candidate in q.candidates),
                None if q.gold is None else tuple(sorted(q.gold) if isinstance(q.gold, frozenset) else q.gold),
                q.task.value,
                q.meta_value("split", self.split),
                *(q.meta_value(key) for key in keys),
            )
            for q in self.questions
        ]
        return pandas.DataFrame(rows, columns=[*_COLUMNS, *(f"meta.{key}" for key in keys)])


class LazyCandidates(Sequence[Candidate]):
    """A passage's generated candidates, made each time they are looked at and not kept.

    Equal passages share one object, so that whoever streams over a dataset can call :meth:`generate` once a
    passage and drop the result.
    """

    __slots__ = ("_generator", "_passage")

    def __init__(self, passage: Passage, generator: Callable[[Passage], Sequence[Candidate]]) -> None:
        self._passage, self._generator = passage, generator

    def generate(self) -> Sequence[Candidate]:
        """The candidates, freshly generated."""
        return self._generator(self._passage)

    def __len__(self) -> int:
        return len(self.generate())

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        return self.generate()[index]

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.generate())


def normalised_text(text: str) -> str:
    """Case-folded, with runs of white space as one blank: what makes two texts the same text."""
    return " ".join(text.casefold().split())


def _check(questions: Iterable[Question], name: str) -> None:
    seen: set[str] = set()
    tasks: set[Task] = set()
    for q in questions:
        if q.id in seen:
            raise DataError(
                "two questions have this id", source=name, where=f"question {q.id}", expected="unique ids"
            )
        seen.add(q.id)
        tasks.add(q.task)
        if q.gold is not None and q.task.has_choices:
            outside = [g for g in q.gold if not isinstance(g, int) or not 0 <= g < len(q.candidates)]
            if outside:
                raise DataError(
                    "gold is not among the candidates",
                    source=name,
                    where=f"question {q.id}",
                    found=f"gold {outside[0]!r} and {len(q.candidates)} candidates",
                    expected=f"candidate indices from 0 to {len(q.candidates) - 1}",
                )
    if len(tasks) > 1:
        raise DataError(
            "questions of different tasks in one dataset",
            source=name,
            found=", ".join(sorted(tasks)),
            expected="one task",
            hint="Read them as one dataset each",
        )


def _fingerprint(questions: Iterable[Question]) -> str:
    digest = hashlib.sha256()
    previous: Passage | None = None
    for q in questions:
        parts = [] if q.passage is previous else ["passage", q.passage.id, q.passage.text]
        previous = q.passage
        parts += ["question", q.id, q.task, q.text]
        if not q.task.has_spans:
            parts += ["candidates", str(len(q.candidates)), *(c.text for c in q.candidates)]
        if q.task is Task.CLOZE:
            parts += [f"{c.start}-{c.end}" for c in q.candidates]
        if q.gold is None:
            parts.append("hidden")
        else:
            gold = sorted(q.gold) if isinstance(q.gold, frozenset) else q.gold
            parts += ["gold", str(len(gold)), *map(str, gold)]
        # Each part behind its length, so that no two different contents run together into the same bytes.
        digest.update("".join([f"{len(part)}:{part}" for part in parts]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
