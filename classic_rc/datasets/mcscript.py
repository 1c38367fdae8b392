"""The reader of MCScript, and of other datasets whose XML has passages with questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from classic_rc.datasets.base import Reader, Reading
from classic_rc.io.archives import InputFile
from classic_rc.io.xml import Element, is_xml, parse_xml
from classic_rc.questions import Question, Task, TextCandidates


class MCScriptReader(Reader):
    """MCScript's XML (SemEval-2018 task 11): ``instance`` elements of a text and questions with two
    answers.

    Question 3 of instance 12 has the id ``12-3``. Gold is hidden if no answer of a question has
    ``correct``. ``meta["type"]`` is the question's type if the file gives it (``text`` or
    ``commonsense``).
    """

    name = "mcscript"
    published_as = "MCScript"
    title = "MCScript"
    description = "Narrations of everyday activities with two-option questions: XML."
    citation = (
        "Ostermann, Modi, Roth, Thater and Pinkal 2018, MCScript: A Novel Dataset for Assessing "
        "Machine Comprehension Using Script Knowledge, LREC"
    )
    cites = ("ostermann2018",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is XML of instances with questions."""
        return is_xml(file, "data", "instance", "questions")

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every instance."""
        return read_xml(file, reading, _FORM)


@dataclass(frozen=True)
class XmlForm:
    """The elements of a dataset's XML: passages with questions, and these with answers."""

    passage: str
    text: str  # the child of a passage with its text
    question: str
    answer: str
    separator: str  # between the ids of passage and question
    clean: Callable[[str], str]  # of the passage's text
    text_of: Callable[[Element], str]  # of a question or an answer
    # passage and question to the question's meta
    facts: Callable[[Element, Element], dict[str, Any]]
    is_right: Callable[[Element], bool]


def read_xml(file: InputFile, reading: Reading, form: XmlForm) -> Iterator[Question]:
    """Yield the questions of an XML file."""
    root = parse_xml(file.text, file.name)
    if root.tag != "data":
        raise root.error("wrong root element", found=f"<{root.tag[:40]}>", expected="<data>")
    for node in root.only(form.passage):
        with reading.at(f"line {node.line}"):
            yield from _read_passage(node, file, reading, form)


def _read_passage(
    node: Element, file: InputFile, reading: Reading, form: XmlForm
) -> Iterator[Question]:
    id, questions = node.attribute("id"), node.child("questions").only(form.question)
    passage = reading.passage(
        id, form.clean(node.child(form.text).text), file.name, f"line {node.line}"
    )
    for question in questions:
        own = f"{id}{form.separator}{question.attributes.get('id')}"
        with reading.at(f"line {question.line}", own):
            answers = question.only(form.answer)
            question.attribute("id")
            candidates = TextCandidates(map(form.text_of, answers))
            gold, facts = _read_gold(question, answers, form), form.facts(node, question)
            meta = reading.meta(**facts)
            yield Question(
                own, passage, form.text_of(question), candidates, gold, Task.SINGLE_CHOICE, meta
            )


def _read_gold(question: Element, answers: list[Element], form: XmlForm) -> frozenset[int] | None:
    if not answers:
        tag = form.answer
        raise question.error(
            "no candidates",
            field=form.question,
            found=f"no <{tag}>",
            expected=f"at least one <{tag}>",
        )
    if not any("correct" in answer.attributes for answer in answers):
        return None
    right = [i for i, answer in enumerate(answers) if form.is_right(answer)]
    if len(right) != 1:
        field = f"{form.answer}/@correct"
        raise question.error(
            "wrong number of right answers", field=field, found=str(len(right)), expected="1"
        )
    return frozenset(right)


def _is_right(answer: Element) -> bool:
    """Return whether an answer is right: ``correct`` is True or False, in any case."""
    value = answer.attribute("correct")
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise answer.error(
        "invalid value",
        field=f"{answer.tag}/@correct",
        found=repr(value[:40]),
        expected="True or False",
    )


def _type_of(instance: Element, question: Element) -> dict[str, str]:
    return {"type": question.attributes["type"]} if "type" in question.attributes else {}


_FORM = XmlForm(
    "instance",
    "text",
    "question",
    "answer",
    "-",
    str,
    lambda element: element.attribute("text"),
    _type_of,
    _is_right,
)
