"""The reader of ARC-style JSON lines: a stem, labelled choices, an answer key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.datasets.schema import read_gold
from classic_rc.io.archives import InputFile
from classic_rc.questions import Dataset, Question, Task, TextCandidates

_PASSAGES = frozenset("passage context paragraph para article story document".split())


class ArcReader(Reader):
    """JSON lines of ARC, OpenBookQA and datasets of the same form.

    The passage is the question's ``para`` if it has one, and empty otherwise. Gold is hidden if a line has no
    ``answerKey``.
    """

    name: ClassVar[str] = "arc"
    title: ClassVar[str] = "ARC-style JSON lines"
    description: ClassVar[str] = "Science questions: a stem, labelled choices, an answer key; often no passage."
    citation: ClassVar[str] = (
        "Clark, Cowhey, Etzioni, Khot, Sabharwal, Schoenick and Tafjord 2018, Think you have Solved Question "
        "Answering? Try ARC, the AI2 Reasoning Challenge, arXiv:1803.05457"
    )
    cites = ("clark2018",)
    is_dataset: ClassVar[bool] = False
    published_as: ClassVar[str] = "ARC"

    def origin(self, question: Question, dataset: Dataset) -> tuple[str, str | None] | None:
        """Return ARC Easy or ARC Challenge, by the name of the file, and the split."""
        name, split = super().origin(question, dataset) or ("", None)
        path = dataset.sources[0].path if dataset.sources else ""
        kind = re.search("challenge|easy", path.rpartition("/")[2].lower())
        return (f"{name} {kind.group().title()}", split) if kind else None

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first record has a question with a stem and choices, and no passage outside of it."""
        first = file.head[0] if isinstance(file.head, list) and file.head else file.head
        question = first.get("question") if isinstance(first, dict) else None
        is_arc = isinstance(question, dict) and "stem" in question and "choices" in question
        return is_arc and _PASSAGES.isdisjoint(first)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield one question per record."""
        for record in file.records(reading.guard):
            with reading.at(record):
                node = record.child("question")
                para = node.text("para") if node.has("para") else ""
                choices = list(node.items("choices"))
                texts = [choice.text("text") for choice in choices]
                labels = [choice.name("label") for choice in choices]
                yield Question(
                    record.name("id"),
                    reading.passage(None, para, file.name, record.where),
                    node.text("stem"),
                    TextCandidates(texts),
                    read_gold(record, "answerKey", texts, "label", labels),
                    Task.SINGLE_CHOICE,
                    reading.meta(),
                )
