"""What a reader is: it recognises a file by its content and makes questions of it."""

from __future__ import annotations

import gc
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import ClassVar, TypeVar

from classic_rc.datasets.reading import Options, Reading
from classic_rc.errors import DataError, UsageError
from classic_rc.io.archives import File, Input
from classic_rc.questions import Dataset, Question

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
