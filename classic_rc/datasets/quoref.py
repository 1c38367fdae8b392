"""Quoref: SQuAD-like JSON in which the answers of a question are the spans of one answer."""

from __future__ import annotations

from typing import ClassVar

from classic_rc.datasets.squad import Squad, first_paragraph
from classic_rc.io.archives import File
from classic_rc.io.json import Node
from classic_rc.questions import Task


class Quoref(Squad):
    """Quoref's JSON, told from SQuAD's by ``context_id``.

    All the ``answers`` of a question together are its one answer. Fifty of the 2,768 offsets of the dev set are off
    and are moved; see :class:`~classic_rc.datasets.squad.Squad`.
    """

    name: ClassVar[str] = "quoref"
    title: ClassVar[str] = "Quoref"
    description: ClassVar[str] = "Questions that need coreference, answered by one span or several together."
    citation: ClassVar[str] = (
        "Dasigi, Liu, Marasović, Smith and Gardner 2019, Quoref: A Reading Comprehension Dataset with Questions "
        "Requiring Coreferential Reasoning, EMNLP"
    )
    cites = ("dasigi2019",)
    is_dataset: ClassVar[bool] = True
    task: ClassVar[Task] = Task.MULTI_SPAN

    def recognises(self, file: File) -> bool:
        """Whether it is in SQuAD's form with ``context_id``."""
        paragraph = first_paragraph(file.head)
        return paragraph is not None and "context_id" in paragraph

    def passage_id(self, paragraph: Node, article: int, position: int) -> str:
        """The paragraph's ``context_id``."""
        return paragraph.name("context_id")
