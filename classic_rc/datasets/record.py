"""The reader of ReCoRD, in its original JSON and in SuperGLUE's JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import PLACEHOLDER, Candidate, Question, Task


class ReCoRDReader(Reader):
    """ReCoRD: news passages with entity mentions, and queries with one missing entity.

    The candidates are the mentions in the file's order, including equal texts (``end`` is inclusive in the files
    and exclusive here). The passage's text is unchanged and includes the ``@highlight`` lines. Gold is the accepted
    texts, each once; it is hidden if the file has no answer. In SuperGLUE's form the ids are the ``idx`` of passage
    and query, and the query's is ``meta["idx"]`` too.
    """

    name: ClassVar[str] = "record"
    published_as: ClassVar[str] = "ReCoRD"
    title: ClassVar[str] = "ReCoRD"
    description: ClassVar[str] = "News cloze queries over entity mentions: original JSON or SuperGLUE JSON lines."
    citation: ClassVar[str] = (
        "Zhang, Liu, Liu, Gao, Duh and Van Durme 2018, ReCoRD: Bridging the Gap between Human and Machine "
        "Commonsense Reading Comprehension, arXiv:1810.12885"
    )
    cites = ("zhang2018",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the entries have queries and a passage with entities."""
        first = file.head
        if isinstance(first, dict) and isinstance(first.get("data"), list) and first["data"]:
            first = first["data"][0]
        if not isinstance(first, dict) or not isinstance(first.get("passage"), dict):
            return False
        return "qas" in first and "entities" in first["passage"]

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the queries of every passage."""
        is_original = isinstance(file.head, dict) and "data" in file.head
        for entry in file.root().items("data") if is_original else file.records(reading.guard):
            with reading.at(entry):
                yield from _read_entry(entry, "id" if is_original else "idx", file, reading)


def _read_entry(entry: Node, key: str, file: InputFile, reading: Reading) -> Iterator[Question]:
    content = entry.child("passage")
    text = content.text("text")
    passage = reading.passage(entry.name(key), text, file.name, entry.where)
    mentions = tuple(_read_mention(node, text) for node in content.items("entities"))
    if not mentions:
        raise content.error(
            "no candidates", field="entities", found="an empty list", expected="at least one entity"
        )
    for node in entry.items("qas"):
        with reading.at(node):
            query = node.text("query")
            if PLACEHOLDER not in query:
                raise node.error(
                    "no placeholder in the query",
                    field="query",
                    found=describe_value(query),
                    expected=PLACEHOLDER,
                )
            answers = [a.text("text") for a in node.items("answers")] if node.has("answers") else []
            gold = tuple(dict.fromkeys(answers)) or None
            meta = reading.meta() if key == "id" else reading.meta(idx=node.name(key))
            yield Question(node.name(key), passage, query, mentions, gold, Task.CLOZE, meta)


def _read_mention(node: Node, text: str) -> Candidate:
    start, end = node.integer("start"), node.integer("end") + 1
    if 0 <= start < end <= len(text):
        return Candidate(text[start:end], start, end)
    raise node.error(
        "mention outside the passage",
        found=f"{start} to {end - 1}",
        expected=f"offsets from 0 to {len(text) - 1}",
    )
