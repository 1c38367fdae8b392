"""The reader of the Children's Book Test: twenty numbered sentences, then one with a missing word."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.io.json import describe_value
from classic_rc.questions import PLACEHOLDER, Question, Task, TextCandidates

_BLANK = "XXXXX"
_SENTENCES = 20
_CANDIDATES = 10
_QUERY_COLUMNS = "query, answer, an empty column and candidates, separated by tabs"
_NAME = re.compile(r"cbtest_(NE|CN|V|P)_", re.IGNORECASE)


class CBTReader(Reader):
    """The Children's Book Test: sentences numbered 1 to 20, then ``21 query<TAB>answer<TAB><TAB>ten|candidates``.

    The passage is the twenty sentences, one per line; they are also its ``sentences``. ``XXXXX`` in the query
    becomes our placeholder. Candidates keep the file's order. Question n (from 1) of ``cbtest_NE_test_2500ex.txt``
    has the id ``cbtest_NE_test_2500ex-n``. ``subset`` is the kind of the missing word in the file's name: ``NE``,
    ``CN``, ``V`` or ``P``; it is kept as ``meta["type"]``. Whole books without questions (``cbt_train.txt``) are
    skipped.
    """

    name: ClassVar[str] = "cbt"
    published_as: ClassVar[str] = "CBT"
    title: ClassVar[str] = "Children's Book Test"
    description: ClassVar[str] = "A missing word after twenty sentences of a children's book, with ten candidates."
    citation: ClassVar[str] = (
        "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle: Reading Children's Books with Explicit "
        "Memory Representations, arXiv:1511.02301"
    )
    cites = ("hill2015",)
    takes: ClassVar[frozenset[str]] = frozenset({"subset"})

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file starts with sentences numbered 1 to 20 and a query with candidates."""
        lines = file.text.lstrip("\n").split("\n", _SENTENCES + 1)[: _SENTENCES + 1]
        numbered = [line.partition(" ")[0] for line in lines] == [str(n) for n in range(1, _SENTENCES + 2)]
        return numbered and _BLANK in lines[-1] and lines[-1].count("\t") == 3

    def subset_of(self, file: InputFile) -> str | None:
        """Return the kind of the missing word in the file's name, or None."""
        named = _NAME.match(file.base)
        return named[1].upper() if named else None

    def dataset_name(
        self, source: InputFiles, files: list[InputFile], split: str | None, subset: str | None
    ) -> str:
        """Return the name with the split and the kind of word, which a single file names."""
        kind = self.subset_of(files[0]) if len(files) == 1 else subset
        return super().dataset_name(source, files, split, kind)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield one query per 21 lines."""
        kind = self.subset_of(file)
        facts = reading.meta() if kind is None else reading.meta(type=kind)
        for n, (number, (*sentences, last)) in enumerate(_read_blocks(file, reading), start=1):
            with reading.at(f"line {number}", f"{file.stem}-{n}"):
                ends = list(itertools.accumulate(len(sentence) + 1 for sentence in sentences))
                marks = [(end - 1 - len(sentence), end - 1) for sentence, end in zip(sentences, ends, strict=True)]
                passage = reading.passage(None, "\n".join(sentences), file.name, f"line {number}", marks)
                query, answer, candidates = _read_columns(file, number, last)
                if len(candidates) != _CANDIDATES:
                    reading.count("queries with more or fewer than ten candidates (kept)")
                yield Question(
                    f"{file.stem}-{n}",
                    passage,
                    query.replace(_BLANK, PLACEHOLDER),
                    TextCandidates(candidates),
                    (answer,),
                    Task.CLOZE,
                    facts,
                )


def _read_blocks(file: InputFile, reading: Reading) -> Iterator[tuple[int, list[str]]]:
    """Yield the 21 lines of each question without their numbers, and the file's number of the last one."""
    block: list[str] = []
    is_damaged = False  # up to the next blank line
    for number, line in enumerate(itertools.chain(file.text.rstrip("\n").split("\n"), [""]), start=1):
        if not line.strip():
            n_lines, block, is_damaged = len(block), [], False
            if n_lines:
                with reading.at(f"line {number}"):
                    raise _line_error(file, number, "incomplete question", f"{n_lines} lines", f"{_SENTENCES + 1}")
            continue
        found, _, content = line.partition(" ")
        if is_damaged:
            continue
        if found != str(len(block) + 1):
            expected, block, is_damaged = str(len(block) + 1), [], True
            with reading.at(f"line {number}"):
                raise _line_error(file, number, "wrong line number", describe_value(found), expected)
            continue
        block.append(content.strip(" "))
        if len(block) > _SENTENCES:
            yield number, block
            block = []


def _read_columns(file: InputFile, number: int, content: str) -> tuple[str, str, list[str]]:
    """Return the query, the answer and the candidates of a query's line."""
    columns = [column.strip() for column in content.split("\t")]
    if len(columns) != 4 or columns[2]:
        raise _line_error(file, number, "malformed query line", describe_value(content), _QUERY_COLUMNS)
    query, answer, _, listed = columns
    if _BLANK not in query:
        raise _line_error(file, number, "no placeholder in the query", describe_value(query), _BLANK)
    candidates = [candidate for candidate in listed.split("|") if candidate]
    if answer not in candidates:
        raise _line_error(file, number, "gold is not among the candidates", describe_value(answer), listed)
    return query, answer, candidates


def _line_error(file: InputFile, number: int, problem: str, found: str, expected: str) -> DataError:
    return DataError(problem, source=file.name, where=f"line {number}", found=found, expected=expected)
