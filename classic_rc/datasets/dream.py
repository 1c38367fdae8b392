"""The readers of DREAM and C3, which share a form: dialogues or texts with questions, in English
and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from classic_rc.datasets.base import Reader, has_path, join_parts
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.schema import HAN, read_gold
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node
from classic_rc.questions import Question, Task, TextCandidates

_C3_FILE = re.compile(r"c3[-_]([dm])(?![a-z])")
GENRES = {"d": "dialogue", "m": "mixed"}


class DreamReader(Reader):
    """DREAM's JSON: a list of ``[turns, questions, id]``.

    The passage is the turns joined by line ends; its ``meta["turns"]`` has their offsets. Question
    i (from 0) of dialogue ``12-497`` has the id ``12-497-i``.
    """

    name = "dream"
    published_as = "DREAM"
    title = "DREAM"
    description = "Dialogues with three-option questions: a JSON list of [turns, questions, id]."
    citation = (
        "Sun, Yu, Chen, Yu, Choi and Cardie 2019, DREAM: A Challenge Data Set and Models for "
        "Dialogue-Based Reading Comprehension, TACL"
    )
    cites = ("sun2019",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is a list of [turns, questions, id] that is not Chinese."""
        entry = _first_entry(file)
        return entry is not None and not _is_chinese(entry)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every dialogue."""
        for entry in file.root().elements():
            with reading.at(entry):
                yield from _read_dialogue(entry, file, reading)


class C3Reader(Reader):
    """C3's JSON, which has DREAM's form and two to four options: dialogues, and texts of mixed
    genres.

    The two parts use the same ids, so that the ids of ``c3-d-dev.json`` and ``c3-m-dev.json`` start
    with ``d-`` and ``m-``: question i (from 0) of document ``47-275`` is ``d-47-275-i``, or
    ``47-275-i`` in a file of another name. ``subset`` is ``d`` or ``m``. ``meta["genre"]`` is
    ``dialogue`` for a document of several turns, otherwise ``mixed``.
    """

    name = "c3"
    title = "C3"
    description = "Chinese dialogues and texts with questions: a JSON list in DREAM's form."
    citation = (
        "Sun, Yu, Yu and Cardie 2020, Investigating Prior Knowledge for Challenging Chinese "
        "Machine Reading Comprehension, TACL"
    )
    cites = ("sun2020",)
    takes = frozenset({"subset"})
    names_subset = True  # c3.dev.d

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is a list of [turns, questions, id] in Chinese."""
        entry = _first_entry(file)
        return entry is not None and _is_chinese(entry)

    def subset_of(self, file: InputFile) -> str | None:
        """Return the part that the file's name gives, ``d`` or ``m``, or None."""
        match = _C3_FILE.match(file.stem.lower())
        return match[1] if match else None

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every document."""
        subset = self.subset_of(file)
        for entry in file.root().elements():
            with reading.at(entry):
                is_dialogue = len(entry.sequence(0)) > 1
                genre = GENRES["d" if is_dialogue else "m"]
                yield from _read_dialogue(
                    entry, file, reading, f"{subset}-" if subset else "", genre=genre
                )


def _first_entry(file: InputFile) -> list[Any] | None:
    """Return the first [turns, questions, id] of a file, or None for a file of another form."""
    match file.head:
        case [[[*_], [*questions], _] as entry, *_]:
            return entry if all(has_path(question, "choice") for question in questions) else None
    return None


def _is_chinese(entry: list[Any]) -> bool:
    return HAN.search(str(entry)) is not None


def _read_dialogue(
    entry: Node, file: InputFile, reading: Reading, prefix: str = "", **facts: str
) -> Iterator[Question]:
    id = f"{prefix}{entry.name(2)}"
    text, turns = join_parts(entry.texts(0), "\n")
    meta = {"turns": tuple(turns)}
    passage = reading.passage(id, text, file.name, entry.where, meta=meta)
    for i, node in enumerate(entry.items(1)):
        with reading.at(node, f"{id}-{i}"):
            choices = node.texts("choice")
            question = node.text("question")
            gold = read_gold(node, "answer", choices, "text")
            yield Question(
                f"{id}-{i}",
                passage,
                question,
                TextCandidates(choices),
                gold,
                Task.SINGLE_CHOICE,
                reading.meta(**facts),
            )
