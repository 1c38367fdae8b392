"""The reader of MCTest: stories with four questions each, and their answers in a separate file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from classic_rc.datasets.base import Origin, Reader
from classic_rc.datasets.reading import Reading
from classic_rc.errors import DataError, UsageError
from classic_rc.io.archives import InputFile, InputFiles, open_input
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Dataset, Question, Task, TextCandidates

_LETTERS = "ABCD"
_COLUMNS = 23  # id, properties, story, and four questions with four options each
_STARTS = (3, 8, 13, 18)  # the columns of the questions
_QUESTION = re.compile(r"(one|multiple):(.*)", re.DOTALL)

_OFFICIAL_STORY = re.compile(r"(mc160|mc500)\.(train|dev|test)\.\d+")


class MCTestReader(Reader):
    r"""MCTest ``.tsv`` files, with their ``.ans`` file if there is one.

    A line is a story: id, properties, text, and four times a question and its four options. A
    question starts with ``one:`` or ``multiple:`` (the number of sentences needed), kept as
    ``meta["type"]``. The escapes ``\newline`` and ``\tab`` become a line end and a tab. Question i
    (from 0) of story ``mc160.dev.0`` has the id ``mc160.dev.0,i``, as in the files of question
    categories.

    The reader looks for the answers in the file's folder, then in a folder ``MCTestAnswers`` in it
    or next to it, where the test answers are distributed. Without answers gold is hidden.
    """

    name = "mctest"
    title = "MCTest"
    description = (
        "Stories with four questions of four options: .tsv files, with answers in .ans files."
    )
    citation = (
        "Richardson, Burges and Renshaw 2013, MCTest: A Challenge Dataset for the Open-Domain "
        "Machine Comprehension of Text, EMNLP"
    )
    cites = ("richardson2013",)
    takes = frozenset({"subset", "answers"})

    def origin(self, question: Question, dataset: Dataset) -> Origin | None:
        """Return MC160 or MC500 and the split, which the story's id has."""
        story = _OFFICIAL_STORY.fullmatch(question.passage.id)
        return (story[1].upper(), story[2]) if story else None

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first line has 23 columns, four of them questions with their
        prefix.
        """
        columns = file.first_text.lstrip("\n").partition("\n")[0].split("\t")
        if len(columns) != _COLUMNS:
            return False
        return all(_QUESTION.match(columns[start]) for start in _STARTS)

    def subset_of(self, file: InputFile) -> str | None:
        """Return ``mc160`` or ``mc500`` if the file name starts with it, or None."""
        match = re.match(r"mc(160|500)\b", file.base.lower())
        return match.group() if match else None

    def dataset_name(
        self, source: InputFiles, files: list[InputFile], split: str | None, subset: str | None
    ) -> str:
        """Return the name of a single file, such as ``mc500.dev``, else the subset and the
        split.
        """
        if len(files) == 1:
            return files[0].stem
        return ".".join(piece for piece in (subset or self.name, split) if piece)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield four questions per line."""
        stories = file.line_nodes()
        answers = _read_answers(file, len(stories), reading)
        if answers is None:
            reading.count(f"files without answers, so gold is hidden ({file.base})")
        for i, story in enumerate(stories):
            with reading.at(story.where):
                gold = None if answers is None else _parse_answers(answers[i])
                yield from _read_story(story, gold, reading)


def _read_story(row: Node, gold: list[int] | None, reading: Reading) -> Iterator[Question]:
    columns = row.value.replace(r"\newline", "\n").split("\t")
    if len(columns) != _COLUMNS:
        expected = f"{_COLUMNS}, separated by tabs"
        raise row.error("wrong number of columns", found=f"{len(columns)}", expected=expected)
    columns = [column.replace(r"\tab", "\t") for column in columns]
    if not columns[0]:
        raise row.error("missing", field="id", expected="the id of the story")
    story_id, properties, story = columns[:3]
    meta = {"properties": properties}
    passage = reading.passage(story_id, story, row.source, row.where, meta=meta)
    for i, start in enumerate(_STARTS):
        with reading.at(row.where, f"{story_id},{i}"):
            match = _QUESTION.match(columns[start])
            if not match:
                raise row.error(
                    "missing question type",
                    field=f"question {i + 1}",
                    found=describe_value(columns[start]),
                    expected="'one: …' or 'multiple: …'",
                )
            kind, question = match.groups()
            candidates = TextCandidates(columns[start + 1 : start + 5])
            right = None if gold is None else frozenset((gold[i],))
            meta = reading.meta(type=kind)
            yield Question(
                f"{story_id},{i}",
                passage,
                question.strip(),
                candidates,
                right,
                Task.SINGLE_CHOICE,
                meta,
            )


def _read_answers(file: InputFile, n_stories: int, reading: Reading) -> list[Node] | None:
    """Return the lines of a story file's answer file, or None."""
    name = f"{file.stem}.ans"
    answers_path = reading.options.answers
    if answers_path is None:
        places = ((name,), ("MCTestAnswers", name), ("..", "MCTestAnswers", name))
        files = (reading.source.sibling(file, *place) for place in places)
        answer_file = next(filter(None, files), None)
    elif (source := open_input(answers_path)).single is None:  # a folder or an archive
        answer_file = source.only(name).files[0]
    else:
        answer_file = source.single
        if any(used_file.name == answer_file.name for used_file in reading.used):
            raise UsageError(
                "several story files need a folder of .ans files, and one story file needs one "
                f".ans file: found {answers_path}",
                field="answers",
                found=os.fspath(answers_path),
                expected="one .ans file, or a folder of .ans files",
            )
    if answer_file is None:
        return None
    reading.used.append(answer_file)
    lines = answer_file.line_nodes()
    if len(lines) != n_stories:
        raise DataError(
            f"the answers do not match {file.name}",
            source=answer_file.name,
            found=str(len(lines)),
            expected=f"{n_stories} lines, one for each story",
        )
    return lines


def _parse_answers(row: Node) -> list[int]:
    letters = row.value.split("\t")
    if len(letters) != len(_STARTS) or any(len(x) != 1 or x not in _LETTERS for x in letters):
        expected = "four letters from A to D, separated by tabs"
        raise row.error("malformed answers", found=describe_value(row.value), expected=expected)
    return [_LETTERS.index(letter) for letter in letters]
