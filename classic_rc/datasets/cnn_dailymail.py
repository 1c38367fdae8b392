"""The reader of CNN and Daily Mail: one file per cloze query, with its passage and its entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reader, Reading, find_split_name
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import describe_value
from classic_rc.questions import PLACEHOLDER, Candidate, Dataset, Question, Task

_ENTITY = re.compile(r"@entity\d+")
_TEXT_LINES = {"URL": 0, "passage": 2, "query": 4, "answer": 6}
_BLANK_LINES = (1, 3, 5, 7)
_ENTITIES = 8


class CNNDailyMailReader(Reader):
    """The ``.question`` files of Hermann et al. 2015: URL, passage, query, answer, entities, blank lines between.

    The path is one file, a folder of files (``cnn/questions/test``) or a tar archive. The candidates are the
    mentions ``@entityN`` in passage order, including equal ones. Gold is the marker of the answer. The question's
    ``meta["entities"]`` has the names of the markers, the passage's ``meta["url"]`` the address. A question's id is
    the file name without the extension. ``subset`` is ``cnn`` or ``dailymail``, the name of a folder above the
    file.
    """

    name: ClassVar[str] = "cnn-dailymail"
    title: ClassVar[str] = "CNN and Daily Mail"
    description: ClassVar[str] = "News cloze queries over anonymised entities: .question files with one query each."
    citation: ClassVar[str] = (
        "Hermann, Kočiský, Grefenstette, Espeholt, Kay, Suleyman and Blunsom 2015, Teaching Machines to Read and "
        "Comprehend, NIPS"
    )
    cites = ("hermann2015",)
    takes: ClassVar[frozenset[str]] = frozenset({"subset"})
    is_one_dataset: ClassVar[bool] = True
    published_as: ClassVar[str] = "CNN"

    def origin(self, question: Question, dataset: Dataset) -> tuple[str, str | None] | None:
        """Return CNN or Daily Mail, by the article's address, and the split."""
        _, split = super().origin(question, dataset) or ("", None)
        return "Daily Mail" if "dailymail" in str(question.passage.meta.get("url", "")) else "CNN", split

    def recognises(self, file: InputFile) -> bool:
        """Return whether text lines alternate with blank lines, the third text a query and the fourth an entity."""
        lines = file.text.split("\n", _ENTITIES)
        return (
            len(lines) > _TEXT_LINES["answer"]
            and not any(lines[i].strip() for i in _BLANK_LINES if i < len(lines))
            and PLACEHOLDER in lines[_TEXT_LINES["query"]]
            and _ENTITY.fullmatch(lines[_TEXT_LINES["answer"]].strip()) is not None
        )

    def accepts(self, file: InputFile, reading: Reading) -> bool:
        """Return whether the name ends in ``.question``. Folders have 100,000 files; opening each is too slow."""
        return file.suffix == ".question"

    def split_of(self, file: InputFile) -> str | None:
        """Return the split in the name of the file's folder, or None."""
        return find_split_name(file.folders[-1]) if file.folders else None

    def subset_of(self, file: InputFile) -> str | None:
        """Return ``cnn`` or ``dailymail``, the name of the nearest such folder above the file, or None."""
        named = (folder.lower() for folder in reversed(file.folders))
        return next((folder for folder in named if folder in ("cnn", "dailymail")), None)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the one query of the file."""
        lines = [line.strip() for line in file.text.rstrip("\n").split("\n")]
        for i in _BLANK_LINES:
            if i < len(lines) and lines[i]:
                raise _line_error(file, i, "wrong line", found=describe_value(lines[i]), expected="a blank line")
        url, text, query, answer = (_read_text(file, lines, field) for field in _TEXT_LINES)
        if PLACEHOLDER not in query:
            raise _line_error(
                file, 4, "no placeholder in the query", found=describe_value(query), expected=PLACEHOLDER
            )
        if not _ENTITY.fullmatch(answer):
            raise _line_error(
                file, 6, "gold is not an entity", found=describe_value(answer), expected="a marker such as @entity1"
            )
        mentions = tuple(Candidate(m.group(), *m.span()) for m in _ENTITY.finditer(text))
        if not mentions:
            raise _line_error(
                file, 2, "no candidates", found=describe_value(text), expected="entities such as @entity1"
            )
        if answer not in {mention.text for mention in mentions}:
            reading.count("queries whose answer is not in the passage (kept)")
        passage = reading.passage(None, text, file.name, "line 3", meta={"url": url})
        facts = reading.meta(entities=_read_entities(file, lines))
        yield Question(file.stem, passage, query, mentions, (answer,), Task.CLOZE, facts)


def _read_text(file: InputFile, lines: list[str], field: str) -> str:
    """Return the line of a field, which must not be blank."""
    number = _TEXT_LINES[field]
    if number < len(lines) and lines[number]:
        return lines[number]
    raise _line_error(file, number, f"the {field} is missing", expected=f"the {field} between blank lines")


def _read_entities(file: InputFile, lines: list[str]) -> dict[str, str]:
    """Return the names of the entity markers."""
    names = {}
    for i, line in enumerate(lines[_ENTITIES:], start=_ENTITIES):
        marker, colon, name = line.partition(":")
        if not (colon and _ENTITY.fullmatch(marker)):
            raise _line_error(file, i, "malformed entity", found=describe_value(line), expected="@entity1:Name")
        names[marker] = name
    return names


def _line_error(
    file: InputFile, index: int, problem: str, found: str | None = None, expected: str | None = None
) -> DataError:
    return DataError(problem, source=file.name, where=f"line {index + 1}", found=found, expected=expected)
