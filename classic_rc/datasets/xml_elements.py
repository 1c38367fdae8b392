"""XML read with line numbers, and without what makes it dangerous: entities are never expanded."""

from __future__ import annotations

from xml.parsers import expat

from classic_rc.errors import DataError
from classic_rc.io.json import describe

_MAX_DEPTH = 100


class Element:
    """An XML element with its line, whose methods take what is expected from it or raise."""

    __slots__ = ("attributes", "children", "line", "source", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], source: str, line: int) -> None:
        self.tag, self.attributes, self.source, self.line = tag, attributes, source, line
        self.children: list[Element] = []
        self.text = ""

    def error(self, problem: str, **facts: str | None) -> DataError:
        """The error for this element; `facts` are those of :class:`DataError`."""
        return DataError(problem, source=self.source, where=f"line {self.line}", **facts)

    def attribute(self, name: str) -> str:
        """The value of an attribute."""
        if name not in self.attributes:
            have = ", ".join(self.attributes) or "no attribute"
            raise self.error(
                "attribute missing", field=f"{self.tag}/@{name}", found=have, expected=f"an attribute {name}"
            )
        return self.attributes[name]

    def child(self, tag: str) -> Element:
        """Its one child of this tag."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) == 1:
            return found[0]
        raise self.error(
            "wrong children", field=self.tag, found=f"{len(found)} elements <{tag}>", expected=f"one <{tag}>"
        )

    def only(self, tag: str) -> list[Element]:
        """Its children, all of which have this tag."""
        for child in self.children:
            if child.tag != tag:
                raise child.error("wrong element", field=self.tag, found=f"<{child.tag[:40]}>", expected=f"<{tag}>")
        return self.children


def parse_xml(text: str, source: str) -> Element:
    """The root element of an XML text.

    Raises
    ------
    DataError
        It is not well-formed, is nested too deeply, or has a document type or entity declaration.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    roots: list[Element] = []
    stack: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, source, parser.CurrentLineNumber)
        if len(stack) > _MAX_DEPTH:
            raise element.error("elements nested too deeply", expected=f"at most {_MAX_DEPTH}")
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def characters(data: str) -> None:
        stack[-1].text += data

    def refuse(*declaration: object) -> None:
        raise DataError(
            "document type and entity declarations are refused",
            source=source,
            where=f"line {parser.CurrentLineNumber}",
            found=describe(str(declaration[0])),
            expected="elements and text only",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise DataError(
            f"not well-formed XML ({expat.ErrorString(error.code)})",
            source=source,
            where=f"line {error.lineno} column {error.offset + 1}",
        ) from None
    return roots[0]
