"""The readers of LogiQA and LogiQA 2.0: questions of civil service examinations in logical
reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from classic_rc.datasets.reading import Reading
from classic_rc.datasets.schema import (
    HAN,
    Schema,
    SchemaReader,
    convert_fields,
    read_gold,
    required_keys,
)
from classic_rc.datasets.splits import canonical_split
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Question, Task, TextCandidates

_LETTERS = "abcd"
_START = 100_000  # the characters that must have the first question
_N_LINES = 7  # of a question in LogiQA's own form: letter, passage, question, four options
_LABEL = re.compile(r"\s*([A-Da-d])\s*[.．、,，:：]\s*(?=\S)")


def strip_labels(options: Sequence[str]) -> list[str]:
    """Return options without the letters of their positions in front of them (``A.``, ``B，``).

    Examples
    --------
    >>> strip_labels(["A.Ann sang.", "B. C. wrote it.", "No one."])
    ['Ann sang.', 'C. wrote it.', 'No one.']
    """
    stripped = []
    for letter, option in zip(_LETTERS, options, strict=False):
        match = _LABEL.match(option)
        if match and match[1].lower() == letter:
            option = option[match.end() :]
        stripped.append(option)
    return [*stripped, *options[len(stripped) :]]


def _language(text: str) -> str:
    return "zh" if HAN.search(text) else "en"


def _read_meta(row: Node) -> dict[str, Any]:
    """Return the language, and the types of reasoning that LogiQA 2.0 has."""
    kinds = row.child("type").value if row.has("type") else {}
    reasoning = (
        [kind for kind in kinds if kinds[kind] is True] if isinstance(kinds, Mapping) else []
    )
    return {
        "language": _language(row.text("question")),
        **({"reasoning": reasoning} if reasoning else {}),
    }


def _position(letter: str) -> int | None:
    return {"a": 0, "b": 1, "c": 2, "d": 3}.get(letter.strip().lower())


def _is_logiqa_2(row: Mapping[str, Any]) -> bool:
    others = row.keys() - {"text", "question", "options", "answer", "type"}
    return others in ({"id"}, {"example_id"}) and isinstance(row["options"], (list, tuple))


def _candidates(row: Node) -> list[str]:
    return strip_labels(row.texts("options"))


def _logiqa(
    question: str, gold: str, coding: str, check: Callable[[Mapping[str, Any]], bool]
) -> Schema:
    """Return the schema of rows of the hub with these keys."""
    return Schema(
        "LogiQA",
        required_keys("context", question, "options", gold),
        convert_fields(
            lambda row, number, split: str(number),
            passage="context",
            question=question,
            candidates=_candidates,
            gold=lambda row: read_gold(row, gold, row.texts("options"), coding),
            meta=lambda row: {"language": _language(row.text(question))},
        ),
        check,
    )


LOGIQA = (
    _logiqa(
        "query", "correct_option", "index0", lambda row: isinstance(row["options"], (list, tuple))
    ),
    _logiqa(
        "question",
        "label",
        "letter",
        lambda row: (
            len(row) == 4 and isinstance(row["label"], str) and _position(row["label"]) is not None
        ),
    ),
)
LOGIQA_2 = Schema(
    "LogiQA 2.0",
    required_keys("text", "question", "options", "answer"),
    convert_fields(
        lambda row, number, split: row.name("id" if row.has("id") else "example_id"),
        passage="text",
        question="question",
        candidates=_candidates,
        gold=lambda row: read_gold(row, "answer", row.texts("options"), "index0"),
        meta=_read_meta,
    ),
    _is_logiqa_2,
)


class _LanguageReader(SchemaReader):
    """The base class of readers of a dataset in English and Chinese, which the names of files
    tell apart.
    """

    takes = frozenset({"subset"})

    def subset_of(self, file: InputFile) -> str | None:
        """Return the language of a file with a usual name."""
        if self.split_of(file) is None:
            return None
        return "zh" if "zh" in re.split(r"[^a-z]+", file.stem.lower()) else "en"

    def dataset_name(
        self, source: InputFiles, files: list[InputFile], split: str | None, subset: str | None
    ) -> str:
        """Return the name of the dataset and the split (``logiqa.dev``), with ``zh`` if all
        files are Chinese.
        """
        is_chinese = {self.subset_of(file) for file in files} == {"zh"}
        return super().dataset_name(source, files, split, subset or ("zh" if is_chinese else None))


class LogiQAReader(_LanguageReader):
    """LogiQA's own text form, in English or Chinese, and the two forms of its rows on the Hugging
    Face hub.

    In the text form, blank lines separate questions, and a question has seven lines: the letter of
    the right option, the passage, the question and four options. The letters in front of options
    are left out. A question's id is the name of its file and its position, from 0 (``eval-0``,
    ``zh_test-12``). ``Eval.txt`` is the split dev; ``subset`` is the language, ``en`` or ``zh``,
    also in ``meta["language"]``.
    """

    name = "logiqa"
    title = "LogiQA"
    description = "Examination questions in logical reasoning: seven lines of text for each."
    citation = (
        "Liu, Cui, Liu, Huang, Wang and Zhang 2020, LogiQA: A Challenge Dataset for Machine "
        "Reading Comprehension with Logical Reasoning, IJCAI"
    )
    cites = ("liu2020",)
    schemas = LOGIQA

    def split_of(self, file: InputFile) -> str | None:
        """Return the split that the file's name gives; ``eval`` is dev."""
        words = re.split(r"[^a-z]+", file.stem.lower())
        return canonical_split("dev") if "eval" in words else super().split_of(file)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file starts with a question in seven lines, or has rows of LogiQA."""
        return _is_text(file) or super().recognises(file)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions in the file's order."""
        return (
            super().questions(file, reading) if file.head is not None else _read_text(file, reading)
        )


