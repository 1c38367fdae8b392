"""The reader of MCScript, and a safe XML parser that keeps line numbers and never expands entities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar
from xml.parsers import expat

from classic_rc.datasets.base import Reader, Reading
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import describe_value
from classic_rc.questions import Question, Task, TextCandidates

_MAX_DEPTH = 100
_FLAGS = {"true": True, "false": False}
_EXTERNAL_DOCTYPE = re.compile(
    r"""
    (?: [ \t\n]++ | <\?.*?\?> | <!--.*?--> )*+
    (?P<declaration>
        <!DOCTYPE [ \t\n]++ [^ \t\n<>\[\]"']++
        (?:
            [ \t\n]++
            (?: SYSTEM | PUBLIC [ \t\n]++ (?: "[-\ \n\w'()+,./:=?;!*\#@$%]*+" | '[-\ \n\w()+,./:=?;!*\#@$%]*+' ) )
            [ \t\n]++ (?: "[^"]*+" | '[^']*+' )
        )?
        [ \t\n]*+ >
    )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
"""The start of an XML text up to a document type without an internal subset."""


class MCScriptReader(Reader):
    """MCScript's XML (SemEval-2018 task 11): ``instance`` elements of a text and questions with two answers.

    Question 3 of instance 12 has the id ``12-3``. Gold is hidden if no answer of a question has ``correct``.
    ``meta["type"]`` is the question's type if the file gives it (``text`` or ``commonsense``).
    """

    name: ClassVar[str] = "mcscript"
    published_as: ClassVar[str] = "MCScript"
    title: ClassVar[str] = "MCScript"
    description: ClassVar[str] = "Narrations of everyday activities with two-option questions: XML."
    citation: ClassVar[str] = (
        "Ostermann, Modi, Roth, Thater and Pinkal 2018, MCScript: A Novel Dataset for Assessing Machine "
        "Comprehension Using Script Knowledge, LREC"
    )
    cites = ("ostermann2018",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is XML of instances with questions."""
        text = file.text.lstrip()
        return text.startswith("<") and all(mark in text for mark in ("<data", "<instance", "<questions"))

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every instance."""
        root = parse_xml(file.text, file.name)
        if root.tag != "data":
            raise root.error("wrong root element", found=f"<{root.tag[:40]}>", expected="<data>")
        for instance in root.only("instance"):
            with reading.at(f"line {instance.line}"):
                yield from _read_instance(instance, file, reading)


def _read_instance(instance: Element, file: InputFile, reading: Reading) -> Iterator[Question]:
    id, questions = instance.attribute("id"), instance.child("questions").only("question")
    text = instance.child("text").text
    passage = reading.passage(id, text, file.name, f"line {instance.line}")
    for question in questions:
        with reading.at(f"line {question.line}", f"{id}-{question.attributes.get('id')}"):
            answers = question.only("answer")
            meta = {"type": question.attributes["type"]} if "type" in question.attributes else {}
            yield Question(
                f"{id}-{question.attribute('id')}",
                passage,
                question.attribute("text"),
                TextCandidates(answer.attribute("text") for answer in answers),
                _read_gold(question, answers),
                Task.SINGLE_CHOICE,
                reading.meta(**meta),
            )


class Element:
    """An XML element with its line. Its methods return what is expected or raise DataError."""

    __slots__ = ("attributes", "children", "line", "source", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], source: str, line: int) -> None:
        self.tag, self.attributes, self.source, self.line = tag, attributes, source, line
        self.children: list[Element] = []
        self.text = ""

    def error(self, problem: str, **facts: str | None) -> DataError:
        """Return the error for this element; `facts` are parameters of :class:`~classic_rc.errors.DataError`."""
        return DataError(problem, source=self.source, where=f"line {self.line}", **facts)

    def attribute(self, name: str) -> str:
        """Return the value of an attribute."""
        if name not in self.attributes:
            found = ", ".join(self.attributes) or "no attributes"
            raise self.error(
                "missing attribute", field=f"{self.tag}/@{name}", found=found, expected=f"an attribute {name}"
            )
        return self.attributes[name]

    def child(self, tag: str) -> Element:
        """Return the only child with this tag."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) == 1:
            return found[0]
        raise self.error("wrong children", field=self.tag, found=f"{len(found)} <{tag}> elements", expected="1")

    def only(self, tag: str) -> list[Element]:
        """Return the children, which must all have this tag."""
        for child in self.children:
            if child.tag != tag:
                raise child.error(
                    "unexpected element", field=self.tag, found=f"<{child.tag[:40]}>", expected=f"<{tag}>"
                )
        return self.children


def parse_xml(text: str, source: str) -> Element:
    """Return the root element of an XML text.

    A document type that has at most an external identifier is skipped, and what it names is never fetched.

    Raises
    ------
    DataError
        The text is not well-formed, is nested too deeply, or has an internal subset or an entity declaration.
    """
    # Expat must not see the external identifier: it then drops entities that nothing declares, instead of refusing
    # them. Blanks in its place keep the lines and columns of errors.
    if doctype := _EXTERNAL_DOCTYPE.match(text):
        start_of_doctype, end_of_doctype = doctype.span("declaration")
        blanks = re.sub(r"[^\n]", " ", doctype["declaration"])
        text = text[:start_of_doctype] + blanks + text[end_of_doctype:]
    parser = expat.ParserCreate()
    parser.buffer_text = True
    roots: list[Element] = []
    stack: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, source, parser.CurrentLineNumber)
        if len(stack) > _MAX_DEPTH:
            raise element.error("elements nested too deeply", expected=f"at most {_MAX_DEPTH} levels")
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def characters(data: str) -> None:
        stack[-1].text += data

    def refuse_declaration(*declaration: object) -> None:
        raise DataError(
            "declarations inside a document type are not allowed",
            source=source,
            where=f"line {parser.CurrentLineNumber}",
            found=describe_value(str(declaration[0])),
            expected="elements and text, and at most one document type with only an external identifier",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse_declaration
    parser.EntityDeclHandler = refuse_declaration
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise DataError(
            f"not well-formed XML ({expat.ErrorString(error.code)})",
            source=source,
            where=f"line {error.lineno} column {error.offset + 1}",
        ) from None
    return roots[0]


def _read_gold(question: Element, answers: list[Element]) -> frozenset[int] | None:
    if not answers:
        raise question.error(
            "no candidates", field="question", found="no <answer>", expected="at least one <answer>"
        )
    if not any("correct" in answer.attributes for answer in answers):
        return None
    right_answers = []
    for i, answer in enumerate(answers):
        correct = _FLAGS.get(answer.attribute("correct").lower())
        if correct is None:
            raise answer.error(
                "invalid value",
                field="answer/@correct",
                found=repr(answer.attribute("correct")[:40]),
                expected="True or False",
            )
        if correct:
            right_answers.append(i)
    if len(right_answers) != 1:
        raise question.error(
            "wrong number of right answers", field="answer/@correct", found=str(len(right_answers)), expected="1"
        )
    return frozenset(right_answers)
