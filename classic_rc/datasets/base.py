"""What a reader is, what the caller may ask of one, and what the files of one reading share."""

from __future__ import annotations

import gc
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, ClassVar, TypeVar

from classic_rc.errors import DataError, UsageError
from classic_rc.io.archives import File, Input
from classic_rc.questions import Dataset, Passage, Question

_Item = TypeVar("_Item")
_SPLITS = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "development": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "test": "test",
}


@dataclass(frozen=True)
class Options:
    """What a caller of :func:`classic_rc.datasets.load` may say of a source besides its path.

    Parameters
    ----------
    split, subset : str, optional
        Which part to read.
    answers : path, optional
        The file of gold answers, or the folder that holds it.
    fields : mapping of str to str, optional
        Where a file of one's own keeps what: role to dotted path.
    gold_as : str, optional
        How such a file codes gold.
    """

    split: str | None = None
    subset: str | None = None
    answers: str | PathLike[str] | None = None
    fields: Mapping[str, str] | None = None
    gold_as: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        answers = None if self.answers is None else fspath(self.answers)
        fields = None if self.fields is None else dict(self.fields)
        return {**vars(self), "answers": answers, "fields": fields}


class Reading:
    """One call of :meth:`Reader.read`: what its files share.

    Attributes
    ----------
    options : Options
    split : str or None
        The split of the file at hand.
    mark_split : bool
        Whether the source holds several splits, so that each question says which it is from.
    used, others : list of File
        Files read beside those of the questions, and files passed over.
    """

    def __init__(self, options: Options, mark_split: bool = False) -> None:
        self.options, self.mark_split = options, mark_split
        self.split: str | None = None
        self.used: list[File] = []
        self.others: list[File] = []
        self._passages: dict[str, Passage] = {}
        self._by_text: dict[str, Passage] = {}
        self._counts: Counter[str] = Counter()

    def passage(
        self,
        id: str | None,
        text: str,
        source: str,
        where: str,
        sentences: Sequence[tuple[int, int]] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Passage:
        """The one object of a passage; without an id, equal texts are one passage.

        Raises
        ------
        DataError
            The id belongs to another text.
        """
        known = self._by_text.get(text) if id is None else self._passages.get(id)
        if known is not None:
            if known.text == text:
                return known
            raise DataError(
                "one passage id has two texts", source=source, where=where, field=id, expected="one text an id"
            )
        name = id if id is not None else self._free_id()
        marks = None if sentences is None else tuple(sentences)
        passage = Passage(name, text, marks, meta) if meta else Passage(name, text, marks)
        self._passages[name] = passage
        if id is None:
            self._by_text[text] = passage
        return passage

    @property
    def passages(self) -> int:
        """How many passages there are so far."""
        return len(self._passages)

    def _free_id(self) -> str:
        number = len(self._by_text) + 1
        while f"passage-{number}" in self._passages:
            number += 1
        return f"passage-{number}"

    def meta(self, **facts: Any) -> dict[str, Any]:
        """A question's meta: these facts, and its split where the source holds several."""
        if self.mark_split and self.split:
            facts["split"] = self.split
        return facts

    def count(self, what: str, number: int = 1) -> None:
        """Count something that the user should know of."""
        self._counts[what] += number

    @property
    def notes(self) -> tuple[str, ...]:
        """What was counted, and the files passed over."""
        used = {file.name for file in self.used}
        if others := [file.base for file in self.others if file.name not in used]:
            self._counts[f"other files passed over ({', '.join(others[:5])}{', …' * (len(others) > 5)})"] = len(
                others
            )
        return tuple(f"{what}: {number:,}" for what, number in self._counts.items())


class Reader(ABC):
    """A file format. A new one is a subclass in its own file, and one line in the registry.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        The dataset or format, for people.
    description : str
        One sentence.
    citation : str
        The paper, or who defines the format.
    cites : tuple of str
        Keys of the references behind `citation`.
    takes : frozenset of str
        Which of ``subset``, ``answers``, ``fields`` and ``gold_as`` mean something to it.
    is_dataset : bool
        Whether it is the format of one dataset, whose name then names what is read.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    cites: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[frozenset[str]] = frozenset()
    is_dataset: ClassVar[bool] = True

    @abstractmethod
    def recognises(self, file: File) -> bool:
        """Whether a file is of this format, told from its content."""

    @abstractmethod
    def questions(self, file: File, reading: Reading) -> Iterator[Question]:
        """The questions of one file, in its order.

        Raises
        ------
        DataError
            The file is malformed.
        """

    def accepts(self, file: File, reading: Reading) -> bool:
        """Whether a file of a folder is one to read."""
        return self.recognises(file)

    def files(self, source: Input, reading: Reading) -> list[File]:
        """The files of a source that hold questions: those highest up that it recognises."""
        if source.single:
            return [source.single]
        for depth in sorted({file.depth for file in source.files}):
            level = [file for file in source.files if file.depth == depth]
            found: list[File] = []
            others: list[File] = []
            broken: list[tuple[File, DataError]] = []
            for file in level:
                try:
                    (found if self.accepts(file, reading) else others).append(file)
                except DataError as error:
                    broken.append((file, error))
            if found:
                suffixes = {file.suffix for file in found}
                for file, problem in broken:
                    if file.suffix in suffixes:  # one of the dataset's own, it seems
                        raise problem
                    others.append(file)
                reading.others = others
                return found
        raise DataError(f"no file in it is of the format {self.name}", source=source.path, expected=self.title)

    def split_of(self, file: File) -> str | None:
        """The split that a file holds, as its name tells."""
        return split_in(file.stem)

    def subset_of(self, file: File) -> str | None:
        """The subset that a file holds."""
        return None

    def read(
        self,
        source: Input,
        *,
        split: str | None = None,
        subset: str | None = None,
        answers: str | PathLike[str] | None = None,
        fields: Mapping[str, str] | None = None,
        gold_as: str | None = None,
    ) -> Dataset:
        """The questions of a source.

        Parameters
        ----------
        source : Input
        split : str, optional
            The split to read (``"val"``, ``"validation"`` and ``"dev"`` mean the same); all of them when None. Of a
            source that does not tell its split, the name to give it.
        subset : str, optional
            The subset to read; all of them when None.
        answers, fields, gold_as
            See :class:`Options`.

        Raises
        ------
        DataError
            The source is malformed, or does not hold the split or the subset.
        UsageError
            An option means nothing to this reader.
        """
        options = Options(split, subset, answers, fields, gold_as)
        for option in ("subset", "answers", "fields", "gold_as"):
            if getattr(options, option) is not None and option not in self.takes:
                raise UsageError(f"the reader {self.name} has no use for {option}")
        reading = Reading(options)
        files = self.files(source, reading)
        splits = {file: self.split_of(file) for file in files}
        subsets = {file: self.subset_of(file) for file in files}
        reading.mark_split = len({s for s in splits.values() if s}) > 1
        files = _part(files, subsets, subset, str.lower, "subset", source)
        files = _part(files, splits, split, canonical_split, "split", source)

        with _collector_paused():
            questions = self._gather(files, splits, reading)
        if not questions:
            raise DataError("no question in it", source=source.path)
        held = {splits[file] for file in files}
        if held == {None}:  # a user's own file may tell it question by question
            marks = {q: str(q.meta["split"]) if "split" in q.meta else None for q in questions}
            questions = _part(questions, marks, split, canonical_split, "split", source)
            held = {marks[q] for q in questions}
        told = held.pop() if len(held) == 1 else None
        return Dataset(
            questions,
            name=self.dataset_name(source, files, told, subset),
            split=told or split,
            reader=self.name,
            sources=source.sources(files + reading.used),
            notes=source.notes + reading.notes,
            read_with={"path": source.path, "reader": self.name, **options.to_dict()},
        )

    def _gather(self, files: list[File], splits: Mapping[File, str | None], reading: Reading) -> list[Question]:
        questions: list[Question] = []
        seen: dict[str, str] = {}
        for file in files:
            reading.split = splits[file]
            for question in self.questions(file, reading):
                if question.id in seen:
                    raise DataError(
                        "two questions have one id",
                        source=file.name,
                        where=f"question {question.id}",
                        found=f"another in {seen[question.id]}" if seen[question.id] != file.name else None,
                        expected="unique ids",
                        hint="Where rows have no id, name one of the files"
                        if seen[question.id] != file.name
                        else None,
                    )
                seen[question.id] = file.name
                questions.append(question)
            if file.blank_lines:
                reading.count("blank lines passed over", file.blank_lines)
            file.release()
        if unasked := reading.passages - len({id(question.passage) for question in questions}):
            reading.count("passages without questions", unasked)
        return questions

    def dataset_name(self, source: Input, files: list[File], split: str | None, subset: str | None) -> str:
        """What tables call the dataset."""
        if self.is_dataset and split:
            return ".".join(part for part in (self.name, split, subset) if part)
        return source.stem


def split_in(name: str) -> str | None:
    """The split that a name tells, as the name has it; None where it tells none or two.

    Examples
    --------
    >>> split_in("dev_83-fixedIds"), split_in("val"), split_in("RACE-train-dev")
    ('dev', 'val', None)
    """
    told = {word for word in re.split(r"[^a-z]+", name.lower()) if word in _SPLITS}
    return told.pop() if len(told) == 1 else None


def canonical_split(split: str) -> str:
    """The usual name of a split, whatever a source calls it.

    Examples
    --------
    >>> canonical_split("validation"), canonical_split("Test"), canonical_split("challenge")
    ('dev', 'test', 'challenge')
    """
    return _SPLITS.get(split.lower(), split.lower())


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without looking for cycles among a million questions and candidates: it takes as long as reading them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _part(
    items: list[_Item],
    held: Mapping[_Item, str | None],
    wanted: str | None,
    normal: Callable[[str], str],
    kind: str,
    source: Input,
) -> list[_Item]:
    """The items that are of the part wanted; all of them when none is, or when the source tells no split."""
    names = list(dict.fromkeys(name for name in held.values() if name is not None))
    if wanted is None or (kind == "split" and not names):
        return items
    chosen = [item for item in items if (name := held[item]) is not None and normal(name) == normal(wanted)]
    if not chosen:
        raise DataError(
            f"the source does not hold this {kind}",
            source=source.path,
            found=", ".join(names) or f"no {kind}",
            expected=repr(wanted),
        )
    return chosen
