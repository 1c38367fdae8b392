"""MultiRC in SuperGLUE's JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reader
from classic_rc.datasets.multirc import flagged, option_texts
from classic_rc.datasets.reading import Reading
from classic_rc.io.archives import File
from classic_rc.io.json import Node, describe
from classic_rc.questions import Question, Task


class SuperGlue(Reader):
    """MultiRC as SuperGLUE distributes it: a passage a line, ``label`` 0 or 1 an answer, hidden in the test set.

    A question's id is ``passage idx==question idx``; ``meta`` has both as ``pid`` and ``qid``, and the answers' own
    as ``answer_idx``, for submissions.
    """

    name: ClassVar[str] = "superglue"
    title: ClassVar[str] = "MultiRC (SuperGLUE)"
    description: ClassVar[str] = "MultiRC in SuperGLUE's JSON lines, labels optional."
    citation: ClassVar[str] = (
        "Wang, Pruksachatkun, Nangia, Singh, Michael, Hill, Levy and Bowman 2019, SuperGLUE: A Stickier Benchmark "
        "for General-Purpose Language Understanding Systems, NeurIPS"
    )
    cites = ("wang2019", "khashabi2018multirc")

    def recognises(self, file: File) -> bool:
        """Whether its first line is a passage with questions."""
        passage = file.head.get("passage") if isinstance(file.head, dict) else None
        return isinstance(passage, dict) and "questions" in passage

    def questions(self, file: File, reading: Reading) -> Iterator[Question]:
        """The questions of every passage."""
        for record in file.records():
            pid, content = record.name("idx"), record.child("passage")
            passage = reading.passage(pid, content.text("text"), file.name, record.where)
            for node in content.items("questions"):
                qid, answers = node.name("idx"), list(node.items("answers"))
                yield Question(
                    f"{pid}=={qid}",
                    passage,
                    node.text("question"),
                    option_texts(node, answers),
                    flagged(answers, "label", zero_or_one),
                    Task.MULTIPLE_ANSWER,
                    reading.meta(pid=pid, qid=qid, answer_idx=tuple(answer.integer("idx") for answer in answers)),
                )


def zero_or_one(node: Node, key: str) -> bool:
    """The label at a key, 0 or 1, as false or true."""
    label = node.integer(key)
    if label in (0, 1):
        return label == 1
    raise node.error("no such label", field=key, found=describe(label), expected="0 or 1")
