"""The reader of QuAIL: four-option questions of nine types, as JSON lines and as XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reading
from classic_rc.datasets.mcscript import Element, XmlForm, is_xml, read_xml
from classic_rc.datasets.schema import Schema, SchemaReader, convert_fields, read_gold, required_keys
from classic_rc.io.archives import InputFile
from classic_rc.io.json import describe_value
from classic_rc.questions import Question

QUAIL = Schema(
    "QuAIL",
    required_keys("id", "context_id", "context", "question", "question_type", "domain", "answers"),
    convert_fields(
        "id",
        passage="context",
        passage_id=lambda row: row.name("context_id"),
        question="question",
        candidates=lambda row: row.texts("answers"),
        gold=lambda row: read_gold(row, "correct_answer_id", row.texts("answers"), "index0"),
        meta=lambda row: {"type": row.text("question_type"), "domain": row.text("domain")},
    ),
    lambda row: isinstance(row["answers"], (list, tuple)),
)


class QuailReader(SchemaReader):
    """QuAIL's JSON lines and its XML, whose questions have the same ids: ``f141_0`` is question 0 of text f141.

    ``meta["type"]`` is the type of the question (``Causality``, ``Temporal_order``, …), ``meta["domain"]`` that of
    the text. Unanswerable questions are ordinary ones: their right option is "not enough information". In XML their
    wrong options lack the attribute ``correct``; gold is hidden if all options of a question do. The blanks around
    texts in XML are its indentation, and are left out.
    """

    name: ClassVar[str] = "quail"
    title: ClassVar[str] = "QuAIL"
    description: ClassVar[str] = "Four-option questions of nine types in four domains: JSON lines or XML."
    citation: ClassVar[str] = (
        "Rogers, Kovaleva, Downey and Rumshisky 2020, Getting Closer to AI Complete Question Answering: A Set of "
        "Prerequisite Real Tasks, AAAI"
    )
    cites = ("rogers2020",)
    schemas: ClassVar[tuple[Schema, ...]] = (QUAIL,)

    def split_of(self, file: InputFile) -> str | None:
        """Return the split that the file's name gives, which can also be ``challenge``."""
        return "challenge" if "challenge" in file.stem.lower() else super().split_of(file)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is XML of texts with questions, or has rows of QuAIL."""
        return self._is_xml(file) or super().recognises(file)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every text."""
        return read_xml(file, reading, _FORM) if self._is_xml(file) else super().questions(file, reading)

    def _is_xml(self, file: InputFile) -> bool:
        return file.head is None and is_xml(file, "data", "text_body", "questions")


def _is_right(answer: Element) -> bool:
    """Return whether an answer is right; wrong ones may lack the attribute."""
    flag = answer.attributes.get("correct")
    if flag in (None, "True", "False"):
        return flag == "True"
    found = describe_value(flag)
    raise answer.error("invalid value", field="a/@correct", found=found, expected="True or False")


_FORM = XmlForm(
    "text",
    "text_body",
    "q",
    "a",
    "_",
    str.strip,
    lambda element: element.text.strip(),
    lambda text, question: {"type": question.attribute("type"), "domain": text.attribute("domain")},
    _is_right,
)
