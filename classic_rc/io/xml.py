"""A safe XML parser that keeps line numbers and never expands entities, and XML as JSON has it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Set
from typing import Any
from xml.parsers import expat

from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import describe_value

_MAX_DEPTH = 100
_DOCTYPE = re.compile(
    r"""(?:\s*<\?xml[^>]*>)?\s*(<!DOCTYPE\s+\w+\s+SYSTEM\s+(?:"[^"]*"|'[^']*')\s*>)"""
)
"""The start of an XML text up to a document type as MCScript's test file has it: without
declarations inside.
"""


def is_xml(file: InputFile, *tags: str) -> bool:
    """Return whether a file is XML with these elements."""
    text = "" if file.head is not None else file.first_text.lstrip()
    return text.startswith("<") and all(f"<{tag}" in text for tag in tags)


class Element:
    """An XML element with its line. Its methods return what is expected or raise DataError."""

    __slots__ = ("attributes", "children", "line", "source", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], source: str, line: int) -> None:
        self.tag, self.attributes, self.source, self.line = tag, attributes, source, line
        self.children: list[Element] = []
        self.text = ""

    def error(self, problem: str, **facts: str | None) -> DataError:
        """Return the error for this element; `facts` are parameters of
        :class:`~classic_rc.errors.DataError`.
        """
        return DataError(problem, source=self.source, where=f"line {self.line}", **facts)

    def attribute(self, name: str) -> str:
        """Return the value of an attribute."""
        if name not in self.attributes:
            raise self.error(
                "missing attribute",
                field=f"{self.tag}/@{name}",
                found=", ".join(self.attributes) or "no attributes",
                expected=f"an attribute {name}",
            )
        return self.attributes[name]

    def child(self, tag: str) -> Element:
        """Return the only child with this tag."""
        matching = [child for child in self.children if child.tag == tag]
        if len(matching) == 1:
            return matching[0]
        raise self.error(
            "wrong children",
            field=self.tag,
            found=f"{len(matching)} <{tag}> elements",
            expected="1",
        )

    def only(self, tag: str) -> list[Element]:
        """Return the children, which must all have this tag."""
        for child in self.children:
            if child.tag != tag:
                raise child.error(
                    "unexpected element",
                    field=self.tag,
                    found=f"<{child.tag[:40]}>",
                    expected=f"<{tag}>",
                )
        return self.children


def parse_xml(text: str, source: str) -> Element:
    """Return the root element of an XML text.

    A document type that is only an external identifier is skipped, and what it names is never
    fetched.
    """
    # Expat must not see the external identifier: it then drops entities that nothing declares,
    # instead of refusing them. Blanks in its place keep the lines and columns of errors.
    if doctype := _DOCTYPE.match(text):
        blanks = re.sub(r"[^\n]", " ", doctype[1])
        text = text[: doctype.start(1)] + blanks + text[doctype.end() :]
    parser = expat.ParserCreate()
    parser.buffer_text = True
    roots: list[Element] = []
    stack: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, source, parser.CurrentLineNumber)
        if len(stack) > _MAX_DEPTH:
            expected = f"at most {_MAX_DEPTH} levels"
            raise element.error("elements nested too deeply", expected=expected)
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
            expected="elements and text, and at most one document type with only an external "
            "identifier",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse_declaration
    parser.EntityDeclHandler = refuse_declaration
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        problem = f"not well-formed XML ({expat.ErrorString(error.code)})"
        where = f"line {error.lineno} column {error.offset + 1}"
        raise DataError(problem, source=source, where=where) from None
    return roots[0]


_FLAGS = {"yes": True, "true": True, "no": False, "false": False}


def plain_document(root: Element) -> Any:
    """Return an XML document as JSON has it: an element is its text, or an object of its
    attributes, its text and its children by tag.

    All elements of a tag have one form. Children that repeat are lists. An attribute that says yes
    or no is true or false, also where only another one of these children has it.
    """
    elements = [root]
    for element in elements:  # the list grows
        elements += element.children
    objects = {element.tag for element in elements if element.attributes or element.children}
    values_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for element in elements:
        for name, value in element.attributes.items():
            values_of[element.tag, name].add(value.lower())
    flags = {place for place, values in values_of.items() if values <= _FLAGS.keys()}
    repeated: set[tuple[str, str]] = set()
    for element in elements:
        counts = Counter(child.tag for child in element.children)
        repeated.update((element.tag, tag) for tag, count in counts.items() if count > 1)

    def plain(element: Element, flag_names: Set[str] = frozenset()) -> Any:
        text = element.text.strip()
        if element.tag not in objects:
            return text
        value: dict[str, Any] = {"text": text} if text else {}
        value |= element.attributes
        value |= {name: _FLAGS[element.attributes.get(name, "no").lower()] for name in flag_names}
        for tag in dict.fromkeys(child.tag for child in element.children):
            children = [child for child in element.children if child.tag == tag]
            names = {
                name for child in children for name in child.attributes if (tag, name) in flags
            }
            values = [plain(child, names) for child in children]
            value[tag] = values if (element.tag, tag) in repeated else values[0]
        return value

    return plain(root)
