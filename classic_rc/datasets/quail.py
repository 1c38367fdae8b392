"""The reader of QuAIL: four-option questions of nine types, as JSON lines and as XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from classic_rc.datasets.base import Reading
from classic_rc.datasets.mcscript import Element, parse_xml
from classic_rc.datasets.schema import Schema, SchemaReader, decode_index, make_row, required_keys
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Question, Task, TextCandidates

_XML_MARKS = ("<data", "<text_body", "<questions")


def _convert(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    for node in rows:
        with reading.at(node):
            answers = node.texts("answers")
            yield make_row(
                node,
                id=node.name("id"),
                passage=node.text("context"),
                passage_id=node.name("context_id"),
                question=node.text("question"),
                candidates=answers,
                gold=decode_index(node, "correct_answer_id", len(answers)),
                task=Task.SINGLE_CHOICE.value,
                meta={"type": node.text("question_type"), "domain": node.text("domain")},
            )


def _has_answers(row: Mapping[str, Any]) -> bool:
    return isinstance(row["answers"], (list, tuple))


QUAIL = Schema(
    "QuAIL",
    required_keys("id", "context_id", "context", "question", "question_type", "domain", "answers"),
    _convert,
    _has_answers,
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
        return _is_xml(file) or super().recognises(file)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every text."""
        return _read_xml(file, reading) if _is_xml(file) else super().questions(file, reading)


def _is_xml(file: InputFile) -> bool:
    if file.head is not None:
        return False
    text = file.text.lstrip()
    return text.startswith("<") and all(mark in text for mark in _XML_MARKS)


def _read_xml(file: InputFile, reading: Reading) -> Iterator[Question]:
    root = parse_xml(file.text, file.name)
    if root.tag != "data":
        raise root.error("wrong root element", found=f"<{root.tag[:40]}>", expected="<data>")
    for text in root.only("text"):
        with reading.at(f"line {text.line}"):
            yield from _read_text(text, file, reading)


def _read_text(text: Element, file: InputFile, reading: Reading) -> Iterator[Question]:
    id, domain = text.attribute("id"), text.attribute("domain")
    body, questions = text.child("text_body").text.strip(), text.child("questions").only("q")
    passage = reading.passage(id, body, file.name, f"line {text.line}")
    for question in questions:
        with reading.at(f"line {question.line}", f"{id}_{question.attributes.get('id')}"):
            answers = question.only("a")
            yield Question(
                f"{id}_{question.attribute('id')}",
                passage,
                question.text.strip(),
                TextCandidates(answer.text.strip() for answer in answers),
                _read_gold(question, answers),
                Task.SINGLE_CHOICE,
                reading.meta(type=question.attribute("type"), domain=domain),
            )


def _read_gold(question: Element, answers: list[Element]) -> frozenset[int] | None:
    if not answers:
        raise question.error("no candidates", field="q", found="no <a>", expected="at least one <a>")
    flags = [answer.attributes.get("correct") for answer in answers]
    for answer, flag in zip(answers, flags, strict=True):
        if flag not in (None, "True", "False"):
            raise answer.error(
                "invalid value", field="a/@correct", found=describe_value(flag), expected="True or False"
            )
    if set(flags) == {None}:
        return None
    if flags.count("True") != 1:
        raise question.error(
            "wrong number of right answers", field="a/@correct", found=str(flags.count("True")), expected="1"
        )
    return frozenset((flags.index("True"),))
