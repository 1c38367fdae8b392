"""MCScript: narrations of everyday activities, in XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reader
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.xml_elements import Element, parse_xml
from classic_rc.io.archives import File
from classic_rc.questions import Candidate, Question, Task

_CORRECT = {"true": True, "false": False}


class MCScript(Reader):
    """MCScript's XML (SemEval-2018 task 11): ``instance`` elements of a text and questions of two answers.

    Question 3 of instance 12 is ``12-3``. Gold is hidden where no answer of a question says ``correct``;
    ``meta["type"]`` has the question's type where it is given (``text`` or ``commonsense``).
    """

    name: ClassVar[str] = "mcscript"
    title: ClassVar[str] = "MCScript"
    description: ClassVar[str] = "Narrations of everyday activities with two-option questions: XML."
    citation: ClassVar[str] = (
        "Ostermann, Modi, Roth, Thater and Pinkal 2018, MCScript: A Novel Dataset for Assessing Machine "
        "Comprehension Using Script Knowledge, LREC"
    )
    cites = ("ostermann2018",)

    def recognises(self, file: File) -> bool:
        """Whether it is XML of instances with questions."""
        text = file.text.lstrip()
        return text.startswith("<") and all(mark in text for mark in ("<data", "<instance", "<questions"))

    def questions(self, file: File, reading: Reading) -> Iterator[Question]:
        """The questions of every instance."""
        root = parse_xml(file.text, file.name)
        if root.tag != "data":
            raise root.error("wrong root element", found=f"<{root.tag[:40]}>", expected="<data>")
        for instance in root.only("instance"):
            id, questions = instance.attribute("id"), instance.child("questions").only("question")
            text = instance.child("text").text
            passage = reading.passage(id, text, file.name, f"line {instance.line}")
            for question in questions:
                answers = question.only("answer")
                meta = {"type": question.attributes["type"]} if "type" in question.attributes else {}
                yield Question(
                    f"{id}-{question.attribute('id')}",
                    passage,
                    question.attribute("text"),
                    tuple(Candidate(answer.attribute("text")) for answer in answers),
                    _gold(question, answers),
                    Task.SINGLE_CHOICE,
                    reading.meta(**meta),
                )


def _gold(question: Element, answers: list[Element]) -> frozenset[int] | None:
    if not answers:
        raise question.error("no candidate", field="question", expected="one <answer> or more")
    if not any("correct" in answer.attributes for answer in answers):
        return None
    right = []
    for i, answer in enumerate(answers):
        correct = _CORRECT.get(answer.attribute("correct").lower())
        if correct is None:
            raise answer.error(
                "no such value",
                field="answer/@correct",
                found=repr(answer.attribute("correct")[:40]),
                expected="True or False",
            )
        if correct:
            right.append(i)
    if len(right) != 1:
        raise question.error("not one right answer", field="answer/@correct", found=str(len(right)), expected="1")
    return frozenset(right)
