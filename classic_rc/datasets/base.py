"""The base class of readers, and what readers of several formats call."""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TypeAlias

from classic_rc.datasets.reading import Options, Reading, gather, keep_labelled, no_questions_error
from classic_rc.datasets.splits import (
    canonical_split,
    find_split_name,
    select_part,
    split_in_meta,
)
from classic_rc.errors import DataError, UsageError
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.questions import Dataset, Question
from classic_rc.work import tracked

Origin: TypeAlias = "tuple[str, str | None]"
"""A published dataset and its split, None if it is unknown."""


class Reader(ABC):
    """The reader of one file format. A new format is a subclass in its own file, and one line in
    the registry.

    Attributes
    ----------
    name : str
        The name on the command line.
    title : str
        The name of the dataset or format, for people.
    description : str
        One sentence.
    citation : str
        The paper, or the source that defines the format.
    cites : tuple of str
        The keys of the references in `citation`.
    takes : frozenset of str
        The options that the reader accepts, of ``subset``, ``answers``, ``fields`` and ``gold_as``.
    is_dataset : bool
        Whether the format belongs to one dataset. The reader's name is then part of the dataset's
        name.
    dataset : str
        The name of that dataset, if it is not the reader's.
    is_one_dataset : bool
        Whether a file is only a piece, an article or a query, so that a folder of such files is one
        dataset.
    names_subset : bool
        Whether a dataset's name includes the subset of all its files, even if no subset was
        requested.
    published_as : str
        The dataset's name in tables of published figures; empty if there are none.
    is_log : bool
        Whether a file has a model's answers to its questions too.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    cites: ClassVar[tuple[str, ...]] = ()
    takes: ClassVar[frozenset[str]] = frozenset()
    is_dataset: ClassVar[bool] = True
    dataset: ClassVar[str] = ""
    is_one_dataset: ClassVar[bool] = False
    names_subset: ClassVar[bool] = False
    published_as: ClassVar[str] = ""
    is_log: ClassVar[bool] = False

    def origin(self, question: Question, dataset: Dataset) -> Origin | None:
        """Return the dataset, as tables of published figures name it, and the split that a question
        comes from.

        None if no figures are published. The split is None if it is unknown.
        """
        split = question.meta.get("split", dataset.split)
        return (
            (self.published_as, split and canonical_split(str(split)))
            if self.published_as
            else None
        )

    @abstractmethod
    def recognises(self, file: InputFile) -> bool:
        """Return whether a file has this format, judged by its content."""

    @abstractmethod
    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of one file, in the file's order.

        Each part that can be left out alone is read, and its questions are yielded, within
        ``with reading.at(place):``.

        Raises
        ------
        DataError
            The file is malformed.
        """

    def accepts(self, file: InputFile, reading: Reading) -> bool:
        """Return whether to read this file of a folder."""
        return self.recognises(file)

    def files(self, source: InputFiles, reading: Reading) -> list[InputFile]:
        """Return the source's files of questions: the recognised files at the highest folder level
        that has any.

        Raises
        ------
        DataError
            No file has this format, or a file that looks like part of the dataset is malformed.
        """
        if source.single:
            return [source.single]
        for depth in sorted({file.depth for file in source.files}):
            level = [file for file in source.files if file.depth == depth]
            accepted: list[InputFile] = []
            others: list[InputFile] = []
            unreadable: list[tuple[InputFile, DataError]] = []
            for file in level:
                try:
                    (accepted if self.accepts(file, reading) else others).append(file)
                except DataError as error:
                    unreadable.append((file, error))
            if accepted:
                suffixes = {file.suffix for file in accepted}
                for file, problem in unreadable:
                    others.append(file)
                    # It looks like a file of the dataset, so it must be readable.
                    if file.suffix in suffixes:
                        with reading.at(""):
                            raise problem
                reading.others = others
                return accepted
        raise DataError(
            f"no file has the format {self.name}",
            source=source.path,
            expected=f"files of {self.title}",
        )

    def split_of(self, file: InputFile) -> str | None:
        """Return the split that the file notes, or that its name gives, or None."""
        return file.split or find_split_name(file.stem)

    def subset_of(self, file: InputFile) -> str | None:
        """Return the subset that a file belongs to, or None."""
        return None

    def read(self, source: InputFiles, options: Options) -> Dataset:
        """Read the questions of a source.

        Raises
        ------
        DataError
            The source is malformed, or does not have the split or the subset.
        UsageError
            The reader does not accept an option.
        """
        split, subset = options.split, options.subset
        for option in ("subset", "answers", "fields", "gold_as"):
            value = getattr(options, option)
            if value is not None and option not in self.takes:
                accepted = ", ".join(["split", *sorted(self.takes)])
                raise UsageError(
                    f"the reader {self.name} does not accept {option}: it accepts {accepted}",
                    field=option,
                    found=str(value),
                    expected=f"one of {accepted}",
                )
        reading = Reading(options)
        reading.source = source
        files = self.files(source, reading)
        splits = {file: self.split_of(file) for file in files}
        subsets = {file: self.subset_of(file) for file in files}
        reading.mark_split = len({s for s in splits.values() if s}) > 1
        files = select_part(files, subsets, subset, str.lower, "subset", source.path)
        files = select_part(files, splits, split, canonical_split, "split", source.path)

        places: dict[str, str] = {}
        with _pause_collector():
            questions = self._gather(files, splits, reading, places)
        if not questions:
            raise no_questions_error(source.path, reading.left_out)
        named_splits = {splits[file] for file in files}
        if named_splits == {None}:  # The user's own file may give the split of each question.
            split_of_question = {question: split_in_meta(question) for question in questions}
            questions = select_part(
                questions, split_of_question, split, canonical_split, "split", source.path
            )
            named_splits = {split_of_question[q] for q in questions}
        all_questions = questions
        if "unlabelled" in options.skip:
            questions = keep_labelled(questions, source.path, reading)
        found_split = named_splits.pop() if len(named_splits) == 1 else None
        name = self.dataset_name(source, files, found_split, subset)
        sources = source.sources(files + reading.used)
        notes = source.notes + reading.notes
        read_with = {"path": source.path, "reader": self.name, **options.to_dict()}
        has_left_out = len(all_questions) > len(questions)
        return Dataset(
            questions,
            name=name,
            split=found_split or split,
            reader=self.name,
            sources=sources,
            notes=notes,
            read_with=read_with,
            log=reading.log(places),
            whole=tuple(all_questions) if has_left_out else None,
        )

    def _gather(
        self,
        files: list[InputFile],
        splits: Mapping[InputFile, str | None],
        reading: Reading,
        places: dict[str, str],
    ) -> list[Question]:
        """Return the questions of all files; with ``skip="bad"``, also fill `places` with their
        places by id.
        """
        questions: list[Question] = []
        seen: dict[str, tuple[str, *tuple[Question, ...]]] = {}
        for file in tracked(files, len(files)):
            reading.split = splits[file]
            with reading.at(""):
                questions += gather(self.questions(file, reading), file.name, reading, seen, places)
            for line, what in (file.damaged or {}).items():
                with reading.at(f"line {line}"):
                    reading.repair(f"lines with {what}", file.name)
            if file.blank_lines:
                reading.count("blank lines skipped", file.blank_lines)
            if file.columns is not None and file.columns.left_out:
                reading.note(f"columns of bytes are not read: {', '.join(file.columns.left_out)}")
            file.release()
        # A reader may make passages of its own, which are not counted.
        n_unused = reading.passages - len({id(question.passage) for question in questions})
        if n_unused > 0:
            reading.count("passages without questions", n_unused)
        return questions

    def dataset_name(
        self, source: InputFiles, files: list[InputFile], split: str | None, subset: str | None
    ) -> str:
        """Return the name of the dataset in tables."""
        subsets = {self.subset_of(file) for file in files} if self.names_subset else set()
        subset = subsets.pop() if len(subsets) == 1 else subset
        if self.is_dataset and split:
            return ".".join(piece for piece in (self.name, split, subset) if piece)
        return source.stem


def has_path(value: Any, *steps: int | str) -> bool:
    """Return whether a JSON value has something at these keys and positions.

    Examples
    --------
    >>> has_path({"data": [{"id": 7}]}, "data", 0, "id"), has_path(["id"], 0, "id")
    (True, False)
    """
    try:
        for step in steps:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def join_parts(texts: Sequence[str], separator: str) -> tuple[str, list[tuple[int, int]]]:
    """Return texts as one, and where each begins and ends in it.

    Examples
    --------
    >>> join_parts(["One.", "Two."], " ")
    ('One. Two.', [(0, 4), (5, 9)])
    """
    places, start = [], 0
    for text in texts:
        places.append((start, start + len(text)))
        start += len(text) + len(separator)
    return separator.join(texts), places


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Pause the garbage collector. Among a million new objects, its search for cycles takes as
    long as reading.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