class LogiQA2Reader(_LanguageReader):
    """LogiQA 2.0's JSON lines, in English or Chinese.

    ``meta["reasoning"]`` lists the types of reasoning that the annotators named, as they are
    spelled in the files. The letters in front of Chinese options are left out. ``subset`` is the
    language, ``en`` or ``zh``, also in ``meta["language"]``.
    """

    name = "logiqa2"
    title = "LogiQA 2.0"
    description = "Examination questions in logical reasoning, with types of reasoning: JSON lines."
    citation = (
        "Liu, Liu, Cui, Teng, Duan, Zhou and Zhang 2023, LogiQA 2.0: An Improved Dataset for "
        "Logical Reasoning in Natural Language Understanding, IEEE/ACM TASLP"
    )
    cites = ("liu2023",)
    schemas = (LOGIQA_2,)


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines between blank lines, with the number of the first one."""
    lines: list[str] = []
    number = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            lines.append(line)
        elif lines:
            yield number - len(lines), lines
            lines = []
    if lines:
        yield number - len(lines) + 1, lines


def _is_text(file: InputFile) -> bool:
    """Return whether the first seven lines are a letter, a passage, a question, and options with
    a label.
    """
    if file.head is not None:
        return False
    _, lines = next(_blocks(file.first_text[:_START]))
    if len(lines) != _N_LINES or _position(lines[0]) is None:
        return False
    return any(_LABEL.match(option) for option in lines[3:])


def _read_text(file: InputFile, reading: Reading) -> Iterator[Question]:
    for number, (start, lines) in enumerate(_blocks(file.text)):
        block = Node(lines, file.name, start)
        id = f"{file.stem.lower()}-{number}"
        with reading.at(block.where, id):
            if len(lines) != _N_LINES:
                actual = f"{len(lines)} before a blank line"
                expected = (
                    f"{_N_LINES}: the right letter, the passage, the question and four options"
                )
                raise block.error("wrong number of lines", found=actual, expected=expected)
            letter, passage, question, *options = lines
            gold = _position(letter)
            if gold is None:
                actual = describe_value(letter)
                raise block.error(
                    "gold is not an option", found=actual, expected="a letter from a to d"
                )
            options = strip_labels([option.strip() for option in options])
            meta = reading.meta(language=_language(question))
            yield Question(
                id,
                reading.passage(None, passage.strip(), file.name, block.where),
                question.strip(),
                TextCandidates(options),
                frozenset((gold,)),
                Task.SINGLE_CHOICE,
                meta,
            )
