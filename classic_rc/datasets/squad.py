"""SQuAD-like JSON: SQuAD itself, and Quoref."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.io.archives import File
from classic_rc.io.json import Node
from classic_rc.questions import Gold, Passage, Question, Task

UNANSWERABLE = "questions without an answer, kept with the empty text as the only right one"
"""The note that counts them."""


class Squad(Reader):
    """SQuAD 1.1 and 2.0, and datasets in their form: any one of the accepted spans suffices.

    Questions of 2.0 that are ``is_impossible`` are kept, with the empty text as the only right answer, as the
    official 2.0 evaluation has them, and counted in the notes. ``meta["spans"]`` has the answers' offsets (start,
    end); an offset at which the answer's text does not stand is moved to its nearest occurrence, and counted.
    Passages are numbered ``article-paragraph``, both from 0.
    """

    name: ClassVar[str] = "squad"
    title: ClassVar[str] = "SQuAD-like JSON"
    description: ClassVar[str] = "Questions answered by a span of their passage: data, paragraphs, qas."
    citation: ClassVar[str] = (
        "Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text, "
        "EMNLP; Rajpurkar, Jia and Liang 2018, Know What You Don't Know, ACL"
    )
    cites: ClassVar[tuple[str, ...]] = ("rajpurkar2016", "rajpurkar2018")
    is_dataset: ClassVar[bool] = False
    task: ClassVar[Task] = Task.SPAN

    def recognises(self, file: File) -> bool:
        """Whether its data are articles of paragraphs with a context."""
        paragraph = _first_paragraph(file.head)
        return paragraph is not None and "context_id" not in paragraph

    def questions(self, file: File, reading: Reading) -> Iterator[Question]:
        """The questions of every paragraph."""
        for a, article in enumerate(file.root().items("data")):
            for p, paragraph in enumerate(article.items("paragraphs")):
                context = paragraph.text("context")
                id = self.passage_id(paragraph, a, p)
                meta = {"title": article.text("title")} if article.has("title") else None
                passage = reading.passage(id, context, file.name, paragraph.where, meta=meta)
                for node in paragraph.items("qas"):
                    gold, facts = self.gold(node, passage, reading)
                    yield Question(
                        node.name("id"), passage, node.text("question"), (), gold, self.task, reading.meta(**facts)
                    )

    def passage_id(self, paragraph: Node, article: int, position: int) -> str:
        """The passage's id: SQuAD gives none."""
        return f"{article}-{position}"

    def gold(self, node: Node, passage: Passage, reading: Reading) -> tuple[Gold, dict[str, Any]]:
        """A question's gold, and what its meta says of it."""
        if node.has("is_impossible") and node.flag("is_impossible"):
            reading.count(UNANSWERABLE)
            return ("",), {"is_impossible": True}
        if not node.has("answers"):
            return None, {}
        answers = list(node.items("answers"))
        if not answers:
            raise node.error(
                "no answer",
                field="answers",
                found="an empty list",
                expected="an answer, or is_impossible: true, or no answers where they are hidden",
            )
        texts = [answer.text("text") for answer in answers]
        spans = [
            _located(text, answer.integer("answer_start"), passage.text, reading)
            for text, answer in zip(texts, answers, strict=True)
        ]
        # Annotators agree; but each of the spans of one answer counts.
        accepted = tuple(texts) if self.task is Task.MULTI_SPAN else tuple(dict.fromkeys(texts))
        return accepted, {"spans": tuple(span for span in spans if span)}


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
        paragraph = _first_paragraph(file.head)
        return paragraph is not None and "context_id" in paragraph

    def passage_id(self, paragraph: Node, article: int, position: int) -> str:
        """The paragraph's ``context_id``."""
        return paragraph.name("context_id")


def _first_paragraph(head: Any) -> dict[str, Any] | None:
    """The first paragraph of a SQuAD-like document; None where it is none."""
    for key in ("data", "paragraphs"):
        inner = head.get(key) if isinstance(head, dict) else None
        if not isinstance(inner, list) or not inner:
            return None
        head = inner[0]
    return head if isinstance(head, dict) and "context" in head and "qas" in head else None


def _located(text: str, start: int, passage: str, reading: Reading) -> tuple[int, int] | None:
    """Where an answer stands: at `start`, or at its nearest occurrence; None where it does not."""
    if start < 0 or passage[start : start + len(text)] != text:
        start = max(start, 0)
        places = passage.rfind(text, 0, start + len(text)), passage.find(text, start)
        if places == (-1, -1):
            reading.count("answers whose text is not in their passage, kept")
            return None
        reading.count("answer offsets moved to where the answer's text stands")
        start = min((place for place in places if place >= 0), key=lambda place: abs(place - start))
    return start, start + len(text)
